"""Reading the parameters of theorems as floats: each function takes one `name=value` and names it in a refusal.

Numbers are read as by `core.parameters`, also from text.  They are at most 10^100 and, if positive, at least 10^-100,
so that their squares are floats too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core import parameters
from ..core.errors import BadData, BadParameter
from ..core.parameters import Number

T = TypeVar("T")
Vector = NDArray[np.float64]
FloatSequence = Sequence[float] | Vector

_MAX_VALUE = Fraction(10**100)


def real(**given: Number) -> float:
    """Any real number."""
    name, value = _one(given)
    return _moderate(name, value, parameters.rational(name, value))


def positive(**given: Number) -> float:
    """A number > 0."""
    name, value = _one(given)
    return float(parameters.positive(name, value, within=_MAX_VALUE))


def nonnegative(**given: Number) -> float:
    """A number >= 0."""
    name, value = _one(given)
    x = parameters.rational(name, value)
    if x < 0:
        raise BadParameter(name, value, "at least 0")
    return _moderate(name, value, x)


def above_one(**given: Number) -> float:
    """A number > 1, such as a Renyi order."""
    name, value = _one(given)
    x = _moderate(name, value, parameters.rational(name, value))
    if x <= 1:
        raise BadParameter(name, value, "above 1")
    return x


def probability(**given: Number) -> float:
    """A number strictly between 0 and 1."""
    name, value = _one(given)
    return float(parameters.probability(name, value))


def slack(**given: Number) -> float:
    """A delta, which may be 0."""
    name, value = _one(given)
    return float(parameters.failure(name, value))


def share(**given: Number) -> float:
    """A number from 0 to 1, both included."""
    name, value = _one(given)
    x = parameters.rational(name, value)
    if not 0 <= x <= 1:
        raise BadParameter(name, value, "at least 0 and at most 1")
    return float(x)


def count(least: int = 1, **given: int) -> int:
    """A whole number, at least `least`."""
    name, value = _one(given)
    return parameters.whole(name, value, least)


def natural(**given: int) -> int:
    """A whole number of any size, at least 1, where only its logarithm enters."""
    return parameters.natural(*_one(given))


def one_of(choices: Sequence[str], **given: str) -> None:
    """One of a few words."""
    parameters.one_of(*_one(given), choices)


def indices(size: int, **given: Sequence[int]) -> list[int]:
    """One or more distinct integers in [0, size)."""
    name, value = _one(given)
    valid = [i for i in _items(value) if _is_integer(i) and 0 <= i < size]
    if not valid or len(set(valid)) < len(_items(value)):
        raise BadParameter(name, value, f"distinct integers in [0, {size})")
    return [int(i) for i in valid]


def vector(least: int = 1, low: float = -math.inf, **given: FloatSequence | Mapping[str, float]) -> Vector:
    """A sequence or a mapping, as floats: at least `least` finite numbers, none below `low`."""
    name, value = _one(given)
    numbers = _items(value)
    if len(numbers) < least or not all(_is_finite(x) and x >= low for x in numbers):
        bound = "" if low == -math.inf else f" >= {low:g}"
        raise BadData(name, type(value).__name__, f"a sequence of {least} or more finite numbers{bound}")
    return np.array(numbers, dtype=np.float64)


def _one(given: Mapping[str, T]) -> tuple[str, T]:
    """Name and value of the only argument."""
    ((name, value),) = given.items()
    return name, value


def _moderate(name: str, value: Number, x: Fraction) -> float:
    if abs(x) > _MAX_VALUE:
        raise BadParameter(name, value, "at most 1e+100")
    return float(x)


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _items(value: object) -> list[float]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
