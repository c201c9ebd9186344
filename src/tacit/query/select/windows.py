"""Functions of several rows of an answer: SQL's windows, with an interval wherever one follows.

Rows are equal in `partition`, stand in an `order` (missing values last, ties in their old order), and each has a frame
of rows around it.  Over an empty frame a sum or a count is 0, and anything else is missing.

    sum, mean     of counts or sums as they were released: a bound on the sum of so many independent noises;
                  of other numbers: the sum, or the mean, of the ends of their intervals
    min, max      the least, or the largest, of each end
    rank          in an order by one noisy number x: 1 + the rows that surely come first, to 1 + those that may
    the others    exact

Where noise decides which rows there are, which of them belong together, or which of them a frame holds, a function has
no interval: its ends are infinite, or the least and the largest rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .outputs import RANKS, ColumnEstimate, Floats, Window, labels, numbers

Ints = NDArray[np.int64]
SHARES = frozenset(("percent_rank", "cume_dist"))


@dataclass(frozen=True)
class _Arranged:
    """Rows in the order of a window; by their place in it, where the partition and the peers of each begin and end."""

    rows: Ints
    first: Ints
    end: Ints
    first_peer: Ints
    end_peer: Ints

    @property
    def places(self) -> Ints:
        return np.arange(len(self.rows))

    def back(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values by their place in the order of the window, as values of the rows."""
        found = np.empty_like(values)
        found[self.rows] = values
        return found


def over(
    window: Window,
    a: ColumnEstimate | None,
    partition: Sequence[ColumnEstimate],
    order: Sequence[tuple[ColumnEstimate, bool]],
    rows: int,
    *,
    loose: bool,
    loose_order: bool,
) -> ColumnEstimate:
    """The value of a window in each row; noise decides which rows belong together if `loose`, or else their order."""
    at = _arranged(partition, order, rows)
    if window.function in RANKS:
        return _rank(window, at, order, loose=loose, loose_order=loose_order)
    if a is None:
        a = numbers(np.ones(rows, np.int64))
    sorted_a = a.take(at.rows)
    if window.function in ("lag", "lead"):
        found = at.places + (window.n if window.function == "lead" else -window.n)
        there = (at.first <= found) & (found < at.end)
        return _back(at, _chosen(window, sorted_a, found, there), loose or loose_order)
    begin, end = _frames(window, at)
    loose = loose or (loose_order and bool(window.order or window.frame))
    if window.function in ("first", "last"):
        found = begin if window.function == "first" else end - 1
        return _back(at, _chosen(window, sorted_a, found, begin < end), loose)
    return _back(at, _aggregate(window, sorted_a, begin, end), loose)


def _may_be_missing(window: Window) -> bool:
    """Whether a row may have an empty frame, or none at an offset: then what it picks may be missing."""
    begin, end = window.frame or (None, 0)
    return window.function in ("lag", "lead") or (begin or 0) > 0 or (end or 0) < 0


def nothing(window: Window, a: ColumnEstimate | None) -> ColumnEstimate:
    """The value of a window over no rows at all."""
    if window.function in ("count", "sum"):
        return numbers(np.zeros(1, np.int64))
    if a is not None and a.kind == "label":
        return labels([None])
    return numbers(np.full(1, np.nan), np.full(1, -np.inf), np.full(1, np.inf))


def _arranged(
    partition: Sequence[ColumnEstimate], order: Sequence[tuple[ColumnEstimate, bool]], rows: int
) -> _Arranged:
    apart = [codes(c) for c in partition]
    keys = [*apart, *(codes(c, descending) for c, descending in order)]
    sorted_rows = np.lexsort(keys[::-1]) if keys else np.arange(rows)
    first, end = _runs([key[sorted_rows] for key in apart], rows)
    peers = _runs([key[sorted_rows] for key in keys], rows)
    return _Arranged(sorted_rows, first, end, *peers)


def codes(c: ColumnEstimate, descending: bool = False) -> Ints:
    """Whole numbers in the order of the values, equal where these are equal; missing values come last."""
    lost, found = c.missing(), np.empty(len(c), np.int64)
    if c.kind == "label":
        place = {value: i for i, value in enumerate(sorted({value for value in c.values if value is not None}))}
        found[:] = [0 if value is None else place[value] for value in c.values]
    else:
        found[:] = np.unique(c.values, return_inverse=True)[1]
    found = -found if descending else found
    return np.where(lost, len(c), found)


def _runs(keys: Sequence[Ints], rows: int) -> tuple[Ints, Ints]:
    """Where the run of equal rows around each row begins and ends."""
    new = np.zeros(rows, bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, rows))
    return np.repeat(starts, lengths), np.repeat(starts + lengths, lengths)


