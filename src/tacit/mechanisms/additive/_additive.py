"""The base of mechanisms that add integer noise to integers, or to reals on a public grid."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self, overload

import numpy as np
from numpy.typing import NDArray

from ...core.accounting.loss import Atom
from ...core.alias_table import MAX_DRAW
from ...core.distance import Distance, distance
from ...core.exact import up
from ...core.law import Law, OnGrid, Product
from ...core.mechanism import Mechanism
from ...core.parameters import Number, positive, probability, whole
from ...core.randomness import Source
from .._grid import MAX_STEPS, GridValue, distance_in_steps, power_of_two, steps


class IntegerLaw(Law, Protocol):
    """A law on the integers, symmetric about its centre."""

    def tail_quantile(self, tail: float) -> int: ...


@dataclass(frozen=True, init=False, repr=False)
class Additive(Mechanism[GridValue, GridValue]):
    """Adds noise from a symmetric integer law.

    Values beyond +-2^60 steps of the grid, or +-2^60 without one, are moved there before noise is added, since an error
    would depend on the data.  On a grid the sum is released as a float, which beyond 2^53 steps is rounded to 53 bits.
    """

    sensitivity: Distance[Any]
    grid: Fraction | None

    def __init__(self, sensitivity: Number | Distance[Any], grid: Number | None) -> None:
        object.__setattr__(self, "sensitivity", distance(sensitivity, "sensitivity"))
        object.__setattr__(self, "grid", None if grid is None else power_of_two("grid", grid))

    @abstractmethod
    def noise(self, centre: int = 0) -> IntegerLaw:
        """The law of the noise, in steps of the grid, about a centre."""

    @abstractmethod
    def draw(self, source: Source, n: int | None) -> Any:
        """Draw noise, in steps of the grid."""

    @property
    @abstractmethod
    def noise_scale(self) -> float:
        """The parameter of the noise in the units of the value: the scale of Laplace noise, the sigma of Gaussian."""

    @property
    @abstractmethod
    def variance_bound(self) -> Fraction:
        """A bound on the variance of the noise, and its limit as the noise grows: that of continuous noise."""

    @abstractmethod
    def atom_with_failure(self, d: Distance[Any], failure: Fraction) -> Atom:
        """The loss at a distance in steps of the grid, where something else may fail with this probability."""

    def moves(self, by: Number | Distance[Any] | None) -> Distance[Any]:
        """How far data move, in steps of the grid."""
        return distance_in_steps(self.sensitivity if by is None else distance(by, zero=True), self.grid)

    def law(self, x: GridValue) -> Law:
        at = steps("value", x, self.grid)
        if isinstance(at, int):
            return self._placed(self.noise(at))
        return Product(tuple(self._placed(self.noise(int(step))) for step in at.ravel()))

    def _placed(self, noisy: Law) -> Law:
        return noisy if self.grid is None else OnGrid(noisy, float(self.grid))

    def sample(self, x: GridValue, source: Source) -> GridValue:
        at = steps("value", x, self.grid)
        if isinstance(at, int):
            noisy = at + self.draw(source, None)
            return int(noisy) if self.grid is None else float(noisy) * float(self.grid)
        noise: NDArray[Any] = self.draw(source, at.size).reshape(at.shape)
        if noise.dtype == object:
            noise = noise + at
        else:
            noise += at
            np.clip(noise, MAX_STEPS - MAX_DRAW, MAX_DRAW - MAX_STEPS, out=noise)  # beyond, noise may have been cut
        return noise if self.grid is None else noise.astype(float) * float(self.grid)

    @overload
    def release(self, x: float) -> float: ...
    @overload
    def release(self, x: NDArray[Any]) -> NDArray[Any]: ...
    def release(self, x: GridValue) -> GridValue:
        """One draw for a number, an integer where there is no grid; an array of them for an array."""
        return super().release(x)

    def error(self, beta: Number = 0.05, size: int = 1) -> float:
        """The exact quantile of the largest of `size` noises; reals add half a step for rounding.

        This holds for values within +-2^60, and for sums within 2^53 steps of the grid: clamping and rounding beyond
        are not counted.
        """
        each = -math.expm1(math.log1p(-float(probability("beta", beta))) / whole("size", size))
        quantile = self.noise().tail_quantile(math.nextafter(each, 0))
        return float(quantile) if self.grid is None else up((quantile + Fraction(1, 2)) * self.grid)

    @classmethod
    def for_error(cls, error: Number, beta: Number = 0.05, *, size: int = 1, **fixed: Any) -> Self:
        """The least epsilon at which the largest of `size` noises is at most `error`, with probability 1 - beta."""
        return cls._for_error(error, beta, {"size": size}, fixed)

    def sample_size(self, relative_error: Number, beta: Number = 0.05, size: int = 1) -> int:
        """The least n for which the largest of `size` noises is at most `relative_error` times n."""
        return math.ceil(Fraction(self.error(beta, size)) / positive("relative_error", relative_error))

    def miss(self, x: GridValue, y: GridValue) -> float:
        return float(np.max(np.abs(np.asarray(y) - np.asarray(x))))
