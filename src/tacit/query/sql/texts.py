"""Text in SQL: functions of the public labels of categories, which are evaluated on the labels and never on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ...core.errors import BadQuestion
from ..relation import build
from ..values.coercion import Plain, absent
from ..values.labels import capitalised, concatenated, left, matches, pairs, right, spelled, substring
from ..values.lookups import of_labels
from ..values.nodes import Expression
from .allowlist import number, only

if TYPE_CHECKING:
    from .row_expressions import RowReader

LONGEST = 1000  # what one argument may make of a label, in characters
TRIMMED: dict[str, Callable[[str, str], str]] = {"LEADING": str.lstrip, "TRAILING": str.rstrip}


def of(rows: RowReader, node: exp.Expr, how: Callable[[str], Plain]) -> Expression:
    """A function of each label of the argument of a node."""
    return of_labels(rows.listed(node), how, f"{rows.text.word(node.parent or node)} needs")


def _text(node: exp.Expr | None) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string or len(node.this) > LONGEST:
        raise BadQuestion("An argument here must be a constant text.")
    return str(node.this)


def _whole(rows: RowReader, node: exp.Expr | None) -> int:
    count = number(rows.text, node, "A number of characters")
    if count.denominator != 1 or abs(count) > LONGEST:
        raise BadQuestion(f"A number of characters must be whole, and at most {LONGEST}.")
    return int(count)


def length(rows: RowReader, node: exp.Expr) -> Expression:
    """LENGTH(region), in characters."""
    return of(rows, rows.this(node), len)


def cut(rows: RowReader, node: exp.Expr) -> Expression:
    """SUBSTR(region, 1, 3)."""
    only(rows.text, node, "this", "start", "length")
    start, count = node.args.get("start"), node.args.get("length")
    characters = None if count is None else _whole(rows, count)
    if characters is not None and characters < 0:
        raise rows.text.bad(node, "The length of a substring cannot be negative.")
    return of(rows, node.this, substring(1 if start is None else _whole(rows, start), characters))


def end_of(rows: RowReader, node: exp.Expr) -> Expression:
    """LEFT(region, 2) and RIGHT(region, 2)."""
    only(rows.text, node, "this", "expression")
    count = _whole(rows, node.expression)
    return of(rows, node.this, left(count) if isinstance(node, exp.Left) else right(count))


def trimmed(rows: RowReader, node: exp.Expr) -> Expression:
    """TRIM(region), or TRIM(LEADING 'x' FROM region)."""
    only(rows.text, node, "this", "expression", "position")
    marks = " " if node.args.get("expression") is None else _text(node.expression)
    trim = TRIMMED.get(str(node.args.get("position") or "").upper(), str.strip)
    return of(rows, node.this, lambda label: trim(label, marks))


def replaced(rows: RowReader, node: exp.Expr) -> Expression:
    """REPLACE(region, 'a', 'b')."""
    only(rows.text, node, "this", "expression", "replacement")
    old, new = _text(node.expression), _text(node.args.get("replacement"))
    return of(rows, node.this, lambda label: label.replace(old, new) if old else label)


def piece(rows: RowReader, node: exp.Expr) -> Expression:
    """SPLIT_PART(region, '-', 1)."""
    only(rows.text, node, "this", "delimiter", "part_index")
    mark, place = _text(node.args.get("delimiter")), _whole(rows, node.args.get("part_index"))
    if place < 1 or not mark:
        raise rows.text.bad(node, "SPLIT_PART needs a text that parts, and a place from 1 on.")
    return of(rows, node.this, lambda label: (label.split(mark) + [""] * place)[place - 1])


def position(rows: RowReader, node: exp.Expr) -> Expression:
    """POSITION('a' IN region) and STRPOS(region, 'a'): 0 where there is none."""
    only(rows.text, node, "this", "substr")
    part = _text(node.args.get("substr"))
    return of(rows, node.this, lambda label: label.find(part) + 1)


def capitals(rows: RowReader, node: exp.Expr) -> Expression:
    """INITCAP(region)."""
    only(rows.text, node, "this", "expression")  # the parser adds which characters part words
    return of(rows, node.this, capitalised)


def backwards(rows: RowReader, node: exp.Expr) -> Expression:
    """REVERSE(region)."""
    return of(rows, rows.this(node), lambda label: label[::-1])


def chained(rows: RowReader, node: exp.Expr) -> Expression:
    """region || '-' || member: missing if one of them is."""
    parts, last = list[exp.Expr](), node
    while isinstance(last, exp.DPipe):
        only(rows.text, last, "this", "expression")
        parts.append(last.expression)
        last = last.this
    return _concatenated(rows, [rows.read(part) for part in (last, *reversed(parts))])


def concat(rows: RowReader, _: exp.Expr, *parts: exp.Expr) -> Expression:
    """CONCAT(region, '-', member), in which what is missing is empty."""
    written = [rows.read(part) for part in parts]
    empty = build.constant("")
    return _concatenated(rows, [empty if absent(e) else build.coalesce(spelled(e), empty) for e in written])


def _concatenated(rows: RowReader, parts: list[Expression]) -> Expression:
    rows.text.looks_up(pairs(*parts))
    return concatenated(*parts)


def matched(rows: RowReader, node: exp.Expr) -> Expression:
    """region ~ '^n' and REGEXP_LIKE(region, '^n'); ~* and the flag i ignore case."""
    only(rows.text, node, "this", "expression", "flag")
    flag = "" if node.args.get("flag") is None else _text(node.args["flag"])
    if flag not in ("", "i", "c"):
        raise rows.text.bad(node, "The flag of a regular expression may be 'i', which ignores case.")
    ignore_case = isinstance(node, exp.RegexpILike) or flag == "i"
    return matches(rows.listed(node.this), _text(node.expression), ignore_case)


READERS: dict[type[exp.Expr], Callable[[RowReader, Any], Expression]] = {
    exp.Length: length,
    exp.Substring: cut,
    exp.Left: end_of,
    exp.Right: end_of,
    exp.Trim: trimmed,
    exp.Replace: replaced,
    exp.SplitPart: piece,
    exp.StrPosition: position,
    exp.Initcap: capitals,
    exp.Reverse: backwards,
    exp.DPipe: chained,
    exp.RegexpLike: matched,
    exp.RegexpILike: matched,
}
