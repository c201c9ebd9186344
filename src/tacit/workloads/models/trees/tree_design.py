"""Which tree of noises answers a set of ranges best: chosen from public facts, before any data are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....core.randomness import Source
from ....mechanisms import Laplace
from ...price import Noise, Price, variance
from ...queries.data import Data, Floats, Integers
from ...queries.marginals import Marginal
from ...queries.ranges import Ranges
from ...queries.workload import Workload
from ..error_bounds import Spread
from .tree import Tree, heights

_SAMPLED = 256  # ranges that a design is fitted to
_MAX_ENTRIES = 1 << 18  # of a matrix of ranges
_MAX_SHARES = 64  # of a level
_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
_FACTORS = (0.0, 0.6, 0.8, 1.25, 1.6)


@dataclass(frozen=True)
class Design:
    """`shares` of the price for each level of a tree, from the cells up; 0 for a level that is not measured."""

    size: int
    branching: int
    shares: tuple[int, ...]

    def noises(self, workload: Ranges, price: Price) -> list[Noise | None]:
        """The noise of each level: a record lies in one node of it."""
        moved = Marginal(workload.domain, workload.axes).distance(price.unit)
        paid = iter(price.alone.split([share for share in self.shares if share]))
        return [next(paid).noise(moved) if share else None for share in self.shares]

    def tree(self, noises: list[Noise | None]) -> Tree:
        variances = tuple(math.inf if noise is None else variance(noise) for noise in noises)
        return Tree(self.size, self.branching, variances)

    def measure(
        self, workload: Ranges, data: Data, price: Price, source: Source
    ) -> tuple[Tree, list[Noise | None], list[Floats]]:
        """The tree, the noise of each level, and the counts of each level with a noise on each node."""
        noises = self.noises(workload, price)
        tree = self.tree(noises)
        levels = zip(tree.counts(data.marginal(workload.axes)), noises, strict=True)
        noisy = [np.asarray(0 * y if noise is None else noise.sample(y, source), float) for y, noise in levels]
        return tree, noises, noisy


def query_errors(tree: Tree, noises: list[Noise | None], variances: Floats, rate: float = math.inf) -> Spread:
    """The errors of queries with coefficients in [0, 1] that have these variances."""
    measured = [noise for noise in noises if noise is not None]
    laplace = isinstance(measured[0], Laplace)
    squares = [float(n.scale) ** 2 if isinstance(n, Laplace) else float(n.sigma2) for n in measured]
    # V = sum (a b)^2 from sum a^2 Var Z, where b^2 / Var Z is largest on the level with the least noise
    energies = variances * max(b / variance(n) for b, n in zip(squares, measured, strict=True))
    scales = iter(np.sqrt(squares))
    most = tree.largest([0.0 if noise is None else float(next(scales)) for noise in noises])
    largest = np.minimum(np.sqrt(energies), most)
    steps, none = variances / min(map(variance, measured)), np.zeros(len(variances))
    return Spread(laplace, np.sqrt(variances), energies, largest, none, steps, none + rate)


def range_errors(tree: Tree, noises: list[Noise | None], ranges: Ranges, rate: float = math.inf) -> Spread:
    """The errors of ranges; if nothing above the cells is measured, each is a sum of the cells' noises."""
    low, high = places(ranges)
    if noises[0] is not None and all(noise is None for noise in noises[1:]):
        return Spread.of(noises[0], (high - low + 1).astype(float))
    return query_errors(tree, noises, tree.range_variances(low, high), rate)


