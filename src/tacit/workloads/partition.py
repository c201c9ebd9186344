r"""Two trees, the second over buckets that the first has found: for tables with lumps and many empty cells.

Definition.  A quarter of the price buys a tree of noisy counts over the values (`hierarchy.py`), read from the root
down.  Neighbours are then taken into one bucket as long as that is worth it: the share of the ranges that end inside
it, times what the first tree may miss inside it, stays below a part of the noise to come.  What it may miss is, in its
own numbers, at most all but the largest count, and about the noise of those that are not 0.  The rest of the price buys
a second tree, over the buckets, for the same ranges.  The counts of buckets are the mean of both, weighted by inverse
variances; within a bucket they follow the first tree.  Cumulative counts are kept within t of the least-squares ones
of the first tree, t being what all of those are within with probability 1 - beta, and then made to rise
(`isotonic.py`).

Privacy.  The first tree costs a quarter of the price: each level is a histogram with noise, and the levels add up
(`hierarchy.py`).  The buckets are a function of what it told and of the ranges, which are public.  Whatever they are,
a record lies in one bucket, and so in one node of each level of the second tree; that is all that the noise of a level
is set by (`Workload.distance` lets the records of a unit meet in one node), so it costs three quarters.  By adaptive
composition both together cost the price.  All else is post-processing.

Utility.  Each cumulative count is within t + max |S_j|, S_j the errors of the first tree: within 2 t with probability
1 - beta, whatever the data.  Where few buckets are left the error is that of a tree over those, a fraction of this; on
dense tables it is about a third above that of one tree at the whole price.

References.  Li, Hay, Miklau, VLDB 2014 (DAWA), for buckets found privately; Dwork, Rothblum, Vadhan, FOCS 2010, on
adaptive composition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from ..core.exact import Number, probability
from ..core.loss import Loss
from ..core.randomness import Source
from .data import Data, Floats, Histogram, Integers
from .design import places
from .domain import Domain
from .hierarchy import as_ranges
from .isotonic import Isotonic, Rising, ends
from .line_model import TreeLine
from .marginals import Marginal
from .method import Prediction, Released
from .price import Price
from .ranges import Ranges
from .top_down import top_down
from .workload import Workload

_SOME = 1 << 14  # ranges that trees are compared on
_WORTH = 0.014  # deviations of a noise that a bucket may cost the mean of all ranges


@dataclass(frozen=True)
class Partition(Isotonic):
    """A tree of noisy counts over buckets of values, found by another."""

    name = "partition"
    theorem = "(number of buckets for m); within eight times hierarchy always; m in all"
    improves = None

    def predict(self, workload: Workload, n: int | None, price: Price, beta: Number = 0.05) -> Prediction:
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        sums, most = self.sums(ranges, _shares(price)[0]), float(ends(ranges).max())
        mean, seconds = most * (sums.worst(b) + sums.worst(1.0)), 0.1 + 3e-7 * sums.size
        why = "only the lumps of the table are counted finely, which helps if they are few"
        return Prediction(mean, mean, 2 * most * sums.worst(b), seconds, "bound", b, why)

    def loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """The whole price: which noises the second tree has is known only after the first."""
        return price.alone.loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        ranges, (first, second) = as_ranges(workload), _shares(price)
        fine = self.estimate(ranges, data, first, source)
        rough = top_down(fine.tree, fine.noisy)
        noise = second.noise(Marginal(ranges.domain, ranges.axes).distance(price.unit)).noise()
        limit = _WORTH * math.sqrt(noise.variance())
        bucket = buckets(rough, _cuts(ranges), math.sqrt(fine.tree.variances[0]), limit)
        merged, counts = _merged(ranges, data, bucket)
        coarse = self.estimate(merged, counts, second, source)
        weights = _mean_variance(coarse, merged), _mean_variance(fine, ranges)
        both = _combined(rough, top_down(coarse.tree, coarse.noisy), bucket, weights)
        farthest, sums = self.sums(ranges, first).worst(beta), np.cumsum(fine.values)
        kept = np.clip(np.cumsum(both), sums - farthest, sums + farthest)
        rising = np.maximum(isotonic_regression(kept).x, 0)
        model = Rising(workload.domain, ranges.axes[0], np.diff(rising, prepend=0.0), 2 * farthest)
        notes = (fine.note, f"then over {coarse.values.size} buckets; the stated errors hold for all ranges at once")
        errors = model.reach(workload, beta)
        loss = self.loss(workload, n, price)
        return Released(self.name, workload, workload.answer(model), errors, model, loss, beta, notes)


def _shares(price: Price) -> tuple[Price, ...]:
    return price.alone.split([1, 3])


def _cuts(ranges: Ranges) -> Floats:
    """The share of the ranges that begin or end just before each value."""
    low, high = places(ranges)
    size = ranges.domain.shape[ranges.axes[0]]
    found = np.bincount(low, ranges.weights, size + 1) + np.bincount(high + 1, ranges.weights, size + 1)
    return found[:size] / float(ranges.weights.sum())


def buckets(rough: Floats, cuts: Floats, deviation: float, limit: float) -> Integers:
    """The bucket of each value: a new one begins where the last would cost more than the limit with it."""
    begins = np.zeros(rough.size, np.int64)
    inside = mass = largest = 0.0
    filled = 0
    for place, (own, cut) in enumerate(zip(rough.tolist(), cuts.tolist(), strict=True)):
        inside = inside + cut if place else 0.0
        mass, largest, filled = mass + own, max(largest, own), filled + (own > 0)
        missed = min(mass - largest, deviation * math.sqrt(max(filled - 1, 0)))
        if place and inside * missed > limit:
            begins[place] = 1
            inside, mass, largest, filled = 0.0, own, own, int(own > 0)
    return np.cumsum(begins)


def _merged(ranges: Ranges, data: Data, bucket: Integers) -> tuple[Ranges, Histogram]:
    """The ranges and the table in buckets."""
    domain = Domain.of({"bucket": int(bucket[-1]) + 1})
    counts = np.zeros(domain.size, np.int64)
    np.add.at(counts, bucket, data.marginal(ranges.axes))
    low, high = (bucket[ends_at][:, None] for ends_at in places(ranges))
    return Ranges(domain, (0,), low, high, ranges.weights), Histogram(domain, counts, data.distance)


def _combined(rough: Floats, coarse: Floats, bucket: Integers, weights: tuple[float, float]) -> Floats:
    """The counts of both trees by bucket, weighted and shared out within each bucket as in the first."""
    first, second = weights
    by_bucket = np.bincount(bucket, rough)
    joint = (first * by_bucket + second * coarse) / (first + second)
    within = by_bucket[bucket]
    even = 1 / np.bincount(bucket)[bucket]
    return joint[bucket] * np.divide(rough, within, out=even, where=within > 0)


def _mean_variance(line: TreeLine, ranges: Ranges) -> float:
    """Of the ranges; where there are many, of some of them."""
    low, high = (ends_at[:: -(-ranges.queries // _SOME)] for ends_at in places(ranges))
    return float(line.tree.range_variances(low, high).mean())
