"""Numerical tools that keep full precision: differences without cancellation, a root, a log-concave integral."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import hyp1f1, hyp2f1

from ._validate import Vector

LogDensity = Callable[[Vector], Vector]

_DROP = 45.0  # nats: e^-45 = 3e-20 of the integral is omitted on either side
_NODES = 24
_RTOL = 1e-14
_MAX_STEPS = 100  # more bisections than a double has bits


def exp_excess(x: float) -> float:
    """e^x - 1 - x = (x^2/2) 1F1(1; 3; x), to full relative precision also near 0."""
    return x * x / 2 * float(hyp1f1(1.0, 3.0, x)) if abs(x) <= 1 else math.expm1(x) - x


def log_excess(x: float) -> float:
    """x - ln(1+x) = (x^2/2) 2F1(1, 2; 3; -x), to full relative precision also near 0."""
    return x * x / 2 * float(hyp2f1(1.0, 2.0, 3.0, -x)) if abs(x) <= 0.5 else x - math.log1p(x)


def increasing_root(f: Callable[[float], float]) -> float:
    """The root of an increasing function on (0, oo), to fourteen digits: 0 if positive everywhere, oo if negative."""
    low = high = 1.0
    while low and f(low) > 0:
        low /= 2
    while high < math.inf and f(high) <= 0:
        high *= 2
    if not low or high == math.inf:
        return low and high
    return float(brentq(f, low, high, xtol=1e-300, rtol=1e-14, maxiter=1000))


def log_laplace_cdf(x: Vector) -> Vector:
    """ln F of Lap(1): x - ln 2 below 0, ln(1 - e^-x/2) above."""
    return np.where(x < 0, x - math.log(2), np.log1p(-np.exp(-np.abs(x)) / 2))


def log_exponential_cdf(x: Vector) -> Vector:
    """ln F of Exp(1): ln(1 - e^-x) above 0, -oo below."""
    return np.where(x > 0, np.log(-np.expm1(-np.maximum(x, 1e-300))), -np.inf)


@cache
def legendre(nodes: int) -> tuple[Vector, Vector]:
    """Gauss-Legendre nodes and weights on [0, 1]: exact for polynomials of degree < 2 nodes."""
    x, weight = np.polynomial.legendre.leggauss(nodes)
    return (x + 1) / 2, weight / 2


def log_integral(log_f: LogDensity, kinks: Sequence[float], width: float, low: float = -math.inf) -> float:
    """ln of the integral over [low, oo) of a log-concave f, smooth except at the kinks; width is a first step.

    Where ln f is 45 below its maximum, at distance L from the mode, concavity makes it fall on with a
    slope of at least 45/L; in between it lies above that chord. So at most e^-45 of the integral is omitted.
    """
    mode = _mode(log_f, width, low, start=max(low, *kinks))
    top = _at(log_f, mode)
    left, right = (_fall(log_f, mode, top - _DROP, step, low) for step in (-width, width))
    cuts = np.array(sorted({left, mode, right, *(x for x in kinks if left < x < right)}))
    return top + math.log(_adaptive(lambda x: np.exp(log_f(x) - top), cuts))


def _at(log_f: LogDensity, x: float) -> float:
    return float(log_f(np.array([x]))[0])


def _mode(log_f: LogDensity, width: float, low: float, start: float) -> float:
    """A point at which a concave function is within 2 of its maximum: a bracket is doubled, then cut in thirds."""
    left = right = start
    step = width
    while _at(log_f, right + step) >= _at(log_f, right):
        right, step = right + step, 2 * step
    right += step
    step = width
    while left > low and _at(log_f, max(low, left - step)) >= _at(log_f, left):
        left, step = max(low, left - step), 2 * step
    left = max(low, left - step)
    for _ in range(_MAX_STEPS):
        first, second = left + (right - left) / 3, right - (right - left) / 3
        values = log_f(np.array([left, first, second, right]))
        if values[1] - values[0] < 1 and values[2] - values[3] < 1:
            break
        left, right = (first, right) if values[1] < values[2] else (left, second)
    return (left + right) / 2


def _fall(log_f: LogDensity, mode: float, level: float, step: float, low: float) -> float:
    """A point at most twice as far out as the place where ln f falls to the level on the side of `step`, or `low`."""
    inside, outside = mode, max(low, mode + step)
    while outside > low and _at(log_f, outside) > level:
        inside, step = outside, 2 * step
        outside = max(low, outside + step)
    if outside == low and _at(log_f, low) > level:
        return low
    for _ in range(_MAX_STEPS):
        if abs(outside - inside) <= abs(inside - mode):
            break
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if _at(log_f, middle) > level else (inside, middle)
    return outside


def _adaptive(f: LogDensity, cuts: Vector) -> float:
    """The integral of a positive function over the panels between cuts, each bisected until it has converged."""
    node, weight = legendre(_NODES)

    def panels(a: Vector, b: Vector) -> Vector:
        x = a[:, None] + (b - a)[:, None] * node
        return np.asarray((f(x.ravel()).reshape(x.shape) * weight).sum(axis=1) * (b - a))

    a, b = cuts[:-1], cuts[1:]
    whole, done = panels(a, b), 0.0
    for _ in range(_MAX_STEPS):
        middle = (a + b) / 2
        first, second = panels(a, middle), panels(middle, b)
        refined = first + second
        rough = np.abs(refined - whole) > _RTOL * (done + refined.sum())
        done += float(refined[~rough].sum())
        a, b = np.concatenate([a[rough], middle[rough]]), np.concatenate([middle[rough], b[rough]])
        whole = np.concatenate([first[rough], second[rough]])
        if not whole.size:
            break
    return done + float(whole.sum())
