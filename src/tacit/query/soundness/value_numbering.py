"""Which expressions have one meaning, whatever domains they state: each meaning has a number, and x + 0 is x."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from fractions import Fraction
from functools import cache

from ..values.nodes import Add, Column, Constant, Expression, Multiply


class Numbers:
    """The numbers of expressions; those that one is made of are numbered before it."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._known: dict[Hashable, int] = {}
        self._first: list[Expression] = []  # of each number the expression that had it first

    def number(self, e: Expression) -> None:
        """Give an expression its number."""
        if isinstance(e, Add) and isinstance(e.b, Constant) and e.b.value == 0:
            self._numbers[id(e)] = self._numbers[id(e.a)]
            return
        kind: type = type(e)
        told = (getattr(e, name) for name in _told(kind))
        key = (kind, *(self._numbers[id(x)] if isinstance(x, Expression) else x for x in told))
        if key not in self._known:
            self._known[key] = len(self._first)
            self._first.append(e)
        self._numbers[id(e)] = self._known[key]

    def same(self, a: Expression, b: Expression) -> bool:
        """Whether two expressions have one meaning."""
        return self._numbers[id(a)] == self._numbers[id(b)]

    def multiple(self, e: Expression) -> tuple[int, Expression | None]:
        """A factor and what it multiplies; None is the number 1."""
        factor, e = 1, self._first[self._numbers[id(e)]]
        while isinstance(e, Multiply) and isinstance(e.b, Constant) and isinstance(e.b.value, int):
            factor, e = factor * e.b.value, self._first[self._numbers[id(e.a)]]
        return (factor * e.value, None) if isinstance(e, Constant) and isinstance(e.value, int) else (factor, e)

    def ratio(self, e: Expression, x: Expression) -> Fraction | None:
        """The r for which e = r x, of an x that is no constant."""
        (p, base), (q, other) = self.multiple(e), self.multiple(x)
        same = base is not None and other is not None and self.same(base, other)
        return Fraction(p, q) if same and q else None


@cache
def _told(kind: type) -> tuple[str, ...]:
    """All that an expression of a kind means is in these fields: in all but its domain, which says what a column holds.

    Rows that were computed from others may have a column of the same name, with other values.
    """
    return tuple(field.name for field in fields(kind) if field.name != "domain" or kind is Column)
