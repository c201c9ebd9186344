"""tacit: a curator for sensitive tables.

A release is a draw from a law; its distance from the neighbouring law is a loss; the loss was paid before the draw.
"""

from .core.distance import ADD_REMOVE, SUBSTITUTE, Distance, norms
from .core.errors import BadData, BadParameter, Exhausted, MixedRelations, TacitError
from .core.loss import Loss
from .mechanisms.gaussian import Gaussian
from .mechanisms.laplace import Laplace

__all__ = [
    "ADD_REMOVE",
    "SUBSTITUTE",
    "BadData",
    "BadParameter",
    "Distance",
    "Exhausted",
    "Gaussian",
    "Laplace",
    "Loss",
    "MixedRelations",
    "TacitError",
    "norms",
]
