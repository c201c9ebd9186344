"""The seam for other databases: a dialect is one small class, and plans, bounded tables and cells are written in it.

Nothing is run here.  What is checked is that a text is one that the database would parse, of the constructs it has.
"""

import pytest
import sqlglot
from sqlglot import exp

from tacit.engines.duckdb.dialect import DuckDBDialect
from tacit.engines.keyed_hash import coefficients
from tacit.engines.postgres.dialect import PostgresDialect
from tacit.engines.spark.dialect import SparkDialect
from tacit.engines.sql.bounded_table import bounded_query, bounded_table
from tacit.engines.sql.dialect import (
    Dialect,
    Typed,
    binary,
    call,
    case,
    constant,
    missing,
    number,
    there,
)
from tacit.engines.sql.raw_columns import RawColumn
from tacit.engines.sql.statements import statements
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.relation import build
from tacit.query.relation.relation import Join, PerUnit, Where
from tacit.query.schema.schema import Schema
from tacit.query.select.query import Key

KEY = "0123456789abcdef" * 2


class Warehouse(Dialect):
    """What BigQuery, Snowflake and Trino share: text that is missing makes all of a concatenation missing."""

    def joined(self, parts):
        return call("CONCAT", *(exp.Coalesce(this=part, expressions=[constant("")]) for part in parts))

    def matches(self, e, pattern):
        return exp.RegexpLike(this=e, expression=constant(f"^(?:{pattern})$"))

    def trimmed(self, e, characters):
        return exp.Trim(this=e, expression=constant(characters))

    def date_part(self, part, days):
        day = exp.TsOrDsAdd(this=constant("1970-01-01"), expression=days, unit=exp.Var(this="DAY"))
        return exp.Extract(this=exp.Var(this=part.upper()), expression=day)


class BigQuery(Warehouse):
    name = "bigquery"
    integers = {64: "BIGINT", 128: "BIGDECIMAL"}  # noqa: RUF012

    def md5(self, e):
        return call("TO_HEX", call("MD5", e))

    def quotient(self, a, b, bits):
        return call("DIV", a, b)


class Snowflake(Warehouse):
    name = "snowflake"
    integers = {64: "BIGINT", 128: "DECIMAL(38, 0)"}  # noqa: RUF012

    def quotient(self, a, b, bits):
        return call("TRUNC", binary(exp.Div, a, b))

    def hexadecimal(self, e, digits):
        return call("TO_NUMBER", call("LEFT", e, number(digits)), constant("X" * digits))


class Trino(Warehouse):
    name = "trino"

    def hexadecimal(self, e, digits):
        return call("FROM_BASE", call("SUBSTR", e, number(1), number(digits)), number(16))

    def md5(self, e):
        return call("LOWER", call("TO_HEX", call("MD5", call("TO_UTF8", e))))


SCHEMA = Schema.load(
    {
        "table": {"name": "t", "unit": "who", "rows": 3, "partition": "region"},
        "columns": {
            "age": {"type": "integer", "lower": 0, "upper": 120},
            "spend": {"type": "real", "lower": 0, "upper": 500},
            "region": {"type": "category", "values": ["it's", "south"]},
            "note": {"type": "text"},
        },
    }
)
RAW = {
    "who": RawColumn("integer", exp.column("who", quoted=True)),
    "age": RawColumn("integer", exp.column("age", quoted=True), 64),
    "spend": RawColumn("text", exp.column("spend", quoted=True)),
    "region": RawColumn("text", exp.column("region", quoted=True)),
    "note": RawColumn("text", exp.column("note", quoted=True)),
}
DIALECTS = [BigQuery(), Snowflake(), Trino(), PostgresDialect(), DuckDBDialect()]
HASHES = {
    "bigquery": "TO_HEX(MD5(CONCAT(",
    "snowflake": "MD5(CONCAT(",
    "trino": "LOWER(TO_HEX(MD5(TO_UTF8(CONCAT(",
    "postgres": "MD5(CONCAT(",
    "": "MD5(CONCAT(",  # DuckDB
}


def plans():
    scan = SCHEMA.scan()
    age, spend, region, note = (build.column(scan, name) for name in ("age", "spend", "region", "note"))
    by_region = Key("r", region, (0, 1))
    old = Where(scan, build.compare(">=", age, build.constant(18)))
    each = PerUnit(scan, (("region", region),), (("total", build.fold("sum", scan, spend)),))
    return {
        "sums": QueryPlan(old, (by_region,), (RowCount(), Total(spend, (0, 2000)), UnitCount())),
        "groups": QueryPlan(scan, (by_region, Key("d", build.bin_to(age, 10), tuple(range(13)))), (RowCount(),), 1),
        "chosen": QueryPlan(scan, (Key("n", note, None),), (RowCount(),)),
        "bins": QueryPlan(scan, (by_region,), (BinCounts(age, (0, 18, 65, 120)), BinCounts(spend, (0, 1000, 32000)))),
        "units": QueryPlan(each, (), (Total(build.column(each, "total")),)),
        "like": QueryPlan(Where(scan, build.like(note, "%a!b'%")), (), (RowCount(),)),
    }


