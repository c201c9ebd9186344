"""What an engine is: it holds tables, bounded once and for all, and answers closed plans with exact integers.

It must hold, and `testing.engines` checks, that
- the answer equals that of the reference engine, to the last digit, whatever the tables hold;
- it does not depend on the order of rows, on threads, or on how the table is stored;
- removing one unit moves each measure by at most `plan.distance(measure)`;
- nothing that a table holds makes it fail, and an error of its own never shows what a table holds.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadData, BadParameter, EngineError
from ..query.plan.plan import Plan

if TYPE_CHECKING:
    from ..query.python.table import Table

Integers = NDArray[Any]  # of int64 where all fit, else of Python's integers
_HEX = frozenset("0123456789abcdef")


class Scattered:
    """A sparse matrix of integers; indexed by rows, it gives these as a dense array."""

    def __init__(self, shape: tuple[int, int], places: Integers, values: Integers) -> None:
        order = np.argsort(places)
        self.shape, self._places, self._values = shape, places[order], values[order]

    def __getitem__(self, rows: Integers) -> Integers:
        first, out = np.asarray(rows, np.int64) * self.shape[1], np.zeros((len(rows), self.shape[1]), np.int64)
        starts, ends = (np.searchsorted(self._places, edge) for edge in (first, first + self.shape[1]))
        counts = ends - starts
        row = np.repeat(np.arange(len(rows)), counts)
        held = np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        np.add.at(out, (row, self._places[held] - first[row]), self._values[held])
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Integers:
        return self[np.arange(self.shape[0])]


@dataclass(frozen=True)
class Answer:
    """One array for each measure of a plan: an integer for each cell, and for a histogram a row of them.

    Where keys are chosen, `keys` are those that were found, in order, and `units` says how many units are in each.
    There may be any number, and few are chosen: so histograms are scattered.
    """

    cells: tuple[Any, ...]
    keys: tuple[tuple[int | str, ...], ...] | None = None
    units: Integers | None = None


class Engine(ABC):
    """Tables whose rows are bounded, and questions about them."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, str]] = {}  # of each table its schema, by its digest, and its key
        self._registering = threading.Lock()

    @classmethod
    def beside(cls, copies: str | os.PathLike[str] | None) -> Engine:
        """A new engine; `copies` is a folder for engines that keep bounded copies of tables between processes."""
        return cls()

    def register(self, table: Table, key: str) -> None:
        """Read a table, and keep at most `rows` rows of each unit: those of least hash under the key.

        A table that is registered again is read again.  One of its name that has another schema or another key is
        refused: it would be asked by who registered the first, under bounds and a ledger that are not its own.
        """
        if len(key) != 32 or not _HEX.issuperset(key):
            raise BadParameter("key", "text of another form", "32 small hexadecimal digits")
        name, held = table.schema.name, (table.schema.digest, key)
        with self._registering:
            if self._held.get(name, held) != held:
                raise BadParameter(
                    "engine",
                    f"one that holds a table {name!r} of another schema, or for another ledger",
                    "an engine for each curator, or one that was told to forget that table",
                )
            self._held.pop(name, None)  # until it is read
            try:
                self._register(table, key)
                self._held[name] = held
            except MemoryError:  # which may say how long a text is
                pass
        if name not in self._held:
            raise BadData("the table", "one that memory does not hold", "read where there is more of it, or by Spark")

    def holds(self, table: Table, key: str) -> bool:
        """Whether the table of this name is this one, as it was registered with this key."""
        return self._held.get(table.schema.name) == (table.schema.digest, key)

    @abstractmethod
    def _register(self, table: Table, key: str) -> None:
        """Read a table that has no other's name."""

    def forget(self, name: str) -> None:
        """Let go of one table; what was kept of it between processes is gone too."""
        if self._held.pop(name, None) is None:
            raise BadParameter("table", name, "one that is registered")
        self._forget(name)

    @abstractmethod
    def _forget(self, name: str) -> None:
        """Let go of a table that was registered."""

    def fingerprint(self) -> str:
        """SHA-256 of what all registered tables hold, as it was when they were read."""
        return joint(self._contents())

    @abstractmethod
    def _contents(self) -> Mapping[str, str]:
        """A hash of what each registered table holds, by its name."""

    def kinds(self, name: str) -> Mapping[str, str]:
        """What the columns of a registered table hold, in a schema's words, where only the engine can tell."""
        return {}

    def answer(self, plan: Plan, content: str | None = None) -> Answer:
        """The exact integers of a plan: with a fingerprint, of tables that hold that content and no other."""
        try:
            return self._answer(plan, content)
        except Exception:  # whatever it is: that it was raised, its type and its words may all tell of rows
            pass
        raise EngineError  # raised here, so that what failed is not even its context

    @abstractmethod
    def _answer(self, plan: Plan, content: str | None) -> Answer:
        """The exact integers of a plan; `answer` makes one silent `EngineError` of whatever this raises."""

    def _check(self, content: str | None) -> None:
        """Refuse to answer of any other content."""
        if content is not None and content != self.fingerprint():
            raise EngineError

    def close(self) -> None:
        """Let go of everything; tables that were in memory are gone."""
        self._held.clear()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def joint(contents: Mapping[str, str]) -> str:
    """One hash of those of several tables."""
    held = sorted(contents.items())
    return hashlib.sha256("\n".join(f"{name} {content}" for name, content in held).encode()).hexdigest()


def integers(values: Sequence[int] | Integers) -> Integers:
    """An array of whole numbers, of int64 if that holds them all."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)
