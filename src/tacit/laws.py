r"""Probability laws of released values, and divergences between two laws.

A law is a mapping from outcomes to probabilities, or the result of `mechanism.law(x)`.  A law on infinitely many
outcomes is cut to finitely many: as a rule to all but a mass of 1e-300, and where these would be more than 2^16
outcomes, to all but 1e-100, 1e-40 or 1e-15.

    hockey stick        sup over events E of P(E) - e^epsilon Q(E): the least delta at epsilon
    max divergence      sup of ln P(y)/Q(y): the least epsilon at delta = 0
    Renyi               ln(sum P^a Q^(1-a)) / (a - 1)
    KL                  sum P ln P/Q: the mean of the privacy loss
    total variation     the hockey stick at epsilon = 0

Divergences are sums of floats, good to about twelve digits.  A `Loss` gives bounds that are rounded outward.

On infinitely many outcomes no finite part shows a supremum.  The largest ln P/Q is taken where all but t^(1/4), t^(1/2)
and t of the mass lies, and is infinite if it keeps growing: if the second step adds more than half of what the first
added.  A Renyi divergence that rests on outcomes too unlikely for floats is refused.  Where a mass of Q underflows, as
it may where ln P/Q exceeds 400, the divergence is infinite.

References.  Dwork and Roth (2014), definition 2.4 and proposition 2.1; Mironov, CSF 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from .core import law as _law
from .core.distance import neighbours
from .core.errors import BadParameter
from .core.law import Finite, Law, outcomes, rounding
from .core.parameters import Number, failure, function, kind_of, rational

__all__ = [
    "Finite",
    "expectation",
    "finite",
    "hockey_stick",
    "indistinguishable",
    "kl_divergence",
    "max_divergence",
    "neighbours",
    "renyi_divergence",
    "through",
    "total_variation",
]

AnyLaw = Law | Mapping[Any, Number]
_TAILS = (1e-300, 1e-100, 1e-40, 1e-15)
_MAX_OUTCOMES = 1 << 16
_MAX_MISSING = 1e-12  # mass of a law that is computed
_LEAST_MASS = 1e-290  # below, masses lose their digits
_NEGLIGIBLE_MASS = 1e-30  # times any ln P/Q that floats hold, it adds nothing to a mean
_MAX_EDGE_SHARE = 1e-9  # of a moment, at the farthest outcomes; those beyond hold less
_TOLERANCE = 1e-12
_MAX_EPSILON = 700


def finite(masses: Mapping[Any, Number]) -> Finite:
    """The law with these masses, each at least 0, that sum to 1; only floats may miss 1, by their rounding."""
    listed: object = masses
    if not isinstance(listed, Mapping) or not listed:
        raise BadParameter("masses", type(masses).__name__, "a mapping from outcomes to probabilities")
    read = {y: rational(f"the mass of {y!r}", mass) for y, mass in masses.items()}
    for y, mass in read.items():
        if mass < 0:
            raise BadParameter(f"the mass of {y!r}", masses[y], "at least 0")
    total = sum(read.values(), Fraction(0))
    if abs(total - 1) > rounding(masses.values()):
        raise BadParameter(
            "masses",
            float(total),
            "probabilities that sum to 1",
            says=f"The masses of a law must sum to 1; these sum to {float(total):.12g}, off by {float(total - 1):.2g}.",
        )
    return Finite({y: float(mass / total) for y, mass in read.items()})


def read(name: str, law: AnyLaw) -> Law:
    """Read a law, or a mapping of masses."""
    if isinstance(law, Mapping):
        return finite(law)
    given: object = law
    if not (hasattr(given, "mass") and hasattr(given, "support")):
        raise BadParameter(name, type(law).__name__, "a law, such as mechanism.law(x), or a mapping to probabilities")
    return _whole(name, law) if isinstance(law, Finite) else law


def _whole(name: str, law: Finite) -> Finite:
    """The law, if its masses sum to 1, as those of `finite` do."""
    total = math.fsum(law.masses.values())
    if not abs(total - 1) <= _MAX_MISSING:
        raise BadParameter(
            name,
            total,
            "a law with a mass of 1",
            says=f"The masses of a law must sum to 1; those of {name} sum to {total:.12g}, off by {total - 1:.2g}.",
        )
    return law


def _tail(*laws: Law) -> float:
    """The least mass to omit at which each law has at most 2^16 outcomes left."""
    return next((tail for tail in _TAILS if all(outcomes(law, tail) <= _MAX_OUTCOMES for law in laws)), _TAILS[-1])


def _endless(law: Law) -> bool:
    """Whether a law has outcomes beyond those that carry all but 1e-15."""
    return outcomes(law, _TAILS[-1]) != outcomes(law, _TAILS[-1] ** 4)


def _log_sum(logs: list[float]) -> float:
    top = max(logs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logs)) if top > -math.inf else top


def through(law: AnyLaw, channel: Callable[[Any], Any]) -> Finite:
    """The law of channel(y) for y from `law`: post-processing, under which no divergence grows.

    The channel returns an outcome, or the law of a random outcome: a `Finite` or a mapping to probabilities.
    """
    function("channel", channel, "a function of one outcome")
    points = read("law", law)
    listed = Finite({y: points.mass(y) for y in points.support(_tail(points))})

    def step(y: Any) -> Finite:
        z = channel(y)
        if isinstance(z, Finite):
            return _whole("the result of the channel", z)
        if isinstance(z, Mapping):
            return finite(z)
        try:
            return Finite({z: 1.0})
        except TypeError:
            raise BadParameter(
                "the result of the channel", kind_of(z), "an outcome that can be hashed, or a law"
            ) from None

    return listed.through(step)


def expectation(law: AnyLaw, value: Callable[[Any], float]) -> float:
    """The expectation of value(y) for y from `law`."""
    function("value", value, "a function of one outcome")
    points = read("law", law)

    def number(y: Any) -> float:
        result: object = value(y)
        if not isinstance(result, Real | Decimal | np.bool_):
            raise BadParameter("the result of value", kind_of(result), "a number")
        return float(result)

    return math.fsum(points.mass(y) * number(y) for y in points.support(_tail(points)))


def hockey_stick(p: AnyLaw, q: AnyLaw, epsilon: Number) -> float:
    """The largest P(E) - e^epsilon Q(E) over all events E; epsilon may be negative."""
    e = rational("epsilon", epsilon)
    if abs(e) > _MAX_EPSILON:
        raise BadParameter("epsilon", epsilon, f"between -{_MAX_EPSILON} and {_MAX_EPSILON}")
    one, other = read("p", p), read("q", q)
    return _law.hockey_stick(one, other, float(e), _tail(one, other))


def total_variation(p: AnyLaw, q: AnyLaw) -> float:
    """The largest P(E) - Q(E) over all events E: half of the l1 distance."""
    return hockey_stick(p, q, 0)


def max_divergence(p: AnyLaw, q: AnyLaw) -> float:
    """The largest ln P(y)/Q(y); infinite if P has an outcome that Q lacks, or if ln P/Q is unbounded."""
    one, other = read("p", p), read("q", q)
    tail = max(_tail(one, other), 1e-100)
    if not (_endless(one) or _endless(other)):
        return _law.max_divergence(one, other, tail)
    near, far, farther = (_law.max_divergence(one, other, tail**share) for share in (0.25, 0.5, 1))
    if farther == math.inf or farther - far > max((far - near) / 2, 1e-9 * (1 + farther)):
        return math.inf
    return farther


def renyi_divergence(p: AnyLaw, q: AnyLaw, order: Number) -> float:
    """ln(sum P^a Q^(1-a)) / (a - 1) for an order a > 1; infinite if P has an outcome that Q lacks."""
    a = rational("order", order)
    if a <= 1:
        raise BadParameter("order", order, "above 1; at order 1 the divergence is kl_divergence")
    one, other = read("p", p), read("q", q)
    if not (_endless(one) or _endless(other)):
        return max(0.0, _law.renyi_divergence(one, other, float(a), _TAILS[-1]))
    tail = _tail(one, other)
    inner = {y for law in (one, other) for y in law.support(tail**0.9)}
    inside, edge = [-math.inf], [-math.inf]
    for y in {y for law in (one, other) for y in law.support(tail)}:
        mass, by = one.mass(y), other.mass(y)
        if not by and mass > (_NEGLIGIBLE_MASS if _endless(other) else 0):
            return math.inf
        if mass and by:
            place = inside if y in inner and min(mass, by) > _LEAST_MASS else edge
            place.append(float(a) * math.log(mass) + (1 - float(a)) * math.log(by))
    moment = _log_sum(inside + edge)
    if _log_sum(edge) > moment + math.log(_MAX_EDGE_SHARE):
        raise BadParameter(
            "order",
            order,
            "an order at which floats hold the masses that matter",
            says=f"The Renyi divergence of order {float(a):g} of these laws rests on outcomes too unlikely for floats,"
            " if it is finite at all. Give a smaller order, or use the loss of the mechanism.",
        )
    return max(0.0, moment / (float(a) - 1))


def kl_divergence(p: AnyLaw, q: AnyLaw) -> float:
    """sum P ln P/Q, the mean of the privacy loss; infinite if P has an outcome that Q lacks."""
    one, other = read("p", p), read("q", q)
    masses = [(one.mass(y), other.mass(y)) for y in one.support(_tail(one))]
    unseen = _NEGLIGIBLE_MASS if _endless(other) else 0.0  # the other mass may have underflowed
    if any(a > unseen and not b for a, b in masses):
        return math.inf
    return max(0.0, math.fsum(a * (math.log(a) - math.log(b)) for a, b in masses if a and b))


def indistinguishable(p: AnyLaw, q: AnyLaw, epsilon: Number, delta: Number = 0) -> bool:
    """Whether P(E) <= e^epsilon Q(E) + delta and Q(E) <= e^epsilon P(E) + delta for every event E, to twelve digits."""
    d = failure("delta", delta)
    if rational("epsilon", epsilon) < 0:
        raise BadParameter("epsilon", epsilon, "at least 0")
    both = ((p, q), (q, p))
    if not d:
        return all(max_divergence(a, b) <= float(rational("epsilon", epsilon)) + _TOLERANCE for a, b in both)
    return all(hockey_stick(a, b, epsilon) <= float(d) * (1 + _TOLERANCE) for a, b in both)
