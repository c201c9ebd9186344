r"""Report noisy max.

Definition.  M(u) = argmax_i u_i + Z_i, of equals the first, with independent noise Z_i:
    laplace       P[Z = k] = (1 - q)/(1 + q) q^|k|, q = exp(-1 / scale), in steps
    exponential   continuous, of this scale: the law of permute-and-flip, and drawn as such
    gumbel        continuous, of this scale: the law of the exponential mechanism, and drawn as such
Only the index is released; the noisy score itself would cost more, and its lead nothing (`noisy_max_with_gap.py`).

Privacy.  If the moves of the scores have range at most r then M is (r / scale)-DP.  Given the others' noise, i wins if
Z_i >= t for a whole t, the tie-break included; on u' it wins if Z_i >= t' with t' <= t + r, and P[Z >= t + 1] >=
q P[Z >= t] for every whole t, so P[Z >= t + r] >= q^r P[Z >= t].  Gumbel noise has bounded range besides.

Utility.  With Laplace noise the choice falls short by g or more with probability at most P[max of m - o noises >= g +
max of o others], which is summed over the latter: exactly for scales up to 64 steps, above that over blocks of 1/64
of the scale, each by its worst value.  `error` is the quantile of this; `classical_error` is 2 scale ln(m / beta), when
no noise exceeds half of that.  The mean gap is at most E max Z <= scale (1 + 1/2 + ... + 1/m).

References.  Dwork and Roth (2014), section 3.3 and claim 3.9; Ding, Kifer, Steinke and others (2021),
arXiv 2105.07260, for exponential noise; Durfee and Rogers, NeurIPS 2019, for Gumbel noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from ...core import samplers
from ...core.accounting.loss import Pure
from ...core.distance import Distance
from ...core.errors import BadParameter
from ...core.mechanism import Example
from ...core.parameters import Number, one_of
from ...core.randomness import Source
from ._rule import Gaps, Masses, SelectionRule, harmonic
from ._scores import Scores, SelectOne
from .exponential import Exponential
from .permute_and_flip import PermuteAndFlip

_MAX_VALUES = 1 << 28  # at which each candidate may win: half a minute
_CELLS = 1 << 20  # of the table of winning values, held at once


def log_at_most(k: Masses, rate: float) -> Masses:
    """ln P[Z <= k] for discrete Laplace noise of scale 1 / rate."""
    outer = np.exp(-np.abs(k + 0.5) * rate - rate / 2) / (1 + math.exp(-rate))  # P[Z > k], or P[Z <= k] for k < 0
    return np.where(k >= 0, np.log1p(-outer), k * rate - math.log1p(math.exp(-rate)))


class LaplaceMax(SelectionRule):
    """The largest of -gap + discrete Laplace noise, ties to the first."""

    atom = Pure

    def masses(self, gaps: Gaps, unit: Fraction) -> Masses:
        """P[i wins] = sum over v of P[-gap_i + Z_i = v] P[those before i are below v, those after at most v]."""
        rate = float(unit)
        end = math.ceil(92 / rate) + 1  # e^-92 of each mass lies beyond, above 0 and below the last score
        lowest = -end - min(int(gaps.max()), math.ceil(800 / rate))  # who is farther behind has no mass as a float
        if (end - lowest) * gaps.size > _MAX_VALUES:
            raise BadParameter(
                "scale", float(1 / unit), f"at most {_MAX_VALUES // (184 * gaps.size)} for a law of {gaps.size} scores"
            )
        masses, block = np.zeros(gaps.size), max(1, _CELLS // gaps.size)
        for start in range(lowest, end + 1, block):
            noise = np.arange(start, min(start + block, end + 1)) + gaps[:, None].astype(float)
            before, after = np.zeros_like(noise), np.zeros_like(noise)
            np.cumsum(log_at_most(noise[:-1] - 1, rate), axis=0, out=before[1:])
            np.cumsum(log_at_most(noise[:0:-1], rate), axis=0, out=after[-2::-1])
            masses += np.exp(before + after - np.abs(noise) * rate).sum(axis=1)
        return masses * math.tanh(rate / 2)

    def draw(self, gaps: Gaps, unit: Fraction, source: Source) -> int:
        noise = samplers.laplace(1 / unit, source, gaps.size)
        noise -= gaps
        return int(np.argmax(noise))

    def tail(self, gap: int, unit: Fraction, candidates: int, optimal: int) -> float:
        rate = float(unit)
        width = math.ceil(1 / (64 * unit))
        blocks = math.ceil(45 / (rate * width)) + 1  # e^-45 of a tail, which is q^gap and more, lies beyond
        starts = width * np.arange(-blocks - gap // width, blocks + 1, dtype=float)
        below = optimal * log_at_most(starts - 1, rate)  # ln P[the best of the optimal is below the block]
        inside = np.exp(np.append(below[1:], 0.0)) * -np.expm1(-np.diff(below, append=0.0))
        beaten = -np.expm1((candidates - optimal) * log_at_most(starts + (gap - 1), rate))
        return math.exp(below[0]) + float(inside @ beaten)

    def mean(self, candidates: int, optimal: int) -> float:
        return harmonic(0, candidates)

    def classical(self, beta: float, candidates: int, optimal: int) -> float:
        return 2 * (math.log(candidates) - math.log(beta))


NoiseName = Literal["laplace", "exponential", "gumbel"]
RULES: dict[str, SelectionRule] = {
    "laplace": LaplaceMax(),
    "exponential": PermuteAndFlip.rule,
    "gumbel": Exponential.rule,
}


@dataclass(frozen=True, init=False, repr=False)
class NoisyMax(SelectOne):
    """Choose the candidate whose score is highest after noise."""

    noise: NoiseName

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        range_sensitivity: Number | Distance[Any] | None = None,
        monotone: bool = False,
        grid: Number | None = None,
        candidates: int | None = None,
        noise: NoiseName = "laplace",
    ) -> None:
        object.__setattr__(self, "noise", one_of("noise", noise, RULES))
        super().__init__(
            epsilon=epsilon,
            rho=rho,
            sensitivity=sensitivity,
            range_sensitivity=range_sensitivity,
            monotone=monotone,
            grid=grid,
            candidates=candidates,
        )

    @property
    def rule(self) -> SelectionRule:
        return RULES[self.noise]

    @classmethod
    def examples(cls) -> Iterable[Example[Scores]]:
        for epsilon in ("0.5", 1, 3):
            yield Example(cls(epsilon=epsilon, candidates=3), np.array([3, 2, 2]), np.array([2, 3, 3]), 1)
        yield Example(cls(epsilon=1, candidates=2), np.array([0, 10]), np.array([1, 9]), 1)
        yield Example(cls(epsilon=2, monotone=True, candidates=2), np.array([0, 12]), np.array([1, 12]), 1)
        yield Example(cls(epsilon=1, candidates=4), np.array([0, 0, 0, 9]), np.array([3, 3, 3, 6]), 3)
        yield Example(cls(epsilon=1, monotone=True, candidates=2), np.array([0, 0]), np.array([0, 1]), 1)
        yield Example(cls(epsilon=1, monotone=True, candidates=2), np.array([0, 0]), np.array([1, 0]), 1)
        for noise in ("exponential", "gumbel"):
            yield Example(cls(epsilon=1, noise=noise, candidates=3), np.array([3, 2, 2]), np.array([2, 3, 3]), 1)
        yield Example(
            cls(epsilon=1, sensitivity="0.3", grid="0.25", candidates=3),
            np.array([0.12, 0.4, 1.0]),
            np.array([0.42, 0.1, 1.3]),
            "0.3",
        )
