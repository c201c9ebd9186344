"""What is handed out: the release, its card, its exports and its picture."""

from .consistency import consistent
from .provenance import Provenance, versions
from .release import Release

__all__ = ["Provenance", "Release", "consistent", "versions"]
