"""Others' ways with marginals: those that are short run here, in NumPy, and the rest by interpreters of their own.

They are competently fast and as good as they can be at the price, for their noise is set by the exact profile of the
Gaussian mechanism (Balle and Wang 2018); but it is of floating-point numbers, as that of prototypes is.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path

import numpy as np
from _release_peer import Answer, counted, errors
from scipy.optimize import brentq
from scipy.stats import norm

RNG = np.random.default_rng()


@dataclass(frozen=True, eq=False)
class Records:
    """What all are given: codes, a row for each record; the number of values of each attribute; and the price."""

    codes: np.ndarray
    sizes: tuple[int, ...]
    epsilon: float
    delta: float


@dataclass(frozen=True)
class Peer:
    """Another's result: the error on marginals of each number of attributes, and CPU seconds."""

    name: str
    errors: dict[int, float]
    seconds: float
    how: str = "stated"
    same: bool = True  # whether it is known to have had the same columns


@lru_cache
def deviation(epsilon: float, delta: float) -> float:
    """The standard deviation of Gaussian noise on what moves by 1 in l2."""

    def excess(s: float) -> float:
        low, high = (norm.cdf(sign / (2 * s) - epsilon * s) for sign in (1, -1))
        return float(low - math.exp(epsilon) * high - delta)

    return float(brentq(excess, 1e-2, 1e4))


def nonnegative(table: np.ndarray, total: float) -> np.ndarray:
    """The nearest table without a negative count that has this total."""
    down = np.sort(table, axis=None)[::-1]
    over = (np.cumsum(down) - total) / np.arange(1, down.size + 1)
    return np.maximum(table - over[np.flatnonzero(down > over)[-1]], 0)


def laplace(given: Records, k: int) -> Answer:
    """Laplace noise on the table of all attributes, which are few."""
    everything = tuple(range(len(given.sizes)))
    noisy = counted(given.codes, given.sizes, everything) + RNG.laplace(0, 1 / given.epsilon, given.sizes)
    return lambda attributes: noisy.sum(axis=tuple(a for a in everything if a not in attributes))


def independent(given: Records, k: int) -> Answer:
    """Noisy marginals of one attribute, as if attributes were independent."""
    tables = gaussian(given, 1)
    laws = [tables((a,)) for a in range(len(given.sizes))]
    total = laws[0].sum()
    return lambda attributes: reduce(np.multiply.outer, [laws[a] / total for a in attributes]) * total


def gaussian(given: Records, k: int) -> Answer:
    """As much noise on each marginal, made non-negative with one total."""
    codes, sizes, sigma = given.codes, given.sizes, deviation(given.epsilon, given.delta)
    each = list(itertools.combinations(range(len(sizes)), k))
    tables = [counted(codes, sizes, m) for m in each]
    noisy = [table + RNG.normal(0, sigma * math.sqrt(len(each)), table.shape) for table in tables]
    total = max(1.0, np.average([t.sum() for t in noisy], weights=[1 / t.size for t in noisy]))
    return dict(zip(each, (nonnegative(t, total) for t in noisy), strict=True)).__getitem__


def residual(given: Records, k: int) -> Answer:
    """Residual planning of Xiao, He, Zhang and Kifer (2023): for a set A of attributes the part of its marginal that
    those of its subsets do not tell, with the best shares of the price; put together and made non-negative."""
    codes, sizes, sigma = given.codes, given.sizes, deviation(given.epsilon, given.delta)
    each = list(itertools.combinations(range(len(sizes)), k))
    within = {S: [A for j in range(k + 1) for A in itertools.combinations(S, j)] for S in each}
    use: dict[tuple[int, ...], float] = {}
    for S, parts in within.items():
        cells = math.prod(sizes[a] for a in S)
        for A in parts:
            use[A] = use.get(A, 0) + math.prod((sizes[a] - 1) * sizes[a] for a in A) / cells
    moved = {A: math.prod(1 - 1 / sizes[a] for a in A) for A in use}
    whole = sum(math.sqrt(use[A] * moved[A]) for A in use)
    parts_of: dict[tuple[int, ...], np.ndarray] = {}
    for A, u in use.items():
        share = math.sqrt(u * moved[A]) / whole
        table = counted(codes, sizes, A).astype(float) if A else np.array(float(len(codes)))
        table += RNG.normal(0, sigma * math.sqrt(moved[A] / share), table.shape)
        for axis in range(len(A)):
            table -= table.mean(axis=axis, keepdims=True)
        parts_of[A] = table
    total = max(1.0, float(parts_of[()]))
    answers = {}
    for S, parts in within.items():
        found = np.zeros([sizes[a] for a in S])
        for A in parts:
            shape = [sizes[a] if a in A else 1 for a in S]
            found += parts_of[A].reshape(shape) / math.prod(sizes[a] for a in S if a not in A)
        answers[S] = nonnegative(found, total)
    return answers.__getitem__


PLAIN: dict[str, Callable[[Records, int], Answer]] = {
    "residual + non-negativity": residual,
    "Gaussian per marginal": gaussian,
    "independent 1-way": independent,
    "Laplace on all cells": laplace,
}


def here(name: str, given: Records, k: int, runs: int) -> Peer:
    """The mean of some runs in this process."""
    found, spent = [], 0.0
    for _ in range(runs):
        start = time.process_time()
        answer = PLAIN[name](given, k)
        spent += time.process_time() - start
        found.append(next(errors(given.codes, given.sizes, answer, (k,))))
    return Peer(name, {k: float(np.mean(found))}, spent / runs, "measured")


def apart(name: str, python: str, given: Records, k: int) -> Peer:
    """One run by another interpreter; a name is that of a mechanism and, in parentheses, of what has it."""
    mechanism, _, package = name.rstrip(")").partition(" (")
    script = Path(__file__).with_name(f"release_{package.lower()}.py")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.npz"
        np.savez(path, **vars(given))
        command = [python, str(script), str(path), mechanism, str(k)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return Peer(name, dict(enumerate(told["errors"], 1)), told["seconds"], "measured")
