"""The domains of the theorems' parameters: each check takes `name=value` and refuses by that name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadData, BadParameter

Vector = NDArray[np.float64]
Values = Sequence[float] | Vector


def real(**values: float) -> None:
    """Any finite number."""
    _within("a finite number", values, lambda x: True)


def positive(**values: float) -> None:
    """A finite number > 0."""
    _within("a finite number > 0", values, lambda x: x > 0)


def nonnegative(**values: float) -> None:
    """A finite number >= 0."""
    _within("a finite number >= 0", values, lambda x: x >= 0)


def above_one(**values: float) -> None:
    """A finite number > 1, such as a Renyi order."""
    _within("a finite number > 1", values, lambda x: x > 1)


def probability(**values: float) -> None:
    """A number strictly between 0 and 1."""
    _within("strictly between 0 and 1", values, lambda x: 0 < x < 1)


def slack(**values: float) -> None:
    """A delta that may be 0."""
    _within("in [0, 1)", values, lambda x: 0 <= x < 1)


def share(**values: float) -> None:
    """A fraction of a whole, which may be nothing or all."""
    _within("in [0, 1]", values, lambda x: 0 <= x <= 1)


def count(least: int = 1, **values: int) -> None:
    """An integer >= least."""
    for name, value in values.items():
        if not _is_integer(value) or value < least:
            raise BadParameter(name, value, f"an integer >= {least}")


def one_of(choices: Sequence[str], **values: str) -> None:
    """One of a few words."""
    for name, value in values.items():
        if value not in choices:
            raise BadParameter(name, value, f"one of {', '.join(choices)}")


def indices(size: int, **values: Sequence[int]) -> list[int]:
    """The one sequence given: one or more distinct integers in [0, size)."""
    ((name, value),) = values.items()
    found = _items(value)
    valid = all(_is_integer(i) and 0 <= i < size for i in found)
    if not found or not valid or len(set(found)) < len(found):
        raise BadParameter(name, value, f"distinct integers in [0, {size})")
    return [int(i) for i in found]


def vector(least: int = 1, low: float = -math.inf, **values: Values | Mapping[str, float]) -> Vector:
    """The one sequence or mapping given, as floats: at least `least` finite numbers, none below `low`."""
    ((name, value),) = values.items()
    numbers = _items(value)
    if len(numbers) < least or not all(_is_finite(x) and x >= low for x in numbers):
        bound = "" if low == -math.inf else f" >= {low:g}"
        raise BadData(name, type(value).__name__, f"a sequence of {least} or more finite numbers{bound}")
    return np.array(numbers, dtype=np.float64)


def _within(allowed: str, values: dict[str, float], test: Callable[[float], bool]) -> None:
    for name, value in values.items():
        if not _is_finite(value) or not test(value):
            raise BadParameter(name, value, allowed)


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the floats
        return False


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _items(value: object) -> list[float]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
