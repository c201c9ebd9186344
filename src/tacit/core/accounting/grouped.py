r"""The atom of group privacy: the loss of k units together, from the loss of one unit alone.

Theorem (the hybrid sum; Dwork and Roth 2014, theorem 2.2).  Let a mechanism be (e, d)-private for one unit, and let the
tables x_0, ..., x_k differ by one unit each from the next.  For every event S, by induction on k,

    P[M(x_0) in S] <= e^e P[M(x_1) in S] + d <= e^(ke) P[M(x_k) in S] + d (1 + e^e + ... + e^((k-1) e)).

The bound holds at every e at once, with d = delta(e) the profile of one unit.  So for a group of k

    delta_k(E) <= min over e <= E/k of  delta(e) (e^(ke) - 1) / (e^e - 1),

and an epsilon at delta is k e for any e with delta(e) (e^(ke) - 1) / (e^e - 1) <= delta.  The theorem asks for no form
of delta(e), so it covers losses that fail with some probability, such as (rho, delta)-zCDP, noise on a sample, Renyi
curves, the worst of several losses, and any sum of these: delta(e) is the best bound on the whole.

The least such e is a fixed point of e -> epsilon(delta (e^e - 1) / (e^(ke) - 1)), where epsilon(.) is that of one unit.
The map grows with e, so iterating it from a point below climbs to its least fixed point, or beyond all bounds.

Divergences that add are summed atom by atom, by the group rule of the atom if it has one.  If not, pure losses are
multiplied by k and rho by k^2 (Bun and Steinke 2016, proposition 1.9); a Renyi divergence of order a >= 2 is at most
3^c times the divergence of order 2^c a for one unit, where 2^c >= k (Mironov 2017, proposition 2), and grows with the
order.
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

_LEAST_DELTA = 1e-300  # for which an epsilon is sought
_MAX_EPSILON = 700.0
_PRECISION, _LEAST_EPSILON = 2.0**-12, 2.0**-40  # of the search for an epsilon


@stored("Grouped", ("of", "k"))
@dataclass(frozen=True)
class Grouped(Atom):
    """The loss `of` one unit, for a group of k units."""

    of: Loss
    k: int

    def _each(self) -> Iterator[tuple[Atom, int, Atom | None]]:
        """Each atom, how often it occurs, and the atom of the group by its own rule, or None."""
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
        """The bound at e = E/k as a rule, or at a smaller e if delta is then smaller, as where failures dominate."""

        def at(each: float) -> float:
            return self.of.delta(Fraction(each)) * hybrid_sum(self.k, each)

        largest = down(Fraction(epsilon) / self.k)
        if self.k * self.of.delta(Fraction(largest)) >= 1:  # a lower bound over all e
            return 1.0
        best, inner = at(largest), at(largest * (1 - _PRECISION))
        return min(1.0, best if best <= inner else least_value(lambda share: at(share * largest), 0.0, 1.0))

    def epsilon_at(self, delta: float) -> float:
        """k times the least sufficient epsilon of one unit, to a relative 2^-12 and never below."""
        each = 0.0
        while each < _MAX_EPSILON and (left := delta / hybrid_sum(self.k, each)) >= _LEAST_DELTA:
            needed = self.of.epsilon(Fraction(left))
            if needed <= each:
                return self.k * each * MANY_ULPS
            each = max(needed, each * (1 + _PRECISION), _LEAST_EPSILON)
        return math.inf

    def group(self, k: int) -> Grouped:
        return Grouped(self.of, k * self.k)
