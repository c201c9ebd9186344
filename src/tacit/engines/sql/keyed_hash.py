"""The keyed hash (`engines.keyed_hash`) in SQL: a linear sum of digits, and a cubic polynomial of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ...query.values.domain import ValueDomain
from ..keyed_hash import HEX, TOGETHER, HashPurpose, P, Q, coefficients, narrow
from .dialect import TEXT, Dialect, Typed, binary, case, cast, constant, missing, number, there


@dataclass(frozen=True)
class KeyedHash:
    """The hash of the items of a unit; unit and values must be plain columns, since each is used twice."""

    key: str
    purpose: HashPurpose
    unit: Typed
    values: Sequence[tuple[Typed, ValueDomain]]
    dialect: Dialect

    def linear(self) -> exp.Expr:
        """The linear sum y of the digits, modulo p."""
        d, of_columns = self.dialect, (digit(self.key, v, domain, self.dialect) for v, domain in self.values)
        digits = (unit_digit(self.key, self.unit, d), *of_columns)
        weights = coefficients(self.key, self.purpose, len(self.values)).linear
        total, *products = (binary(exp.Mul, x, number(a)) for a, x in zip(weights, digits, strict=True))
        for i, product in enumerate(products, 1):
            total = binary(exp.Add, total if i % TOGETHER else binary(exp.Mod, total, number(P)), product)
        return binary(exp.Mod, total, number(P))

    def cubic(self, y: exp.Expr) -> exp.Expr:
        """The hash h, as a cubic polynomial of y, which must be a plain column."""
        *rest, h = map(number, coefficients(self.key, self.purpose, len(self.values)).cubic)
        for k in reversed(rest):
            h = binary(exp.Mod, binary(exp.Add, binary(exp.Mul, y.copy(), h), k), number(P))
        return cast(h, self.dialect.integers[self.dialect.bits(0, P)])


def digit(key: str, value: Typed, domain: ValueDomain, d: Dialect) -> exp.Expr:
    """The digit of a value, as an integer of 64 bits."""
    if value.bits == TEXT:
        x = _text(key, value.sql, d)
    else:
        whole = value.sql if value.bits == 64 else cast(value.sql, d.integers[64])
        x = binary(exp.Sub, whole, number(domain.lower - 1)) if narrow(domain) else _wide(whole)
    return case((there(value.sql.copy()), x), otherwise=number(0))


def unit_digit(key: str, unit: Typed, d: Dialect) -> exp.Expr:
    """The digit of a unit: an integer of 64 bits, or text that may spell one."""
    if unit.bits != TEXT:
        return _wide(unit.sql)
    whole = d.whole(unit.sql)
    return case((missing(whole), _text(key, unit.sql.copy(), d)), otherwise=_wide(whole.copy()))


def _text(key: str, text: exp.Expr, d: Dialect) -> exp.Expr:
    return binary(exp.Add, d.hexadecimal(d.md5(d.joined([constant(f"{key}|"), text])), HEX), number(1))


def _wide(x: exp.Expr) -> exp.Expr:
    return binary(exp.Add, binary(exp.Mod, x, number(Q)), number(Q))
