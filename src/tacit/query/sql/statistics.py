r"""Statistics of pairs: covariances, correlation and the line of least squares, from a count and exact sums.

Let u = x - a and v = y - b, where a and b are the middles of the public ranges, over the n rows in which neither x
nor y is missing.  With S(.) the sum over these rows, all of them integers on the grids of x and y,

    C(u, v) = S(uv) - S(u) S(v) / n             and likewise C(u, u), C(v, v)
    COVAR_POP = C(u, v) / n                     COVAR_SAMP = C(u, v) / (n - 1)
    REGR_SLOPE(y, x) = C(u, v) / C(u, u)        REGR_INTERCEPT(y, x) = b + S(v) / n - slope (a + S(u) / n)
    CORR = C(u, v) / sqrt(C(u, u) C(v, v))      REGR_R2 = C(u, v)^2 / (C(u, u) C(v, v))

None depends on a and b, which only keep the terms of the sums small.  Values with more than 2^15 steps to either side
of the middle are rounded to the nearest of so many, so that no product exceeds 2^30, and a statistic is that of the
rounded values.  The sums are bought once, whatever is computed from them, and intervals follow from theirs by
interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from ...core.errors import BadQuestion
from ...storage import canonical
from ..relation import build
from ..select.aggregates import aggregate
from ..select.outputs import Arithmetic, CaseOutput, Comparison, Function, Output, OutputValue
from ..select.query import Aggregate
from ..values.coercion import kind_of, unbounded
from ..values.nodes import Column, Expression

_MOST_STEPS = 1 << 15
_ONE, _ZERO = OutputValue(Fraction(1)), OutputValue(Fraction(0))


@dataclass(frozen=True)
class PairSums:
    """The released count and sums of pairs; `released` buys an aggregate once, and `names` are those of the values.

    The sums do not depend on which value is x and which is y.
    """

    x: Expression
    y: Expression
    names: dict[Expression, str]
    released: Callable[[str, Aggregate], Output]

    @classmethod
    def of(
        cls, x: Expression, y: Expression, kept: Expression | None, released: Callable[[str, Aggregate], Output]
    ) -> PairSums:
        """The sums of two expressions over the rows in which both are there, and a condition holds."""
        for name, e in (("x", x), ("y", y)):
            if e.domain.kind != "number":
                raise BadQuestion(f"A statistic of pairs needs numbers; {kind_of(e)}.")
            if not e.domain.declared:
                raise unbounded(name, e)
        there = build.not_(build.or_(*map(build.is_missing, sorted((x, y), key=canonical))))
        both = there if kept is None else build.and_(kept, there)
        first, second = (build.moderate(build.case([(both, _coarse(e))])) for e in (x, y))
        names = {e: of.name if isinstance(of, Column) else "value" for e, of in ((first, x), (second, y))}
        return cls(first, second, names, released)

    @property
    def ordered(self) -> list[Expression]:
        """Both values, in one order whichever of them is x."""
        return sorted((self.x, self.y), key=canonical)

    def middle(self, e: Expression) -> Fraction:
        """The middle of a public range, on its grid."""
        return (e.domain.lower + e.domain.upper) // 2 * e.domain.grid

    @property
    def n(self) -> Output:
        """How many pairs there are."""
        return self.released("pairs", aggregate("count", self.ordered[0]))

    def sum(self, *of: Expression) -> Output:
        """The sum of the centred values, or of their product."""
        listed = sorted(of, key=canonical)
        terms = [build.subtract(e, build.constant(self.middle(e))) for e in listed]
        term = terms[0] if len(terms) == 1 else build.multiply(*terms)
        name = "_".join(self.names[e] for e in listed)
        return self.released(f"sum_{name}", aggregate("sum", build.moderate(term)))

    def spread(self, a: Expression, b: Expression) -> Output:
        """C(a, b); of one value with itself it is not negative."""
        product = Arithmetic("/", Arithmetic("*", self.sum(a), self.sum(b)), self.n)
        spread = Arithmetic("-", self.sum(a, b), product)
        return CaseOutput(Comparison("<", spread, _ZERO), _ZERO, spread) if a == b else spread

    def slope(self) -> Output:
        """Of y by x."""
        return Arithmetic("/", self.spread(self.x, self.y), self.spread(self.x, self.x))

    def intercept(self) -> Output:
        """Of y by x."""
        means = [
            Arithmetic("+", OutputValue(self.middle(e)), Arithmetic("/", self.sum(e), self.n)) for e in (self.y, self.x)
        ]
        return Arithmetic("-", means[0], Arithmetic("*", self.slope(), means[1]))

    def correlation(self) -> Output:
        """From -1 to 1."""
        both = Arithmetic("*", self.spread(self.x, self.x), self.spread(self.y, self.y))
        found = Arithmetic("/", self.spread(self.x, self.y), Function("sqrt", both))
        least, most = OutputValue(Fraction(-1)), _ONE
        below = CaseOutput(Comparison("<", most, found), most, found)
        return CaseOutput(Comparison("<", below, least), least, below)

    def determination(self) -> Output:
        """The square of the correlation, from 0 to 1."""
        size = Function("abs", self.correlation())
        return Arithmetic("*", size, size)


def _coarse(e: Expression) -> Expression:
    """The nearest of at most 2^15 steps to either side of the middle."""
    width = 1
    while e.domain.upper - e.domain.lower > 2 * _MOST_STEPS * width:
        width *= 2
    if width == 1:
        return e
    step = width * e.domain.grid
    return build.bin_to(build.add(e, build.constant(step / 2)), step)


STATISTICS: dict[type[exp.Expr], Callable[[PairSums], Output]] = {
    exp.CovarPop: lambda s: Arithmetic("/", s.spread(s.x, s.y), s.n),
    exp.CovarSamp: lambda s: Arithmetic("/", s.spread(s.x, s.y), Arithmetic("-", s.n, _ONE)),
    exp.Corr: PairSums.correlation,
    exp.RegrCount: lambda s: s.n,
    exp.RegrSlope: PairSums.slope,
    exp.RegrIntercept: PairSums.intercept,
    exp.RegrR2: PairSums.determination,
}
DEPENDENT_FIRST = frozenset((exp.RegrCount, exp.RegrSlope, exp.RegrIntercept, exp.RegrR2))  # REGR_SLOPE(y, x)
