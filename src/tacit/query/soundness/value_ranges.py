r"""The range of every expression, recomputed from its operands: the domains that a question states are not trusted.

Noise is scaled to the domains that expressions carry, and an expression is a plain value that anybody can make or
change.  So before a question is priced, the values that each expression can take are bounded once more, by interval
arithmetic from the columns upward, and a stated domain that does not hold them is refused.

    a + b, a b, floor(a / b)   the extremes lie at the ends of both ranges (of b / 0 there is none)
    CASE                       the union of both branches, each where its condition holds or fails: if p <= q holds and
                               the branch is r p, then p is at most the largest q
    Lookup                     the least and the largest of its values

`range_identities` has the ranges that interval arithmetic misses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...core.errors import BadQuestion
from ..relation.build import DEEPEST, LARGEST
from ..values.coercion import checked, parts_of
from ..values.dates import part_ends
from ..values.domain import DAYS, ValueDomain
from ..values.logic import NO_CONDITION
from ..values.nodes import (
    Add,
    And,
    Case,
    Column,
    Compare,
    Constant,
    DatePart,
    Divide,
    Expression,
    IsMissing,
    Like,
    Lookup,
    Multiply,
    Not,
    Or,
    tree_sizes,
)
from .range_identities import Range, day_of_year, even_power, period, remainder, toward_zero
from .value_numbering import Numbers

TRUTH = 0, 1
SUMS = remainder, day_of_year, period


class ValueRanges:
    """The recomputed range, and the number, of every expression that was checked."""

    def __init__(self) -> None:
        self._ranges: dict[int, Range] = {}
        self._numbers = Numbers()
        self._beyond: dict[int, Expression] = {}  # those with values beyond their domains

    def check(self, roots: Sequence[Expression], columns: Mapping[str, ValueDomain]) -> None:
        """Refuse unsound expressions over rows with these columns.

        An expression is unsound if its type is unknown, if it is too large, if it reads a column that the rows do not
        have, or if its domain does not hold all of its values.
        """
        for e, size, depth in tree_sizes(roots, parts_of):
            if size > LARGEST or depth > DEEPEST:
                raise BadQuestion(
                    f"An expression may have at most {LARGEST} operations, nested at most {DEEPEST} deep."
                )
            if isinstance(e, Column) and columns.get(e.name) != e.domain:
                raise BadQuestion(
                    f"{e.name[:40]!r} is not a column of these rows, or has another domain there. Take columns from the"
                    " rows themselves."
                )
            if id(e) in self._ranges:
                continue
            rule = RULES.get(type(e))
            if rule is None:
                raise BadQuestion(f"The type {type(e).__name__} is not an expression of tacit.")
            well_formed(e.domain)
            self._numbers.number(e)
            self._ranges[id(e)] = found = rule(self, e)
            if found is not None and not e.domain.lower <= found[0] <= found[1] <= e.domain.upper:
                self._beyond[id(e)] = e
            for inner in parts_of(e):
                if id(inner) in self._beyond and not _settles(e, inner):
                    raise self._refusal(inner)
        for e in roots:
            if id(e) in self._beyond:
                raise self._refusal(e)

    def _refusal(self, e: Expression) -> BadQuestion:
        low, high = self.of(e) or (0, 0)
        return BadQuestion(
            f"A {type(e).__name__} in this question states values from {e.domain.lower} to {e.domain.upper} steps, but"
            f" can have values from {low} to {high}. Build questions from the columns of a table, and leave the domains"
            " of their parts as they are."
        )

    def of(self, e: Expression) -> Range:
        """The range of an expression that was checked."""
        return self._ranges[id(e)]

    def _column(self, e: Column) -> Range:
        return None if e.domain.kind == "text" else (e.domain.lower, e.domain.upper)

    def _constant(self, e: Constant) -> Range:
        if e.value is None:
            return None
        if isinstance(e.value, bool) or isinstance(e.value, str) != (e.domain.kind == "text"):
            raise BadQuestion("A constant must be text where its domain is text, and else a whole number of steps.")
        return (e.value, e.value) if isinstance(e.value, int) else None

    def _add(self, e: Add) -> Range:
        _steps(e, e.a, e.b)
        a, b = self.of(e.a), self.of(e.b)
        if a is None or b is None:
            return None
        return _meet((a[0] + b[0], a[1] + b[1]), *(known(e, self._numbers, self.of) for known in SUMS))

    def _multiply(self, e: Multiply) -> Range:
        _steps(e, e.a, e.b)
        a, b = self.of(e.a), self.of(e.b)
        if a is None or b is None:
            return None
        ends = [p * q for p in a for q in b]
        return max(min(ends), 0) if even_power(e, self._numbers) else min(ends), max(ends)

    def _divide(self, e: Divide) -> Range:
        _steps(e, e.a, e.b)
        a, b = self.of(e.a), self.of(e.b)
        if a is None or b is None:
            return None
        least = self._numbers.multiple(e.b)[0] or 1  # what b is a multiple of: no divisor is nearer to zero
        ends = [p // q for p in a for q in (*b, -least, least) if q and b[0] <= q <= b[1]]
        return (min(ends), max(ends)) if ends else None

    def _case(self, e: Case) -> Range:
        _conditions(e.condition)
        texts = [x.domain.kind == "text" for x in (e, e.then, e.otherwise) if not _absent(x)]
        if len(set(texts)) > 1:
            raise BadQuestion("Both branches of a CASE must be text, or neither.")
        then, otherwise = self.of(e.then), self.of(e.otherwise)
        match e.condition:
            case Compare(operator="<=") as compared if None not in (self.of(compared.a), self.of(compared.b)):
                then, otherwise = self._where(compared, e.then), self._where_not(compared, e.otherwise)
                then = _meet(then, toward_zero(compared, e, self._numbers, self.of))
        return _union(then, otherwise)

    def _where(self, compared: Compare, e: Expression) -> Range:
        """The range of e where p <= q."""
        (p, q), bounds = self._compared(compared), self.of(e)
        if p[0] > q[1]:
            return None  # it never holds
        at_most = self._proportional(e, compared.a, (p[0], min(p[1], q[1])))
        at_least = self._proportional(e, compared.b, (max(q[0], p[0]), q[1]))
        return _meet(bounds, at_most, at_least)

    def _where_not(self, compared: Compare, e: Expression) -> Range:
        """The range of e where p <= q fails, or is missing; only where both surely are there is it p > q."""
        (p, q), bounds, there = self._compared(compared), self.of(e), None
        if isinstance(e, Case) and _passes_missing(e):
            there, e = e.then, e.otherwise  # whenever the CASE has a value, `then` has

        def surely(x: Expression) -> bool:
            return isinstance(x, Constant) or (there is not None and self._numbers.same(x, there))

        for x, other, ends in (
            (compared.a, compared.b, (max(p[0], q[0] + 1), p[1])),
            (compared.b, compared.a, (q[0], min(q[1], p[1] - 1))),
        ):
            if surely(other) and (factor := self._numbers.ratio(e, x)) is not None:
                if ends[0] > ends[1]:
                    return None
                bounds = _meet(bounds, _times(factor, ends))
        return bounds

    def _compared(self, compared: Compare) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ranges of both sides, which have some."""
        p, q = self.of(compared.a), self.of(compared.b)
        if p is None or q is None:
            raise TypeError("a comparison of what is always missing")
        return p, q

    def _proportional(self, e: Expression, x: Expression, ends: tuple[int, int]) -> Range:
        """The range of e, if it is a multiple of x, where x is within these ends."""
        factor = self._numbers.ratio(e, x)
        return None if factor is None else _times(factor, ends)

    def _lookup(self, e: Lookup) -> Range:
        text = e.a.domain.kind == "text"
        _steps(e)
        if len(e.keys) != len(e.values) or len(set(e.keys)) < len(e.keys):
            raise BadQuestion("A public table must have one value for each key, and no key twice.")
        if not _absent(e.a) and any(isinstance(key, str) != text for key in e.keys):
            raise BadQuestion("The keys of a public table must have the kind of the column.")
        return (min(e.values), max(e.values)) if e.values and self._can_be(e.a) else None

    def _can_be(self, e: Expression) -> bool:
        """Whether there can be a value: text may be anything, and has no range."""
        return e.domain.kind == "text" or self.of(e) is not None

    def _date_part(self, e: DatePart) -> Range:
        _steps(e, e.a)
        ends = self.of(e.a)
        if ends is None:
            return None
        if e.a.domain.kind != "date" or not DAYS[0] <= ends[0] <= ends[1] <= DAYS[1]:
            raise BadQuestion("A part of a date needs a date within the years 1 to 9999.")
        return part_ends(e.part, *ends)

    def _compare(self, e: Compare) -> Range:
        texts = [x.domain.kind == "text" for x in (e.a, e.b) if not _absent(x)]
        if len(set(texts)) > 1 or (True in texts and e.operator != "="):
            raise BadQuestion("Text can be compared only with text, and only by =.")
        return TRUTH

    def _logic(self, e: Any) -> Range:
        _conditions(*parts_of(e))
        return TRUTH

    def _like(self, e: Like) -> Range:
        if e.a.domain.kind != "text" or not e.pieces:
            raise BadQuestion("LIKE needs text and a pattern.")
        return TRUTH


