"""The values of outputs, with intervals that hold whenever the intervals of their columns hold."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadQuestion
from ...core.exact import down, up
from .output_types import timestamp
from .outputs import (
    Arithmetic,
    CaseOutput,
    ColumnEstimate,
    Comparison,
    Floats,
    Function,
    Logic,
    Output,
    OutputValue,
    ReleasedColumn,
    Window,
    labels,
    numbers,
)
from .windows import nothing, over

Columns = Mapping[str, ColumnEstimate]
Loose = Callable[[Window], tuple[bool, bool]]
_INTEGERS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {"=": operator.eq, "<": operator.lt, "<=": operator.le}


def evaluate(
    output: Output,
    columns: Columns,
    rows: int,
    loose: Loose = lambda _: (True, True),
    *,
    as_one: bool = False,
) -> ColumnEstimate:
    """The value of an output in each row.

    `loose` says of a window whether noise decides which rows are in it, and their order.  With `as_one`, of no rows,
    the value of windows over none of them, as one row.
    """
    with np.errstate(all="ignore"):
        return _Evaluator(columns, rows, loose, as_one).value(output)


class _Evaluator:
    """The values of outputs over the same rows; a part that occurs twice is computed once."""

    def __init__(self, columns: Columns, rows: int, loose: Loose, as_one: bool) -> None:
        self.columns, self.rows, self.loose, self.as_one = columns, rows, loose, as_one
        self.known: dict[int, tuple[Output, ColumnEstimate]] = {}

    def value(self, output: Output) -> ColumnEstimate:
        found = self.known.get(id(output))
        if found is None:
            found = self.known[id(output)] = output, self._value(output)
        return found[1]

    def _value(self, output: Output) -> ColumnEstimate:
        match output:
            case ReleasedColumn():
                return self._column(output.name)
            case OutputValue():
                return _constant(output.value, 1 if self.as_one else self.rows)
            case Function():
                return _function(output, self.value(output.a))
            case CaseOutput():
                condition, then, otherwise = map(self.value, (output.condition, output.then, output.otherwise))
                return _narrowed(output, _choice(condition, then, otherwise), then, otherwise)
            case Arithmetic():
                return _arithmetic(output.operator, self.value(output.a), self.value(output.b))
            case Comparison():
                return _comparison(output.operator, self.value(output.a), self.value(output.b))
            case Logic():
                return _logic(output.operator, self.value(output.a), self.value(output.b))
            case Window():
                return self._window(output)
        raise TypeError(type(output).__name__)

    def _column(self, name: str) -> ColumnEstimate:
        column = self.columns[name]
        if not self.as_one:
            return column
        return labels([None]) if column.kind == "label" else _constant(None, 1)

    def _window(self, window: Window) -> ColumnEstimate:
        a = None if window.a is None else self.value(window.a)
        if self.as_one:
            return nothing(window, a)
        partition, order = map(self.value, window.partition), [(self.value(by), down) for by, down in window.order]
        loose, loose_order = self.loose(window)
        return over(window, a, list(partition), order, self.rows, loose=loose, loose_order=loose_order)


def _constant(value: Fraction | str | bool | None, rows: int) -> ColumnEstimate:
    match value:
        case None:
            return numbers(np.full(rows, np.nan), np.full(rows, -np.inf), np.full(rows, np.inf))
        case bool():
            return _truth(np.full(rows, float(value)))
        case str():
            return labels([value] * rows)
    if value.denominator == 1 and abs(value.numerator) < 1 << 53:
        return numbers(np.full(rows, value.numerator, np.int64))
    low, high = down(value), up(value)
    return numbers(np.full(rows, low if abs(low) < np.inf else high), np.full(rows, low), np.full(rows, high))


def _arithmetic(sign: str, a: ColumnEstimate, b: ColumnEstimate) -> ColumnEstimate:
    if a.kind == "label" or b.kind == "label":  # there is no such number
        return _constant(None, len(a))
    if sign == "/":
        values = np.where(b.values == 0, np.nan, a.values / np.where(b.values == 0, 1, b.values).astype(float))
    else:
        values = _INTEGERS[sign](a.values.astype(float), b.values.astype(float))
        if a.kind == b.kind == "integer" and np.abs(values).max(initial=0) < 2.0**62:
            values = _INTEGERS[sign](a.values, b.values)
    undivided = (sign == "/") & (b.lower <= 0) & (b.upper >= 0)
    return numbers(np.asarray(values), *_hull(sign, a, b), a.unsure | b.unsure | undivided)


def _hull(sign: str, a: ColumnEstimate, b: ColumnEstimate) -> tuple[Floats, Floats]:
    """The extremes lie at the ends, for all four operations; a float away from them is outward."""
    if sign in "+-":
        low, high = (a.lower + b.lower, a.upper + b.upper) if sign == "+" else (a.lower - b.upper, a.upper - b.lower)
        ends = np.array([low, high])
    else:
        by = np.divide if sign == "/" else np.multiply
        corners = np.array([by(x, y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)])
        corners = np.where(np.isnan(corners), 0, corners)  # 0 times infinity: a bound that is 0 stays 0
        ends = np.array([corners.min(0), corners.max(0)])
        if sign == "/":
            unknown = (b.lower <= 0) & (b.upper >= 0) | np.isinf(a.lower) | np.isinf(b.upper) | np.isinf(b.lower)
            ends = np.where(unknown, [[-np.inf], [np.inf]], ends)
    ends = np.where(np.isnan(ends), [[-np.inf], [np.inf]], ends)
    # A whole end, of whole numbers below 2^53, is exact: no quotient of such numbers is that near to a whole one.
    exact = (ends == np.rint(ends)) & (np.abs(ends) < 2.0**53) & _whole(a) & _whole(b)
    low = np.where(exact[0], ends[0], np.nextafter(ends[0], -np.inf))
    high = np.where(exact[1], ends[1], np.nextafter(ends[1], np.inf))
    up_to_0, from_0 = _signs(sign, a, b)
    return np.where(from_0, np.maximum(low, 0), low), np.where(up_to_0, np.minimum(high, 0), high)


def _signs(sign: str, a: ColumnEstimate, b: ColumnEstimate) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether no result is above 0, and whether none is below: rounding crosses no zero."""
    match sign:
        case "+":
            return (a.upper <= 0) & (b.upper <= 0), (a.lower >= 0) & (b.lower >= 0)
        case "-":
            return a.upper <= b.lower, a.lower >= b.upper
    positive, negative = (b.lower > 0, b.upper < 0) if sign == "/" else (b.lower >= 0, b.upper <= 0)
    return (
        (a.lower >= 0) & negative | (a.upper <= 0) & positive,
        (a.lower >= 0) & positive | (a.upper <= 0) & negative,
    )


