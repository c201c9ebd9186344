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
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ..exact import Floats
from .dominating_pairs import Complex, Pair

_RAISE = 1 + 2.0**-32
_LONGEST = 2**16  # cells for losses below those that matter
_ALIKE = 2**12  # values that a sum of losses of one kind may take, to be enumerated
_TOGETHER = 2**15  # and a sum of all kinds
_LOST = 1e-290  # more than all masses that underflow


class Discrete(Pair):
    """Finitely many finite losses."""

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
    """The pair after telling only in which cell of the grid the loss lies: no larger than the truth.

    A cell's loss is ln A/B, for the masses A and B that P and Q give to it.
    """

    losses: Floats
    masses: Floats

    @property
    def points(self) -> tuple[Floats, Floats]:
        return self.losses, self.masses

    def on_line(self, c: float, stride: float, count: int) -> Complex:
        """In rows of r: z = c + i stride (r m + n), and the sum over losses is a product of two matrices."""
        r, back = math.isqrt(count) + 1, self.losses - self.largest
        turn = 1j * stride * back
        rows = np.exp(np.outer(r * np.arange(r), turn) + np.maximum(c * back, -700)) * self.masses
        sums = (rows @ np.exp(np.outer(turn, np.arange(r)))).ravel()[:count] + 1e-300  # not zero
        return np.asarray(np.log(sums) + (c + 1j * stride * np.arange(count)) * self.largest)


@dataclass(frozen=True, eq=False)
class Lattice(Discrete):
    """Masses at step (first + j), j = 0, 1, ..., and at infinity."""

    step: float
    first: int
    masses: Floats
    above: float
    inside: BinnedPair | None = None
    few: tuple[Floats, Floats] | None = None  # the losses that it was made of and their masses, if these are few

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
        """By one transform of the tilted masses: 2 pi / stride must be a power of two times the step."""
        size = round(2 * math.pi / (stride * self.step))
        shift = c * self.losses[-1]
        folded = _fold(self.masses * np.exp(np.maximum(c * self.losses - shift, -740)), size)
        wave = np.conj(np.fft.fft(folded)) + 1e-300  # sum of e^(+ i ...), not zero
        n = np.arange(count)
        return np.asarray(np.log(wave[n % size]) + shift + 1j * stride * n * (self.first * self.step))


