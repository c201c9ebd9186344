r"""Privacy losses with finitely many values.

A `LossTable` holds two laws P and Q by the value of L = ln P/Q: the masses that both give to each finite loss, the mass
that P gives to outcomes impossible under Q (L is infinite), and the mass that Q gives to outcomes impossible under P.
This is the law of the privacy loss in both directions, for -L under Q is the loss from Q to P.

Sampling at rate r turns (P, Q) into ((1 - r) Q + r P, Q): the loss becomes ln(1 + r (e^L - 1)).

Each loss may be off by its `errors` entry, and each mass by a relative 2^-41; every bound that leaves this file is
rounded outward by more than that.

`losses_of` lists the losses of a dominating pair of `dominating_pairs.py`.  The losses of a bounded range are
continuous: each of 4096 cells is split over its ends so that P and Q keep their masses, which dominates (see
`grid.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from heapq import heappop, heappush

import numpy as np

from ..errors import BadParameter
from ..exact import FEW_ULPS, TINY, Floats, up
from ..law import DiscreteGaussianLaw
from .dominating_pairs import BoundedRangePair, Coin, DiscreteGaussianShift, DiscreteLaplaceShift, Pair, Response
from .grid import Lattice, on_grid

_RAISE = 1 + 2.0**-40
_ROUNDING = 2.0**-50  # relative error of a loss after a few roundings
_CLOSE_ENOUGH = 1.002  # ratio of a bound to a value that is attained
_MAX_CELLS = 2**16  # of a grid below zero
_RANGE_CELLS = 2**12
_MAX_ENUMERATED = 16  # losses whose sums may be enumerated
_MAX_POINTS = 2**16
_OMITTED_TAIL = 1e-60


@dataclass(frozen=True, eq=False)
class LossTable:
    """Increasing finite losses, their masses under P and Q, and the mass of each law where the other is 0."""

    losses: Floats
    errors: Floats
    p: Floats
    q: Floats
    infinite: float = 0.0
    vanishing: float = 0.0

    @cached_property
    def reversed(self) -> LossTable:
        """The table of the losses from Q to P."""
        losses, errors = -self.losses[::-1], self.errors[::-1]
        return LossTable(losses, errors, self.q[::-1], self.p[::-1], self.vanishing, self.infinite)

    @cached_property
    def _upper(self) -> Floats:
        return np.asarray(self.losses + self.errors)

    @cached_property
    def largest(self) -> float:
        """An upper bound on all losses from P to Q."""
        return math.inf if self.infinite else float(self._upper[self.p > 0].max())

    def profile(self, epsilon: float) -> float:
        """An upper bound on the hockey-stick divergence: P[L is infinite] + sum P(L) (1 - e^(epsilon - L))_+."""
        gains = -np.expm1(np.minimum(0.0, epsilon - self._upper))
        return min(1.0, (self.infinite + float(self.p @ gains)) * _RAISE)

    def renyi(self, order: float) -> float:
        """An upper bound on the Renyi divergence.

        E_P e^((a-1) L) = 1 + (a-1) Q(P = 0) + sum Q(L) (e^(aL) - 1 - a (e^L - 1)).

        No term of the sum is negative, so small losses keep their digits.
        """
        if self.infinite:
            return math.inf
        a, outward = order, self.losses + np.copysign(self.errors, self.losses)
        if a * float(np.abs(outward).max()) > 600:
            logs = np.log(self.p[self.p > 0]) + (a - 1) * self._upper[self.p > 0]
            top = float(logs.max())
            moment = top + math.log(float(np.exp(logs - top).sum())) + 2.0**-40 * (1 + abs(top))
        else:
            one, other = np.expm1(a * outward), a * np.expm1(outward)
            excess = np.maximum(0.0, one - other) + (np.abs(one) + np.abs(other)) * 2.0**-50
            moment = math.log1p(((a - 1) * self.vanishing + float(self.q @ excess)) * _RAISE)
        return min(max(TINY, moment / (a - 1) * _RAISE), self.largest)

    @cached_property
    def concentrated(self) -> float:
        """A rho with D_a <= rho a at every order a > 1, within 0.2 % of the least.

        D_a grows with a, so between two orders a < b the quotient is at most D_b / a, and beyond an order A at most the
        largest loss over A.  The interval with the highest bound is halved until its bound is near an attained value.
        """
        if not 0 < self.largest < math.inf:
            return self.largest
        attained, a, intervals = 0.0, 1.0, list[tuple[float, float, float]]()
        while self.largest > attained * a * _CLOSE_ENOUGH:
            divergence = self.renyi(2 * a)
            heappush(intervals, (-divergence / a, a, 2 * a))
            attained, a = max(attained, divergence / (2 * a)), 2 * a
        beyond = self.largest / a
        while -intervals[0][0] > attained * _CLOSE_ENOUGH:
            _, low, high = heappop(intervals)
            middle = math.sqrt(low * high)
            divergence = self.renyi(middle)
            attained = max(attained, divergence / middle)
            heappush(intervals, (-divergence / low, low, middle))
            heappush(intervals, (-self.renyi(high) / middle, middle, high))
        return max(beyond, -intervals[0][0]) * FEW_ULPS

    def lattice(self, spacing: float) -> Lattice:
        """The losses split over a grid, which dominates: see `grid.py`."""
        possible = self.p > 0
        losses = np.maximum(self._upper[possible], -_MAX_CELLS * spacing)  # lower losses are raised
        p, q, cell = self.p[possible], self.q[possible], np.floor(losses / spacing).astype(np.int64)
        first = int(cell.min())
        more = p * -np.expm1(cell * spacing - losses) * (1 + 2.0**-48)
        sums = [np.bincount(cell - first, weights).astype(float) for weights in (p, q, more)]
        grid = on_grid(spacing, first, *sums, infinite=self.infinite)
        return replace(grid, few=(self._upper[possible], p)) if p.size <= _MAX_ENUMERATED else grid

    def sampled(self, rate: float) -> LossTable:
        """The table of (1 - r) Q + r P against Q: L' = ln(1 + r (e^L - 1)) has the slope r e^(L - L') in L."""
        near, far = np.minimum(self.losses, 600), np.maximum(self.losses - 600, 0)
        losses = np.log1p(rate * np.expm1(near)) + far
        errors = self.errors * rate * np.exp(self.losses - losses) * 1.001 + np.abs(losses) * _ROUNDING
        mixed = (1 - rate) * self.q + rate * self.p
        infinite = max(TINY, rate * self.infinite) if self.infinite else 0.0
        if not self.vanishing:
            return LossTable(losses, errors, mixed, self.q, infinite)
        least = math.log1p(-rate)  # where P gives nothing
        return LossTable(
            np.concatenate([[least], losses]),
            np.concatenate([[-least * _ROUNDING], errors]),
            np.concatenate([[(1 - rate) * self.vanishing], mixed]),
            np.concatenate([[self.vanishing], self.q]),
            infinite,
        )

    def failing(self, chance: float) -> LossTable:
        """The table with this chance of an infinite loss added (Kairouz, Oh, Viswanath 2015)."""
        if not chance:
            return self
        rest = 1 - chance
        infinite, vanishing = chance + rest * self.infinite, chance + rest * self.vanishing
        return LossTable(self.losses, self.errors, rest * self.p, rest * self.q, infinite, vanishing)


def mirrored(lattice: Lattice) -> Lattice:
    """A symmetric pair that has the profile of `lattice` at every epsilon >= 0.

    Masses above 0 stay.  By symmetry Q(-L) = P(L), so P(-L) = e^-L P(L); the rest of P, and of Q, is at 0.
    """
    at = lattice.first + np.arange(lattice.masses.size)
    positive = np.zeros(max(0, int(at[-1])))
    positive[at[at > 0] - 1] = lattice.masses[at > 0]
    negative = positive * np.exp(-lattice.step * np.arange(1, positive.size + 1))
    rest = max(0.0, 1 - float(positive.sum()) - float(negative.sum())) + 2.0**-31  # more than masses were raised by
    masses = np.concatenate([negative[::-1], [rest], positive])
    return Lattice(lattice.step, -positive.size, masses, lattice.infinite)


@singledispatch
def losses_of(pair: Pair) -> LossTable:
    """The losses of a dominating pair, or of a finite pair that dominates it."""
    raise BadParameter("loss", type(pair).__name__, "a loss whose values can be listed")


def _symmetric(losses: Floats, p: Floats, infinite: float = 0.0) -> LossTable:
    """The table of a symmetric pair, where Q(-L) = P(L)."""
    return LossTable(losses, np.abs(losses) * _ROUNDING, p, p[::-1], infinite, infinite)


@losses_of.register
def _(pair: Coin) -> LossTable:
    lie = math.exp(-pair.epsilon) / (1 + math.exp(-pair.epsilon))
    return _symmetric(np.array([-pair.epsilon, pair.epsilon]), np.array([lie, 1 / (1 + math.exp(-pair.epsilon))]))


@losses_of.register
def _(pair: Response) -> LossTable:
    e, k = pair.epsilon, pair.categories
    own = 1 / (1 + (k - 1) * math.exp(-e))
    return _symmetric(np.array([-e, 0.0, e]), np.array([math.exp(-e), (k - 2) * math.exp(-e), 1.0]) * own)


@losses_of.register
def _(pair: DiscreteLaplaceShift) -> LossTable:
    """L = (2 z - d) / scale for z between 0 and d, the two centres; the masses beyond are at the ends."""
    if pair.shift > _MAX_POINTS:
        return losses_of(Coin(up(pair.shift / pair.scale)))
    rate, z = float(1 / pair.scale), np.arange(pair.shift + 1, dtype=float)
    masses = np.exp((z - pair.shift) * rate) / (1 + math.exp(-rate))
    masses[1:-1] *= -math.expm1(-rate)
    return _symmetric(np.asarray((2 * z - pair.shift) * rate), masses)


@losses_of.register
def _(pair: DiscreteGaussianShift) -> LossTable:
    """Noise z on an integer that moved by d: L = (d^2 + 2 d z) / (2 sigma^2), for z from -far - d to far."""
    noise = DiscreteGaussianLaw(pair.sigma2)
    d, s, far = pair.shift, float(pair.sigma2), noise.tail_quantile(_OMITTED_TAIL)
    if far + d > _MAX_POINTS:
        raise BadParameter(
            "loss", f"a shift of {d} steps", f"a loss of discrete Gaussian noise on at most {_MAX_POINTS} integers"
        )
    z = np.arange(-far - d, far + 1, dtype=float)
    return _symmetric(np.asarray((d * d + 2 * d * z) / (2 * s)), np.exp(-(z**2) / (2 * s)) / noise.total, _OMITTED_TAIL)


@losses_of.register
def _(pair: BoundedRangePair) -> LossTable:
    """The density e^(L/2) / (4 sinh(e/2)), in cells of width h: the share 1 / (1 + e^(-h/2)) goes to the upper end.

    With x the lower end of a cell, P - e^x Q is 1 - e^(-h/2) of P in the cell.
    """
    x = np.linspace(-pair.epsilon, pair.epsilon, _RANGE_CELLS + 1)
    p = np.exp((x[:-1] - pair.epsilon) / 2) * np.expm1((x[1:] - x[:-1]) / 2) / -math.expm1(-pair.epsilon)
    high = p / (1 + math.exp(-pair.epsilon / _RANGE_CELLS)) * (1 + 2.0**-48)
    return _symmetric(x, np.concatenate([p - high, [0.0]]) + np.concatenate([[0.0], high]))
