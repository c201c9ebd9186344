"""The system under attack: a table that answers SQL questions with numbers, at a price.

An attack brings its own table of people, gives it to the system with a budget, and asks.  Whoever calls the attack
chooses the system: `tacit.testing.attacks.curator` is tacit itself, with a ledger, and any other that answers COUNT and
SUM by groups may stand in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from ...core.exact import Floats


@dataclass(frozen=True)
class People:
    """A table called people, with what is public about it: the range of each column, and how many rows a person has.

    Without a `unit`, the column that names the person, each row is a person.  Integers are in an integer column; a
    column of floats is put on the `grid`.
    """

    columns: Mapping[str, NDArray[Any]]
    ranges: Mapping[str, tuple[int, int]]
    unit: str | None = None
    rows: int = 1
    grid: float = 2.0**-20


class Ask(Protocol):
    """Put a question in SQL, at this epsilon; the answer is a number for each group, in the order of the groups."""

    def __call__(self, question: str, epsilon: float) -> Floats: ...


class System(Protocol):
    """Hold a table with a total budget of epsilon, while the context lasts."""

    def __call__(self, people: People, epsilon: float) -> AbstractContextManager[Ask]: ...