def products(choice, columns):
    """The coefficients of the hash, as they are written."""
    c = coefficients(KEY, choice, columns)
    return [f"* {k}" for k in (*c.linear, c.cubic[3])] + [f"+ {k}" for k in c.cubic[:3]]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@pytest.mark.parametrize("name", plans())
def test_a_plan_is_written_in_it(dialect, name):
    parts = statements(plans()[name], dialect, {"t": bounded_table(SCHEMA, KEY, RAW, "t0", dialect)})
    texts = [dialect.render(part.tree) for part in parts]
    for text in texts:
        (tree,) = sqlglot.parse(text, dialect=dialect.name)
        assert isinstance(tree, exp.Select) and {table.name for table in tree.find_all(exp.Table)} == {"t0"}
        assert not any(isinstance(node, exp.Command) for node in tree.walk())
    whole = " ".join(texts)
    for construct in {
        "sums": ["COUNT(", "SUM(", "GROUP BY", "GREATEST("],
        "groups": ["DENSE_RANK() OVER (PARTITION BY u ORDER BY", *products("groups", 2)],
        "chosen": ["COUNT(", "IS NULL"],
        "bins": ["GROUPING SETS", "GROUPING("],
        "units": ["GROUP BY 1, 2", "SUM("],
        "like": ["LIKE", "ESCAPE"] if dialect.name != "bigquery" else ["LIKE"],
    }[name]:
        assert construct in whole, whole


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
def test_a_bounded_table_is_written_in_it(dialect):
    text = bounded_query(SCHEMA, KEY, RAW, exp.to_table("raw"), dialect)
    (tree,) = sqlglot.parse(text, dialect=dialect.name)
    assert {table.name for table in tree.find_all(exp.Table)} == {"raw"}
    ranks = "RANK() OVER (PARTITION BY u", "ROW_NUMBER() OVER (PARTITION BY u", "place <= 3"
    for construct in (*ranks, HASHES[dialect.name], f"{KEY}|", *products("part", 1), *products("rows", 4)):
        assert construct in text
    labels = {literal.this for literal in tree.find_all(exp.Literal) if literal.is_string}
    assert "it's" in labels or "ENUM(" in text
    alone = bounded_query(SCHEMA, KEY, RAW, exp.to_table("raw"), dialect, unique=True)
    assert "OVER" not in alone and "MD5" not in alone


def test_a_join_is_on_the_unit():
    other = Schema.load({"table": {"name": "s", "unit": "whose", "rows": 1}, "columns": {"x": {"type": "boolean"}}})
    tables = {
        "t": bounded_table(SCHEMA, KEY, RAW, "t0", Trino()),
        "s": bounded_table(other, KEY, {"whose": RawColumn("text", exp.column("whose"))}, "t1", Trino()),
    }
    (part,) = statements(QueryPlan(Join(SCHEMA.scan(), other.scan()), (), (RowCount(),)), Trino(), tables)
    text = Trino().render(part.tree)
    assert "JOIN" in text and "CAST(r0.u AS VARCHAR) = CAST(r1.u AS VARCHAR)" in text  # one is a number, one is text


def test_what_a_dialect_must_say_itself_is_asked_for():
    class Bare(Dialect):
        name = "trino"

    with pytest.raises(NotImplementedError):
        Bare().date_part("year", exp.column("x"))
    assert Bare().render(case((missing(exp.column("a")), constant(1)), otherwise=constant("it's"))) == (
        "(CASE WHEN (a IS NULL) THEN 1 ELSE 'it''s' END)"
    )
    assert Bare().render(there(exp.column("a"))) == "(NOT (a IS NULL))"


@pytest.mark.parametrize("d", [PostgresDialect(), DuckDBDialect(), SparkDialect()], ids=lambda d: type(d).__name__)
def test_no_column_is_hidden_in_a_text(d):
    """What a tree uses is looked up in it, so that a column which only its text names would not be there."""
    c, ends = exp.column("c0"), range(5, 60)
    made = [d.lookup(Typed(c.copy(), 32), keys, list(ends)) for keys in (list(ends), [str(i) for i in ends])]
    made += [
        d.hexadecimal(d.md5(c.copy()), 7),
        d.text(c.copy()),
        d.whole(c.copy()),
        d.flag(c.copy()),
        d.is_nan(c.copy()),
    ]
    made += [
        d.bounded(c.copy(), 0.0, 1.0),
        d.scaled(c.copy(), 0.5),
        d.total(c.copy(), 128),
        d.date_part("year", c.copy()),
    ]
    for tree in made:
        assert {column.name for column in tree.find_all(exp.Column)} == {"c0"}
        assert not any("c0" in var.name for var in tree.find_all(exp.Var))
