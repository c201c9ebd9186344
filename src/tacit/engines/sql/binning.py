"""Binning: the index of a row among public values of a key, or among the bins of a histogram.

A binning computes a code for each row in SQL (missing where the row is in no bin), and maps codes to bins here.
However many values there are in the data, there are at most a few times as many codes as bins, whose number is public.
Codes are integers of at most 64 bits between public ends; any other code is refused, and no row has one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from ...core.errors import EngineError
from ...query.plan.plan import BinCounts
from ...query.select.query import Key
from ...query.values.domain import ValueDomain
from ..base import Integers
from .dialect import Dialect, Typed, binary, case, number, within

_MAX_CODES_PER_BIN, _SPARE_CODES = 4, 1024  # up to so many values are their own codes


@dataclass(frozen=True)
class Binning:
    """The code of a row in SQL, the first code of each bin, the last code of all, and the index of each bin."""

    code: exp.Expr
    firsts: NDArray[np.int64]
    last: int
    places: NDArray[np.int64]

    def place(self, codes: Integers) -> Integers:
        """The bin of each code; a code below the first or above the last is refused."""
        if not len(codes):
            return np.zeros(0, np.int64)
        at, end = codes.astype(np.int64, casting="safe"), len(self.firsts) - 1
        if end < 0 or at.min() < self.firsts[0] or at.max() > self.last:
            raise EngineError
        if int(self.firsts[end]) - int(self.firsts[0]) == end:  # first codes are consecutive
            at = np.minimum(at - self.firsts[0], end)
        else:
            at = np.searchsorted(self.firsts, at, side="right") - 1
        return self.places[at]


def key_binning(key: Key, value: Typed, dialect: Dialect) -> Binning:
    """The binning by the public values of a key, one bin for each."""
    values, value = key.values or (), dialect.narrowed(value)
    if values and max(values) - min(values) < len(values):
        whole = np.array(values, dtype=np.int64)
        order = np.argsort(whole, kind="stable")
        return Binning(_inside(value.sql, key.domain, min(values), max(values)), whole[order], max(values), order)
    places = np.arange(len(values))
    return Binning(dialect.lookup(value, values, range(len(values))), places, len(values) - 1, places)


def histogram_binning(histogram: BinCounts, value: Typed, dialect: Dialect) -> Binning:
    """The binning by the edges of a histogram; the last bin includes its upper edge."""
    edges, domain, value = histogram.edges, histogram.expression.domain, dialect.narrowed(value)
    lower, upper, bins = edges[0], edges[-1], len(edges) - 1
    places = np.arange(bins)
    if upper - lower < _MAX_CODES_PER_BIN * bins + _SPARE_CODES:
        return Binning(_inside(value.sql, domain, lower, upper), np.array(edges[:-1], np.int64), upper, places)
    bits = max(value.bits, dialect.bits(lower, upper), dialect.bits(0, upper - lower))
    e, step = dialect.widened(value, bits), edges[1] - lower
    if all(edge == lower + i * step for i, edge in enumerate(edges)):
        above = e if lower == 0 else binary(exp.Sub, e, dialect.widened(Typed(number(lower), 0), bits))
        quotient = dialect.quotient(above, dialect.widened(Typed(number(step), 0), bits), bits)
        code = dialect.narrowed(Typed(quotient, bits)).sql
        if lower <= domain.lower and domain.upper <= upper:
            return Binning(code, places, bins, places)  # the upper edge has the code after the last bin's
    else:
        code = _search(e, edges[1:-1], 0)
    return Binning(case((within(e.copy(), lower, upper), code)), places, bins, places)


def _inside(e: exp.Expr, domain: ValueDomain, lower: int, upper: int) -> exp.Expr:
    """e, made missing outside of the bounds if its domain reaches there."""
    if lower <= domain.lower and domain.upper <= upper:
        return e
    return case((within(e, lower, upper), e.copy()))


def _search(e: exp.Expr, edges: tuple[int, ...], first: int) -> exp.Expr:
    """The number of edges that are at most e, plus `first`, by binary search."""
    if not edges:
        return number(first)
    middle = len(edges) // 2
    below = binary(exp.LT, e.copy(), number(edges[middle]))
    low, high = _search(e, edges[:middle], first), _search(e, edges[middle + 1 :], first + middle + 1)
    return case((below, low), otherwise=high)
