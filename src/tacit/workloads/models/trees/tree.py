r"""Least squares on a tree of counts.

A tree of branching b over m cells has levels of m, ceil(m/b), ceil(m/b^2), ..., 1 nodes.  Level l is measured with
independent noise of variance s_l (infinite if it is not).  Two passes give the least-squares estimate:

    up      z_v, of variance V_v: the measurement of v and the sum of its children's z, weighted by inverse variances;
            k_v is the weight of the measurement
    down    h_v = z_v + (V_v / V) (h_p - sum of z), over the children of p with V the sum of their variances.

All nodes of a level have one V and one k, but for the last, which may have fewer cells.

Errors.  Given that of p, the errors of its children are (V_v / V) e_p + noise of covariance diag(V_v) - V_v V_w / V,
independent for different p.  So a linear query with coefficients alpha_v on the cells has, going up,
    alpha_p = sum (V_v / V) alpha_v,    variance += sum alpha_v^2 V_v - (sum alpha_v V_v)^2 / V,
and at the root += alpha^2 V_root.  For a range only the two nodes at its ends have an alpha other than 0 and 1.

Coefficients.  In the error of a query the noise of node u has k_u times alpha_u - sum_j alpha_j (g_(j-1) - g_j), where
j runs over the ancestors of u and 1 = g_0 >= g_1 >= ... are products of the 1 - k.  If all coefficients of the query
are in [0, 1], so are the alpha, and the noise has a coefficient of at most k_u.

Nonnegative counts, from the root down (`top_down`).  The root is cut off at 0.  The children of each node of count h
are then moved to the nearest nonnegative counts that add up to h, distances being weighted by 1 / V_v: by Lagrange
c_v = max(0, z_v - l V_v) for the one l that makes the sum right, found among the children in falling order of
z_v / V_v.  Empty parts of the domain are seen to be empty high up, where the counts are the most certain.  This is
post-processing, so free; no bound on its errors is proved, though they are mostly lower.

References.  Hay, Rastogi, Miklau, Suciu, VLDB 2010; Qardaji, Yang, Li, VLDB 2013, for the branching; Abowd et al.,
Harvard Data Science Review (2022), for going from the root down; Held, Wolfe, Crowder, Math. Programming 6 (1974), for
the projection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....storage import stored
from ...queries.data import Floats, Integers

_BLOCK = 1 << 13  # ranges that are gone through together, so that they stay in a core's cache


class Level(NamedTuple):
    """A level of `nodes`: V and k of each, and of the last one."""

    nodes: int
    v: float
    k: float
    last_v: float
    last_k: float

    def each(self, all_but_last: float, last: float) -> Floats:
        values = np.full(self.nodes, all_but_last)
        values[-1] = last
        return values


def heights(size: int, branching: int) -> list[int]:
    """How many nodes each level has, from the cells to the root."""
    nodes = [size]
    while nodes[-1] > 1:
        nodes.append(-(-nodes[-1] // branching))
    return nodes


@stored("Tree", ("size", "branching", "variances"))
@dataclass(frozen=True)
class Tree:
    """A tree over `size` cells, its levels from the cells up measured with noise of these variances."""

    size: int
    branching: int
    variances: tuple[float, ...]

    @cached_property
    def levels(self) -> list[Level]:
        nodes = heights(self.size, self.branching)
        levels = [Level(nodes[0], self.variances[0], 1.0, self.variances[0], 1.0)]
        for count, own in zip(nodes[1:], self.variances[1:], strict=True):
            below = levels[-1]
            full, last = self._families(below, count)
            if math.isinf(own):
                levels.append(Level(count, full, 0.0, last, 0.0))
            else:  # V is full (1 - k), and never 0 however sure one of the two is
                k, last_k = full / (full + own), last / (last + own)
                levels.append(Level(count, k * own, k, last_k * own, last_k))
        return levels

    def _families(self, level: Level, parents: int) -> tuple[float, float]:
        """The sum of V over the children of one parent, and of the last."""
        b = self.branching
        return b * level.v, (level.nodes - 1 - (parents - 1) * b) * level.v + level.last_v

    def counts(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """The sum of each node, by level."""
        sums = [cells]
        for _ in self.variances[1:]:
            sums.append(self.families(sums[-1]).sum(axis=-1))
        return sums

    def families(self, level: NDArray[Any]) -> NDArray[Any]:
        """The last axis split into one row for each parent; missing children are 0."""
        missing = -level.shape[-1] % self.branching
        if missing:
            level = np.concatenate([level, np.zeros((*level.shape[:-1], missing), level.dtype)], axis=-1)
        return level.reshape(*level.shape[:-1], -1, self.branching)

    def upward(self, noisy: Sequence[Floats]) -> list[Floats]:
        """The z of each level."""
        z = [noisy[0]]
        for y, level in zip(noisy[1:], self.levels[1:], strict=True):
            k = level.each(level.k, level.last_k)
            z.append(k * y + (1 - k) * self.families(z[-1]).sum(axis=-1))
        return z

    def estimate(self, noisy: Sequence[Floats]) -> Floats:
        """The cells by least squares, from the noisy counts of each level; levels without noise are ignored."""
        z = self.upward(noisy)
        h = z[-1]
        for own, level in zip(z[-2::-1], self.levels[-2::-1], strict=True):
            V, families = self.families(level.each(level.v, level.last_v)), self.families(own)
            missing = (h - families.sum(axis=-1)) / V.sum(axis=-1)
            h = (families + V * missing[:, None]).ravel()[: level.nodes]
        return h

    def largest(self, scales: Sequence[float]) -> float:
        """The largest product of a coefficient and its level's scale, in the error of any query."""
        weights = (max(level.k, level.last_k) for level in self.levels)
        return max(k * scale for k, scale in zip(weights, scales, strict=True))

    def range_variances(self, low: Integers, high: Integers) -> Floats:
        """The variance of each range from cell `low` to cell `high`."""
        parts = range(0, low.size, _BLOCK)
        return np.concatenate([self._range_variances(low[i : i + _BLOCK], high[i : i + _BLOCK]) for i in parts])

    def _range_variances(self, low: Integers, high: Integers) -> Floats:
        left, right, at_left, at_right = low, high, np.ones(low.size), np.ones(low.size)
        variance = np.zeros(low.size)
        for level, above in pairwise(self.levels):
            families, parents = self._families(level, above.nodes), (left // self.branching, right // self.branching)
            apart = parents[0] < parents[1]
            own_left, own_right = (np.where(at < level.nodes - 1, level.v, level.last_v) for at in (left, right))
            own_right[left == right] = 0.0
            # of the left parent: its children after the left end, up to its last one or before the right end
            inside = np.maximum(np.minimum((parents[0] + 1) * self.branching, right) - left - 1, 0) * level.v
            weighed, also = at_left * own_left, np.where(apart, 0.0, at_right * own_right)
            total = np.where(parents[0] < above.nodes - 1, *families)
            mean = (weighed + inside + also) / total
            variance += at_left * weighed + inside + at_right * also - mean**2 * total
            # of the right parent, if it is another: its children before the right end
            before, weighed = (right - parents[1] * self.branching) * level.v, at_right * own_right
            total = np.where(parents[1] < above.nodes - 1, *families)
            other = (weighed + before) / total
            variance += np.where(apart, at_right * weighed + before - other**2 * total, 0.0)
            left, right, at_left, at_right = *parents, mean, np.where(apart, other, mean)
        return np.maximum(variance, 0.0) + at_left**2 * self.levels[-1].last_v  # what rounding took below 0

    def prefix_variance(self) -> float:
        """An upper bound on the variance of every range that begins at the first cell.

        A family adds sum a^2 V - (sum a V)^2 / T, convex in the one a that is not 0 or 1, so at most A (T - A) / T with
        A the V of some children and T of all: T / 4 at most.
        """
        return sum(self.branching * level.v / 4 for level in self.levels[:-1]) + self.levels[-1].last_v

    def sizes(self, rows: Floats) -> Floats:
        """The sum of |a| times its variance, over the noises of each query, one in each row, with coefficients a."""
        alphas = [rows]
        for level in self.levels[:-1]:
            V = self.families(level.each(level.v, level.last_v))
            alphas.append((self.families(alphas[-1]) * V).sum(axis=-1) / V.sum(axis=-1))
        total, of_z = np.zeros(len(rows)), alphas[-1]  # going down, the coefficients of z
        for i in range(len(alphas) - 1, -1, -1):
            k = self.levels[i].each(self.levels[i].k, self.levels[i].last_k)
            total += np.abs(of_z) @ k * self.variances[i] if k.any() else 0.0
            if i:
                less = np.repeat(alphas[i] - (1 - k) * of_z, self.branching, axis=1)
                of_z = alphas[i - 1] - less[:, : self.levels[i - 1].nodes]
        return total

    def variance(self, rows: Floats) -> Floats:
        """The variance of arbitrary queries, one in each row."""
        alpha, variance = rows, np.zeros(len(rows))
        for level in self.levels[:-1]:
            V = self.families(level.each(level.v, level.last_v))
            families = self.families(alpha)
            total = V.sum(axis=-1)
            alpha = (families * V).sum(axis=-1) / total
            variance += (families**2 * V).sum(axis=(1, 2)) - (alpha**2 * total).sum(axis=1)
        return np.maximum(variance, 0.0) + alpha[:, 0] ** 2 * self.levels[-1].last_v


def top_down(tree: Tree, noisy: Sequence[Floats]) -> Floats:
    """Nonnegative counts of the cells, from the noisy counts of each level."""
    levels = list(zip(tree.upward(noisy), tree.levels, strict=True))
    h = np.maximum(levels[-1][0], 0.0)
    for z, level in levels[-2::-1]:
        V = tree.families(level.each(level.v, level.last_v))
        h = _nearest(tree.families(z), V, h).ravel()[: level.nodes]
    return h


def _nearest(z: Floats, V: Floats, total: Floats) -> Floats:
    """In each row the nearest nonnegative counts that add up to the total; V is 0 where there is no child."""
    ratio = np.divide(z, V, out=np.full_like(z, -np.inf), where=V > 0)
    order, row = np.argsort(-ratio, axis=1), np.arange(len(z))[:, None]
    falling, masses = z[row, order], V[row, order]
    shift = (falling.cumsum(axis=1) - total[:, None]) / masses.cumsum(axis=1)  # l, if only so many stay above 0
    last = np.maximum((falling > shift * masses).sum(axis=1) - 1, 0)[:, None]
    nearest: Floats = np.maximum(z - shift[row, last] * V, 0.0)
    return nearest
