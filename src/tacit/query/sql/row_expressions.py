"""Expressions of SQL over one row: the operators and functions in the tables below.

`/` divides whole numbers as reals, by a constant exactly; x DIV y is the quotient rounded toward zero, and x % y has
the sign of x.  ROUND and CAST AS INTEGER round halves away from zero.  LEAST and GREATEST are missing if one value is
missing.  DOW counts 0 to 6 and DAYOFWEEK 1 to 7 from Sunday, ISODOW 1 to 7 from Monday; WEEK is that of ISO 8601.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from ...core.errors import BadParameter, BadQuestion
from ...core.parameters import rational
from ..relation import build
from ..values.dates import To
from ..values.logic import NO_CONDITION, Operator
from ..values.nodes import Expression, Lookup
from .allowlist import digits, flat, literal, number, only, unsupported
from .lexer import BAD_CAST, Text

COMPARISONS: dict[type[exp.Expr], Operator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
BINARY: dict[type[exp.Expr], Callable[[Expression, Expression], Expression]] = {
    exp.Add: build.add,
    exp.Sub: build.subtract,
    exp.Mul: build.multiply,
    exp.Div: build.divide,
    exp.IntDiv: build.div,
    exp.Pow: build.raised,
}
UNARY: dict[type[exp.Expr], Callable[[Expression], Expression]] = {
    exp.Neg: build.negate,
    exp.Not: build.not_,
    exp.Abs: build.absolute,
    exp.Floor: build.floor,
    exp.Ceil: build.ceil,
    exp.Date: lambda a: build.cast(a, "date"),
    exp.Lower: lambda a: build.recased(a, str.lower),
    exp.Upper: lambda a: build.recased(a, str.upper),
}
SEVERAL: dict[type[exp.Expr], Callable[..., Expression]] = {
    exp.Coalesce: build.coalesce,
    exp.Least: build.least,
    exp.Greatest: build.greatest,
}
PARTS = {
    **{part: part for part in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
    **dict.fromkeys(("dow", "dayofweek", "isodow", "dayofweek_iso"), "weekday"),
    **dict.fromkeys(("doy", "dayofyear"), "dayofyear"),
}
PARTS_OF: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "doy",
}
CASTS: dict[str, To] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL", "BIGDECIMAL"), "real"),
    **dict.fromkeys(("TEXT", "VARCHAR"), "text"),
    **dict.fromkeys(("TIMESTAMP", "DATETIME"), "timestamp"),
    "BOOLEAN": "boolean",
    "DATE": "date",
}
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


class RowReader:
    """Reads expressions over the rows of one scope; `column` gives the meaning of a name there."""

    def __init__(self, text: Text, column: Callable[[exp.Column], Expression]) -> None:
        self.text, self.column = text, column

    def read(self, node: exp.Expr) -> Expression:
        """The expression that a node means."""
        if not isinstance(node, exp.Expr):
            raise BadQuestion("A value is missing here.")
        try:
            return self._read(node)
        except BadQuestion as error:
            if error.position is None:
                raise self.text.bad(node, error.reason) from None
            raise

    def condition(self, node: exp.Expr) -> Expression:
        """The condition that a node means."""
        condition = self.read(node)
        if condition.domain.kind != "boolean":
            raise self.text.bad(node, NO_CONDITION)
        return build.moderate(condition)

    def _read(self, node: exp.Expr) -> Expression:
        kind = type(node)
        if kind in READERS:
            return READERS[kind](self, node)
        if kind in PARTS_OF:
            return self._part(node, PARTS_OF[kind], self._this(node))
        if kind in COMPARISONS:
            return build.compare(COMPARISONS[kind], *self._two(node))
        if kind in BINARY:
            if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
                return self._moved(node)
            return BINARY[kind](*self._two(node))
        if kind in UNARY:
            return UNARY[kind](self._listed(self._this(node)))
        if kind in SEVERAL:
            only(self.text, node, "this", "expressions")
            return SEVERAL[kind](*(self.read(part) for part in (node.this, *node.expressions)))
        raise self.text.bad(node, unsupported(self.text, node))

    def _listed(self, node: exp.Expr) -> Expression:
        """The argument of a function that goes through all labels of a category."""
        argument = self.read(node)
        self.text.looks_up(len(argument.domain.labels))
        return argument

    def _paren(self, node: exp.Expr) -> Expression:
        return self.read(self._this(node))

    def _literal(self, node: exp.Expr) -> Expression:
        return build.constant(literal(self.text, node))

    def _chain(self, node: exp.Expr) -> Expression:
        join = build.and_ if isinstance(node, exp.And) else build.or_
        return join(*(self.read(part) for part in flat(node)))

    def _remainder(self, node: exp.Expr) -> Expression:
        a, b = self._two(node)
        if a.domain.lower >= 0:
            return build.modulo(a, b)
        below = build.compare("<", a, build.constant(0))
        return build.case([(below, build.negate(build.modulo(build.negate(a), b)))], build.modulo(a, b))

    def _between(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "low", "high")
        return build.between(*(self.read(node.args[name]) for name in ("this", "low", "high")))

    def _in(self, node: exp.Expr) -> Expression:
        if node.args.get("query") is not None:
            raise self.text.bad(node, unsupported(self.text, node.args["query"]))
        only(self.text, node, "this", "expressions")
        return build.is_in(self.read(node.this), [self.read(part) for part in node.expressions])

    def _same(self, node: exp.Expr) -> Expression:
        a, b = self._two(node)
        both = build.and_(build.is_missing(a), build.is_missing(b))
        same = build.coalesce(build.compare("=", a, b), both)
        return same if isinstance(node, exp.NullSafeEQ) else build.not_(same)

    def _if(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "true", "false")
        otherwise = node.args.get("false")
        branch = (self.condition(node.this), self.read(node.args["true"]))
        return build.case([branch], self.read(otherwise) if otherwise else None)

    def _nullif(self, node: exp.Expr) -> Expression:
        a, b = self._two(node)
        return build.case([(build.compare("=", a, b), build.constant(None))], a)

    def _round(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "decimals")
        return build.round_to(self.read(node.this), digits(self.text, node))

    def _extract(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "expression")
        return self._part(node, node.name, node.expression)

    def _trunc(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "unit")
        start = build.date_trunc(node.args["unit"].name.lower(), self.read(node.this))
        self.text.looks_up(len(start.keys) if isinstance(start, Lookup) else 0)
        return start

    def _this(self, node: exp.Expr) -> exp.Expr:
        only(self.text, node, "this")
        inner: Any = node.this
        if not isinstance(inner, exp.Expr):
            raise self.text.bad(node, f"{node.key.upper()} needs an argument.")
        return inner

    def _two(self, node: exp.Expr) -> tuple[Expression, Expression]:
        only(self.text, node, "this", "expression")
        return self.read(node.this), self.read(node.expression)

    def _like(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "expression", "negate")
        if not isinstance(node.expression, exp.Literal) or not node.expression.is_string:
            raise self.text.bad(node.expression, "The pattern of LIKE must be a constant text.")
        a, pattern = self._listed(node.this), str(node.expression.this)
        if isinstance(node, exp.ILike):
            self.text.looks_up(len(a.domain.labels))
            a, pattern = build.recased(a, str.lower), pattern.lower()
        matches = build.like(a, pattern)
        return build.not_(matches) if node.args.get("negate") else matches

    def _is(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "expression")
        a = self.read(node.this)
        match node.expression:
            case exp.Null():
                return build.is_missing(a)
            case exp.Boolean(this=value):
                holds = a if value else build.not_(a)
                return build.coalesce(holds, build.constant(False))
        raise self.text.bad(node, "IS must be followed by NULL, TRUE or FALSE.")

    def _case(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "ifs", "default")
        subject, default = node.args.get("this"), node.args.get("default")
        branches = []
        for branch in node.args["ifs"]:
            if subject is None:
                condition = self.condition(branch.this)
            else:
                condition = build.compare("=", self.read(subject), self.read(branch.this))
            branches.append((condition, self.read(branch.args["true"])))
        return build.case(branches, self.read(default) if default else None)

    def _cast(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "to")
        to = node.args["to"]
        name = to.this.name if isinstance(to, exp.DataType) and hasattr(to.this, "name") else ""
        if name not in CASTS or to.expressions:
            raise self.text.bad(node, BAD_CAST)
        return build.cast(self._listed(node.this), CASTS[name])

    def _part(self, node: exp.Expr, name: str, of: exp.Expr) -> Expression:
        name = name.lower()
        if name not in PARTS:
            raise self.text.bad(node, f"A date has no part {name[:40]!r}; its parts are {', '.join(PARTS)}.")
        day = self.read(of)
        if PARTS[name] in ("week", "dayofyear"):  # counted from the first day of each year
            year = build.date_part("year", day).domain
            self.text.looks_up(year.upper - year.lower + 1)
        part = build.date_part(PARTS[name], day)
        if name in ("dow", "dayofweek"):
            part = build.modulo(part, build.constant(7))
        return build.add(part, build.constant(1)) if name == "dayofweek" else part

    def _moved(self, node: exp.Expr) -> Expression:
        """A date or timestamp plus or minus an interval of weeks, days, hours, minutes or seconds."""
        interval = node.expression
        only(self.text, interval, "this", "unit")
        word = interval.args.get("unit")
        unit = word.name.lower().removesuffix("s") if isinstance(word, exp.Var) else ""
        if unit not in UNITS or not isinstance(interval.this, exp.Literal):
            raise self.text.bad(interval, "An interval must be a number of weeks, days, hours, minutes or seconds.")
        try:
            steps = rational("An interval", interval.this.this) * UNITS[unit]
        except BadParameter as error:
            raise self.text.bad(interval, str(error)) from None
        a = self.read(node.this)
        if a.domain.kind == "date":
            steps /= UNITS["day"]
        return build.add(a, build.constant(steps if isinstance(node, exp.Add) else -steps))

    def _named(self, node: exp.Expr) -> Expression:
        """Functions that the parser knows by name alone."""
        only(self.text, node, "this", "expressions")
        arguments, reader = NAMED.get(str(node.this).upper(), (None, None))
        if reader is None or len(node.expressions) != arguments:
            raise self.text.bad(node, unsupported(self.text, node))
        return reader(self, node, *node.expressions)

    def _clamp(self, node: exp.Expr, of: exp.Expr, *ends: exp.Expr) -> Expression:
        lower, upper = (number(self.text, end, "A bound of CLAMP") for end in ends)
        return build.clamp(self.read(of), lower, upper)

    def _date_part(self, node: exp.Expr, part: exp.Expr, of: exp.Expr) -> Expression:
        return self._part(node, part.name, of)


READERS: dict[type[exp.Expr], Callable[[RowReader, Any], Expression]] = {
    exp.Paren: RowReader._paren,
    exp.Column: lambda rows, node: rows.column(node),
    exp.Literal: RowReader._literal,
    exp.Boolean: lambda _, node: build.constant(bool(node.this)),
    exp.Null: lambda *_: build.constant(None),
    exp.And: RowReader._chain,
    exp.Or: RowReader._chain,
    exp.Mod: RowReader._remainder,
    exp.Between: RowReader._between,
    exp.In: RowReader._in,
    exp.Like: RowReader._like,
    exp.ILike: RowReader._like,
    exp.Is: RowReader._is,
    exp.NullSafeEQ: RowReader._same,
    exp.NullSafeNEQ: RowReader._same,
    exp.Case: RowReader._case,
    exp.If: RowReader._if,
    exp.Nullif: RowReader._nullif,
    exp.Round: RowReader._round,
    exp.Cast: RowReader._cast,
    exp.TryCast: RowReader._cast,
    exp.Extract: RowReader._extract,
    exp.DateTrunc: RowReader._trunc,
    exp.TimestampTrunc: RowReader._trunc,
    exp.Anonymous: RowReader._named,
}
NAMED: dict[str, tuple[int, Callable[..., Expression]]] = {  # with how many arguments each takes
    "CLAMP": (3, RowReader._clamp),
    "DATE_PART": (2, RowReader._date_part),
}
OF_ROWS = frozenset((*READERS, *PARTS_OF, *BINARY, *UNARY)) - {exp.Anonymous}
