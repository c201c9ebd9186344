"""Groups and their total: they add up where every row is in a group, and what may leave one out is refused."""

from __future__ import annotations

import datetime
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.accounting.budget import Budget
from tacit.core.errors import BadParameter, BadQuestion
from tacit.engines.rows.reference import Reference
from tacit.query.plan.draw import draw
from tacit.query.plan.offer import offer
from tacit.query.plan.plan import QueryPlan, RowCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.nullability import present, surely
from tacit.query.sql import parser
from tacit.release import Release, consistent
from tacit.testing.engines import key_of, mixed
from tacit.testing.sources import Seeded
from tacit.testing.worlds import World

SCHEMA = {
    "table": {"name": "people", "unit": "id", "rows": 2},
    "columns": {
        "age": {"type": "integer", "lower": 0, "upper": 9},
        "region": {"type": "category", "values": ["north", "south", "east"]},
        "member": {"type": "boolean"},
        "day": {"type": "date", "lower": datetime.date(2024, 1, 1), "upper": datetime.date(2024, 12, 31)},
    },
}
ROWS = [
    {
        "id": i // 2,
        "age": None if i % 7 == 0 else i % 10,
        "region": ["north", "south", "east", None][i % 4],
        "member": [True, False, None][i % 3],
        "day": None if i % 5 == 0 else "2024-03-01",
    }
    for i in range(200)
]
PEOPLE = Table(ROWS, SCHEMA)
NOTES = {"table": {"name": "notes", "unit": "row"}, "columns": {"note": {"type": "text"}}}


def ask(text: str, epsilon: Any = 500, seed: int = 1) -> Release:
    """The way of a question, without a ledger."""
    query = parser.parse(text, {"people": PEOPLE}, {}).query
    made = offer(query, Budget(epsilon=1000), schemas={"people": PEOPLE.schema}, epsilon=epsilon)
    with Reference() as engine:
        engine.register(PEOPLE, "00" * 16)
        return Release.of(made, draw(made, engine.answer(made.plan), Seeded(seed)))


def both(key: str, rows: str = "people", **terms: Any) -> tuple[Release, Release]:
    """The counts of groups, and of all."""
    groups = ask(f"SELECT {key} AS k, COUNT(*) AS n FROM {rows} GROUP BY k", **terms)
    return groups, ask(f"SELECT COUNT(*) AS n FROM {rows}", **terms)


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("COALESCE(region, 'none')", "people"),
        ("FLOOR(COALESCE(age, 0) / 2)", "people"),
        ("CASE WHEN age < 5 THEN 'young' ELSE 'other' END", "people"),
        ("CASE WHEN region IS NOT NULL THEN region ELSE 'none' END", "people"),
        ("region IS NULL", "people"),
        ("region", "people WHERE region IS NOT NULL"),
        ("region", "people WHERE region IS NOT NULL AND age > 3"),
        ("region", "people WHERE region IN ('north', 'south')"),
        ("FLOOR(age / 2)", "people WHERE age > 3"),
        ("MONTH(day)", "people WHERE day >= '2024-02-01'"),
        ("region", "(SELECT region, age FROM people WHERE region <> 'east')"),
        ("k", "(SELECT COALESCE(region, 'none') AS k FROM people)"),
        ("k", "(SELECT CASE WHEN age < 5 THEN 0 ELSE 9 END AS k FROM people)"),
        ("r", "(SELECT id, COUNT(*) AS r FROM people GROUP BY id)"),
    ],
)
def test_groups_that_leave_no_row_out_are_made_to_agree(key: str, rows: str) -> None:
    groups, total = both(key, rows)
    assert sum(groups.noisy[0]) == total.noisy[0][0]  # with next to no noise
    a, b = consistent(groups, total, "n")
    assert a.columns["n"].tolist() == groups.columns["n"].tolist()
    assert b.columns["n"].tolist() == total.columns["n"].tolist()


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("region", "people"),
        ("member", "people"),
        ("FLOOR(age / 2)", "people"),
        ("COALESCE(region, NULL)", "people"),
        ("FLOOR(10 / COALESCE(age, 0))", "people"),
        ("CASE WHEN age < 5 THEN 'young' WHEN age >= 5 THEN 'old' END", "people"),
        ("CASE WHEN region IS NULL THEN 'none' WHEN member THEN region END", "people"),
        ("CASE WHEN region = 'north' THEN 'north' ELSE region END", "people"),
        ("region", "people WHERE age IS NOT NULL"),
        ("region", "people WHERE region IS NOT NULL OR age > 3"),
        ("region", "people WHERE region IS NULL"),
        ("k", "(SELECT region AS k FROM people)"),
        ("r", "(SELECT id, MIN(age) AS r FROM people GROUP BY id)"),
    ],
)
def test_groups_that_may_leave_rows_out_are_refused(key: str, rows: str) -> None:
    """From the question alone: without a row in the data that has no key it is refused too."""
    with pytest.raises(BadParameter, match=r"COALESCE\(k, \.\.\.\), or ask both questions WHERE k IS NOT NULL"):
        consistent(*both(key, rows), "n")


