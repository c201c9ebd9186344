"""All views together: the least epsilon or delta that any of them proves, and which one it was."""

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
_POSSIBLE = tuple(view for view in VIEWS if not isinstance(view, Classical | AdvancedExp))  # `Advanced` has less drift
_COINS = tuple(view for view in _POSSIBLE if not isinstance(view, Optimal))  # of which `Optimal` says what `PLD` says
_ALONE = tuple(view for view in _POSSIBLE if not isinstance(view, Optimal | Renyi | PLD))
_NORMAL, _NEARLY_NORMAL = (Zcdp(), GaussianDP()), (Zcdp(), GaussianDP(), Renyi())  # rho says more where sigma is small


@dataclass(frozen=True)
class Bound:
    """What one view proves."""

    view: View[Any]
    epsilon: float


def _contenders(loss: Loss) -> tuple[View[Any], ...]:
    """The views that can win.

    All of them, but where one is exact: the closed form of normal noise, or the profile of one mechanism.  That exact
    sums of pairs come last to none is no reason to ask nothing else: they give up where floats do.
    """
    if all(isinstance(atom, GaussianNoise) for atom in loss.terms):
        return _NORMAL
    if all(isinstance(atom, GaussianNoise | DiscreteGaussianVector) for atom in loss.terms):
        return _NEARLY_NORMAL
    if sum(loss.terms.values()) == 1 and all(atom.determined_by_pairs for atom in loss.terms):
        return _ALONE
    return _COINS if all(type(atom) is Pure for atom in loss.terms) else _POSSIBLE


def best(loss: Loss, delta: Number) -> Bound:
    """The view that proves the least epsilon."""
    d = failure("delta", delta)
    return min((Bound(view, view.epsilon(loss, d)) for view in _contenders(loss)), key=lambda a: a.epsilon)


def least_delta(loss: Loss, epsilon: Number) -> float:
    """The least delta, to a relative 2^-40 and never below, at which some view proves epsilon."""
    e = rational("epsilon", epsilon)
    if e < 0:
        raise BadParameter("epsilon", epsilon, "at least 0")
    target = down(e)
    fails = failures(loss)
    if Basic().total(loss) <= e:
        return up(fails)
    found = min(view.delta(view.total(loss), target) for view in _contenders(loss)) if loss.terms else 0.0
    return min(1.0, found if not fails else up(1 - (1 - fails) * (1 - Fraction(found))))


def table(loss: Loss, delta: Number) -> str:
    """Every view's epsilon with its theorem; the winner is starred."""
    d = failure("delta", delta)
    bounds = [Bound(view, view.epsilon(loss, d)) for view in VIEWS]
    winner = min(bounds, key=lambda a: a.epsilon)
    rows = [
        f"{'*' if a is winner and a.epsilon < math.inf else ' '} {a.view.name:<18}{from_above(a.epsilon):>14}"
        f"  {a.view.theorem}"
        for a in bounds
    ]
    return "\n".join([f"  {'view':<18}{'epsilon':>14}  theorem, at delta = {float(d):g}", *rows])
