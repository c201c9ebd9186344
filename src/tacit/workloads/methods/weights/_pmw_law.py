"""The exact law of all that private multiplicative weights tell when given questions are asked one after the other.

Given the bar, answers are independent; what was told fixes the model and so the gap of the next question.  The law
of a transcript is then a sum over the noise on the bar of products of tails, as for the sparse vector technique.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....mechanisms.sparse_vector._comparison_noise import Integers, Masses

if TYPE_CHECKING:
    from .pmw import Asked, PrivateMultiplicativeWeights, State, Told


class Transcripts:
    """For each question the number that the data answered with, or None where the model did."""

    def __init__(self, mechanism: PrivateMultiplicativeWeights, x: tuple[Asked, ...]) -> None:
        self.mechanism, self.x = mechanism, x
        self._guesses: dict[Told, float] = {}
        self._masses: dict[Told, float] = {}

    @cached_property
    def _bars(self) -> tuple[Integers, Masses]:
        return self.mechanism.comparisons.noisy_thresholds()

    def _state(self, told: Told) -> State:
        """The public part of the state after these answers."""
        from .pmw import State

        moves = []
        for i, number in enumerate(told):
            if number is not None:
                question = self.x[i][0]
                steps = round(number / self.mechanism.grid)
                moves.append(self.mechanism.move(question, self._guess(told[:i]), steps))
        return State(0, len(told), tuple(moves))

    def _guess(self, told: Told) -> float:
        """What the model answers to the next question."""
        if told not in self._guesses:
            self._guesses[told] = self.x[len(told)][0].answer(self.mechanism.model(self._state(told)))
        return self._guesses[told]

    def mass(self, y: Told) -> float:
        if y not in self._masses:
            self._masses[y] = self._mass(y) if len(y) == len(self.x) else 0.0
        return self._masses[y]

    def _mass(self, y: Told) -> float:
        m, (bars, fresh) = self.mechanism, self._bars
        weight, mass, updates = fresh, 1.0, 0
        for i, told in enumerate(y):
            if updates >= m.updates:
                if told is not None:
                    return 0.0
                continue
            truth = m.truth(self.x[i])
            beyond = bars - abs(truth - round(self._guess(y[:i]) / float(m.grid)))
            if told is None:
                weight = weight * m.comparisons.query_noise.below(beyond)
                continue
            weight, updates = weight * m.comparisons.query_noise.at_least(beyond), updates + 1
            steps = told / float(m.grid)
            mass *= m.number.noise(truth).mass(int(steps)) if steps == int(steps) else 0.0
            if m.renewed:
                weight, mass = fresh, mass * float(np.sum(weight))
        return mass * float(np.sum(weight))

    def support(self, tail: float) -> Iterable[Told]:
        return self._after((), 0, tail / (self.mechanism.updates + 1))

    def _after(self, told: Told, updates: int, tail: float) -> Iterator[Told]:
        if len(told) == len(self.x):
            yield told
            return
        yield from self._after((*told, None), updates, tail)
        if updates < self.mechanism.updates:
            truth, unit = self.mechanism.truth(self.x[len(told)]), float(self.mechanism.grid)
            reach = self.mechanism.number.noise().tail_quantile(tail)
            for number in range(truth - reach, truth + reach + 1):
                yield from self._after((*told, number * unit), updates + 1, tail)
