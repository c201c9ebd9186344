"""What the custodian must know before anybody asks: how the cells of files are read under a schema, exactly.

Nothing here is private: these are facts about rows, for whoever holds the rows.  No curator and no service may call it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import duckdb
from sqlglot import exp

from ...query.schema.csv import Grammar, mapped, start, text
from ...query.schema.schema import Schema
from ...query.values.cells import COMMA_TO_POINT, NUMBER
from ...query.values.column_types import EXACT, SECONDS, ColumnType
from ...query.values.domain import DAYS, WIDEST
from ..rows.sources import DataSource
from ..sql.bounded_table import value
from ..sql.dialect import alias, call, cast, missing, number
from ..sql.spellings import without
from .loading import RawRows, concatenated, loader, read

NOTHING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", ".", "?", "unknown", "missing"})
_EXAMPLES, _LINES = 3, 5
_DATE = re.compile(r"\s*[0-9]{1,4}([-./ ])[0-9]{1,2}\1[0-9]{1,4}([T ].*)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}([,.' \u00a0\u202f])[0-9]{3}(\1[0-9]{3})*([.,][0-9]+)?")


@dataclass(frozen=True)
class ColumnFacts:
    """How the cells of a column are read: how many are missing, unreadable, or moved to a bound."""

    name: str
    type: str
    missing: int
    unreadable: int
    below: int
    above: int
    examples: tuple[tuple[str, int], ...] = ()  # the most frequent unreadable cells

    @property
    def reasons(self) -> list[str]:
        """The most frequent unreadable cells, each with the kind of reason."""
        return [f"{cell[:40]!r} {count:,} times: {reason(self.type, cell)}" for cell, count in self.examples]


@dataclass(frozen=True)
class UnitFacts:
    """How rows belong to units: whose rows are cut, and who has so many that it may be nobody."""

    units: int
    over: int  # units with more rows than count
    cut: int  # rows that do not count
    largest: tuple[tuple[str, int], ...]  # units with the most rows
    suspicious: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class GroupFacts:
    """By a column alone: units with rows in more groups than count, and about how many of all rows that cuts."""

    column: str
    over: int
    cut: int


@dataclass(frozen=True)
class Inspection:
    """The facts about all rows of a table."""

    rows: int
    without_unit: int
    columns: tuple[ColumnFacts, ...]
    units: UnitFacts | None
    groups: tuple[GroupFacts, ...]
    lines: tuple[str, ...]  # the first lines that are not as in RFC 4180


def inspect(source: DataSource, schema: Schema) -> Inspection:
    """The facts about the rows of files or of a table in memory."""
    parts = source.parts or [source]
    counted = [read(part, schema, lambda rows: rows.fetchall(), _counts)[0] for part in parts]
    ways, *numbers = zip(*counted, strict=True)
    rows, *cells = map(sum, numbers)
    columns = []
    for i, (name, column) in enumerate(schema.columns):
        gone, unread, below, above = cells[4 * i : 4 * i + 4]
        facts = ColumnFacts(name, column.type, gone, unread, below, above)
        if facts.unreadable:
            seen: Counter[str] = Counter()
            for part in parts:
                seen.update(dict(read(part, schema, lambda rows: rows.fetchall(), _unreadable(name, column))))
            facts = replace(facts, examples=tuple(seen.most_common(_EXAMPLES)))
        columns.append(facts)
    by_line = (part for part, way in zip(parts, ways, strict=True) if way == "lines")
    lines = tuple(islice(chain.from_iterable(map(_malformed, by_line)), _LINES))
    if schema.unit is None:
        return Inspection(rows, 0, tuple(columns), None, (), lines)
    owned = concatenated([read(part, schema, lambda rows: rows.to_arrow_table()) for part in parts])
    with closing(loader()) as database:
        database.register("owned", owned)
        return Inspection(
            rows, rows - len(owned), tuple(columns), _units(database, schema), tuple(_groups(database, schema)), lines
        )


def _counts(rows: RawRows, schema: Schema) -> duckdb.DuckDBPyRelation:
    """One row: how the rows were read, how many there are; and of each column missing, unreadable, below and above."""
    d, inner, outer = rows.dialect, ["1 AS one"], [f"'{rows.way}'", "COUNT(*)"]
    for i, (name, column) in enumerate(schema.columns):
        cells = {f"m{i}": _absent(rows, name, column), f"w{i}": _wide(rows, name, column)}
        inner += [d.render(alias(e, own)) for own, e in cells.items()]
        low, high = column.domain.lower, column.domain.upper
        tests = [f"m{i}", f"NOT m{i} AND w{i} IS NULL"]
        ordered = column.domain.kind in ("number", "date", "timestamp")
        tests += [f"w{i} < {low}", f"w{i} > {high}"] if ordered else ["FALSE", "FALSE"]
        outer += [f"COUNT(*) FILTER ({test})" for test in tests]
    return rows.about(", ".join(inner), f"SELECT {', '.join(outer)} FROM looked_at")


def _unreadable(name: str, column: ColumnType) -> Any:
    """A query for the most frequent cells of a column that are neither missing nor readable."""

    def query(rows: RawRows, schema: Schema) -> duckdb.DuckDBPyRelation:
        d = rows.dialect
        shown = d.render(call("LEFT", cast(rows.columns[name].sql.copy(), "TEXT"), number(60)))
        unread = f"NOT {d.render(_absent(rows, name, column))} AND {d.render(missing(_wide(rows, name, column)))}"
        frequent = "SELECT cell, COUNT(*) FROM looked_at GROUP BY cell ORDER BY 2 DESC, 1 LIMIT 20"
        return rows.about(f"{shown} AS cell", frequent, f"WHERE {unread}")

    return query


def _absent(rows: RawRows, name: str, column: ColumnType) -> exp.Expr:
    """Whether a cell is missing as the schema says: NULL, NaN, or one of the spellings."""
    raw = without(rows.columns[name], column.reading.missing)
    gone = missing(raw.sql.copy())
    return exp.Paren(this=exp.Or(this=gone, expression=call("ISNAN", raw.sql.copy()))) if raw.kind == "double" else gone


def _wide(rows: RawRows, name: str, column: ColumnType) -> exp.Expr:
    """The value of each cell, clamped only where its type ends."""
    d, domain = rows.dialect, column.domain
    ends = {"date": DAYS, "timestamp": SECONDS}.get(domain.kind)
    if domain.kind == "number":
        most = WIDEST if column.type == "integer" else EXACT
        ends = (-most, most)
    wide = column if ends is None else replace(column, domain=domain.within(*ends))
    return value(rows.columns[name], wide, d)


def _units(database: duckdb.DuckDBPyConnection, schema: Schema) -> UnitFacts:
    database.execute("CREATE TABLE units AS SELECT u, COUNT(*) AS n FROM owned GROUP BY u")
    most = schema.rows
    over = f"COUNT(*) FILTER (n > {most}), COALESCE(SUM(GREATEST(n - {most}, 0)), 0)"
    usual = "COALESCE(QUANTILE_CONT(n, 0.99), 0)"
    units, many, cut, common = database.execute(f"SELECT COUNT(*), {over}, {usual} FROM units").fetchone() or (0,) * 4
    top = "SELECT CAST(u AS VARCHAR), n FROM units {} ORDER BY n DESC, 1 LIMIT 3"
    nobody = ", ".join(f"'{word}'" for word in sorted(NOTHING))
    odd = f"WHERE n > {10 * common} AND n > 20 OR TRIM(LOWER(CAST(u AS VARCHAR))) IN ({nobody})"
    largest, suspicious = (tuple(database.execute(top.format(where)).fetchall()) for where in ("", odd))
    return UnitFacts(units, many, int(cut), largest, suspicious)


def _groups(database: duckdb.DuckDBPyConnection, schema: Schema) -> Iterator[GroupFacts]:
    """By each column of labels, units that have too many of them; each of a unit's groups is as likely to count."""
    for i, (name, column) in enumerate(schema.columns):
        most = 1 if name == schema.partition else schema.groups
        if most is not None and column.type in ("category", "boolean"):
            each = f"SELECT COUNT(DISTINCT c{i}) AS g, COUNT(c{i}) AS n FROM owned GROUP BY u"
            cut = f"COALESCE(SUM(n * (1 - {most} / g)) FILTER (g > {most}), 0)"
            found = database.execute(f"SELECT COUNT(*) FILTER (g > {most}), {cut} FROM ({each})").fetchone() or (0, 0)
            yield GroupFacts(name, found[0], round(found[1]))


