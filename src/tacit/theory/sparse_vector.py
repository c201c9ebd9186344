"""The sparse vector technique: which of a stream of queries lie above a threshold.

AboveThreshold compares q_i + Z_i with T + Z and stops at the first TOP. The threshold noise Z is drawn once,
the query noise Z_i afresh, and only the index is released (DR14 Alg 1; Lyu, Su, Li 2017, called LSL17 below).
With threshold noise of scale D/eps1 and query noise of scale 2cD/eps2, or cD/eps2 if all queries move the
same way, c TOPs cost eps1 + eps2 however many BOTs there are: for Laplace noise, and for one-sided
exponential noise, which has half the variance. Errors are as in DR14 = Dwork & Roth 2014: with probability
1 - beta, over k queries of which at most c are T - alpha or more, every TOP has q_i >= T - alpha and every BOT
has q_i <= T + alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.errors import BadParameter
from ..core.parameters import Number
from . import _validate as check
from ._numeric import log_exponential_cdf, log_integral, log_laplace_cdf
from ._validate import FloatSequence, Vector

NoiseName = Literal["laplace", "exponential"]
NOISES: tuple[NoiseName, ...] = ("laplace", "exponential")


@dataclass(frozen=True, slots=True)
class Scales:
    """Scales of the noise on the threshold, on each query, and on each released number, if numbers are released."""

    threshold: float
    query: float
    answer: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check.positive(threshold=self.threshold))
        object.__setattr__(self, "query", check.positive(query=self.query))
        if self.answer is not None:
            object.__setattr__(self, "answer", check.positive(answer=self.answer))

    def variance(self, noise: NoiseName = "laplace") -> float:
        """Var(Z_i - Z) of the noise in a comparison: 2 b^2 + 2 b'^2, or half of it for exponential noise."""
        check.one_of(NOISES, noise=noise)
        return (2 if noise == "laplace" else 1) * (self.threshold**2 + self.query**2)


# The exact law of AboveThreshold.


def above_threshold(queries: FloatSequence, threshold: Number, scales: Scales, noise: NoiseName = "laplace") -> Vector:
    """Pr[TOP at i] = Integral f(z) prod_{j<i} F(T+z-q_j) (1 - F(T+z-q_i)) dz for each i, then Pr[no TOP]."""
    gaps = _gaps(queries, threshold, noise)
    return np.exp(np.minimum(0.0, [_log_outcome(gaps, i, scales, noise) for i in range(gaps.size + 1)]))


def worst_loss(
    queries: FloatSequence,
    threshold: Number,
    scales: Scales,
    noise: NoiseName = "laplace",
    sensitivity: Number = 1.0,
    *,
    monotone: bool = False,
) -> float:
    """The largest |ln ratio| of the chance of an outcome here and at a neighbour with queries within D of these.

    The chance of TOP at i grows with q_i and falls with the earlier queries: the worst neighbours for this
    outcome move the earlier queries one way and q_i the other, or only one of the two if all must move the same way.
    """
    sensitivity = check.positive(sensitivity=sensitivity)
    gaps, d = _gaps(queries, threshold, noise), sensitivity
    moves = [(d, 0), (-d, 0), (0, d), (0, -d)] if monotone else [(d, -d), (-d, d)]
    worst = 0.0
    for i in range(gaps.size + 1):
        here = _log_outcome(gaps, i, scales, noise)
        for before, at in moves:
            there = _log_outcome(gaps + np.where(np.arange(gaps.size) < i, before, at), i, scales, noise)
            worst = max(worst, abs(there - here))
    return worst


# Scales and errors as printed in DR14, for queries of sensitivity D = 1 unless given otherwise.


def above_threshold_scales(epsilon: Number, sensitivity: Number = 1.0) -> Scales:
    """Lap(2D/eps) on the threshold, Lap(4D/eps) on each query (DR14 Alg 1, Thm 3.23)."""
    epsilon = check.positive(epsilon=epsilon)
    sensitivity = check.positive(sensitivity=sensitivity)
    return Scales(2 * sensitivity / epsilon, 4 * sensitivity / epsilon)


def above_threshold_error(beta: Number, queries: int, epsilon: Number, sensitivity: Number = 1.0) -> float:
    """alpha = 8 D (ln k + ln(2/beta)) / eps (DR14 Thm 3.24)."""
    sensitivity = check.positive(sensitivity=sensitivity)
    return sensitivity * sparse_error(beta, queries, 1, epsilon)


def sparse_scales(epsilon: Number, tops: int, delta: Number = 0.0) -> Scales:
    """b = 2c/eps, or sqrt(32 c ln(1/delta))/eps with delta, on the threshold; 2b on queries (DR14 Alg 2)."""
    scale = _composed_scale(epsilon, tops, delta)
    return Scales(scale, 2 * scale)


def sparse_error(beta: Number, queries: int, tops: int, epsilon: Number, delta: Number = 0.0) -> float:
    """alpha = (ln k + ln(2c/beta)) 8c/eps, or sqrt(512 c ln(1/delta))/eps in place of 8c (DR14 Thm 3.26)."""
    beta = check.probability(beta=beta)
    queries = check.count(queries=queries)
    tops = check.count(tops=tops)
    return 4 * _composed_scale(epsilon, tops, delta) * (math.log(2 * tops * queries) - math.log(beta))


