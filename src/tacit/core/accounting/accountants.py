"""Accountants: homomorphisms from losses to monoids, and what an element of each monoid proves.

Counting happens once, in `View.total`.  The epsilon of every view is a valid upper bound, infinite where the view has
no theorem, so the least of them is valid too.  Conversions round outward.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import reduce
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..exact import MANY_ULPS, TINY, decimal_up, down, shortened, up
from ..pld.composition_bounds import Sum
from ..pld.dominating_pairs import GaussianShift, Pair
from ..search import least, least_value
from .atoms import GaussianNoise
from .loss import Atom, Loss, Pure

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Curve = NDArray[np.float64]


def _left(loss: Loss, delta: Fraction | float) -> float | None:
    """What is left of delta beside the failures of a loss, rounded down; None if they are more than delta."""
    failure, left = failures(loss), Fraction(delta)
    if failure:
        if failure == 1 or failure > left:
            return None
        left = (left - failure) / (1 - failure)
    return down(left) if left else 0.0


class View(ABC, Generic[T]):
    """A commutative monoid (`nothing`, `both`, `times`), the image `of` an atom in it, and what a total proves."""

    name: str
    theorem: str
    nothing: T

    @abstractmethod
    def of(self, atom: Atom) -> T: ...

    @abstractmethod
    def both(self, a: T, b: T) -> T: ...

    @abstractmethod
    def times(self, n: int, a: T) -> T: ...

    @abstractmethod
    def proves(self, total: T, delta: float) -> float:
        """The epsilon that `total` proves at `delta`."""

    def total(self, loss: Loss) -> T:
        return reduce(self.both, (self.times(n, self.of(a)) for a, n in loss.terms.items()), self.nothing)

    def epsilon(self, loss: Loss, delta: Fraction | float) -> float:
        """The epsilon that the view proves of a loss with its failures: delta_total = 1 - (1 - failure) (1 - delta).

        Failures are subtracted exactly, so that a delta equal to the failures is enough.
        """
        if not loss.terms:
            return 0.0
        left = _left(loss, delta)
        return math.inf if left is None else self.proves(self.total(loss), left)

    def guarantees(self, loss: Loss, epsilon: float, delta: Fraction | float) -> bool:
        """Whether the epsilon that the view proves of a loss is at most this one."""
        return self.epsilon(loss, delta) <= epsilon

    def delta(self, total: T, epsilon: float) -> float:
        """The delta that `total` proves at `epsilon`; 1 if it proves nothing."""
        return min(1.0, least(lambda d: self.proves(total, d) <= epsilon, 2.0**-900, 1 - 2.0**-53))


class Basic(View[Fraction | float]):
    """Basic composition: pure losses add, exactly."""

    name, theorem = "basic", "epsilons add (Dwork et al. 2006; Dwork and Roth, Theorem 3.14)"
    nothing: Fraction | float = Fraction(0)

    def of(self, atom: Atom) -> Fraction | float:
        return atom.pure()

    def both(self, a: Fraction | float, b: Fraction | float) -> Fraction | float:
        return shortened(a + b) if isinstance(a, Fraction) and isinstance(b, Fraction) else math.inf

    def times(self, n: int, a: Fraction | float) -> Fraction | float:
        return n * a

    def proves(self, total: Fraction | float, delta: float) -> float:
        return decimal_up(total) if isinstance(total, Fraction) else math.inf

    def delta(self, total: Fraction | float, epsilon: float) -> float:
        return 0.0 if total <= epsilon else 1.0


class Curves(View[Curve]):
    """Views in which losses are vectors that add coordinate by coordinate."""

    def both(self, a: Curve, b: Curve) -> Curve:
        with np.errstate(over="ignore"):
            return (a + b) * MANY_ULPS

    def times(self, n: int, a: Curve) -> Curve:
        with np.errstate(over="ignore"):
            return n * a * MANY_ULPS


class Advanced(Curves):
    """Advanced composition: sums of epsilon tanh(epsilon/2) and of epsilon^2."""

    name, theorem = "advanced", "sum eps tanh(eps/2) + sqrt(2 ln(1/delta) sum eps^2) (Kairouz, Oh, Viswanath 2015)"
    nothing = np.zeros(2)

    @staticmethod
    def drift(epsilon: float) -> float:
        """An upper bound on the mean of the privacy loss."""
        return epsilon * math.tanh(epsilon / 2)

    def of(self, atom: Atom) -> Curve:
        pure = atom.pure()
        e = up(pure) if isinstance(pure, Fraction) else pure
        floor = TINY if e else 0.0
        return np.maximum(np.array([self.drift(e), e * e]) * MANY_ULPS, floor) if e < 500 else np.full(2, math.inf)

    def proves(self, total: Curve, delta: float) -> float:
        drift, square = map(float, total)
        return (drift + math.sqrt(2 * square * -math.log(delta))) * MANY_ULPS if delta else math.inf

    def delta(self, total: Curve, epsilon: float) -> float:
        drift, square = map(float, total)
        return _tail(epsilon - drift, 2 * square)


class AdvancedExp(Advanced):
    """Advanced composition with the drift k eps (e^eps - 1)."""

    name, theorem = (
        "advanced, exp",
        "sum eps (e^eps - 1) + sqrt(2 ln(1/delta) sum eps^2) (Dwork, Rothblum, Vadhan 2010)",
    )

    @staticmethod
    def drift(epsilon: float) -> float:
        return epsilon * math.expm1(epsilon)


class Classical(Advanced):
    """Advanced composition with the drift 2 k eps^2; valid for every epsilon, as tanh(x) <= x."""

    name, theorem = "advanced, 2keps^2", "sum 2 eps^2 + sqrt(2 ln(1/delta) sum eps^2) (Wang, lecture notes)"

    @staticmethod
    def drift(epsilon: float) -> float:
        return 2 * epsilon**2


class Zcdp(Curves):
    """Zero-concentrated differential privacy: the rhos add."""

    name, theorem = "zCDP", "rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016, Proposition 1.3)"
    nothing = np.zeros(1)

    def of(self, atom: Atom) -> Curve:
        return np.array([atom.concentrated()])

    def proves(self, total: Curve, delta: float) -> float:
        rho = float(total[0])
        return (rho + 2 * math.sqrt(rho * -math.log(delta))) * MANY_ULPS if delta else math.inf

    def delta(self, total: Curve, epsilon: float) -> float:
        rho = float(total[0])
        return _tail(epsilon - rho, 4 * rho)


class Formal(View[Loss]):
    """Views that take the whole formal sum as it is."""

    nothing = Loss()

    def of(self, atom: Atom) -> Loss:
        return Loss({atom: 1})

    def both(self, a: Loss, b: Loss) -> Loss:
        return a + b

    def times(self, n: int, a: Loss) -> Loss:
        return n * a

    def total(self, loss: Loss) -> Loss:
        """The sum in one step: adding the terms one by one would copy the sum each time."""
        return Loss(_collect((b, n * m) for a, n in loss.terms.items() for b, m in self.of(a).terms.items()))


class Renyi(Formal):
    """Renyi divergences add at each order; the search for the best order runs over all reals above 1."""

    name, theorem = "Renyi", "best order (Canonne, Kamath, Steinke 2020, Proposition 12)"

    def proves(self, total: Loss, delta: float) -> float:
        if not delta:
            return math.inf

        def at(order: float) -> float:
            return self._at(total, order) - (math.log(delta) + math.log(order)) / (order - 1)

        return max(0.0, self._least(at, total) * MANY_ULPS)

    def delta(self, total: Loss, epsilon: float) -> float:
        def at(order: float) -> float:
            return (order - 1) * (self._at(total, order) * MANY_ULPS - epsilon) - math.log(order)

        exponent = self._least(at, total)
        return max(TINY, math.exp(min(0.0, exponent + 2.0**-40 * abs(exponent))))

    @staticmethod
    def _least(at: Callable[[float], float], total: Loss) -> float:
        """The minimum over all orders above 1; the orders at which the curve of an atom jumps are tried exactly."""
        jumps = {order for atom in total.terms for order in atom.orders if order > 1}
        return min(least_value(lambda x: at(1 + math.exp(x)), -7.0, 14.0), *map(at, jumps), math.inf)

    @staticmethod
    def _at(total: Loss, order: float) -> float:
        return math.fsum(n * atom.renyi(order) for atom, n in total.terms.items()) + math.log1p(-1 / order)


class Profile(Formal):
    """A single use of one mechanism, by its own privacy profile."""

    name, theorem = "profile", "hockey-stick divergence of the one mechanism used"

    def proves(self, total: Loss, delta: float) -> float:
        if sum(total.terms.values()) != 1:
            return math.inf
        return next(iter(total.terms)).epsilon_at(delta) if delta else Basic().proves(Basic().total(total), delta)

    def guarantees(self, loss: Loss, epsilon: float, delta: Fraction | float) -> bool:
        """Two looks at a profile that `Atom.epsilon_at` would search decide, unless epsilon is within its precision."""
        left, atom = _left(loss, delta), next(iter(loss.terms), None)
        searched = atom is not None and type(atom).epsilon_at is Atom.epsilon_at and sum(loss.terms.values()) == 1
        if atom is not None and searched and left and 2.0**-29 < epsilon < 2.0**12:
            if atom.profile(epsilon) > left:
                return False
            if atom.profile(epsilon * (1 - 2.0**-39)) <= left:
                return True
        return super().guarantees(loss, epsilon, delta)

    def delta(self, total: Loss, epsilon: float) -> float:
        return next(iter(total.terms)).profile(epsilon) if sum(total.terms.values()) == 1 else 1.0


class GaussianDP(Basic):
    """Gaussian differential privacy: mu^2 adds, exactly."""

    name, theorem = "Gaussian", "mu^2 adds (Dong, Roth, Su 2022); profile of Balle and Wang 2018"

    def of(self, atom: Atom) -> Fraction | float:
        return atom.gaussian()

    def proves(self, total: Fraction | float, delta: float) -> float:
        return GaussianNoise(total).epsilon_at(delta) if isinstance(total, Fraction) and delta else math.inf

    def delta(self, total: Fraction | float, epsilon: float) -> float:
        return GaussianNoise(total).profile(epsilon) if isinstance(total, Fraction) else 1.0


class PLD(Formal):
    """Privacy loss distributions, by certified sums over their transforms (`pld/composition_bounds.py`)."""

    name, theorem = "PLD", "certified trapezoidal sum of the transform (Zhu, Dong, Wang 2022)"

    def sums(self, total: Loss) -> tuple[Sum, ...]:
        """The composed loss in each direction; empty if a mechanism has no known pair."""
        spacing = self.spacing(total)
        pairs = [(atom.pairs(spacing), n) for atom, n in total.terms.items()]
        if not all(p for p, _ in pairs) or not pairs:
            return ()
        directions = max(len(p) for p, _ in pairs)
        chosen = ([(p[min(d, len(p) - 1)], n) for p, n in pairs] for d in range(directions))
        return tuple(Sum(_collect(_one_gaussian(counted))) for counted in chosen)

    @staticmethod
    def spacing(total: Loss) -> float:
        """The spacing at which splitting losses adds a hundredth of a per cent to the variance of their sum."""
        max_loss, count = max((atom.max_loss for atom in total.terms), default=0.0), sum(total.terms.values())
        first = max(min(2.0**-8, _power(max_loss) / 2**10), _power(max_loss) / 2**14)
        if not max_loss:
            return first  # no pair uses it
        variance = math.fsum(n * p.variance for a, n in total.terms.items() for p in a.pairs(first)[:1])
        return max(_power(0.02 * math.sqrt(variance / count)), _power(max_loss) / 2**18)

    def _failing(self, sums: tuple[Sum, ...]) -> float:
        return max((s.infinite for s in sums), default=0.0)

    def proves(self, total: Loss, delta: float) -> float:
        if not delta:  # the largest loss of a sum is the sum of the largest
            return Basic().proves(Basic().total(total), delta)
        if sum(total.terms.values()) == 1:
            return Profile().proves(total, delta)
        sums = self.sums(total)
        left = delta - self._failing(sums)
        return max(s.upper_epsilon(left) for s in sums) if sums and left > 0 else math.inf

    def delta(self, total: Loss, epsilon: float) -> float:
        if sum(total.terms.values()) == 1:
            return Profile().delta(total, epsilon)
        sums = self.sums(total)
        return min(1.0, max(s.upper_delta(epsilon) + s.infinite for s in sums)) if sums else 1.0


class Optimal(PLD):
    """Optimal composition from pure losses alone: each loss is a coin."""

    name, theorem = "optimal", "coins compose exactly (Kairouz, Oh, Viswanath 2015; Murtagh and Vadhan 2016)"

    def of(self, atom: Atom) -> Loss:
        e = atom.pure()
        return Loss({Pure(e) if isinstance(e, Fraction) else atom: 1})

    def proves(self, total: Loss, delta: float) -> float:
        return super().proves(total, delta) if self._all_pure(total) else math.inf

    def delta(self, total: Loss, epsilon: float) -> float:
        return super().delta(total, epsilon) if self._all_pure(total) else 1.0

    @staticmethod
    def _all_pure(total: Loss) -> bool:
        return all(type(atom) is Pure for atom in total.terms)


def _power(x: float) -> float:
    """The largest power of two that is at most x."""
    return 2.0 ** math.floor(math.log2(x)) if x > 0 else 0.0


def _one_gaussian(counted: list[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """The pairs with all normal losses joined into one: mu^2 adds."""
    square = math.fsum(n * pair.mu**2 for pair, n in counted if isinstance(pair, GaussianShift))
    others = [(pair, n) for pair, n in counted if not isinstance(pair, GaussianShift)]
    return [*others, (GaussianShift(math.sqrt(square) * MANY_ULPS), 1)] if square else others


def _collect(counted: Iterable[tuple[K, int]]) -> dict[K, int]:
    """The sum of the counts of each key."""
    counts: dict[K, int] = {}
    for key, n in counted:
        counts[key] = counts.get(key, 0) + n
    return counts


def failures(loss: Loss) -> Fraction:
    """An upper bound on the probability that any mechanism fails: the sum of the failures."""
    failing = [n * failure for atom, n in loss.terms.items() if (failure := atom.failure())]
    return min(reduce(lambda total, x: shortened(total + x), failing), Fraction(1)) if failing else Fraction(0)


def _tail(excess: float, width: float) -> float:
    """e^(-excess^2 / width), rounded up."""
    if not 0 < excess < math.inf or not width < math.inf:
        return 1.0
    exponent = excess * (excess / width) if width else math.inf
    return max(TINY, math.exp(-exponent * (1 - 2.0**-40)))
