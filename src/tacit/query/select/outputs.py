"""Outputs: arithmetic on released columns, free of charge, with intervals.

An output is computed from released columns alone.  Its interval comes from interval arithmetic, so it holds whenever
the intervals of its columns hold; a quotient whose divisor may be zero has an unbounded interval.  Any operation on a
missing value is missing, but for `is_missing`, `CaseOutput` and the logic of SQL; so are division by zero and the root
of a negative number.  `evaluation` computes the values, and `windows` those of functions of several rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadQuestion
from ...storage import stored
from ..values.nodes import tree_sizes

Floats = NDArray[np.float64]
DEEPEST, MOST_OPERATIONS = 200, 100_000  # nested operations, and operations in one output written out
DIGITS, LARGEST = 100, Fraction(10**300)
FARTHEST = 10**6  # rows from which a window looks back or ahead


@dataclass(frozen=True)
class Output:
    """A function of the columns of a release."""


@stored("Released", ("name",))
@dataclass(frozen=True)
class ReleasedColumn(Output):
    """A key or an aggregate, by its name in the query."""

    name: str


@stored("Value", ("value",))
@dataclass(frozen=True)
class OutputValue(Output):
    """A constant number or text, or missing."""

    value: Fraction | str | bool | None


@stored("Arithmetic", ("operator", "a", "b"))
@dataclass(frozen=True)
class Arithmetic(Output):
    """a + b, a - b, a * b or a / b."""

    operator: Literal["+", "-", "*", "/"]
    a: Output
    b: Output


@stored("Comparison", ("operator", "a", "b"))
@dataclass(frozen=True)
class Comparison(Output):
    """a = b, a < b or a <= b."""

    operator: Literal["=", "<", "<="]
    a: Output
    b: Output


@stored("Logic", ("operator", "a", "b"))
@dataclass(frozen=True)
class Logic(Output):
    """Both, or either."""

    operator: Literal["and", "or"]
    a: Output
    b: Output


@stored("Function", ("name", "a", "digits"))
@dataclass(frozen=True)
class Function(Output):
    """A function of one number: not, abs, sqrt, ln, exp, floor, ceil, is_missing, or round to `digits`.

    `low` and `high` are the ends of its interval, which are exact.
    """

    name: Literal["not", "abs", "sqrt", "ln", "exp", "floor", "ceil", "round", "is_missing", "low", "high"]
    a: Output
    digits: int = 0


@stored("Choice", ("condition", "then", "otherwise"))
@dataclass(frozen=True)
class CaseOutput(Output):
    """`then` where the condition holds, else `otherwise`."""

    condition: Output
    then: Output
    otherwise: Output


Ranking = Literal["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"]
WindowFunction = Literal["count", "sum", "mean", "min", "max", "first", "last", "lag", "lead"] | Ranking
RANKS = frozenset(get_args(Ranking))


@stored("Window", ("function", "a", "partition", "order", "frame", "n"))
@dataclass(frozen=True)
class Window(Output):
    """A function of the rows of an answer that are equal in `partition`, in this `order` (the flag says descending).

    `frame` is where the rows around each row begin and end, as an offset, None for no end; without it they are all
    rows, or in an order those up to the row and its peers.  `n` is the offset of lag and lead, or the parts of ntile.
    """

    function: WindowFunction
    a: Output | None = None  # a count without one counts rows
    partition: tuple[Output, ...] = ()
    order: tuple[tuple[Output, bool], ...] = ()
    frame: tuple[int | None, int | None] | None = None
    n: int = 1


@dataclass(frozen=True, eq=False)
class ColumnEstimate:
    """Values with intervals.

    Numbers are int64, or float64 with NaN where missing; of conditions, 1 and 0.  Labels (text, dates, and the like)
    are objects, None where missing; their interval is of no number, and everything where noise decides which they are.
    `unsure` is where noise decides whether there is a value.  `sum_error`, of numbers as they were released, bounds the
    error of a sum of so many of them, with the probability of an interval.
    """

    kind: Literal["integer", "real", "boolean", "label"]
    values: NDArray[Any]
    lower: Floats
    upper: Floats
    unsure: NDArray[np.bool_] | bool = False
    sum_error: Callable[[int], float] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> ColumnEstimate:
        """Some of the rows, in this order."""
        unsure = np.broadcast_to(self.unsure, len(self))
        lower, upper = self.lower[rows], self.upper[rows]
        return ColumnEstimate(self.kind, self.values[rows], lower, upper, unsure[rows], self.sum_error)

    def missing(self) -> NDArray[np.bool_]:
        """Where there is no value."""
        if self.kind == "label":
            return np.array([value is None for value in self.values], bool)
        return np.asarray(np.isnan(self.values))

    def tolist(self) -> list[Any]:
        """The values as plain Python objects."""
        if self.kind == "boolean":
            return [None if v is None else bool(v) for v in listed(self.values)]
        return listed(self.values) if self.kind == "real" else list(self.values.tolist())


def listed(values: Floats) -> list[float | None]:
    """Floats as a list, with None for what is not a finite number."""
    finite = np.isfinite(values)
    plain: list[float | None] = values.tolist()
    return plain if finite.all() else [v if k else None for v, k in zip(plain, finite, strict=True)]


def numbers(
    values: NDArray[Any],
    lower: Floats | None = None,
    upper: Floats | None = None,
    unsure: NDArray[np.bool_] | bool = False,
) -> ColumnEstimate:
    """Numbers, exact unless an interval is given."""
    integer = values.dtype == np.int64
    array = values if integer else np.asarray(values, np.float64)
    low, high = (np.asarray(array if end is None else end, np.float64) for end in (lower, upper))
    return ColumnEstimate("integer" if integer else "real", array, low, high, unsure)


def labels(
    values: Iterable[Any], noisy: NDArray[np.bool_] | bool = False, unsure: NDArray[np.bool_] | bool = False
) -> ColumnEstimate:
    """An estimate of labels: values that are not numbers."""
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    low, high = (np.where(np.broadcast_to(noisy, len(listed)), end, np.nan) for end in (-np.inf, np.inf))
    return ColumnEstimate("label", array, low, high, unsure)


def released(output: Output) -> frozenset[str]:
    """The names of the columns that an output is computed from."""
    if isinstance(output, ReleasedColumn):
        return frozenset((output.name,))
    return frozenset[str]().union(*map(released, parts(output)))


def windows(output: Output) -> frozenset[Window]:
    """The windows in an output."""
    own = {output} if isinstance(output, Window) else set[Window]()
    return frozenset(own).union(*map(windows, parts(output)))


def parts(output: Output) -> list[Output]:
    """The outputs that an output is computed from."""
    found = [part for field in fields(output) if isinstance(part := getattr(output, field.name), Output)]
    return [*found, *output.partition, *(by for by, _ in output.order)] if isinstance(output, Window) else found


def moderate(*outputs: Output) -> None:
    """Refuse outputs that are too deep or too large to compute, before anything is bought."""
    for output, size, depth in tree_sizes(outputs, parts):
        if depth > DEEPEST:
            raise BadQuestion(f"An output may be at most {DEEPEST} operations deep.")
        if size > MOST_OPERATIONS:
            raise BadQuestion(f"An output may have at most {MOST_OPERATIONS} operations.")
        if isinstance(output, OutputValue) and isinstance(output.value, Fraction) and abs(output.value) > LARGEST:
            raise BadQuestion("A number in the question is too large.")
        if isinstance(output, Function) and abs(output.digits) > DIGITS:
            raise BadQuestion(f"ROUND takes at most {DIGITS} digits.")
        if isinstance(output, Window):
            _check_window(output)


def _check_window(window: Window) -> None:
    """Refuse a window that has no value: the front ends make none."""
    if (window.a is None) != (window.function in RANKS) and window.function != "count":
        raise BadQuestion(f"The window function {window.function} has another number of arguments.")
    if not 1 <= window.n <= FARTHEST:
        raise BadQuestion(f"LAG, LEAD and NTILE take a whole number from 1 to {FARTHEST}.")
    if any(end is not None and abs(end) > FARTHEST for end in window.frame or ()):
        raise BadQuestion(f"A frame begins and ends at most {FARTHEST} rows from its row.")


def chain(operator: Literal["and", "or"], parts: Sequence[Output]) -> Output:
    """The conjunction or disjunction of several outputs, as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return Logic(operator, chain(operator, parts[:middle]), chain(operator, parts[middle:]))
