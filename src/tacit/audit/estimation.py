r"""Lower bounds on epsilon from samples of any callable.

One quarter of the samples fits scores (`events.py`), one quarter chooses the score, the threshold and the direction
that would prove most, and one half tests the chosen event, once.  The event does not depend on what it is tested with,
so the bound of `bounds.two_samples` holds at its stated confidence, whatever was learned and however badly.

A bound above the claim refutes the claim.  A bound below it proves nothing: some other event or pair may do better.

References.  Ding, Wang, Wang, Zhang, Kifer, CCS 2018 (StatDP); Bichsel, Steffen, Bogunovic, Vechev, S&P 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.accounting.loss import Loss
from ..core.errors import BadParameter
from ..core.exact import Floats, from_below
from ..core.parameters import Number, failure, flag, function, rational, whole
from .bounds import risk, two_samples
from .events import Score, read, scores

MIN_SAMPLES = 40
Proves = Callable[[Any, Any, float], Floats]  # what hits on the likelier input, on the other, and trials prove


@dataclass(frozen=True)
class Estimate:
    """A lower bound on epsilon at delta, which holds with this confidence."""

    epsilon: float
    delta: float
    confidence: float
    event: str
    hits: tuple[int, int]
    trials: int

    def refutes(self, claim: Loss | Number) -> bool:
        """Whether a claim, a loss or an epsilon at this delta, is below the lower bound."""
        claimed = claim.epsilon(self.delta) if isinstance(claim, Loss) else float(rational("claim", claim))
        return self.epsilon > claimed

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        return (
            f"epsilon is at least {from_below(self.epsilon, 4)}{at}, with confidence {self.confidence:.12g}:"
            f" {self.event} happened {self.hits[0]} times on x and {self.hits[1]} on y, of {self.trials} each"
        )


@dataclass(frozen=True)
class Event:
    """The event that a score is on one side of a threshold, expected to be likelier on x, or else on y."""

    score: Score
    threshold: float
    above: bool
    on_x: bool

    def hits(self, values: Floats) -> int:
        n = int(np.count_nonzero(values >= self.threshold))
        return n if self.above else len(values) - n

    def __str__(self) -> str:
        return f"{self.score.name} {'>=' if self.above else '<'} {self.threshold:.6g}"


def estimate(
    run: Callable[..., Any],
    x: Any,
    y: Any,
    samples: int = 100_000,
    *,
    delta: Number = 0,
    confidence: Number = "0.999",
    batch: bool = False,
    last_bits: bool = True,
) -> Estimate:
    """A lower bound on epsilon between x and y from so many runs on each.

    `run(x)` gives one output: a number, a vector, or anything that can be hashed.  With `batch`, `run(x, n)` gives n.
    Without `last_bits`, numbers are rounded to a millionth of their spread first: then the bound is about the
    algorithm, and not about what its floating-point noise reveals.
    """
    d, alpha = float(failure("delta", delta)), risk(confidence)

    def proves(hits_x: Any, hits_y: Any, trials: float) -> Floats:
        return two_samples(hits_x, hits_y, trials, d, alpha)

    event, hits, trials = best_event(run, x, y, samples, proves, batch=batch, last_bits=last_bits)
    proved = proves(*(hits if event.on_x else hits[::-1]), trials)
    return Estimate(float(proved), d, 1 - alpha, str(event), hits, trials)


def best_event(
    run: Callable[..., Any], x: Any, y: Any, samples: int, proves: Proves, *, batch: bool, last_bits: bool
) -> tuple[Event, tuple[int, int], int]:
    """The event that proves most, chosen by the first half of the samples, and how often the second half hits it."""
    n = whole("samples", samples, at_least=MIN_SAMPLES)
    function("run", run, "a function of x, such as the `release` of a mechanism")
    first, second = (_outputs(run, at, n, flag("batch", batch)) for at in (x, y))
    ours, theirs = read(first, second, last_bits=flag("last_bits", last_bits))
    fit, choose, test = slice(0, n // 4), slice(n // 4, n // 2), slice(n // 2, n)
    trials = n - n // 2
    best = max(
        (
            _best(score, (score.of(ours[choose]), score.of(theirs[choose])), trials, proves)
            for score in scores(ours[fit], theirs[fit], last_bits=last_bits)
        ),
        key=lambda candidate: candidate[0],
    )[1]
    return best, (best.hits(best.score.of(ours[test])), best.hits(best.score.of(theirs[test]))), trials


def _outputs(run: Callable[..., Any], at: Any, n: int, batch: bool) -> Any:
    if not batch:
        return [run(at) for _ in range(n)]
    outputs = run(at, n)
    if len(outputs) != n:
        raise BadParameter("run", f"{len(outputs)} outputs", f"one that gives as many as it is asked for, here {n}")
    return outputs


def _best(score: Score, values: tuple[Floats, Floats], trials: int, proves: Proves) -> tuple[float, Event]:
    """The threshold, side and direction that would prove most if `trials` runs went as these did."""
    n, grow = len(values[0]), trials / len(values[0])
    pooled, x, y = np.sort(np.concatenate(values)), *map(np.sort, values)
    ends = np.geomspace(1, 2 * n, 100).astype(np.int64) - 1
    thresholds = np.unique(pooled[np.concatenate([ends, 2 * n - 1 - ends, np.linspace(0, 2 * n - 1, 200).astype(int)])])
    a, b = (n - np.searchsorted(sorted_, thresholds, side="left") for sorted_ in (x, y))
    best = -1.0, Event(score, float(thresholds[0]), True, True)
    for above, on_x in ((True, True), (True, False), (False, True), (False, False)):
        sides = (a, b) if above else (n - a, n - b)
        more, fewer = sides if on_x else sides[::-1]
        proved = proves(grow * more, grow * fewer, trials)
        i = int(np.argmax(proved))
        if proved[i] > best[0]:
            best = float(proved[i]), Event(score, float(thresholds[i]), above, on_x)
    return best
