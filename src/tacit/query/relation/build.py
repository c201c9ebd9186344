"""The constructors of expressions for both front ends: each checks kinds and computes the domain of its result.

They raise `BadQuestion`, from public facts alone.  Numbers are in `arithmetic`, conditions in `logic`, the calendar and
casts in `dates`, public tables in `lookups`, the values of keys in `key_values`; here are columns, folds, joins and the
limits on the size of a question.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

from ...core.errors import BadQuestion
from ..values.arithmetic import (
    absolute,
    add,
    bin_to,
    ceil,
    clamp,
    div,
    divide,
    floor,
    greatest,
    least,
    modulo,
    multiply,
    negate,
    raised,
    round_to,
    sign,
    subtract,
    trunc_to,
)
from ..values.coercion import checked, constant, kind_of, parts_of, unbounded
from ..values.dates import add_months, cast, date_part, date_trunc
from ..values.logic import (
    and_,
    between,
    case,
    coalesce,
    compare,
    is_in,
    is_missing,
    like,
    not_,
    or_,
)
from ..values.lookups import lookup, recased
from ..values.nodes import Column, Expression, tree_sizes
from .key_values import keys
from .relation import Derive, Fold, Join, Relation, joins, scans
from .relation import fold as unchecked_fold

__all__ = [
    "absolute",
    "add",
    "add_months",
    "and_",
    "between",
    "bin_to",
    "bounded",
    "case",
    "cast",
    "ceil",
    "clamp",
    "coalesce",
    "column",
    "compare",
    "constant",
    "date_part",
    "date_trunc",
    "div",
    "divide",
    "floor",
    "fold",
    "greatest",
    "is_in",
    "is_missing",
    "join",
    "keys",
    "least",
    "like",
    "lookup",
    "moderate",
    "modulo",
    "multiply",
    "names_near",
    "negate",
    "not_",
    "or_",
    "raised",
    "recased",
    "round_to",
    "sign",
    "subtract",
    "trunc_to",
]

MOST_PAIRS = 10**6  # rows of one unit: more of them, made by joins, would fill the memory of an engine
MOST_JOINED = 10_000  # rows of one unit that the joins of one purchase make: more would show in its time
LARGEST = 20_000  # operations in one expression, written out
DEEPEST = 100  # nested operations
TOO_LARGE = f"An expression may have at most {LARGEST} operations, nested at most {DEEPEST} deep."
_LISTED_NAMES, _NEAREST_NAMES, _LONGEST_NAME = 12, 3, 128


def column(relation: Relation, name: str) -> Column:
    """A column of a relation."""
    known, given = relation.columns, str(name)
    if given not in known or given != name:
        raise BadQuestion(f"There is no column {given[:40]!r}; the columns are {names_near(given, sorted(known))}.")
    return Column(known[name], name)


def names_near(given: str, known: Iterable[str]) -> str:
    """A list of the known names for a message: all of a few; of many, those nearest to the given one and some more."""
    names = list(dict.fromkeys(known))
    if len(names) <= _LISTED_NAMES:
        return ", ".join(names)
    near = get_close_matches(given[:_LONGEST_NAME], names, _NEAREST_NAMES)
    listed = list(dict.fromkeys([*near, *names]))[:_LISTED_NAMES]
    return f"{', '.join(listed)} and {len(names) - _LISTED_NAMES} more"


def fold(how: Literal["count", "sum", "min", "max"], relation: Relation, a: Expression | None = None) -> Fold:
    """A count, sum, least or largest over the rows of one unit of a relation."""
    if a is None and how != "count":
        raise BadQuestion(f"A {how} needs a column or an expression.")
    if a is not None and how == "sum":
        if a.domain.kind == "boolean":
            a = cast(a, "integer")
        if a.domain.kind != "number":
            raise BadQuestion(f"A sum needs numbers; {kind_of(a)}.")
        if not a.domain.declared:
            raise unbounded("sum", a)
    if a is not None and how in ("min", "max") and a.domain.kind in ("text", "category"):
        raise BadQuestion(f"A {how} needs numbers or dates; {kind_of(a)}.")
    folded = unchecked_fold(how, relation.rows, a)
    checked(folded.domain)
    return folded


def join(left: Relation, right: Relation) -> Join:
    """Pairs of rows of the same unit; a right column whose name is taken gets its table's name as a prefix."""
    taken, prefix = left.columns, next(scans(right)).table
    named = {name: f"{prefix}_{name}" if name in taken else name for name in right.columns}
    if len({*taken, *named.values()}) < len(taken) + len(named):
        raise BadQuestion("Columns of the joined tables have the same names. Rename them first.")
    if any(old != new for old, new in named.items()):
        right = Derive(right, tuple((new, column(right, old)) for old, new in named.items()))
    pairs = Join(left, right)
    if pairs.rows > max(MOST_PAIRS, left.rows, right.rows):
        raise BadQuestion(
            f"This join could give one unit {pairs.rows:,} rows; at most {MOST_PAIRS:,} are allowed. Group the rows by"
            " unit first, or lower `rows` in the schema."
        )
    return pairs


def bounded(relation: Relation) -> None:
    """Refuse joins that could make so many rows of one unit that its presence shows in the time of the question.

    The rows that a join makes of one unit are at most the product of the row caps of its sides, which are public.  The
    joins of a question may make `MOST_JOINED` of them together, or each of them as many as the largest table holds:
    that much work there is for a unit without any join.
    """
    joined = [join.rows for join in joins(relation)]
    if sum(joined) > max([MOST_JOINED, *(len(joined) * scan.rows for scan in scans(relation))]):
        raise BadQuestion(
            f"The joins of this question could make {sum(joined):,} rows of one unit, the product of the row caps of"
            f" the joined tables. At most {MOST_JOINED:,} are allowed, so that the time of an answer shows no unit."
            " Group the rows by unit first (GROUP BY the unit in a subquery, or per_unit), or lower `rows` in the"
            " schema."
        )


def moderate(e: Expression) -> Expression:
    """e, unless it is too deep, or too large when its shared subexpressions are written out."""
    for _, size, depth in tree_sizes([e], parts_of):
        if size > LARGEST or depth > DEEPEST:
            raise BadQuestion(TOO_LARGE)
    return e
