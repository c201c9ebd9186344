"""Others' ways with ranges of one attribute, in NumPy: a tree made monotone, DAWA, and HDMM's strategy for a line.

A way has counts, epsilon and the ends of the ranges, and gives estimates of the cells.  The noise is of floating-point
numbers, as that of prototypes is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.optimize import isotonic_regression, minimize

RNG = np.random.default_rng()
PARTITION = 0.25  # of DAWA's epsilon, the share of its partition
SOME = 128  # ranges that a tree is fitted to
STEPS = 200  # of HDMM's search
SHARES = 0, 0.05, 0.1, 0.2, 0.35, 0.5


def least_squares(noisy: Sequence[np.ndarray], variances: Sequence[np.ndarray], branching: int) -> np.ndarray:
    """The cells that fit a tree of noisy counts best, up and down (Hay, Rastogi, Miklau and Suciu 2010)."""
    z, V = [noisy[0]], [variances[0]]
    for y, own in zip(noisy[1:], variances[1:], strict=True):
        below, spread = (a[-1].reshape(-1, branching).sum(axis=1) for a in (z, V))
        k = np.divide(spread, spread + own, out=np.zeros_like(spread), where=spread > 0)
        z.append(k * y + (1 - k) * below)
        V.append((1 - k) * spread)
    h = z[-1]
    for own, spread in zip(z[-2::-1], V[-2::-1], strict=True):
        each, weights = own.reshape(-1, branching), spread.reshape(-1, branching)
        whole = weights.sum(axis=1)
        missing = np.divide(h - each.sum(axis=1), whole, out=np.zeros_like(whole), where=whole > 0)
        h = (each + weights * missing[:, None]).ravel()
    return h


def tree(counts: np.ndarray, branching: int, epsilons: Sequence[float]) -> np.ndarray:
    """Laplace noise on each level, of its epsilon if it has one; cells beyond the last are known to be empty."""
    size = branching ** (len(epsilons) - 1)
    level, real = np.zeros(size), np.zeros(size, bool)
    level[: counts.size], real[: counts.size] = counts, True
    noisy, variances = [], []
    for i, epsilon in enumerate(epsilons):
        if i:
            level, real = level.reshape(-1, branching).sum(axis=1), real.reshape(-1, branching).any(axis=1)
        scale = 1 / epsilon if epsilon else 0
        noisy.append(np.where(real, level + RNG.laplace(0, scale, level.size), 0))
        variances.append(np.where(real, 2 * scale**2 if epsilon else np.inf, 0))
    return least_squares(noisy, variances, branching)[: counts.size]


def depth(size: int, branching: int) -> int:
    levels = 1
    while branching ** (levels - 1) < size:
        levels += 1
    return levels


def monotone(cells: np.ndarray) -> np.ndarray:
    """The nearest cumulative counts that are not negative and never fall."""
    return np.diff(np.maximum(isotonic_regression(np.cumsum(cells)).x, 0), prepend=0)


def sixteen(counts: np.ndarray, epsilon: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A 16-ary tree of equal shares, made consistent and monotone."""
    levels = depth(counts.size, 16)
    return monotone(tree(counts, 16, [epsilon / levels] * levels))


