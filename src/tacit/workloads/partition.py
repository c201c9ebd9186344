r"""Two trees, the second over buckets that the first has found: for tables with lumps and many empty cells.

Definition.  Two fifths of the price buy a tree of noisy counts over the values (`hierarchy.py`), read from the root
down.  Values whose count is then above the deviation of one noise stand alone, others are merged with their neighbours
while their sum is below it.  Three fifths buy a second tree, over these buckets.  The counts of buckets are the mean of
both, weighted by inverse variances; within a bucket they follow the first tree.  Cumulative counts are kept within t of
the least-squares ones of the first tree, t being what all of those are within with probability 1 - beta, and then made
to rise (`isotonic.py`).

Privacy.  That of the two trees by adaptive composition: the buckets are chosen from what the first one told.

Utility.  Each cumulative count is within t + max |S_j|, S_j the errors of the first tree: within 2 t with probability
1 - beta, whatever the data.  Where few buckets are left the error is that of a tree over those, a fraction of this; on
dense tables it is about a third above that of one tree at the whole price.

References.  Li, Hay, Miklau, VLDB 2014, for buckets found privately; Dwork, Rothblum, Vadhan, FOCS 2010, on adaptive
composition.
"""

from __future__ import annotations

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
from .method import Prediction, Released
from .price import Price
from .ranges import Ranges
from .top_down import top_down
from .workload import Workload

_EACH = 1 << 14


@dataclass(frozen=True)
class Partition(Isotonic):
    """A tree of noisy counts over buckets of values, found by another."""

    name = "partition"
    theorem = "(number of buckets for m); within four times hierarchy always; m in all"
    improves = None

    def predict(self, workload: Workload, n: int | None, price: Price, beta: Number = 0.05) -> Prediction:
        ranges, b = as_ranges(workload), float(probability("beta", beta))
        sums, most = self.sums(ranges, _shares(price)[0]), float(ends(ranges).max())
        mean, seconds = most * (sums.worst(b) + sums.worst(1.0)), 0.1 + 3e-7 * sums.size
        why = "only the lumps of the table are counted finely, which helps if they are few"
        return Prediction(mean, mean, 2 * most * sums.worst(b), seconds, "bound", b, why)

    def loss(self, workload: Workload, n: int | None, price: Price) -> Loss:
        """The whole price: which noises the second tree has is known only after the first."""
        return price.loss()

    def run(
        self, workload: Workload, data: Data, price: Price, source: Source, *, n: int | None, beta: float
    ) -> Released:
        ranges, (first, second) = as_ranges(workload), _shares(price)
        fine = self.estimate(ranges, data, first, source)
        rough = top_down(fine.tree, fine.noisy)
        bucket = _buckets(rough, float(np.sqrt(fine.tree.variances[0])))
        coarse = self.estimate(*_merged(ranges, data, bucket), second, source)
        both = _combined(fine, coarse, rough, bucket)
        farthest, sums = self.sums(ranges, first).worst(beta), np.cumsum(fine.values)
        kept = np.clip(np.cumsum(both), sums - farthest, sums + farthest)
        rising = np.maximum(isotonic_regression(kept).x, 0)
        model = Rising(workload.domain, ranges.axes[0], np.diff(rising, prepend=0.0), 2 * farthest)
        notes = (fine.note, f"then over {coarse.values.size} buckets; the stated errors hold for all ranges at once")
        errors = model.reach(workload, beta)
        return Released(self.name, workload, workload.answer(model), errors, model, price.loss(), beta, notes)


def _shares(price: Price) -> tuple[Price, ...]:
    return price.split([2, 3])


def _buckets(rough: Floats, threshold: float) -> Integers:
    """The bucket of each value: alone if above the threshold, else with neighbours up to a sum of about that."""
    alone = rough > threshold
    filled = np.floor(np.cumsum(np.where(alone, 0.0, rough)) / threshold)
    begins = alone[1:] | alone[:-1] | (filled[1:] != filled[:-1])
    return np.concatenate([[0], np.cumsum(begins)])


def _merged(ranges: Ranges, data: Data, bucket: Integers) -> tuple[Ranges, Histogram]:
    """The ranges and the table in buckets."""
    domain = Domain.of({"bucket": int(bucket[-1]) + 1})
    counts = np.zeros(domain.size, np.int64)
    np.add.at(counts, bucket, data.marginal(ranges.axes))
    low, high = (bucket[ends_at][:, None] for ends_at in places(ranges))
    return Ranges(domain, (0,), low, high, ranges.weights), Histogram(domain, counts, data.distance)


def _combined(fine: TreeLine, coarse: TreeLine, rough: Floats, bucket: Integers) -> Floats:
    """The counts of both trees by bucket, weighted by inverse variances and shared out within each bucket."""
    v1, v2 = (_mean_variance(line) for line in (fine, coarse))
    by_bucket = np.bincount(bucket, rough)
    joint = (v2 * by_bucket + v1 * top_down(coarse.tree, coarse.noisy)) / (v1 + v2)
    within = by_bucket[bucket]
    even = 1 / np.bincount(bucket)[bucket]
    return joint[bucket] * np.divide(rough, within, out=even, where=within > 0)


def _mean_variance(line: TreeLine) -> float:
    """Of the cumulative counts; where there are many, of some of them."""
    size = line.values.size
    last = np.arange(0, size, -(-size // _EACH))
    return float(line.tree.range_variances(np.zeros_like(last), last).mean())
