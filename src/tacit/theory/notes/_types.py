"""The entries of the index of lectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ItemKind = Literal["definition", "theorem", "algorithm", "example", "remark"]


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a lecture: its number, a description in our words, and what implements it.

    `functions` and `plots` are names below `tacit`; `tests` are files below `tests`, each with the name of a test.
    """

    number: str
    kind: ItemKind
    title: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    plots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lecture:
    """A lecture, by institution or lecturer, and its items in order."""

    key: str
    name: str
    neighbours: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Slip:
    """A statement in a lecture that is wrong, loose or incomplete, and what tacit does instead."""

    number: int
    where: str
    printed: str
    instead: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
