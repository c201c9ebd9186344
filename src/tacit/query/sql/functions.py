"""Every function and operator that SQL text may use, as a person writes it.

The readers look nodes of the parser's tree up in tables; `understood` is the union of these tables.  So a function is
understood if and only if it is listed here, and the tests hold the list against the corpus, the documentation and the
grammar of random questions.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from . import aggregates, calendar, outputs, row_expressions, statistics, windows

WRITTEN: Mapping[type[exp.Expr], str] = {  # operators; what has no word of its own is empty
    exp.Add: "+",
    exp.And: "AND",
    exp.AtTimeZone: "AT TIME ZONE",
    exp.Between: "BETWEEN",
    exp.Boolean: "TRUE",
    exp.Column: "",
    exp.DPipe: "||",
    exp.Div: "/",
    exp.EQ: "=",
    exp.Filter: "FILTER",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.ILike: "ILIKE",
    exp.In: "IN",
    exp.IntDiv: "DIV",
    exp.Is: "IS",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Like: "LIKE",
    exp.Literal: "",
    exp.Mod: "%",
    exp.Mul: "*",
    exp.NEQ: "<>",
    exp.Neg: "-",
    exp.Not: "NOT",
    exp.Null: "NULL",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.Or: "OR",
    exp.Paren: "",
    exp.RegexpILike: "~*",
    exp.StrPosition: "POSITION",
    exp.Sub: "-",
    exp.Window: "OVER",
    exp.WithinGroup: "WITHIN GROUP",
}


def understood() -> dict[str, tuple[str, ...]]:
    """All that is understood, by a name for it, with the ways to write it."""
    tables: list[Mapping[type[exp.Expr], object]] = [
        *(row_expressions.READERS, calendar.PARTS_OF, row_expressions.COMPARISONS, row_expressions.TABULATED),
        *(row_expressions.BINARY, row_expressions.UNARY, row_expressions.SEVERAL),
        *(aggregates.READERS, aggregates.SIMPLE, statistics.STATISTICS),
        *(outputs.READERS, outputs.OPERATORS, outputs.FUNCTIONS, windows.FUNCTIONS),
    ]
    kinds = {kind for table in tables for kind in table} - {exp.Anonymous}
    named = {name: (name,) for name in (*row_expressions.NAMED, *aggregates.NAMED, aggregates.EVERY, *outputs.ENDS)}
    return {**{kind.__name__: _spellings(kind) for kind in kinds}, **named}


def used(tree: exp.Expr) -> set[str]:
    """The names of what a question uses, as `understood` has them."""
    return {str(n.this).upper() if isinstance(n, exp.Anonymous) else type(n).__name__ for n in tree.walk()}


def _spellings(kind: type[exp.Expr]) -> tuple[str, ...]:
    if kind in WRITTEN:
        return (WRITTEN[kind],) if WRITTEN[kind] else ()
    if not issubclass(kind, exp.Func):
        raise LookupError(f"tacit.query.sql.functions.WRITTEN does not say how {kind.__name__} is written")
    return tuple(kind.sql_names())
