"""Window functions of SQL over the rows of an answer, which are free since no data is read.

SUM, AVG, COUNT, MIN, MAX, FIRST_VALUE, LAST_VALUE, LAG, LEAD
ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE
OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..select.outputs import FARTHEST, Output, Window, WindowFunction
from .allowlist import number, only

if TYPE_CHECKING:
    from .outputs import OutputReader

FUNCTIONS: dict[type[exp.Expr], WindowFunction] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.Min: "min",
    exp.Max: "max",
    exp.FirstValue: "first",
    exp.LastValue: "last",
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank",
    exp.CumeDist: "cume_dist",
    exp.Ntile: "ntile",
}
_FRAME = "Write a frame as ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, with whole numbers or UNBOUNDED."


def window(outputs: OutputReader, node: exp.Window) -> Window:
    """The window that a node means."""
    only(outputs.text, node, "this", "partition_by", "order", "spec", "over")
    function = FUNCTIONS.get(type(node.this))
    if function is None:
        reason = f"{outputs.text.word(node.this)} cannot stand before OVER. `tacit docs tables` lists the windows."
        raise outputs.text.bad(node, reason)
    partition = tuple(outputs.read(by) for by in node.args.get("partition_by") or ())
    order = node.args.get("order")
    ordered = tuple(_ordered(outputs, by) for by in order.expressions) if order else ()
    a, n = _arguments(outputs, node.this, function)
    return Window(function, a, partition, ordered, _frame(outputs, node.args.get("spec")), n)


def _ordered(outputs: OutputReader, node: exp.Expr) -> tuple[Output, bool]:
    only(outputs.text, node, "this", "desc", "nulls_first")
    if node.args.get("nulls_first"):
        raise outputs.text.bad(node, "NULLS FIRST is not supported; missing values stand last.")
    return outputs.read(node.this), bool(node.args.get("desc"))


def _arguments(outputs: OutputReader, node: exp.Expr, function: WindowFunction) -> tuple[Output | None, int]:
    """The argument of a function, and its offset or number of parts."""
    match node:
        case exp.Count(this=exp.Star() | exp.Literal()):
            only(outputs.text, node, "this")
            return None, 1
        case exp.Ntile():
            return None, _whole(outputs, node, node.this, "NTILE needs a number of parts")
        case exp.Lag() | exp.Lead():
            if node.args.get("default") is not None:
                word = outputs.text.word(node)
                raise outputs.text.bad(node, f"Write a default as COALESCE({word}(x, 1) OVER (...), default).")
            only(outputs.text, node, "this", "offset")
            offset = node.args.get("offset")
            return outputs.read(node.this), 1 if offset is None else _whole(outputs, node, offset, "An offset must be")
        case exp.RowNumber() | exp.Rank() | exp.DenseRank() | exp.PercentRank() | exp.CumeDist():
            only(outputs.text, node)
            return None, 1
    only(outputs.text, node, "this")
    return outputs.read(node.this), 1


def _whole(outputs: OutputReader, node: exp.Expr, given: exp.Expr | None, what: str) -> int:
    n = number(outputs.text, given, what) if isinstance(given, exp.Expr) else 0
    if n != int(n) or not 1 <= n <= FARTHEST:
        raise outputs.text.bad(node, f"{what}, a whole number from 1 to {FARTHEST}.")
    return int(n)


def _frame(outputs: OutputReader, spec: exp.WindowSpec | None) -> tuple[int | None, int | None] | None:
    if spec is None:
        return None
    only(outputs.text, spec, "kind", "start", "start_side", "end", "end_side")
    begin = _end(outputs, spec, "start", -1)
    end = _end(outputs, spec, "end", 1) if spec.args.get("end") is not None else 0
    if str(spec.args.get("kind")).upper() == "ROWS":
        return begin, end
    if (begin, end) not in ((None, 0), (None, None)):
        raise outputs.text.bad(spec, f"A frame by {spec.args.get('kind')} is not supported. {_FRAME}")
    return None if end == 0 else (None, None)


def _end(outputs: OutputReader, spec: exp.WindowSpec, name: str, away: int) -> int | None:
    """The offset at which a frame begins or ends; None where it has no end on the side that is `away`."""
    given, side = spec.args.get(name), str(spec.args.get(f"{name}_side")).upper()
    sign = {"PRECEDING": -1, "FOLLOWING": 1}.get(side, 0)
    match given:
        case "CURRENT ROW":
            return 0
        case "UNBOUNDED" if sign == away:
            return None
        case exp.Literal() if sign:
            offset = number(outputs.text, given, "The end of a frame")
            if offset == int(offset) and 0 <= offset <= FARTHEST:
                return sign * int(offset)
    raise outputs.text.bad(spec, _FRAME)
