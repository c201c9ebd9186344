"""The provenance of a release: question, tables, budget, time, software and ledger entry."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from importlib import metadata

import numpy as np

from ..storage import stored

REHEARSAL = "A rehearsal on made-up rows, which follow from the public schema: it tells nothing about the data."


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """The versions of Python, tacit and NumPy."""
    installed = {"python": platform.python_version(), "tacit": metadata.version("tacit"), "numpy": np.__version__}
    return tuple(installed.items())


@stored(
    "Provenance",
    ("question", "tables", "budget", "time", "versions", "entry", "entry_hash", "seeded", "rehearsal", "together"),
    optional={"rehearsal": False, "together": None},
)
@dataclass(frozen=True)
class Provenance:
    """Where a release comes from; `tables` are (name, unit of privacy, digest of the schema) of each table read.

    A `rehearsal` is about made-up rows, and tells nothing about the tables.  `together` is the place of an answer among
    those that were bought by one charge, and how many they are.
    """

    question: str = ""
    tables: tuple[tuple[str, str, str], ...] = ()
    budget: str = ""
    time: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    entry: int | None = None
    entry_hash: str | None = None
    seeded: bool = False
    rehearsal: bool = False
    together: tuple[int, int] | None = None
