"""Expressions as SQL: every operation is total, none can overflow, and integers are widened but never narrowed.

The width of a result is that of its public domain or of its widest operand, whichever is larger, so that a branch of a
CASE that is evaluated and not taken fits too.  A database may also fold constants, such as (x * 100) * 4 into x * 400,
which must fit as well; and where only one value is possible, nothing is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from ...query.values.nodes import (
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
)
from .dialect import TEXT, Dialect, Typed, binary, case, cast, constant, missing, number, there

_COMPARE = {"=": exp.EQ, "<": exp.LT, "<=": exp.LTE}
_MAX_WIDE = 10**37  # the widest integers hold this


@dataclass(frozen=True)
class Translator:
    """Translates expressions over rows whose columns are these SQL expressions."""

    dialect: Dialect
    columns: Mapping[str, Typed]

    def value(self, e: Expression) -> Typed:
        """The value of an expression: an integer or text."""
        d = self.dialect
        match e:
            case Column(name=name):
                own = self.columns[name]
                return Typed(own.sql.copy(), own.bits)
            case Constant(value=None):
                bits = self._bits(e)
                return Typed(cast(exp.Null(), "TEXT" if bits == TEXT else d.integers[bits]), bits)
            case Constant(value=str() as text):
                return Typed(constant(text), TEXT)
            case Constant(value=int(step)):
                return Typed(number(step), d.bits(step, step))
            case Add() | Multiply() if e.domain.lower == e.domain.upper:
                both = binary(exp.And, *(there(self.value(part).sql) for part in (e.a, e.b)))
                return Typed(case((both, number(e.domain.lower))), self._bits(e))
            case Add() | Multiply():
                a, b, bits = self._widened(e)
                return Typed(binary(exp.Add if isinstance(e, Add) else exp.Mul, a, b), bits)
            case Divide():
                return self._floor(e)
            case Case():
                then, otherwise = self.value(e.then), self.value(e.otherwise)
                bits = max(then.bits, otherwise.bits)
                branch = self.condition(e.condition), d.widened(then, bits)
                return Typed(case(branch, otherwise=d.widened(otherwise, bits)), bits)
            case Lookup():
                bits = d.bits(min(e.values, default=0), max(e.values, default=0))
                entry = d.lookup(d.narrowed(self.value(e.a)), e.keys, e.values)
                return Typed(cast(entry, d.integers[bits]), bits)
            case DatePart():
                return Typed(
                    cast(d.date_part(e.part, self.value(e.a).sql), d.integers[d.bits(0, 9999)]), d.bits(0, 9999)
                )
        return Typed(d.flag(self.condition(e)), d.bits(0, 1))

    def condition(self, e: Expression) -> exp.Expr:
        """The condition that an expression is 1: true, false or unknown."""
        match e:
            case Constant(value=int(step)):
                return exp.Boolean(this=step == 1)
            case Compare():
                return binary(_COMPARE[e.operator], self.value(e.a).sql, self.value(e.b).sql)
            case And():
                return binary(exp.And, self.condition(e.a), self.condition(e.b))
            case Or():
                return binary(exp.Or, self.condition(e.a), self.condition(e.b))
            case Not():
                return exp.Paren(this=exp.Not(this=self.condition(e.a)))
            case IsMissing():
                return missing(self.value(e.a).sql)
            case Like():
                return self._like(e)
        return binary(exp.EQ, self.value(e).sql, number(1))

    def _bits(self, e: Expression) -> int:
        return TEXT if e.domain.kind == "text" else self.dialect.bits(e.domain.lower, e.domain.upper)

    def _widened(self, e: Add | Multiply | Divide) -> tuple[exp.Expr, exp.Expr, int]:
        a, b, most = self.value(e.a), self.value(e.b), min(_max_abs(e), _MAX_WIDE)
        bits = max(a.bits, b.bits, self._bits(e), self.dialect.bits(-most, most))
        return self.dialect.widened(a, bits), self.dialect.widened(b, bits), bits

    def _floor(self, e: Divide) -> Typed:
        """Floor division.  Databases round toward zero, so a multiple of the divisor moves the dividend above zero."""
        d, low = self.dialect, e.a.domain.lower
        if isinstance(e.b, Constant) and isinstance(e.b.value, int) and e.b.value > 0:
            by, shift = e.b.value, max(0, -(low // e.b.value))
            a = self.value(e.a)
            most = min(_max_abs(e.a) + shift * by, _MAX_WIDE)
            bits = max(a.bits, d.bits(by, e.a.domain.upper + shift * by), d.bits(-most, most))
            above, divisor = d.widened(a, bits), d.widened(Typed(number(by), d.bits(by, by)), bits)
            if not shift:
                return Typed(d.quotient(above, divisor, bits), bits)
            above = binary(exp.Add, above, d.widened(Typed(number(shift * by), d.bits(0, shift * by)), bits))
            return Typed(binary(exp.Sub, d.quotient(above, divisor, bits), number(shift)), bits)
        a_sql, b_sql, bits = self._widened(e)
        divisor = exp.Nullif(this=b_sql, expression=number(0))
        quotient = d.quotient(a_sql, divisor, bits)
        if low >= 0 and e.b.domain.lower >= 0:
            return Typed(quotient, bits)
        rest = binary(exp.Mod, a_sql.copy(), divisor.copy())
        signs = binary(exp.NEQ, binary(exp.LT, rest.copy(), number(0)), binary(exp.LT, b_sql.copy(), number(0)))
        below = binary(exp.And, binary(exp.NEQ, rest, number(0)), signs)
        return Typed(binary(exp.Sub, quotient, case((below, number(1)), otherwise=number(0))), bits)

    def _like(self, e: Like) -> exp.Expr:
        a = self.value(e.a).sql
        if len(e.pieces) == 1:
            return binary(exp.EQ, a, constant(e.pieces[0]))
        return self.dialect.like(a, e.pieces)


def _max_abs(e: Expression) -> int:
    """A bound on every partial sum or product of the terms of e, in any order of evaluation."""
    match e:
        case Add():
            return _max_abs(e.a) + _max_abs(e.b)
        case Multiply():
            return max(1, _max_abs(e.a)) * max(1, _max_abs(e.b))
    shift = -min(0, e.a.domain.lower) if isinstance(e, Divide) else 0  # of the dividend, before and after division
    return max(abs(e.domain.lower), abs(e.domain.upper)) + 2 * shift
