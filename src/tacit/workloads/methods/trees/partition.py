r"""Two trees, the second over buckets that the first has found: for tables with lumps and many empty cells.

Definition.  Two sevenths of the price buy a tree of noisy counts over the values (`_noisy_tree.py`), read from the root
down.  Its counts above the values have half their usual shares, since sums are what the second tree is for.  A value
of count c is then known up to a variance of min(c s, s^2), s being the deviation of its noise: below s it may as well
be s, with probability c / s, or 0.  By these variances the values are cut into buckets, so that what the first tree may
miss within buckets and the noise to come have the least sum (`_buckets.py`).  The rest of the price buys a second tree,
over the buckets, for the same ranges with their ends moved to the nearest cuts.  The counts of buckets are the mean of
both, weighted by inverse variances; within a bucket they follow the first tree.  Cumulative counts are kept within t of
the least-squares ones of the first tree, t being what all of those are within with probability 1 - beta, and are then
made monotone by isotonic regression.

Privacy.  The first tree costs two sevenths of the price: each level is a histogram with noise, and the levels add up.
The buckets are a function of its noisy counts and of the ranges, which are public.  Whatever the buckets are, a record
lies in one of them, and so in one node of each level of the second tree; that alone sets the noise of a level
(`Workload.distance` lets the records of a unit meet in one node), so the second tree costs five sevenths.  By adaptive
composition both together cost the price.  All else is post-processing.

Utility.  Each cumulative count is within t + max |S_j|, S_j the errors of the first tree: within 2 t with probability
1 - beta, whatever the data.  Where few buckets are left the error is that of a tree over those, a fraction of this; on
dense tables it is about a quarter above that of one tree at the whole price.

References.  Li, Hay, Miklau, VLDB 2014 (DAWA), for buckets found privately; Dwork, Rothblum, Vadhan, FOCS 2010, on
adaptive composition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from ....core.accounting.loss import Loss
from ....core.distance import Distance
from ....core.parameters import Number, probability
from ....core.randomness import Source
from ....storage import stored
from ...method import Method, Prediction, Released
from ...models.trees.monotone_model import Rising, Sums, cumulative, ends
from ...models.trees.tree import Tree, top_down
from ...models.trees.tree_design import Design, design, evenly, places, sketch, some
from ...price import Price, variance
from ...queries._layout import summed
from ...queries.data import Data, Floats, Integers
from ...queries.domain import Axes, Domain
from ...queries.marginals import Marginal
from ...queries.ranges import Ranges
from ...queries.workload import Workload
from ._buckets import buckets
from ._noisy_tree import as_ranges, measured_tree, why_not_ranges

_BUCKET_PRICE = 0.4  # of the noise of a bucket: on a tree its neighbours share it
_NEGLIGIBLE = 0.01  # deviations of the first tree's noise


@stored("Partition")
@dataclass(frozen=True)
class Partition(Method):
    """A tree of noisy counts over buckets of values, which another tree found."""

    name = "partition"
    theorem = "as isotonic, with the number of buckets for m; always within twice what two sevenths buy; m in all"
    reads_beta = True  # it decides how far counts are kept from those of the first tree

    def why_not(self, workload: Workload, n: int | None, price: Price) -> str | None:
        return why_not_ranges(workload)

    def _predict(self, workload: Workload, n: int | None, price: Price, beta: Number) -> Prediction:
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        plan = _first(ranges, first := _shares(price)[0])
        noises, most = plan.noises(ranges, first), float(ends(ranges).max())
        sums = cumulative(plan.tree(noises), noises)
        mean, seconds = most * (sums.worst(b) + sums.root_mean_square_of_largest()), 5e-3 + 3e-7 * sums.size
        why = "only the lumps of the table are counted finely, which helps if they are few"
        return Prediction(mean, mean, 2 * most * sums.worst(b), seconds, "bound", b, why)

    def _loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """The whole price: the noises of the second tree are known only after the first."""
        return price.alone.loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        ranges, (first, second) = as_ranges(workload), _shares(price)
        fine = measured_tree(ranges, data, first, source, _first(some(ranges), first))
        cumulated, mean = _of_first(ranges, first)
        rough = top_down(fine.tree, fine.noisy)
        sigma2 = variance(second.noise(Marginal(ranges.domain, ranges.axes).distance(price.unit)))
        bucket = buckets(_value_variances(rough, fine.tree.variances[0]), _ends(ranges), _BUCKET_PRICE * sigma2)
        within = _shares_within(rough, bucket)
        merged, counts = _merged(ranges, data, bucket, within)
        tree, _, noisy = sketch(merged, second).measure(merged, counts, second, source)
        trust, of_second = 1 / mean, 1 / _mean_variance(tree, merged)
        by_bucket = (trust * np.bincount(bucket, rough) + of_second * top_down(tree, noisy)) / (trust + of_second)
        both = within * by_bucket[bucket]
        farthest, sums = cumulated.worst(beta), np.cumsum(fine.values)
        clipped = np.clip(np.cumsum(both), sums - farthest, sums + farthest)
        monotone = np.maximum(isotonic_regression(clipped).x, 0)
        model = Rising(workload.domain, ranges.axes[0], np.diff(monotone, prepend=0.0), 2 * farthest)
        notes = (fine.note, f"then over {tree.size} buckets; the stated errors hold for all ranges at once")
        errors = model.error_bounds(workload, beta)
        loss = self.loss(workload, n, price)
        return Released(self.name, workload, workload.answer(model), errors, model, loss, beta, notes)


def _shares(price: Price) -> tuple[Price, ...]:
    return price.alone.split([2, 5])


def _first(ranges: Ranges, price: Price) -> Design:
    """The best tree, with half the usual share for each level above the values."""
    best = design(ranges, price)
    return replace(best, shares=(best.shares[0], *(-(-share // 2) for share in best.shares[1:])))


@lru_cache(maxsize=8)
def _of_first(ranges: Ranges, price: Price) -> tuple[Sums, float]:
    """The errors of the first tree's cumulative counts, and the mean variance of some ranges: both are public."""
    few = some(ranges)
    plan = _first(few, price)
    noises = plan.noises(ranges, price)
    tree = plan.tree(noises)
    return cumulative(tree, noises), _mean_variance(tree, few)


