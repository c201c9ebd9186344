r"""Sums of privacy losses of coins, and the privacy profile of such a sum.

A coin with odds e^epsilon is the worst epsilon-private mechanism: every other is a function of the coin (Kairouz, Oh,
Viswanath 2015; Murtagh and Vadhan 2016).  The loss of a coin is epsilon with probability
e^epsilon / (1 + e^epsilon), and otherwise -epsilon.  Independent losses add, and the least delta at epsilon e is
    delta(e) = sum over losses v > e of mass(v) (1 - e^(e - v)),
convex and falling in e, and linear in e^e between two losses.

`Atoms` bound such a law from above: masses and losses are rounded up, and losses too rare to be listed count as
infinite, or add to the mass of the least loss listed.  Each of these raises delta(e) at every e.

Too many atoms are put on a grid: mass p at loss v is split between the nearest grid losses a <= v < b in such a way
that also p e^-v, the mass under the neighbouring law, is kept; so b gets p (1 - e^(a-v)) / (1 - e^(a-b)).  A spread of
the likelihood ratio that keeps its mean is a more informative experiment (Blackwell 1953), so every delta rises, also
in further composition, while the variance of the loss grows by at most (b - a)^2 / 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..core.exact import exp_minus, up

Vector = NDArray[np.float64]

SURE = 740  # a coin of a larger epsilon falls the other way with a chance below 2^-1067
_UNDERFLOW = 2.0**-1000  # covers 2^22 products of masses that fell below 2^-1022 and vanished
_ULP = 2.0**-52
_NEGLIGIBLE = 40.0  # nats: e^-40 is below the last bit of 1
_RAISE_SUM = 1 + 2.0**-46  # 128 roundings: pairwise summation costs 19 + log2(n/128), expm1 at most 8, the rest 5


@dataclass(frozen=True)
class Atoms:
    """Losses in falling order, with a bound on the mass of each and on the mass of an infinite loss."""

    loss: Vector
    mass: Vector
    infinite: float = 0.0

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta(epsilon)."""
        mass, gap = self._above(epsilon)
        return min(1.0, float(np.sum(mass * -np.expm1(-gap))) * _RAISE_SUM + self.infinite)

    def epsilon(self, delta: float) -> float:
        """An upper bound on the least epsilon >= 0 at this delta, which must exceed the infinite mass."""
        if self.delta(0.0) <= delta:
            return 0.0
        good, bad = 0, len(self.loss)  # delta is kept at loss[good], and not at loss[bad] or, beyond the end, at 0
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self.delta(float(self.loss[middle])) <= delta else (good, middle)
        start = max(0.0, float(self.loss[bad])) if bad < len(self.loss) else 0.0
        start = max(start, float(self.loss[good]) - _NEGLIGIBLE)  # further down, floats see delta as a constant
        if start == self.loss[good]:
            return start  # so large that no float lies between
        mass, gap = self._above(start)
        epsilon = start + math.log1p((self.delta(start) - delta) / float(np.sum(mass * np.exp(-gap))))
        step = epsilon * _ULP
        while self.delta(epsilon) > delta:
            epsilon, step = epsilon + step, 2 * step
        return epsilon

    def _above(self, epsilon: float) -> tuple[Vector, Vector]:
        n = int(np.searchsorted(-self.loss, -epsilon))
        return self.mass[:n], self.loss[:n] - epsilon