def _malformed(source: DataSource) -> Iterator[str]:
    """The first lines of a file that tacit reads line by line, in words."""
    assert source.path is not None
    with mapped(source.text) as content:
        found = list(islice(_irregular(content, source.grammar, len(source.header)), _LINES))
    yield from (f"{source.path.name}, line {line}: {why}" for line, why in found)
    if not found:
        yield f"{source.path.name}: lines end in more than one way"


def _irregular(content: Any, grammar: Grammar, columns: int) -> Iterator[tuple[int, str]]:
    """The number of each line that is not as in RFC 4180, and why."""
    at, line = start(content), 1
    while at < len(content):
        record = grammar.record(content, at)
        n = len(record.fields)
        if not record.regular:
            yield line, "a quote is not closed, or is followed by more than the end of its field"
        elif any(text(field) is None for field in record.fields):
            yield line, "text that is not in the encoding of the file"
        elif n != columns and (n > 1 or record.fields[0]):
            yield line, f"{n} fields, but the header has {columns}"
        line += max(content[at : record.after].count(b"\n"), 1)
        at = record.after


def reason(kind: str, cell: str) -> str:
    """Why a cell cannot be read in a column of this type, as far as the cell shows it."""
    if cell.strip().lower() in NOTHING:
        return "a spelling of missing? Then list it in `missing`"
    match kind:
        case "integer" | "real":
            if NUMBER.fullmatch(cell.translate(COMMA_TO_POINT)):
                return 'a decimal comma? Then set decimal = ","'
            return "a number with thousands marks" if _THOUSANDS.fullmatch(cell) else "not a number"
        case "boolean":
            return "not a word for true or false; list such words in `true` and `false`"
        case "category":
            return "a label that is not declared"
        case "date" | "timestamp":
            return "a date in another form; set `format`" if _DATE.fullmatch(cell) else "not a date"
    return "of a type without text"


def spans(source: DataSource, schema: Schema) -> dict[str, tuple[int, int]]:
    """The middle 99 % of the values of each column of numbers, in steps and within its bounds."""
    rows = concatenated([read(part, schema, lambda rows: rows.to_arrow_table()) for part in source.parts or [source]])
    names = {name: f"c{i}" for i, (name, column) in enumerate(schema.columns) if column.domain.kind == "number"}
    with closing(loader()) as database:
        database.register("owned", rows)
        ends = ", ".join(f"QUANTILE_DISC({c}, {q})" for c in names.values() for q in (0.005, 0.995))
        found = database.execute(f"SELECT {ends or '1'} FROM owned").fetchone() or ()
    both = {name: (found[2 * i], found[2 * i + 1]) for i, name in enumerate(names)}
    return {name: (low, high) for name, (low, high) in both.items() if low is not None}
