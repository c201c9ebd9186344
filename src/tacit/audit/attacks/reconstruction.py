r"""Reconstruction by linear programming (Dinur and Nissim 2003).

A secret column holds a bit for each of n people.  The attacker asks how many of a random subset have a 1, k times, gets
answers a, and takes the z in [0, 1]^n that is nearest to all of them,

    minimise |A z - a|   in the l1 norm, which outliers do not mislead, or in the largest error,

rounded at 1/2.  From a multiple of n questions almost all bits return as long as errors are o(sqrt n); answers must err
by a multiple of sqrt n, or the questions must be few, for anything to stay secret.

From all 2^n subsets, each answered to within E, any column that fits all answers is wrong in at most 4 E places: among
those where it has a 1 too many it errs by at most 2 E in all, and by as much among those where it has one too few.

References.  Dinur, Nissim, PODS 2003; Dwork, McSherry, Talwar, STOC 2007; Dwork and Roth (2014), theorem 8.1.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...core import samplers
from ...core.errors import BadParameter
from ...core.exact import Floats
from ...core.parameters import Number, rational, reals, whole
from ...core.randomness import SYSTEM, Source
from ...mechanisms import Laplace
from .outcome import Attack, Outcome
from .system import People, System

Bits = NDArray[np.bool_]
Norm = Literal["l1", "linf"]
NORMS = ("l1", "linf")

MAX_COLUMNS = 1 << 12  # that `consistent` tries


def secret_column(n: int, source: Source = SYSTEM) -> Bits:
    """A fair coin for each of n people."""
    return samplers.integers(2, source, whole("n", n)).astype(np.bool_)


def subset_queries(n: int, queries: int, source: Source = SYSTEM) -> Bits:
    """Random subsets of n people, one in each row."""
    cells = samplers.integers(2, source, whole("queries", queries) * whole("n", n))
    return cells.astype(np.bool_).reshape(queries, n)


def reconstruct(queries: Any, answers: Any, norm: Norm = "l1") -> Bits:
    """The secret bits that fit subset sums best: `queries` has a row of 0 and 1 for each of the `answers`."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack

    A, a = reals("queries", queries), reals("answers", answers)
    if A.ndim != 2 or a.shape != A.shape[:1] or not A.size:
        raise BadParameter("answers", a.shape, "one for each row of a matrix of queries")
    if norm not in NORMS:
        raise BadParameter("norm", norm, "l1 or linf")
    k, n = A.shape
    system: Any
    unit = [(0.0, 1.0)] * n
    if norm == "l1":  # A z + up - down = a, and the sum of all up and down is least
        errors = eye_array(k, format="csc")
        system = hstack([csc_array(A), errors, -errors], format="csc")
        cost, bounds = np.repeat([0.0, 1.0], [n, 2 * k]), unit + [(0.0, None)] * (2 * k)
        solution = linprog(cost, A_eq=system, b_eq=a, bounds=bounds, method="highs-ipm")
    else:  # |A z - a| <= t, and t is least
        system = np.hstack([np.vstack([A, -A]), -np.ones((2 * k, 1))])
        cost, bounds = np.repeat([0.0, 1.0], [n, 1]), [*unit, (0.0, None)]
        solution = linprog(cost, A_ub=system, b_ub=np.concatenate([a, -a]), bounds=bounds, method="highs-ipm")
    assert solution.x is not None  # every z in the cube has some error, and the least is reached
    guess: Bits = solution.x[:n] > 0.5
    return guess


def wrong_places(error: Number) -> float:
    """4 E: how many bits any column may be wrong in that fits all 2^n subset sums, each answered to within E."""
    return float(4 * rational("error", error))


def consistent(answers: Any, error: Number) -> Bits:
    """Every column that fits the sums of all subsets to within `error`; subset i holds those whose bit in i is 1."""
    a, e = reals("answers", answers), float(rational("error", error))
    n = a.size.bit_length() - 1
    if a.shape != (1 << n,) or a.size > MAX_COLUMNS:
        raise BadParameter("answers", a.shape, f"one for each of the 2^n subsets, at most {MAX_COLUMNS}")
    subsets = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.int64)
    fits: Bits = np.abs(subsets @ subsets.T - a).max(axis=1) <= e
    return subsets[fits].astype(np.bool_)


def recovered(secret: Bits, queries: Bits, answers: Any, claim: float = math.inf, norm: Norm = "l1") -> Outcome:
    """How many bits of the secret the attack gets."""
    return Outcome(int(np.count_nonzero(reconstruct(queries, answers, norm) == secret)), secret.size, claim)


def noisy_sums(secret: Bits, queries: Bits, scale: Number, source: Source = SYSTEM) -> NDArray[Any]:
    """Subset sums with discrete Laplace noise of this scale on each; they cost (how many) / scale in all."""
    noisy: NDArray[Any] = np.asarray(Laplace(scale=scale).sample(queries.astype(np.int64) @ secret, source))
    return noisy


def asked(system: System, secret: Bits, queries: Bits, epsilon: float = 1) -> Floats:
    """The answers of a system to subset sums, at epsilon in all: each person is on some of as many public lists."""
    lists, persons = np.nonzero(queries)
    columns = {"person": persons, "list": lists, "ill": secret[persons].astype(np.int64)}
    last, most = len(queries) - 1, int(queries.sum(axis=0).max())
    with system(People(columns, {"list": (0, last), "ill": (0, 1)}, "person", rows=most), epsilon) as ask:
        return ask("SELECT list, COUNT(*) AS n FROM people WHERE ill = 1 GROUP BY list", epsilon)


def against_small_noise(source: Source, n: int = 128) -> Outcome:
    """4 n answers with noise of scale sqrt(n) / 10."""
    secret, queries = secret_column(n, source), subset_queries(n, 4 * n, source)
    return recovered(secret, queries, noisy_sums(secret, queries, math.sqrt(n) / 10, source))


def on_system(system: System, source: Source, n: int = 128, epsilon: float = 1) -> Outcome:
    """4 n subset sums, all of them together at epsilon."""
    secret, queries = secret_column(n, source), subset_queries(n, 4 * n, source)
    return recovered(secret, queries, asked(system, secret, queries, epsilon), epsilon)


RECONSTRUCTION = Attack(
    "reconstruction",
    "subset sums with noise of a tenth of sqrt(n)",
    "the same sums at epsilon 1 in all",
    against_small_noise,
    on_system,
)
