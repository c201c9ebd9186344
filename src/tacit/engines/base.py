"""The contract of an engine: it holds tables whose rows are bounded, and answers closed plans with exact integers.

Every engine must satisfy the following, which `testing.engines` checks:
- its answer equals that of the reference engine, to the last digit, whatever the tables hold;
- the answer does not depend on the order of rows, on threads, or on how a table is stored;
- removing one unit changes each measure by at most `plan.distance(measure)`;
- no content of a table makes the engine fail, and its errors never show what a table holds.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadData, BadParameter, EngineError
from ..query.plan.plan import QueryPlan

if TYPE_CHECKING:
    from ..query.python.table import Table

Integers = NDArray[Any]  # int64 where all values fit, else Python integers
_HEX_DIGITS = frozenset("0123456789abcdef")


class SparseMatrix:
    """A sparse matrix of integers; indexing it by row numbers gives those rows as a dense array."""

    def __init__(self, shape: tuple[int, int], places: Integers, values: Integers) -> None:
        order = np.argsort(places)
        self.shape, self._places, self._values = shape, places[order], values[order]

    def __getitem__(self, rows: Integers) -> Integers:
        first, out = np.asarray(rows, np.int64) * self.shape[1], np.zeros((len(rows), self.shape[1]), np.int64)
        starts, ends = (np.searchsorted(self._places, edge) for edge in (first, first + self.shape[1]))
        counts = ends - starts
        row = np.repeat(np.arange(len(rows)), counts)
        entries = np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        np.add.at(out, (row, self._places[entries] - first[row]), self._values[entries])
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Integers:
        return self[np.arange(self.shape[0])]


@dataclass(frozen=True)
class EngineAnswer:
    """The exact integers of a plan: for each measure one array, with an integer (or a row of bins) for each cell.

    If the plan selects keys privately, `keys` are all keys in the data, in order, and `units` is how many units each
    has.  There may be many keys, of which few are released, so histograms are then sparse matrices.

    None of it is printed: messages and logs show what an object prints.
    """

    cells: tuple[Any, ...] = field(repr=False)
    keys: tuple[tuple[int | str, ...], ...] | None = field(default=None, repr=False)
    units: Integers | None = field(default=None, repr=False)


class Engine(ABC):
    """A holder of bounded tables that answers plans about them."""

    def __init__(self) -> None:
        self._registered: dict[str, tuple[str, str]] = {}  # by name: the digest of the schema, and the key
        self._registering = threading.Lock()

    @classmethod
    def create(cls, copies: str | os.PathLike[str] | None) -> Engine:
        """A new engine; `copies` is a folder for engines that keep bounded copies of tables between processes."""
        return cls()

    def register(self, table: Table, key: str) -> None:
        """Read a table, and keep at most `schema.rows` rows of each unit: those of smallest hash under the key.

        Registering a table again reads it again.  A second table of the same name with another schema or key is
        refused: whoever registered the first would query the second, under bounds and a ledger that are not its own.
        """
        if len(key) != 32 or not _HEX_DIGITS.issuperset(key):
            raise BadParameter("key", "text of another form", "32 lower-case hexadecimal digits")
        name, identity = table.schema.name, (table.schema.digest, key)
        with self._registering:
            if self._registered.get(name, identity) != identity:
                raise BadParameter(
                    "engine",
                    name,
                    "an engine that holds no other table of this name",
                    says=f"This engine already holds a table {name!r} with another schema, or for another ledger. "
                    f"Use one engine for each curator, or call engine.forget({name!r}) first.",
                )
            self._registered.pop(name, None)  # nothing holds this name until the table is read
            try:
                self._register(table, key)
                self._registered[name] = identity
            except MemoryError:  # its message may say how long a text is
                pass
        if name not in self._registered:
            raise BadData(
                "the table",
                "too large for the memory",
                "small enough for the memory",
                says=f"The table {name!r} does not fit into memory. Use a machine with more memory, or engine='spark'.",
            )

    def holds(self, table: Table, key: str) -> bool:
        """Whether this table is registered under its name, with this schema and this key."""
        return self._registered.get(table.schema.name) == (table.schema.digest, key)

    @abstractmethod
    def _register(self, table: Table, key: str) -> None:
        """Read a table, once `register` has checked that its name is free."""

    def forget(self, name: str) -> None:
        """Drop one table, and any copy of it that was kept for the next process."""
        if self._registered.pop(name, None) is None:
            raise BadParameter("table", name, "a registered table", says=f"No table {name!r} is registered.")
        self._forget(name)

    @abstractmethod
    def _forget(self, name: str) -> None:
        """Drop a registered table."""

    def fingerprint(self) -> str:
        """SHA-256 of the content of all registered tables, as it was when they were read."""
        return joint_fingerprint(self._contents())

    @abstractmethod
    def _contents(self) -> Mapping[str, str]:
        """A hash of the content of each registered table, by name."""

    def kinds(self, name: str) -> Mapping[str, str]:
        """The type of each column of a registered table, in a schema's words, where only the engine can see it."""
        return {}

    def answer(self, plan: QueryPlan, content: str | None = None) -> EngineAnswer:
        """The exact integers of a plan; if `content` is given, only of tables that have this fingerprint."""
        try:
            return self._answer(plan, content)
        except Exception:  # the type and the message of any error may depend on rows
            pass
        raise EngineError  # raised outside of `except`, so that the first error is not even its context

    @abstractmethod
    def _answer(self, plan: QueryPlan, content: str | None) -> EngineAnswer:
        """Compute the exact integers of a plan; `answer` turns any error into a silent `EngineError`."""

    def _check(self, content: str | None) -> None:
        """Raise unless the tables have this fingerprint."""
        if content is not None and content != self.fingerprint():
            raise EngineError

    def close(self) -> None:
        """Drop all tables and free all resources."""
        self._registered.clear()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def joint_fingerprint(contents: Mapping[str, str]) -> str:
    """One hash of the contents of several tables, by name."""
    lines = (f"{name} {content}" for name, content in sorted(contents.items()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def integers(values: Sequence[int] | Integers) -> Integers:
    """An array of whole numbers, of int64 if all of them fit."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)
