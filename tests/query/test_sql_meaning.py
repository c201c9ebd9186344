"""Expressions of SQL mean on each row what a database says they mean."""

import datetime
import itertools
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.query.plan.plan import QueryPlan, Total, UnitCount
from tacit.query.plan.plan import RowCount as Counted
from tacit.query.python.table import Table
from tacit.query.schema.schema import Schema
from tacit.query.select.query import Aggregate, Query
from tacit.query.sql.parser import parse
from tacit.query.values.domain import EPOCH, ValueDomain
from tacit.query.values.nodes import Expression

from .test_sql import ACCEPTED, PEOPLE, VISITS, read
from .test_sql import ROWS as PUBLIC

NUMBERS = """
age + spend * 2 - 1
age * spend
-age + 3
age / 4
(age - 60) % 7
FLOOR(spend / 7) * 7
CEIL(spend - 250.5)
FLOOR(-spend)
ABS(age - 60.5)
ROUND(spend - 250, 1)
ROUND(spend, -1)
ROUND(age / 8, 2)
CAST(member AS INT) + age
CAST(spend + 0.001 AS INT)
CAST(age > 30 AS INT)
COALESCE(age, spend, 3)
COALESCE(NULLIF(age, 30), -1)
NULLIF(age, 30)
CASE WHEN age > 60 THEN spend WHEN age > 30 THEN 1.5 END
CASE WHEN member THEN age WHEN age < 50 THEN 0 ELSE spend END
CASE region WHEN 'north' THEN 1 WHEN 'south' THEN 2 ELSE 3 END
CASE age WHEN 30 THEN 1 ELSE 0 END
EXTRACT(YEAR FROM joined)
EXTRACT(QUARTER FROM joined) * 100 + EXTRACT(MONTH FROM joined)
EXTRACT(DAY FROM joined)
EXTRACT(DOW FROM joined)
EXTRACT(ISODOW FROM joined)
EXTRACT(DOY FROM joined)
EXTRACT(WEEK FROM joined)
WEEK(joined + INTERVAL '40' DAY)
WEEKOFYEAR(joined) + 1
POWER(age - 60, 2)
POWER(age - 60, 3) - POW(spend, 1)
joined - DATE '2020-02-29'
SIGN(age - 60)
SIGN(spend - 100)
TRUNC(spend - 250)
LENGTH(region) * 10 + STRPOS(region, 'o')
POSITION('th' IN region)
EXTRACT(EPOCH FROM joined)
CAST(spend - 250 AS DECIMAL(10, 1))
""".strip().splitlines()
CONDITIONS = """
age > 30 AND spend < 250
age > 30 OR member
NOT (age > 30 AND member)
age BETWEEN 30.5 AND 60
age NOT BETWEEN spend AND 60
age IN (30, 31.5, 40, 1000)
age NOT IN (30, 40)
age IN (30, NULL)
age NOT IN (30, NULL)
region IN ('north')
region <> 'north'
region LIKE 'n%'
region LIKE '_o_th'
region NOT LIKE '%u%'
region ILIKE 'N%'
region NOT ILIKE '_OuTh'
LOWER(region) = 'north'
UPPER(region) IN ('NORTH', 'SOUTH')
LOWER('NORTH') = region
note = 'a%b'
note LIKE 'a%'
note LIKE '%a%b%'
note NOT LIKE '%a'
note LIKE ''
note LIKE '%'
member
member IS TRUE
member IS NOT TRUE
member IS FALSE
member IS NOT FALSE
age IS NULL
age IS NOT NULL AND member IS NOT NULL
(age > 30) IS NULL
age IS DISTINCT FROM 30
age IS NOT DISTINCT FROM NULL
age = NULL
age <> spend
age < spend / 4
spend > 1.99999
spend >= 100.0078125
0.1 < age
joined < '2020-02-29'
joined >= DATE '2020-02-29' AND joined <> DATE '2021-01-01'
joined + INTERVAL '7' DAY > DATE '2020-02-29'
DATE_TRUNC('month', joined) = DATE '2020-02-01'
DATE_TRUNC('week', joined) = DATE '2020-02-24'
DATE_TRUNC('year', joined) <= DATE '2019-12-31'
CASE WHEN age > 30 THEN member ELSE spend > 250 END
COALESCE(member, FALSE)
member = (age > 30)
joined + INTERVAL '1 month' > DATE '2020-03-28'
joined - INTERVAL '13 months' <= DATE '2019-01-29'
joined + INTERVAL '1 year 2 days' = DATE '2021-03-02'
SUBSTR(region, 2, 3) = 'ort'
SUBSTRING(region, 4) = 'th'
LEFT(region, 2) = 'no'
LEFT(region, -2) = 'nor'
RIGHT(region, 3) = 'rth'
RIGHT(region, -2) = 'uth'
TRIM(region) = 'north'
REPLACE(region, 'th', 'ff') = 'norff'
REVERSE(region) = 'htuos'
SPLIT_PART(region, 'o', 2) = 'uth'
region || '-' || region = 'north-north'
region || 'x' = 'southx'
CONCAT(region, 'x') = 'x'
region || CAST(member AS TEXT) = 'northtrue'
CAST(age AS TEXT) = '30'
CAST(EXTRACT(YEAR FROM joined) AS VARCHAR) = '2020'
CAST(joined AS TEXT) = '2020-02-29'
DAYNAME(joined) = 'Saturday'
MONTHNAME(joined) IN ('February', 'May')
1 = 1 AND age > 30
age > 30 OR FALSE
""".strip().splitlines()


