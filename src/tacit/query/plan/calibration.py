r"""Calibration: how much noise an amount of a currency buys.

For each measure the mechanisms that have a price in the currency are compared, and the one with the least predicted
error is taken; no data is read.  In pure epsilon and in zCDP a price is met exactly.  In Renyi divergence, and where a
price must be inverted, it is met from below, to eleven digits.

A histogram from which quantiles or labels are chosen has one choice for each cell of the question.  One unit's rows are
shared out among the cells, and the logarithms of independent laws add up, so all cells together cost what one cell
costs whose rows are all of that unit's: ranges r_j / scale of the cells sum to at most r / scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from ...core.accounting.currency import Amount, Currency, Epsilon, RenyiAt, Rho
from ...core.accounting.loss import BoundedRange, Pure
from ...core.distance import ADD_REMOVE, Distance, scalar
from ...core.errors import BadParameter, Refused
from ...core.mechanism import Mechanism
from ...core.parameters import Number
from ...core.search import greatest_positive
from ...mechanisms import Gaussian, IndependentQuantiles, KeySelection, Laplace, Quantiles, TopK
from .compiler import Compiled
from .plan import Measure

_MOST_STEPS, _CLOSE = 16, 2.0**-44  # of the secant method, and its last step


@dataclass(frozen=True)
class Step:
    """A measure (None: the counts of units by which keys are chosen), and the mechanisms that its price buys."""

    measure: Measure | None
    tried: tuple[Mechanism[Any, Any], ...]
    beta: Number

    @cached_property
    def errors(self) -> tuple[float, ...]:
        """The predicted error of each, in steps or rows."""
        return tuple(m.error(beta=self.beta) for m in self.tried)

    @cached_property
    def mechanism(self) -> Mechanism[Any, Any]:
        """The mechanism with the least predicted error."""
        return self.tried[self.errors.index(min(self.errors))] if len(self.tried) > 1 else self.tried[0]

    @property
    def considered(self) -> tuple[tuple[str, float], ...]:
        """The names of all mechanisms that were tried, with their predicted errors."""
        return tuple(zip(map(_name, self.tried), self.errors, strict=True))


@dataclass(frozen=True)
class Need:
    """All that the mechanisms for a measure depend on: how far one unit moves it, and what is chosen from its bins."""

    moves: Distance[Any]
    choice: tuple[Fraction, ...] | int | None = None
    bins: int = 0
    keys: bool = False  # whether these are the counts of units by which keys are chosen

    def tried(self, currency: Currency, amount: Fraction, delta: Fraction) -> list[Any]:
        """The mechanisms that this amount buys; those that choose keys may fail with probability delta."""
        if self.keys:
            return _keys(currency, amount, self.moves, delta)
        if self.choice is None:
            return _noise(currency, amount, self.moves)
        return _choices(self.choice, self.bins, currency, amount, self.moves)


def needs(compiled: Compiled) -> tuple[Need, ...]:
    """What each measure of a plan needs and, last, the counts of units by which keys are chosen."""
    # A measure that no unit can move is released like others.
    moves = [moved if moved.l1 else scalar(Fraction(1), ADD_REMOVE) for moved in compiled.moves]
    measured = zip(moves, compiled.choices, compiled.plan.measures, strict=False)
    keys = [Need(moves[-1], keys=True)] if compiled.plan.chosen else []
    return *(Need(moved, choice, measure.bins) for moved, choice, measure in measured), *keys


def steps(compiled: Compiled, currency: Currency, amount: Fraction, delta: Fraction | None, beta: Number) -> list[Step]:
    """The steps of a plan for this amount in all, of which each has an equal share."""
    measures: list[Measure | None] = [*compiled.plan.measures, *([None] if compiled.plan.chosen else [])]
    bought = mechanisms(needs(compiled), currency, amount, delta or Fraction(0))
    return [Step(measure, tried, beta) for measure, tried in zip(measures, bought, strict=True)]


def mechanisms(
    wanted: Sequence[Need], currency: Currency, amount: Fraction, delta: Fraction
) -> list[tuple[Mechanism[Any, Any], ...]]:
    """The mechanisms for all needs that this amount buys, of which each has an equal share."""
    bought = [tuple(need.tried(currency, amount / len(wanted), delta)) for need in wanted]
    if not all(bought):
        raise Refused(
            "No noise can be drawn at this price for values of so many steps. Ask with another price, ROUND the values,"
            " or declare a coarser grid."
        )
    return bought


def _name(m: Mechanism[Any, Any]) -> str:
    inner = f", {type(m.noise).__name__}" if isinstance(m, KeySelection) else ""
    return f"{type(m).__name__}{inner}"


def _bought(make: Callable[[Fraction], Any], amount: Fraction | None) -> list[Any]:
    """The mechanism that the amount buys, in a list; empty if there is none."""
    try:
        return [] if amount is None else [make(amount)]
    except BadParameter:  # the noise would be too wide, or too narrow, to be drawn
        return []


def _noise(currency: Currency, amount: Fraction, moves: Distance[Any]) -> list[Any]:
    return [
        *_bought(lambda e: Laplace(epsilon=e, sensitivity=moves), pure(currency, amount)),
        *_bought(lambda r: Gaussian(rho=r, sensitivity=moves), concentrated(currency, amount)),
    ]


def _keys(currency: Currency, amount: Fraction, moves: Distance[Any], delta: Fraction) -> list[Any]:
    return [
        *_bought(lambda e: KeySelection(epsilon=e, delta=delta, sensitivity=moves), pure(currency, amount)),
        *_bought(lambda r: KeySelection(rho=r, delta=delta, sensitivity=moves), concentrated(currency, amount)),
    ]


def _choices(
    choice: tuple[Fraction, ...] | int, cells: int, currency: Currency, amount: Fraction, moves: Distance[Any]
) -> list[Any]:
    if isinstance(choice, int):
        price = pure(currency, amount, BoundedRange, choice)
        return _bought(
            lambda e: TopK(k=choice, epsilon=e * choice, sensitivity=moves, monotone=True, candidates=cells), price
        )
    levels = len(choice).bit_length()
    price = pure(currency, amount, BoundedRange, levels)
    kinds = (IndependentQuantiles, Quantiles) if levels == len(choice) > 1 else (Quantiles,)  # of two at the same price

    def made(kind: type[Quantiles]) -> list[Any]:
        terms: dict[str, Any] = {"quantiles": choice, "sensitivity": moves, "cells": cells}
        return _bought(lambda e: kind(epsilon=e * levels, **terms), price)

    return [found for kind in kinds for found in made(kind)]


@lru_cache(maxsize=256)  # the measures of a question have equal shares
def pure(currency: Currency, amount: Fraction, atom: type[Pure] = Pure, times: int = 1) -> Fraction | None:
    """The largest epsilon of so many atoms that together cost at most the amount."""
    each = amount / times
    if isinstance(currency, Epsilon):
        return each

    def cost(epsilon: float) -> Amount:
        return currency.of(atom(Fraction(epsilon)))

    largest = greatest_positive(
        lambda epsilon: cost(epsilon) <= each,
        floor=2.0**-800,
        ceiling=2.0**60,
        precision=2.0**-44,
        fall=16,
        near=_about(cost, float(each)),
    )
    return tidy(Fraction(largest)) if largest else None


def _about(cost: Callable[[float], Amount], amount: float) -> float | None:
    """About where an increasing cost is this amount: the secant method on logarithms; None where that fails."""
    x, power, before = 1.0, 2.0, None  # the cost of a small epsilon is quadratic
    for _ in range(_MOST_STEPS):
        at = float(cost(x))
        if not (amount > 0 and 0 < at < math.inf):
            return None
        point = math.log(x), math.log(at)
        if before is not None and point[0] != before[0] and point[1] != before[1]:
            power = (point[1] - before[1]) / (point[0] - before[0])
        nearer = x * math.exp((math.log(amount) - point[1]) / power)
        if abs(nearer - x) <= x * _CLOSE:
            return nearer
        x, before = nearer, point
    return None


def concentrated(currency: Currency, amount: Fraction) -> Fraction | None:
    """The largest rho that costs at most the amount."""
    match currency:
        case Rho():
            return amount
        case RenyiAt():
            return tidy(amount / currency.order)
    return None


def tidy(x: Fraction) -> Fraction:
    """x to eleven digits, and not above it."""
    if x <= 0:
        return x
    exponent = 10 - math.floor(math.log10(x))
    unit = Fraction(10) ** exponent
    return Fraction(math.floor(x * unit)) / unit
