"""How much of a secret column returns, as defences, noise and the number of questions vary."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.parameters import Number, positive, whole
from ...core.randomness import SYSTEM, Source
from ...mechanisms import Laplace
from .reconstruction import Norm, asked, noisy_sums, reconstruct, secret_column, subset_queries
from .system import System

Row = dict[str, Any]
SubsetSums = NDArray[np.int64]
Defence = Callable[[SubsetSums, Source], NDArray[Any]]  # what is released of true sums; NaN where nothing is

SMALL = 10  # counts below are suppressed
BASE = 10  # counts are rounded to multiples of it
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # so many questions for each person


def defences(n: int, epsilon: Number = 1) -> dict[str, Defence]:
    """What a curator of n people might do; the last is what tacit's noise does to sums."""
    total = positive("epsilon", epsilon)

    def tacit(sums: SubsetSums, source: Source) -> NDArray[Any]:
        return np.asarray(Laplace(scale=sums.size / total).sample(sums, source))

    def noise(times: float) -> Defence:
        return lambda sums, source: np.asarray(Laplace(scale=times * math.sqrt(n)).sample(sums, source))

    return {
        "exact": lambda sums, source: sums,
        f"below {SMALL} suppressed": lambda sums, source: np.where(sums < SMALL, math.nan, sums),
        f"rounded to {BASE}": lambda sums, source: BASE * np.rint(sums / BASE),
        "noise sqrt(n)/10 each": noise(0.1),
        "noise sqrt(n) each": noise(1.0),
        f"tacit, epsilon {float(total):g} in all": tacit,
    }


def compare(
    n: int = 128,
    times: Sequence[float] = TIMES,
    *,
    using: Mapping[str, Defence] | None = None,
    repeats: int = 3,
    norm: Norm = "l1",
    source: Source = SYSTEM,
    system: System | None = None,
) -> list[Row]:
    """The share of n secret bits recovered under each defence from `times` n random subset sums; 1/2 is chance.

    A `system` is asked the same questions at epsilon 1 in all, in place of the last of the defences.
    """
    using = defences(whole("n", n)) if using is None else using
    asked_last = None if system is None else list(using)[-1]
    rows = []
    for name, defence in using.items():
        for many in times:
            shares = []
            for _ in range(whole("repeats", repeats)):
                secret, queries = secret_column(n, source), subset_queries(n, math.ceil(many * n), source)
                if system is not None and name == asked_last:
                    answers = asked(system, secret, queries)
                else:
                    answers = np.asarray(defence(queries.astype(np.int64) @ secret, source), np.float64)
                seen = ~np.isnan(answers)
                guess = reconstruct(queries[seen], answers[seen], norm) if seen.any() else np.zeros(n, np.bool_)
                shares.append(float(np.mean(guess == secret)))
            rows.append({"defence": name, "queries": math.ceil(many * n), "recovered": math.fsum(shares) / repeats})
    return rows


def transition(
    sizes: Sequence[int] = (64, 128, 256),
    ratios: Sequence[float] = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0),
    *,
    times: float = 4.0,
    repeats: int = 3,
    norm: Norm = "l1",
    source: Source = SYSTEM,
) -> list[Row]:
    """The share recovered from `times` n sums against noise / sqrt(n): for all n it falls in the same place."""
    rows = []
    for n in sizes:
        for ratio in ratios:
            shares = []
            for _ in range(whole("repeats", repeats)):
                secret, queries = secret_column(n, source), subset_queries(n, math.ceil(times * n), source)
                answers = noisy_sums(secret, queries, ratio * math.sqrt(n), source)
                shares.append(float(np.mean(reconstruct(queries, answers, norm) == secret)))
            share = math.fsum(shares) / repeats
            rows.append({"n": n, "noise": ratio * math.sqrt(n), "ratio": ratio, "recovered": share})
    return rows
