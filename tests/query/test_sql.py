"""SQL: what is accepted means what it says, all else is refused with its place, and nothing else is ever raised."""

import datetime
import random
import re
import string
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit.query.select.aggregates as ask
from tacit.core.errors import BadQuestion
from tacit.query.python.column_expressions import ColumnExpression, case, least
from tacit.query.python.table import Table
from tacit.query.schema.public_table import PublicTable
from tacit.query.schema.schema import Schema
from tacit.query.select.query import Query
from tacit.query.sql.lexer import Options
from tacit.query.sql.parser import parse

from . import render

PEOPLE = Schema.load(
    """
    [table]
    name = "people"
    unit = "person_id"
    rows = 10
    groups = 3
    [columns]
    age = {type = "integer", lower = 0, upper = 120}
    spend = {type = "real", lower = 0, upper = 500, grid = 0.0078125}
    region = {type = "category", values = ["north", "south"]}
    joined = {type = "date", lower = 2015-01-01, upper = 2025-12-31}
    note = {type = "text"}
    member = {type = "boolean"}
    free = {type = "integer"}
    """
)
VISITS = Schema.load(
    """
    [table]
    name = "visits"
    unit = "person_id"
    rows = 5
    [columns]
    cost = {type = "integer", lower = 0, upper = 1000}
    age = {type = "integer", lower = 0, upper = 120}
    """
)
ROWS = [("north", 1.5, "a"), ("south", 2.0, "b"), ("west", 3.0, "a")]
REGIONS = PublicTable([dict(zip(("region", "pop", "zone"), row, strict=True)) for row in ROWS], "regions")
TODAY = datetime.date(2024, 6, 30)
people = Table([], PEOPLE)
TABLES: dict[str, Table | Schema] = {"people": people, "visits": VISITS}


def read(text: str) -> Query:
    return parse(text, TABLES, {"regions": REGIONS}, TODAY).query


def corpus(name: str, mark: str) -> list[tuple[str, str]]:
    blocks = (Path(__file__).parent / "corpus" / name).read_text("utf-8").strip().split("\n\n")
    return [(sql, expected) for sql, _, expected in (block.rpartition(f"\n{mark} ") for block in blocks)]


ACCEPTED, REFUSED = corpus("accepted.sql", "-->"), corpus("refused.sql", "--!")


def test_the_corpus_is_large() -> None:
    assert len(ACCEPTED) >= 100
    assert len(REFUSED) >= 150
    assert len({sql for sql, _ in ACCEPTED + REFUSED}) == len(ACCEPTED) + len(REFUSED)


@pytest.mark.parametrize(("sql", "expected"), ACCEPTED)
def test_accepted_text_means_what_it_says(sql: str, expected: str) -> None:
    assert render.query(read(sql)) == expected


@pytest.mark.parametrize(("sql", "expected"), REFUSED)
def test_refused_text_says_where_and_why(sql: str, expected: str) -> None:
    with pytest.raises(BadQuestion) as caught:
        read(sql)
    line, column = caught.value.position or (0, 0)
    assert f"{line}:{column} {caught.value.reason}" == expected
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


