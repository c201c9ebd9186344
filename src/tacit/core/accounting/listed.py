r"""Atoms whose privacy losses are listed: a finite dominating pair, and a mechanism on a sample.

Sampling.  Let M run on a sample of the table, r be the chance that it holds a given record, and delta the profile of M.

    Poisson, add/remove                         each record by itself with probability r
    without replacement, substitution           m of n records, all sets equally likely, n public, r = m / n

In both cases delta'(ln(1 + r (e^epsilon - 1))) <= r delta(epsilon) for epsilon >= 0.

Poisson: given the other records S that were drawn, the output on the table with x is M(S) with probability 1 - r and
M(S + x) else, and on that without it is M(S).  So with (P, Q) a dominating pair of M when a record is removed,
(1 - r) Q + r P against Q dominates, and read backwards when one is added.

Without replacement: with probability 1 - r the record that differs is not drawn, and the outputs agree.  Else M sees x
or x' in it; and a set with x becomes one without it when x is exchanged for a record that was not drawn, a
substitution as well.  So advanced joint convexity bounds the profile by r times that of M, for both orders of the
neighbours, and the symmetric pair with that profile dominates (Zhu, Dong, Wang 2022, theorem 11).

References.  Li, Qardaji, Su, AsiaCCS 2012; Balle, Barthe, Gaboardi, NeurIPS 2018, theorems 8 to 11; Zhu, Dong, Wang,
AISTATS 2022, section 4.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...storage import stored
from ..errors import BadParameter
from ..exact import MANY_ULPS, up
from ..pld.dominating_pairs import Pair
from ..pld.grid import Lattice
from ..pld.loss_table import LossTable, losses_of, mirrored
from .atoms import DiscreteGaussianNoise, DiscreteGaussianVector, GaussianNoise, GaussianPrivacy, LaplaceNoise
from .loss import Atom, Loss, Pure
from .sampled import Sampled

_LOSS_ERROR = 2.0**-45  # of any loss, since masses are good to a relative 1e-14,
_LOSS_ERROR_PER_NAT = 2.0**-50  # and for each nat of -ln of either mass (`law.py`)
_LEAST_MASS = 1e-290  # in a quotient
_MAX_SIGMA2, _MAX_SHIFT = Fraction(2**18), 2**12  # of discrete Gaussian noise whose losses are listed


class Listed(Atom):
    """An atom whose bounds come from a table of losses."""

    @property
    @abstractmethod
    def table(self) -> LossTable:
        """The losses from the law with a record to the law without it, or from any law to its neighbour."""

    def pure(self) -> Fraction | float:
        largest = max(self.table.largest, self.table.reversed.largest)
        return Fraction(largest) if largest < math.inf else math.inf

    def concentrated(self) -> float:
        return max(self.table.concentrated, self.table.reversed.concentrated)

    def renyi(self, order: float) -> float:
        return max(self.table.renyi(order), self.table.reversed.renyi(order))

    def profile(self, epsilon: float) -> float:
        return max(self.table.profile(epsilon), self.table.reversed.profile(epsilon))

    @cached_property
    def max_loss(self) -> float:
        """The largest finite loss."""
        return float(np.abs(self.table.losses).max(initial=0.0))

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        if not 1e-60 < self.max_loss < 2.0**16:
            return ()  # no grid is long and fine enough
        return self.table.lattice(spacing), self.table.reversed.lattice(spacing)

    @property
    def determined_by_pairs(self) -> bool:
        return True

    def group(self, k: int) -> Atom:
        from .grouped import Grouped  # imported here, as it builds on losses

        return self if k == 1 else Grouped(Loss({self: 1}), k)


@stored("FinitePair", ("p", "q"))
@dataclass(frozen=True)
class FinitePair(Listed):
    """A dominating pair of two laws on finitely many outcomes, by their masses; each law sums to 1."""

    p: tuple[float, ...]
    q: tuple[float, ...]

    @cached_property
    def table(self) -> LossTable:
        """The losses of the outcomes; a mass too small for floats counts as 0."""
        p, q = np.array(self.p), np.array(self.q)
        both = (p > _LEAST_MASS) & (q > _LEAST_MASS)
        a, b = p[both], q[both]
        near = np.abs(a - b) <= b / 2  # then a - b is exact, and a ratio of masses far apart keeps all its digits
        losses = np.where(near, np.log1p(np.where(near, (a - b) / b, 0.0)), np.log(a / b))
        errors = _LOSS_ERROR - (np.log(a) + np.log(b)) * _LOSS_ERROR_PER_NAT
        order = np.argsort(losses)
        infinite, vanishing = (float(np.maximum(law[~both & (law > 0)], _LEAST_MASS).sum()) for law in (p, q))
        return LossTable(losses[order], errors[order], a[order], b[order], infinite, vanishing)


@stored("PoissonSample", ("rate", "of"))
@dataclass(frozen=True)
class PoissonSample(Listed):
    """A mechanism on a Poisson sample of this `rate`, when a record is added or removed."""

    rate: Fraction
    of: Atom

    @cached_property
    def table(self) -> LossTable:
        inner = self.of.table if isinstance(self.of, Listed) else losses_of(self.of.pairs(2.0**-8)[0])
        return inner.failing(up(self.of.failure())).sampled(up(self.rate))

    def concentrated(self) -> float:
        """At most the rho of the mechanism on the whole table, as divergences are convex."""
        return min(super().concentrated(), self.of.concentrated() if not self.of.failure() else math.inf)

    def renyi(self, order: float) -> float:
        """Discrete Gaussian noise has the moments of continuous noise at whole orders, and between them the chord."""
        if isinstance(self.of, DiscreteGaussianNoise):
            return Sampled(self.rate, GaussianNoise(2 * self.of.rho)).renyi(order)
        return min(super().renyi(order), self.of.renyi(order) if not self.of.failure() else math.inf)


@stored("FixedSizeSample", ("poisson",))
@dataclass(frozen=True)
class FixedSizeSample(Atom):
    """A mechanism on a sample of fixed size without replacement, when a record is substituted.

    `poisson` is the mechanism on a Poisson sample of that rate, which has the same profile at epsilon >= 0.
    """

    poisson: Sampled | PoissonSample

    @property
    def _inner(self) -> Atom:
        return self.poisson.noise if isinstance(self.poisson, Sampled) else self.poisson.of

    def pure(self) -> Fraction | float:
        return self.poisson.pure()

    def concentrated(self) -> float:
        """The least of two rhos: of the mechanism without sampling, and of a coin of the pure epsilon."""
        pure = self.pure()
        coin = Pure(pure).concentrated() if isinstance(pure, Fraction) else math.inf
        return min(coin, self._inner.concentrated() if not self._inner.failure() else math.inf)

    def renyi(self, order: float) -> float:
        """The moment less 1 is at most twice that of the Poisson sample when a record is removed.

        With f the profile at ratios b = e^epsilon >= 1 the former is a (a - 1) times the integral of f(b) (b^(a - 2) +
        b^(-a - 1)), and the latter at least a (a - 1) times that of f(b) b^(a - 2), where -a - 1 < a - 2.
        """
        pure, log_moment = self.pure(), (order - 1) * self.poisson.renyi(order)
        twice = math.log1p(2 * math.expm1(log_moment)) if log_moment < 600 else log_moment + math.log(2)
        coin = Pure(pure).renyi(order) if isinstance(pure, Fraction) else math.inf
        inner = self._inner.renyi(order) if not self._inner.failure() else math.inf
        return min(coin, inner, twice / (order - 1) * MANY_ULPS)

    def profile(self, epsilon: float) -> float:
        return self.poisson.profile(epsilon)

    @property
    def max_loss(self) -> float:
        return self.poisson.max_loss

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return tuple(mirrored(pair) for pair in self.poisson.pairs(spacing)[:1] if isinstance(pair, Lattice))

    def group(self, k: int) -> Atom:
        from .grouped import Grouped  # imported here, as it builds on losses

        return self if k == 1 else Grouped(Loss({self: 1}), k)


def poisson_sample(of: Atom, rate: Fraction) -> Sampled | PoissonSample:
    """The atom of a mechanism on a Poisson sample; Gaussian and Laplace noise have closed forms."""
    if isinstance(of, Sampled):
        return Sampled(rate * of.rate, of.noise)
    if isinstance(of, PoissonSample):
        return PoissonSample(rate * of.rate, of.of)
    if isinstance(of, GaussianNoise | LaplaceNoise):
        return Sampled(rate, of)
    wide = isinstance(of, DiscreteGaussianNoise) and (of.sigma2 > _MAX_SIGMA2 or of.shift > _MAX_SHIFT)
    if wide or isinstance(of, DiscreteGaussianVector):
        square = of.gaussian()
        if isinstance(square, Fraction):
            return Sampled(rate, GaussianPrivacy(square))  # continuous noise dominates it
    if not (isinstance(of, Listed) or of.pairs(2.0**-8)):
        raise BadParameter(
            "loss",
            type(of).__name__,
            "that of a mechanism with a dominating pair",
            says=f"Sampling amplifies privacy profiles, and of {type(of).__name__} only Renyi divergences are"
            " known. Give the mechanism's dominating pair or its exact law.",
        )
    return PoissonSample(rate, of)
