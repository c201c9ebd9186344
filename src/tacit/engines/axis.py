"""Public places along one expression: the values of a key, or the bins of a histogram.

An axis gives each row a code in SQL, which is missing where the row has no place, and each code its place.  However
many values there are in the data, the codes are at most a few times as many as the places, which are public.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from ..tables.domain import Domain
from ..tables.plan import Histogram, Key
from .base import Integers
from .dialect import Dialect, Typed, binary, case, number, within

_SLACK, _SPARE = 4, 1024  # values are taken as they are, if they are not many more than the places


@dataclass(frozen=True)
class Axis:
    """The code of a row in SQL, and the first value of each place among the codes."""

    code: exp.Expr
    firsts: NDArray[np.int64]
    places: NDArray[np.int64]

    def place(self, codes: Integers) -> Integers:
        """The place of each code."""
        at, last = codes.astype(np.int64), len(self.firsts) - 1
        if last >= 0 and self.firsts[last] - self.firsts[0] == last:  # they are consecutive
            at = np.minimum(at - self.firsts[0], last)
        else:
            at = np.searchsorted(self.firsts, at, side="right") - 1
        return self.places[at]


def key_axis(key: Key, value: Typed, dialect: Dialect) -> Axis:
    """The values of a key, each a place."""
    values = np.array(key.values, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    if len(values) and values[order[-1]] - values[order[0]] < len(values):
        return Axis(_inside(value.sql, key.domain, int(values[order[0]]), int(values[order[-1]])), values[order], order)
    places = np.arange(len(values))
    return Axis(dialect.lookup(value, key.values or (), range(len(values))), places, places)


def bin_axis(histogram: Histogram, value: Typed, dialect: Dialect) -> Axis:
    """The bins of a histogram; the last includes its upper edge."""
    edges, domain = histogram.edges, histogram.expression.domain
    lower, upper, bins = edges[0], edges[-1], len(edges) - 1
    places = np.arange(bins)
    if upper - lower < _SLACK * bins + _SPARE:
        return Axis(_inside(value.sql, domain, lower, upper), np.array(edges[:-1]), places)
    bits = max(value.bits, dialect.bits(lower, upper), dialect.bits(0, upper - lower))
    e, step = dialect.widened(value, bits), edges[1] - lower
    if all(edge == lower + i * step for i, edge in enumerate(edges)):
        above = e if lower == 0 else binary(exp.Sub, e, dialect.widened(Typed(number(lower), 0), bits))
        code = dialect.quotient(above, dialect.widened(Typed(number(step), 0), bits), bits)
        if lower <= domain.lower and domain.upper <= upper:
            return Axis(code, places, places)
    else:
        code = _search(e, edges[1:-1], 0)
    return Axis(case((within(e.copy(), lower, upper), code)), places, places)


def _inside(e: exp.Expr, domain: Domain, lower: int, upper: int) -> exp.Expr:
    """e itself, and missing outside of the bounds, if it can be there."""
    if lower <= domain.lower and domain.upper <= upper:
        return e
    return case((within(e, lower, upper), e.copy()))


def _search(e: exp.Expr, edges: tuple[int, ...], first: int) -> exp.Expr:
    """How many of the edges are at most e, by halves."""
    if not edges:
        return number(first)
    middle = len(edges) // 2
    below = binary(exp.LT, e.copy(), number(edges[middle]))
    low, high = _search(e, edges[:middle], first), _search(e, edges[middle + 1 :], first + middle + 1)
    return case((below, low), otherwise=high)
