"""Every mechanism, one file each.  Adding one is a file here and a line in ALL."""

from .gaussian import Gaussian
from .laplace import Laplace

ALL = (Gaussian, Laplace)
