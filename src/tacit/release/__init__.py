"""What is handed out: the release, its card, its exports and its picture."""

from .consistency import consistent
from .release import Provenance, Release, versions

__all__ = ["Provenance", "Release", "consistent", "versions"]
