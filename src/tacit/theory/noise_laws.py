"""Three laws of noise, Laplace, Gaussian and one-sided exponential, at equal standard deviation.

    law           density                      P[|Y| >= t]
    laplace       e^(-|x|/b) / (2b)            e^(-t/b)            b = deviation / sqrt 2
    gaussian      e^(-x^2/(2s^2)) / (s sqrt(2 pi))   erfc(t/(s sqrt 2))  s = deviation
    exponential   e^(-x/b) / b for x >= 0      e^(-t/b)            b = deviation

Laplace noise is exponential noise with a random sign.  Both have tails e^(-ct); the tails of Gaussian noise fall like
e^(-ct^2), so at equal deviation Gaussian noise is far from 0 least often.
"""

from __future__ import annotations

import math

from ..core.parameters import Number
from . import _validate as check

LAWS = ("laplace", "gaussian", "exponential")


def density(law: str, x: Number, deviation: Number = 1.0) -> float:
    """The density at x of noise with this standard deviation."""
    check.one_of(LAWS, law=law)
    x = check.real(x=x)
    s = check.positive(deviation=deviation)
    if law == "gaussian":
        return math.exp(-((x / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi))
    if law == "exponential":
        return math.exp(-x / s) / s if x >= 0 else 0.0
    b = s / math.sqrt(2)
    return math.exp(-abs(x) / b) / (2 * b)


def tail(law: str, t: Number, deviation: Number = 1.0) -> float:
    """P[|Y| >= t] for noise Y with this standard deviation."""
    check.one_of(LAWS, law=law)
    t = check.nonnegative(t=t)
    s = check.positive(deviation=deviation)
    if law == "gaussian":
        return math.erfc(t / (s * math.sqrt(2)))
    return math.exp(-t / s if law == "exponential" else -t * math.sqrt(2) / s)