def numeric_sparse_split(epsilon: Number, delta: Number = 0.0) -> tuple[float, float]:
    """(eps1, eps2) = (8/9, 2/9) eps, or (sqrt 512, 2)/(sqrt 512 + 1) eps with delta (DR14 Alg 3).

    The two sum to more than eps, since numbers with noise of scale 2c/eps2 cost eps2/2.
    """
    epsilon = check.positive(epsilon=epsilon)
    delta = check.slack(delta=delta)
    share = math.sqrt(512) if delta else 8.0
    return share / (share + 1) * epsilon, 2 / (share + 1) * epsilon


def numeric_sparse_scales(epsilon: Number, tops: int, delta: Number = 0.0) -> Scales:
    """sparse_scales at (eps1, delta/2), and on numbers the threshold scale of (eps2, delta/2) (DR14 Alg 3)."""
    epsilon1, epsilon2 = numeric_sparse_split(epsilon, delta)
    half = check.slack(delta=delta) / 2
    scale = _composed_scale(epsilon1, tops, half)
    return Scales(scale, 2 * scale, _composed_scale(epsilon2, tops, half))


def numeric_sparse_error(beta: Number, queries: int, tops: int, epsilon: Number, delta: Number = 0.0) -> float:
    """alpha = (ln k + ln(4c/beta)) 9c/eps, or (sqrt 512 + 1) sqrt(c ln(2/delta))/eps (DR14 Thm 3.28).

    The numbers, too, are each within alpha of their query.
    """
    beta = check.probability(beta=beta)
    epsilon1, _ = numeric_sparse_split(epsilon, delta)
    return sparse_error(beta / 2, queries, tops, epsilon1, check.slack(delta=delta) / 2)


# Better choices.


def optimal_split(tops: int, *, monotone: bool = False) -> float:
    """eps1/(eps1 + eps2) = 1/(1 + (2c)^(2/3)), or c for 2c if monotone: the least variance (LSL17)."""
    tops = check.count(tops=tops)
    return 1 / (1 + math.cbrt((1 if monotone else 2) * tops) ** 2)


def optimal_scales(epsilon: Number, tops: int, sensitivity: Number = 1.0, *, monotone: bool = False) -> Scales:
    """Lap(D/eps1) on the threshold, Lap(2cD/eps2) or Lap(cD/eps2) on queries, at `optimal_split` (LSL17 Alg 7)."""
    epsilon = check.positive(epsilon=epsilon)
    sensitivity = check.positive(sensitivity=sensitivity)
    epsilon1 = epsilon * optimal_split(tops, monotone=monotone)
    epsilon2 = epsilon - epsilon1
    return Scales(sensitivity / epsilon1, (1 if monotone else 2) * tops * sensitivity / epsilon2)


def gaussian_renyi(
    order: Number, queries: int, sigma_threshold: Number, sigma_query: Number, sensitivity: Number = 1.0
) -> float:
    """a D^2/(2 s^2) + a (2D)^2/(2 s'^2) + ln(k+1)/(a-1): AboveThreshold with normal noise, at most k queries.

    After Zhu & Wang 2020: x^a y^(1-a) is jointly convex; shift both noises for each of the k+1 outcomes.
    """
    order = check.above_one(order=order)
    queries = check.count(queries=queries)
    sigma_threshold = check.positive(sigma_threshold=sigma_threshold)
    sigma_query = check.positive(sigma_query=sigma_query)
    sensitivity = check.positive(sensitivity=sensitivity)
    shifts = (sensitivity / sigma_threshold) ** 2 + (2 * sensitivity / sigma_query) ** 2
    return order * shifts / 2 + math.log1p(queries) / (order - 1)


def _composed_scale(epsilon: Number, tops: int, delta: Number) -> float:
    """The scale at which c rounds of AboveThreshold cost eps, by basic or by advanced composition."""
    epsilon = check.positive(epsilon=epsilon)
    tops = check.count(tops=tops)
    delta = check.slack(delta=delta)
    if delta and epsilon > -8 * math.log(delta):  # required by DR14 Cor 3.21
        raise BadParameter("epsilon", epsilon, "at most 8 ln(1/delta)")
    return (math.sqrt(-32 * tops * math.log(delta)) if delta else 2 * tops) / epsilon


def _gaps(queries: FloatSequence, threshold: Number, noise: NoiseName) -> Vector:
    threshold = check.real(threshold=threshold)
    check.one_of(NOISES, noise=noise)
    return threshold - check.vector(queries=queries)


def _log_outcome(gaps: Vector, stop: int, scales: Scales, noise: NoiseName) -> float:
    """ln Pr[BOT before `stop`, and TOP there if there is such a query], gaps being T - q_i."""
    before, at = gaps[:stop], gaps[stop : stop + 1]

    def log_f(z: Vector) -> Vector:
        fail, succeed = (z[:, None] + before) / scales.query, (z[:, None] + at) / scales.query
        if noise == "laplace":
            logs = log_laplace_cdf(fail).sum(axis=1) + log_laplace_cdf(-succeed).sum(axis=1) - math.log(2)
        else:
            logs = log_exponential_cdf(fail).sum(axis=1) - np.maximum(succeed, 0).sum(axis=1)
        return np.asarray(logs - np.abs(z) / scales.threshold - math.log(scales.threshold))

    low = -math.inf if noise == "laplace" else max([0.0, *-before])
    return log_integral(log_f, [0.0, *-gaps[: stop + 1]], min(scales.threshold, scales.query), low)