def _ends(ranges: Ranges) -> Floats:
    """For each value, the share of all ends of ranges that lie just before it."""
    low, high = places(ranges)
    size = ranges.domain.shape[ranges.axes[0]]
    weight = np.bincount(low, ranges.weights, size + 1) + np.bincount(high + 1, ranges.weights, size + 1)
    return weight[:size] / float(weight.sum())


def _value_variances(rough: Floats, variance: float) -> Floats:
    """The variance of each value, given its count on the first tree."""
    deviation = math.sqrt(variance)
    return np.where(rough > _NEGLIGIBLE * deviation, np.minimum(deviation * rough, variance), 0.0)


def _shares_within(rough: Floats, bucket: Integers) -> Floats:
    """Each value's share of its bucket's count on the first tree; equal shares where the bucket is empty."""
    whole = np.bincount(bucket, rough)[bucket]
    return np.divide(rough, whole, out=1 / np.bincount(bucket)[bucket], where=whole > 0)


@dataclass(frozen=True)
class _Buckets:
    """The exact counts of the buckets: no sum of them is too large, for the noise is added to 64 bits."""

    domain: Domain
    counts: Integers
    distance: Distance[Any]

    def marginal(self, axes: Axes) -> Integers:
        return summed(self.counts, axes)


def _merged(ranges: Ranges, data: Data, bucket: Integers, within: Floats) -> tuple[Ranges, _Buckets]:
    """Some of the ranges, each end moved to the nearest cut, by count; and the table in buckets."""
    domain = Domain.of({"bucket": int(bucket[-1]) + 1})
    counts = np.zeros(domain.size, np.int64)
    np.add.at(counts, bucket, data.marginal(ranges.axes))
    cut = np.rint(np.concatenate([[0.0], np.cumsum(within)])).astype(np.int64)  # shares of a bucket add up to 1
    low, high = places(ranges)
    low, high = cut[low], cut[high + 1] - 1
    there = np.flatnonzero(low <= high)
    at = there[evenly(there.size)]
    low, high, weights = low[at], high[at], ranges.weights[at]
    if not at.size:
        low, high, weights = np.array([0]), np.array([domain.size - 1]), np.ones(1)
    return Ranges(domain, (0,), low[:, None], high[:, None], weights), _Buckets(domain, counts, data.distance)


def _mean_variance(tree: Tree, ranges: Ranges) -> float:
    return ranges.mean(tree.range_variances(*places(ranges)))
