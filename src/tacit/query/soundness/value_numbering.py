"""Value numbering: expressions of equal meaning, whatever domains they state, have one number, and x + 0 is x."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from fractions import Fraction
from functools import cache

from ..values.nodes import Add, Column, Constant, Expression, Multiply


class Numbers:
    """The numbers of expressions; operands are numbered first."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._by_key: dict[Hashable, int] = {}
        self._first: list[Expression] = []  # the first expression of each number

    def number(self, e: Expression) -> None:
        """Give an expression its number."""
        if isinstance(e, Add) and isinstance(e.b, Constant) and e.b.value == 0:
            self._numbers[id(e)] = self._numbers[id(e.a)]
            return
        kind: type = type(e)
        values = (getattr(e, name) for name in _meaningful(kind))
        key = (kind, *(self._numbers[id(x)] if isinstance(x, Expression) else x for x in values))
        if key not in self._by_key:
            self._by_key[key] = len(self._first)
            self._first.append(e)
        self._numbers[id(e)] = self._by_key[key]

    def same(self, a: Expression, b: Expression) -> bool:
        """Whether two expressions have equal meaning."""
        return self._numbers[id(a)] == self._numbers[id(b)]

    def multiple(self, e: Expression) -> tuple[int, Expression | None]:
        """A constant factor of e and its cofactor, which is None if it is 1."""
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
def _meaningful(kind: type) -> tuple[str, ...]:
    """The fields that decide what an expression means: all but its domain, which matters only for a column.

    Rows that were computed from others may have a column of the same name with other values.
    """
    return tuple(field.name for field in fields(kind) if field.name != "domain" or kind is Column)