def rate(tree: Tree, ranges: Ranges) -> float:
    """(sum |a| v)^2 / sum a^2 v over some of the ranges: their variance in steps of their coefficients."""
    few = some(ranges)
    at = slice(_MAX_ENTRIES // tree.size)
    (low, high), cells, weights = places(few), np.arange(tree.size), few.weights[at]
    if not weights.size:
        return math.inf
    rows = ((low[at, None] <= cells) & (cells <= high[at, None])).astype(float)
    deviations = np.sqrt(tree.range_variances(low[at], high[at]))
    return float(weights @ tree.sizes(rows) / (weights @ deviations)) ** 2


def line(workload: Workload, axis: int | None = None) -> Ranges | None:
    """The queries as ranges of one attribute, if they are; a workload of totals is ranges of the attribute `axis`."""
    axes = workload.span or (() if axis is None else (axis,))
    if len(axes) != 1:
        return None
    return workload if isinstance(workload, Ranges) else _as_ranges(workload, axes[0])


@lru_cache(maxsize=8)
def _as_ranges(workload: Workload, axis: int) -> Ranges | None:
    if (ends := workload.intervals(axis)) is None:
        return None
    low, high = ends
    return Ranges(workload.domain, (axis,), low[:, None], high[:, None], workload.weights)


def evenly(count: int) -> Integers:
    """The places of at most 256 among so many, spread evenly over all."""
    if count <= _SAMPLED:
        return np.arange(count)
    return np.unique((np.arange(1, _SAMPLED + 1) * 0.6180339887498949 % 1 * count).astype(np.int64))


def some(ranges: Ranges) -> Ranges:
    """A sample of the ranges that stands for all."""
    if ranges.queries <= _SAMPLED:
        return ranges
    at = evenly(ranges.queries)
    return Ranges(ranges.domain, ranges.axes, ranges.low[at], ranges.high[at], ranges.weights[at])


def design(ranges: Ranges, price: Price) -> Design:
    """The branching and the shares that make the mean deviation of the ranges least."""
    few = some(ranges)
    size, arrays = ranges.domain.shape[ranges.axes[0]], (*places(few), few.weights)
    return _fitted(size, price.epsilon is not None, *(array.tobytes() for array in arrays))


def sketch(ranges: Ranges, price: Price) -> Design:
    """A nearly best design, found faster, for ranges that are met only once.

    It has k = 1, 2, ... levels, while the mean deviation falls.  A node has b = r^(1/k) children, so that k levels span
    ranges of r cells: 3 times their mean length, which is all cells if the ends are anywhere.  The cells have 4 shares
    to 3 of each level above, or 3 to 1 under zCDP.  At last b up to half as large again are tried: where families end
    matters by some percent if many ranges end in one place.
    """
    few, size, pure = some(ranges), ranges.domain.shape[ranges.axes[0]], price.epsilon is not None
    low, high = places(few)
    length, (own, above) = (high - low + 1).astype(float), (4, 3) if pure else (3, 1)
    span = 3 * few.mean(length)

    def tried(k: int, b: int) -> tuple[float, Design]:
        levels = len(heights(size, b))
        shares = (own, *[above] * (k - 1), *[0] * levels)[:levels]
        return few.mean(np.sqrt(_tree(size, b, shares, pure).range_variances(low, high))), Design(size, b, shares)

    b = max(2, math.ceil(size ** (1 / 3)))  # of levels without counts: `top_down` keeps the sums of families
    best, k = (few.mean(np.sqrt(length)), Design(size, b, (1, *[0] * (len(heights(size, b)) - 1)))), 2
    while 2**k < 2 * size and (other := tried(k, max(2, math.ceil(span ** (1 / k)))))[0] < best[0]:
        best, k = other, k + 1
    b = best[1].branching
    others = [tried(k - 1, more) for more in range(b + 1, b + b // 2 + 1)] if k > 2 else []
    return min([best, *others], key=lambda option: option[0])[1]


def _tree(size: int, branching: int, shares: Sequence[float], pure: bool) -> Tree:
    """The tree whose levels have these shares of a price of 1."""
    whole = sum(shares)
    return Tree(size, branching, tuple((whole / s) ** (2 if pure else 1) if s else math.inf for s in shares))


@lru_cache(maxsize=64)
def _fitted(size: int, pure: bool, lows: bytes, highs: bytes, weighing: bytes) -> Design:
    low, high = np.frombuffer(lows, np.int64), np.frombuffer(highs, np.int64)
    weights = np.frombuffer(weighing, np.float64)

    def cost(branching: int, shares: list[float]) -> float:
        """The mean deviation."""
        tree = _tree(size, branching, shares, pure)
        return float(np.average(np.sqrt(tree.range_variances(low, high)), weights=weights))

    branchings = sorted({b for b in _BRANCHINGS if b < size} | {max(size, 2)})
    even = {b: [1.0] * len(heights(size, b)) for b in branchings}
    best = []
    for b in sorted(branchings, key=lambda b: cost(b, even[b]))[:2]:
        shares, least = even[b], cost(b, even[b])
        for _ in range(3):
            for level in range(len(shares)):
                for factor in _FACTORS if level else _FACTORS[1:]:  # the cells are always measured
                    tried = [*shares[:level], shares[level] * factor, *shares[level + 1 :]]
                    if (deviation := cost(b, tried)) < least:
                        shares, least = tried, deviation
        best.append((least, b, shares))
    _, b, shares = min(best)
    parts = [round(share / max(shares) * _MAX_SHARES) for share in shares]
    return Design(size, b, (max(1, parts[0]), *parts[1:]))


def places(ranges: Ranges) -> tuple[Integers, Integers]:
    """The first and last cell of each range."""
    return ranges.low[:, 0], ranges.high[:, 0]
