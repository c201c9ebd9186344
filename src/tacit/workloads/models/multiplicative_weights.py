r"""Multiplicative weights: a public guess of the data that learns from each answer it got wrong.

The guess q gives each cell of the domain a share, at first the same to all.  Given that a query f, with coefficients in
[0, 1], has on the data an answer p(f) that is larger (or smaller) than q(f) by d at least, the guess moves:

    q' ~ q (1 + (e^h - 1) f)   with h = logit(q(f) + d) - logit(q(f)), or -d, kept within 18 of 0

Where f counts (it is 0 or 1) this is q exp(h f), with q'(f) = q(f) + d exactly.  What the shares then add up to is
known before: 1 + (e^h - 1) q(f).

Progress.  KL(p | q) falls by at least 2 d^2.  As ln(1 + (e^h - 1) f) is concave in f it is at least h f, so the fall,
p(ln(1 + (e^h - 1) f)) - ln(1 + (e^h - 1) q(f)), is at least h p(f) - ln(1 + (e^h - 1) q(f)); for h > 0 that grows with
p(f), so let p(f) be q(f) + d.  Then it is concave in h, and largest at the h of the definition.  By Hoeffding's lemma
it is at least h d - h^2 / 8: at h = 4 d, which is nearer to 0 as logit rises by 4 or more, 2 d^2.  So any h between the
two will do.  As KL(p | uniform) <= ln |X| and no divergence is negative, there are at most ln |X| / (2 d^2) such moves.
Dwork and Roth's step, h = d / 2 with the quadratic term h^2, needs 4 ln |X| / d^2.

All this is post-processing of released numbers: floats are enough.

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

from ...core.errors import BadParameter
from ...core.parameters import Number, instance, positive, whole
from ...storage import stored
from ..price import LARGEST
from ..queries._layout import in_memory, longest_last, scale, summed
from ..queries.data import EXACT, Data, Floats, Integers
from ..queries.domain import Axes, Domain
from ..queries.predicates import Condition, predicates
from ..queries.workload import coefficients
from ._folded import Folded
from .model import Model

_MAX_SUM = 2.0**300  # beyond which weights are scaled back to 1 each
_MAX_MOVES = 1 << 10  # after which the sum of the weights is computed again
_MIN_SHARE = 2.0**-40  # a share is never moved nearer to 0 or 1
_MAX_HEIGHT = 18.0  # of h: what is taken off a weight leaves half of its digits
_MAX_HEIGHTS = 500.0  # the sum of |h| after which the sum is computed again, too, long before a weight is 0
_MIN_WEIGHT = 2.0**-60  # of the mean: smaller weights are raised to it when the sum is computed
Factor = tuple[Axes, tuple[int, ...]]


@stored("LinearQuery", ("factors", "grid"))
@dataclass(frozen=True)
class LinearQuery:
    """A linear query: the product of 0/1 coefficients on some axes, or one table of any, in whole steps of `grid`."""

    factors: tuple[Factor, ...]
    grid: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "factors", tuple((tuple(axes), tuple(steps)) for axes, steps in self.factors))
        except (TypeError, ValueError):
            raise BadParameter("factors", type(self.factors).__name__, "pairs of axes and their coefficients") from None
        if not all(axes and steps for axes, steps in self.factors):
            raise BadParameter("factors", "one without axes or coefficients", "each on one or more axes")
        if not {int}.issuperset(map(type, self.axes)) or list(self.axes) != sorted(set(self.axes)):
            raise BadParameter("axes", self.axes, "places of attributes, all different, in the order of the domain")
        object.__setattr__(self, "grid", grid := positive("grid", self.grid))
        if grid.numerator != 1 or not (self.factors or grid == 1):
            raise BadParameter("grid", grid, "one over a whole number, and 1 where all records are counted")
        if not all({int}.issuperset(map(type, steps)) for _, steps in self.factors):
            raise BadParameter("coefficients", "others", "whole numbers, of steps of the grid")
        ends = {end(steps) for _, steps in self.factors if steps for end in (min, max)}
        if any(not 0 <= step * grid <= 1 for step in ends):
            raise BadParameter("coefficients", "one that is not", "between 0 and 1, in whole steps of the grid")
        if len(self.factors) > 1 and (self.joint or grid != 1):
            raise BadParameter("question", "a product", "of 0 and 1 on one axis each; any other table comes alone")

    @classmethod
    def where(cls, domain: Domain, conditions: Mapping[str, Condition]) -> LinearQuery:
        """How many records satisfy a condition on each of some attributes."""
        asked = predicates(domain, [conditions])
        return cls.of_vectors(asked.factors[0], asked.grid)

    @classmethod
    def of_vectors(cls, factors: Mapping[int, Floats], grid: Fraction) -> LinearQuery:
        """The product of a vector of coefficients, in steps of the grid, on each of some axes."""
        tables = tuple(((axis,), _in_steps(vector, grid)) for axis, vector in factors.items())
        return cls(tables, grid if tables else Fraction(1))

    @classmethod
    def on_cells(cls, domain: Domain, values: Floats) -> LinearQuery:
        """Any coefficients on all the cells of the domain, in row-major order."""
        vector, grid = coefficients("coefficients", values, (instance("domain", domain, Domain).size,))
        return cls(((domain.all, _in_steps(vector, grid)),), grid)

    @cached_property
    def axes(self) -> Axes:
        return tuple(axis for axes, _ in self.factors for axis in axes)

    @cached_property
    def joint(self) -> bool:
        """Whether a table of coefficients is on several axes at once."""
        return any(len(axes) > 1 for axes, _ in self.factors)

    @cached_property
    def coarsest(self) -> LinearQuery:
        """This question in the largest steps of which its coefficients are whole numbers."""
        if self.counts:
            return self
        times = math.gcd(self.grid.denominator, *(step for _, steps in self.factors for step in steps))
        factors = tuple((axes, tuple(step // times for step in steps)) for axes, steps in self.factors)
        return LinearQuery(factors, self.grid * times)

    @property
    def counts(self) -> bool:
        """Whether every coefficient is 0 or 1."""
        return self.grid == 1

    @cached_property
    def vectors(self) -> tuple[Integers, ...]:
        """The tables of coefficients, in steps of the grid."""
        return tuple(np.array(steps, np.int64) for _, steps in self.factors)

    def check(self, domain: Domain) -> None:
        """Raise BadParameter unless the question is one on this domain."""
        inside = not self.axes or 0 <= self.axes[0] <= self.axes[-1] < len(domain.shape)  # they are in order
        if not inside or any(len(steps) != domain.cells(axes) for axes, steps in self.factors):
            raise BadParameter("question", f"for {self.axes}", "one on the domain, a coefficient for each value")

    def __reduce__(self) -> tuple[Any, ...]:
        return LinearQuery, (self.factors, self.grid)  # without the arrays

    def of(self, marginal: NDArray[Any]) -> Any:
        """The sum of coefficients times counts, in steps of the grid, from a marginal on the question's axes."""
        sizes = iter(marginal.shape)
        if [vector.size for vector in self.vectors] != [math.prod(islice(sizes, len(a))) for a, _ in self.factors]:
            raise BadParameter("question", f"for {self.axes}", "one on the domain, a coefficient for each value")
        if not self.vectors:
            return marginal.item()
        left = marginal.reshape(-1)
        for vector in self.vectors[:-1]:  # of 0 and 1
            left = left.reshape(vector.size, -1)[vector == 1].sum(axis=0)
        if left.dtype == float:
            return Folded(np.ones(1), self.vectors[-1].astype(float)).sum(left)
        return np.vdot(self.vectors[-1].astype(left.dtype), left).item()

    def exactly(self, data: Data) -> int:
        """The answer on the private table, a whole number of steps of the grid, cut as `Workload.exactly` cuts it."""
        counts = data.marginal(self.axes)
        return int(self.of(counts)) if self.counts else min(int(self.of(counts.astype(float))), EXACT)

    def answer(self, model: Model) -> float:
        """The answer on a model, in counts."""
        if isinstance(model, Weights):
            return model.answer(self)
        return float(self.of(model.marginal(self.axes))) * float(self.grid)


