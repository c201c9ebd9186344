"""Worked examples of the lectures: counting, a mean of bits, the most common colour, a posted price, an election.

Neighbours differ by one record added or removed, so all counts move the same way, and one person moves a
histogram of single choices by 1. DR14 = Dwork & Roth 2014.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..core.parameters import Number
from . import _validate as check
from . import laplace, randomized_response, selection
from ._validate import FloatSequence


@dataclass(frozen=True, slots=True)
class Counting:
    """k counts under one eps: the epsilon and noise of each, and the error of all at once."""

    epsilon_each: float
    scale: float
    union_error: float
    exact_error: float


def counting_queries(queries: int = 100, epsilon: Number = 0.5, beta: Number = 0.05) -> Counting:
    """k counts under one eps; 100 counts under eps = 0.5 get 0.005 and Lap(200) each (DR14 Thm 3.8, Cor 3.15)."""
    each = laplace.epsilon_per_query(epsilon, queries)
    scale = laplace.scale_for(each)
    return Counting(
        each,
        scale,
        laplace.union_error(beta, queries, scale),
        laplace.simultaneous_error(beta, queries, scale),
    )


@dataclass(frozen=True, slots=True)
class MeanOfBits:
    """The mean of n bits, n public: its sensitivity, its noise, and errors by three theorems."""

    sensitivity: float
    scale: float
    deviation: float
    chebyshev_error: float
    tail_error: float
    randomized_response_error: float


def mean_of_bits(n: int, epsilon: Number, beta: Number = 0.05) -> MeanOfBits:
    """Lap(1/(n eps)) on a mean that one substituted bit moves by 1/n, beside randomized response with the same eps.

    Chebyshev's error has 1/sqrt(beta) where the exact tail has ln(1/beta).  Both fall as 1/n; the error of randomized
    response, which needs no curator, falls as 1/sqrt(n).
    """
    n = check.count(n=n)
    scale = laplace.scale_for(epsilon, 1 / n)
    return MeanOfBits(
        sensitivity=1 / n,
        scale=scale,
        deviation=math.sqrt(laplace.variance(scale)),
        chebyshev_error=laplace.chebyshev_error(beta, scale),
        tail_error=laplace.union_error(beta, 1, scale),
        randomized_response_error=randomized_response.hoeffding_error(beta, n, epsilon),
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The law of one private choice under three mechanisms with noise of the same scale."""

    scale: float
    exponential_mechanism: dict[str, float]
    permute_and_flip: dict[str, float]
    noisy_max: dict[str, float]


def most_common(counts: Mapping[str, float], epsilon: Number, *, monotone: bool = True) -> Choice:
    """The most common eye colour: counts as scores, D = 1. Under substitution the counts are not monotone."""
    scale = selection.noise_scale(epsilon, monotone=monotone)
    scores = check.vector(counts=counts, low=0)
    laws = (selection.noisy_max(scores, scale, noise) for noise in ("gumbel", "exponential", "laplace"))
    return Choice(scale, *(dict(zip(counts, law.tolist(), strict=True)) for law in laws))


# A posted price: everyone who values the item at the price or more buys it.


def revenue(price: Number, valuations: FloatSequence) -> float:
    """price * #{v >= price}: the revenue of a posted price."""
    price = check.nonnegative(price=price)
    return float(price * (check.vector(valuations=valuations, low=0) >= price).sum())


def noisy_price_revenue(price: Number, valuations: FloatSequence, scale: Number) -> float:
    """E revenue(price + Lap(b)), exactly: sum over v of E[P; 0 <= P <= v]; nothing is sold at a price below 0."""
    price = check.nonnegative(price=price)
    scale = check.positive(scale=scale)
    v = check.vector(valuations=valuations, low=0)
    decay = np.exp(-np.abs(v - price) / scale)
    partial = np.where(v <= price, (v - scale) / 2 * decay, price - (v + scale) / 2 * decay)
    return float((partial + scale / 2 * math.exp(-price / scale)).sum())


@dataclass(frozen=True, slots=True)
class Sale:
    """A price chosen in three ways: without privacy, by the exponential mechanism, and by noise on the best price."""

    best_price: float
    best_revenue: float
    prices: tuple[float, ...]
    probabilities: tuple[float, ...]
    exponential_revenue: float
    noise_scale: float
    noisy_price_revenue: float


def posted_price(valuations: FloatSequence, prices: FloatSequence, epsilon: Number, *, monotone: bool = False) -> Sale:
    """The price of DR14 Example 3.5: revenue as score, with D the largest price of a grid fixed in advance.

    One buyer may move the best price by the whole width of the grid, so noise on the price needs scale width/eps;
    and as revenue jumps, even a little noise may lose all of it. The exponential mechanism weighs revenues instead.
    """
    grid = check.vector(prices=prices, low=0, least=2)
    largest = check.positive(largest_price=float(grid.max()))
    width = check.positive(width_of_prices=float(np.ptp(grid)))
    revenues = np.array([revenue(price, valuations) for price in grid])
    law = selection.exponential_mechanism(revenues, selection.noise_scale(epsilon, largest, monotone=monotone))
    best = int(revenues.argmax())
    scale = laplace.scale_for(epsilon, width)
    return Sale(
        best_price=float(grid[best]),
        best_revenue=float(revenues[best]),
        prices=tuple(grid.tolist()),
        probabilities=tuple(law.tolist()),
        exponential_revenue=float(law @ revenues),
        noise_scale=scale,
        noisy_price_revenue=noisy_price_revenue(float(grid[best]), valuations, scale),
    )


@dataclass(frozen=True, slots=True)
class Election:
    """An election released as a histogram or as a winner, at one eps: noise, errors, and chances to win."""

    histogram_scale: float
    histogram_error: float
    histogram_winner: tuple[float, ...]
    winner_scale: float
    noisy_max_winner: tuple[float, ...]
    permute_and_flip_winner: tuple[float, ...]


def election(votes: FloatSequence, epsilon: Number, beta: Number = 0.05, *, approval: bool = False) -> Election:
    """One vote each: Lap(1/eps) on each count. Approval: up to |C| votes each, so Lap(|C|/eps) on the histogram.

    The winner alone always needs Lap(1/eps), by report-noisy-max: the counts are monotone (DR14 Claim 3.9).
    """
    counts = check.vector(votes=votes, low=0)
    alone = selection.noise_scale(epsilon, monotone=True)
    wide = laplace.scale_for(epsilon, counts.size if approval else 1)
    return Election(
        histogram_scale=wide,
        histogram_error=laplace.simultaneous_error(beta, counts.size, wide),
        histogram_winner=tuple(selection.noisy_max(counts, wide).tolist()),
        winner_scale=alone,
        noisy_max_winner=tuple(selection.noisy_max(counts, alone).tolist()),
        permute_and_flip_winner=tuple(selection.permute_and_flip(counts, alone).tolist()),
    )
