"""Searches whose result errs on a known side."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np


def least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The least float in [0, high], to a relative 2^-40 and never below, at which a monotone condition holds."""
    if holds(0.0):
        return 0.0
    if not holds(high):
        return math.inf
    while high - low > high * 2.0**-40:
        middle = math.sqrt(low) * math.sqrt(high) if high > 4 * low else (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least_positive(
    holds: Callable[[float], bool], start: float = 1.0, *, floor: float, ceiling: float = math.inf, precision: float
) -> float:
    """The least positive float, to a relative precision and never below, at which a monotone condition holds.

    The search goes from `start` outward; the result is infinite if it lies beyond `ceiling`.
    """
    high = start
    while not holds(high):
        if high >= ceiling:
            return math.inf
        high *= 2
    low = high / 2
    while low > floor and high <= start and holds(low):
        low, high = low / 2, low
    while high - low > high * precision:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def greatest_positive(
    holds: Callable[[float], bool],
    *,
    floor: float,
    ceiling: float = math.inf,
    precision: float,
    fall: float = 2.0,
    near: float | None = None,
) -> float:
    """The greatest float, to a relative precision and never above, at which a monotone condition holds.

    The search goes from 1 upwards by doubling and downwards by factors of `fall`; the result is 0 below `floor`.  With
    a guess `near` the result, it is the same, but the condition is tried about the guess alone.
    """
    if near is not None:
        tried = _Monotone(holds)
        for side in (-1, 1):
            for width in (1, 4):  # as far as the guess may be off
                if tried(near * (1 + side * width * precision)) == (side < 0):
                    break
        found = greatest_positive(tried, floor=floor, ceiling=ceiling, precision=precision, fall=fall)
        if found in (0, tried.yes) or holds(found):
            return found  # else the condition is not monotone, and what was inferred is wrong
    low, high = 0.0, 1.0
    while high < ceiling and holds(high):
        low, high = high, 2 * high
    while not low:
        if high <= floor:
            return 0.0
        low, high = (high / fall, high) if holds(high / fall) else (0.0, high / fall)
    while high - low > high * precision:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


class _Monotone:
    """A monotone condition, which is not tried where what is known of it implies it."""

    def __init__(self, holds: Callable[[float], bool]) -> None:
        self._holds, self.yes, self._no = holds, 0.0, math.inf

    def __call__(self, x: float) -> bool:
        if self.yes < x < self._no:
            if not self._holds(x):
                self._no = x
                return False
            self.yes = x
        return x <= self.yes


def least_whole(holds: Callable[[int], bool], low: int = 0) -> int:
    """The least integer, from `low` on, at which a monotone condition holds."""
    step = 1
    while not holds(low + step - 1):
        low, step = low + step, 2 * step
    high = low + step - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def least_value(f: Callable[[float], float], low: float, high: float) -> float:
    """A value of f near its minimum: the best of nine points, then of finer points around that one, and so on.

    Any value will do where f bounds the truth.  Last comes the vertex of the parabola through three points 1e-4 apart
    or nearer: for a smooth f it misses the minimiser by the square of 1e-4, and the minimum by its fourth power.
    """
    points = np.linspace(low, high, 9).tolist()
    values = [f(x) for x in points]
    while True:
        i = int(np.argmin(values))
        near = slice(max(0, i - 1), i + 2)
        points, values = points[near], values[near]
        if points[-1] - points[0] < 2e-4:
            return min(*values, *(f(x) for x in _vertex(points, values)))
        between = [(a + b) / 2 for a, b in pairwise(points)]
        points, values = _woven(points, between), _woven(values, [f(x) for x in between])


def _vertex(points: list[float], values: list[float]) -> list[float]:
    """The minimiser of the parabola through three points in even steps, if the parabola has one."""
    if len(points) < 3 or not all(map(math.isfinite, values)):
        return []
    (low, middle, _), (left, centre, right) = points, values
    bend = left - 2 * centre + right
    return [middle + (middle - low) * (left - right) / (2 * bend)] if bend > 0 else []


def _woven(outer: list[float], inner: list[float]) -> list[float]:
    """The first of `outer`, the first of `inner`, the second of `outer`, and so on."""
    return [x for both in zip(outer, inner, strict=False) for x in both] + outer[-1:]
