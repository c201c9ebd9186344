"""Releases: noisy answers with their accuracy, their card, their exports and their plots."""

from .consistency import consistent
from .provenance import Provenance, versions
from .release import Release

__all__ = ["Provenance", "Release", "consistent", "versions"]
