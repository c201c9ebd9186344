"""The audit of the package: every mechanism on the hard neighbours of its examples, exactly and by sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..core.distance import Distance
from ..core.errors import BadParameter
from ..core.mechanism import Example, Mechanism
from ..core.parameters import Number, instances, kind_of, rational, whole
from ..core.randomness import SYSTEM, Source
from ..mechanisms import ALL
from ..mechanisms.additive._additive import Additive
from ..mechanisms.local._frequency import FrequencyOracle
from .estimation import MIN_SAMPLES, Estimate, estimate
from .verification import DELTAS, ROUNDING, Exact, exact

CONFIDENCE = "0.999999999995"  # of each estimate: two hundred of them err with a chance below 1e-9
BATCH_FACTOR = 25  # times as many samples, where a batch is drawn at once


@dataclass(frozen=True)
class Finding:
    """The audit of one mechanism on one pair of neighbours."""

    example: Example[Any]
    exact: Exact
    estimate: Estimate | None
    delta: float

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return type(self.example.mechanism).__name__

    @property
    def claim(self) -> float:
        """The epsilon that the mechanism claims at delta."""
        return self.exact.claim.epsilon(self.delta)

    @property
    def true(self) -> float:
        """The epsilon of the laws at delta."""
        return self.exact.epsilon(self.delta)

    @property
    def verdict(self) -> str:
        """`holds`, or what is wrong: the claim is below the law, or the sampler leaks more than the law."""
        if not self.exact.holds:
            return "the claim is FALSE"
        if self.estimate is not None and self.estimate.epsilon > self.true * (1 + ROUNDING) + ROUNDING:
            return "the sampler is FALSE"
        return "holds"

    @property
    def distance(self) -> str:
        """How far apart the neighbours are: in l1 and l2, where they differ."""
        d = self.example.distance
        if not isinstance(d, Distance):
            return str(d)
        return str(d.l1) if d.l1**2 == d.l2_squared else f"{d.l1}, l2 {math.sqrt(d.l2_squared):.3g}"

    def row(self) -> dict[str, Any]:
        """The finding as a row of a table."""
        return {
            "mechanism": repr(self.example.mechanism),
            "moves by": self.distance,
            "delta": self.delta,
            "claim": self.claim,
            "exact": self.true,
            "at least": None if self.estimate is None else self.estimate.epsilon,
            "verdict": self.verdict,
        }


def package(
    kinds: Iterable[type[Mechanism[Any, Any]]] = ALL,
    *,
    samples: int = 1000,
    delta: Number = "1e-6",
    source: Source = SYSTEM,
) -> list[Finding]:
    """Audit every example of every mechanism; with `samples=0` exactly only.

    Epsilon is taken at delta 0 where the claim is pure, else at `delta`, or at the least of `verification.DELTAS` above
    that at which the claim is finite.  Mechanisms that draw in batches are sampled more often.
    """
    n = whole("samples", samples, at_least=0)
    n = max(n, MIN_SAMPLES) if n else 0
    chosen: tuple[Any, ...] = instances("kinds", kinds, object)
    for kind in chosen:
        if not (isinstance(kind, type) and issubclass(kind, Mechanism)):
            raise BadParameter("kinds", kind_of(kind), "classes of mechanisms, such as [Laplace, Gaussian]")
    return [_finding(example, n, delta, source) for kind in chosen for example in kind.examples()]


def _finding(case: Example[Any], samples: int, delta: Number, source: Source) -> Finding:
    verified = exact(case.mechanism, case.x, case.y, case.distance)
    smallest = rational("delta", delta)
    deltas = [Fraction(0), smallest, *(d for d in map(Fraction, DELTAS) if d > smallest)]
    at = float(next((d for d in deltas if math.isfinite(verified.claim.epsilon(d))), smallest))
    proved = None
    if samples and _batched(case):
        draw = _batch(case.mechanism, source)
        proved = estimate(draw, case.x, case.y, BATCH_FACTOR * samples, delta=at, confidence=CONFIDENCE, batch=True)
    elif samples:
        one = partial(case.mechanism.sample, source=source)
        proved = estimate(one, case.x, case.y, samples, delta=at, confidence=CONFIDENCE)
    return Finding(case, verified, proved, at)


def _batched(case: Example[Any]) -> bool:
    """Whether one call on many copies of the input gives as many independent outputs."""
    own = type(case.mechanism).sample
    return own in (Additive.sample, FrequencyOracle.sample)


def _batch(mechanism: Mechanism[Any, Any], source: Source) -> Callable[[Any, int], Any]:
    def draw(x: Any, n: int) -> Any:
        return mechanism.sample(np.repeat(np.asarray(x)[None], n, axis=0), source)

    return draw
