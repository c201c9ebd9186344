"""How each type of expression node is drawn, and a table with columns of every type to draw them over.

A new type of node needs an entry in `DRAWN`; without one the suite of engines refutes every engine.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..query.relation import build
from ..query.relation.relation import Relation
from ..query.values.logic import Operator
from ..query.values.nodes import (
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
from .hostile import DATES, MOMENTS

if TYPE_CHECKING:
    from .worlds import World

OPERATORS: list[Operator] = ["=", "<>", "<", "<=", ">", ">="]
PATTERNS = ["n%", "%7%", "%%", "a%b%c", "", "%é", "%\\%", "%!"]
DAY_PARTS = ["year", "quarter", "month", "day", "weekday"]
CONSTANTS: list[Any] = [None, 0, 7, -3, 0.5, True, "north", DATES[3], MOMENTS[0]]

# A table with a column of every type, and cells of its own type for each.  Each column has missing cells.
EVERY_TYPE: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "i": ({"type": "integer", "lower": -3, "upper": 9}, [None, -3, 0, 7, 9]),
    "j": ({"type": "integer", "lower": 0, "upper": 99}, [None, 0, 1, 2, 99]),
    "r": ({"type": "real", "lower": -3, "upper": 4, "grid": "0.25"}, [None, -0.25, 0.0, 3.25]),
    "b": ({"type": "boolean"}, [None, True, False]),
    "c": ({"type": "category", "values": ["n", "north", "It's", ""]}, [None, "n", "north", "It's", ""]),
    "d": ({"type": "date", "lower": datetime.date(1960, 1, 1), "upper": datetime.date(2024, 12, 31)}, [None, *DATES]),
    "m": ({"type": "timestamp"}, [None, *MOMENTS]),
    "x": ({"type": "text"}, [None, "", "n", "north", "a7b", "!", "é"]),
}

DrawNode = Callable[["World", Relation, int], Expression]
DRAWN: dict[type[Expression], DrawNode] = {
    Column: lambda w, x, _: w.column_of(x, *(domain.kind for domain in x.columns.values())),
    Constant: lambda w, *_: build.constant(w.any(CONSTANTS)),
    Add: lambda w, x, depth: build.add(w.number(x, depth), w.number(x, depth)),
    Multiply: lambda w, x, depth: build.multiply(w.number(x, depth), w.number(x, depth)),
    Divide: lambda w, x, depth: build.divide(w.number(x, depth), w.number(x, depth)),
    Compare: lambda w, x, depth: build.compare(w.any(OPERATORS), w.number(x, depth), w.number(x, depth)),
    And: lambda w, x, depth: build.and_(w.condition(x, depth), w.condition(x, depth)),
    Or: lambda w, x, depth: build.or_(w.condition(x, depth), w.condition(x, depth)),
    Not: lambda w, x, depth: build.not_(w.condition(x, depth)),
    IsMissing: lambda w, x, depth: build.is_missing(w.any([w.number, w.condition])(x, depth)),
    Case: lambda w, x, depth: build.case([(w.condition(x, depth), w.number(x, depth))], w.any([w.number(x, 0), None])),
    Lookup: lambda w, x, _: w.looked_up(x),
    DatePart: lambda w, x, _: build.date_part(w.any(DAY_PARTS), w.column_of(x, "date")),
    Like: lambda w, x, _: build.like(w.column_of(x, "text"), w.any(PATTERNS)),
}
