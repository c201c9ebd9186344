r"""Parallel composition: mechanisms run on disjoint parts of the data.

Theorem (McSherry 2009, theorem 4).  Let every unit live in one part, which depends on nothing but that unit's own data.
A unit that is added or removed changes one part; the outputs on the other parts have the same law on both neighbours
and cancel from every likelihood ratio.  So each divergence of the whole is that of one part, and at most the largest.

Under substitution a unit may leave one part and enter another.  Then two parts change, one by a removal and one by an
addition; or one part, by both.  So the theorem needs the loss of each part under ADD_REMOVE: a loss under SUBSTITUTE
does not cover a part whose size changes.  The loss of the whole is the worst of all sums of two parts and all groups of
two units.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

from ..core.accounting.accountants import Basic, failures
from ..core.accounting.atoms import (
    Approximate,
    ApproximateConcentrated,
    DiscreteGaussianVector,
    GaussianNoise,
    GaussianPrivacy,
    LaplaceNoise,
    RenyiCurve,
)
from ..core.accounting.loss import Atom, BoundedRange, Concentrated, Loss, Pure
from ..core.accounting.parallel import Worst
from ..core.distance import ADD_REMOVE, AddRemove, Neighbours, Substitute
from ..core.errors import BadParameter

# The group loss of these atoms covers k units in any parts: each is a guarantee about the whole output.
_GROUPS_ACROSS_PARTS = (
    Pure, BoundedRange, Concentrated, Approximate, ApproximateConcentrated, RenyiCurve, GaussianNoise,
    GaussianPrivacy, DiscreteGaussianVector,
)  # fmt: skip


def parallel(*losses: Loss, relation: Neighbours = ADD_REMOVE) -> Loss:
    """The loss, under `relation`, of mechanisms on disjoint parts; each has its own loss under ADD_REMOVE."""
    for loss in losses:
        part: object = loss
        if not isinstance(part, Loss) or isinstance(part.relation, Substitute):
            raise BadParameter("losses", loss, "losses under ADD_REMOVE, since a unit may leave or enter a part")
    parts = Counter(Loss(loss.terms) for loss in losses)
    if isinstance(relation, Substitute):
        two = [a + b for a, b in combinations(parts, 2)] + [2 * a for a, n in parts.items() if n > 1]
        parts = Counter([*two, *(a.group(2) for a in parts)])
    elif not isinstance(relation, AddRemove):
        raise BadParameter("relation", relation, "ADD_REMOVE or SUBSTITUTE")
    worst, units = list[Loss](), max((loss.units for loss in losses), default=1)
    for one in parts:
        if not any(covers(other, one) for other in worst):
            worst = [other for other in worst if not covers(one, other)] + [one]
    if len(worst) > 1:
        return Loss({Worst(frozenset(worst)): 1}, relation, units)
    terms = worst[0].terms.items() if worst else ()
    atoms = {a if type(a) in _GROUPS_ACROSS_PARTS else Worst(frozenset([Loss({a: 1})])): n for a, n in terms}
    return Loss(atoms, relation, units)


def covers(a: Loss, b: Loss) -> bool:
    """Whether every bound on `a` holds for `b`; False where that does not follow from simple comparisons."""
    if all(a.terms.get(atom, 0) >= n for atom, n in b.terms.items()):
        return True
    for kinds, size in (((GaussianNoise, GaussianPrivacy), "mu_squared"), ((Concentrated,), "rho")):  # sizes add
        if all(type(atom) in kinds for atom in (*a.terms, *b.terms)):
            return _sum(b, size) <= _sum(a, size)
    if len(a.terms) != 1:
        return False
    ((one, n),) = a.terms.items()
    if type(one) is Pure and not failures(b) and Basic().total(b) <= one.epsilon:
        return True  # a coin dominates every loss of its epsilon
    return n >= sum(b.terms.values()) and all(_as_bad(one, atom) for atom in b.terms)


def _sum(loss: Loss, size: str) -> Fraction:
    return sum((n * getattr(atom, size) for atom, n in loss.terms.items()), Fraction(0))


def _as_bad(a: Atom, b: Atom) -> bool:
    if type(a) is Pure:
        return not b.failure() and b.pure() <= a.epsilon
    if isinstance(a, LaplaceNoise | BoundedRange) and isinstance(b, LaplaceNoise | BoundedRange):
        return type(a) is type(b) and b.epsilon <= a.epsilon  # a shorter shift of the same noise, a narrower range
    if isinstance(a, DiscreteGaussianVector) and isinstance(b, DiscreteGaussianVector):
        ratio = b.sigma2 / a.sigma2  # smoothing takes a smaller share of wider noise
        return ratio >= 1 and b.rho <= a.rho and b.moved <= ratio * a.moved
    return a == b
