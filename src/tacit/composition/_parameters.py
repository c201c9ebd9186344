"""Reading epsilons, deltas and Renyi orders, and lists of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from ..core.errors import BadParameter
from ..core.parameters import Number, failure, rational, several
from ..core.parameters import positive as core_positive

Multiplicities = Counter[Fraction]

MAX_VALUE = Fraction(10**100)  # keeps every search within floats


def positive(name: str, value: Number) -> Fraction:
    """A rational between 10^-100 and 10^100."""
    return core_positive(name, value, MAX_VALUE)


def nonnegative(name: str, value: Number) -> Fraction:
    """0, or a rational between 10^-100 and 10^100."""
    x = rational(name, value)
    if x and not 1 / MAX_VALUE <= x <= MAX_VALUE:
        raise BadParameter(name, value, "0, or between 1e-100 and 1e+100")
    return x


def above_one(name: str, value: Number) -> Fraction:
    """A Renyi order."""
    x = rational(name, value)
    if not 1 / MAX_VALUE <= x - 1 <= MAX_VALUE:
        raise BadParameter(name, value, "above 1, by at least 1e-100 and at most 1e+100")
    return x


def lists(epsilons: Iterable[Number], deltas: Iterable[Number]) -> tuple[Multiplicities, Multiplicities]:
    """The number of occurrences of each epsilon, and of each delta other than 0; an empty list means that all are 0."""
    es, ds = several("epsilons", epsilons, nonnegative), several("deltas", deltas, failure)
    if ds and len(ds) != len(es):
        raise BadParameter(
            "deltas",
            f"{len(ds)} of them",
            f"one for each of {len(es)} epsilons, or none",
            says=f"Give one delta for each of the {len(es)} epsilons, or none; got {len(ds)}.",
        )
    return Counter(es), Counter(d for d in ds if d)


def alike(epsilon: Fraction, delta: Fraction, k: int) -> tuple[Multiplicities, Multiplicities]:
    """The counts of k mechanisms with one epsilon and one delta."""
    return Counter({epsilon: k}), Counter({delta: k} if delta else {})
