"""The privacy loss as a martingale, and the random walk it is compared with.

A martingale is a sequence of random numbers whose next member is, on average and given the past, the present one.
Heads minus tails of a fair coin is a martingale, a random walk.  The sum of the privacy losses L_1, L_2, ... of
mechanisms chosen one after the other is not, since each loss has a mean above 0, its KL divergence; but

    S_k = sum over i <= k of (L_i - E[L_i | the past])

is a martingale, however each mechanism is chosen after seeing earlier results.  Its differences lie in intervals of
length 2 eps, so by Azuma's inequality S_k exceeds eps sqrt(2 k ln(1/beta)) with probability at most beta: this is
advanced composition.

Draws are words of the system's generator rounded to 53 bits: good enough for a plot, not for a release.
References.  Azuma 1967; Dwork, Rothblum, Vadhan 2010.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..composition import azuma_inverse
from ..core.errors import BadParameter
from ..core.parameters import Number, function
from ..core.randomness import SYSTEM, Source
from . import _validate as check
from . import laplace
from .concentration import PAIRS, losses

Choose = Callable[[Sequence[float]], Number]
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Walks:
    """Paths of a martingale from 0, one in each row; each step lies within an interval of length 2 `epsilon`."""

    paths: NDArray[np.float64]
    epsilon: float

    @property
    def steps(self) -> int:
        """The number of steps of each path."""
        return int(self.paths.shape[1]) - 1

    def azuma(self, beta: Number = 0.05) -> list[float]:
        """eps sqrt(2 k ln(1/beta)) for k = 0, 1, ...: a path exceeds it after k steps with probability at most beta."""
        beta = check.probability(beta=beta)
        return [0.0, *(azuma_inverse(k, self.epsilon, beta) for k in range(1, self.steps + 1))]


@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of k coins: their losses, the probability of the outcome, and the martingale after each coin."""

    losses: tuple[float, ...]
    chance: float
    path: tuple[float, ...]


def coin_tosses(k: int = 100, walks: int = 50, source: Source = SYSTEM) -> Walks:
    """Walks of heads minus tails in k tosses of a fair coin."""
    k, walks = check.count(k=k), check.count(walks=walks)
    heads = (source.words(k * walks) & np.uint64(1)).astype(np.float64)
    return _walks((2 * heads - 1).reshape(walks, k), 1.0)


def privacy_walk(
    pair: str = "coin", epsilon: Number = 0.1, k: int = 100, walks: int = 50, source: Source = SYSTEM
) -> Walks:
    """Walks of the losses of k mechanisms less their means.

    For a Gaussian pair `epsilon` is mu, and the bound is Chernoff's.
    """
    check.one_of(PAIRS, pair=pair)
    k, walks = check.count(k=k), check.count(walks=walks)
    drawn = losses(pair, epsilon, k * walks, source).reshape(walks, k)
    e = check.positive(epsilon=epsilon)
    mean = {"coin": e * math.tanh(e / 2), "laplace": laplace.kl_divergence(e), "gaussian": e * e / 2}[pair]
    return _walks(drawn - mean, e)


def adaptive_walk(choose: Choose, k: int = 100, walks: int = 50, source: Source = SYSTEM) -> Walks:
    """Walks of the losses of k coins less their means, where `choose` sets the next epsilon from the losses so far."""
    function("choose", choose, "a function of the losses so far that returns the next epsilon")
    k, walks = check.count(k=k), check.count(walks=walks)
    uniform = ((source.words(k * walks) >> np.uint64(11)) + 0.5).reshape(walks, k) * 2.0**-53
    steps, largest = np.empty((walks, k)), 0.0
    for walk in range(walks):
        past: list[float] = []
        for i in range(k):
            e = _chosen(choose, past)
            past.append(e if uniform[walk, i] < 1 / (1 + math.exp(-e)) else -e)
            steps[walk, i] = past[-1] - e * math.tanh(e / 2)
            largest = max(largest, e)
    return _walks(steps, largest)


def tree(choose: Choose, k: int = 8) -> tuple[Branch, ...]:
    """All 2^k outcomes of k coins whose epsilons `choose` sets, with their exact probabilities."""
    function("choose", choose, "a function of the losses so far that returns the next epsilon")
    if check.count(k=k) > _MAX_DEPTH:
        raise BadParameter("k", k, f"at most {_MAX_DEPTH}, since all 2^k outcomes are listed")
    branches = [Branch((), 1.0, (0.0,))]
    for _ in range(k):
        branches = [leaf for branch in branches for leaf in _both_outcomes(branch, _chosen(choose, branch.losses))]
    return tuple(branches)


def _both_outcomes(branch: Branch, e: float) -> tuple[Branch, Branch]:
    heads, mean = 1 / (1 + math.exp(-e)), e * math.tanh(e / 2)
    one, other = (
        Branch((*branch.losses, loss), branch.chance * chance, (*branch.path, branch.path[-1] + loss - mean))
        for loss, chance in ((e, heads), (-e, 1 - heads))
    )
    return one, other


def _chosen(choose: Choose, past: Sequence[float]) -> float:
    return check.positive(epsilon=choose(tuple(past)))


def _walks(steps: NDArray[np.float64], epsilon: float) -> Walks:
    return Walks(np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1), epsilon)
