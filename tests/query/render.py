"""A question as one line of text, for comparison by eye."""

from tacit.query.relation.relation import Cohort, Derive, Fold, Join, PerUnit, Relation, Scan, Where
from tacit.query.select.outputs import (
    Arithmetic,
    CaseOutput,
    Comparison,
    Function,
    Logic,
    Output,
    OutputValue,
    ReleasedColumn,
    Window,
)
from tacit.query.select.query import Aggregate, Query, Selection
from tacit.query.values.domain import ValueDomain
from tacit.query.values.nodes import (
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


def query(q: Query) -> str:
    """Rows; keys with the number of their cells; aggregates; then outputs, unless they are all keys and aggregates."""
    parts = [relation(q.relation)]
    if q.keys:
        keys = ", ".join(
            f"{k.name} = {scaled(k.expression)} [{'?' if k.values is None else len(k.values)}]" for k in q.keys
        )
        parts.append(f"by {keys}" + (f" in {q.groups}" if q.groups else ""))
    parts.append(", ".join(f"{name} = {aggregate(a)}" for name, a in q.aggregates))
    names = [*(k.name for k in q.keys), *(name for name, _ in q.aggregates)]
    if list(q.outputs) != [(name, ReleasedColumn(name)) for name in names]:
        parts.append("show " + ", ".join(f"{name} = {output(o)}" for name, o in q.outputs))
    if q.having is not None:
        parts.append(f"having {output(q.having)}")
    if q.order:
        parts.append("order " + ordered(q.order))
    if q.limit is not None:
        parts.append(f"limit {q.limit}")
    if q.offset:
        parts.append(f"offset {q.offset}")
    return " | ".join((*parts, *map(selection, q.then)))


def selection(s: Selection) -> str:
    parts = ["then " + ", ".join(f"{name} = {output(o)}" for name, o in s.outputs)]
    if s.where is not None:
        parts.append(f"where {output(s.where)}")
    if s.distinct is not None:
        parts.append(f"one of ({', '.join(map(output, s.distinct))})")
    if s.having is not None:
        parts.append(f"having {output(s.having)}")
    if s.order:
        parts.append("order " + ordered(s.order))
    if s.limit is not None:
        parts.append(f"limit {s.limit}")
    if s.offset:
        parts.append(f"offset {s.offset}")
    return " ".join(parts)


def ordered(order: tuple[tuple[Output, bool], ...]) -> str:
    return ", ".join(f"{'-' if down else ''}{output(o)}" for o, down in order)


def relation(r: Relation) -> str:
    match r:
        case Scan():
            return f"{r.table}({r.rows})"
        case Where():
            return f"{relation(r.source)} where {scaled(r.condition)}"
        case Derive():
            return f"[{relation(r.source)} derive {', '.join(f'{n} = {scaled(e)}' for n, e in r.derived)}]"
        case PerUnit():
            folds = ", ".join(f"{n} = {scaled(e)}" for n, e in (*r.keys, *r.folds))
            return f"[{relation(r.source)} per unit {folds}]"
        case Cohort():
            return f"{relation(r.source)} {'of' if r.inside else 'not of'} [{relation(r.members)}]"
        case Join():
            return f"({relation(r.left)} join {relation(r.right)})"
    raise TypeError(type(r).__name__)


def aggregate(a: Aggregate) -> str:
    of = [] if a.expression is None else [scaled(a.expression)]
    if a.at is not None:
        of.append(str(a.at))
    if a.kind == "top":
        of.append(f"{a.place} of {a.k}")
    return f"{a.kind}({', '.join(of)})"


def scaled(e: Expression) -> str:
    """An expression over steps, and the grid of its steps where it is not that of the columns in it."""
    grid = "" if isinstance(e, Column | Constant) or e.domain.grid == 1 else f" @{e.domain.grid}"
    return expression(e) + grid


def expression(e: Expression) -> str:
    match e:
        case Column():
            return e.name
        case Constant():
            return constant(e.value, e.domain)
        case Add():
            return f"({expression(e.a)} + {expression(e.b)})"
        case Multiply():
            return f"({expression(e.a)} * {expression(e.b)})"
        case Divide():
            return f"({expression(e.a)} // {expression(e.b)})"
        case Compare():
            return f"({expression(e.a)} {e.operator} {expression(e.b)})"
        case And():
            return f"({expression(e.a)} and {expression(e.b)})"
        case Or():
            return f"({expression(e.a)} or {expression(e.b)})"
        case Not():
            return f"not {expression(e.a)}"
        case IsMissing():
            return f"missing({expression(e.a)})"
        case Case():
            return f"if {expression(e.condition)} then {expression(e.then)} else {expression(e.otherwise)} fi"
        case Lookup():
            return f"lookup({expression(e.a)}: {len(e.keys)})"
        case DatePart():
            return f"{e.part}({expression(e.a)})"
        case Like():
            return f"({expression(e.a)} like {'%'.join(e.pieces)!r})"
        case Fold():
            return f"{e.how}({'' if e.a is None else expression(e.a)})"
    raise TypeError(type(e).__name__)


def constant(value: int | str | None, d: ValueDomain) -> str:
    if value is None:
        return "null"
    return str(value) if d.kind == "number" or isinstance(value, str) else str(d.label(value))


def output(o: Output) -> str:
    match o:
        case ReleasedColumn():
            return o.name
        case OutputValue():
            return str(o.value)
        case Arithmetic() | Comparison() | Logic():
            return f"({output(o.a)} {o.operator} {output(o.b)})"
        case Function():
            return f"{o.name}({output(o.a)}{f', {o.digits}' if o.digits else ''})"
        case Window():
            of = [*([] if o.a is None else [output(o.a)]), *([str(o.n)] if o.n != 1 else [])]
            over = [*(["by " + ", ".join(map(output, o.partition))] if o.partition else [])]
            over += ["order " + ordered(o.order)] if o.order else []
            over += [f"rows {o.frame[0]} to {o.frame[1]}"] if o.frame is not None else []
            return f"{o.function}({', '.join(of)}) over ({' '.join(over)})"
        case CaseOutput():
            return f"if {output(o.condition)} then {output(o.then)} else {output(o.otherwise)} fi"
    raise TypeError(type(o).__name__)