def test_options_are_read_as_numbers() -> None:
    options = "OPTIONS (epsilon = 1.5, DELTA = 1e-6, max_groups_contributed = 2)"
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY {options} COUNT(*) FROM people"
    assert parse(text, TABLES).options == Options(Fraction(3, 2), Fraction(1, 10**6), None, 2, None)
    text = "SELECT WITH ANONYMIZATION OPTIONS (rho = .25, max_rows_contributed = 10) COUNT(*) FROM people"
    assert parse(text, TABLES).options == Options(rho=Fraction(1, 4), rows=10)
    assert parse("SELECT WITH ANONYMIZATION OPTIONS () COUNT(*) FROM people", TABLES).options == Options()
    assert parse("SELECT COUNT(*) FROM people", {"people": PEOPLE}).options == Options()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("COUNT(*) FROM people WHERE age>3", "\n count ( * ) /* all */ from  People where AGE > 3 -- x\n;"),
        (
            "COUNT(*) FROM people WHERE (age > 3 AND member) AND region = 'north'",
            "COUNT(*) FROM people WHERE age >= 4 AND (member AND 'north' = region)",
        ),
        ("COUNT(*) FROM people WHERE age BETWEEN 3 AND 9", "COUNT(*) FROM people WHERE 3 <= age AND 9 >= age"),
        ("COUNT(*) FROM people WHERE NOT NOT member", "COUNT(*) FROM people p WHERE p.member"),
        ("region, COUNT(*) FROM people GROUP BY 1", "p.region, COUNT(*) FROM people AS p GROUP BY p.region"),
        ("region, COUNT(*) FROM people GROUP BY 1", "region, COUNT(*) FROM people GROUP BY ALL"),
        (
            "age / 2 AS half, TOP_K(region, 2) AS top, member, COUNT(*) FROM people GROUP BY half, member",
            "age / 2 AS half, TOP_K(region, 2) AS top, member, COUNT(*) FROM people GROUP BY ALL",
        ),
        ("COUNT(*) FROM people", "COUNT(*) FROM people GROUP BY ALL"),
        (
            "AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS x",
            "AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY ALL) AS x",
        ),
        ("AVG(age) FROM people WHERE age > 3", "AVG(age) FROM (SELECT * FROM people WHERE age > 3) AS x"),
        ("SUM(age) FILTER (WHERE member) AS s FROM people", "SUM(CASE WHEN member THEN age END) AS s FROM people"),
        ("VARIANCE(age) FROM people", "VAR_POP(age) FROM people"),
        (
            "COUNT(*) FROM people p JOIN visits v USING (person_id)",
            "COUNT(*) FROM people p JOIN visits v ON v.person_id = p.person_id",
        ),
    ],
)
def test_equal_meaning_gives_equal_questions(one: str, other: str) -> None:
    assert read(f"SELECT {one}") == read(f"SELECT {other}")


