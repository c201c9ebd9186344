r"""The best k of finitely many candidates.

Definition.  Choose one candidate by the exponential mechanism of the given scale, then another among the rest, and so
on k times; the k indices are released in this order.  That is P[i_1, ..., i_k] = prod_j w_{i_j} / (sum of the w that
are left), w_i = exp(u_i / scale): the law of Plackett and Luce, and that of the k largest of u_i + Gumbel(scale), taken
in one shot.  So peeling and one shot are one mechanism, and it is drawn by peeling.  With `selector="permute-and-flip"`
each pick is made by permute-and-flip instead: better for one pick, but of unbounded range.

Privacy.  Each pick is a choice by scores whose moves have range at most r: (r / scale)-DP with bounded range.  By
adaptive composition k of them are (k r / scale)-DP and (k / 8) (r / scale)^2-zCDP.  `epsilon` and `rho` are of all k.
With permute-and-flip each pick is (r / scale)-DP and nothing more.

Utility.  Whatever was picked before, a pick falls short of the best that is left by more than its `error` at
1 - (1 - beta)^(1/k) with at most that probability; so with probability 1 - beta none of the k does.  The best left
before pick j is at least the j-th best of all, which is what `miss` compares with.

References.  Durfee and Rogers, NeurIPS 2019, for the one shot; Cesar and Rogers, ALT 2021, for zCDP; Plackett, J. Royal
Stat. Soc. C 24 (1975).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...core import law
from ...core.distance import Distance
from ...core.mechanism import Example
from ...core.parameters import Number, one_of, probability, whole
from ...core.randomness import Source
from ...storage import bare, stored
from ._rule import Gaps, SelectionRule
from ._scores import Scores, Selection
from .exponential import Exponential
from .permute_and_flip import PermuteAndFlip

Ordered = tuple[int, ...]
RULES: dict[str, SelectionRule] = {"exponential": Exponential.rule, "permute-and-flip": PermuteAndFlip.rule}


@stored("TopK", ("sensitivity", "motion", "grid", "candidates", "scale", "k", "selector"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class TopK(Selection[Ordered]):
    """Choose k candidates in turn; `epsilon` or `rho` is the price of all k."""

    k: int
    selector: Literal["exponential", "permute-and-flip"]

    def __init__(
        self,
        *,
        k: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        range_sensitivity: Number | Distance[Any] | None = None,
        monotone: bool = False,
        grid: Number | None = None,
        candidates: int | None = None,
        selector: Literal["exponential", "permute-and-flip"] = "exponential",
    ) -> None:
        object.__setattr__(self, "k", whole("k", k))
        object.__setattr__(self, "selector", one_of("selector", selector, RULES))
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
        return RULES[self.selector]

    @property
    def picks(self) -> int:
        return self.k

    theorem = "the exponential mechanism, pick by pick (Durfee and Rogers 2019)"

    @property
    def choices(self) -> int:
        return self.k

    def described(self) -> dict[str, Any]:
        return {"k": self.k, "scale": float(self.scale)}

    def sample_rows(self, rows: Iterable[Scores], source: Source) -> list[Ordered]:
        """Draw from the law of each row."""
        return [self.sample(row, source) for row in rows]

    def law(self, x: Scores) -> law.Finite:
        """Every ordered choice with its mass: m (m - 1) ... (m - k + 1) of them."""
        gaps = self.gaps(x)
        masses: dict[Ordered, float] = {(): 1.0}
        for _ in range(self.k):
            masses = {(*ys, i): p * mass for ys, p in masses.items() for i, mass in self._next(gaps, ys)}
        return law.Finite({**masses})

    def _next(self, gaps: Gaps, picked: Ordered) -> list[tuple[int, float]]:
        left = np.delete(np.arange(gaps.size), picked)
        rest = gaps[left]
        return list(zip(left.tolist(), self.rule.masses(rest - rest.min(), self.unit).tolist(), strict=True))

    def sample(self, x: Scores, source: Source) -> Ordered:
        rest = self.gaps(x)
        left, picked = np.arange(rest.size), []
        for _ in range(self.k):
            i = self.rule.draw(rest - rest.min(), self.unit, source)
            picked.append(int(left[i]))
            left[i], rest[i] = left[-1], rest[-1]  # the last takes the place of the one that goes
            left, rest = left[:-1], rest[:-1]
        return tuple(picked)

    def _share(self, beta: Number) -> float:
        return -math.expm1(math.log1p(-float(probability("beta", beta))) / self.k)

    def error(self, beta: Number = 0.05, candidates: int | None = None) -> float:
        """By how much, at most, any of the k picks falls short of its place."""
        return self.in_units(self.rule.shortfall(self._share(beta), self.unit, self.sizes(candidates)[0]))

    def classical_error(self, beta: Number = 0.05, candidates: int | None = None) -> float:
        """scale (ln m + ln(k / beta)), by the union bound."""
        m, o = self.sizes(candidates)
        each = float(probability("beta", beta)) / self.k
        return float(self.scale) * self.rule.classical(each, m, o) + float(self.grid or 0)

    def miss(self, x: Scores, y: Ordered) -> float:
        scores = np.asarray(x).tolist()  # Python numbers do not wrap
        best = sorted(scores, reverse=True)
        return max(0.0, *(float(best[j] - scores[i]) for j, i in enumerate(y)))

    @classmethod
    def examples(cls) -> Iterable[Example[Scores]]:
        x, y = np.array([3, 2, 2, 0]), np.array([2, 3, 3, 1])
        for k in (1, 2, 4):
            yield Example(cls(k=k, epsilon=2, candidates=4), x, y, 1)
        yield Example(cls(k=2, epsilon=2, candidates=4), np.array([8, 8, 0, 0]), np.array([7, 7, 1, 1]), 1)
        yield Example(cls(k=2, rho="0.1", candidates=4), x, y, 1)
        yield Example(cls(k=2, epsilon=1, monotone=True, candidates=3), np.array([4, 4, 1]), np.array([5, 4, 2]), 1)
        yield Example(cls(k=2, epsilon=2, selector="permute-and-flip", candidates=4), x, y, 1)
        reals = np.array([0.12, 0.4, 1.0]), np.array([0.42, 0.1, 1.3])
        yield Example(cls(k=2, epsilon=1, sensitivity="0.3", grid="0.25", candidates=3), *reals, "0.3")
