r"""Privacy losses on a grid of ours: pairs without a closed transform, and those of a Poisson sample.

Discretisation.  A loss x between grid points a < b is split between them so that both P and Q keep their mass:
b gets the share (1 - e^(a - x)) / (1 - e^(a - b)).  This joins neighbouring points of the privacy profile, which is
convex in e^epsilon, by chords; so the pair on the grid dominates, and by a term of second order in the spacing only.
Masses are raised by a relative 2^-32, more than rounding can have taken, and what lies above the grid goes to infinity.

Poisson sampling at rate q turns neighbours P, Q into (1 - q) Q + q P and Q, and the other way round:
their losses are ln(1 - q + q e^x) under the mixture, and -ln(1 - q + q e^x) under Q.

References.  Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, PoPETs 2022 (connect the dots); Zhu, Dong, Wang 2022 for the
pairs under sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from .pairs import Complex, Pair

Floats = NDArray[np.float64]
_RAISE = 1 + 2.0**-32


@dataclass(frozen=True, eq=False)
class Lattice(Pair):
    """Masses at step (first + j), j = 0, 1, ..., and at infinity."""

    step: float
    first: int
    masses: Floats
    above: float

    @property
    def spacing(self) -> float:
        return self.step

    @property
    def infinite(self) -> float:
        return self.above

    @cached_property
    def losses(self) -> Floats:
        return np.asarray(self.step * (self.first + np.arange(self.masses.size)), float)

    def log_transform(self, z: Complex) -> Complex:
        top = self.losses[-1]
        return np.array([x * top + np.log((self.masses * np.exp(x * (self.losses - top))).sum()) for x in z])

    def cumulant(self, c: Floats) -> Floats:
        top = self.losses[-1]
        return np.array(
            [x * top + math.log((self.masses * np.exp(np.maximum(x * (self.losses - top), -700))).sum()) for x in c]
        )

    def on_line(self, c: float, stride: float, count: int) -> Complex:
        """By one transform of the tilted masses: 2 pi / stride must be a power of two times the step."""
        size = round(2 * math.pi / (stride * self.step))
        shift = c * self.losses[-1]
        tilted = self.masses * np.exp(c * self.losses - shift)
        folded = np.zeros(size)
        np.add.at(folded, np.arange(tilted.size) % size, tilted)
        wave = np.conj(np.fft.fft(folded)) + 1e-300  # sum of e^(+ i ...), not zero
        n = np.arange(count)
        return np.asarray(np.log(wave[n % size]) + shift + 1j * stride * n * (self.first * self.step))

    @property
    def largest(self) -> float:
        return float(self.losses[-1])

    @cached_property
    def mean(self) -> float:
        return float((self.masses * self.losses).sum())

    @cached_property
    def variance(self) -> float:
        return float((self.masses * (self.losses - self.mean) ** 2).sum())


@dataclass(frozen=True)
class Composed:
    """The upper part of a sum of losses on one grid: at each point, at least P[L > it] and E[e^-L; L > it].

    By one transform of the masses tilted by e^(cL), which puts the accuracy where it is wanted.  Its wrap-around adds
    to every mass, and so does the bound on rounding: both err on the safe side.
    """

    points: Floats
    above: Floats
    weighted: Floats

    @classmethod
    def of(cls, lattices: Mapping[Lattice, int], c: float, lowest: float, size: int) -> Composed:
        step = next(iter(lattices)).step
        log_wave, start, shift = np.zeros(size // 2 + 1, complex), 0, 0.0
        for lattice, n in lattices.items():
            top = c * float(lattice.losses[-1])
            folded = np.zeros(size)
            np.add.at(folded, np.arange(lattice.masses.size) % size, lattice.masses * np.exp(c * lattice.losses - top))
            with np.errstate(divide="ignore"):
                log_wave += n * np.log(np.fft.rfft(folded))
            start, shift = start + n * lattice.first, shift + n * top
        peak = float(log_wave[0].real)
        tilted = np.fft.irfft(np.exp(log_wave - peak), size)
        first = math.floor(lowest / step)
        points = np.asarray(step * (first + np.arange(size)), float)
        count = sum(lattices.values())
        error = 2.0**-46 * (1 + count) * math.sqrt(size) / size
        tilted = np.maximum(tilted[(first - start + np.arange(size)) % size], 0) + error
        masses = np.asarray(np.exp(np.log(tilted) + (peak + shift - c * points)), float)
        return cls(points, np.cumsum(masses[::-1])[::-1], np.cumsum((masses * np.exp(-points))[::-1])[::-1])

    @classmethod
    def of_coins(cls, epsilon: float, n: int) -> Composed:
        """n coins of one epsilon: the number that fall the other way is binomial (Kairouz, Oh, Viswanath 2015).

        Logarithms of factorials are good to a relative 2^-50, which masses raised by n 2^-40 and more make up for.
        """
        lie = 1 / (1 + math.exp(epsilon))
        spread = 40 * math.sqrt(n * lie * (1 - lie)) + 40
        k = np.arange(max(0, math.floor(n * lie - spread)), min(n, math.ceil(n * lie + spread)) + 1)[::-1]
        choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        masses = np.exp(choose - n * math.log1p(math.exp(-epsilon)) - k * epsilon) * (1 + (n + 64) * 2.0**-40)
        points = np.asarray((n - 2 * k) * epsilon, float)
        return cls(points, np.cumsum(masses[::-1])[::-1], np.cumsum((masses * np.exp(-points))[::-1])[::-1])

    def delta(self, epsilon: float) -> float:
        i = int(np.searchsorted(self.points, epsilon, side="right"))
        return float(self.above[i] - math.exp(epsilon) * self.weighted[i]) if i < self.points.size else 0.0

    def epsilon(self, delta: float) -> float:
        """The least grid point at which delta(E) is at most delta, and below it on the chord."""
        at = self.above - np.exp(self.points) * self.weighted  # a point itself adds nothing
        i = int(np.argmax(at <= delta)) if (at <= delta).any() else self.points.size - 1
        return min(float(self.points[i]), max(0.0, math.log(max(self.above[i] - delta, 1e-300) / self.weighted[i])))


def on_grid(spacing: float, first: int, p: Floats, q: Floats, infinite: float) -> Lattice:
    """From the masses that P and Q give to each cell [first + j, first + j + 1] of the grid."""
    below = spacing * (first + np.arange(p.size))
    up = np.clip((p - q * np.exp(below)) / -math.expm1(-spacing), 0, p)
    masses = np.zeros(p.size + 1)
    masses[1:] += up
    masses[:-1] += p - up
    used = np.flatnonzero(masses)[[0, -1]]
    return Lattice(spacing, first + int(used[0]), masses[used[0] : used[1] + 1] * _RAISE, infinite * _RAISE)


def _between(a: Floats) -> Floats:
    """P[a_j < N < a_{j+1}] for a standard normal N, without cancellation in either tail."""
    lower, upper = ndtr(a), ndtr(-a)
    return np.asarray(np.where(a[1:] < 0, lower[1:] - lower[:-1], upper[:-1] - upper[1:]))


def _sampled(
    rate: float, reach: float, spacing: float, cells: Callable[[Floats], tuple[Floats, Floats]]
) -> tuple[Lattice, Lattice]:
    """Both directions, from the masses that P and Q give to cells between losses of the mechanism without sampling."""
    top = math.log1p(rate * math.expm1(reach))
    first, last = math.floor(math.log1p(-rate) / spacing) - 1, math.ceil(top / spacing)
    edges = spacing * np.arange(first, last + 1)
    with np.errstate(divide="ignore"):
        inner = np.log(np.maximum(np.expm1(edges) + rate, 0) / rate)  # where ln(1 - q + q e^x) is the edge
    p, q = cells(np.append(inner, math.inf))
    mixed = (1 - rate) * q + rate * p
    remove = on_grid(spacing, first, mixed[:-1], q[:-1], float(mixed[-1]))
    # the other way round losses are mirrored, and what lay above the grid is its lowest cell
    return remove, on_grid(spacing, -last - 1, q[::-1], mixed[::-1], 0.0)


def sampled_gaussian(rate: float, mu: float, spacing: float) -> tuple[Lattice, Lattice]:
    """Removing a sampled record, and adding it: Gaussian noise, loss mu N + mu^2 / 2."""

    def cells(x: Floats) -> tuple[Floats, Floats]:
        y = (x + mu**2 / 2) / mu  # under Q the noise is N, under P it is N + mu
        return _between(y - mu), _between(y)

    return _sampled(rate, mu * (9.8 + mu) + mu**2 / 2, spacing, cells)  # beyond lies less than 1e-22 of either law


def sampled_laplace(rate: float, epsilon: float, spacing: float) -> tuple[Lattice, Lattice]:
    """The same for Laplace noise: P[L >= x] = 1 - e^((x - e)/2)/2 and Q[L >= x] = e^(-(x + e)/2)/2 within +-e."""

    def cells(x: Floats) -> tuple[Floats, Floats]:
        within = np.clip(x, -epsilon, epsilon)
        p = np.where(x <= -epsilon, 1, np.where(x <= epsilon, 1 - np.exp((within - epsilon) / 2) / 2, 0))
        q = np.where(x <= -epsilon, 1, np.where(x <= epsilon, np.exp(-(within + epsilon) / 2) / 2, 0))
        return p[:-1] - p[1:], q[:-1] - q[1:]

    return _sampled(rate, epsilon, spacing, cells)
