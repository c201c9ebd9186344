r"""The atom of a batch: mechanisms declared in advance, composed by their privacy loss distribution.

A composed distribution is no filter (`currency.py`), so a ledger cannot add up purchases by it.  A batch whose
mechanisms are all fixed before any of them is drawn is one mechanism, though, and the least epsilon at delta that is
proved of their composition is its epsilon, except with probability delta.  The ledger adds that.

Noises with Gaussian privacy are first joined into one, of the sum of their mu^2, which is exact (Dong, Roth, Su 2022).
What else there is, is composed exactly where it is of few kinds, and by Renyi divergences where it is of many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...storage import stored
from .accountants import Basic, GaussianDP, Renyi
from .atoms import GaussianPrivacy
from .best_bound import best
from .loss import Atom, Loss, Pure

_FEW = 6  # different atoms whose losses are composed exactly: more would take seconds


def composed_epsilon(loss: Loss, delta: Fraction) -> float:
    """The least epsilon at delta that is proved of mechanisms fixed in advance."""
    few = [each for each in (_joined(loss), loss) if len(each.terms) <= _FEW]
    return min((best(each, delta).epsilon for each in dict.fromkeys(few)), default=_quickly(loss, delta))


def _joined(loss: Loss) -> Loss:
    """The loss with all of its Gaussian noises as one atom."""
    normal = {atom: n for atom, n in loss.terms.items() if atom.gaussian() < math.inf and not atom.failure()}
    if len(normal) < 2:
        return loss
    square = GaussianDP().total(Loss(normal))
    others = {atom: n for atom, n in loss.terms.items() if atom not in normal}
    return Loss({**others, GaussianPrivacy(Fraction(square)): 1}, loss.relation)


def _quickly(loss: Loss, delta: Fraction) -> float:
    """An epsilon by sums that take no time, whatever the atoms are."""
    return min(view.epsilon(each, delta) for view in (Basic(), Renyi()) for each in (loss, _joined(loss)))


@stored("Batch", ("of", "delta"))
@dataclass(frozen=True)
class Batch(Atom):
    """The loss `of` mechanisms that were declared in advance, as the epsilon that it has at delta."""

    of: Loss
    delta: Fraction

    @cached_property
    def _pure(self) -> Pure | None:
        epsilon = composed_epsilon(self.of, self.delta)
        return Pure(Fraction(epsilon)) if epsilon < math.inf else None

    def pure(self) -> Fraction | float:
        return math.inf if self._pure is None else self._pure.epsilon

    def concentrated(self) -> float:
        return math.inf if self._pure is None else self._pure.concentrated()

    def renyi(self, order: float) -> float:
        return math.inf if self._pure is None else self._pure.renyi(order)

    def profile(self, epsilon: float) -> float:
        return 1.0 if self._pure is None else self._pure.profile(epsilon)

    def failure(self) -> Fraction:
        return self.delta

    def group(self, k: int) -> Atom:
        from .grouped import Grouped  # imported here, as it builds on losses

        return self if k == 1 else Grouped(Loss({self: 1}), k)
