"""The domains of epsilons and deltas, and lists of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from ..core.errors import BadParameter
from ..core.exact import Number, rational, several

Counts = Counter[Fraction]


def nonnegative(name: str, value: Number) -> Fraction:
    """A rational, at least 0."""
    x = rational(name, value)
    if x < 0:
        raise BadParameter(name, value, "at least 0")
    return x


def failure(name: str, value: Number) -> Fraction:
    """The delta of one mechanism, which may be 0."""
    x = rational(name, value)
    if not 0 <= x < 1:
        raise BadParameter(name, value, "at least 0 and below 1")
    return x


def above_one(name: str, value: Number) -> Fraction:
    """A Renyi order."""
    x = rational(name, value)
    if x <= 1:
        raise BadParameter(name, value, "above 1")
    return x


def lists(epsilons: Iterable[Number], deltas: Iterable[Number]) -> tuple[Counts, Counts]:
    """How often each epsilon occurs, and each delta but 0; no deltas mean that all are 0."""
    es, ds = several("epsilons", epsilons, nonnegative), several("deltas", deltas, failure)
    if ds and len(ds) != len(es):
        raise BadParameter("deltas", f"{len(ds)} of them", f"one for each of {len(es)} epsilons, or none")
    return Counter(es), Counter(d for d in ds if d)


def alike(epsilon: Fraction, delta: Fraction, k: int) -> tuple[Counts, Counts]:
    """k mechanisms with one epsilon and one delta."""
    return Counter({epsilon: k}), Counter({delta: k} if delta else {})