def some_rows(n: int) -> list[dict[str, Any]]:
    rng = random.Random(3)
    choices: dict[str, list[Any]] = {
        "age": [None, 0, 30, 31, 40, 60, 61, 120, *range(0, 121, 7)],
        "spend": [
            None,
            0.0,
            1.9921875,
            2.0,
            100.0,
            100.0078125,
            250.5,
            500.0,
            *(i / 128 for i in range(0, 64000, 3001)),
        ],
        "region": [None, "north", "south"],
        "joined": [None, datetime.date(2020, 2, 29), datetime.date(2019, 12, 31), datetime.date(2021, 1, 1)]
        + [datetime.date(2015, 1, 1) + datetime.timedelta(days=i) for i in range(0, 4000, 97)],
        "note": [None, "", "a", "b", "ab", "aab", "xaxbx", "a%b", "north"],
        "member": [None, True, False],
    }
    return [{name: rng.choice(values) for name, values in choices.items()} for _ in range(n)]


def step(value: Any, d: ValueDomain) -> Any:
    """A cell as steps of its column."""
    match d.kind:
        case _ if value is None:
            return None
        case "category":
            return d.labels.index(value)
        case "date":
            return (value - EPOCH).days
        case "number":
            return int(Fraction(value) / d.grid)
    return value if d.kind == "text" else int(value)


def ours(text: str) -> Expression:
    ((_, aggregate),) = parse(f"SELECT COUNT({text}) AS n FROM people", {"people": PEOPLE}).query.aggregates
    assert aggregate.expression is not None
    return aggregate.expression


ROWS = some_rows(400)


@pytest.fixture(scope="module")
def database() -> Any:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people (age INT, spend DOUBLE, region TEXT, joined DATE, note TEXT, member BOOLEAN)"
    )
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", [list(row.values()) for row in ROWS])
    return connection


@pytest.mark.parametrize("text", [*NUMBERS, *CONDITIONS])
def test_an_expression_means_what_a_database_says(database: Any, text: str) -> None:
    e = ours(text)
    theirs = [value for (value,) in database.execute(f"SELECT {text} FROM people ORDER BY rowid").fetchall()]
    for row, expected in zip(ROWS, theirs, strict=True):
        found = e.meaning({name: step(value, PEOPLE.domain(name)) for name, value in row.items()})
        if expected is None or found is None:
            assert found is expected is None, row
        elif e.domain.kind == "boolean":
            assert bool(found) is expected, row
        else:
            assert float(found * e.domain.grid) == pytest.approx(float(expected), abs=1e-9), row


@pytest.mark.parametrize("engine", [DuckDB, Reference])
def test_quotients_mean_what_a_database_says(engine: Any) -> None:
    ends = [None, -20000, -19999, -10000, -7, -2, -1, 0, 1, 2, 7, 10000, 19999, 20000]
    rows = [{"i": i, "a": a, "b": b} for i, (a, b) in enumerate(itertools.product(ends, repeat=2))]
    bounds = 'type = "integer", lower = -20000, upper = 20000'
    schema = Schema.load(
        f"""[table]\nname = "t"\nunit = "row"\n[columns]\na = {{{bounds}}}\nb = {{{bounds}}}
        i = {{type = "integer", lower = 0, upper = {len(rows) - 1}}}"""
    )
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (i INT, a INT, b INT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row.values()) for row in rows])
    made = engine()
    made.register(Table(rows, schema), "0" * 32)
    for text, theirs in (
        ("a DIV b", "a // nullif(b, 0)"),
        ("(-19999) DIV b", "(-19999) // nullif(b, 0)"),
        ("a DIV 10000", "a // 10000"),
        ("a DIV -7", "a // -7"),
        ("a / b", "a / nullif(b, 0)"),
        ("1 / b", "1 / nullif(b, 0)"),
    ):
        query = parse(f"SELECT i, COUNT({text}), SUM({text}) FROM t GROUP BY i", {"t": schema}).query
        _, (_, total) = query.aggregates
        assert total.expression is not None
        e = total.expression
        n, sums = made.answer(QueryPlan(query.relation, query.keys, (Counted(e), Total(e)))).cells
        expected = [v for (v,) in connection.execute(f"SELECT {theirs} FROM t ORDER BY i").fetchall()]
        assert n.tolist() == [int(v is not None) for v in expected]
        found = [float(int(step) * e.domain.grid) for step in sums]
        grid = float(e.domain.grid) if "/" in text else 0
        assert grid <= 2**-10
        assert all(0 <= (v or 0) - x <= grid + 1e-12 * abs(x) for v, x in zip(expected, found, strict=True)), text
    made.close()


