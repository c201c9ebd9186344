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

from ...core import samplers
from ...core.exact import Floats
from ...core.parameters import Number, positive, reals
from ...core.randomness import Source
from ...mechanisms import Laplace
from .outcome import Attack, Outcome

Bits = NDArray[np.bool_]

BITS = 53  # of a double's significand
TRIALS = 2000
_NEAR = 4  # values of k on each side; logarithms err by less


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
    found = np.zeros(y.shape, np.bool_)
    for step in range(-_NEAR, _NEAR + 1):
        u = np.clip(middle + step, 1.0, 2.0**BITS) * 2.0**-BITS
        found |= x + sign * b * np.log(u) == y
    return found


def which(outputs: Any, x: float, y: float, scale: Number) -> NDArray[np.int64]:
    """1 for each output that y can give and x cannot, -1 where it is the other way round, else 0."""
    return possible(outputs, y, scale).astype(np.int64) - possible(outputs, x, scale)


def _guess(outputs: Floats, secret: Bits, claim: float) -> Outcome:
    """Only where one of 0 and 1 is possible is a guess made."""
    guess = which(outputs, 0.0, 1.0, 1)
    right = np.count_nonzero(guess == np.where(secret, 1, -1))
    return Outcome(int(right), int(np.count_nonzero(guess)), claim)


def against_naive(source: Source) -> Outcome:
    """Naive noise of scale 1, said to be epsilon 1, on 0 or 1."""
    secret = samplers.integers(2, source, TRIALS).astype(np.bool_)
    return _guess(naive_laplace(secret.astype(np.float64), 1.0, source), secret, math.inf)


def against_tacit(source: Source) -> Outcome:
    """The same from Laplace(epsilon=1) on a public grid, whose bits say nothing: the likelier input is guessed."""
    secret = samplers.integers(2, source, TRIALS).astype(np.bool_)
    noise = Laplace(epsilon=1, grid=2.0**-20)
    outputs = np.asarray(noise.sample(secret.astype(np.float64), source))
    guess = which(outputs, 0.0, 1.0, 1)
    guess = np.where(guess == 0, np.where(outputs > 0.5, 1, -1), guess)
    return Outcome(int(np.count_nonzero(guess == np.where(secret, 1, -1))), TRIALS, 1)


FLOATING_POINT = Attack(
    "floating point",
    "naive Laplace noise in doubles, said to be epsilon 1",
    "Laplace noise on a public grid, at epsilon 1",
    against_naive,
    against_tacit,
)