def test_a_table_whose_rows_are_units_has_no_unit_to_name() -> None:
    schema = Schema.load({"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "boolean"}}})
    assert render.query(parse("SELECT COUNT(*) FROM t", {"t": schema}).query) == "t(1) | count = count()"
    counted = parse("SELECT COUNT(DISTINCT x) FROM t", {"t": schema}).query
    assert render.query(counted) == "t(1) | distinct_x = distinct(x)"
    with pytest.raises(BadQuestion, match="joined only on their units"):
        parse("SELECT COUNT(*) FROM t AS a JOIN t AS b USING (x)", {"t": schema})


def test_names_of_any_kind_can_be_quoted() -> None:
    names = ['a"b', "a;b", "select", "Ünïcode", "a b", "--", "/*", "'", "\u202eabc"]
    columns = {name: {"type": "integer", "lower": 0, "upper": 9} for name in names}
    schema = Schema.load({"table": {"name": "t", "unit": "who is it", "rows": 2}, "columns": columns})
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        query = parse(f'SELECT SUM({quoted}) AS s, COUNT(DISTINCT "who is it") AS n FROM t', {"t": schema}).query
        assert render.query(query) == f"t(2) | s = sum({name}), n = units()"


# both doors: the same tree written in SQL and in Python

Pair = tuple[str, ColumnExpression]

PLAIN = [
    ("region = 'north'", people.region == "north"),
    ("note LIKE 'a%'", people.note.like("a%")),
    ("member", people.member),
    ("age IS NULL", people.age.is_missing()),
    ("age IN (1, 2.5, 300)", people.age.is_in([1, 2.5, 300])),
    ("spend BETWEEN 1 AND 2.001", people.spend.between(1, 2.001)),
    ("YEAR(joined) = 2020", people.joined.part("year") == 2020),
]
AGGREGATES: list[tuple[str, Callable[[ColumnExpression], ask.UnboundAggregate]]] = [
    ("SUM({})", ask.sum_),
    ("AVG({})", ask.mean),
    ("COUNT({})", ask.count),
    ("VARIANCE({})", ask.variance),
    ("STDDEV({})", ask.stddev),
    ("MEDIAN({})", ask.median),
    ("MIN({})", ask.min_),
    ("MAX({})", ask.max_),
    ("QUANTILE({}, 0.2)", lambda a: ask.quantile(a, 0.2)),
]
KEYS = [
    ("region", "region", people.region),
    ("FLOOR(age / 10) * 10", "band", people.age // 10 * 10),
    ("DATE_TRUNC('year', joined)", "year", people.joined.trunc("year")),
    ("CASE WHEN age < 18 THEN 'young' ELSE 'old' END", "who", case((people.age < 18, "young"), otherwise="old")),
]


def number(rng: random.Random, depth: int) -> Pair:
    if depth == 0:
        cast = ("CAST(member AS INT)", people.member.cast("integer"))
        return rng.choice([("age", people.age), ("spend", people.spend), cast])
    (a, x), c = number(rng, depth - 1), rng.choice([1, 2, 10, 0.5, 7.25])
    match rng.randrange(10):
        case 0:
            return f"({a} + {c})", x + c
        case 1:
            return f"({c} - {a})", c - x
        case 2:
            return f"{a} * {c}", x * c
        case 3:
            return f"FLOOR({a} / {c})", x // c
        case 4:
            b, y = number(rng, depth - 1)
            return f"({a} + {b})", x + y
        case 5:
            b, y = number(rng, depth - 1)
            return f"LEAST({a}, {b})", least(x, y)
        case 6:
            return f"ABS({a})", abs(x)
        case 7:
            return f"ROUND({a}, 1)", x.round(1)
        case 8:
            return f"COALESCE({a}, 3)", x.coalesce(3)
    b, y = condition(rng, depth - 1)
    return f"CASE WHEN {b} THEN {a} ELSE 2 END", case((y, x), otherwise=2)


def condition(rng: random.Random, depth: int) -> Pair:
    if depth == 0:
        return rng.choice(PLAIN)
    match rng.randrange(6):
        case 0:
            (a, x), (b, y) = condition(rng, depth - 1), condition(rng, depth - 1)
            return f"({a} AND {b})", x & y
        case 1:
            (a, x), (b, y) = condition(rng, depth - 1), condition(rng, depth - 1)
            return f"({a} OR {b})", x | y
        case 2:
            a, x = condition(rng, depth - 1)
            return f"NOT ({a})", ~x
    (a, x), c = number(rng, depth - 1), rng.choice([0, 3.5, 20, 1000])
    operator, compared = rng.choice([("=", x == c), ("<>", x != c), ("<", x < c), (">=", x >= c), (">", x > c)])
    return f"{a} {operator} {c}", compared


@settings(max_examples=400)
@given(st.randoms(use_true_random=False))
def test_both_doors_ask_the_same_question(rng: random.Random) -> None:
    rows: Any = people
    end = ""
    if rng.random() < 0.5:
        text, term = condition(rng, 3)
        rows, end = rows.where(term), f" WHERE {text}"
    keys = rng.sample(KEYS, rng.randrange(3))
    try:
        asked = rows.group_by(**{name: term for _, name, term in keys})
    except BadQuestion:
        by = ", ".join(text for text, _, _ in keys)
        with pytest.raises(BadQuestion, match="leave no group"):
            read(f"SELECT COUNT(*) FROM people{end} GROUP BY {by}")
        return
    shown = [f"{text} AS {name}" for text, name, _ in keys]
    for i, (form, make) in enumerate(rng.sample(AGGREGATES, rng.randint(1, 3))):
        text, term = number(rng, rng.randrange(4))
        shown.append(f"{form.format(text)} AS a{i}")
        asked = asked.aggregate(**{f"a{i}": make(term)})
    if keys:
        end += f" GROUP BY {', '.join(name for _, name, _ in keys)}"
    if rng.random() < 0.5:
        end += " HAVING a0 > 3 AND NOT a0 * 2 = 10"
        asked = asked.having((asked["a0"] > 3) & ~(asked["a0"] * 2 == 10))
    if rng.random() < 0.5:
        end += " ORDER BY a0 DESC LIMIT 4"
        asked = asked.order_by("-a0").limit(4)
    assert read(f"SELECT {', '.join(shown)} FROM people{end}") == asked.query


def test_both_doors_ask_the_same_of_units_and_joins() -> None:
    visits = Table([], VISITS)
    per_unit = people.per_unit("region", total=ask.sum_("spend"), n=ask.count()).where(lambda t: t.n > 2)
    sql = """SELECT region, AVG(total) FROM (
               SELECT person_id, region, SUM(spend) AS total, COUNT(*) AS n FROM people
               GROUP BY person_id, region HAVING COUNT(*) > 2) AS t GROUP BY region"""
    assert read(sql) == per_unit.group_by("region").mean("total").query
    joined = people.join(visits)
    sql = "SELECT SUM(v.age) AS s FROM people AS p JOIN visits AS v USING (person_id)"
    assert read(sql) == joined.aggregate(s=ask.sum_("visits_age")).query
    derived = people.derive(double=people.age * 2)
    sql = "SELECT AVG(double) FROM (SELECT *, age * 2 AS double FROM people) AS t"
    assert read(sql) == derived.mean("double").query


# hostile text

DEEP = 3000
MADE = [
    "",
    " ",
    "\0",
    "SELECT \0",
    "SELECT COUNT(*) FROM people\0",
    "\ufeff",
    "SELECT COUNT(*) FROM people WHERE " + "(" * DEEP + "1" + ")" * DEEP,
    "SELECT COUNT(*) FROM people WHERE " + "(" * DEEP,
    "SELECT COUNT(*) FROM people WHERE " + "NOT " * DEEP + "member",
    "SELECT SUM(" + "-" + " -" * DEEP + "age) FROM people",
    "SELECT SUM(" + "age + " * DEEP + "age) FROM people",
    "SELECT COUNT(*) FROM people WHERE " + "member AND " * DEEP + "member",
    "SELECT COUNT(*) FROM people WHERE " + "member OR NOT member AND " * 1000 + "member",
    "SELECT " + "CASE WHEN member THEN " * 500 + "1" + " END" * 500 + " FROM people",
    "SELECT SUM(" + "LEAST(spend, " * 60 + "age" + ")" * 60 + ") FROM people",
    "SELECT SUM(" + "ABS(-1 + " * 60 + "age" + ")" * 60 + ") FROM people",
    "SELECT " + "COALESCE(COUNT(*), " * 60 + "1" + ")" * 60 + " FROM people",
    "SELECT " + "GREATEST(LEAST(COUNT(*), 3), " * 30 + "1" + ")" * 30 + " FROM people",
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 60 + "people" + ") AS x" * 60,
    "SELECT COUNT(*) FROM " + "(" * 60 + "people" + ")" * 60,
    "SELECT COUNT(*) FROM people" + " JOIN people USING (person_id)" * 100,
    "WITH a0 AS (SELECT person_id, COUNT(*) AS n FROM people GROUP BY person_id)"
    + "".join(
        f", a{i} AS (SELECT x.person_id, x.n AS n FROM a{i - 1} AS x JOIN a{i - 1} AS y USING (person_id))"
        for i in range(1, 60)
    )
    + " SELECT COUNT(*) FROM a59",
    "WITH "
    + ", ".join(f"a{i} AS (SELECT * FROM {f'a{i - 1}' if i else 'people'})" for i in range(200))
    + " SELECT COUNT(*) FROM a199",
    "SELECT " + "a" * 60000 + " FROM people",
    "SELECT COUNT(*) AS " + "n" * 60000 + " FROM people",
    'SELECT COUNT(*) AS "' + "n" * 129 + '" FROM people',
    'SELECT COUNT(*) AS "a\nb" FROM people',
    "SELECT COUNT(*) FROM people WHERE note = '" + "x" * (1 << 20) + "'",
    "x" * (1 << 20),
    "é" * 40000,
    "SELECT COUNT(*) FROM people WHERE age = " + "9" * 5000,
    "SELECT COUNT(*) FROM people WHERE age = 1e" + "9" * 100,
    "SELECT COUNT(*) FROM people LIMIT " + "9" * 5000,
    "SELECT COUNT(*) FROM people GROUP BY " + "1, " * 2000 + "1",
    "SELECT COUNT(*) FROM people GROUP BY " + ", ".join(["age"] * 50),
    "SELECT COUNT(*) FROM people WHERE age IN (" + ", ".join(map(str, range(5000))) + ")",
    "SELECT COUNT(*) FROM people WHERE note = '\ud800'",
    "SELECT COUNT(*) FROM people WHERE note = '\u202e; DROP'",
    "SELECT COUNT(*) FROM people WHERE age = '\uff11'",
    "SELECT COUNT(*) FROM people WHERE age = \uff11",
    "SELECT COUNT(*) FROM p\u0435ople",
]
HOSTILE = (Path(__file__).parent / "corpus" / "hostile.sql").read_text("utf-8").splitlines() + MADE


def only_refused(text: str) -> bool:
    """Whether a text is refused; whatever it is, nothing but BadQuestion is raised, with a place in the text."""
    try:
        read(text)
    except BadQuestion as refused:
        line, column = refused.position or (0, 0)
        message = str(refused)
    else:
        return False
    assert 1 <= line <= text.count("\n") + 1
    assert 1 <= column <= len(text) + 1
    assert len(message) < 1500
    return True


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_refused_or_harmless(text: str) -> None:
    only_refused(text)


@pytest.mark.parametrize("thing", [None, 3, b"SELECT 1", ["SELECT"]])
def test_what_is_no_text_is_refused(thing: Any) -> None:
    with pytest.raises(BadQuestion, match="must be text"):
        read(thing)


WORDS = (Path(__file__).parent / "corpus" / "words.txt").read_text("utf-8").split()


def mutated(rng: random.Random, texts: list[str]) -> str:
    """A text with some of its words changed, taken away, repeated or moved, or some of its characters."""
    words = re.findall(r"\w+|\s+|[^\w\s]", rng.choice(texts))
    for _ in range(rng.randint(1, 6)):
        i = rng.randrange(len(words) + 1)
        match rng.randrange(6):
            case 0:
                words[i : i + 1] = []
            case 1:
                words[i:i] = [" ", rng.choice(WORDS), " "]
            case 2:
                words[i : i + 1] = [rng.choice(WORDS)]
            case 3:
                words[i:i] = words[i : i + rng.randint(1, 8)]
            case 4:
                other = re.findall(r"\w+|\s+|[^\w\s]", rng.choice(texts))
                words = words[:i] + other[rng.randrange(len(other)) :]
            case 5:
                words[i:i] = [chr(rng.choice([rng.randrange(128), rng.randrange(0x3000), 0x202E, 0xFEFF, 0xD800]))]
        words = words or [rng.choice(string.printable)]
    return "".join(words)


def test_mutated_text_is_refused_or_harmless() -> None:
    rng = random.Random(20)  # the same texts on every machine
    texts = [sql for sql, _ in ACCEPTED + REFUSED]
    refused = sum(only_refused(mutated(rng, texts)) for _ in range(5000))
    assert 2000 < refused < 5000