# whole questions

QUOTIENT = 1 / 1024  # what a quotient of two columns is rounded down to
COMPARED = ("count", "units", "sum", "mean")
OTHERWISE = (
    "LEAST(",
    "FILTER (WHERE member)",
    "SUM(member) AS m",
    "spend / age",
    "DAYOFWEEK",
    "CURRENT_DATE",  # another day there
    "SELECT LN(age)",  # rounded down to a grid here
    "TRY_CAST(spend AS INTEGER)",  # which rounds halves to even
)  # this database differs, as is stated


def exact(aggregate: Aggregate, plan: QueryPlan, engine: Reference) -> list[float | None]:
    """An aggregate of every cell, without noise."""
    e = aggregate.expression
    counts = UnitCount(e) if aggregate.kind == "units" else Counted(e)
    measures: tuple[Any, ...] = (
        (counts, counts if e is None else Total(e)) if aggregate.kind in ("sum", "mean") else (counts,)
    )
    n, *total = engine.answer(replace(plan, measures=measures)).cells
    if not total or e is None:
        return [float(x) for x in n]
    sums = [float(int(x) * e.domain.grid) for x in total[0]]
    return [None if not m else x / m if aggregate.kind == "mean" else x for x, m in zip(sums, map(int, n), strict=True)]


def answered(query: Query, engine: Reference) -> dict[tuple[Any, ...], tuple[float | None, ...]]:
    """Exact answers to a question, by the labels of its cells."""
    plan = QueryPlan(query.relation, query.keys, (Counted(),), query.groups)
    first = engine.answer(plan)
    cells = first.keys if first.keys is not None else itertools.product(*(key.values or () for key in plan.keys))
    columns = [exact(aggregate, plan, engine) for _, aggregate in query.aggregates]
    found = {}
    for cell, values in zip(cells, zip(*columns, strict=True), strict=True):
        pairs = zip(plan.keys, cell, strict=True)
        found[tuple(step if isinstance(step, str) else key.domain.label(step) for key, step in pairs)] = values
    return found


@pytest.fixture(scope="module")
def people_and_visits() -> Any:
    """The same rows of two tables in a database and in the reference engine: at most three and two of a unit."""
    rng = random.Random(5)
    people = [{"person_id": rng.randrange(200), **row, "free": rng.choice([None, -5, 2, 7])} for row in some_rows(300)]
    people = [row | {"spend": row["spend"] or 0.0} for row in people]  # a unit's sum of no values is 0 here
    people = [row for i, row in enumerate(people) if [r["person_id"] for r in people[:i]].count(row["person_id"]) < 3]
    visits = [{"person_id": i // 2, "cost": rng.randrange(1001), "age": rng.randrange(121)} for i in range(300)]
    connection, engine = duckdb.connect(), Reference()
    columns = "person_id INT, age INT, spend DOUBLE, region TEXT, joined DATE, note TEXT, member BOOLEAN, free INT"
    for name, kinds, rows, schema in (
        ("people", columns, people, PEOPLE),
        ("visits", "person_id INT, cost INT, age INT", visits, VISITS),
        ("regions", "region TEXT, pop DOUBLE, zone TEXT", [dict(zip("rpz", row, strict=True)) for row in PUBLIC], None),
    ):
        connection.execute(f"CREATE TABLE {name} ({kinds})")
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", [list(row.values()) for row in rows])
        if schema is not None:
            engine.register(Table(rows, schema), "0" * 32)
    return connection, engine


def day(value: Any) -> Any:
    return value.date() if isinstance(value, datetime.datetime) else value


def comparable(text: str) -> Query | None:
    query = read(text)
    names = [*(key.name for key in query.keys), *(name for name, _ in query.aggregates)]
    plain = [name for name, _ in query.outputs] == names and query.having is None and query.limit is None
    plain = plain and not query.then  # which `test_selections` compares
    known = query.aggregates and all(aggregate.kind in COMPARED for _, aggregate in query.aggregates)
    return query if plain and known and not any(part in text for part in OTHERWISE) else None


def test_questions_mean_what_a_database_says(people_and_visits: Any) -> None:
    connection, engine = people_and_visits
    compared = 0
    for text, _ in ACCEPTED:
        query = comparable(text)
        try:
            rows = [] if query is None else connection.execute(text).fetchall()
        except duckdb.Error:
            continue  # not of its dialect
        if query is None:
            continue
        compared += 1
        n = len(query.keys)
        theirs = {tuple(map(day, row[:n])): row[n:] for row in rows if None not in row[:n]}
        ours = answered(query, engine)
        assert theirs.keys() <= ours.keys(), text
        for cell, values in ours.items():
            expected = theirs.get(cell, values if not any(values) else ())
            assert [x and float(x) for x in expected] == pytest.approx(list(values), abs=QUOTIENT), (text, cell)
    assert compared >= 70