@dataclass(frozen=True)
class Composed:
    """The upper part of a sum of losses on one grid: at each point x at least delta(x), and E[e^(x - L); L >= x].

    Between points delta(E) is a chord, linear in e^E.  By one transform of the masses tilted by e^(cL), which puts the
    accuracy where it is wanted.  Its wrap-around adds to every mass, and so does the bound on rounding: both err on the
    safe side.  What lies above the last point counts as infinite.
    """

    points: Floats
    deltas: Floats
    decayed: Floats

    @classmethod
    def at(cls, points: Floats, masses: Floats, beyond: float, step: float | None = None) -> Composed:
        """delta(x) = delta(x') + (1 - e^(x - x')) decayed(x'), x' being the next point; all are `step` apart, if given.

        Sums of positive terms, in which nothing cancels.
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
        """From `lowest` on; `orders` are those among which the best bound on what lies beyond is sought."""
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
        lost = 2.0**-50 * (abs(shift) + c * float(np.abs(points[[0, -1]]).max()))  # at most, of the exponent's digits
        masses = np.exp(np.minimum(np.log(tilted) + (peak + shift - c * points + lost), 0.0))  # none is above 1
        logs = sum(n * lattice.cumulant(orders) for lattice, n in lattices.items()) - orders * points[-1]  # Chernoff
        beyond = math.exp(min(float(np.min(logs)) + 2.0**-46 * (1 + count), 0.0))
        return cls.at(points, np.asarray(masses, float), beyond, step)

    @classmethod
    def of_coins(cls, epsilon: float, n: int) -> Composed:
        """n coins of one epsilon: the number that fall the other way is binomial (Kairouz, Oh, Viswanath 2015).

        Logarithms of factorials are good to a relative 2^-50, which masses raised by n 2^-40 and more make up for.
        Fewer than its mean less t with probability e^(-t^2 / (2 mean)) at most.
        """
        from scipy.special import gammaln  # here, since it takes long to load

        lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
        spread = 40 * math.sqrt(n * lie) + 40
        k = np.arange(max(0, math.floor(n * lie - spread)), min(n, math.ceil(n * lie + spread)) + 1)[::-1]
        choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        masses = np.exp(choose - n * math.log1p(math.exp(-epsilon)) - k * epsilon) * (1 + (n + 64) * 2.0**-40)
        points = np.asarray((n - 2 * k) * epsilon, float)
        beyond = math.exp(-700) if k[-1] else 0.0
        return cls.at(points + np.abs(points) * 2.0**-51, masses, beyond, 2 * epsilon)

    @classmethod
    def enumerated(cls, pairs: Mapping[Pair, int]) -> Composed | None:
        """Every value of a sum of losses with its mass, if they are few: the whole curve, but for rounding.

        What underflows counts as infinite.  Points are rounded up.
        """
        points, masses, raised = np.zeros(1), np.ones(1), 1.0
        for pair, n in pairs.items():
            sums = _multinomial(*pair.few, n) if isinstance(pair, Lattice) and pair.few else _multiples(pair, n)
            if sums is None or points.size * sums[0].size > _TOGETHER:
                return None
            losses, own, more = sums
            points = np.add.outer(points, losses).ravel()
            points += np.abs(points) * 2.0**-50
            masses = np.multiply.outer(masses, own).ravel()
            raised *= more
        order = np.argsort(points)
        below = min(0.0, float(points[order[0]])) - 1  # where there is nothing
        return cls.at(np.append(below, points[order]), np.append(0.0, masses[order] * raised), _LOST)

    def delta(self, epsilon: float) -> float:
        i = int(np.searchsorted(self.points, epsilon))
        if i == self.points.size:
            return float(self.deltas[-1])
        return float(self.deltas[i] - self.decayed[i] * math.expm1(epsilon - self.points[i])) if i else 1.0

    def epsilon(self, delta: float) -> float:
        """Where delta(E) is delta, on the chord below the first point at which it is less."""
        i = int(np.argmax(self.deltas <= delta))
        if i == 0:
            return float(self.points[0]) if self.deltas[0] <= delta else math.inf
        back = (delta - self.deltas[i]) / self.decayed[i] * (1 - 2.0**-32)
        least = float(self.points[i - 1])
        return max(least, float(self.points[i]) + math.log1p(-back)) if back < 1 else least


def _multiples(pair: Pair, n: int) -> tuple[Floats, Floats, float] | None:
    """The values of n losses that are multiples of one, their masses, and by what factor to raise these.

    Masses are sums of products of positive terms, good to a relative 2^-43 for each loss and 2^-49 for each value.
    """
    one = pair.multiples(_ALIKE // n)
    if one is None or n * one.masses.size > _ALIKE:
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
    """The same for n losses with any few values: how often each value occurs is multinomial.

    Masses are good to a relative 2^-41 for each loss.  Of a mass that does not underflow the logarithms of factorials
    and of masses sum to n (ln n + 3) + 800 at most, and are good to a relative 2^-50.
    """
    kinds = losses.size
    if (count := math.comb(n + kinds - 1, kinds - 1)) > _ALIKE:
        return None
    from scipy.special import gammaln  # here, since it takes long to load

    bars = np.array(list(combinations(range(n + kinds - 1), kinds - 1)), float).reshape(count, kinds - 1)
    ends = np.ones((count, 1))
    counts = np.diff(np.hstack([-ends, bars, (n + kinds - 1) * ends])) - 1
    logs = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(masses)
    sums = counts @ losses + (counts @ np.abs(losses)) * 2.0**-48
    return np.asarray(sums), np.exp(np.maximum(logs, -745.0)), 1 + (n + 64) * 2.0**-40


def _fold(masses: Floats, size: int) -> Floats:
    """Sums of those whose places agree modulo `size`."""
    return np.asarray(np.pad(masses, (0, -masses.size % size)).reshape(-1, size).sum(axis=0))


def on_grid(
    spacing: float, first: int, p: Floats, q: Floats, more: Floats, *, lowest: float = 0.0, infinite: float = 0.0
) -> Lattice:
    """From the masses that P and Q give to each cell [first + j, first + j + 1] of the grid.

    `more` is p - q e^(the cell's lower end), or more; `lowest` is what P gives to all below the first cell.
    """
    told = np.where(q > 1e-290, more, p)  # a q that is not known to some digits counts as nothing
    up = np.clip(told / -math.expm1(-spacing), 0, p)
    masses = np.zeros(p.size + 1)
    masses[1:] += up
    masses[:-1] += p - up
    masses[0] += lowest
    used = np.flatnonzero(masses)[[0, -1]]
    inside = _cells(np.asarray(spacing * (first + np.arange(p.size)), float), spacing, p, q)
    return Lattice(spacing, first + int(used[0]), masses[used[0] : used[1] + 1] * _RAISE, infinite * _RAISE, inside)


def _cells(below: Floats, spacing: float, p: Floats, q: Floats) -> BinnedPair:
    """Lowered by more than rounding can have added; up to 64 are joined where they weigh little.

    Of all partitions into so many cells the finest where p^(1/3) is large takes the least from the variance.
    """
    place = np.floor(np.cumsum(np.maximum(np.cbrt(p / p.max()), 1 / 64)))
    starts = np.flatnonzero(np.diff(place, prepend=-1.0))
    end = below[np.append(starts[1:], p.size) - 1] + spacing
    p, q = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    kept = (p > 1e-290) & (q > 1e-290)
    ratios = np.minimum(np.log(p[kept] / q[kept]) - 2.0**-36, end[kept])
    return BinnedPair(np.minimum.accumulate(ratios[::-1])[::-1], p[kept] / _RAISE)


def _between(a: Floats) -> Floats:
    """P[a_j < N < a_{j+1}] for a standard normal N, without cancellation in either tail."""
    from scipy.special import ndtr  # here, since it takes long to load

    lower, upper = ndtr(a), ndtr(-a)
    return np.asarray(np.where(a[1:] < 0, lower[1:] - lower[:-1], upper[:-1] - upper[1:]))


def _sampled(
    rate: float, max_loss: float, spacing: float, cells: Callable[[Floats], tuple[Floats, Floats]]
) -> tuple[Lattice, Lattice]:
    """Both directions, from the masses that P and Q give to cells between losses of the mechanism without sampling.

    Next to no mass lies below -`max_loss` or above `max_loss`.  A loss after sampling may be far smaller than rounding:
    with masses p and q and m = (1 - rate) q + rate p, it is m - q e^x = rate (p - q) - q (e^x - 1) that is kept.
    """
    top = math.log1p(rate * math.expm1(max_loss)) if max_loss < 700 else max_loss + math.log(rate)
    low = max(math.log1p(-rate), math.log1p(rate * math.expm1(-max_loss)) - _LONGEST * spacing)
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
