r"""Confidence bounds that hold for every sample size: what counts prove of probabilities, and of epsilon.

Clopper and Pearson (1934).  Of n trials h were hits.  P[at least h hits] = I_p(h, n - h + 1) grows with p, so p is,
with confidence 1 - alpha, at least the p at which this is alpha; likewise from above.

Two samples.  If M is (epsilon, delta)-private, P(E) <= e^epsilon Q(E) + delta for every event E chosen beforehand.  So
epsilon >= ln((p - delta) / q) with p below P(E) and q above Q(E), each with confidence 1 - alpha/2.

One run (Steinke, Nasr, Jagielski, NeurIPS 2023, theorem 3.1 and its delta = 0 case).  Each of m records is in or out by
the toss of a fair coin, M is run once, and from its output r of the m tosses are guessed.  If M is (epsilon, delta)
private for each record then, with W ~ Binomial(r, e^epsilon / (1 + e^epsilon)),

    P[at least v right]  <=  P[W >= v] + 2 m delta max over i of P[v - i <= W < v] / i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, gammaln

from ..core.errors import BadParameter
from ..core.exact import Floats
from ..core.parameters import Number, failure, probability, whole
from ..core.search import least

MAX_EPSILON = 64.0  # that is proved: a greater one would take more samples than anyone has


def risk(confidence: Number) -> float:
    """The chance of error that a confidence leaves."""
    return float(1 - probability("confidence", confidence))


def at_least(hits: Any, trials: float, alpha: float) -> Floats:
    """A lower bound on the probability of an event seen `hits` times in `trials`; wrong with chance at most alpha."""
    h = np.asarray(hits, np.float64)
    return np.where(h > 0, betaincinv(np.maximum(h, 1e-9), trials - h + 1, alpha), 0.0)


def at_most(hits: Any, trials: float, alpha: float) -> Floats:
    """An upper bound on the probability of an event seen `hits` times in `trials`; wrong with chance at most alpha."""
    h = np.asarray(hits, np.float64)
    return np.where(h < trials, betainccinv(h + 1, np.maximum(trials - h, 1e-9), alpha), 1.0)


def two_samples(hits_x: Any, hits_y: Any, trials: float, delta: float, alpha: float) -> Floats:
    """A lower bound on epsilon from how often one event happened in `trials` runs on x, and as many on y."""
    p, q = at_least(hits_x, trials, alpha / 2) - delta, at_most(hits_y, trials, alpha / 2)
    return np.where(p > q, np.log(np.maximum(p, 1e-300) / q), 0.0)


def one_run_p_value(records: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """An upper bound on the chance of so many right guesses, if the mechanism is (epsilon, delta)-private."""
    if not right:
        return 1.0
    chance = 1 / (1 + math.exp(-epsilon))
    p = float(betainc(right, guesses - right + 1, chance))  # P[W >= right]
    if delta:
        w = np.arange(right - 1, -1, -1)
        ways = gammaln(guesses + 1) - gammaln(w + 1) - gammaln(guesses - w + 1)
        below = np.cumsum(np.exp(ways + w * math.log(chance) - (guesses - w) * (epsilon - math.log(chance))))
        p += 2 * records * delta * float(np.max(below / np.arange(1, right + 1)))
    return min(1.0, p)


def one_run_epsilon(
    guesses: int, right: int, *, records: int | None = None, delta: Number = 0, confidence: Number = "0.999"
) -> float:
    """The lower bound on epsilon that so many right guesses prove; `records` is about how many one could guess."""
    r, alpha, d = whole("guesses", guesses), risk(confidence), float(failure("delta", delta))
    v, m = whole("right", right, at_least=0), whole("records", r if records is None else records)
    if v > r or r > m:
        raise BadParameter(
            "right",
            right,
            "at most the number of guesses",
            says=f"There cannot be {v} right guesses of {r} about {m} records. Pass right <= guesses <= records.",
        )
    if not d:  # P[W >= v] alone, which Clopper and Pearson invert
        chance = float(at_least(v, r, alpha))
        return math.log(chance / (1 - chance)) if chance > 0.5 else 0.0
    refuted = least(lambda e: one_run_p_value(m, r, v, e, d) > alpha, 2.0**-30, MAX_EPSILON)
    return 0.0 if refuted <= 2.0**-29 else min(refuted, MAX_EPSILON) * (1 - 2.0**-39)
