"""Cohorts: who is in one depends on the rows of that unit alone, in SQL as in Python, over one table or two."""

from pathlib import Path

import pytest

import tacit
from tacit.core.errors import BadQuestion

SCHEMA = """
[table]
name = "{}"
unit = "person"
rows = 3
[columns.x]
type = "integer"
lower = 0
upper = 9
"""
PEOPLE = [{"person": i, "x": i % 10} for i in range(100) for _ in range(2)]
VISITS = [{"person": str(i), "x": i % 10} for i in range(0, 100, 2)]


@pytest.fixture
def curator(tmp_path: Path) -> tacit.Curator:
    tables = [tacit.Table(rows, SCHEMA.format(name)) for name, rows in (("people", PEOPLE), ("visits", VISITS))]
    return tacit.Curator(*tables, ledger=tmp_path / "l", budget=tacit.Budget(epsilon=10**6))


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("person IN (SELECT person FROM visits)", 100),
        ("person NOT IN (SELECT person FROM visits)", 100),
        ("person NOT IN (SELECT person FROM visits WHERE x > 3) AND x < 5", 60 + 20),
        ("person IN (SELECT person FROM people GROUP BY person HAVING COUNT(*) > 2)", 0),
        ("EXISTS (SELECT 1 FROM visits AS v WHERE v.person = people.person AND v.x = 2)", 20),
        ("NOT (EXISTS (SELECT 1 FROM visits AS v WHERE people.person = v.person)) AND x > 8", 20),
        ("NOT NOT person IN (SELECT v.person FROM visits AS v JOIN people USING (person) WHERE v.x = 4)", 20),
    ],
)
def test_a_cohort_has_the_rows_of_its_units(curator: tacit.Curator, where: str, rows: int) -> None:
    sql = f"SELECT COUNT(*) AS n FROM people WHERE {where}"
    offer = curator.offer(sql, epsilon=10**4)
    assert offer.steps[0].mechanism.sensitivity.l1 == 3  # the rows of one unit, as without a cohort
    assert curator.ask(sql, epsilon=10**4)["n"].tolist() == [rows]
    curator.close()


def test_the_same_cohort_in_python_is_the_same_question(curator: tacit.Curator) -> None:
    people, visits = curator.tables["people"], curator.tables["visits"]
    curator.ask("SELECT COUNT(*) FROM people WHERE x < 5 AND person NOT IN (SELECT person FROM visits)", epsilon=200)
    assert curator.offer(people.where(people.x < 5).of_units(visits, inside=False).count(), epsilon=200).bought
    assert not curator.offer(people.where(people.x < 5).of_units(visits).count(), epsilon=200).bought
    with pytest.raises(BadQuestion, match="other rows of the same units"):
        people.of_units("visits")  # type: ignore[arg-type]
    curator.close()


def test_rows_that_are_units_have_no_cohorts() -> None:
    alone = tacit.Table([], SCHEMA.format("t").replace('"person"', '"row"').replace("rows = 3", "rows = 1"))
    with pytest.raises(BadQuestion, match="each row is a unit"):
        alone.of_units(alone)


def test_a_cohort_narrows_the_parts_that_are_charged(tmp_path: Path) -> None:
    schema = """
[table]
name = "t"
unit = "person"
rows = 2
partition = "region"
[columns.region]
type = "category"
values = ["north", "south"]
"""
    table = tacit.Table([{"person": i, "region": "north"} for i in range(9)], schema)
    ask = "SELECT COUNT(*) FROM t WHERE person {} (SELECT person FROM t WHERE region = 'north')"
    with tacit.Curator(table, ledger=tmp_path / "l", budget=tacit.Budget(epsilon=1)) as curator:
        curator.ask(ask.format("IN"), epsilon="0.25")
        assert float(curator.remaining_for("SELECT COUNT(*) FROM t WHERE region = 'south'")) == 1
        curator.ask(ask.format("NOT IN"), epsilon="0.25")
        assert float(curator.remaining_for("SELECT COUNT(*) FROM t WHERE region = 'south'")) == 0.75
        assert float(curator.remaining_for("SELECT COUNT(*) FROM t WHERE region = 'north'")) == 0.5
