"""The price of a release: its largest loss, and the units that it protects.

A price is in one currency, pure epsilon or zCDP's rho, and says how one unit moves the full histogram.  Parts of a
price are exact rationals, so a price that is split is spent exactly.

Epsilon at a delta buys a rho, which adds to whatever else is bought.  Where a method is nothing but noises that share a
fixed price, and stands alone, epsilon at a delta buys more: mu^2 adds too, and the profile of Gaussian noise is exact.
The property `alone` is that price.  Epsilon at a delta may always be spent as pure epsilon, without the delta, which is
better for queries that move little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..composition import mu_for, rho_for
from ..core.accounting.atoms import GaussianPrivacy
from ..core.accounting.loss import Concentrated, Loss, Pure
from ..core.distance import ADD_REMOVE, Distance
from ..core.errors import BadParameter
from ..core.exact import from_above
from ..core.parameters import Number, exactly_one, instance, positive, probability, rational, several
from ..core.pld.discrete_gaussian import variance_for
from ..mechanisms import Gaussian, Laplace
from ..storage import stored

Noise = Laplace | Gaussian
SMOOTH = Fraction(11, 10)  # times the variance of a noise by zCDP, which Gaussian privacy may take of it in a batch
SMALL = 1.0  # a variance, in steps: with more, the steps of a noise are hardly seen
LARGEST = Fraction(10**100)  # price, and the least is its inverse: so that no search leaves the floats
_MIN_VARIANCE = 1e-100


def variance(noise: Noise) -> float:
    """The variance of a noise in steps of its grid; never 0, as inverse variances are weights, even at large prices."""
    return max(noise.noise().variance(), _MIN_VARIANCE)


@stored("Price", ("epsilon", "rho", "unit", "stated"))
@dataclass(frozen=True)
class Price:
    """Exactly one of epsilon and rho; `unit` is how one unit moves the histogram; `stated` is the price as typed."""

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    unit: Distance[Any] = field(default_factory=ADD_REMOVE.histogram)
    stated: str = ""

    def __post_init__(self) -> None:
        exactly_one(epsilon=self.epsilon, rho=self.rho)
        for name in ("epsilon", "rho"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, positive(name, value, LARGEST))
        instance("unit", self.unit, Distance)

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        unit: Distance[Any] | None = None,
    ) -> Price:
        """The price of epsilon, of rho, or of epsilon at a delta: the largest rho that is (epsilon, delta)-private."""
        unit = ADD_REMOVE.histogram() if unit is None else unit
        if delta is None:
            return cls(
                None if epsilon is None else rational("epsilon", epsilon),
                None if rho is None else rational("rho", rho),
                unit,
            )
        if epsilon is None or rho is not None:
            raise BadParameter("delta", delta, "given with epsilon alone")
        e, d = positive("epsilon", epsilon, LARGEST), probability("delta", delta)
        text = f"epsilon {float(e):g} at delta {float(d):g}"
        return EpsilonDelta(None, Fraction(rho_for(e, d)), unit, text, (e, d))

    @property
    def alone(self) -> Price:
        """What the price buys where nothing but fixed noises is bought with it."""
        return self

    @property
    def shared(self) -> Price:
        """What the price buys beside other purchases, as under a ledger."""
        return self

    @property
    def ways(self) -> tuple[Price, ...]:
        """The prices that this price may be spent as."""
        return (self,)

    @property
    def amount(self) -> Fraction:
        """The price in its currency."""
        return self.epsilon or self.rho or Fraction(0)

    def part(self, share: Fraction) -> Price:
        """This share of the price; a part has no `stated` of its own."""
        if (times := positive("share", share)) == 1:
            return self
        if self.epsilon is not None:
            return replace(self, epsilon=self.epsilon * times, stated="")
        return replace(self, rho=self.amount * times, stated="")

    def split(self, weights: Iterable[Number]) -> tuple[Price, ...]:
        """Parts in proportion to the weights, which add up to the price exactly."""
        shares = several("weights", weights, positive)
        if not shares:
            raise BadParameter("weights", "none", "one or more positive numbers")
        whole = sum(shares, Fraction(0))
        return tuple(self.part(share / whole) for share in shares)

    def noise(self, distance: Distance[Any], grid: Fraction = Fraction(1)) -> Noise:
        """The noise that costs this price on a vector that moves so far: Laplace by l1, Gaussian by l2."""
        steps = None if rational("grid", grid) == 1 else grid
        if self.epsilon is not None:
            return Laplace(epsilon=self.epsilon, sensitivity=distance, grid=steps)
        return Gaussian(rho=self.amount, sensitivity=distance, grid=steps)

    def loss(self) -> Loss:
        """The whole price, as a loss."""
        atom = Pure(self.epsilon) if self.epsilon is not None else Concentrated(self.amount)
        return Loss({atom: 1}, self.unit.relation)

    def __str__(self) -> str:
        if self.epsilon is not None:
            return f"epsilon = {from_above(float(self.epsilon))}"
        return f"rho = {from_above(float(self.amount), 4)}" + (f" ({self.stated})" if self.stated else "")


@dataclass(frozen=True)
class EpsilonDelta(Price):
    """Epsilon at a delta: a rho by zCDP, as are all its parts; but `alone` by the profile of Gaussian noise."""

    terms: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    @cached_property
    def alone(self) -> Price:
        """The price of the smaller noise, compared at one whole step, where smoothing adds the largest share."""
        square = Fraction(mu_for(*self.terms)) ** 2
        if variance_for(square, Fraction(1), 1) >= 1 / (2 * self.amount):
            return self.shared
        return GaussianPrice(None, square / 2, self.unit, f"{self.stated}, by its profile")

    @property
    def shared(self) -> Price:
        return Price(None, self.rho, self.unit, f"{self.stated}, by zCDP")

    @property
    def ways(self) -> tuple[Price, ...]:
        return self, Price(self.terms[0], None, self.unit)

    def part(self, share: Fraction) -> Price:
        return self.shared.part(share)

    def __str__(self) -> str:
        return f"{self.stated} (rho = {from_above(float(self.amount), 4)})"


@dataclass(frozen=True)
class BatchPrice(Price):
    """A rho within a batch that is declared in advance: methods that are nothing but noises have its mu^2 = 2 rho."""

    @cached_property
    def alone(self) -> Price:
        """Gaussian privacy, which composes exactly; by zCDP where the steps of the noise are seen."""
        if variance_for(2 * self.amount, Fraction(1), 1) > SMOOTH / (2 * self.amount):
            return self.shared
        return GaussianPrice(None, self.amount, self.unit)

    @property
    def shared(self) -> Price:
        return Price(None, self.rho, self.unit)

    def part(self, share: Fraction) -> Price:
        return self.shared.part(share)


@dataclass(frozen=True)
class GaussianPrice(Price):
    """Gaussian privacy of mu^2 = 2 rho, which implies rho-zCDP; its parts add up in both."""

    def noise(self, distance: Distance[Any], grid: Fraction = Fraction(1)) -> Gaussian:
        """Gaussian noise of this mu on a vector that moves so far, with the variance that smoothing adds."""
        moved = super().noise(distance, grid).moves(None)
        variance = variance_for(2 * self.amount, moved.l2_squared, moved.coordinates)
        rho = moved.l2_squared / (2 * variance)
        return Gaussian(rho=rho, sensitivity=distance, grid=None if grid == 1 else grid)

    def loss(self) -> Loss:
        return Loss({GaussianPrivacy(2 * self.amount): 1}, self.unit.relation)

    def __str__(self) -> str:
        return f"mu = {from_above(float(2 * self.amount) ** 0.5, 4)}" + (f" ({self.stated})" if self.stated else "")
