r"""Multiplicative weights: a public guess of the data that learns from each answer it got wrong.

The guess q gives each cell of the domain a share, at first the same to all.  It is told that a query f, with
coefficients in [0, 1], has on the data an answer p(f) that is larger (or smaller) than q(f) by d at least, and moves:

    counts (f is 0 or 1)   q' ~ q exp(h f) with q'(f) = q(f) + d: exactly there, h = logit(q(f) + d) - logit(q(f))
    any other f            q' ~ q exp(h f) with h = 4 d

Progress.  KL(p | q) falls by at least 2 d^2.  The fall is h p(f) - ln q(e^{h f}).  For counts it grows with p(f), and
is KL(q'(f) | q(f)) >= 2 d^2 where p(f) = q'(f), by Pinsker's inequality.  For others Hoeffding's lemma gives
ln q(e^{h f}) <= h q(f) + h^2 / 8, so the fall is at least h d - h^2 / 8 = 2 d^2.  As KL(p | uniform) <= ln |X| and no
divergence is negative, there are at most ln |X| / (2 d^2) such moves.  Dwork and Roth's step, h = d / 2 with the
quadratic term h^2, needs 4 ln |X| / d^2.

What is done here is post-processing of numbers already told: floats are enough.

References.  Hardt and Rothblum, FOCS 2010; Dwork and Roth (2014), algorithm 5 and theorem 4.10; Arora, Hazan, Kale,
Theory of Computing 8 (2012); Csiszar, Annals of Probability 3 (1975), for the projection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadParameter
from ..core.exact import Number, positive, whole
from ._layout import scale, scale_where, summed
from .data import Data, Floats, Integers
from .domain import Axes, Domain
from .model import Model
from .predicates import Condition, predicates
from .workload import coefficients

_FAR = 2.0**300  # weights whose sum is beyond this are brought back to 1 each
_EDGE = 2.0**-40  # a share is never moved nearer to 0 or 1
Factor = tuple[Axes, tuple[int, ...]]


@dataclass(frozen=True)
class Question:
    """A linear query: the product of 0/1 coefficients on some axes, or one table of any, in whole steps of `grid`."""

    factors: tuple[Factor, ...]
    grid: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if list(self.axes) != sorted(set(self.axes)):
            raise BadParameter("axes", self.axes, "all different, in the order of the domain")
        if any(not 0 <= step * self.grid <= 1 for _, steps in self.factors for step in set(steps)):
            raise BadParameter("coefficients", "one that is not", "between 0 and 1, in whole steps of the grid")
        if len(self.factors) > 1 and (self.joint or self.grid != 1):
            raise BadParameter("question", "a product", "of 0 and 1 on one axis each; any other table comes alone")

    @classmethod
    def where(cls, domain: Domain, conditions: Mapping[str, Condition]) -> Question:
        """How many records satisfy a condition on each of some attributes."""
        asked = predicates(domain, [conditions])
        factors = asked.factors[0].items()
        return cls(tuple(((axis,), _in_steps(vector, asked.grid)) for axis, vector in factors), asked.grid)

    @classmethod
    def on_cells(cls, domain: Domain, values: Floats) -> Question:
        """Any coefficients on all the cells of the domain, in row-major order."""
        vector, grid = coefficients("coefficients", values, (domain.size,))
        return cls(((domain.all, _in_steps(vector, grid)),), grid)

    @cached_property
    def axes(self) -> Axes:
        return tuple(axis for axes, _ in self.factors for axis in axes)

    @property
    def joint(self) -> bool:
        """Whether a table of coefficients is on several axes at once."""
        return any(len(axes) > 1 for axes, _ in self.factors)

    @property
    def counts(self) -> bool:
        """Whether every coefficient is 0 or 1."""
        return self.grid == 1

    @cached_property
    def vectors(self) -> tuple[Integers, ...]:
        """The tables of coefficients, in steps of the grid."""
        return tuple(np.array(steps, np.int64) for _, steps in self.factors)

    def __reduce__(self) -> tuple[Any, ...]:
        return Question, (self.factors, self.grid)  # without the arrays

    def of(self, marginal: NDArray[Any]) -> Any:
        """The sum of coefficients times counts on the axes it looks at, in steps of the grid."""
        sizes = iter(marginal.shape)
        if [vector.size for vector in self.vectors] != [math.prod(islice(sizes, len(a))) for a, _ in self.factors]:
            raise BadParameter("question", f"for {self.axes}", "one on the domain, a coefficient for each value")
        if not self.vectors:
            return marginal.item()
        left = marginal.reshape(-1)
        for vector in self.vectors[:-1]:  # of 0 and 1
            left = left.reshape(vector.size, -1)[vector == 1].sum(axis=0)
        return np.vdot(self.vectors[-1].astype(left.dtype), left).item()

    def exactly(self, data: Data) -> int:
        """Its answer on the private table: a whole number of steps of the grid."""
        return int(self.of(data.marginal(self.axes)))

    def answer(self, model: Model) -> float:
        """Its answer on a model, in counts."""
        return float(self.of(model.marginal(self.axes))) * float(self.grid)


def _in_steps(vector: Floats, grid: Fraction) -> tuple[int, ...]:
    return tuple(np.round(vector / float(grid)).astype(np.int64).tolist())


class Weights(Model):
    """A positive weight for each cell of the domain: the shares of so many records.

    Weights are not brought to any sum: each answer divides by the sum of the marginal it reads.
    """

    def __init__(self, domain: Domain, records: float, values: Floats | None = None) -> None:
        self.domain, self.records = domain, records
        self.values = np.ones(domain.laid_out(domain.all)) if values is None else values

    def marginal(self, axes: Axes) -> Floats:
        table = summed(self.values, axes)
        total = float(table.sum())
        if not 1 / _FAR < total < _FAR:
            self.values *= self.values.size / total
        table *= self.records / total
        return table

    def copy(self) -> Weights:
        return Weights(self.domain, self.records, self.values.copy())

    def tilt(self, axes: Axes, exponents: Floats) -> None:
        """Multiply each weight by e to the exponent of its place on these axes."""
        scale(self.values, axes, np.exp(exponents))

    def move(self, question: Question, by: float, answer: float | None = None) -> None:
        """Move an answer by a share `by` of the records: exactly, if it counts; `answer` is what it is, where known."""
        axes = question.axes
        if not question.counts:
            heights = question.vectors[0].astype(float) * (4 * by * float(question.grid))
            self.tilt(axes, heights.reshape(self.domain.laid_out(axes)))
            return
        share = (question.answer(self) if answer is None else answer) / self.records
        factor = math.exp(_logit(share + by) - _logit(share))
        if question.joint:
            scale(self.values, axes, np.where(question.vectors[0], factor, 1.0).reshape(self.domain.laid_out(axes)))
        else:
            scale_where(self.values, dict(zip(axes, question.vectors, strict=True)), factor)


def _logit(share: float) -> float:
    inside = min(max(share, _EDGE), 1 - _EDGE)
    return math.log(inside) - math.log1p(-inside)


def most_updates(cells: int, gap: Number) -> int:
    """How many moves by a share `gap` of the records there can be: ln |X| / (2 gap^2)."""
    return math.floor(math.log(whole("cells", cells)) / (2 * float(positive("gap", gap)) ** 2))


def least_gap(cells: int, updates: int) -> float:
    """The least gap of which there cannot be more updates than this: sqrt(ln |X| / (2 c))."""
    if whole("cells", cells) == 1:
        raise BadParameter("cells", cells, "two or more")
    return math.sqrt(math.log(cells) / (2 * whole("updates", updates)))
