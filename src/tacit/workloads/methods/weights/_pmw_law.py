"""The exact law of the transcript of private multiplicative weights, when given questions are asked in order.

Given the noisy threshold, answers are independent; earlier answers fix the model and so the gap of the next question.
The law of a transcript is then a sum over the noise on the threshold of products of tails, as for the sparse vector
technique.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....mechanisms.sparse_vector._comparison_noise import Integers, Masses

if TYPE_CHECKING:
    from .pmw import AskedQuery, OnlineState, PrivateMultiplicativeWeights, Transcript


class TranscriptLaw:
    """For each question the number that the data answered with, or None where the model did."""

    def __init__(self, mechanism: PrivateMultiplicativeWeights, x: tuple[AskedQuery, ...]) -> None:
        self.mechanism, self.x = mechanism, x
        self._guesses: dict[Transcript, float] = {}
        self._masses: dict[Transcript, float] = {}

    @cached_property
    def _thresholds(self) -> tuple[Integers, Masses]:
        return self.mechanism.comparisons.noisy_thresholds()

    def _state(self, earlier: Transcript) -> OnlineState:
        """The public part of the state after these answers."""
        from .pmw import OnlineState

        moves = []
        for i, number in enumerate(earlier):
            if number is not None:
                question = self.x[i][0]
                steps = round(number / self.mechanism.grid)
                moves.append(self.mechanism.move(question, self._guess(earlier[:i]), steps))
        return OnlineState(0, len(earlier), tuple(moves))

    def _guess(self, earlier: Transcript) -> float:
        """What the model answers to the next question."""
        if earlier not in self._guesses:
            self._guesses[earlier] = self.x[len(earlier)][0].answer(self.mechanism.model(self._state(earlier)))
        return self._guesses[earlier]

    def mass(self, y: Transcript) -> float:
        if y not in self._masses:
            self._masses[y] = self._mass(y) if len(y) == len(self.x) else 0.0
        return self._masses[y]

    def _mass(self, y: Transcript) -> float:
        m, (thresholds, fresh) = self.mechanism, self._thresholds
        weight, mass, updates = fresh, 1.0, 0
        for i, answer in enumerate(y):
            if updates >= m.updates:
                if answer is not None:
                    return 0.0
                continue
            truth = m.truth(self.x[i])
            beyond = thresholds - abs(truth - round(self._guess(y[:i]) / float(m.grid)))
            if answer is None:
                weight = weight * m.comparisons.query_noise.below(beyond)
                continue
            weight, updates = weight * m.comparisons.query_noise.at_least(beyond), updates + 1
            steps = answer / float(m.grid)
            mass *= m.number.noise(truth).mass(int(steps)) if steps == int(steps) else 0.0
            if m.renewed:
                weight, mass = fresh, mass * float(np.sum(weight))
        return mass * float(np.sum(weight))

    def support(self, tail: float) -> Iterable[Transcript]:
        return self._after((), 0, tail / (self.mechanism.updates + 1))

    def _after(self, earlier: Transcript, updates: int, tail: float) -> Iterator[Transcript]:
        if len(earlier) == len(self.x):
            yield earlier
            return
        yield from self._after((*earlier, None), updates, tail)
        if updates < self.mechanism.updates:
            truth, unit = self.mechanism.truth(self.x[len(earlier)]), float(self.mechanism.grid)
            far = self.mechanism.number.noise().tail_quantile(tail)
            for number in range(truth - far, truth + far + 1):
                yield from self._after((*earlier, number * unit), updates + 1, tail)
