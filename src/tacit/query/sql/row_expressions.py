"""Expressions of SQL over one row: the operators and functions in the tables below.

`/` divides whole numbers as reals, by a constant exactly; x DIV y is the quotient rounded toward zero, and x % y has
the sign of x.  ROUND and CAST AS INTEGER round halves away from zero.  LEAST and GREATEST are missing if one value is
missing.  DOW counts 0 to 6 and DAYOFWEEK 1 to 7 from Sunday, ISODOW 1 to 7 from Monday; WEEK is that of ISO 8601.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ...core.errors import BadQuestion
from ..relation import build
from ..values.dates import To
from ..values.labels import spelled
from ..values.logic import NO_CONDITION, Operator
from ..values.lookups import of_labels
from ..values.nodes import Constant, Expression
from ..values.tabulated import RealFunction, tabulated
from . import calendar, texts
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
    exp.Sign: build.sign,
    exp.Floor: build.floor,
    exp.Ceil: build.ceil,
    exp.Lower: lambda a: build.recased(a, str.lower),
    exp.Upper: lambda a: build.recased(a, str.upper),
}
TABULATED: dict[type[exp.Expr], RealFunction] = {exp.Sqrt: "sqrt", exp.Ln: "ln", exp.Exp: "exp"}
SEVERAL: dict[type[exp.Expr], Callable[..., Expression]] = {
    exp.Coalesce: build.coalesce,
    exp.Least: build.least,
    exp.Greatest: build.greatest,
}
CASTS: dict[str, To] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL", "BIGDECIMAL"), "real"),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR", "BPCHAR"), "text"),
    **dict.fromkeys(("TIMESTAMP", "DATETIME", "TIMESTAMPTZ"), "timestamp"),
    "BOOLEAN": "boolean",
    "DATE": "date",
}


class RowReader:
    """Reads expressions over the rows of one scope; `column` gives the meaning of a name there."""

    def __init__(self, text: Text, column: Callable[[exp.Column], Expression]) -> None:
        self.text, self.column = text, column
        self.whole_days = False  # whether only whole days are left of what is being read

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
        if kind in calendar.PARTS_OF:
            return calendar.part(self, node, calendar.PARTS_OF[kind], self.this(node))
        if kind in COMPARISONS:
            return build.compare(COMPARISONS[kind], *self._two(calendar.whole_seconds(node)))
        if kind in BINARY:
            if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
                return calendar.moved(self, node)
            return BINARY[kind](*self._two(node))
        if kind in UNARY:
            return UNARY[kind](self.listed(self.this(node)))
        if kind in TABULATED:
            return calendar.counted(self, tabulated(TABULATED[kind], self.read(self.this(node))))
        if kind in SEVERAL:
            only(self.text, node, "this", "expressions")
            return SEVERAL[kind](*(self.read(part) for part in (node.this, *node.expressions)))
        raise self.text.bad(node, unsupported(self.text, node))

    def listed(self, node: exp.Expr) -> Expression:
        """The argument of a function that goes through all labels of a category."""
        argument = self.read(node)
        self.text.looks_up(len(argument.domain.labels))
        return argument

    def _paren(self, node: exp.Expr) -> Expression:
        return self.read(self.this(node))

    def _literal(self, node: exp.Expr) -> Expression:
        return build.constant(literal(self.text, node))

    def _chain(self, node: exp.Expr) -> Expression:
        join = build.or_ if isinstance(node, exp.Or) else build.and_
        settles = isinstance(node, exp.Or)  # the truth that one part of an OR, and one part of an AND, settles it by
        parts = [self.read(part) for part in flat(node)]
        chain = join(*parts)
        if any(_is(part, settles) for part in parts):
            return build.constant(settles)
        left = [part for part in parts if not _is(part, not settles)]
        return chain if len(left) == len(parts) else join(*left) if left else build.constant(not settles)

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

    def _truncated(self, node: exp.Expr) -> Expression:
        only(self.text, node, "this", "decimals")
        return build.trunc_to(self.read(node.this), digits(self.text, node))

    def _bucket(self, node: exp.Expr) -> Expression:
        """WIDTH_BUCKET(x, low, high, n): 1 to n, with 0 below low, and n + 1 from high on."""
        names = ("min_value", "max_value", "num_buckets")
        only(self.text, node, "this", *names)
        low, high, count = (number(self.text, node.args.get(name), "A bound of WIDTH_BUCKET") for name in names)
        if low >= high or count not in range(1, 10**6):
            raise self.text.bad(node, "WIDTH_BUCKET needs a lower and a higher bound, and a whole number of buckets.")
        above = build.subtract(self.read(node.this), build.constant(low))
        bucket = build.floor(build.multiply(above, build.constant(count / (high - low))))
        return build.clamp(build.add(bucket, build.constant(1)), 0, int(count) + 1)

    def this(self, node: exp.Expr) -> exp.Expr:
        """The only argument of a node."""
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
        made = self.read(node.expression)
        if not isinstance(made, Constant) or made.domain.kind != "category" or made.value is None:
            raise self.text.bad(node.expression, "The pattern of LIKE must be a constant text.")
        a, pattern = self.listed(node.this), made.domain.labels[int(made.value)]
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
        if name not in CASTS:
            raise self.text.bad(node, BAD_CAST)
        sizes = [number(self.text, size.this, "The size of a type") for size in to.expressions]
        a = calendar.in_days(self, node.this) if CASTS[name] == "date" else self.listed(node.this)
        match CASTS[name]:
            case "text":
                return self._spelled(node, a, sizes)
            case "real" if sizes:  # DECIMAL(10, 2) is rounded to two digits
                places = sizes[1] if len(sizes) > 1 else 0
                return build.round_to(build.cast(a, "real"), int(places))
        return build.cast(a, CASTS[name])

    def _spelled(self, node: exp.Expr, a: Expression, sizes: list[Fraction]) -> Expression:
        """A value as text: VARCHAR(3) keeps the first three characters."""
        text = calendar.counted(self, spelled(a))
        if not sizes or text.domain.kind == "text":
            return text
        longest = int(sizes[0])
        return of_labels(text, lambda label: label[:longest], f"{self.text.word(node)} needs")

    def _named(self, node: exp.Expr) -> Expression:
        """Functions that the parser knows by name alone."""
        only(self.text, node, "this", "expressions")
        arguments, reader = NAMED.get(str(node.this).upper(), (None, None))
        if reader is None or arguments not in (None, len(node.expressions)):
            raise self.text.bad(node, unsupported(self.text, node))
        return reader(self, node, *node.expressions)

    def _clamp(self, node: exp.Expr, of: exp.Expr, *ends: exp.Expr) -> Expression:
        lower, upper = (number(self.text, end, "A bound of CLAMP") for end in ends)
        return build.clamp(self.read(of), lower, upper)


def _is(e: Expression, truth: bool) -> bool:
    """Whether e is this constant, as in WHERE 1 = 1."""
    return isinstance(e, Constant) and e.domain.kind == "boolean" and e.value == int(truth)


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
    exp.Trunc: RowReader._truncated,
    exp.WidthBucket: RowReader._bucket,
    exp.Anonymous: RowReader._named,
    **calendar.READERS,
    **texts.READERS,
}
NAMED: dict[str, tuple[int | None, Callable[..., Expression]]] = {  # with how many arguments each takes, or any
    "CLAMP": (3, RowReader._clamp),
    "LOG10": (1, lambda rows, _, of: tabulated("log10", rows.read(of))),
    "CONCAT": (None, texts.concat),
    **calendar.NAMED,
}
OF_ROWS = frozenset((*READERS, *calendar.PARTS_OF, *BINARY, *UNARY)) - {exp.Anonymous}