def _frames(window: Window, at: _Arranged) -> tuple[Ints, Ints]:
    if window.frame is None:
        return at.first, at.end_peer if window.order else at.end
    begin, end = window.frame
    low = at.first if begin is None else np.clip(at.places + begin, at.first, at.end)
    high = at.end if end is None else np.clip(at.places + end + 1, at.first, at.end)
    return low, np.maximum(low, high)


def _back(at: _Arranged, c: ColumnEstimate, loose: bool) -> ColumnEstimate:
    """A column by the rows; if it is loose, without intervals."""
    found = c.take(np.argsort(at.rows))
    if not loose:
        return found
    if c.kind == "label":
        return labels(found.values, noisy=True, unsure=True)
    low, high = (0.0, 1.0) if c.kind == "boolean" else (-np.inf, np.inf)
    return ColumnEstimate(c.kind, found.values, np.full(len(c), low), np.full(len(c), high), True)


def _chosen(window: Window, a: ColumnEstimate, places: Ints, there: NDArray[np.bool_]) -> ColumnEstimate:
    """The values at some places, missing where there is no such place."""
    found = a.take(np.where(there, places, 0)) if len(a) else a
    if a.kind == "label":
        noisy = found.lower < found.upper
        shown = [value if here else None for value, here in zip(found.values, there.tolist(), strict=True)]
        return labels(shown, noisy, found.unsure & there)
    low, high = np.where(there, found.lower, -np.inf), np.where(there, found.upper, np.inf)
    if a.kind == "integer" and not _may_be_missing(window):
        return numbers(found.values, low, high, found.unsure)
    values = np.where(there, found.values.astype(float), np.nan)
    return ColumnEstimate("boolean" if a.kind == "boolean" else "real", values, low, high, found.unsure & there)


def _aggregate(window: Window, a: ColumnEstimate, begin: Ints, end: Ints) -> ColumnEstimate:
    lost, unsure = a.missing(), np.broadcast_to(a.unsure, len(a))
    present = _sums(np.where(lost, 0, 1), begin, end)
    if window.function == "count":
        least, most = _sums(~lost & ~unsure, begin, end), _sums(~lost | unsure, begin, end)
        return numbers(present.astype(np.int64), least.astype(float), most.astype(float))
    any_unsure = _sums(unsure, begin, end) > 0
    if window.function in ("min", "max"):
        return _extreme(window, a, begin, end)
    values = a.values if a.kind == "integer" else np.where(lost, 0, a.values)
    total = _sums(values, begin, end)
    low, high = _sum_ends(a, total, begin, end)
    if window.function == "sum":
        return numbers(total, low, high)
    mean = np.where(present > 0, total / np.maximum(present, 1), np.nan)
    if lost.any() or unsure.any():
        low, high = _extremes(a.lower, begin, end, np.minimum), _extremes(a.upper, begin, end, np.maximum)
    else:
        few = np.maximum(present, 1)
        low, high = np.nextafter(low / few, -np.inf), np.nextafter(high / few, np.inf)
    return numbers(mean, np.where(present > 0, low, -np.inf), np.where(present > 0, high, np.inf), any_unsure)


def _sum_ends(a: ColumnEstimate, total: NDArray[Any], begin: Ints, end: Ints) -> tuple[Floats, Floats]:
    """The ends of the interval of each sum."""
    if a.sum_error is not None:
        sizes, which = np.unique(end - begin, return_inverse=True)
        errors = np.array([a.sum_error(int(size)) if size else 0.0 for size in sizes])[which]
        size = np.abs(total.astype(float)) + errors
        margin = np.where(size < 2.0**53, 0.0, size * 2.0**-50) if a.kind == "integer" else size * 2.0**-48
        return total - errors - margin, total + errors + margin
    maybe = a.missing() | a.unsure  # a value that is not sure to be there may add nothing
    surely_none = a.missing() & ~np.broadcast_to(a.unsure, len(a))
    low = np.where(surely_none, 0, np.where(maybe, np.minimum(a.lower, 0), a.lower))
    high = np.where(surely_none, 0, np.where(maybe, np.maximum(a.upper, 0), a.upper))
    low_sums, high_sums = _sums(low, begin, end), _sums(high, begin, end)
    margin = np.array([_margin(x) for x in (low, high)])
    return low_sums - margin[0], high_sums + margin[1]


def _margin(x: Floats) -> float:
    """What the rounding of sums of these numbers may amount to; none where all are whole and small."""
    finite = x[np.isfinite(x)]
    size = float(np.abs(finite).sum())
    return 0.0 if size < 2.0**53 and bool((finite == np.rint(finite)).all()) else size * len(x) * 2.0**-51


