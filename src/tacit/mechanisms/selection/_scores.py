"""The base of the selection mechanisms: scores, and how far they move.

Scores are integers, or reals put on a public grid.  A choice sees only the gaps max u - u_i, in steps of the grid, so
what one unit of privacy can do is measured by the range max v - min v of the moves v_i = u_i' - u_i.  If no |v_i|
exceeds d, the range is at most 2 d, and at most d if each unit moves all scores the same way, as a person who is added
to a count does; one who is substituted moves them both ways.  Ranges add up over the units of a group.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import law
from ...core.accounting.loss import Loss
from ...core.distance import Distance, Substitute
from ...core.distance import distance as read_distance
from ...core.errors import BadData, BadParameter
from ...core.exact import up
from ...core.mechanism import Mechanism
from ...core.parameters import Number, flag, natural, positive, probability, whole
from ...core.randomness import Source
from .._grid import as_array, element_type, max_move_in_steps, power_of_two, steps
from ._rule import Gaps, SelectionRule, share

Scores = Sequence[int] | Sequence[float] | NDArray[Any]
Y = TypeVar("Y")
LARGEST_SCALE = Fraction(1 << 60)


@dataclass(frozen=True, init=False, repr=False)
class Selection(Mechanism[Scores, Y]):
    """Chooses by a rule; pass `epsilon` or `rho`, and as `sensitivity` how far one unit moves each score.

    `monotone` says that each unit moves all scores the same way.  `range_sensitivity`, given instead, bounds the range
    of the moves, and every distance is then read as a range.  `candidates` is how many there will be; errors need it.
    """

    sensitivity: Distance[Any]
    motion: Literal["free", "monotone", "range"]
    grid: Fraction | None
    candidates: int | None
    scale: Fraction

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number | Distance[Any] = 1,
        range_sensitivity: Number | Distance[Any] | None = None,
        monotone: bool = False,
        grid: Number | None = None,
        candidates: int | None = None,
    ) -> None:
        monotone = flag("monotone", monotone)
        if range_sensitivity is not None and (sensitivity != 1 or monotone):
            raise BadParameter(
                "range_sensitivity",
                range_sensitivity,
                "given without sensitivity and monotone",
                says="Pass either range_sensitivity, or sensitivity with or without monotone, not both.",
            )
        if range_sensitivity is None:
            moves, motion = read_distance(sensitivity, "sensitivity"), "monotone" if monotone else "free"
        else:
            moves, motion = read_distance(range_sensitivity, "range_sensitivity"), "range"
        if monotone and isinstance(moves.relation, Substitute):
            raise BadParameter("monotone", monotone, "False under substitution, which moves scores both ways")
        object.__setattr__(self, "sensitivity", moves)
        object.__setattr__(self, "motion", motion)
        object.__setattr__(self, "grid", None if grid is None else power_of_two("grid", grid))
        number = None if candidates is None else whole("candidates", candidates, at_least=self.picks)
        object.__setattr__(self, "candidates", number)
        each = share(self.rule.atom, epsilon, rho, self.picks)
        in_steps = positive("scale in steps of the grid", self.move_range() / each, within=LARGEST_SCALE)
        object.__setattr__(self, "scale", in_steps * (self.grid or 1))

    @property
    @abstractmethod
    def rule(self) -> SelectionRule:
        """How one choice is made."""

    @property
    def picks(self) -> int:
        """How many choices are made."""
        return 1

    @cached_property
    def unit(self) -> Fraction:
        """The epsilon of one choice for each step of range."""
        return (self.grid or 1) / self.scale

    def move_range(self, by: Distance[Any] | None = None) -> int:
        """The range of the moves, in steps of the grid.

        A score that moves by d steps moves, once rounded, by floor(d) or ceil(d).  So a range of r steps may become
        ceil(r) + 1; but ceil(r) if all moves lie in [0, r], as those of one monotone unit do.
        """
        d = self.sensitivity if by is None else by
        most = max_move_in_steps(d, self.grid, "scores")
        if self.motion == "free" or (self.motion == "monotone" and isinstance(d.relation, Substitute)):
            return 2 * most
        one_unit = self.motion == "monotone" and d == self.sensitivity
        return most if one_unit or self.grid is None or not most else most + 1

    def loss(self, distance: Number | Distance[Any] | None = None) -> Loss:
        d = self.sensitivity if distance is None else read_distance(distance, zero=True)
        steps_moved = self.move_range(d)
        return Loss({self.rule.atom(steps_moved * self.unit): self.picks} if steps_moved else {}, d.relation)

    def gaps(self, scores: Scores) -> Gaps:
        """How far each score lies below the best, in steps of the grid."""
        array = as_array("scores", scores)
        if array.ndim != 1 or array.size < self.picks or self.candidates not in (None, array.size):
            how_many = f"at least {self.picks}" if self.candidates is None else self.candidates
            shape = f"an array of shape {array.shape}" if array.ndim or array.dtype.kind != "O" else element_type(array)
            raise BadData("scores", shape, f"one number for each candidate, {how_many} in all")
        at = steps("scores", array, self.grid, clamp=False)
        return np.asarray(np.max(at) - at)

    def in_units(self, gap: int) -> float:
        """A gap in the units of the scores; rounding two scores to the grid may hide one step more."""
        return float(gap) if self.grid is None else up((gap + 1) * self.grid)

    def sizes(
        self, candidates: int | None, optimal: int = 1, read: Callable[[str, int, int], int] = whole
    ) -> tuple[int, int]:
        """How many candidates there are, and how many of them share the best score."""
        m = self.candidates if candidates is None else read("candidates", candidates, self.picks)
        if m is None:
            raise BadParameter(
                "candidates",
                None,
                "given here, or when the mechanism is made",
                says="Pass candidates (how many there are), here or to the mechanism.",
            )
        if read("optimal", optimal, 1) > m:
            raise BadParameter("optimal", optimal, f"at most {m}, the number of candidates")
        return m, optimal


class SelectOne(Selection[int]):
    """Chooses one candidate, and releases its index."""

    def law(self, x: Scores) -> law.Finite:
        return law.Finite(dict(enumerate(self.rule.masses(self.gaps(x), self.unit).tolist())))

    def sample(self, x: Scores, source: Source) -> int:
        return self.rule.draw(self.gaps(x), self.unit, source)

    def error(self, beta: Number = 0.05, candidates: int | None = None, optimal: int = 1) -> float:
        """The quantile of the gap for the worst scores, when at least `optimal` of the candidates share the best."""
        m, o = self.sizes(candidates, optimal)
        return self.in_units(self.rule.shortfall(float(probability("beta", beta)), self.unit, m, o))

    def classical_error(self, beta: Number = 0.05, candidates: int | None = None, optimal: int = 1) -> float:
        """The textbook bound, for any number of candidates: only its logarithm enters."""
        m, o = self.sizes(candidates, optimal, natural)
        return float(self.scale) * self.rule.classical(float(probability("beta", beta)), m, o) + float(self.grid or 0)

    def expected_error(self, candidates: int | None = None, optimal: int = 1) -> float:
        """A bound on the mean gap."""
        return float(self.scale) * self.rule.mean(*self.sizes(candidates, optimal)) + float(self.grid or 0)

    def miss(self, x: Scores, y: int) -> float:
        scores = np.asarray(x).tolist()  # Python numbers do not wrap
        return float(max(scores) - scores[y])
