"""Accounting: homomorphisms from losses to monoids, and what an element of each monoid proves.

Counting happens once, in `View.total`.  Every view's epsilon is a true upper bound, infinite where the view knows
nothing, so the least is true too.  Conversions round outward.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import BadParameter
from .exact import Number, down, rational, up
from .loss import Atom, Loss

T = TypeVar("T")
Curve = NDArray[np.float64]
ORDERS: Curve = np.concatenate([1 + np.geomspace(2.0**-10, 1, 80)[:-1], np.geomspace(2, 2.0**20, 400)])
_ULPS = 1 + 2.0**-48


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

    def epsilon(self, loss: Loss, delta: float) -> float:
        return self.proves(self.total(loss), delta) if loss.terms else 0.0


class Basic(View[Fraction | float]):
    """Pure losses add, exactly."""

    name, theorem = "basic", "epsilons add (Dwork et al. 2006; Dwork and Roth, Theorem 3.14)"
    nothing: Fraction | float = Fraction(0)

    def of(self, atom: Atom) -> Fraction | float:
        return atom.pure()

    def both(self, a: Fraction | float, b: Fraction | float) -> Fraction | float:
        return a + b if isinstance(a, Fraction) and isinstance(b, Fraction) else math.inf

    def times(self, n: int, a: Fraction | float) -> Fraction | float:
        return n * a

    def proves(self, total: Fraction | float, delta: float) -> float:
        return up(total) if isinstance(total, Fraction) else math.inf


class Curves(View[Curve]):
    """Views in which losses are vectors and add coordinate by coordinate."""

    def both(self, a: Curve, b: Curve) -> Curve:
        return (a + b) * _ULPS

    def times(self, n: int, a: Curve) -> Curve:
        return n * a * _ULPS


class Advanced(Curves):
    """Sums of epsilon tanh(epsilon/2) and of epsilon^2."""

    name, theorem = "advanced", "drift + sqrt(2 ln(1/delta) sum eps^2) (Kairouz, Oh, Viswanath 2015; Azuma)"
    nothing = np.zeros(2)

    def of(self, atom: Atom) -> Curve:
        e = float(atom.pure())
        return np.array([e * math.tanh(e / 2), e * e]) * _ULPS if math.isfinite(e) else np.full(2, math.inf)

    def proves(self, total: Curve, delta: float) -> float:
        drift, square = map(float, total)
        return (drift + math.sqrt(2 * square * math.log(1 / delta))) * _ULPS if delta else math.inf


class Zcdp(Curves):
    """Concentrated losses add."""

    name, theorem = "zCDP", "rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016, Proposition 1.3)"
    nothing = np.zeros(1)

    def of(self, atom: Atom) -> Curve:
        return np.array([atom.concentrated()])

    def proves(self, total: Curve, delta: float) -> float:
        rho = float(total[0])
        return (rho + 2 * math.sqrt(rho * math.log(1 / delta))) * _ULPS if delta else math.inf


class Renyi(Curves):
    """Renyi divergences add, order by order."""

    name, theorem = "Renyi", "inf over orders (Canonne, Kamath, Steinke 2020, Proposition 12)"
    nothing = np.zeros_like(ORDERS)

    def of(self, atom: Atom) -> Curve:
        return np.array([atom.renyi(order) for order in ORDERS])

    def proves(self, total: Curve, delta: float) -> float:
        if not delta:
            return math.inf
        epsilons = total + np.log1p(-1 / ORDERS) - np.log(delta * ORDERS) / (ORDERS - 1)
        return max(0.0, float(np.min(epsilons)) + 2.0**-44)


class Alone(View[Loss]):
    """One mechanism, used once, by its own privacy profile."""

    name, theorem = "profile", "exact hockey-stick divergence of the one mechanism used"
    nothing = Loss()

    def of(self, atom: Atom) -> Loss:
        return Loss({atom: 1})

    def both(self, a: Loss, b: Loss) -> Loss:
        return a + b

    def times(self, n: int, a: Loss) -> Loss:
        return n * a

    def proves(self, total: Loss, delta: float) -> float:
        if sum(total.terms.values()) != 1 or not delta:
            return math.inf
        (atom,) = total.terms
        return _least(lambda e: atom.profile(e) <= delta, 2.0**-30, 2.0**12)


VIEWS: tuple[View[Any], ...] = (Basic(), Advanced(), Zcdp(), Renyi(), Alone())


@dataclass(frozen=True)
class Answer:
    """What one view proves."""

    view: View[Any]
    epsilon: float


def _least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The least float in [0, high], to a relative 2^-40 and never below, at which a monotone condition holds."""
    if holds(0.0):
        return 0.0
    if not holds(high):
        return math.inf
    while high - low > high * 2.0**-40:
        middle = math.sqrt(low * high) if high > 4 * low else (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _delta(delta: Number) -> float:
    d = rational("delta", delta)
    if not 0 <= d < 1:
        raise BadParameter("delta", delta, "at least 0 and below 1")
    return down(d)


def best(loss: Loss, delta: Number) -> Answer:
    """The view that proves the least epsilon."""
    d = _delta(delta)
    return min((Answer(view, view.epsilon(loss, d)) for view in VIEWS), key=lambda a: a.epsilon)


def least_delta(loss: Loss, epsilon: Number) -> float:
    """The least delta, to a relative 2^-40 and never below, at which some view proves epsilon."""
    e = rational("epsilon", epsilon)
    if e < 0:
        raise BadParameter("epsilon", epsilon, "at least 0")
    target = down(e)
    totals = [(view, view.total(loss)) for view in VIEWS]
    found = _least(lambda d: any(v.proves(t, d) <= target for v, t in totals), 2.0**-1000, 1 - 2.0**-53)
    return min(found, 1.0)


def table(loss: Loss, delta: Number) -> str:
    """Every view's epsilon with its theorem; the winner is starred."""
    d = _delta(delta)
    answers = [Answer(view, view.epsilon(loss, d)) for view in VIEWS]
    winner = min(a.epsilon for a in answers)
    rows = [
        f"{'*' if a.epsilon == winner else ' '} {a.view.name:<10}{a.epsilon:>14.6g}  {a.view.theorem}" for a in answers
    ]
    return "\n".join([f"  {'view':<10}{'epsilon':>14}  theorem, at delta = {d:g}", *rows])
