"""Dominating pairs of local reports: a report speaks for one of two answers, by odds of e^epsilon, or for neither."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .dominating_pairs import Complex, Multiples, Pair


@dataclass(frozen=True)
class _ThreeLosses(Pair):
    """L is epsilon, -epsilon or 0."""

    epsilon: float

    @cached_property
    @abstractmethod
    def _chances(self) -> tuple[float, float, float]:
        """Of epsilon, of -epsilon, and of 0."""

    def log_transform(self, z: Complex) -> Complex:
        own, other, third = self._chances
        lead = z * self.epsilon
        return lead + np.log(own + third * np.exp(-lead) + other * np.exp(-2 * lead))

    def multiples(self, most: int) -> Multiples | None:
        own, other, third = self._chances
        return Multiples(self.epsilon, -1, 1, np.array([other, third, own]))

    @property
    def largest(self) -> float:
        return self.epsilon

    @property
    def mean(self) -> float:
        return self.epsilon * (self._chances[0] - self._chances[1])

    @property
    def variance(self) -> float:
        own, other, third = self._chances
        return self.epsilon * self.epsilon * (4 * own * other + third * (own + other))


@dataclass(frozen=True)
class Response(_ThreeLosses):
    """Randomized response over k categories: the loss is 0 where a third category is told."""

    categories: int

    @cached_property
    def _chances(self) -> tuple[float, float, float]:
        own = 1 / (1 + (self.categories - 1) * math.exp(-self.epsilon))
        low = math.exp(-self.epsilon) * own
        return own, low, (self.categories - 2) * low


@dataclass(frozen=True)
class RareCoin(_ThreeLosses):
    """A coin of odds e^epsilon that is told with probability `shown` only."""

    shown: float

    @cached_property
    def _chances(self) -> tuple[float, float, float]:
        own = self.shown / (1 + math.exp(-self.epsilon))
        return own, math.exp(-self.epsilon) * own, 1 - self.shown
