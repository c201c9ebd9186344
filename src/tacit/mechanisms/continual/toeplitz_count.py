r"""The square-root Toeplitz mechanism for continual counts.

Definition.  Running totals are A x with A the lower triangle of ones, and A = M M for the Toeplitz matrix M with
coefficients r_0 = 1, r_k = (1 - 1/(2k)) r_(k-1), those of 1 / sqrt(1 - z).  Let R' be M rounded to a grid of 2^-g, so
that R' / 2^-g holds integers; period t releases y_t = (R' x)_t / 2^-g + Z_t with Z_t a discrete Gaussian.  The running
totals are A R'^-1 y 2^-g, where the coefficients m of A R'^-1 follow from m_k = 1 - sum_(0 < j <= k) r'_j m_(k-j), and
are unbiased: rounding R' costs nothing but a factor on the noise, 1 + 10^-4 or less at the default 2^-16.

Privacy.  A count of 1 in period j moves y by the j-th column of R' / 2^-g, of which the first is the longest in every
norm: rho = c^2 sum_k (r'_k / 2^-g)^2 / (2 sigma^2) exactly, for units that add at most c in all.  R' is lower
triangular, so each y_t has noise of its own and the stream may depend on the past (`_continual_count.py`).

Utility.  The running total of period t has variance sigma^2 sum_(k < t) m_k^2 2^-2g.  Without rounding both sums are
Landau's constant G = sum_(k < T) r_k^2, between 1 + ln(T) / pi and 1.0663 + ln(T) / pi, so that the largest variance is
G^2 c^2 / (2 rho).  No factorization A = L R has a smaller factor than the sum of the singular values of A over T,
sum_j 1 / (2 T sin((2 j - 1) pi / (4 T + 2))), in place of G: 2.90 against 3.27 at T = 1000, and 3.63 against 4.00 at
10,000.  `error` is for all periods at once, by the union bound and the normal quantile (`_tails.py`).

References.  Fichtenberger, Henzinger, Upadhyay, ICML 2023; Henzinger, Upadhyay, Upadhyay, SODA 2023; Matousek, Nikolov,
Talwar, IMRN 2020, for the lower bound by the factorization norm; Brutman, J. Approx. Theory 34 (1982), on Landau's
constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.distance import Distance, norms
from ...core.mechanism import Example
from ...core.parameters import Number, exactly_one
from ...storage import bare, stored
from ..additive.gaussian import Gaussian
from ._continual_count import ContinualCount, Counts
from ._tails import Floats, gaussian_radii

_GUARD = 64  # binary digits that coefficients are computed with beyond the grid
_SMALL = 1 << 62


@stored("ToeplitzCount", ("periods", "sensitivity", "grid", "noise"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class ToeplitzCount(ContinualCount):
    """Measure running totals by the square root of their matrix; pass `rho`, or `epsilon` and `delta`."""

    theorem = "A = M M, with the coefficients of 1 / sqrt(1 - z)"

    def __init__(
        self,
        *,
        periods: int,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
    ) -> None:
        exactly_one(rho=rho, delta=delta)
        super().__init__(periods=periods, sensitivity=sensitivity, grid=grid, epsilon=epsilon, delta=delta, rho=rho)

    @property
    def coefficients(self) -> tuple[int, ...]:
        """The first column of the strategy, in steps of the grid."""
        return _coefficients(self.periods, self.grid)

    @property
    def column(self) -> Distance[Any]:
        return _column(self.periods, self.grid)

    def size(self, periods: int) -> int:
        return periods

    def exact(self, counts: Sequence[int], done: int) -> list[int]:
        small = max(map(abs, counts), default=0) * self.column.l1 < _SMALL  # no sum overflows
        x, r = (np.array(v, np.int64 if small else object) for v in (counts, self.coefficients))
        return [int(np.dot(x[:n], r[:n][::-1])) for n in range(done + 1, len(counts) + 1)]

    @property
    def _decoder(self) -> Floats:
        return _decoder(self.periods, self.grid)

    def totals(self, measured: Sequence[int]) -> Floats:
        y = np.array([float(value) for value in measured])
        return np.asarray(np.convolve(self._decoder, y)[: y.size] if y.size else y) * float(self.grid)

    def weights(self, last: int) -> Floats:
        return self._decoder[:last][::-1] * float(self.grid)

    def radii(self, beta: float, window: int | None = None, periods: Sequence[int] | None = None) -> Floats:
        of_window = self._decoder.copy()
        if window is not None:
            of_window[window:] -= self._decoder[: self.periods - window]
        of_window *= float(self.grid)
        assert isinstance(self.noise, Gaussian)
        found = gaussian_radii(self.noise, np.cumsum(of_window**2), np.cumsum(np.abs(of_window)), beta)
        return found if periods is None else found[np.asarray(periods, np.int64) - 1]

    def variances(self) -> Floats:
        return np.asarray(np.cumsum((self._decoder * float(self.grid)) ** 2) * float(self.noise.variance_bound))

    @classmethod
    def examples(cls) -> Iterable[Example[Counts]]:
        yield Example(cls(periods=2, rho=2, grid="0.5"), (3, 1), (4, 1), 1, draws=5000)
        yield Example(
            cls(periods=3, rho=24, grid="0.5", sensitivity=2),
            (0, 5, 2),
            (1, 5, 1),
            norms(l0=2, l1=2, linf=1),
            draws=5000,
        )
        yield Example(cls(periods=1, epsilon=1, delta="1e-3", grid=1), (7,), (8,), 1)


@lru_cache(maxsize=32)
def _coefficients(periods: int, grid: Fraction) -> tuple[int, ...]:
    """r_k / grid, rounded to the nearest integer: r_k is C(2k, k) / 4^k, in whole numbers with digits to spare."""
    exact, found = int(1 / grid) << _GUARD, []
    for k in range(periods):
        if k:
            exact = exact * (2 * k - 1) // (2 * k)
        found.append((exact + (1 << (_GUARD - 1))) >> _GUARD)
    return tuple(found)


@lru_cache(maxsize=32)
def _column(periods: int, grid: Fraction) -> Distance[Any]:
    r = _coefficients(periods, grid)
    return Distance(Fraction(sum(r)), Fraction(sum(a * a for a in r)), Fraction(r[0]), sum(a > 0 for a in r))


@lru_cache(maxsize=32)
def _decoder(periods: int, grid: Fraction) -> Floats:
    """The coefficients m of A R'^-1, R' in counts: m_k = 1 - sum over 0 < j <= k of r'_j m_(k-j)."""
    r = np.array(_coefficients(periods, grid), float) * float(grid)
    m = np.empty(periods)
    for k in range(periods):
        m[k] = 1 - np.dot(r[1 : k + 1], m[:k][::-1])
    m.setflags(write=False)
    return m