def test_the_total_must_be_of_the_rows_that_have_a_key() -> None:
    groups, total = both("region", "people WHERE region IS NOT NULL")
    consistent(groups, total, "n")
    with pytest.raises(BadParameter, match="of the same rows"):
        consistent(groups, ask("SELECT COUNT(*) AS n FROM people"), "n")


def test_groups_of_some_values_are_refused() -> None:
    """No door makes such a question."""
    groups, total = both("COALESCE(region, 'none')")
    (key,) = groups.query.keys
    fewer = replace(groups, query=replace(groups.query, keys=(replace(key, values=(0, 1)),)))
    with pytest.raises(BadParameter, match="must include every value that k can have"):
        consistent(fewer, total, "n")


@given(seed=st.integers(0, 1000), beta=st.sampled_from(["0.9", "0.05", "1e-6"]))
@settings(max_examples=30)
def test_no_value_lies_outside_its_interval(seed: int, beta: str) -> None:
    for release in consistent(*both("COALESCE(region, 'none')", epsilon="0.5", seed=seed), "n"):
        for r in (release, release.nonnegative()):
            column = r.at(beta)["n"]
            assert (column.lower <= column.values).all() and (column.values <= column.upper).all()


def test_where_groups_and_total_contradict_one_another_they_still_add_up() -> None:
    """Intervals keep all that they held, and are stretched to the values that left them."""
    groups, total = both("COALESCE(region, 'none')", epsilon=5)
    far = replace(groups, noisy=((10, 10, 10, 10),)), replace(total, noisy=((1000,),))
    for before, after in zip(far, consistent(*far, "n"), strict=True):
        x, y = before.columns["n"], after.columns["n"]
        assert sum(y.tolist()) == 808 and (y.values != x.values).all()
        assert (y.lower <= y.values).all() and (y.values <= y.upper).all()
        assert (y.lower <= x.lower).all() and (x.upper <= y.upper).all()


def test_a_public_table_must_have_every_key() -> None:
    region = build.column(PEOPLE.schema.scan(), "region")
    for table, there in (({"north": 1, "south": 2, "east": 1}, True), ({"north": 1, "south": 2}, False)):
        zone = build.lookup(region, table)
        assert surely(zone, {region}) == there and not surely(zone, frozenset())
    note = build.lookup(build.column(Table([], NOTES).schema.scan(), "note"), {"a": 1})
    assert not surely(note, {note.a})  # type: ignore[attr-defined]


def test_what_is_surely_there_is_there() -> None:
    """In random relations of hostile tables, by counting the rows and those of them that have the value."""
    checked = 0
    for seed in range(150):
        world = World(random.Random(seed))
        schema, key = world.schema(), key_of(world)
        with Reference() as engine:
            engine.register(Table(mixed(world, schema), schema), key)
            for _ in range(20):
                try:
                    rows = world.relation(schema.scan())
                    e = world.number(rows, 3) if world.likely(0.6) else world.condition(rows, 2)
                except BadQuestion:
                    continue
                if surely(e, present(rows)):
                    there, every = engine.answer(QueryPlan(rows, (), (RowCount(e), RowCount()))).cells
                    assert there == every, (seed, rows, e)
                    checked += int(every[0]) > 0
    assert checked > 300


def test_groups_of_which_a_unit_may_be_in_few_do_not_add_up() -> None:
    capped = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1) region IS NULL AS k, COUNT(*) AS n"
    _, total = both("region IS NULL")
    with pytest.raises(BadParameter, match="must be all groups of the rows"):
        consistent(ask(f"{capped} FROM people GROUP BY k"), total, "n")
