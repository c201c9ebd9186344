"""The least epsilon or delta that any view proves, and the view that proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadParameter
from ..exact import down, from_above, up
from ..parameters import Number, failure, rational
from .accountants import (
    PLD,
    Advanced,
    AdvancedExp,
    Basic,
    Classical,
    GaussianDP,
    Optimal,
    Profile,
    Renyi,
    View,
    Zcdp,
    failures,
)
from .atoms import DiscreteGaussianVector, GaussianNoise
from .loss import Loss, Pure

VIEWS: tuple[View[Any], ...] = (
    Basic(), Classical(), AdvancedExp(), Advanced(), Optimal(), Zcdp(), Renyi(), GaussianDP(), Profile(), PLD(),
)  # fmt: skip
_GENERAL = tuple(view for view in VIEWS if not isinstance(view, Classical | AdvancedExp))  # `Advanced` has less drift
_FOR_COINS = tuple(view for view in _GENERAL if not isinstance(view, Optimal))  # `Optimal` proves what `PLD` proves
_FOR_ONE_USE = tuple(view for view in _GENERAL if not isinstance(view, Optimal | Renyi | PLD))
_FOR_NORMAL, _FOR_NEARLY_NORMAL = (Zcdp(), GaussianDP()), (Zcdp(), GaussianDP(), Renyi())  # rho wins at small sigma


@dataclass(frozen=True)
class Bound:
    """An epsilon, and the view whose theorem proves it."""

    view: View[Any]
    epsilon: float


def _contenders(loss: Loss) -> tuple[View[Any], ...]:
    """The views that can prove the least epsilon.

    These are all views, except where one is exact: the closed form of normal noise, or the profile of one mechanism.
    Sums of pairs are exact too, but they give up where floats do, so the other views stay.
    """
    if all(isinstance(atom, GaussianNoise) for atom in loss.terms):
        return _FOR_NORMAL
    if all(isinstance(atom, GaussianNoise | DiscreteGaussianVector) for atom in loss.terms):
        return _FOR_NEARLY_NORMAL
    if sum(loss.terms.values()) == 1 and all(atom.determined_by_pairs for atom in loss.terms):
        return _FOR_ONE_USE
    return _FOR_COINS if all(type(atom) is Pure for atom in loss.terms) else _GENERAL


def best(loss: Loss, delta: Number) -> Bound:
    """The least epsilon that any view proves at delta, with its view."""
    d = failure("delta", delta)
    return min((Bound(view, view.epsilon(loss, d)) for view in _contenders(loss)), key=lambda a: a.epsilon)


def proves(loss: Loss, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the least epsilon at delta is at most this one; the first view that proves so is enough."""
    return any(view.guarantees(loss, down(epsilon), delta) for view in _contenders(loss))


def least_delta(loss: Loss, epsilon: Number) -> float:
    """The least delta, to a relative 2^-40 and never below, at which some view proves epsilon."""
    e = rational("epsilon", epsilon)
    if e < 0:
        raise BadParameter("epsilon", epsilon, "at least 0")
    target = down(e)
    fails = failures(loss)
    if Basic().total(loss) <= e:
        return up(fails)
    least = min(view.delta(view.total(loss), target) for view in _contenders(loss)) if loss.terms else 0.0
    return min(1.0, least if not fails else up(1 - (1 - fails) * (1 - Fraction(least))))


def table(loss: Loss, delta: Number) -> str:
    """A table of every view's epsilon with its theorem; a star marks the least."""
    d = failure("delta", delta)
    bounds = [Bound(view, view.epsilon(loss, d)) for view in VIEWS]
    winner = min(bounds, key=lambda a: a.epsilon)
    rows = [
        f"{'*' if a is winner and a.epsilon < math.inf else ' '} {a.view.name:<18}{from_above(a.epsilon):>14}"
        f"  {a.view.theorem}"
        for a in bounds
    ]
    return "\n".join([f"  {'view':<18}{'epsilon':>14}  theorem, at delta = {float(d):g}", *rows])
