"""What a release may cost, and whom it protects.

A price is in one currency, pure epsilon or zCDP's rho, and names how one unit moves the full histogram.  Parts of a
price are exact rationals, so a price that is split is spent exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ..composition import rho_for
from ..core.distance import ADD_REMOVE, Distance
from ..core.errors import BadParameter
from ..core.exact import Number, positive, probability, several
from ..core.loss import Concentrated, Loss, Pure
from ..mechanisms import Gaussian, Laplace

Noise = Laplace | Gaussian


@dataclass(frozen=True)
class Price:
    """Exactly one of epsilon and rho; `unit` is how one unit moves the histogram; `stated` what it came from."""

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    unit: Distance[Any] = field(default_factory=ADD_REMOVE.histogram)
    stated: str = ""

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise BadParameter("price", "both or neither", "either epsilon (pure) or rho (zCDP)")
        for name in ("epsilon", "rho"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, positive(name, value))

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        unit: Distance[Any] | None = None,
    ) -> Price:
        """From epsilon, or rho, or epsilon with delta: then the largest rho that is (epsilon, delta)-private."""
        unit = unit or ADD_REMOVE.histogram()
        if delta is None:
            return cls(
                None if epsilon is None else positive("epsilon", epsilon),
                None if rho is None else positive("rho", rho),
                unit,
            )
        if epsilon is None or rho is not None:
            raise BadParameter("delta", delta, "given with epsilon alone")
        e, d = positive("epsilon", epsilon), probability("delta", delta)
        text = f"epsilon {float(e):g} at delta {float(d):g}, by zCDP"
        return cls(None, Fraction(rho_for(e, d)), unit, text)

    @property
    def amount(self) -> Fraction:
        """The price in its currency."""
        return self.epsilon or self.rho or Fraction(0)

    def part(self, share: Fraction) -> Price:
        """This share of the price."""
        if self.epsilon is not None:
            return replace(self, epsilon=self.epsilon * share)
        return replace(self, rho=self.amount * share)

    def split(self, weights: Iterable[Number]) -> tuple[Price, ...]:
        """Parts in proportion to the weights, which add up to the price exactly."""
        shares = several("weights", weights, positive)
        whole = sum(shares, Fraction(0))
        return tuple(self.part(share / whole) for share in shares)

    def noise(self, distance: Distance[Any], grid: Fraction = Fraction(1)) -> Noise:
        """The noise that costs this price on a vector that moves so far: Laplace by l1, Gaussian by l2."""
        steps = None if grid == 1 else grid
        if self.epsilon is not None:
            return Laplace(epsilon=self.epsilon, sensitivity=distance, grid=steps)
        return Gaussian(rho=self.amount, sensitivity=distance, grid=steps)

    def loss(self) -> Loss:
        """The whole price, as a loss."""
        atom = Pure(self.epsilon) if self.epsilon is not None else Concentrated(self.amount)
        return Loss({atom: 1}, self.unit.relation)

    def __str__(self) -> str:
        if self.epsilon is not None:
            return f"epsilon = {float(self.epsilon):g}"
        return f"rho = {float(self.amount):.4g}" + (f" ({self.stated})" if self.stated else "")
