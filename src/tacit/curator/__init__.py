"""The curator: what stands between a question and the data."""

from .bounds import Bounds
from .curator import Curator
from .reading import Asked, asked
from .stream import Stream

__all__ = ["Asked", "Bounds", "Curator", "Stream", "asked"]
