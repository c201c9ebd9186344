"""Imports each module that defines an atom, so that what reads stored losses knows all of them by name."""

from __future__ import annotations

from . import atoms, batch, grouped, listed, loss, parallel, sampled

__all__ = ["atoms", "batch", "grouped", "listed", "loss", "parallel", "sampled"]