RULES: dict[type[Expression], Callable[[ValueRanges, Any], Range]] = {
    Column: ValueRanges._column,
    Constant: ValueRanges._constant,
    Add: ValueRanges._add,
    Multiply: ValueRanges._multiply,
    Divide: ValueRanges._divide,
    Compare: ValueRanges._compare,
    And: ValueRanges._logic,
    Or: ValueRanges._logic,
    Not: ValueRanges._logic,
    IsMissing: lambda *_: TRUTH,
    Case: ValueRanges._case,
    Lookup: ValueRanges._lookup,
    DatePart: ValueRanges._date_part,
    Like: ValueRanges._like,
}


def well_formed(domain: ValueDomain) -> None:
    """Refuse a domain that no column and no constructor has: beyond 64 bits, or with labels that do not fit."""
    checked(domain)
    within = {"boolean": TRUTH, "text": (0, 0), "category": (0, len(domain.labels) - 1)}.get(domain.kind)
    inside = within is None or within[0] <= domain.lower <= domain.upper <= within[1]
    if not inside or domain.grid <= 0 or (domain.labels and domain.kind != "category"):
        raise BadQuestion(
            f"The domain of a {domain.kind} in this question has bounds, labels or a grid that no such domain has."
        )


def _passes_missing(e: Case) -> bool:
    """Whether this is CASE WHEN x IS NULL THEN x ELSE y END: y, but missing where x is."""
    return isinstance(e.condition, IsMissing) and e.condition.a is e.then


