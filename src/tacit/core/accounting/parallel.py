"""The atom of parallel composition: the worst of several losses (McSherry, SIGMOD 2009, theorem 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ...storage import stored
from ..exact import FEW_ULPS, up
from ..pld.dominating_pairs import Pair
from .accountants import Basic, Zcdp, failures
from .loss import Atom, Concentrated, Loss, Pure


@stored("Worst", ("losses",))
@dataclass(frozen=True)
class Worst(Atom):
    """The worst of several losses: each unit lies in one part of the data and pays the loss of that part."""

    losses: frozenset[Loss]

    def pure(self) -> Fraction | float:
        return max(Basic().total(loss) for loss in self.losses)

    def concentrated(self) -> float:
        return max(float(Zcdp().total(loss)[0]) for loss in self.losses)

    def renyi(self, order: float) -> float:
        totals = (math.fsum(n * atom.renyi(order) for atom, n in loss.terms.items()) for loss in self.losses)
        return max(totals) * FEW_ULPS

    def profile(self, epsilon: float) -> float:
        """The largest delta; a loss that fails with probability f counts with the rest, (delta - f) / (1 - f)."""
        deltas = ((Fraction(loss.delta(Fraction(epsilon))), failures(loss)) for loss in self.losses)
        return max(up((delta - f) / (1 - f)) if f < 1 else 1.0 for delta, f in deltas)

    def epsilon_at(self, delta: float) -> float:
        """The largest epsilon, where each loss may fail with its own probability f besides."""
        allowed = ((loss, failures(loss)) for loss in self.losses)
        return max(loss.epsilon(f + (1 - f) * Fraction(delta)) if f < 1 else math.inf for loss, f in allowed)

    def failure(self) -> Fraction:
        return max(failures(loss) for loss in self.losses)

    def pairs(self, spacing: float) -> tuple[Pair, ...]:
        """The pairs of a lone mechanism; of several, the largest curve may have no known pair."""
        uses = [use for loss in self.losses for use in loss.terms.items()]
        return uses[0][0].pairs(spacing) if [n for _, n in uses] == [1] else ()

    @property
    def orders(self) -> tuple[float, ...]:
        return tuple(order for loss in self.losses for atom in loss.terms for order in atom.orders)

    @property
    def max_loss(self) -> float:
        return max(atom.max_loss for loss in self.losses for atom in loss.terms)

    def group(self, k: int) -> Atom:
        """The units may lie in any parts, so only bounds that go one unit at a time hold."""
        pure, rho = self.pure(), self.concentrated()
        if k == 1:
            return self
        if self.failure() or pure == rho == math.inf:
            from .grouped import Grouped  # imported here, as it builds on losses

            return Grouped(Loss({self: 1}), k)
        return Pure(k * Fraction(pure)) if pure < math.inf else Concentrated(k * k * Fraction(rho))
