r"""The segments between neighbouring breakpoints (ends of ranges), and the runs of segments that ranges cover.

A range is a difference of two sums of segments, each from the first of its run; a run's first end has a sum of 0.  The
errors e_j of these sums have, by (a - b)^2 <= 2 a^2 + 2 b^2,
    sum w (e_j - e_i)^2 <= sum u_j e_j^2,      u_j = sum w (2 or, where the range begins its run, 1)
over the ranges that end at j; and also <= (K + 1) W sum e_j^2, the sum over all pairs of the K ends of a run and the 0,
where W is the weight of the heaviest range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...models.trees.tree import Tree
from ...models.trees.tree_design import places
from ...queries.data import Floats, Integers
from ...queries.ranges import Ranges

_MIN_VARIANCE = 1e-9  # of the largest: sums are weighted by no smaller one


@dataclass(frozen=True)
class Stretches:
    """`cuts` are all breakpoints, `asked` marks the segments within some range; `ends` and `run` are where these end.

    `first` are the places in `ends` where a run begins; `variances` and `shares` are the variances and the u of the
    sums at `ends`.  `moved` is, for each run, what the noise of segments can add to ranges beside them, as a share of
    the noise of ranges.
    """

    cuts: Integers
    asked: NDArray[np.bool_]
    ends: Integers
    run: Integers
    first: Integers
    variances: Floats
    shares: Floats
    moved: Floats

    @classmethod
    def of(cls, ranges: Ranges, tree: Tree) -> Stretches:
        low, high = places(ranges)
        begun, ended = (np.bincount(at, minlength=tree.size + 1) for at in (low, high + 1))
        touched = (begun + ended) > 0
        touched[[0, -1]] = True
        cuts, place = np.flatnonzero(touched), np.cumsum(touched) - 1
        asked = np.cumsum(begun - ended)[cuts[:-1]] > 0
        inside = np.concatenate([[False], asked])  # of each breakpoint, whether it is after some segment of a run
        ends, begins = np.flatnonzero(inside), asked & ~inside[:-1]
        run = np.cumsum(begins)[asked] - 1
        variances = tree.range_variances(cuts[:-1][begins][run], cuts[ends] - 1)
        i, j = place[low], place[high + 1]
        times = ranges.weights * np.where(inside[i], 2.0, 1.0)
        shares = np.bincount(j, times, cuts.size) + np.bincount(i, times, cuts.size) * inside
        first = np.flatnonzero(np.diff(run, prepend=-1))
        own = np.sqrt(tree.range_variances(low, high))
        beside = np.sqrt(tree.range_variances(cuts[:-1], cuts[1:] - 1)) * asked
        runs = np.where(asked, np.cumsum(begins) - 1, 0)
        more = np.bincount(runs, _added(i, j, ranges.weights, own, beside))
        moved = more / np.bincount(runs[i], ranges.weights * own)
        return cls(cuts, asked, ends, run, first, variances, shares[ends], moved)

    @property
    def weights(self) -> Floats:
        """u_j / V_j: how much each sum matters, and how well it is known."""
        return np.asarray(self.shares / np.maximum(self.variances / self.variances.max(), _MIN_VARIANCE))

    def bound(self, ranges: Ranges) -> float:
        """A bound on the mean square error of ranges, if sum (u / V) e^2 is at most sum u, as it is on average."""
        low, high = places(ranges)
        pairs, at = np.unique(low * (self.cuts[-1] + 1) + high, return_inverse=True)
        heaviest = float(np.bincount(at, ranges.weights, pairs.size).max())
        most = float(self.variances.max())
        every = (self.ends.size + 1) * heaviest * most * float((1 / self.weights).max())
        return min(most, every) * float(self.shares.sum() / ranges.weights.sum())


def _added(i: Integers, j: Integers, weights: Floats, own: Floats, noise: Floats) -> Floats:
    """What emptying each segment adds to the errors of ranges: half of its noise s goes to each of its ends.

    A range of noise t that ends there is then off by sqrt(t^2 + s^2 / 4), or sqrt(t^2 - s^2 / 4) if it holds the
    segment.
    """
    padded = np.concatenate([[0.0], noise, [0.0]])
    total = np.zeros(padded.size)
    for at, sign in ((i, 1), (j + 1, 1), (i + 1, -1), (j, -1)):  # before the range, after it, its first and last
        then = np.sqrt(np.maximum(own**2 + sign * padded[at] ** 2 / 4, 0.0))
        total += np.bincount(at, weights * (then - own), padded.size)
    return np.maximum(total[1:-1], 0.0)
