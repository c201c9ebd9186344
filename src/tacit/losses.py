r"""The loss of a mechanism of your own, from what is proved about it, and amplification by sampling.

A proof of                               becomes a `Loss` by
    epsilon                              pure
    epsilon and delta                    approximate
    ln P/Q within a range of epsilon     bounded_range
    rho, and perhaps a delta             concentrated
    mu                                   gaussian
    Renyi divergences at some orders     renyi_curve
    two laws that dominate it            dominating_pair
    its laws on all neighbours           exact_law

These losses add up, are converted, charged and explained like the losses of built-in mechanisms.  `poisson_sample` and
`fixed_size_sample` give the loss of any mechanism that sees a random part of the table
(`core/accounting/listed.py` has the theorems).

Nothing here can check that a claim holds for a program: a claim is only as good as its proof.  `exact_law` and
`tacit.laws` check a claim on small universes, and `tacit.audit.estimate` by sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from .core.accounting.atoms import Approximate, ApproximateConcentrated, GaussianPrivacy, RenyiCurve
from .core.accounting.grouped import Grouped
from .core.accounting.listed import FinitePair, FixedSizeSample
from .core.accounting.listed import poisson_sample as _poisson_atom
from .core.accounting.loss import Atom, BoundedRange, Concentrated, Loss, Pure
from .core.distance import ADD_REMOVE, SUBSTITUTE, AddRemove, Neighbours, Substitute
from .core.errors import BadParameter
from .core.exact import down, up
from .core.law import Law, outcomes, rounding
from .core.parameters import Number, failure, instance, kind_of, positive, rational, several, whole
from .core.pld.envelope import MassPairs, envelope

__all__ = [
    "approximate",
    "bounded_range",
    "concentrated",
    "dominating_pair",
    "exact_law",
    "fixed_size_sample",
    "gaussian",
    "poisson_sample",
    "pure",
    "renyi_curve",
]

ORDERS = (1.125, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
_TAIL = 1e-40  # of a law on infinitely many outcomes; counts as an infinite loss
_MAX_MISSING = Fraction(1, 10**12)  # mass of a law that is not a mapping; counts as an infinite loss
_MAX_OUTCOMES = 1 << 16


def _of(atom: Atom, relation: Neighbours | None) -> Loss:
    given: object = relation
    if given is not None and not isinstance(given, Neighbours):
        raise BadParameter("relation", kind_of(given), "ADD_REMOVE or SUBSTITUTE")
    return Loss({atom: 1}, relation)


def pure(epsilon: Number, *, relation: Neighbours | None = None) -> Loss:
    """The loss of epsilon-differential privacy."""
    return _of(Pure(positive("epsilon", epsilon)), relation)


def approximate(epsilon: Number, delta: Number, *, relation: Neighbours | None = None) -> Loss:
    """The loss of (epsilon, delta)-differential privacy; epsilon may be 0."""
    e, d = rational("epsilon", epsilon), failure("delta", delta)
    if e < 0:
        raise BadParameter("epsilon", epsilon, "at least 0")
    if not d:
        return _of(Pure(e), relation) if e else Loss({}, relation)
    return _of(Approximate(e, d), relation)


def bounded_range(epsilon: Number, *, relation: Neighbours | None = None) -> Loss:
    """The loss of bounded range: ln P(y)/Q(y) lies in an interval of length epsilon (Durfee and Rogers 2019)."""
    return _of(BoundedRange(positive("epsilon", epsilon)), relation)


def concentrated(rho: Number, delta: Number = 0, *, relation: Neighbours | None = None) -> Loss:
    """The loss of rho-zCDP or, with a delta, of (rho, delta)-zCDP (Bun and Steinke 2016)."""
    r, d = positive("rho", rho), failure("delta", delta)
    return _of(ApproximateConcentrated(r, d) if d else Concentrated(r), relation)


def gaussian(mu: Number, *, relation: Neighbours | None = None) -> Loss:
    """The loss of mu-GDP: no easier to distinguish than two normal laws mu deviations apart (Dong, Roth, Su 2022)."""
    return _of(GaussianPrivacy(positive("mu", mu) ** 2), relation)


def renyi_curve(
    divergences: Mapping[Any, Number] | Callable[[float], float],
    orders: Iterable[Number] = ORDERS,
    *,
    relation: Neighbours | None = None,
) -> Loss:
    """The loss of a Renyi curve: bounds in both directions at orders above 1, as {order: divergence} or a function.

    A Renyi divergence never falls as the order grows, so the values must not; between two orders the value at the
    larger one counts.
    """
    if isinstance(divergences, Mapping):
        curve = dict(divergences)
    elif callable(divergences):
        at_orders = several("orders", orders, lambda _, order: order)
        curve = {order: divergences(float(rational("order", order))) for order in at_orders}
    else:
        raise BadParameter("divergences", type(divergences).__name__, "a mapping from orders, or a function of one")
    if not curve:
        raise BadParameter("divergences", "none", "given at one order or more")
    points = sorted(((rational("order", order), order) for order in curve), key=lambda point: point[0])
    bounds: list[tuple[float, float]] = []
    before, last = Fraction(0), Fraction(0)
    for at, order in points:
        value = curve[order]
        if at <= 1:
            raise BadParameter("order", order, "above 1; a Renyi curve is stated at orders above 1")
        if at == last:
            raise BadParameter("order", order, "given once, though it may be written in two ways")
        last = at
        name = f"the divergence of order {order}"
        divergence = rational(name, value)
        if divergence < 0:
            raise BadParameter(name, value, "at least 0")
        if divergence < before:
            raise BadParameter(
                name,
                value,
                "no less than that of a smaller order",
                says=f"A Renyi divergence never falls as its order grows, but {name} is {float(divergence):g} and that"
                f" of a smaller order is {float(before):g}.",
            )
        before = divergence
        bounds.append((down(at), up(divergence)))
    return _of(RenyiCurve(tuple(bounds)), relation) if before else Loss({}, relation)


def dominating_pair(
    p: Mapping[Any, Number] | Sequence[Number], q: Mapping[Any, Number] | Sequence[Number], *, relation: Neighbours
) -> Loss:
    """The loss of a dominating pair: two laws with hockey-stick divergences at least those on any neighbours.

    Give both laws on the same outcomes, as mappings or as lists in the same order.  Under ADD_REMOVE, p is the law for
    the table with a record and q the law without it; under SUBSTITUTE the pair must cover both orders of neighbours,
    and is read in both.
    """
    _relation(relation)
    one, other = _masses("p", p), _masses("q", q)
    if one.keys() != other.keys():
        raise BadParameter(
            "q",
            f"{len(other)} outcomes",
            "on the outcomes of p",
            says="The two laws of a dominating pair must be given on the same outcomes; write 0 where one of them has"
            f" none. p has {len(one)}, q has {len(other)}, and {len(one.keys() & other.keys())} are common.",
        )
    return _finite([[(one[y], other[y]) for y in one]], relation)


def exact_law(
    pairs: Iterable[tuple[Law | Mapping[Any, Number], Law | Mapping[Any, Number]]], *, relation: Neighbours
) -> Loss:
    """The loss of a mechanism whose laws on all neighbouring tables are these pairs: the worst of them, exactly.

    Under ADD_REMOVE each pair is (with a record, without it), and both directions count; under SUBSTITUTE each pair
    counts in both orders.  `tacit.laws.neighbours` lists the tables of a small universe.
    """
    _relation(relation)
    given: object = pairs
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise BadParameter("pairs", kind_of(given), "a list of pairs of laws, one for each of two neighbouring tables")
    listed = [_common(*_two(pair)) for pair in given]
    if not listed:
        raise BadParameter("pairs", "none", "one pair of neighbouring laws or more")
    return _finite(listed, relation)


def poisson_sample(loss: Loss, rate: Number) -> Loss:
    """The loss of a mechanism on a Poisson sample: each record is drawn with probability `rate`, independently.

    Neighbours differ by a record added or removed (ADD_REMOVE).  `loss` is the loss of one mechanism, used once, for
    ONE record; for n uses, each on a fresh sample, take n times the result.  For a group of k take
    `poisson_sample(loss, rate).group(k)` and nothing else: any of k records is drawn with chance 1 - (1 - rate)^k.
    """
    atom = _one_use(loss)
    if isinstance(loss.relation, Substitute):
        raise BadParameter(
            "loss",
            loss.relation,
            "stated under ADD_REMOVE",
            says="Poisson sampling amplifies a loss under ADD_REMOVE, but this one is stated under SUBSTITUTE. State it"
            " under ADD_REMOVE, or sample a fixed number of records with fixed_size_sample.",
        )
    r = _rate(rate)
    return Loss({atom if r == 1 else _poisson_atom(atom, r): 1}, ADD_REMOVE)


def fixed_size_sample(loss: Loss, size: int, n: int) -> Loss:
    """The loss of a mechanism on `size` of the n records, drawn without replacement, n public.

    Neighbours differ by a record substituted (SUBSTITUTE).  `loss` is the loss of one mechanism, used once, for ONE
    record; for several uses, each on a fresh sample, take so many times the result.  For a group of k take
    `fixed_size_sample(loss, size, n).group(k)` and nothing else: any of k records is drawn more often than one is.
    """
    atom = _one_use(loss)
    if isinstance(loss.relation, AddRemove):
        raise BadParameter(
            "loss",
            loss.relation,
            "stated under SUBSTITUTE",
            says="A sample of fixed size amplifies a loss under SUBSTITUTE, where the number of records is public, but"
            " this one is stated under ADD_REMOVE. State it under SUBSTITUTE, or use poisson_sample.",
        )
    if whole("size", size) > whole("n", n):
        raise BadParameter("size", size, f"at most n ({n})")
    rate = Fraction(size, n)
    if rate == 1:
        return Loss({atom: 1}, SUBSTITUTE)
    of = atom.poisson if isinstance(atom, FixedSizeSample) else atom  # a sample of a sample is a sample
    return Loss({FixedSizeSample(_poisson_atom(of, rate)): 1}, SUBSTITUTE)


def _one_use(loss: Loss) -> Atom:
    instance("loss", loss, Loss)
    if list(loss.terms.values()) != [1]:
        raise BadParameter(
            "loss",
            loss,
            "of one mechanism, used once",
            says="The theorem on sampling is about one mechanism that is used once on its sample; this loss has"
            f" {sum(loss.terms.values())} uses. Sample each of them anew and add the results, or give the dominating"
            " pair of all of them together.",
        )
    atom = next(iter(loss.terms))
    if loss.units > 1 or isinstance(atom, Grouped):
        raise BadParameter(
            "loss",
            loss,
            "of one record",
            says="Sampling amplifies the loss of one record, but this is the loss of a group, and a sample holds some"
            " member of a group more often. Sample first, then group: take .group(k) of the sampled loss.",
        )
    return atom


def _rate(rate: Number) -> Fraction:
    r = rational("rate", rate)
    if not 0 < r <= 1:
        raise BadParameter("rate", rate, "above 0 and at most 1")
    return r


def _relation(relation: Neighbours) -> None:
    if not isinstance(relation, AddRemove | Substitute):
        raise BadParameter("relation", relation, "ADD_REMOVE or SUBSTITUTE")


def _masses(name: str, law: Any) -> dict[Any, Fraction]:
    """Masses as exact numbers that sum to 1; floats are read as written, and their rounding is normalised away."""
    if isinstance(law, Mapping):
        listed = dict(law)
    elif isinstance(law, Iterable) and not isinstance(law, str | bytes):
        listed = dict(enumerate(law))
    else:
        raise BadParameter(name, type(law).__name__, "a law: masses by outcome, or a list of masses")
    masses = {y: rational(f"a mass of {name}", mass) for y, mass in listed.items()}
    if any(mass < 0 for mass in masses.values()):
        raise BadParameter(f"a mass of {name}", float(min(masses.values())), "at least 0")
    total = sum(masses.values(), Fraction(0))
    if abs(total - 1) > rounding(listed.values()):
        raise BadParameter(
            name,
            float(total),
            "masses that sum to 1",
            says=f"The masses of {name} must sum to 1; they sum to {float(total):.12g}, off by {float(total - 1):.2g}.",
        )
    return {y: mass / total for y, mass in masses.items()}


def _two(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise BadParameter("pairs", type(pair).__name__, "pairs of laws, one for each of two neighbouring tables")
    return pair[0], pair[1]


def _common(p: Any, q: Any) -> MassPairs:
    """The masses of two laws on the outcomes of both; mass beyond a listed support counts as an infinite loss."""
    first, second = (_law(law) for law in (p, q))
    both = [*dict.fromkeys([*first.points, *second.points])]
    one, other = ([law.mass(y) for y in both] for law in (first, second))
    beyond, unseen = (_unlisted(law, masses) for law, masses in ((first, one), (second, other)))
    sums = [sum(masses, Fraction(0)) + more for masses, more in ((one, beyond), (other, unseen))]
    pairs = [*zip(one, other, strict=True), (beyond, Fraction(0)), (Fraction(0), unseen)]
    return [(x / sums[0], y / sums[1]) for x, y in pairs]


class _Listed(NamedTuple):
    """A law by a list of outcomes, its mass function, and whether it has no other outcomes."""

    points: Iterable[Any]
    mass: Callable[[Any], Fraction]
    whole: bool


def _law(given: Any) -> _Listed:
    if isinstance(given, Mapping):
        masses = _masses("a law", given)
        return _Listed(masses, lambda y: masses.get(y, Fraction(0)), True)
    if not (hasattr(given, "mass") and hasattr(given, "support")):
        raise BadParameter(
            "a law", type(given).__name__, "a mapping to probabilities, or a law such as mechanism.law(x)"
        )
    law: Law = given
    if (count := outcomes(law, _TAIL)) > _MAX_OUTCOMES:
        raise BadParameter("a law", f"{count} outcomes", f"on at most {_MAX_OUTCOMES} outcomes")
    points = law.support(_TAIL)
    return _Listed(points, lambda y: _mass(law.mass(y)), count == outcomes(law, _TAIL**2))


def _mass(given: Number) -> Fraction:
    mass = rational("a mass of a law", given)
    if mass < 0:
        raise BadParameter("a mass of a law", given, "at least 0")
    return mass


def _unlisted(law: _Listed, masses: Sequence[Fraction]) -> Fraction:
    """An upper bound on the mass of unlisted outcomes: the tail, and what is missing beyond rounding."""
    missing = 1 - sum(masses, Fraction(0))
    if abs(missing) > _MAX_MISSING:
        raise BadParameter(
            "a law",
            float(1 - missing),
            "masses that sum to 1",
            says=f"The masses of a law must sum to 1; they sum to {float(1 - missing):.12g}, off by"
            f" {float(-missing):.2g}.",
        )
    if missing > Fraction(len(masses), 2**50):
        return missing
    return Fraction(0) if law.whole else Fraction(_TAIL)


def _finite(pairs: Sequence[MassPairs], relation: Neighbours) -> Loss:
    if all(p == q for pair in pairs for p, q in pair):  # exactly: in floats 1/2 + 1e-18 equals 1/2
        return Loss({}, relation)
    return Loss({FinitePair(*envelope(pairs, both_orders=isinstance(relation, Substitute))): 1}, relation)
