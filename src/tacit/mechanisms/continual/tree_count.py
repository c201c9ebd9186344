r"""The tree mechanism for continual counts.

Definition.  Over the periods stands a tree of b branches and h levels: a node of level i holds the sum of b^i periods,
from the first or from where the last such node ends, and is measured with noise as its last period ends.  b = 2 and h =
floor(log_2 T) + 1 is the binary tree; h = 1 is independent noise on every period.  The running total of period t is
the sum of the largest nodes that cover its periods: t // b^(h-1) of the highest level, then fewer than b of each level
below.  Each node's value is estimated from all that was measured in it, by inverse variances from below: with v_0 = 1,
the value of level i is v_i times its own measurement and 1 - v_i times the estimates of its b children, where v_i =
1 / (1 + 1 / (b v_(i-1))) is also its variance, that of one measurement being 1.

Privacy.  A count lies in at most h nodes, one on each level, so that units which add at most c in all move all
measurements by h c in l1 and sqrt(h) c in l2: epsilon-differential privacy with Laplace noise of scale h c / epsilon,
rho-zCDP with Gaussian noise of variance h c^2 / (2 rho).

Utility.  The running total of period t has the variance of one measurement times the sum of v_i over its nodes, for
b = 2 a little more than half of their number.  `error` is for all periods at once (`_tails.py`).

References.  Dwork, Naor, Pitassi, Rothblum, STOC 2010; Chan, Shi, Song, ACM TISSEC 14 (2011); Honaker, "Efficient use
of differentially private binary trees" (2015), for estimation from below; Qardaji, Yang, Li, PVLDB 6 (2013), for more
than two branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.distance import Distance
from ...core.errors import BadParameter
from ...core.mechanism import Example
from ...core.parameters import Number, exactly_one, whole
from ...storage import bare, stored
from ..additive.gaussian import Gaussian
from ._continual_count import ContinualCount, Counts
from ._tails import PLACES, Floats, gaussian_radii, laplace_radii


@stored("TreeCount", ("periods", "sensitivity", "grid", "noise", "branches", "levels"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class TreeCount(ContinualCount):
    """Measure sums of periods on a tree; pass `epsilon` for Laplace noise, or `rho`, or `epsilon` and `delta`."""

    branches: int
    levels: int

    theorem = "a count lies in one node of each level"

    def __init__(
        self,
        *,
        periods: int,
        branches: int = 2,
        levels: int | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
    ) -> None:
        exactly_one(epsilon=epsilon, rho=rho)
        object.__setattr__(self, "branches", whole("branches", branches, at_least=2))
        most = depth(whole("periods", periods), self.branches)
        object.__setattr__(self, "levels", most if levels is None else whole("levels", levels))
        if self.levels > most:
            raise BadParameter("levels", levels, f"at most {most}, the last that {periods} periods complete")
        super().__init__(periods=periods, sensitivity=sensitivity, grid=grid, epsilon=epsilon, delta=delta, rho=rho)

    @property
    def column(self) -> Distance[Any]:
        one, h = 1 / self.grid, self.levels
        return Distance(h * one, h * one * one, one, h)

    @cached_property
    def spans(self) -> tuple[int, ...]:
        """How many periods a node of each level holds."""
        return tuple(self.branches**i for i in range(self.levels))

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """v_i of each level: the weight of a node's own measurement in its estimate, and the variance of that."""
        found = [1.0]
        while len(found) < self.levels:
            found.append(1 / (1 + 1 / (self.branches * found[-1])))
        return tuple(found)

    def size(self, periods: int) -> int:
        return sum(periods // span for span in self.spans)

    def exact(self, counts: Sequence[int], done: int) -> list[int]:
        ended = ((n, span) for n in range(done + 1, len(counts) + 1) for span in self.spans if n % span == 0)
        return [sum(counts[n - span : n]) * int(1 / self.grid) for n, span in ended]

    def _places(self, periods: int) -> Iterator[NDArray[np.int64]]:
        """For each level, where the measurements of its nodes stand among all of so many periods."""
        for i, span in enumerate(self.spans):
            before = np.arange(1, periods // span + 1) * span - 1  # periods before the last of each node
            yield sum((before // each for each in self.spans), start=np.zeros_like(before)) + i

    def _periods(self, measured: int) -> int:
        """After how many whole periods there are so many measurements."""
        low, high = 0, self.periods
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.size(middle) <= measured else (low, middle - 1)
        return low

    def _nodes(self, periods: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each level, the first node in the running total of each period, and the first after those."""
        for i, span in enumerate(self.spans):
            last = i == self.levels - 1
            yield (
                (np.zeros_like(periods) if last else periods // (span * self.branches) * self.branches),
                periods // span,
            )

    def totals(self, measured: Sequence[int]) -> Floats:
        n = self._periods(len(measured))
        y = np.array([float(value) for value in measured]) * float(self.grid)
        totals, estimates = np.zeros(n), np.empty(0)
        levels = zip(self._places(n), self._nodes(np.arange(1, n + 1)), self.shares, strict=True)
        for i, (places, (first, end), share) in enumerate(levels):
            own = y[places]
            below = estimates[: len(own) * self.branches].reshape(-1, self.branches).sum(axis=1) if i else own
            estimates = share * own + (1 - share) * below
            sums = np.concatenate([[0.0], np.cumsum(estimates)])
            totals += sums[end] - sums[first]
        return totals

    def weights(self, last: int) -> Floats:
        found = np.zeros(self.size(last))
        nodes, passed = list(self._nodes(np.array([last]))), np.empty(0)
        for (first, end), places, share in reversed(list(zip(nodes, self._places(last), self.shares, strict=True))):
            used = np.zeros(len(places))
            used[: len(passed)] += passed
            used[int(first[0]) : int(end[0])] += 1
            found[places] = share * used
            passed = np.repeat((1 - share) * used, self.branches)
        return found * float(self.grid)

    @cached_property
    def _nodes_used(self) -> Floats:
        """How many nodes of each level the running total of each period holds."""
        return np.stack([end - first for first, end in self._nodes(np.arange(1, self.periods + 1))], axis=1).astype(
            float
        )

    def _inside(self, level: int) -> Iterator[tuple[float, int]]:
        """The weights of measurements in the estimate of a node, each with how many have it."""
        passed = 1.0
        for i in range(level, -1, -1):
            yield passed * self.shares[i], self.branches ** (level - i)
            passed *= 1 - self.shares[i]

    def radii(self, beta: float, window: int | None = None, periods: Sequence[int] | None = None) -> Floats:
        if window is not None:
            return super().radii(beta, window, periods)
        grid, inside = float(self.grid), [list(self._inside(level)) for level in range(self.levels)]
        used = self._nodes_used if periods is None else self._nodes_used[np.asarray(periods, np.int64) - 1]
        if isinstance(self.noise, Gaussian):
            squares, sums = (np.array([sum(n * w**p for w, n in each) for each in inside]) for p in (2, 1))
            return gaussian_radii(self.noise, used @ squares * grid**2, used @ sums * grid, beta)
        logs = np.array([sum(n * np.log1p(-np.square(w * PLACES)) for w, n in each) for each in inside])
        return laplace_radii(used @ logs, float(self.noise.scale) * grid, beta)

    def variances(self) -> Floats:
        one = float(self.noise.variance_bound) * float(self.grid) ** 2
        return np.asarray(self._nodes_used @ np.array(self.shares)) * one

    @classmethod
    def examples(cls) -> Iterable[Example[Counts]]:
        yield Example(cls(periods=2, epsilon=10), (3, 1), (4, 1), 1, draws=5000)
        yield Example(cls(periods=2, rho=8, grid=1), (3, 1), (3, 2), 1, draws=5000)
        yield Example(cls(periods=3, levels=1, epsilon=6), (0, 5, 2), (0, 5, 3), 1, draws=5000)
        yield Example(cls(periods=2, levels=1, epsilon=6, delta="1e-3", grid=1, sensitivity=2), (4, 4), (4, 6), 2)


def depth(periods: int, branches: int) -> int:
    """How many levels have a node that so many periods complete: floor(log_b T) + 1."""
    h = 1
    while branches**h <= periods:
        h += 1
    return h