def _in_steps(vector: Floats, grid: Fraction) -> tuple[int, ...]:
    return tuple(np.round(vector / float(grid)).astype(np.int64).tolist())


@stored("MultiplicativeWeights", ("domain", "records", "values"))
class Weights(Model):
    """A positive weight for each cell of the domain: the cell's share of so many records.

    Weights are not normalised.  Their sum is updated: a move that multiplies a sum S by f adds (f - 1) S to it, without
    another pass.  Drift: a move adds an error of at most e times the larger of the sums before and after it, e the
    relative error of a dot product, at most 2^-53 times its terms.  The sum is computed again after 1024 moves, and
    when it falls below half of its largest, so it is within 2048 e of the truth: 2^-22 for 2^20 cells, mostly far less
    as errors cancel.  Weights below 2^-60 of their mean are then raised to it, so that none is ever 0: no share of the
    others falls by more than that part of it.
    """

    def __init__(self, domain: Domain, records: float, values: Floats | None = None) -> None:
        self.domain, self.records = domain, records
        self.values = (
            longest_last(domain.laid_out(domain.all)) if values is None else np.array(values, float, order="K")
        )

    @cached_property
    def _order(self) -> Axes:
        return in_memory(self.values)

    @cached_property
    def _place(self) -> dict[int, int]:
        """The place of each axis in the order in memory."""
        return {axis: i for i, axis in enumerate(self._order)}

    @cached_property
    def _cells(self) -> Floats:
        """A view of the weights with the axes in their order in memory."""
        return self.values.transpose(self._order)

    @cached_property
    def _sum(self) -> _Sum:
        total = self._near(float(self._cells.sum()))
        if self._cells.min() < (least := _MIN_WEIGHT * total / self.values.size):
            total = float(np.maximum(self._cells, least, out=self._cells).sum())
        return _Sum(total, total)

    def _near(self, total: float) -> float:
        """The sum of the weights; if it is far from 1 each, all are scaled back by a power of two, exactly."""
        if 1 / _MAX_SUM < total < _MAX_SUM:
            return total
        _, power = math.frexp(total / self.values.size)
        np.ldexp(self._cells, -power, out=self._cells)
        self.__dict__.pop("_sum", None)
        return math.ldexp(total, -power)

    def settled(self) -> float:
        """The sum of the weights, after they are scaled back to about 1 each if need be."""
        return self._near(float(self._cells.sum()))

    @cached_property
    def _last(self) -> list[tuple[LinearQuery, Folded]]:
        """The question that was answered last: mostly the next move is about it."""
        return []

    def _folded(self, question: LinearQuery) -> Folded | None:
        """The question in rows and columns of the cells; None for a joint table on some of the axes."""
        if question.joint and len(question.axes) < len(self._order):
            return None
        if not self._last or self._last[0][0] is not question:
            question.check(self.domain)
            unit = float(question.grid)
            if question.joint:
                table = question.vectors[0].reshape(self.domain.shape).transpose(self._order)
                folded = Folded(np.ones(1), table.ravel().astype(float) * unit)
            else:
                factors = {self._place[a]: v * unit for a, v in zip(question.axes, question.vectors, strict=True)}
                folded = Folded.of(self._cells.shape, factors)
            self._last[:] = [(question, folded)]
        return self._last[0][1]

    def marginal(self, axes: Axes) -> Floats:
        ordered = [axis for axis in self._order if axis in axes]
        table = summed(self._cells, tuple(map(self._order.index, ordered))).transpose(np.argsort(ordered))
        total = float(table.sum())
        table *= self.records / total
        self._near(total)
        return table

    def answer(self, question: LinearQuery) -> float:
        """The answer to a question, in counts."""
        if (folded := self._folded(question)) is None:
            return float(question.of(self.marginal(question.axes))) * float(question.grid)
        each = self.records / self._sum.total  # first, as it may bring the weights back
        return folded.sum(self._cells) * each

    def copy(self) -> Weights:
        return Weights(self.domain, self.records, self.values)

    def tilt(self, axes: Axes, exponents: Floats) -> None:
        """Multiply each weight by e to the exponent of its place on these axes."""
        self._scale(axes, np.exp(exponents))

    def _scale(self, axes: Axes, factors: Floats) -> None:
        ordered = [axis for axis in self._order if axis in axes]
        factors = factors.transpose([axes.index(axis) for axis in ordered])
        scale(self._cells, tuple(map(self._order.index, ordered)), factors)
        self.__dict__.pop("_sum", None)

    def move(self, question: LinearQuery, by: float, answer: float | None = None) -> float:
        """Move an answer by a share `by` of the records: exactly, if the question counts.

        `answer` is the answer before the move, if the caller has it.  Returns a lower bound on how much KL(p | q)
        falls, if the answer of p is at least so far away.
        """
        axes, folded = question.axes, self._folded(question)
        share = (self.answer(question) if answer is None else answer) / self.records
        height = min(max(_logit(share + by) - _logit(share), -_MAX_HEIGHT), _MAX_HEIGHT)
        if (rise := math.expm1(height)) == 0:
            return 0.0 if 0 <= share + by <= 1 else math.inf
        fall = height * (share + by) - math.log1p(rise * share)
        if folded is None:
            steps = question.vectors[0].astype(float).reshape(self.domain.laid_out(axes))
            self._scale(axes, 1 + rise * float(question.grid) * steps)
            return fall
        self._sum.moved(1 + rise * share, folded.scale(self._cells, rise), abs(height))
        if self._sum.stale:
            del self._sum
        return fall