def _whole(c: ColumnEstimate) -> NDArray[np.bool_]:
    ends = np.array([c.lower, c.upper])
    return np.asarray(((ends == np.rint(ends)) & (np.abs(ends) < 2.0**53)).all(0))


def _truth(
    values: Floats,
    lower: Floats | None = None,
    upper: Floats | None = None,
    unsure: NDArray[np.bool_] | bool = False,
) -> ColumnEstimate:
    """A condition: where nothing is said it is certain, if it is not missing."""
    low = np.where(np.isnan(values), 0, values) if lower is None else lower
    high = np.where(np.isnan(values), 1, values) if upper is None else upper
    return ColumnEstimate("boolean", values, np.asarray(low, float), np.asarray(high, float), unsure)


def _comparison(sign: str, a: ColumnEstimate, b: ColumnEstimate) -> ColumnEstimate:
    unsure = a.unsure | b.unsure
    if a.kind == "label" or b.kind == "label":
        found = np.array([_compared(sign, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], float)
        either = np.isnan(found) | (a.lower < a.upper) | (b.lower < b.upper)
        return _truth(found, np.where(either, 0, found), np.where(either, 1, found), unsure)
    values = np.where(a.missing() | b.missing(), np.nan, _COMPARED[sign](a.values, b.values))
    match sign:
        case "=":
            surely = (a.lower == a.upper) & (b.lower == b.upper) & (a.lower == b.lower)
            never = (a.upper < b.lower) | (b.upper < a.lower)
        case "<":
            surely, never = a.upper < b.lower, a.lower >= b.upper
        case _:
            surely, never = a.upper <= b.lower, a.lower > b.upper
    return _truth(values, surely.astype(float), 1 - never.astype(float), unsure)


def _compared(sign: str, x: Any, y: Any) -> float:
    """Dates with dates, text with text; of other kinds there is no such comparison."""
    try:
        x, y = _like(x, y), _like(y, x)
    except BadQuestion:
        return np.nan
    return np.nan if x is None or type(x) is not type(y) else float(_COMPARED[sign](x, y))


def _like(x: Any, other: Any) -> Any:
    """x as a date or a moment, where it is compared with one."""
    if isinstance(x, str) and isinstance(other, datetime.date):
        return timestamp(x, "timestamp" if isinstance(other, datetime.datetime) else "date")
    if type(x) is datetime.date and isinstance(other, datetime.datetime):
        return datetime.datetime.combine(x, datetime.time())
    return x


def _text(x: Any) -> str:
    return x.isoformat() if isinstance(x, datetime.date) else str(x)


def _logic(sign: str, a: ColumnEstimate, b: ColumnEstimate) -> ColumnEstimate:
    """The logic of SQL: missing is between false and true."""
    pick = np.minimum if sign == "and" else np.maximum
    x, y = (np.where(c.missing(), 0.5, c.values.astype(float)) for c in (a, b))
    both = pick(x, y)
    ends = pick(a.lower, b.lower), pick(a.upper, b.upper)
    unsure = a.unsure | b.unsure | a.missing() | b.missing()
    return _truth(np.where(both == 0.5, np.nan, both), *ends, unsure)


def _function(f: Function, a: ColumnEstimate) -> ColumnEstimate:
    if f.name == "is_missing":
        lost = a.missing().astype(float)
        return _truth(lost, np.where(a.unsure, 0, lost), np.where(a.unsure, 1, lost))
    if a.kind == "label":
        return _constant(None, len(a))
    if f.name in ("low", "high"):
        return numbers(a.lower if f.name == "low" else a.upper)
    x, low, high = a.values.astype(float), a.lower, a.upper
    match f.name:
        case "not":
            return _truth(1 - x, 1 - high, 1 - low, a.unsure)
        case "abs":
            inside = (low <= 0) & (high >= 0)
            nearest = np.where(inside, 0, np.minimum(np.abs(low), np.abs(high)))
            return numbers(np.abs(a.values), nearest, np.maximum(np.abs(low), np.abs(high)), a.unsure)
        case "sqrt":
            unsure = a.unsure | (low < 0)
            low, high = (np.sqrt(np.maximum(end, 0)) for end in (low, high))
            return numbers(np.sqrt(x), np.maximum(np.nextafter(low, -np.inf), 0), np.nextafter(high, np.inf), unsure)
        case "ln":
            x, ends = np.where(x > 0, np.log(x), np.nan), [np.log(np.maximum(end, 0)) for end in (low, high)]
            return numbers(x, *_outward(*ends), a.unsure | (low <= 0))
        case "exp":
            low, high = _outward(np.exp(low), np.exp(high))
            return numbers(np.exp(x), np.maximum(low, 0), high, a.unsure)
        case "round":
            if f.digits >= 0 and a.kind == "integer":
                return a
            unit = 10.0 ** abs(f.digits)
            scale, back = (np.multiply, np.divide) if f.digits >= 0 else (np.divide, np.multiply)
            x, low, high = (np.asarray(back(_nearest(scale(v, unit)), unit)) for v in (x, low, high))
            return numbers(x, low, high, a.unsure)
    rounded = np.floor if f.name == "floor" else np.ceil
    x, low, high = (np.asarray(rounded(v)) for v in (x, low, high))
    return a if a.kind == "integer" else numbers(x, low, high, a.unsure)


def _outward(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends that a function of numpy, which is right to a few units in the last place, gave: rounded outward."""
    wider = low - np.abs(low) * 2.0**-48, high + np.abs(high) * 2.0**-48
    return tuple(np.where(np.isnan(end), far, end) for end, far in zip(wider, (-np.inf, np.inf), strict=True))  # type: ignore[return-value]


def _nearest(x: Floats) -> Floats:
    """The nearest whole number, halves away from zero."""
    return np.asarray(np.sign(x) * np.floor(np.abs(x) + 0.5) + 0.0)  # no minus in front of a zero


def _nothing(side: ColumnEstimate) -> NDArray[np.bool_]:
    """Where there is surely no value."""
    return side.missing() & np.logical_not(side.unsure)


def _choice(condition: ColumnEstimate, then: ColumnEstimate, otherwise: ColumnEstimate) -> ColumnEstimate:
    """Where it is not sure which is taken, the interval holds both; a condition that is missing takes the other."""
    holds = condition.values == 1
    lost = _nothing(condition)
    yes, no = (condition.lower == 1) & np.logical_not(condition.unsure | lost), (condition.upper == 0) | lost
    differ = then.unsure | otherwise.unsure | (then.missing() != otherwise.missing())
    unsure = np.where(yes, then.unsure, np.where(no, otherwise.unsure, differ))
    if "label" in (then.kind, otherwise.kind):
        pairs = zip(holds.tolist(), then.tolist(), otherwise.tolist(), strict=True)
        chosen = [a if first else b for first, a, b in pairs]
        kinds = {type(v) for v in (*then.tolist(), *otherwise.tolist()) if v is not None}
        noisy = np.where(yes, then.lower < then.upper, np.where(no, otherwise.lower < otherwise.upper, True))
        return labels(chosen if len(kinds) <= 1 else [None if v is None else _text(v) for v in chosen], noisy, unsure)
    yes, no = yes | _nothing(otherwise), no | _nothing(then)  # an interval is of the value, where there is one
    low = np.where(yes, then.lower, np.where(no, otherwise.lower, np.minimum(then.lower, otherwise.lower)))
    high = np.where(yes, then.upper, np.where(no, otherwise.upper, np.maximum(then.upper, otherwise.upper)))
    values = np.where(holds, then.values, otherwise.values)
    if then.kind == otherwise.kind == "boolean":
        return _truth(values, low, high, unsure)
    return numbers(values, low, high, unsure)


def _narrowed(
    choice: CaseOutput, found: ColumnEstimate, then: ColumnEstimate, otherwise: ColumnEstimate
) -> ColumnEstimate:
    """Of the lesser or the larger of two, the interval that both bound; where `then` may be missing, the other alone.

    If the other is missing so is the comparison, and then there is no value.
    """
    pair = choice.then, choice.otherwise
    if not isinstance(choice.condition, Comparison) or choice.condition.operator == "=" or found.kind == "label":
        return found
    lost = then.missing() | then.unsure
    match (choice.condition.a, choice.condition.b):
        case first if first == pair:
            most = np.where(lost, otherwise.upper, np.minimum(then.upper, otherwise.upper))
            return replace(found, upper=np.minimum(found.upper, most))
        case first if first == pair[::-1]:
            least = np.where(lost, otherwise.lower, np.maximum(then.lower, otherwise.lower))
            return replace(found, lower=np.maximum(found.lower, least))
    return found
