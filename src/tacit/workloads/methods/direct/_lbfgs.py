"""The least value of a smooth function, by its slopes: L-BFGS (Nocedal and Wright, algorithms 7.4 and 3.1).

In NumPy's own loops: libraries share such short sums among threads, which on a busy machine wait long for one another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from ...queries.data import Floats

_MEMORY = 10
_SMALL = 1e-9  # gain, as a share of the value: there the search ends


def least(function: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int) -> Floats:
    """From x, by so many steps; `function` gives the value and the slopes."""
    value, slope = function(x)
    past: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        way = _newton(slope, past)
        fall = _dot(slope, way)
        if not fall < 0:
            return x
        length = 1.0 if past else min(1.0, 1 / _dot(slope, slope) ** 0.5)
        found, there = function(x + length * way)
        while not found <= value + 1e-4 * length * fall:  # Armijo
            length /= 2
            if length < 1e-6:
                return x
            found, there = function(x + length * way)
        moved, turned = length * way, there - slope
        if (bend := _dot(moved, turned)) > 0:
            past.append((moved, turned, bend))
        gain = value - found
        x, value, slope = x + moved, found, there
        if gain <= _SMALL * abs(value):
            return x
    return x


def _newton(slope: Floats, past: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Minus the inverse of the second derivatives, as past steps tell it, times the slope."""
    way, shares = -slope, []
    for moved, turned, bend in reversed(past):
        shares.append(_dot(moved, way) / bend)
        way = way - shares[-1] * turned
    if past:
        _, turned, bend = past[-1]
        way = way * (bend / _dot(turned, turned))
    for (moved, turned, bend), share in zip(past, reversed(shares), strict=True):
        way = way + (share - _dot(turned, way) / bend) * moved
    return way


def _dot(a: Floats, b: Floats) -> float:
    return float(np.einsum("ij,ij", a, b))