def _sums(x: NDArray[Any], begin: Ints, end: Ints) -> NDArray[Any]:
    """The sum over each frame: of whole numbers as such, if they fit 62 bits; an infinite term makes it infinite."""
    if x.dtype == bool:
        x = x.astype(np.int64)
    if x.dtype == np.int64 and np.abs(x.astype(float)).sum() < 2.0**62:
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(x)])
        return np.asarray(running[end] - running[begin])
    x = x.astype(float)
    finite = np.isfinite(x)
    running = np.concatenate([np.zeros(1), np.cumsum(np.where(finite, x, 0))])
    sums = running[end] - running[begin]
    for sign in (np.inf, -np.inf):
        unbounded = np.concatenate([np.zeros(1, np.int64), np.cumsum(x == sign)])
        sums = np.where(unbounded[end] > unbounded[begin], sign, sums)
    return np.asarray(sums)


def _extreme(window: Window, a: ColumnEstimate, begin: Ints, end: Ints) -> ColumnEstimate:
    pick, none, far = (np.minimum, np.inf, 1) if window.function == "min" else (np.maximum, -np.inf, 0)
    lost, unsure = a.missing(), np.broadcast_to(a.unsure, len(a))
    ends = [np.where(lost & ~unsure, none, each) for each in (a.lower, a.upper)]
    ends[far] = np.where(unsure, none, ends[far])  # what may not be there does not bound the others
    low, high = (_extremes(each, begin, end, pick) for each in ends)
    if a.kind == "integer" and not _may_be_missing(window):
        return numbers(_extremes(a.values, begin, end, pick), low, high)
    values = _extremes(np.where(lost, none, a.values.astype(float)), begin, end, pick)
    empty = _sums(~lost, begin, end) == 0
    some_unsure = _sums(unsure, begin, end) > 0
    ends = [np.where(empty, each, end_) for each, end_ in ((-np.inf, low), (np.inf, high))]
    return numbers(np.where(empty, np.nan, values), ends[0], ends[1], some_unsure)


def _extremes(x: NDArray[Any], begin: Ints, end: Ints, pick: np.ufunc) -> NDArray[Any]:
    """The least or the largest of each frame, from those of all runs of 2^k rows."""
    if not len(x):
        return x
    spans, found = [x], np.array(x[np.minimum(begin, len(x) - 1)])
    length = end - begin
    while 2 ** len(spans) <= len(x):
        half = 2 ** (len(spans) - 1)
        spans.append(pick(spans[-1][:-half], spans[-1][half:]))
    level = np.log2(np.maximum(length, 1)).astype(np.int64)
    for k in np.unique(level[length > 0]):
        here = (level == k) & (length > 0)
        found[here] = pick(spans[k][begin[here]], spans[k][end[here] - 2**k])
    return found


def _rank(
    window: Window, at: _Arranged, order: Sequence[tuple[ColumnEstimate, bool]], *, loose: bool, loose_order: bool
) -> ColumnEstimate:
    size, place = at.end - at.first, at.places - at.first
    match window.function:
        case "row_number":
            value: NDArray[Any] = place + 1
        case "rank":
            value = at.first_peer - at.first + 1
        case "dense_rank":
            group = np.cumsum(at.first_peer == at.places)
            value = group - group[at.first] + 1 if len(group) else group
        case "percent_rank":
            value = (at.first_peer - at.first) / np.maximum(size - 1, 1)
        case "cume_dist":
            value = (at.end_peer - at.first) / np.maximum(size, 1)
        case _:
            each, more = size // window.n, size % window.n  # the first `more` parts have one row more
            longer = place // (each + 1)
            value = np.where(longer < more, longer, more + (place - more * (each + 1)) // np.maximum(each, 1)) + 1
    value = at.back(value if window.function in SHARES else value.astype(np.int64))
    if loose:
        return numbers(value, np.zeros(len(value)), np.full(len(value), 1.0 if window.function in SHARES else np.inf))
    if not loose_order:
        return numbers(value)
    if window.function in SHARES:
        return numbers(value, np.zeros(len(value)), np.ones(len(value)))
    low, high = np.ones(len(value)), at.back(size).astype(float)
    if window.function in ("rank", "row_number") and len(order) == 1:
        low, high = _rank_ends(at, *order[0], low, high)
    return numbers(value, low, high)


def _rank_ends(at: _Arranged, by: ColumnEstimate, descending: bool, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """1 + the rows that surely come before each row, and 1 + those that may."""
    if by.kind == "label" or (by.missing() | by.unsure).any():
        return low, high
    ends = (-by.upper, -by.lower) if descending else (by.lower, by.upper)
    for start in np.unique(at.first):
        rows = at.rows[start : at.end[start]]
        first, last = ends[0][rows], ends[1][rows]
        low[rows] = 1 + np.searchsorted(np.sort(last), first, "left")
        high[rows] = np.searchsorted(np.sort(first), last, "right")
    return low, high