@dataclass
class _Sum:
    """The sum of weights, its largest value since it was computed, and how often and how far they moved since."""

    total: float
    largest: float
    moves: int = 0
    far: float = 0.0

    def moved(self, by: float, scaled: float, far: float) -> None:
        """Multiply the sum by `by`, and then, with every weight, by `scaled`."""
        self.total *= by
        self.largest = max(self.largest, self.total) * scaled
        self.total, self.moves, self.far = self.total * scaled, self.moves + 1, self.far + far

    @property
    def stale(self) -> bool:
        often = self.moves >= _MAX_MOVES or self.far > _MAX_HEIGHTS
        return often or 2 * self.total < self.largest or not 1 / _MAX_SUM < self.total < _MAX_SUM


def _logit(share: float) -> float:
    inside = min(max(share, _MIN_SHARE), 1 - _MIN_SHARE)
    return math.log(inside) - math.log1p(-inside)


def most_updates(cells: int, gap: Number) -> int:
    """The largest number of moves by a share `gap` of the records: ln |X| / (2 gap^2)."""
    return math.floor(math.log(whole("cells", cells)) / (2 * float(positive("gap", gap, LARGEST)) ** 2))


def least_gap(cells: int, updates: int) -> float:
    """The least gap by which the model cannot move more often than `updates` times: sqrt(ln |X| / (2 c))."""
    if whole("cells", cells) == 1:
        raise BadParameter("cells", cells, "two or more")
    return math.sqrt(math.log(cells) / (2 * whole("updates", updates)))
