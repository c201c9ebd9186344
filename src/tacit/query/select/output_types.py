"""The types of outputs: an output whose operands do not fit is refused before anything is bought.

The rules are those of rows: arithmetic is on numbers, AND, OR, NOT and CASE are on conditions, and like is compared
with like.  A constant text that is compared with a date is parsed as a date.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, cast

from ...core.errors import BadQuestion
from ..values.coercion import constant, converted
from ..values.domain import ValueDomain
from ..values.logic import check_label
from .outputs import (
    Arithmetic,
    CaseOutput,
    Comparison,
    Function,
    Logic,
    Output,
    OutputValue,
    ReleasedColumn,
    Window,
    moderate,
    windows,
)
from .query import Aggregate, Query, Selection

OutputType = (
    Literal["number", "boolean", "text", "date", "timestamp"] | None
)  # None is missing, and goes with all of them


class OutputTypes:
    """The types of outputs, from those of the released columns, to which columns may be added later."""

    def __init__(self, columns: Mapping[str, OutputType], labels: Mapping[str, tuple[str, ...]]) -> None:
        self.columns, self.labels = columns, labels
        self._known: dict[int, tuple[Output, OutputType]] = {}

    def of(self, output: Output) -> OutputType:
        """The type of an output, or BadQuestion."""
        known = self._known.get(id(output))
        if known is None or known[0] is not output:
            known = self._known[id(output)] = output, self._of(output)
        return known[1]

    def condition(self, output: Output) -> OutputType:
        """The type of an output that must be true or false."""
        if (kind := self.of(output)) not in ("boolean", None):
            raise BadQuestion(f"A condition must be true or false, such as n >= 18; this is {_article(kind)}.")
        return "boolean"

    def _of(self, output: Output) -> OutputType:
        match output:
            case ReleasedColumn():
                if output.name not in self.columns:
                    raise BadQuestion(f"The answer has no column {output.name[:40]!r}.")
                return self.columns[output.name]
            case OutputValue():
                return _written(output)
            case Arithmetic():
                return self._numbers(output.a, output.b)
            case Comparison():
                self._compared(output.a, output.b)
                return "boolean"
            case Logic():
                self.condition(output.a)
                return self.condition(output.b)
            case Function(name="is_missing"):
                self.of(output.a)
                return "boolean"
            case Function():
                return self.condition(output.a) if output.name == "not" else self._numbers(output.a)
            case Window():
                return self._window(output)
            case CaseOutput():
                self.condition(output.condition)
                return _one({self.of(output.then), self.of(output.otherwise)} - {None})
        raise TypeError(type(output).__name__)

    def _window(self, window: Window) -> OutputType:
        for by in (*window.partition, *(by for by, _ in window.order)):
            self.of(by)
        kind = None if window.a is None else self.of(window.a)
        if window.a is not None and window.function in ("sum", "mean", "min", "max"):
            return self._numbers(window.a)
        return kind if window.function in ("first", "last", "lag", "lead") else "number"

    def _numbers(self, *parts: Output) -> OutputType:
        for kind in map(self.of, parts):
            if kind not in ("number", None):
                raise BadQuestion(f"Arithmetic on the answer needs numbers; this is {_article(kind)}.")
        return "number"

    def _compared(self, a: Output, b: Output) -> None:
        for one, other in ((a, b), (b, a)):
            kind = self.of(one)
            if kind in ("date", "timestamp") and isinstance(other, OutputValue) and isinstance(other.value, str):
                timestamp(other.value, kind)
                return
            known = self.labels.get(one.name) if isinstance(one, ReleasedColumn) else None
            if known and isinstance(other, OutputValue) and isinstance(other.value, str):
                check_label(other.value, known)
        types = {self.of(a), self.of(b)} - {None}
        if types != {"date", "timestamp"}:
            _one(types)


def check(query: Query) -> None:
    """Refuse a question with an output that cannot be computed."""
    of_answer(query)


def of_answer(query: Query) -> Mapping[str, OutputType]:
    """The types of the columns of an answer, or BadQuestion."""
    types = of_query(query)
    for selection in query.selections:
        types = after(selection, types)
    return types.columns


def after(selection: Selection, types: OutputTypes) -> OutputTypes:
    """The types of the columns that a selection leaves."""
    conditions = [each for each in (selection.where, selection.having) if each is not None]
    by = [*(by for by, _ in selection.order), *(selection.distinct or ())]
    moderate(*(output for _, output in selection.outputs), *conditions, *by)
    for output in conditions:
        types.condition(output)
    for output in by:
        types.of(output)
    if selection.where is not None and windows(selection.where):
        raise BadQuestion("A window cannot decide which rows it is of. Filter by it in another SELECT around this one.")
    names = {name: o.name for name, o in selection.outputs if isinstance(o, ReleasedColumn)}
    labels = {name: types.labels[old] for name, old in names.items() if old in types.labels}
    return OutputTypes({name: types.of(output) for name, output in selection.outputs}, labels)


def of_query(query: Query) -> OutputTypes:
    """The types of the outputs of a question."""
    types = {key.name: of_domain(key.domain) for key in query.keys}
    types |= {name: of_aggregate(a) for name, a in query.aggregates}
    return OutputTypes(types, {key.name: key.domain.labels for key in query.keys})


def of_domain(domain: ValueDomain) -> OutputType:
    """The type of released values of a domain."""
    return "text" if domain.kind == "category" else domain.kind


def of_aggregate(a: Aggregate) -> OutputType:
    """The type of an aggregate: that of its values if one of them is chosen, else a number."""
    return of_domain(a.expression.domain) if a.expression and a.kind in ("quantile", "top") else "number"


@lru_cache(maxsize=256)
def timestamp(text: str, kind: str) -> datetime.date:
    """The date or the timestamp that text spells, or BadQuestion."""
    e = converted(constant(text), kind)
    return cast(datetime.date, e.domain.label(e.domain.lower))


def _written(value: OutputValue) -> OutputType:
    match value.value:
        case None:
            return None
        case bool():
            return "boolean"
        case str():
            return "text"
    return "number"


def _one(types: set[OutputType]) -> OutputType:
    """The one type among these."""
    if len(types) > 1:
        quoted = types in ({"number", "text"}, {"boolean", "text"})
        hint = " Write numbers, TRUE and FALSE without quotes." if quoted else ""
        raise BadQuestion(f"Cannot combine {' and '.join(map(_article, sorted(map(str, types))))}.{hint}")
    return types.pop() if types else None


def _article(kind: str | None) -> str:
    return "text" if kind == "text" else f"a {kind}"
