"""How DuckDB computes a question depends on the question alone: the same operators, whatever one unit adds."""

import re

import pyarrow as pa
import pytest

import tacit
from tacit.engines.duckdb.engine import DuckDB
from tacit.query.plan import compiler
from tacit.query.sql import parser

SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 100
[columns.v]
type = "integer"
lower = 0
upper = 1000
[columns.s]
type = "category"
values = ["a", "b", "c"]
"""
HEAVY = " + ".join(f"((v * {i % 7 + 2} + {i}) % 101)" for i in range(20))
QUESTIONS = [
    "SELECT COUNT(*) FROM people WHERE v = 777",
    "SELECT COUNT(*) FROM people WHERE v > 500 AND s = 'a'",
    f"SELECT COUNT(*) FROM people WHERE v = 777 AND {HEAVY} > 5",
    "SELECT s, COUNT(*), SUM(v) FROM people WHERE v IN (777, 778, 779) GROUP BY s",
    "SELECT COUNT(DISTINCT person) FROM people WHERE s = 'c'",
    "SELECT MEDIAN(v) FROM people WHERE v BETWEEN 700 AND 800",
    "SELECT COUNT(*) FROM people a JOIN (SELECT person, v AS w FROM people) b ON a.person = b.person WHERE w = 777",
    "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM people WHERE v = 777 GROUP BY person)",
    "SELECT v DIV 100 AS k, COUNT(*) FROM people WHERE v * 2 = 1554 GROUP BY k",
]


def plans(rows, copies=None):
    """The physical plan of each question, without the numbers that are estimates."""
    data = pa.table({"person": [p for p, _ in rows], "v": [v for _, v in rows], "s": ["ab"[v % 2] for _, v in rows]})
    table, found = tacit.Table(data, SCHEMA), []
    with DuckDB(copies) as engine:
        engine.register(table, "0" * 32)
        for question in QUESTIONS:
            plan = compiler.plan(parser.parse(question, {"people": table}).query, {"people": table.schema})
            for _, text, _ in engine._translated(plan):
                ((_, shown),) = engine._database.execute(f"EXPLAIN {text}").fetchall()
                found.append(re.sub(r"[\s│]+", " ", re.sub(r"~[\d,]+ rows?", "", shown)))
    return found


OTHERS = [(person, person % 50) for person in range(3000)]


@pytest.mark.parametrize(
    "unit",
    [[(9999, 777)], [(9999, 777)] * 100, [(9999, 0)], [(-5, 1000)], [(9999, v) for v in range(700, 800)]],
    ids=["one row", "many rows", "the least", "the largest", "a range"],
)
def test_the_plan_of_a_question_is_the_same_with_and_without_a_unit(unit):
    assert plans(OTHERS) == plans([*OTHERS, *unit])


def test_the_plan_of_a_question_is_the_same_for_any_table():
    """Also for an empty one, and for one row."""
    several = [plans(rows) for rows in ([], [(1, 5)], OTHERS, [(p, 777) for p in range(10_000)])]
    assert all(found == several[0] for found in several)
