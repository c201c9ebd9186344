"""Imports each module that defines an atom, so that what reads stored losses knows all of them by name."""

from __future__ import annotations

from . import atoms, grouped, listed, loss, parallel, sampled

__all__ = ["atoms", "grouped", "listed", "loss", "parallel", "sampled"]