def _settles(e: Expression, inner: Expression) -> bool:
    """Whether values of a part beyond its domain are never those of e.

    The lesser (or larger) of x and y is CASE WHEN x <= y THEN x ELSE (y, but missing where x is) END, and states its
    own domain for the part in brackets, too: that domain holds where the part is taken.
    """
    return isinstance(e, Case) and inner is e.otherwise and isinstance(inner, Case) and _passes_missing(inner)


def _absent(e: Expression) -> bool:
    return isinstance(e, Constant) and e.value is None


def _steps(*parts: Expression) -> None:
    if any(e.domain.kind == "text" for e in parts):
        raise BadQuestion("Arithmetic and dates need whole steps, not text.")


def _conditions(*parts: Expression) -> None:
    if any(e.domain.kind != "boolean" for e in parts):
        raise BadQuestion(NO_CONDITION)


def _times(factor: Fraction, ends: tuple[int, int]) -> tuple[int, int]:
    low, high = sorted(factor * end for end in ends)
    return math.ceil(low), math.floor(high)


def _union(a: Range, b: Range) -> Range:
    return b if a is None else a if b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _meet(common: Range, *others: Range) -> Range:
    """The intersection of some ranges; None among the others means no bound."""
    for other in others:
        if common is not None and other is not None:
            common = max(common[0], other[0]), min(common[1], other[1])
            common = common if common[0] <= common[1] else None
    return common
