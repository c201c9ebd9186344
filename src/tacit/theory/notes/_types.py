"""What an entry of the index is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["definition", "theorem", "algorithm", "example", "remark"]


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a lecture: where it stands, what it says in our words, and what realises it.

    `functions` and `plots` are names below `tacit`; `tests` are files below `tests`, each with the name of a test.
    """

    number: str
    kind: Kind
    title: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    plots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lecture:
    """A lecture, by institution or lecturer, and its items in their order."""

    key: str
    name: str
    neighbours: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Slip:
    """What a lecture prints that is wrong, loose or incomplete, and what tacit does instead."""

    number: int
    where: str
    printed: str
    instead: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
