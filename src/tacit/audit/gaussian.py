r"""Lower bounds on mu from samples: an audit of Gaussian differential privacy (GDP) through the trade-off curve.

Definition.  M is mu-GDP if telling x from y by its output is at least as hard as telling N(0, 1) from N(mu, 1): for
every event E with P(E) = p on x and Q(E) = q on y, Phi^-1(p) - Phi^-1(q) <= mu.

One event that is chosen beforehand, with p from below and q from above (`bounds.py`), therefore proves

    mu  >=  Phi^-1(p) - Phi^-1(q).

For Gaussian noise every threshold proves the same mu, so the middle one will do, where both counts are large.  The
bound on epsilon at a delta of 1e-5 needs an event as rare as delta: with 400,000 runs of a Gaussian of mu = 1, whose
epsilon there is 4.38, the rare event proves 2.4 and the middle one mu = 0.98, which is epsilon 4.28.  The step from mu
to epsilon assumes that the trade-off curve is that of a Gaussian, as a claim in mu, or by sigma, does.  Against any
other claim the two probabilities themselves are held, at every epsilon.

References.  Dong, Roth, Su, JRSS B 84 (2022), on Gaussian differential privacy.  Nasr, Hayes, Steinke, Balle, Tramer,
Jagielski, Carlini, Terzis, USENIX Security 2023, who audit so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..core.accounting.loss import Loss
from ..core.exact import Floats, from_below
from ..core.parameters import Number, rational
from ..losses import gaussian
from .bounds import at_least, at_most, risk
from .estimation import Proves, best_event

_EPSILONS = 65  # at which a claim is held against the probabilities
_STRICTER = 1e-4  # times the risk, by which the event is chosen: all thresholds promise much the same, some by luck


@dataclass(frozen=True)
class GaussianEstimate:
    """A lower bound on mu, which holds with this confidence."""

    mu: float
    confidence: float
    event: str
    hits: tuple[int, int]
    trials: int

    def epsilon(self, delta: Number) -> float:
        """The epsilon at delta of Gaussian noise with this mu."""
        return gaussian(self.mu).epsilon(delta) if self.mu else 0.0

    def refutes(self, claim: Loss | Number) -> bool:
        """Whether a claim is refuted: a mu, or a loss, which is held against the event at every epsilon."""
        if not isinstance(claim, Loss):
            return self.mu > float(rational("claim", claim))
        p, q = _between(max(self.hits), min(self.hits), self.trials, 1 - self.confidence)
        largest = math.log(p / q) if p > q > 0 else 0.0
        return any(p > math.exp(e) * q + claim.delta(e) for e in np.linspace(0, largest, _EPSILONS).tolist())

    def __str__(self) -> str:
        return (
            f"mu is at least {from_below(self.mu, 4)}, with confidence {self.confidence:.12g}:"
            f" {self.event} happened {self.hits[0]} times on x and {self.hits[1]} on y, of {self.trials} each"
        )


def _between(more: Any, fewer: Any, trials: float, alpha: float) -> tuple[Any, Any]:
    """The probability of an event on the input where it is likelier, from below, and on the other, from above."""
    return at_least(more, trials, alpha / 2), at_most(fewer, trials, alpha / 2)


def estimate_mu(
    run: Callable[..., Any],
    x: Any,
    y: Any,
    samples: int = 100_000,
    *,
    confidence: Number = "0.999",
    batch: bool = False,
    last_bits: bool = True,
) -> GaussianEstimate:
    """A lower bound on mu between x and y from so many runs on each; the arguments are those of `estimate`."""
    alpha = risk(confidence)
    chosen = best_event(run, x, y, samples, _bound(alpha * _STRICTER), batch=batch, last_bits=last_bits)
    event, hits, trials = chosen
    proved = _bound(alpha)(*(hits if event.on_x else hits[::-1]), trials)
    return GaussianEstimate(float(proved), 1 - alpha, str(event), hits, trials)


def _bound(alpha: float) -> Proves:
    """The mu that counts prove, wrong with chance at most alpha."""

    def proves(more: Any, fewer: Any, trials: float) -> Floats:
        p, q = _between(more, fewer, trials, alpha)
        with np.errstate(invalid="ignore"):  # an event that is certain, or impossible, on both
            return np.where(p > q, ndtri(p) - ndtri(q), 0.0)

    return proves
