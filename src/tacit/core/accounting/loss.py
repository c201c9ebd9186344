"""Privacy loss as an algebra.

A `Loss` is a formal sum of atoms, one for each thing done to a table:

    zero          nothing was done
    a + b         a and then b, where b may be chosen after seeing the output of a
    n * a         a, n times
    a.group(k)    the loss of k units together

An atom states what is proved of one mechanism.  A view (`accountants.py`) is an accountant: a homomorphism from losses
to a monoid in which sums are cheap.  Counting happens once, in the sum, so no accountant can forget it.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...storage import stored, stored_name, write
from ..distance import Neighbours, one_relation
from ..errors import BadParameter
from ..exact import FEW_ULPS, MANY_ULPS, TINY, up
from ..parameters import Number, whole
from ..pld.dominating_pairs import BoundedRangePair, Coin, Pair
from ..search import least

if TYPE_CHECKING:
    from .distribution import Distribution


class Atom(ABC):
    """The theorems about one mechanism on neighbours.  Each method returns a valid bound, by default a trivial one."""

    @property
    def attained(self) -> bool:
        """Whether the pairs are laws of the mechanism on some neighbours, and do not merely dominate it.

        Only then is a lower bound on a divergence of the pairs also a lower bound for the mechanism.
        """
        return False

    def pure(self) -> Fraction | float:
        """An epsilon that no |ln P(y)/Q(y)| exceeds: a Fraction, or infinity."""
        return math.inf

    def concentrated(self) -> float:
        """A rho such that the Renyi divergence of every order a > 1 is at most rho a."""
        return math.inf

    def renyi(self, order: float) -> float:
        """An upper bound on the Renyi divergence of this order, in both directions."""
        return order * self.concentrated()

    def gaussian(self) -> Fraction | float:
        """A mu^2 such that no hockey-stick divergence exceeds that of two normal laws mu deviations apart."""
        return math.inf

    def profile(self, epsilon: float) -> float:
        """An upper bound on the hockey-stick divergence at epsilon, in both directions: a delta of the mechanism."""
        return 1.0

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon >= 0 at which the profile is at most delta > 0."""
        return least(lambda e: self.profile(e) <= delta, 2.0**-30, 2.0**12)

    def failure(self) -> Fraction:
        """The probability with which nothing is promised; the other methods are about the remaining probability."""
        return Fraction(0)

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        """Dominating pairs, one for each direction if they differ; empty if none is known.

        `spacing` is the spacing of the grid for the losses of a sampled mechanism.
        """
        return ()

    @property
    def orders(self) -> tuple[float, ...]:
        """The orders at which the bound on the Renyi divergence jumps; a search should try them."""
        return ()

    @property
    def max_loss(self) -> float:
        """The largest loss that a grid must cover; 0 if the atom needs no grid."""
        return 0.0

    @property
    def determined_by_pairs(self) -> bool:
        """Whether the pairs imply every bound of the atom but its failure."""
        return False

    @abstractmethod
    def group(self, k: int) -> Atom:
        """The atom of the mechanism on neighbours k units apart."""


@stored("Pure", ("epsilon",))
@dataclass(frozen=True)
class Pure(Atom):
    """epsilon-differential privacy and nothing more (Dwork, McSherry, Nissim, Smith 2006)."""

    epsilon: Fraction

    @cached_property
    def _epsilon_up(self) -> float:
        """epsilon, rounded up to a float."""
        return up(self.epsilon)

    def pure(self) -> Fraction | float:
        return self.epsilon

    def concentrated(self) -> float:
        """epsilon tanh(epsilon / 2): h(u) = ln cosh(epsilon sqrt u) is concave (Steinke 2024)."""
        e = self._epsilon_up
        return max(TINY, e * math.tanh(e / 2) * FEW_ULPS) if e else 0.0

    def renyi(self, order: float) -> float:
        """The divergence of the dominating pair, a coin of odds e^epsilon (Mironov 2017, Proposition 5)."""
        e, a = self._epsilon_up, order
        if a * e < 20:  # ln of 1 + 2 sinh(ae/2) sinh((a-1)e/2) / cosh(e/2), in which nothing cancels
            moment = math.log1p(2 * math.sinh(a * e / 2) * math.sinh((a - 1) * e / 2) / math.cosh(e / 2))
        else:
            moment = (a - 1) * e + math.log1p(math.exp((1 - 2 * a) * e)) - math.log1p(math.exp(-e))
        return max(TINY, min(e, moment / (a - 1) * FEW_ULPS, a * self.concentrated()) * FEW_ULPS) if e else 0.0

    def profile(self, epsilon: float) -> float:
        """(e^e0 - e^epsilon) / (1 + e^e0), the profile of the coin."""
        gap = up(self.epsilon - Fraction(epsilon))
        return -math.expm1(-gap) / (1 + math.exp(-up(self.epsilon))) * FEW_ULPS if gap > 0 else 0.0

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (Coin(up(self.epsilon)),)

    @property
    def determined_by_pairs(self) -> bool:
        return True

    def group(self, k: int) -> Pure:
        return type(self)(k * self.epsilon)


