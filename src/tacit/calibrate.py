"""The least noise that meets a privacy target: one solver for any mechanism, and for any mix of mechanisms.

`make` turns a noise level into a mechanism or a loss, which costs less the more noise there is and may be composed,
sampled or mixed in any way.  Epsilon is close to a power of the noise, so the search is on logarithms: a
bracket, then the enclosing root-finder of Alefeld, Potra and Shi (ACM TOMS 748).  The returned noise was itself checked
against the target, and a little less noise misses the target.

Epsilon need not fall at every step.  For discrete Gaussian noise of sigma below 1.6, epsilon goes up and down as sigma
grows, since the losses lie far apart: a third more noise may cost 1.8 times as much, while twice the noise costs less
(sigma 0.15 to 4, one to five noises, delta 1e-9 to 1e-3).  Then a target is met, missed and met again, and the solver
returns one of the levels at which the target begins to be met, not always the lowest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from .core.accounting.loss import Loss
from .core.errors import BadParameter
from .core.mechanism import Mechanism
from .core.parameters import Number, failure, function, positive

Made = TypeVar("Made", bound=Loss | Mechanism[Any, Any])

MIN_NOISE, MAX_NOISE = Fraction(1, 2**40), Fraction(2**60)
PRECISION = Fraction(1, 2**20)
OCTAVE, SLACK = 2, 1.01  # twice the noise must not raise epsilon, up to the slack of accountants


@dataclass(frozen=True)
class Target:
    """The epsilon to meet, at this delta."""

    epsilon: Number
    delta: Number = 0

    def read(self) -> tuple[Fraction, Fraction]:
        delta = failure("delta", self.delta)
        return positive("epsilon", self.epsilon), delta


@dataclass(frozen=True)
class Calibrated(Generic[Made]):
    """The noise, the mechanism or loss made with it, and its epsilon, which is at most that of the target."""

    noise: Fraction
    made: Made
    epsilon: float


def calibrate(make: Callable[[Fraction], Made], target: Target | tuple[Number, Number]) -> Calibrated[Made]:
    """The result of `make` at a noise that meets the target, while noise less by a relative 2^-20 misses it."""
    function("make", make, "a function from noise to a Loss or a Mechanism")
    goal: object = target
    if not isinstance(goal, Target) and not (isinstance(goal, tuple | list) and len(goal) == 2):
        raise BadParameter("target", target, "(epsilon, delta) or a Target")
    epsilon, delta = (target if isinstance(target, Target) else Target(*target)).read()
    return _Search(make, epsilon, delta).solve()


class _Search(Generic[Made]):
    """A search for the noise, with all results so far by their noise."""

    def __init__(self, make: Callable[[Fraction], Made], epsilon: Fraction, delta: Fraction) -> None:
        self.make, self.epsilon, self.delta = make, float(epsilon), delta  # a float, as accountants give
        self.tried: dict[Fraction, Calibrated[Made]] = {}

    def at(self, noise: Fraction) -> Calibrated[Made]:
        if noise not in self.tried:
            made = self.make(noise)
            result: object = made
            if not isinstance(result, Loss | Mechanism):
                raise BadParameter("make", type(result).__name__, "a function from noise to a Loss or a Mechanism")
            loss = made if isinstance(made, Loss) else made.loss()
            self._keep(Calibrated(noise, made, loss.epsilon(self.delta)))
        return self.tried[noise]

    def _keep(self, result: Calibrated[Made]) -> None:
        for other in self.tried.values():
            less, more = sorted((other, result), key=lambda c: c.noise)
            if more.noise >= OCTAVE * less.noise and more.epsilon > less.epsilon * SLACK:
                rise = ", ".join(f"epsilon {c.epsilon:.6g} at {float(c.noise):g}" for c in (less, more))
                raise BadParameter(
                    "make",
                    rise,
                    "a function whose loss falls as its argument, the noise, doubles",
                    says=f"make must return a loss that falls as its argument, the noise, doubles; got {rise}.",
                )
        self.tried[result.noise] = result

    def meets(self, result: Calibrated[Made]) -> bool:
        return result.epsilon <= self.epsilon

    def solve(self) -> Calibrated[Made]:
        from scipy.optimize import toms748

        low, high = self.bracket()
        if low is not high:
            root = toms748(self.excess, _log2(low.noise), _log2(high.noise), xtol=2.0**-23)
            noise, step = Fraction(2.0 ** float(root)) * (1 - PRECISION / 4), PRECISION / 2
            while not self.meets(self.at(simplest(noise, noise * (1 + step)))) and noise < high.noise:
                noise, step = noise * (1 + step), 2 * step
        good = [result for result in self.tried.values() if self.meets(result)]
        limit = min(result.noise for result in good) * (1 + PRECISION / 2)
        return min((result for result in good if result.noise <= limit), key=lambda result: result.noise.denominator)

    def excess(self, log_noise: float) -> float:
        """The logarithm of the ratio of epsilon to the target."""
        noise = Fraction(2.0**log_noise)
        ratio = self.at(simplest(noise * (1 - PRECISION / 32), noise * (1 + PRECISION / 32))).epsilon / self.epsilon
        return max(-50.0, min(math.log(ratio), 50.0)) if ratio else -50.0

    def bracket(self) -> tuple[Calibrated[Made], Calibrated[Made]]:
        """Two noise levels of which only the higher meets the target, sought from 1 outward; or the least, twice."""
        here = self.at(Fraction(1))
        up, factor = not self.meets(here), 2.0
        end = MAX_NOISE if up else MIN_NOISE
        while here.noise != end:
            ratio = here.epsilon / self.epsilon
            if 0 < ratio < math.inf:  # epsilon is between the first and the second power of 1 / noise
                factor = max(2.0, min(2 * ratio if up else ratio**-0.5, 2.0**20))
            there = self.at(min(here.noise * round(factor), end) if up else max(here.noise / round(factor), end))
            if self.meets(there) == up:
                return (here, there) if up else (there, here)
            here, factor = there, factor**2
        if up:
            reached = f"epsilon {here.epsilon:.6g} at noise {float(end):g}"
            raise BadParameter(
                "target",
                reached,
                "met by some noise",
                says=f"The target is not met by any noise up to {float(end):g}, where the cost is still {reached}.",
            )
        return here, here


def _log2(x: Fraction) -> float:
    return math.log2(x.numerator) - math.log2(x.denominator)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in [low, high], 0 < low <= high, by continued fractions."""
    above = math.ceil(low)
    if above <= high:
        return Fraction(above)
    return above - 1 + 1 / simplest(1 / (high - above + 1), 1 / (low - above + 1))