def coins(epsilon: Fraction, k: int, rare: float) -> Atoms:
    """The sum of k coins of one epsilon; the extreme losses, of mass `rare` at each end, are not listed.

    If j coins fall the other way the loss is (k - 2 j) epsilon.  From the likeliest j outward, the weights are
    w(j+1) = w(j) e^-epsilon (k - j) / (j + 1), in integers: a step loses 2 units and 2^-126 of the weight, weights
    fall, and the least weight listed is 2^128 k units, so that each is right to 2^-90.  Their sum normalises them.
    """
    if epsilon > SURE:
        return Atoms(np.array([up(k * epsilon)]), np.ones(1))
    bits = 128 + math.ceil(1.5 * epsilon)
    q = exp_minus(epsilon)(bits)[1]
    inverse = (1 << 2 * bits) // q
    likeliest = (k + 1) * q // ((1 << bits) + q)
    guard = 128 + k.bit_length()
    least = 1 << guard  # k weights below this one add up to less than `rare` of the first
    first = 1 << guard + k.bit_length() - math.floor(math.log2(rare))

    def outward(ratio: int, one: int, other: int) -> list[int]:
        """The weights as coins of `one` kind turn into the other kind, which changes the odds by the ratio."""
        w, weights = first, []
        for i in range(one):
            w = (w * (one - i) * ratio >> bits) // (other + 1 + i)
            if w <= least:
                break
            weights.append(w)
        return weights

    below, above = outward(inverse, likeliest, k - likeliest), outward(q, k - likeliest, likeliest)
    weights = [*reversed(below), first, *above]
    whole = sum(weights)
    mass = np.array([w / whole for w in weights]) * (1 + 2 * _ULP)
    start = likeliest - len(below)
    others = np.arange(start, start + len(mass), dtype=np.float64)
    if others[-1] < k:
        mass[-1] += rare
    return Atoms(_raised((k - 2 * others) * up(epsilon)), mass, rare if start else 0.0)


def together(a: Atoms, b: Atoms) -> Atoms:
    """The sum of two losses: every pair of atoms."""
    loss = _raised(np.add.outer(a.loss, b.loss).ravel())
    mass = np.multiply.outer(a.mass, b.mass).ravel() * (1 + 2 * _ULP)
    order = np.argsort(-loss)
    return Atoms(loss[order], mass[order], _sum(a.infinite, b.infinite, _UNDERFLOW))


def on_a_grid(parts: Iterable[Atoms], step: float, rare: float) -> Atoms:
    """The sum of all losses, each put on the multiples of the step, which is a power of two, so that they are exact."""
    start, mass, infinite = 0, np.ones(1), 0.0
    for part in parts:
        first, kernel = _spread(part, step)
        taps = np.flatnonzero(kernel)  # few; a convolution would visit all
        before, mass = mass, np.zeros(len(mass) + len(kernel) - 1)
        for i in taps:
            mass[i : i + len(before)] += kernel[i] * before
        mass *= 1 + (len(taps) + 2) * _ULP
        low, high = (int(np.searchsorted(np.cumsum(side), rare / 2)) for side in (mass, mass[::-1]))
        start += first + low
        infinite = _sum(infinite, part.infinite, _UNDERFLOW, rare * (high > 0))
        mass = mass[low : len(mass) - high]
        mass[0] += rare * (low > 0)
    loss = step * np.arange(start + len(mass) - 1, start - 1, -1, dtype=np.float64)
    return Atoms(loss, mass[::-1], infinite)


def _spread(atoms: Atoms, step: float) -> tuple[int, Vector]:
    """The first multiple of the step that has a mass, and the masses from there on."""
    cell = np.floor(atoms.loss / step)
    low = atoms.loss - cell * step
    index = (cell - cell[-1]).astype(np.int64)
    mass = atoms.mass / -math.expm1(-step)
    unmoved = np.bincount(index, mass * np.exp(-low) * -np.expm1(low - step), int(index[0]) + 2)
    raised = np.bincount(index + 1, mass * -np.expm1(-low), int(index[0]) + 2)
    slack = 1 + (len(index) + 32) * _ULP  # a sum may add all terms one by one
    return int(cell[-1]), np.asarray(unmoved + raised, np.float64) * slack


def _raised(loss: Vector) -> Vector:
    return loss + np.abs(loss) * 2 * _ULP


def _sum(*masses: float) -> float:
    return sum(masses) * (1 + len(masses) * _ULP)
