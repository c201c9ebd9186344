r"""The Laplace mechanism, on the integers.

Definition.  M(x) = x + Z with independent Z_i, P[Z_i = k] = (1 - q)/(1 + q) q^|k|, q = exp(-1/scale).  Reals go on a
grid first, and the scale is then counted in its steps.

Privacy.  If |x - x'|_1 <= d then M is (d / scale)-differentially private: each coordinate's ratio is
q^(|y - x| - |y - x'|) <= q^-|x - x'|, by the triangle inequality.  If only one coordinate moves, the best event is a
half-line, and the privacy profile sup_t P[Z >= t - d] - exp(e) P[Z >= t] is exact; composed losses are then tight.

Utility.  P[|Z| >= t] = 2 q^t / (1 + q).  `error` is the exact quantile of the largest of k such;
`classical_error` is scale ln(k / beta), which it never exceeds by more than rounding to the grid.

References.  Dwork, McSherry, Nissim, Smith, TCC 2006; Ghosh, Roughgarden, Sundararajan, SIAM J. Comput. 41 (2012);
Dwork and Roth (2014), theorems 3.6 and 3.8; Mironov, CCS 2012, for why no float carries noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...core import law as laws
from ...core import samplers
from ...core.accounting.atoms import Approximate, DiscreteLaplaceNoise
from ...core.accounting.loss import Loss, Pure
from ...core.distance import Distance
from ...core.mechanism import Example
from ...core.parameters import Number, exactly_one, positive, probability, whole
from ...core.randomness import Source
from ...storage import bare, stored
from .._grid import GridValue
from ._additive import Additive

LARGEST_SCALE = Fraction(1 << 60)


@stored("Laplace", ("sensitivity", "grid", "scale"), make=bare)
@dataclass(frozen=True, init=False, repr=False)
class Laplace(Additive):
    """Add discrete Laplace noise; pass either `epsilon`, or `scale` in the units of the value."""

    scale: Fraction

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        grid: Number | None = None,
    ) -> None:
        super().__init__(sensitivity, grid)
        exactly_one(epsilon=epsilon, scale=scale)
        step = self.grid or Fraction(1)
        if scale is not None:
            steps = positive("scale", scale) / step
        elif epsilon is not None:
            steps = self.moves(None).l1 / positive("epsilon", epsilon)
        positive("the scale of the noise, sensitivity / epsilon in steps of the grid,", steps, LARGEST_SCALE)
        object.__setattr__(self, "scale", steps * step)

    @cached_property
    def _step_scale(self) -> Fraction:
        return self.scale if self.grid is None else self.scale / self.grid

    theorem = "P[|Z| >= t] = 2 q^t / (1 + q), q = exp(-1/scale)"

    def described(self) -> dict[str, Any]:
        return {"noise": "discrete Laplace", "scale": float(self.scale)}

    @property
    def noise_scale(self) -> float:
        return float(self.scale)

    @property
    def variance_bound(self) -> Fraction:
        return 2 * self.scale**2

    def atom_with_failure(self, d: Distance[Any], failure: Fraction) -> Approximate:
        return Approximate(d.l1 / self._step_scale, failure)

    def noise(self, centre: int = 0) -> laws.DiscreteLaplaceLaw:
        return laws.DiscreteLaplaceLaw(self._step_scale, centre)

    def draw(self, source: Source, n: int | None) -> Any:
        return samplers.laplace(self._step_scale, source, n)

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        d = self.moves(distance)
        epsilon = d.l1 / self._step_scale
        atom = DiscreteLaplaceNoise(epsilon, math.ceil(d.l1)) if d.l0 == 1 else Pure(epsilon)
        return Loss({atom: 1} if epsilon else {}, d.relation)

    def classical_error(self, beta: Number = 0.05, size: int = 1) -> float:
        """scale ln(k / beta), by the union bound (Dwork and Roth, theorem 3.8)."""
        return float(self.scale) * (math.log(whole("size", size)) - math.log(probability("beta", beta)))

    @classmethod
    def examples(cls) -> Iterable[Example[GridValue]]:
        for scale in (Fraction(1, 2), Fraction(3), Fraction(25, 2)):
            for d in (1, 2, 5):
                yield Example(cls(scale=scale), 0, d, d, draws=200_000)
        yield Example(cls(epsilon=1, sensitivity=2), np.array([3, 5]), np.array([4, 4]), 2, {"size": 2})
        yield Example(cls(epsilon=1, sensitivity="0.3", grid="0.25"), 0.12, 0.42, "0.3")
        yield Example(cls(epsilon=1, sensitivity="0.25", grid="0.25"), 0.124, 0.374, "0.25")
