r"""Floating point: the last bits of naive Laplace noise (Mironov 2012).

Textbook noise is s scale ln(u), u one of the 2^53 multiples of 2^-53 in (0, 1].  Most doubles are no value of it, and
which sums x + noise can come out depends on x: an output that x' cannot give proves that it was not x'.  f(k) =
x + s scale ln(k 2^-53) is monotone in k, also as rounded, so it is enough to try the k next to where f would be y.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.exact import Floats
from ...core.parameters import Number, positive, reals
from ...core.randomness import Source
from .outcome import Attack, Outcome
from .reconstruction import Bits, secret_column
from .system import People, System

BITS = 53  # of a double's significand
TRIALS = 2000
NEAREST = 4  # values of k tried on each side; logarithms err by less


def naive_laplace(x: Floats, scale: float, source: Source) -> Floats:
    """Laplace noise as textbooks write it: a sign, and the logarithm of a uniform double."""
    words = source.words(2 * x.size)
    sign = 1.0 - 2.0 * (words[: x.size] & np.uint64(1))
    u = ((words[x.size :] >> np.uint64(64 - BITS)) + np.uint64(1)) * 2.0**-BITS
    noisy: Floats = x + sign * scale * np.log(u)
    return noisy


def possible(outputs: Any, x: float, scale: Number) -> Bits:
    """Which outputs naive noise of this scale on x can give."""
    y, b = reals("outputs", outputs), float(positive("scale", scale))
    distance = y - x
    sign = np.where(distance > 0, -1.0, 1.0)  # of the logarithm, which is not above 0
    middle = np.rint(np.exp(-np.abs(distance) / b) * 2.0**BITS)
    hit = np.zeros(y.shape, np.bool_)
    for step in range(-NEAREST, NEAREST + 1):
        u = np.clip(middle + step, 1.0, 2.0**BITS) * 2.0**-BITS
        hit |= x + sign * b * np.log(u) == y
    return hit


def which(outputs: Any, x: float, y: float, scale: Number) -> NDArray[np.int64]:
    """1 for each output that y can give and x cannot, -1 where it is the other way round, else 0."""
    return possible(outputs, y, scale).astype(np.int64) - possible(outputs, x, scale)


def _guess(outputs: Floats, secret: Bits, claim: float) -> Outcome:
    """Guess only where exactly one of 0 and 1 is possible."""
    guess = which(outputs, 0.0, 1.0, 1)
    right = np.count_nonzero(guess == np.where(secret, 1, -1))
    return Outcome(int(right), int(np.count_nonzero(guess)), claim)


def against_naive(source: Source) -> Outcome:
    """Naive noise of scale 1 on 0 or 1, claimed to be epsilon 1."""
    secret = secret_column(TRIALS, source)
    return _guess(naive_laplace(secret.astype(np.float64), 1.0, source), secret, math.inf)


def on_system(system: System, source: Source) -> Outcome:
    """Sums of one number each, at epsilon 1; where their bits say nothing, the likelier input is guessed."""
    secret, persons = secret_column(TRIALS, source), np.arange(TRIALS)
    columns = {"person": persons, "value": secret.astype(np.float64)}
    with system(People(columns, {"person": (0, TRIALS - 1), "value": (0, 1)}), 1) as ask:
        outputs = ask("SELECT person, SUM(value) AS s FROM people GROUP BY person", 1)
    guess = which(outputs, 0.0, 1.0, 1)
    guess = np.where(guess == 0, np.where(outputs > 0.5, 1, -1), guess)
    return Outcome(int(np.count_nonzero(guess == np.where(secret, 1, -1))), TRIALS, 1)


FLOATING_POINT = Attack(
    "floating point",
    "naive Laplace noise in doubles, claimed to be epsilon 1",
    "Laplace noise on a public grid, at epsilon 1",
    against_naive,
    on_system,
)
