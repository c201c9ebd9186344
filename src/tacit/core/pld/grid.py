r"""Privacy losses on a grid: pairs without a closed transform, and pairs under Poisson sampling.

Discretisation.  A loss x between grid points a < b is split between them so that both P and Q keep their mass:
b gets the share (1 - e^(a - x)) / (1 - e^(a - b)).  This joins neighbouring points of the privacy profile, which is
convex in e^epsilon, by chords; so the pair on the grid dominates, and by a term of second order in the spacing only.
Masses are raised by a relative 2^-32, more than rounding can have taken; losses above the grid become infinite.

Poisson sampling at rate q turns neighbours P, Q into (1 - q) Q + q P and Q, and the other way round:
their losses are ln(1 - q + q e^x) under the mixture, and -ln(1 - q + q e^x) under Q.

References.  Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, PoPETs 2022 (connect the dots); Zhu, Dong, Wang 2022 for the
pairs under sampling.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ..exact import Floats
from .dominating_pairs import Complex, Pair

_RAISE = 1 + 2.0**-32
_MAX_CELLS = 2**16  # below the losses that matter
_MAX_VALUES_OF_PAIR = 2**12  # that a sum of losses of one pair may take, to be enumerated
_MAX_VALUES = 2**15  # that a sum of all losses may take, to be enumerated
_UNDERFLOW = 1e-290  # more than all masses that underflow


class Discrete(Pair):
    """A pair with finitely many finite losses."""

    @property
    @abstractmethod
    def points(self) -> tuple[Floats, Floats]:
        """Increasing losses, and their masses."""

    def log_transform(self, z: Complex) -> Complex:
        losses, masses = self.points
        top = losses[-1]
        return np.array([x * top + np.log((masses * np.exp(x * (losses - top))).sum()) for x in z])

    def cumulant(self, c: Floats) -> Floats:
        losses, masses = self.points
        exponents = np.maximum(np.outer(c, losses - losses[-1]), -700)
        return np.asarray(c * losses[-1] + np.log(np.exp(exponents) @ masses))

    @cached_property
    def largest(self) -> float:
        return float(self.points[0][-1])

    @cached_property
    def mean(self) -> float:
        losses, masses = self.points
        return float(masses @ losses)

    @cached_property
    def variance(self) -> float:
        losses, masses = self.points
        return float(masses @ (losses - self.mean) ** 2)


@dataclass(frozen=True, eq=False)
class BinnedPair(Discrete):
    """The pair that shows only the cell of the grid in which the loss lies; the true pair dominates it.

    A cell's loss is ln A/B, for the masses A and B that P and Q give to it.
    """

    losses: Floats
    masses: Floats

    @property
    def points(self) -> tuple[Floats, Floats]:
        return self.losses, self.masses

    def on_line(self, c: float, stride: float, count: int) -> Complex:
        """ln E e^(zL) in rows of r: z = c + i stride (r m + n); the sum over losses is a product of two matrices."""
        r, back = math.isqrt(count) + 1, self.losses - self.largest
        turn = 1j * stride * back
        rows = np.exp(np.outer(r * np.arange(r), turn) + np.maximum(c * back, -700)) * self.masses
        sums = (rows @ np.exp(np.outer(turn, np.arange(r)))).ravel()[:count] + 1e-300  # not zero
        return np.asarray(np.log(sums) + (c + 1j * stride * np.arange(count)) * self.largest)


@dataclass(frozen=True, eq=False)
class Lattice(Discrete):
    """A pair on a grid: masses at the losses step (first + j), j = 0, 1, ..., and at infinity."""

    step: float
    first: int
    masses: Floats
    above: float
    inside: BinnedPair | None = None
    few: tuple[Floats, Floats] | None = None  # the original losses and their masses, if these are few

    @property
    def spacing(self) -> float:
        return self.step

    @property
    def infinite(self) -> float:
        return self.above

    @cached_property
    def losses(self) -> Floats:
        return np.asarray(self.step * (self.first + np.arange(self.masses.size)), float)

    @property
    def points(self) -> tuple[Floats, Floats]:
        return self.losses, self.masses

    def on_line(self, c: float, stride: float, count: int) -> Complex:
        """ln E e^(zL) by one transform of the tilted masses; 2 pi / stride must be a power of two times the step."""
        size = round(2 * math.pi / (stride * self.step))
        shift = c * self.losses[-1]
        folded = _fold(self.masses * np.exp(np.maximum(c * self.losses - shift, -740)), size)
        wave = np.conj(np.fft.fft(folded)) + 1e-300  # sum of e^(+ i ...), not zero
        n = np.arange(count)
        return np.asarray(np.log(wave[n % size]) + shift + 1j * stride * n * (self.first * self.step))


@dataclass(frozen=True)
class Composed:
    """The upper part of a sum of losses on one grid: at each point x at least delta(x), and E[e^(x - L); L >= x].

    Between points delta(E) is a chord, linear in e^E.  One transform of the masses tilted by e^(cL) puts the accuracy
    where it is needed.  Its wrap-around adds to every mass, and so does the bound on rounding: both err on the safe
    side.  Losses above the last point count as infinite.
    """

    points: Floats
    deltas: Floats
    decayed: Floats

    @classmethod
    def at(cls, points: Floats, masses: Floats, beyond: float, step: float | None = None) -> Composed:
        """delta(x) = delta(x') + (1 - e^(x - x')) decayed(x'), x' the next point; points are `step` apart, if given.

        All sums are of positive terms, in which nothing cancels.
        """
        decayed, s = masses.copy(), 1
        while s < masses.size:
            apart = s * step if step else points[s:] - points[:-s]
            if np.min(apart) > 750:
                break
            decayed[:-s] += np.exp(-apart) * decayed[s:]
            s *= 2
        rises = -np.expm1(-(step or np.diff(points))) * decayed[1:]
        deltas = (np.cumsum(np.append(rises, beyond)[::-1])[::-1]) * _RAISE
        return cls(points, deltas, decayed)

    @classmethod
    def of(cls, lattices: Mapping[Lattice, int], c: float, lowest: float, size: int, orders: Floats) -> Composed:
        """The sum from `lowest` on; the bound on the mass beyond is the best over `orders`."""
        step = next(iter(lattices)).step
        log_wave, start, shift = np.zeros(size // 2 + 1, complex), 0, 0.0
        for lattice, n in lattices.items():
            top = c * float(lattice.losses[-1])
            folded = _fold(lattice.masses * np.exp(np.maximum(c * lattice.losses - top, -740)), size)
            log_wave += n * np.log(np.fft.rfft(folded) + 1e-300)  # not zero
            start, shift = start + n * lattice.first, shift + n * top
        peak = float(log_wave[0].real)
        tilted = np.fft.irfft(np.exp(log_wave - peak), size)
        first = math.floor(lowest / step)
        points = np.asarray(step * (first + np.arange(size)), float)
        count = sum(lattices.values())
        error = 2.0**-46 * (1 + count) * math.sqrt(size) / size
        tilted = np.maximum(tilted[(first - start + np.arange(size)) % size], 0) + error
        lost = 2.0**-50 * (abs(shift) + c * float(np.abs(points[[0, -1]]).max()))  # at most, of the exponent
        masses = np.exp(np.minimum(np.log(tilted) + (peak + shift - c * points + lost), 0.0))  # none is above 1
        logs = sum(n * lattice.cumulant(orders) for lattice, n in lattices.items()) - orders * points[-1]  # Chernoff
        beyond = math.exp(min(float(np.min(logs)) + 2.0**-46 * (1 + count), 0.0))
        return cls.at(points, np.asarray(masses, float), beyond, step)

    @classmethod
    def of_coins(cls, epsilon: float, n: int) -> Composed:
        """The sum of n coins of one epsilon: the number that fall the other way is binomial (Kairouz et al. 2015).

        Logarithms of factorials are good to a relative 2^-50; raising the masses by n 2^-40 and more makes up for that.
        A binomial number is below its mean by t with probability at most e^(-t^2 / (2 mean)).
        """
        from scipy.special import gammaln  # imported here, as scipy is slow to load

        lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
        radius = 40 * math.sqrt(n * lie) + 40
        k = np.arange(max(0, math.floor(n * lie - radius)), min(n, math.ceil(n * lie + radius)) + 1)[::-1]
        choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        masses = np.exp(choose - n * math.log1p(math.exp(-epsilon)) - k * epsilon) * (1 + (n + 64) * 2.0**-40)
        points = np.asarray((n - 2 * k) * epsilon, float)
        beyond = math.exp(-700) if k[-1] else 0.0
        return cls.at(points + np.abs(points) * 2.0**-51, masses, beyond, 2 * epsilon)

    @classmethod
    def enumerated(cls, pairs: Mapping[Pair, int]) -> Composed | None:
        """The sum by all its values and their masses, if these are few: the whole curve, up to rounding.

        Masses that underflow count as infinite losses.  Points are rounded up.
        """
        points, masses, raised = np.zeros(1), np.ones(1), 1.0
        for pair, n in pairs.items():
            sums = _multinomial(*pair.few, n) if isinstance(pair, Lattice) and pair.few else _multiples(pair, n)
            if sums is None or points.size * sums[0].size > _MAX_VALUES:
                return None
            losses, own, more = sums
            points = np.add.outer(points, losses).ravel()
            points += np.abs(points) * 2.0**-50
            masses = np.multiply.outer(masses, own).ravel()
            raised *= more
        order = np.argsort(points)
        below = min(0.0, float(points[order[0]])) - 1  # where there is nothing
        return cls.at(np.append(below, points[order]), np.append(0.0, masses[order] * raised), _UNDERFLOW)

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta(E) at E = epsilon."""
        i = int(np.searchsorted(self.points, epsilon))
        if i == self.points.size:
            return float(self.deltas[-1])
        return float(self.deltas[i] - self.decayed[i] * math.expm1(epsilon - self.points[i])) if i else 1.0

    def epsilon(self, delta: float) -> float:
        """The E at which delta(E) is delta, on the chord below the first point at which delta(E) is less."""
        i = int(np.argmax(self.deltas <= delta))
        if i == 0:
            return float(self.points[0]) if self.deltas[0] <= delta else math.inf
        back = (delta - self.deltas[i]) / self.decayed[i] * (1 - 2.0**-32)
        least = float(self.points[i - 1])
        return max(least, float(self.points[i]) + math.log1p(-back)) if back < 1 else least


def _multiples(pair: Pair, n: int) -> tuple[Floats, Floats, float] | None:
    """The values of a sum of n losses that are multiples of one unit, their masses, and a factor to raise these by.

    Masses are sums of products of positive terms, good to a relative 2^-43 for each loss and 2^-49 for each value.
    """
    one = pair.multiples(_MAX_VALUES_OF_PAIR // n)
    if one is None or n * one.masses.size > _MAX_VALUES_OF_PAIR:
        return None
    own = one.masses
    for bit in f"{n:b}"[1:]:
        own = np.convolve(own, own)
        own = np.convolve(own, one.masses) if bit == "1" else own
    used = np.flatnonzero(own > 1e-307)
    first, own = n * one.first + one.stride * int(used[0]), own[used[0] : used[-1] + 1]
    losses = one.unit * (first + one.stride * np.arange(own.size, dtype=float))
    return losses + np.abs(losses) * 2.0**-50, own, 1 + (n + own.size / 16 + 64) * 2.0**-42


def _multinomial(losses: Floats, masses: Floats, n: int) -> tuple[Floats, Floats, float] | None:
    """The values of a sum of n losses with any few values, by multinomial counts; their masses, and a factor.

    Masses are good to a relative 2^-41 for each loss.  Of a mass that does not underflow the logarithms of factorials
    and of masses sum to n (ln n + 3) + 800 at most, and are good to a relative 2^-50.
    """
    kinds = losses.size
    if (count := math.comb(n + kinds - 1, kinds - 1)) > _MAX_VALUES_OF_PAIR:
        return None
    from scipy.special import gammaln  # imported here, as scipy is slow to load

    bars = np.array(list(combinations(range(n + kinds - 1), kinds - 1)), float).reshape(count, kinds - 1)
    ends = np.ones((count, 1))
    counts = np.diff(np.hstack([-ends, bars, (n + kinds - 1) * ends])) - 1
    logs = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(masses)
    sums = counts @ losses + (counts @ np.abs(losses)) * 2.0**-48
    return np.asarray(sums), np.exp(np.maximum(logs, -745.0)), 1 + (n + 64) * 2.0**-40


def _fold(masses: Floats, size: int) -> Floats:
    """The sums of the masses whose indices agree modulo `size`."""
    return np.asarray(np.pad(masses, (0, -masses.size % size)).reshape(-1, size).sum(axis=0))


def on_grid(
    spacing: float, first: int, p: Floats, q: Floats, more: Floats, *, lowest: float = 0.0, infinite: float = 0.0
) -> Lattice:
    """The pair on the grid, from the masses that P and Q give to each cell [first + j, first + j + 1].

    `more` is p - q e^(the cell's lower end), or more; `lowest` is the mass that P gives to losses below the first cell.
    """
    gain = np.where(q > 1e-290, more, p)  # a q without reliable digits counts as 0
    up = np.clip(gain / -math.expm1(-spacing), 0, p)
    masses = np.zeros(p.size + 1)
    masses[1:] += up
    masses[:-1] += p - up
    masses[0] += lowest
    used = np.flatnonzero(masses)[[0, -1]]
    inside = _cells(np.asarray(spacing * (first + np.arange(p.size)), float), spacing, p, q)
    return Lattice(spacing, first + int(used[0]), masses[used[0] : used[1] + 1] * _RAISE, infinite * _RAISE, inside)


def _cells(below: Floats, spacing: float, p: Floats, q: Floats) -> BinnedPair:
    """The binned pair, lowered by more than rounding can have added; up to 64 light cells are joined into one.

    Of all partitions into so many cells, one that is finest where p^(1/3) is large loses the least variance.
    """
    place = np.floor(np.cumsum(np.maximum(np.cbrt(p / p.max()), 1 / 64)))
    starts = np.flatnonzero(np.diff(place, prepend=-1.0))
    end = below[np.append(starts[1:], p.size) - 1] + spacing
    p, q = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    usable = (p > 1e-290) & (q > 1e-290)
    ratios = np.minimum(np.log(p[usable] / q[usable]) - 2.0**-36, end[usable])
    return BinnedPair(np.minimum.accumulate(ratios[::-1])[::-1], p[usable] / _RAISE)


def _between(a: Floats) -> Floats:
    """P[a_j < N < a_{j+1}] for a standard normal N, without cancellation in either tail."""
    from scipy.special import ndtr  # imported here, as scipy is slow to load

    lower, upper = ndtr(a), ndtr(-a)
    return np.asarray(np.where(a[1:] < 0, lower[1:] - lower[:-1], upper[:-1] - upper[1:]))


def _sampled(
    rate: float, max_loss: float, spacing: float, cells: Callable[[Floats], tuple[Floats, Floats]]
) -> tuple[Lattice, Lattice]:
    """Both directions of a sampled pair, from the masses of cells between losses of the mechanism without sampling.

    Next to no mass lies below -`max_loss` or above `max_loss`.  A loss after sampling may be far smaller than rounding:
    with masses p and q and m = (1 - rate) q + rate p, it is m - q e^x = rate (p - q) - q (e^x - 1) that is kept.
    """
    top = math.log1p(rate * math.expm1(max_loss)) if max_loss < 700 else max_loss + math.log(rate)
    low = max(math.log1p(-rate), math.log1p(rate * math.expm1(-max_loss)) - _MAX_CELLS * spacing)
    first, last = math.floor(low / spacing) - 1, math.ceil(top / spacing)
    edges = spacing * np.arange(first, last + 1)
    with np.errstate(divide="ignore"):  # where ln(1 - q + q e^x) is the edge
        inner = np.log1p(np.maximum(np.expm1(np.minimum(edges, 40)) / rate, -1)) + np.maximum(edges - 40, 0)
    p, q = cells(np.concatenate([[-math.inf], inner, [math.inf]]))
    (under, *_, over), beyond = (1 - rate) * q + rate * p, (float(q[0]), float(q[-1]))
    p, q = p[1:-1], q[1:-1]
    mixed, gain, error = (1 - rate) * q + rate * p, rate * (p - q), rate * (p + q) * 2.0**-48
    lower, upper = np.expm1(np.minimum(edges[:-1], 700)), np.expm1(-edges[1:])  # of e^x, and of e^-x
    removed = gain + error - q * (lower - np.abs(lower) * 2.0**-48)
    added = (error - gain) * (1 + upper) - q * (upper - np.abs(upper) * 2.0**-48)
    return (
        on_grid(spacing, first, mixed, q, removed, lowest=float(under), infinite=float(over)),
        on_grid(spacing, -last, q[::-1], mixed[::-1], added[::-1], lowest=beyond[1], infinite=beyond[0]),
    )


def sampled_gaussian(rate: float, mu: float, spacing: float) -> tuple[Lattice, Lattice]:
    """The pairs for removing and for adding a sampled record: Gaussian noise, loss mu N + mu^2 / 2."""

    def cells(x: Floats) -> tuple[Floats, Floats]:
        y = (x + mu**2 / 2) / mu  # under Q the noise is N, under P it is N + mu
        return _between(y - mu), _between(y)

    return _sampled(rate, mu * (9.8 + mu) + mu**2 / 2, spacing, cells)  # beyond lies less than 1e-22 of either law


def sampled_laplace(rate: float, epsilon: float, spacing: float) -> tuple[Lattice, Lattice]:
    """The pairs for removing and for adding a sampled record: Laplace noise.

    P[L >= x] = 1 - e^((x - e)/2)/2 and Q[L >= x] = e^(-(x + e)/2)/2 within +-e.
    """

    def cells(x: Floats) -> tuple[Floats, Floats]:
        within = np.clip(x, -epsilon, epsilon)
        p = np.where(x <= -epsilon, 1, np.where(x <= epsilon, 1 - np.exp((within - epsilon) / 2) / 2, 0))
        q = np.where(x <= -epsilon, 1, np.where(x <= epsilon, np.exp(-(within + epsilon) / 2) / 2, 0))
        return p[:-1] - p[1:], q[:-1] - q[1:]

    return _sampled(rate, epsilon, spacing, cells)
