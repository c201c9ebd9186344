"""Private selection: the best of finitely many candidates by a score of sensitivity D.

Every law here takes the scale b of its noise. With b = 2D/eps, or D/eps if all scores move the same way, each
mechanism is eps-DP:
  exponential mechanism   p_i ~ e^(s_i/b), equal to report-noisy-max with Gumbel(b) (McSherry & Talwar 2007)
  permute-and-flip        equal to report-noisy-max with one-sided Exp(b) (McKenna & Sheldon 2020)
  report-noisy-max        the argmax of s_i + Lap(b) (DR14 section 3.3)
An array of scores gives an array of probabilities. DR14 = Dwork & Roth 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..core.errors import BadParameter
from ..core.parameters import Number
from . import _validate as check
from ._numeric import exp_excess, legendre, log_excess, log_integral, log_laplace_cdf
from ._validate import FloatSequence, Vector

NoiseName = Literal["laplace", "exponential", "gumbel"]
NOISES: tuple[NoiseName, ...] = ("laplace", "exponential", "gumbel")


def noise_scale(epsilon: Number, sensitivity: Number = 1.0, *, monotone: bool = False) -> float:
    """b = 2D/eps, or D/eps if all scores move the same way between neighbours (DR14 Thm 3.10)."""
    epsilon = check.positive(epsilon=epsilon)
    sensitivity = check.positive(sensitivity=sensitivity)
    return (1 if monotone else 2) * sensitivity / epsilon


def range_sensitivity(scores: FloatSequence, neighbour: FloatSequence) -> float:
    """max_{r,r'} [(s_r - t_r) - (s_r' - t_r')] for one pair of neighbours; at most 2D, or D if monotone.

    With S its maximum over all pairs, the exponential mechanism at b = S/eps is eps-DP (Dong, Durfee, Rogers 2020).
    """
    s, t = check.vector(scores=scores), check.vector(neighbour=neighbour)
    if s.size != t.size:
        raise BadParameter("neighbour", f"{t.size} scores", f"as many scores as the first ({s.size})")
    return float(np.ptp(s - t))


def log_probabilities(scores: FloatSequence, scale: Number) -> Vector:
    """t_i = s_i - b ln sum_j e^(s_j/b): the normalised scores, for which p_i = e^(t_i/b) is a law.

    There are two types of exponential mechanism: p ~ e^(s/b), where the scores s have sensitivity D, and p = e^(t/b),
    where the normalised scores t have some sensitivity D'.  The second is eps-DP at b = D'/eps, without the factor 2;
    D' is at most 2D, as the scores move by D and the normaliser by D.  If no data move the normaliser, D' = D, and the
    first type loses a factor 2 needlessly: for randomized response, s_y = [y = x], and for Laplace noise,
    s_y = -|f(x) - y| (Dong, Durfee, Rogers 2020).
    """
    s, b = check.vector(scores=scores), check.positive(scale=scale)
    best = s.max()
    return np.asarray(s - best - b * math.log(np.exp((s - best) / b).sum()))


def log_probability_sensitivity(scores: FloatSequence, neighbour: FloatSequence, scale: Number) -> float:
    """max_i |t_i - t_i'| of `log_probabilities` for one pair of neighbours: b times the loss of the pair."""
    s, t = check.vector(scores=scores), check.vector(neighbour=neighbour)
    if s.size != t.size:
        raise BadParameter("neighbour", f"{t.size} scores", f"as many scores as the first ({s.size})")
    return float(np.abs(log_probabilities(s, scale) - log_probabilities(t, scale)).max())


# The laws.


def exponential_mechanism(scores: FloatSequence, scale: Number) -> Vector:
    """p_i = e^(s_i/b) / sum_j e^(s_j/b) (DR14 Def 3.4, with b = 2D/eps)."""
    weight = _weights(scores, scale)
    return np.asarray(weight / weight.sum())


def permute_and_flip(scores: FloatSequence, scale: Number) -> Vector:
    """p_i = w_i Integral_0^1 prod_{j != i} (1 - t w_j) dt, w_j = e^((s_j-max s)/b) (McKenna & Sheldon 2020).

    A random order gives each candidate a uniform time of arrival. Candidate i, arriving at t, wins if the coin of
    bias w_i shows heads and no other candidate j came before t with heads, which has chance t w_j: a polynomial
    in t.
    """
    weight = _weights(scores, scale)
    t, measure = legendre(weight.size // 2 + 1)
    log_miss = np.log1p(-np.outer(weight, t))
    others = np.exp(log_miss.sum(axis=0) - log_miss)
    return np.asarray(weight * (others @ measure))


def noisy_max(scores: FloatSequence, scale: Number, noise: NoiseName = "laplace") -> Vector:
    """p_i = Pr[i = argmax_j s_j + Z_j] = Integral f(x-s_i) prod_{j != i} F(x-s_j) dx (DR14 Claim 3.9)."""
    check.one_of(NOISES, noise=noise)
    if noise == "gumbel":
        return exponential_mechanism(scores, scale)
    if noise == "exponential":
        return permute_and_flip(scores, scale)
    s = check.vector(scores=scores)
    scale = check.positive(scale=scale)
    s = (s - s.max()) / scale
    return np.exp(np.minimum(0.0, [_log_laplace_win(s, i) for i in range(s.size)]))


def laplace_duel(gap: Number, scale: Number) -> float:
    """Pr[the better of two wins under Laplace noise] = 1 - e^-r (1/2 + r/4), r = gap/b."""
    gap = check.nonnegative(gap=gap)
    scale = check.positive(scale=scale)
    r = min(gap / scale, 1e3)  # beyond, the result is 1 in floats
    return 1 - math.exp(-r) * (0.5 + r / 4)


def top_k(scores: FloatSequence, scale: Number, order: Sequence[int]) -> float:
    """Pr[the k largest s_i + Gumbel(b) are these, in order]: exponential mechanisms in turn (Plackett-Luce).

    With eps for each, this is k eps-DP and (k eps^2/8)-zCDP (Durfee & Rogers 2019; Cesar & Rogers 2021).
    """
    s = check.vector(scores=scores)
    left, chance = list(range(s.size)), 1.0
    for pick in check.indices(s.size, order=order):
        at = left.index(pick)
        chance *= float(exponential_mechanism(s[left], scale)[at])
        del left[at]
    return chance


# Utility.


def utility_bound(beta: Number, candidates: int, scale: Number, optimal: int = 1) -> float:
    """b (ln(|R|/|R_OPT|) + t), t = ln(1/beta): the score is this far below OPT with chance at most beta.

    This holds for the exponential mechanism: DR14 Thm 3.11, and Cor 3.12 with |R_OPT| = 1.
    """
    beta = check.probability(beta=beta)
    return expected_gap_bound(candidates, scale, optimal) - check.positive(scale=scale) * math.log(beta)


def expected_gap_bound(candidates: int, scale: Number, optimal: int = 1) -> float:
    """OPT - E s <= b ln(|R|/|R_OPT|): E s/b + entropy = ln Z >= OPT/b + ln|R_OPT|, and entropy <= ln|R|."""
    candidates = check.natural(candidates=candidates)
    optimal = check.natural(optimal=optimal)
    scale = check.positive(scale=scale)
    if optimal > candidates:
        raise BadParameter("optimal", optimal, "at most the number of candidates")
    return scale * (math.log(candidates) - math.log(optimal))


def expected_gap(scores: FloatSequence, probabilities: FloatSequence) -> float:
    """OPT - E s: the expected shortfall of a law on the candidates."""
    s, p = check.vector(scores=scores), check.vector(probabilities=probabilities, low=0)
    if s.size != p.size:
        raise BadParameter("probabilities", f"{p.size} probabilities", f"one for each of {s.size} scores")
    return float(p @ (s.max() - s))


# Privacy of the exponential mechanism beyond eps: its loss has bounded range eps.


def bounded_range_kl(epsilon: Number) -> float:
    """The largest mean loss of an eps-bounded-range pair, y - 1 - ln y, y = eps/(e^eps-1); <= eps^2/8."""
    epsilon = check.positive(epsilon=epsilon)
    y = epsilon * math.exp(-epsilon) / -math.expm1(-epsilon)
    if y < 0.5:
        return y - 1 + epsilon + math.log(-math.expm1(-epsilon)) - math.log(epsilon)
    return log_excess(-exp_excess(epsilon) / math.expm1(epsilon))


def bounded_range_zcdp(epsilon: Number) -> float:
    """rho = eps^2/8 for an eps-bounded-range mechanism (Cesar & Rogers 2021)."""
    epsilon = check.positive(epsilon=epsilon)
    return epsilon * epsilon / 8


def _weights(scores: FloatSequence, scale: Number) -> Vector:
    scale = check.positive(scale=scale)
    s = check.vector(scores=scores)
    return np.asarray(np.exp((s - s.max()) / scale))


def _log_laplace_win(s: Vector, i: int) -> float:
    others = np.delete(s, i)

    def log_f(x: Vector) -> Vector:
        return np.asarray(-np.abs(x - s[i]) - math.log(2) + log_laplace_cdf(x[:, None] - others).sum(axis=1))

    return log_integral(log_f, s.tolist(), width=1.0)
