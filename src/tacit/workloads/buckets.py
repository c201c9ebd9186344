r"""Where to cut a line of values into buckets that are to be counted with noise.

Value i is known up to a variance v_i, and the count of a bucket will be known much better.  Within a bucket let A be
the sum of v before a place and E that of all: given the count of the bucket, the cumulative count at the place has the
variance A (E - A) / E.  With w the share of all ends of ranges that lie at a place, a bucket

    misses   r = sum of w A (E - A) / E over the places within it,
    costs    price F (1 - F), for its own noise, which is in the ranges with one end on either side: F is the share of
             the ends before its middle.

Cut are the values so that the sum of both is least, among buckets with r <= price.  A bucket that grows misses more, so
that of the places where the last one may begin only a window is looked at, which moves on with its end.  Places with
the same A are as good as each other, so buckets begin at values that are not sure.

References.  Bellman, Comm. ACM 4 (1961), for the dynamic programme; Li, Hay, Miklau, VLDB 2014, for buckets.
"""

from __future__ import annotations

import numpy as np

from .data import Floats, Integers


def buckets(unsure: Floats, ends: Floats, price: float) -> Integers:
    """The bucket of each value, from the variance of each and the share of the ends just before each."""
    size, at = unsure.size, np.flatnonzero(unsure > 0)
    at = np.concatenate([[0], at[1:], [size]])  # where a bucket may begin, and the end
    before = np.concatenate([[0.0], np.cumsum(unsure)]) - unsure.sum() / 2  # A; centred, for the sake of rounding
    A, (w0, w1, w2) = before[at], (_sums(ends * before[:-1] ** k) for k in range(3))
    within = np.minimum(at + 1, size)  # the first place within a bucket that begins here
    F, least, begins, low = w0[at], np.zeros(at.size), np.zeros(at.size, np.int64), 0
    for j in range(1, at.size):
        window = slice(low, j)
        i, a = within[window], A[window]
        u0, u1, u2 = w0[at[j]] - w0[i], w1[at[j]] - w1[i], w2[at[j]] - w2[i]
        gap = A[j] - a
        missed = np.divide((a + A[j]) * u1 - u2 - a * A[j] * u0, gap, out=np.zeros_like(gap), where=gap > 0)
        far = np.maximum.accumulate(missed[::-1])[::-1]  # as it is but for rounding
        first = int(np.count_nonzero(far[:-1] > price))
        middle = (F[window] + F[j]) / 2
        total = (least[window] + np.maximum(missed, 0) + price * middle * (1 - middle))[first:]
        low += first
        begins[j] = low + int(total.argmin())
        least[j] = total.min()
    found = np.zeros(size, np.int64)
    j = at.size - 1
    while (j := int(begins[j])) > 0:
        found[at[j]] = 1
    return np.cumsum(found)


def _sums(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])
