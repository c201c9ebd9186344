r"""The sparse vector technique with Gaussian noise, for a bounded number of queries.

Definition.  Sparse with discrete Gaussian noise, of parameter sT on the threshold and sQ on each value compared.  It
ends with the c-th TOP or the k-th query, whichever comes first.

Privacy.  If every value moves by at most D, the whole session has Renyi divergence of every order a > 1 at most
    a rho + ln N / (a - 1),   rho = D^2 / (2 sT^2) + c (2 D)^2 / (2 sQ^2),   N = sum_{i <= c} C(k, i),
with D in place of 2 D if all values move the same way.  N counts the transcripts: i < c TOPs anywhere among k, or c
TOPs, the last of which ends it.
    Fix a transcript t.  Shift the noise of the threshold by D and that of each TOP by D + q_i - q'_i, which is between
0 and 2 D: noises that give t on q then give t on q'.  So P'(t) >= m(E) where P(t) = g(E), g is the law of the noises
and m that of the noises shifted back.  By convexity P(t)^a P'(t)^(1-a) <= int_E g^a m^(1-a) <= exp((a - 1) a rho), as
integer shifts d of discrete Gaussians have divergence at most a d^2 / (2 s^2): complete the square and note that
sum_z exp(-(z - x)^2 / (2 s^2)) is largest at x = 0.  Sum over t.
    The divergence grows with a, so below the best order 1 + sqrt(ln N / rho) that order's bound,
rho + 2 sqrt(rho ln N), holds: the whole is also that much zCDP.  Variance is least at sQ^2 = 2 sqrt(c) sT^2, or
sqrt(c) sT^2.

Utility.  `error` is as for Sparse.  `classical_error` is sT sqrt(2 ln(4 / beta)) + sQ sqrt(2 ln(4 k / beta)), by
sub-Gaussian tails and a union bound.

References.  Zhu and Wang, NeurIPS 2020, for the idea at c = 1, with looser constants; Canonne, Kamath, Steinke, NeurIPS
2020, proposition 5, for the shift; Bun and Steinke, TCC 2016, for zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ...core.accounting.loss import Atom, Loss
from ...core.distance import Distance
from ...core.errors import BadData, BadParameter
from ...core.exact import FEW_ULPS
from ...core.mechanism import Example
from ...core.parameters import Number, positive, probability, whole
from ...core.search import least_positive
from ...storage import stored
from ._comparison_noise import DiscreteGaussian, Integers
from ._comparisons import ComparisonState, ReleasesIndices, StreamValues

LARGEST_VARIANCE = Fraction(1 << 100)
Variances = tuple[Fraction, Fraction]  # of the threshold and of a query, in steps of the grid


@stored("Transcripts", ("rho", "outcomes"))
@dataclass(frozen=True)
class Transcripts(Atom):
    """The loss of N transcripts, each of which is an event of rho-concentrated noise."""

    rho: Fraction
    outcomes: int

    def concentrated(self) -> float:
        """rho + 2 sqrt(rho ln N), the bound of the best order."""
        rho = float(self.rho)
        return (rho + 2 * math.sqrt(rho * math.log(self.outcomes))) * FEW_ULPS

    def bound(self, order: float) -> float:
        """order rho + ln N / (order - 1)."""
        return (order * float(self.rho) + math.log(self.outcomes) / (order - 1)) * FEW_ULPS

    def renyi(self, order: float) -> float:
        """The bound of this order, or of a larger one if that is less."""
        early = (order - 1) ** 2 * float(self.rho) < math.log(self.outcomes)
        return self.concentrated() if early else self.bound(order)

    def group(self, k: int) -> Transcripts:
        """Shifts are k times as long."""
        return Transcripts(k * k * self.rho, self.outcomes)


@dataclass(frozen=True, init=False, repr=False)
class GaussianSparse(ReleasesIndices):
    """Release which of at most `queries` values reach the threshold; pass both sigmas, or `epsilon` and `delta`."""

    sigma2_threshold: Fraction
    sigma2_query: Fraction

    def __init__(
        self,
        *,
        threshold: Number,
        queries: int,
        count: int = 1,
        sigma_threshold: Number | None = None,
        sigma_query: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
        monotone: bool = False,
    ) -> None:
        super().__init__(
            threshold=threshold,
            sensitivity=sensitivity,
            grid=grid,
            count=count,
            queries=queries,
            monotone=monotone,
        )
        unit = (self.grid or Fraction(1)) ** 2
        if sigma_threshold is not None and sigma_query is not None and epsilon is None and delta is None:
            sigmas = positive("sigma_threshold", sigma_threshold), positive("sigma_query", sigma_query)
            variances = _drawable(sigmas[0] ** 2 / unit, sigmas[1] ** 2 / unit)
        elif epsilon is not None and delta is not None and sigma_threshold is None and sigma_query is None:
            variances = self._calibrated(positive("epsilon", epsilon), probability("delta", delta))
        else:
            raise BadParameter(
                "parameters",
                "others",
                "sigma_threshold and sigma_query, or epsilon and delta",
                says="Pass sigma_threshold and sigma_query, or epsilon and delta.",
            )
        object.__setattr__(self, "sigma2_threshold", variances[0] * unit)
        object.__setattr__(self, "sigma2_query", variances[1] * unit)

    @property
    def _step_variances(self) -> Variances:
        unit = (self.grid or Fraction(1)) ** 2
        return self.sigma2_threshold / unit, self.sigma2_query / unit

    def _calibrated(self, epsilon: Fraction, delta: Fraction) -> Variances:
        """The least sigmas, to a relative 2^-20 and never below, at which the loss is at most (epsilon, delta)."""
        ratio = Fraction(round(1024 * self.folds * math.sqrt(self.count)), 1024)
        shifts = self.shifts()

        def at(sigma: float) -> Variances:
            on_threshold = (Fraction(sigma) * shifts[1]) ** 2
            return _drawable(on_threshold, on_threshold * ratio)

        def good(sigma: float) -> bool:
            return self._loss_at(at(sigma), *shifts).epsilon(delta) <= epsilon

        return at(least_positive(good, floor=2.0**-20, precision=2.0**-20))

    @cached_property
    def threshold_noise(self) -> DiscreteGaussian:
        return DiscreteGaussian(self._step_variances[0])

    @cached_property
    def query_noise(self) -> DiscreteGaussian:
        return DiscreteGaussian(self._step_variances[1])

    @cached_property
    def outcomes(self) -> int:
        """How many transcripts there are: the sum of C(k, i) over i <= c."""
        total = ways = 1
        for i in range(min(self.count, self.queries)):
            ways = ways * (self.queries - i) // (i + 1)
            total += ways
        return total

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        return self._loss_at(self._step_variances, *self.shifts(distance))

    def _loss_at(self, variances: Variances, d: Distance[Any], most: int, top: int) -> Loss:
        """The loss of noise of these variances at a distance, all in steps of the grid."""
        on_threshold, on_query = variances
        rho = most**2 / (2 * on_threshold) + self.count * top**2 / (2 * on_query)
        return Loss({Transcripts(rho, self.outcomes): 1} if rho else {}, d.relation)

    @property
    def allowed(self) -> str:
        return f"{super().allowed}, and {self.queries} in all"

    def over(self, state: ComparisonState) -> bool:
        return super().over(state) or state.asked >= self.queries

    def steps(self, values: StreamValues) -> Integers:
        at = super().steps(values)
        if at.size > self.queries:
            raise BadData("values", f"{at.size} values", f"at most {self.queries} values, which the price is for")
        return at

    def classical_error(self, beta: Number = 0.05, queries: int | None = None) -> float:
        """sT sqrt(2 ln(4 / beta)) + sQ sqrt(2 ln(4 k / beta))."""
        k, b = self.queries if queries is None else whole("queries", queries), probability("beta", beta)
        on_threshold = math.sqrt(self.sigma2_threshold * 2 * math.log(4 / b))
        return on_threshold + math.sqrt(self.sigma2_query * 2 * (math.log(4 * k) - math.log(b)))

    @classmethod
    def examples(cls) -> Iterable[Example[StreamValues]]:
        x, y = (0, 0, 1, 0, 0, 1), (1, 1, 0, 1, 1, 0)
        for count, sigma in ((1, 4), (2, 1), (3, 4)):
            m = cls(threshold=1, queries=6, count=count, sigma_threshold=sigma, sigma_query=2 * sigma)
            yield Example(m, x, y, 1)
        yield Example(cls(threshold=2, queries=4, epsilon=2, delta="1e-6", sensitivity=2), x[:4], y[:4], 1)
        same_way = cls(threshold=1, queries=5, sigma_threshold=1, sigma_query=1, monotone=True)
        yield Example(same_way, (0, 0, 0, 0, 2), (1, 1, 1, 1, 2), 1)
        fine = cls(threshold="0.6", queries=3, sigma_threshold="0.5", sigma_query=1, sensitivity="0.3", grid="0.25")
        yield Example(fine, (0.1, 0.1, 0.7), (0.4, 0.4, 0.4), "0.3")


def _drawable(on_threshold: Fraction, on_query: Fraction) -> Variances:
    for variance in (on_threshold, on_query):
        positive("sigma^2 in steps of the grid", variance, within=LARGEST_VARIANCE)
    return on_threshold, on_query
