"""Outputs in SQL: arithmetic, comparisons and cases on released columns, which are free since no data is read."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from ...core.errors import BadQuestion
from ..select.output_types import OutputTypes
from ..select.outputs import (
    Arithmetic,
    CaseOutput,
    Comparison,
    Function,
    Logic,
    Output,
    OutputValue,
    chain,
)
from .allowlist import ROWS, digits, flat, literal, number, only, unsupported
from .lexer import Text
from .row_expressions import CASTS, COMPARISONS, OF_ROWS
from .windows import window

OPERATORS: dict[type[exp.Expr], Literal["+", "-", "*", "/"]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
FUNCTIONS: dict[type[exp.Expr], Literal["not", "abs", "sqrt", "ln", "exp", "floor", "ceil"]] = {
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Sqrt: "sqrt",
    exp.Ln: "ln",
    exp.Exp: "exp",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
}
ENDS: dict[str, Literal["low", "high"]] = {"DP_INTERVAL_LOW": "low", "DP_INTERVAL_HIGH": "high"}
ONE, NOTHING = OutputValue(Fraction(1)), OutputValue(None)


class OutputReader:
    """Reads outputs; `released` gives the released column that a node is, or None."""

    def __init__(self, text: Text, released: Callable[[exp.Expr], Output | None], types: OutputTypes) -> None:
        self.text, self.released, self.types = text, released, types

    def read(self, node: exp.Expr) -> Output:
        """The output that a node means."""
        if not isinstance(node, exp.Expr):
            raise BadQuestion("A value is missing here.")
        output = self.released(node)
        if output is None:
            output = self._read(node)
            try:
                self.types.of(output)
            except BadQuestion as error:
                raise self.text.bad(node, error.reason) from None
        return output

    def _read(self, node: exp.Expr) -> Output:
        kind = type(node)
        if kind in READERS:
            return READERS[kind](self, node)
        if kind in OPERATORS:
            return Arithmetic(OPERATORS[kind], *self._two(node))
        if kind in FUNCTIONS:
            only(self.text, node, "this")
            return Function(FUNCTIONS[kind], self.read(node.this))
        if kind in COMPARISONS:
            return _compared(COMPARISONS[kind], *self._two(node))
        if kind is exp.Column and isinstance(node.this, exp.Star):
            raise self.text.bad(node, ROWS)
        if kind is exp.Column:
            raise self.text.bad(node, f"{node.name[:40]!r} is a column of single rows. Aggregate it, or GROUP BY it.")
        if kind in OF_ROWS:
            word = self.text.word(node)
            raise self.text.bad(node, f"{word} works on single rows. Use it in WHERE, or inside an aggregate.")
        raise self.text.bad(node, unsupported(self.text, node))

    def _paren(self, node: exp.Expr) -> Output:
        only(self.text, node, "this")
        return self.read(node.this)

    def _negative(self, node: exp.Expr) -> Output:
        only(self.text, node, "this")
        return Arithmetic("-", OutputValue(Fraction(0)), self.read(node.this))

    def _chain(self, node: exp.Expr) -> Output:
        operator: Literal["and", "or"] = "and" if isinstance(node, exp.And) else "or"
        return chain(operator, [self.read(part) for part in flat(node)])

    def _between(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "low", "high")
        a, low, high = (self.read(node.args[name]) for name in ("this", "low", "high"))
        return Logic("and", Comparison("<=", low, a), Comparison("<=", a, high))

    def _is(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "expression")
        if not isinstance(node.expression, exp.Null):
            raise self.text.bad(node, "IS must be followed by NULL here.")
        return Function("is_missing", self.read(node.this))

    def _if(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "true", "false")
        otherwise = node.args.get("false")
        condition, then = self.read(node.this), self.read(node.args["true"])
        return CaseOutput(condition, then, self.read(otherwise) if otherwise else NOTHING)

    def _nullif(self, node: exp.Expr) -> Output:
        a, b = self._two(node)
        return CaseOutput(Comparison("=", a, b), NOTHING, a)

    def _round(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "decimals")
        return Function("round", self.read(node.this), digits(self.text, node))

    def _cast(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "to")
        to = CASTS.get(getattr(node.args["to"].this, "name", ""))
        if to not in ("integer", "real") or node.args["to"].expressions:
            raise self.text.bad(node, "A released column can be cast only to INTEGER or DOUBLE. ROUND takes digits.")
        a = self.read(node.this)
        match self.types.of(a):
            case "boolean":
                return CaseOutput(
                    Function("is_missing", a),
                    NOTHING,
                    CaseOutput(a, OutputValue(Fraction(1)), OutputValue(Fraction(0))),
                )
            case "number" | None:
                return Function("round", a) if to == "integer" else a
        raise self.text.bad(node, "Only numbers and conditions can be cast here.")

    def _power(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "expression")
        times = number(self.text, node.expression, "The exponent of a power")
        if times not in range(1, 11):
            raise self.text.bad(node, "The exponent of a power must be a constant whole number from 1 to 10.")
        base = power = self.read(node.this)
        for _ in range(int(times) - 1):
            power = Arithmetic("*", power, base)
        return power

    def _sign(self, node: exp.Expr) -> Output:
        only(self.text, node, "this")
        a, zero = self.read(node.this), OutputValue(Fraction(0))
        below = CaseOutput(Comparison("<", a, zero), OutputValue(Fraction(-1)), zero)
        return CaseOutput(Comparison("<", zero, a), ONE, CaseOutput(Function("is_missing", a), NOTHING, below))

    def _end(self, node: exp.Expr) -> Output:
        """An end of the interval of a column: DP_INTERVAL_LOW(n)."""
        end = ENDS.get(str(node.this).upper())
        if end is None or len(node.expressions) != 1:
            raise self.text.bad(node, unsupported(self.text, node))
        return Function(end, self.read(node.expressions[0]))

    def _two(self, node: exp.Expr) -> tuple[Output, Output]:
        only(self.text, node, "this", "expression")
        return self.read(node.this), self.read(node.expression)

    def _in(self, node: exp.Expr) -> Output:
        if node.args.get("query") is not None:
            raise self.text.bad(node, unsupported(self.text, node.args["query"]))
        only(self.text, node, "this", "expressions")
        if not node.expressions:
            raise self.text.bad(node, "A list must have at least one value.")
        a = self.read(node.this)
        found: list[Output] = [Comparison("=", a, self.read(part)) for part in node.expressions]
        return chain("or", found)

    def _case(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "ifs", "default")
        subject, default = node.args.get("this"), node.args.get("default")
        compared = None if subject is None else self.read(subject)
        branches = [(self.read(branch.this), self.read(branch.args["true"])) for branch in node.args["ifs"]]
        value = self.read(default) if default else NOTHING
        for condition, then in reversed(branches):
            holds = condition if compared is None else Comparison("=", compared, condition)
            value = CaseOutput(holds, then, value)
        return value

    def _several(self, node: exp.Expr) -> Output:
        only(self.text, node, "this", "expressions")
        *others, value = (self.read(part) for part in (node.this, *node.expressions))
        for other in reversed(others):
            match node:
                case exp.Coalesce():
                    value = CaseOutput(Function("is_missing", other), value, other)
                case exp.Least():
                    value = CaseOutput(Comparison("<=", other, value), other, value)
                case _:
                    value = CaseOutput(Comparison("<=", value, other), other, value)
        return value


def _compared(operator: str, a: Output, b: Output) -> Output:
    match operator:
        case "<>":
            return Function("not", Comparison("=", a, b))
        case ">":
            return Comparison("<", b, a)
        case ">=":
            return Comparison("<=", b, a)
        case "<":
            return Comparison("<", a, b)
    return Comparison("<=" if operator == "<=" else "=", a, b)


READERS: dict[type[exp.Expr], Callable[[OutputReader, Any], Output]] = {
    exp.Paren: OutputReader._paren,
    exp.Literal: lambda outputs, node: OutputValue(literal(outputs.text, node)),
    exp.Boolean: lambda _, node: OutputValue(bool(node.this)),
    exp.Null: lambda *_: NOTHING,
    exp.Neg: OutputReader._negative,
    exp.And: OutputReader._chain,
    exp.Or: OutputReader._chain,
    exp.Between: OutputReader._between,
    exp.In: OutputReader._in,
    exp.Is: OutputReader._is,
    exp.Case: OutputReader._case,
    exp.If: OutputReader._if,
    exp.Coalesce: OutputReader._several,
    exp.Least: OutputReader._several,
    exp.Greatest: OutputReader._several,
    exp.Nullif: OutputReader._nullif,
    exp.Round: OutputReader._round,
    exp.Pow: OutputReader._power,
    exp.Sign: OutputReader._sign,
    exp.Anonymous: OutputReader._end,
    exp.CurrentDate: lambda outputs, _: OutputValue(outputs.text.today.isoformat()),
    exp.Cast: OutputReader._cast,
    exp.TryCast: OutputReader._cast,
    exp.Window: window,
}