@stored("BoundedRange", ("epsilon",))
class BoundedRange(Pure):
    """ln P(y)/Q(y) lies in an interval of length epsilon (Durfee and Rogers 2019): the exponential mechanism."""

    def concentrated(self) -> float:
        """epsilon^2 / 8 (Cesar and Rogers 2021, Lemma 3.4), by Hoeffding's lemma."""
        e = up(self.epsilon)
        return min(super().concentrated(), max(TINY, e * e / 8 * FEW_ULPS))

    def profile(self, epsilon: float) -> float:
        """(1 - e^-s)^2 / (1 - e^-e0), s = (e0 - epsilon)/2, for epsilon >= 0 (Dong, Durfee, Rogers 2020, k = 1).

        Of losses in [t - e0, t] the worst are at the ends, for (P/Q - e^epsilon)_+ is convex in P/Q: delta is
        (1 - e^(t - e0)) (1 - e^(epsilon - t)) / (1 - e^-e0), which is greatest where both factors are equal.
        """
        gap, e = up(self.epsilon - Fraction(epsilon)), up(self.epsilon)
        if gap <= 0:
            return 0.0
        half = math.expm1(-gap / 2)
        return min(super().profile(epsilon), max(TINY, half * half / -math.expm1(-e) * MANY_ULPS))

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        return (BoundedRangePair(up(self.epsilon)),) if self.epsilon else super().pairs(spacing)

    @property
    def determined_by_pairs(self) -> bool:
        return False  # rho is less than the variance of the pair, which no single mechanism attains


@stored("Concentrated", ("rho",))
@dataclass(frozen=True)
class Concentrated(Atom):
    """rho-zero-concentrated differential privacy (Bun and Steinke 2016)."""

    rho: Fraction

    def concentrated(self) -> float:
        return up(self.rho) * FEW_ULPS

    def group(self, k: int) -> Atom:
        return Concentrated(k * k * self.rho)


def _members(loss: Loss) -> tuple[tuple[tuple[Atom, int], ...], Neighbours | None]:
    """What is stored of a loss: its terms, in the order of their texts so that equal losses have one, and its relation.

    How many units pay it together is not stored.
    """
    terms = {stored_name(type(atom)): (atom, n) for atom, n in loss.terms.items()}
    if len(terms) == len(loss.terms):  # by their names, with which their texts begin
        return tuple(terms[name] for name in sorted(terms)), loss.relation
    return tuple(sorted(loss.terms.items(), key=lambda term: json.dumps(write(term)))), loss.relation


@stored("Loss", ("terms", "relation"), members=_members, make=lambda terms, relation: Loss(dict(terms), relation))
@dataclass(frozen=True, repr=False)
class Loss:
    """A formal sum of atoms with multiplicities, under one neighbouring relation if any is named.

    `units` is the number of units of privacy that this is the loss of, as far as known; equality ignores it.
    """

    terms: Mapping[Atom, int] = field(default_factory=dict)
    relation: Neighbours | None = None
    units: int = field(default=1, compare=False)

    def __post_init__(self) -> None:
        terms: object = self.terms
        if not isinstance(terms, Mapping) or not all(isinstance(atom, Atom) for atom in terms):
            raise BadParameter("terms", type(terms).__name__, "a mapping from atoms to the number of their uses")
        counts = dict(self.terms)  # a copy costs less than to hash the atoms again
        for atom, n in self.terms.items():
            count = whole("count", n, at_least=0)
            if not count:
                del counts[atom]
            elif count is not n:
                counts[atom] = count
        object.__setattr__(self, "terms", MappingProxyType(counts))
        if self.relation is not None and self.relation.units > self.units:
            object.__setattr__(self, "units", self.relation.units)

    def __add__(self, other: Loss) -> Loss:
        if not isinstance(other, Loss):
            return NotImplemented
        relation = one_relation(self.relation, other.relation)
        atoms = {**self.terms, **other.terms}
        counts = {a: self.terms.get(a, 0) + other.terms.get(a, 0) for a in atoms}
        return Loss(counts, relation, max(self.units, other.units))

    def __radd__(self, other: int) -> Loss:
        """Lets `sum` begin with its 0."""
        return self if other == 0 else NotImplemented

    def __mul__(self, n: int) -> Loss:
        whole("n", n, at_least=0)
        return Loss({a: n * m for a, m in self.terms.items()}, self.relation, self.units)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        under = f", under {self.relation}" if self.relation else ""
        return f"Loss({' + '.join(f'{n} x {atom}' for atom, n in self.terms.items()) or 'nothing'}{under})"

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Loss, (dict(self.terms), self.relation, self.units)

    def group(self, k: int) -> Loss:
        """The loss of k units together: atom by atom, or by the hybrid sum if an atom has no group bound."""
        from .grouped import Grouped  # imported here, as it builds on losses

        kinds = ((type(a), type(a.group(whole("k", k)))) for a in self.terms)
        units = k * self.units
        relation = self.relation and replace(self.relation, units=units)
        if any(kind is not Grouped and together is Grouped for kind, together in kinds):
            return Loss({Grouped(self, k): 1}, relation, units)
        grouped = (Loss({a.group(k): n}, relation, units) for a, n in self.terms.items())
        return reduce(Loss.__add__, grouped, Loss({}, relation, units))

    def epsilon(self, delta: Number = 0) -> float:
        """The least epsilon that any accountant proves at delta."""
        from .best_bound import best  # imported here, as it builds on losses

        return best(self, delta).epsilon

    def delta(self, epsilon: Number) -> float:
        """The least delta that any accountant proves at epsilon."""
        from .best_bound import least_delta

        return least_delta(self, epsilon)

    def explain(self, delta: Number = 0) -> str:
        """A table of the epsilon of every accountant at delta, with its theorem; a star marks the least."""
        from .best_bound import table

        return table(self, delta)

    def distribution(self, *, reverse: bool = False) -> Distribution:
        """The privacy loss of the dominating pair as a random variable: its moments, tails and quantiles."""
        from .distribution import Distribution

        return Distribution(self, reverse)


zero = Loss()
