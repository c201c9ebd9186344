"""A cursor: one question at a time, and the rows of its answer.

SELECT ...               is bought, or free if it was bought before
EXPLAIN SELECT ...       is its offer, free: the price, and the error of each column
SET tacit.share = 0.01   sets the price of later questions of the connection; so do epsilon, rho, error, relative,
                         delta and beta
BEGIN, COMMIT, ROLLBACK  change nothing
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from ..core.parameters import rational
from ..query.plan.answer_schema import answer_schema
from ..query.sql.parameters import Values, bound
from ..release.export import sentence
from . import errors
from .errors import InterfaceError, NotSupportedError, ProgrammingError, translated

if TYPE_CHECKING:
    from ..query.plan.offer import Terms
    from ..release import Release
    from .connection import Connection

Row = tuple[Any, ...]
PRICES = ("share", "epsilon", "rho", "error", "relative")  # of which a question has one
_SET = re.compile(r"\s*SET\s+tacit\.(\w+)\s*(?:=|\s+TO\s)\s*(?:'([^']*)'|([^\s';]+))\s*;?\s*", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?=SELECT\b|WITH\b)", re.IGNORECASE)
_NOTHING = re.compile(r"\s*(BEGIN|START\s+TRANSACTION|COMMIT|END|ROLLBACK)\s*;?\s*", re.IGNORECASE)


class Type:
    """A type of columns as PEP 249 has it: equal to the name of every type that it stands for."""

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)

    def __eq__(self, other: object) -> bool:
        return self.names == other.names if isinstance(other, Type) else other in self.names

    def __hash__(self) -> int:
        return hash(self.names)


STRING, NUMBER, DATETIME = Type("text"), Type("integer", "real"), Type("date", "timestamp")
BINARY, ROWID = Type("binary"), Type("rowid")  # of which there are no columns


class Cursor:
    """The answer to one question; threads must not share a cursor."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.release: Release | None = None  # the whole answer: intervals, card, provenance
        self.messages: list[tuple[type[Exception], str]] = []
        self._closed = False
        self._forget()

    def _forget(self) -> None:
        self.release, self.description, self.rowcount = None, None, -1
        self._rows: Iterator[Row] | None = None
        del self.messages[:]

    description: tuple[tuple[str, str, None, None, None, None, bool | None], ...] | None
    rowcount: int

    def execute(self, statement: str, parameters: Values = ()) -> Self:
        """Answer one statement; `?` and `$1` take a sequence of values, `:name` a mapping."""
        self._check_open()
        self._forget()
        with translated():
            text = bound(statement, parameters) if parameters else statement
            if setting := _SET.fullmatch(text):
                self._set(setting[1].lower(), setting[2] or setting[3])
            elif not _NOTHING.fullmatch(text):
                explained = _EXPLAIN.match(text)
                self._explain(text[explained.end() :]) if explained else self._ask(text)
        return self

    def _ask(self, text: str) -> None:
        release = self.connection.curator.ask(text, **self._terms(text))
        columns = release.columns
        schema = answer_schema(release.query, release.recipes)
        self._answer(schema, zip(*(columns[name].tolist() for name, _ in schema), strict=True))
        self.release = release
        self.messages.append((errors.Warning, sentence(release)))

    def _explain(self, text: str) -> None:
        offer = self.connection.curator.offer(text, **self._terms(text))
        self._answer([("offer", "text")], ((line,) for line in str(offer).splitlines()))

    def _terms(self, text: str) -> Terms:
        """The terms of the connection, without those that the text states itself."""
        _, stated = self.connection.curator.read(text, {})
        priced = (*PRICES, "delta") if stated.keys() & {*PRICES} else ()
        return cast("Terms", {k: v for k, v in self.connection.terms.items() if k not in priced})

    def _answer(self, schema: Iterable[tuple[str, str]], rows: Iterable[Row]) -> None:
        kept = list(rows)
        self.description = tuple((name, kind, None, None, None, None, None) for name, kind in schema)
        self.rowcount, self._rows = len(kept), iter(kept)

    def _set(self, name: str, value: str) -> None:
        if name not in (*PRICES, "delta", "beta"):
            allowed = ", ".join(f"tacit.{known}" for known in (*PRICES, "delta", "beta"))
            raise ProgrammingError(f"There is no setting tacit.{name}. Set one of {allowed}.")
        number = rational(f"tacit.{name}", value)
        kept = {k: v for k, v in self.connection.terms.items() if name not in PRICES or k not in PRICES}
        self.connection.terms = cast("Terms", {**kept, name: number})

    def executemany(self, statement: str, several: Sequence[Values]) -> None:
        """Refuse: a list of questions has a list of answers, and a cursor keeps one."""
        raise NotSupportedError("Each question has an answer of its own. Call execute for each.")

    def fetchone(self) -> Row | None:
        """The next row, or None."""
        return next(self._answered(), None)

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, at most `size`, or `arraysize`."""
        rows, size = self._answered(), self.arraysize if size is None else size
        return [row for _, row in zip(range(size), rows, strict=False)]

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        return list(self._answered())

    def __iter__(self) -> Iterator[Row]:
        return self._answered()

    def _answered(self) -> Iterator[Row]:
        self._check_open()
        if self._rows is None:
            raise InterfaceError("There are no rows: no question was asked. Call execute first.")
        return self._rows

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("This cursor is closed. Open another.")
        self.connection.curator  # noqa: B018  # a closed connection has none

    def setinputsizes(self, sizes: object) -> None:
        """Do nothing, as PEP 249 allows."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing, as PEP 249 allows."""

    def close(self) -> None:
        """Close the cursor."""
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