def dawa(counts: np.ndarray, epsilon: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Li, Hay, Miklau and Wang (2014): buckets chosen by noisy costs, measured by a tree that suits the ranges."""
    ends = partition(counts, PARTITION * epsilon, (1 - PARTITION) * epsilon)
    bucket = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    sums = np.bincount(bucket, counts)
    starts = np.concatenate([[0], ends[:-1]])
    some = slice(0, None, max(1, low.size // SOME))
    covered = np.minimum(high[some, None] + 1, ends) - np.maximum(low[some, None], starts)
    shares = greedy(np.maximum(covered, 0) / (ends - starts))
    found = tree(sums, 2, (1 - PARTITION) * epsilon * shares)
    return (found / np.bincount(bucket))[bucket]


def partition(counts: np.ndarray, first: float, second: float) -> np.ndarray:
    """Where the buckets end that cost least: the sum of |count - mean|, and 1 / epsilon of a later count.

    A record moves the former by at most 2, and in one bucket of any partition.  As in the authors' own runs, intervals
    whose length is a power of two are looked at, their noise has the scale (2 - 1 / length - 1 / m) / epsilon, single
    cells have none, and no sum is taken to be below 0.
    """
    m, lengths = counts.size, [1 << i for i in range(counts.size.bit_length())]
    costs = np.full((m + 1, len(lengths)), np.inf)  # of the interval that ends there
    for i, length in enumerate(lengths):
        windows = np.lib.stride_tricks.sliding_window_view(counts, length)
        spread = np.abs(windows - windows.mean(axis=1, keepdims=True)).sum(axis=1)
        if i:
            spread += RNG.laplace(0, (2 - 1 / length - 1 / m) / first, spread.size)
        costs[length:, i] = np.maximum(spread, 0) + 1 / second
    best, chosen = [0.0], [0]
    for end, row in enumerate(costs[1:].tolist(), 1):
        cost, length = min((best[end - n] + c, -n) for c, n in zip(row, lengths, strict=True) if n <= end)
        best.append(cost)
        chosen.append(-length)
    found = [m]
    while found[-1] > chosen[found[-1]]:
        found.append(found[-1] - chosen[found[-1]])
    return np.array(found[::-1])


def greedy(queries: np.ndarray) -> np.ndarray:
    """The share of each level of a binary tree: from the cells up, each takes of those below what helps most."""
    levels = depth(queries.shape[1], 2)
    level = np.zeros((len(queries), 1 << (levels - 1)))
    level[:, : queries.shape[1]] = queries
    energies = []  # a pair of nodes errs by the half of its sum's error, and by its difference
    for _ in range(levels - 1):
        left, right = level[:, ::2], level[:, 1::2]
        energies.append(float(((left - right) ** 2).sum()) / 2)
        level = (left + right) / 2
    energies.append(float((level**2).sum()))
    shares = np.eye(levels)[0]
    for own in np.eye(levels)[1:]:
        shares = min(((1 - x) * shares + x * own for x in SHARES), key=lambda tried: variance(energies, tried))
    return shares


def variance(energies: Sequence[float], shares: np.ndarray) -> float:
    """The sum of the variances of queries on a tree whose levels have noise of scale 1 / share."""
    V, found = 2 / shares[0] ** 2, energies[0] * 2 / shares[0] ** 2
    for energy, share in zip(energies[1:], shares[1:].tolist(), strict=True):
        V = 1 / (1 / (2 * V) + share**2 / 2)
        found += V * energy
    return found


@cache
def optimised(m: int) -> tuple[np.ndarray, np.ndarray]:
    """OPT_0 of HDMM (McKenna, Miklau, Hay and Machanavajjhala 2018) for all ranges: Theta and the sums s of 1 and its
    columns, so that A = [1; Theta] / s has columns of l1 norm 1 and tr((A'A)^-1 W'W) is least, from one start."""
    i = np.arange(m)
    gram = (np.minimum(i, i[:, None]) + 1.0) * (m - np.maximum(i, i[:, None]))
    gram /= gram.mean()
    p = max(1, m // 16)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        theta = flat.reshape(p, m)
        s = 1 + theta.sum(axis=0)
        M = gram * s * s[:, None]
        K = np.linalg.solve(np.eye(p) + theta @ theta.T, theta)  # (1 + Theta'Theta)^-1 = 1 - Theta' K
        X = np.eye(m) - theta.T @ K
        KM = K @ M
        slope = 2 * ((X * gram) @ s) - 2 * (KM - KM @ theta.T @ K)
        return float((X * M).sum()) / m, slope.ravel() / m

    start = np.random.default_rng(0).random(p * m)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (p * m), options={"maxiter": STEPS})
    theta = found.x.reshape(p, m)
    return theta, 1 + theta.sum(axis=0)


def hdmm(counts: np.ndarray, epsilon: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Laplace noise on that strategy, and least squares; the search for it, which sees no data, is done once."""
    theta, s = optimised(counts.size)
    noisy = [part + RNG.laplace(0, 1 / epsilon, part.size) for part in (counts / s, theta @ (counts / s))]
    right = noisy[0] + theta.T @ noisy[1]
    return s * (right - theta.T @ np.linalg.solve(np.eye(len(theta)) + theta @ theta.T, theta @ right))


def monotone_hdmm(counts: np.ndarray, epsilon: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return monotone(hdmm(counts, epsilon, low, high))


PEERS = {
    "16-ary tree, monotone": sixteen,
    "DAWA": dawa,
    "HDMM": hdmm,
    "HDMM, monotone": monotone_hdmm,
}
LARGE = ("16-ary tree, monotone",)  # that take 2^20 cells
