r"""Where to cut a line of values into buckets that are to be counted with noise.

Value i is known up to a variance v_i, and the count of a bucket will be known much better.  Within a bucket let A be
the sum of v before a place and E the sum of all v: given the count of the bucket, the cumulative count at the place has
the variance A (E - A) / E.  With w the share of all ends of ranges that lie at a place, a bucket

    misses   r = sum of w A (E - A) / E over the places within it,
    costs    price F (1 - F), for its own noise, which is in the ranges with one end on either side: F is the share of
             the ends before its middle.

The values are cut so that the sum of both is least, among buckets with r <= price.  A bucket that grows misses more, so
only a window of the places where the last bucket may begin is searched, which moves on with its end.  Places with the
same A are equally good, so buckets begin at values of positive variance.

With a and e the sums of v before a bucket and up to its end, r (e - a) = sum of w (A - a) (e - A).  By the cumulative
sums of w A^k, U_k up to its end and u_k up to its beginning, this is

    (e U_1 - U_2) + a (U_1 - e U_0) + e (a u_0 - u_1) + (u_2 - a u_1),

a product of four numbers that belong to the end and four that belong to the beginning: the windows of several
consecutive ends are searched together.

References.  Bellman, Comm. ACM 4 (1961), for the dynamic programme; Li, Hay, Miklau, VLDB 2014, for buckets.
"""

from __future__ import annotations

import numpy as np

from ...queries.data import Floats, Integers

_MAX_ENDS = 32  # whose windows are searched together
_MAX_PAIRS = 1 << 20  # of an end and a beginning, in one search
_TINY = 1e-300


def buckets(variances: Floats, ends: Floats, price: float) -> Integers:
    """The bucket of each value, from the variance of each and the share of the ends just before each."""
    size, at = variances.size, np.flatnonzero(variances > 0)
    at = np.concatenate([[0], at[1:], [size]])  # where a bucket may begin, and the end
    before = _sums(variances) - variances.sum() / 2  # A; centred, for the sake of rounding
    tiny = max(_TINY, 1e-16 * float(variances.sum()))  # what rounding may make of E
    sums = np.stack([_sums(ends * before[:-1] ** k) for k in range(3)])
    A, one, (U0, U1, U2), F = before[at], np.ones(at.size), sums[:, at], sums[0, at]
    u0, u1, u2 = sums[:, np.minimum(at + 1, size)]  # up to the first place within a bucket that begins here
    of_end = np.stack([A * U1 - U2, U1 - A * U0, A, one], axis=1)
    of_begin = np.stack([one, A, A * u0 - u1, u2 - A * u1])
    least, begins, low, end = np.zeros(at.size), np.zeros(at.size, np.int64), 0, 1
    while end < at.size:
        stop = min(end + max(1, min(_MAX_ENDS, _MAX_PAIRS // (end - low))), at.size)
        i, j = slice(low, stop - 1), slice(end, stop)
        missed = of_end[j] @ of_begin[:, i] / np.maximum(A[j, None] - A[i], tiny)
        np.fill_diagonal(missed[:, end - 1 - low :], 0.0)  # a bucket with one uncertain value misses nothing
        middle = (F[i] + F[j, None]) / 2
        cost = np.where(missed > price, np.inf, np.maximum(missed, 0.0) + price * middle * (1 - middle))
        for row in cost:
            total = least[low:end] + row[: end - low]
            best = total.argmin()
            begins[end], least[end] = low + best, total[best]
            end += 1
        low += int(np.isfinite(cost[-1]).argmax())
    cut = np.zeros(size, np.int64)
    last = at.size - 1
    while (last := int(begins[last])) > 0:
        cut[at[last]] = 1
    return np.cumsum(cut)


def _sums(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])
