r"""Continual counts: the running totals of a stream of counts, one for each period, released as the periods end.

With the counts x_1, ..., x_T, a strategy measures R x + Z: whole multiples of a grid, each with independent integer
noise, and each as soon as the last count that it holds is known.  Running totals, and sums over any window of periods,
are then linear functions of what was measured: post-processing, at no further price.

Privacy.  A unit that adds at most c to all counts together moves R x by at most c times the largest column of R, since
a norm on the vectors of length c is largest at a corner.  This holds while the stream depends on what was released:
once the past is given, measurement i is an integer with noise of its own, and it moves by (R d)_i.  For Gaussian noise
the squares of these moves sum to at most c^2 max |R_j|^2 whatever d turns out to be, so the sum of the rho_i is bounded
surely, and the whole is rho-zCDP; for Laplace noise the same with |R d|_1 and epsilon.

References.  Dwork, Naor, Pitassi, Rothblum, STOC 2010; Chan, Shi, Song, ACM TISSEC 14 (2011); Denisov, McMahan, Rush,
Smith, Thakurta, NeurIPS 2022, on streams that depend on the releases; Feldman and Zrnic, NeurIPS 2021, on losses that
are chosen adaptively and whose sum is bounded.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.accounting.loss import Loss
from ...core.distance import Distance
from ...core.distance import distance as read_distance
from ...core.errors import BadData, BadParameter, Exhausted
from ...core.exact import down
from ...core.interactive import Interactive
from ...core.law import Product
from ...core.parameters import Number, probability, whole
from ...core.randomness import Source
from ...storage import stored
from .._grid import as_array, distance_in_steps, power_of_two, steps
from ..additive.gaussian import Gaussian
from ..additive.laplace import Laplace
from ._tails import Floats, radius

Counts = Sequence[int] | NDArray[Any]
Measured = tuple[int, ...]  # in steps of the grid

MOST_PERIODS = 1 << 17
FINE = Fraction(1, 1 << 16)  # of a count: the grid of Gaussian noise, by default


@stored("CountState", ("counts", "measured"))
@dataclass(frozen=True)
class CountState:
    """A session between two periods: the exact counts so far, which are private, and all that was measured."""

    counts: tuple[int, ...] = field(default=(), repr=False)
    measured: Measured = ()


@dataclass(frozen=True, init=False, repr=False)
class ContinualCount(Interactive[Counts, Measured, CountState, int, Measured]):
    """Measures a stream of counts by a strategy; `noise` is that of each measurement, in steps of the grid."""

    periods: int
    sensitivity: Distance[Any]
    grid: Fraction
    noise: Laplace | Gaussian

    def __init__(
        self,
        *,
        periods: int,
        sensitivity: Number | Distance[Any],
        grid: Number | None,
        epsilon: Number | None,
        delta: Number | None,
        rho: Number | None,
    ) -> None:
        object.__setattr__(self, "periods", whole("periods", periods))
        if periods > MOST_PERIODS:
            raise BadParameter("periods", periods, f"at most {MOST_PERIODS}")
        object.__setattr__(self, "sensitivity", read_distance(sensitivity, "sensitivity"))
        pure = rho is None and delta is None
        step = power_of_two("grid", grid) if grid is not None else Fraction(1) if pure else FINE
        if step > 1:
            raise BadParameter("grid", grid, "at most 1, the size of a count")
        object.__setattr__(self, "grid", step)
        moves = self.moves(None)
        if pure:
            noise: Laplace | Gaussian = Laplace(epsilon=epsilon, sensitivity=moves)
        else:
            noise = Gaussian(epsilon=epsilon, delta=delta, rho=rho, sensitivity=moves)
        object.__setattr__(self, "noise", noise)

    @property
    @abstractmethod
    def column(self) -> Distance[Any]:
        """The largest column of the strategy: how far a single count of 1 moves all measurements, in steps."""

    @abstractmethod
    def size(self, periods: int) -> int:
        """How many measurements there are after so many periods."""

    @abstractmethod
    def exact(self, counts: Sequence[int], done: int) -> list[int]:
        """What is measured of these periods after the first `done`, without noise, in steps of the grid."""

    @abstractmethod
    def totals(self, measured: Sequence[int]) -> Floats:
        """The running totals of all periods of which everything was measured."""

    @abstractmethod
    def weights(self, last: int) -> Floats:
        """The weights of measurements, in counts for each step, in the running total up to a period."""

    def moves(self, by: Number | Distance[Any] | None) -> Distance[Any]:
        """How far all measurements move, in steps of the grid, where counts move by a distance."""
        d = distance_in_steps(self.sensitivity if by is None else read_distance(by, zero=True), None)
        column, all_of_them = self.column, self.size(self.periods)
        touched = all_of_them if d.l0 is None or column.l0 is None else min(all_of_them, d.l0 * column.l0)
        return Distance(
            d.l1 * column.l1,
            d.l1 * d.l1 * column.l2_squared,
            d.l1 * column.linf,
            touched if d.l1 else 0,
            d.relation,
        )

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        return self.noise.loss(self.moves(distance))

    def begin(self, source: Source) -> CountState:
        return CountState()

    def over(self, state: CountState) -> bool:
        """Whether all periods have been measured."""
        return len(state.counts) >= self.periods

    def step(self, state: CountState, value: int, source: Source) -> tuple[CountState, Measured]:
        if self.over(state):
            raise Exhausted(type(self).__name__, f"{self.periods} periods")
        count = steps("count", value, None)
        if not isinstance(count, int):
            raise BadData("count", f"an array of shape {count.shape}", "one number")
        return self.extend(state, [count], source)

    def extend(self, state: CountState, values: Counts, source: Source) -> tuple[CountState, Measured]:
        """Several steps at once, by the same law."""
        counts = (*state.counts, *self.counts(values))
        if len(counts) > self.periods:
            raise Exhausted(type(self).__name__, f"{self.periods} periods")
        noisy = self._noisy(self.exact(counts, len(state.counts)), source)
        return CountState(counts, state.measured + noisy), noisy

    def _noisy(self, exact: Sequence[int], source: Source) -> Measured:
        noise = self.noise.draw(source, len(exact)).tolist()
        return tuple(each + z for each, z in zip(exact, noise, strict=True))

    def output(self, answers: Sequence[Measured]) -> Measured:
        return tuple(value for answer in answers for value in answer)

    def counts(self, x: Counts) -> list[int]:
        """A stream of counts, checked."""
        read = steps("counts", as_array("counts", x), None)
        if isinstance(read, int) or read.ndim != 1:
            raise BadData("counts", f"{np.ndim(read)}-dimensional", "a sequence of counts, one for each period")
        if read.size > self.periods:
            raise BadData("counts", f"{read.size} of them", f"at most one for each of {self.periods} periods")
        return [int(count) for count in read.tolist()]

    def exactly(self, x: Counts) -> list[int]:
        """All that is measured of a stream, without noise."""
        return self.exact(self.counts(x), 0)

    def law(self, x: Counts) -> Product:
        return Product(tuple(self.noise.noise(exact) for exact in self.exactly(x)))

    def sample(self, x: Counts, source: Source) -> Measured:
        return self._noisy(self.exactly(x), source)

    def windows(self, measured: Sequence[int], window: int | None) -> Floats:
        """The sum of the last `window` periods at the end of each period, or, for None, the running totals."""
        totals = self.totals(measured)
        if window is None:
            return totals
        before = np.zeros_like(totals)
        before[window:] = totals[: len(totals) - window]
        return np.asarray(totals - before)

    def radii(self, beta: float, window: int | None = None, periods: Sequence[int] | None = None) -> Floats:
        """How far the running totals, or sums over a window, may be off at the end of each period, 1 - beta each."""
        ends = range(1, self.periods + 1) if periods is None else periods
        return np.array([radius(self.noise, self._window_weights(end, window), beta) for end in ends])

    def _window_weights(self, last: int, window: int | None) -> Floats:
        weights = self.weights(last)
        if window is not None and last > window:
            weights = weights.copy()
            before = self.weights(last - window)
            weights[: before.size] -= before
        return weights

    def variances(self) -> Floats:
        """The variance of each running total, where the noise has the variance of continuous noise."""
        squares = [float(np.sum(self.weights(end) ** 2)) for end in range(1, self.periods + 1)]
        return np.array(squares) * float(self.noise.variance_bound)

    def error(self, beta: Number = 0.05) -> float:
        """With probability 1 - beta no running total is further off, in any period."""
        return float(np.max(self.radii(down(probability("beta", beta)) / self.periods)))

    def miss(self, x: Counts, y: Measured) -> float:
        return float(np.max(np.abs(self.totals(y) - np.cumsum(self.counts(x))), initial=0.0))
