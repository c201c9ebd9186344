r"""The atom of group privacy: what k units together pay for a loss, where no more is known than what one pays.

Theorem (the hybrid sum; Dwork and Roth 2014, theorem 2.2).  Let a mechanism be (e, d)-private for one unit, and let the
tables x_0, ..., x_k differ by one unit each from the next.  For every event S, by induction on k,

    P[M(x_0) in S] <= e^e P[M(x_1) in S] + d <= e^(ke) P[M(x_k) in S] + d (1 + e^e + ... + e^((k-1) e)).

This is true at every e at once, with d = delta(e) the profile of one unit.  So for a group of k

    delta_k(E) <= min over e <= E/k of  delta(e) (e^(ke) - 1) / (e^e - 1),

and an epsilon at delta is k e for any e with delta(e) (e^(ke) - 1) / (e^e - 1) <= delta.  No form of delta(e) is asked
for, so it holds of what fails with some probability, such as (rho, delta)-zCDP, of noise on a sample, of Renyi curves,
of the worst of several losses and of any sum of these: delta(e) is the best that is known of the whole.

The least such e.  It is a fixed point of e -> epsilon(delta (e^e - 1) / (e^(ke) - 1)), epsilon being that of one unit.
The map grows with e, so that iterating it from a point below climbs to its least fixed point, or beyond all bounds.

Divergences that add are summed atom by atom.  With the rule of an atom where it has one, and else: pure losses are
multiplied by k; rho by k^2 (Bun and Steinke 2016, proposition 1.9); a Renyi divergence of order a >= 2 is at most 3^c
times that of order 2^c a for one unit, where 2^c >= k (Mironov 2017, proposition 2), and it grows with the order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ...storage import stored
from ..exact import MANY_ULPS, down, hybrid_sum
from ..search import least_value
from .accountants import failures
from .loss import Atom, Loss

_LEAST = 1e-300  # of delta: below, nothing is sought
_MOST = 700.0  # of epsilon
_PRECISION, _SMALL = 2.0**-12, 2.0**-40  # of epsilon: how well it is found, and how small it is sought


@stored("Grouped", ("of", "k"))
@dataclass(frozen=True)
class Grouped(Atom):
    """k units pay for a loss together."""

    of: Loss
    k: int

    def _each(self) -> Iterator[tuple[Atom, int, Atom | None]]:
        """The atoms, how often each occurs, and what its own rule makes of it, if it has one."""
        for atom, n in self.of.terms.items():
            own = atom.group(self.k)
            yield atom, n, None if isinstance(own, Grouped) else own

    def pure(self) -> Fraction | float:
        if failures(self.of):
            return math.inf
        return sum((n * (own.pure() if own else self.k * atom.pure()) for atom, n, own in self._each()), Fraction(0))

    def concentrated(self) -> float:
        if failures(self.of):
            return math.inf
        each = (n * (own.concentrated() if own else self.k**2 * atom.concentrated()) for atom, n, own in self._each())
        return math.fsum(each) * MANY_ULPS

    def renyi(self, order: float) -> float:
        if failures(self.of):
            return math.inf
        c, at = (self.k - 1).bit_length(), max(order, 2.0)

        def one(atom: Atom, own: Atom | None) -> float:
            doubled = 3.0**c * atom.renyi(2.0**c * at) if c < 512 else math.inf
            return min(doubled, own.renyi(order) if own else self.k**2 * order * atom.concentrated())

        return math.fsum(n * one(atom, own) for atom, n, own in self._each()) * MANY_ULPS

    @property
    def orders(self) -> tuple[float, ...]:
        doubled = 2 ** (self.k - 1).bit_length()
        return tuple(order / doubled for atom in self.of.terms for order in atom.orders if order > doubled)

    def profile(self, epsilon: float) -> float:
        """At e = E/k, as a rule; at less where that leaves a smaller delta, as where what may fail is most of it."""

        def at(each: float) -> float:
            return self.of.delta(Fraction(each)) * hybrid_sum(self.k, each)

        whole = down(Fraction(epsilon) / self.k)
        if self.k * self.of.delta(Fraction(whole)) >= 1:  # which is the least that any e could leave
            return 1.0
        best, inner = at(whole), at(whole * (1 - _PRECISION))
        return min(1.0, best if best <= inner else least_value(lambda share: at(share * whole), 0.0, 1.0))

    def epsilon_at(self, delta: float) -> float:
        """k times the least epsilon of one unit that will do, to a relative 2^-12 and never below."""
        each = 0.0
        while each < _MOST and (left := delta / hybrid_sum(self.k, each)) >= _LEAST:
            found = self.of.epsilon(Fraction(left))
            if found <= each:
                return self.k * each * MANY_ULPS
            each = max(found, each * (1 + _PRECISION), _SMALL)
        return math.inf

    def group(self, k: int) -> Grouped:
        return Grouped(self.of, k * self.k)
