"""Groups that the conditions of a question rule out are none of its groups; all that rows can be in are."""

import datetime
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadQuestion
from tacit.query.relation import build
from tacit.query.relation.condition_ranges import Work
from tacit.query.relation.key_values import narrowed
from tacit.query.relation.partition_pruning import touched
from tacit.query.relation.relation import Derive, Relation, Where
from tacit.query.schema.schema import Schema
from tacit.query.sql import parser
from tacit.query.values.nodes import CellValue, Expression

from .test_build import COLUMNS, OPERATORS, ROWS, C, attempt, cell, expressions, rows

CONSTANTS = st.sampled_from([-3, 0, 1, 2, 5, True, "a", "b", None, datetime.date(1975, 3, 1)])
compared = st.tuples(st.just(build.compare), OPERATORS, expressions, CONSTANTS.map(build.constant))
tests = compared.map(lambda t: attempted(lambda: t[0](*t[1:]))) | expressions.filter(
    lambda e: e.domain.kind == "boolean"
)


def attempted(make: Callable[[], Expression]) -> Expression:
    try:
        return make()
    except BadQuestion:
        return build.constant(True)


def joined(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    two = st.tuples(st.sampled_from([build.and_, build.or_]), inner, inner)
    return two.map(attempt) | inner.map(build.not_)


conditions = st.recursive(tests, joined, max_leaves=4)


def groups(e: Expression, relation: Relation) -> Any:
    try:
        return build.keys(e, relation)
    except BadQuestion as error:
        assume("leave no group" in str(error))
        return ()


@settings(max_examples=500)
@given(conditions, expressions, st.lists(rows, min_size=8, max_size=8))
def test_no_row_for_which_the_conditions_hold_is_in_a_group_that_is_left_out(
    condition: Expression, e: Expression, found: list[dict[str, CellValue]]
) -> None:
    assume(e.domain.declared and e.domain.kind != "text")
    relation = Where(ROWS, condition)
    derived = Derive(relation, (("x", e), ("whole", C["whole"])))
    x = build.column(derived, "x")
    keys = set(groups(e, relation))
    assert set(groups(x, derived)) >= keys
    above = attempted(lambda: build.compare(">=", build.column(derived, "whole"), build.constant(2)))
    few = set(groups(x, Where(derived, above)))
    for row in found:
        step = e.meaning(row)
        if condition.meaning(row) == 1 and step is not None:
            assert step in keys
            assert row["whole"] is None or int(row["whole"]) < 2 or step in few


@settings(max_examples=500)
@given(conditions, expressions, st.lists(rows, min_size=8, max_size=8))
def test_values_that_conditions_narrow_stay_what_they_are(
    condition: Expression, e: Expression, found: list[dict[str, CellValue]]
) -> None:
    assume(e.domain.kind in ("number", "date", "timestamp"))
    met = [row for row in found if condition.meaning(row) == 1]
    narrow = narrowed(e, Where(ROWS, condition), Work())
    assert e.domain.lower <= narrow.domain.lower <= narrow.domain.upper <= e.domain.upper
    assert [narrow.meaning(row) for row in met] == [e.meaning(row) for row in met]
    derived = Derive(Where(ROWS, condition), (("x", e),))
    again = narrowed(build.column(derived, "x"), derived, Work())
    assert [again.meaning({"x": e.meaning(row)}) for row in met] == [e.meaning(row) for row in met]


@settings(max_examples=300)
@given(conditions, st.lists(rows, min_size=8, max_size=8))
def test_no_part_is_left_out_that_a_row_is_in(condition: Expression, found: list[dict[str, CellValue]]) -> None:
    parts = touched(Where(ROWS, condition), "t", "label")
    for row in found:
        if condition.meaning(row) == 1 and parts is not None:
            assert row["label"] in parts


@settings(max_examples=200)
@given(st.sampled_from(["whole", "label", "flag"]), conditions, st.data())
def test_no_value_is_left_out_with_which_a_condition_can_hold_beside_others(
    name: str, condition: Expression, data: Any
) -> None:
    domain = COLUMNS[name]
    row = {other: data.draw(cell(d)) for other, d in COLUMNS.items()}
    alone = [v for v in range(domain.lower, domain.upper + 1) if condition.meaning({**row, name: v}) == 1]
    assert {*alone} <= {*groups(C[name], Where(ROWS, condition))}


PEOPLE = Schema.load(
    {
        "table": {"name": "people", "unit": "person", "rows": 2},
        "columns": {
            "region": {"type": "category", "values": ["north", "east", "south"]},
            "age": {"type": "integer", "lower": 0, "upper": 99},
            "member": {"type": "boolean"},
            "born": {"type": "date", "lower": datetime.date(1900, 1, 1), "upper": datetime.date(2030, 12, 31)},
            "seen": {
                "type": "timestamp",
                "lower": datetime.datetime(2010, 1, 1, tzinfo=datetime.UTC),
                "upper": datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC),
            },
            "spend": {"type": "real", "lower": 0, "upper": 500},
        },
    }
)
MONTH = "DATE_TRUNC('month', {})"
CASES = {
    "region IN ('north', 'south')": ("region", ["north", "south"]),
    "region <> 'north'": ("region", ["east", "south"]),
    "NOT (region = 'north' OR age < 3)": ("region", ["north", "east", "south"]),
    "region LIKE '%st'": ("region", ["east"]),
    "(region = 'north' AND age > 9) OR (region = 'east' AND member)": ("region", ["north", "east"]),
    "member": ("member", [True]),
    "NOT member": ("member", [False]),
    "age BETWEEN 35 AND 59": ("FLOOR(age / 10)", [3, 4, 5]),
    "age > 20": ("CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END", ["adult"]),
    "spend < 30": ("FLOOR(spend / 10)", [0, 1, 2]),
    "born >= '2030-11-05'": (MONTH.format("born"), [datetime.date(2030, m, 1) for m in (11, 12)]),
    "YEAR(born) = 2024 AND MONTH(born) < 3": (MONTH.format("born"), [datetime.date(2024, m, 1) for m in (1, 2)]),
    "seen < '2010-03-01'": (MONTH.format("seen"), [datetime.date(2010, m, 1) for m in (1, 2)]),
    "YEAR(seen) = 2024 ": ("QUARTER(seen)", [1, 2, 3, 4]),
    "HOUR(seen) < 2": ("HOUR(seen)", [0, 1]),
    "region = 'east' AND COALESCE(region, 'none') <> 'south'": ("COALESCE(region, 'none')", ["east", "none"]),
}


@pytest.mark.parametrize("condition", CASES)
def test_groups_are_those_that_the_conditions_leave(condition: str) -> None:
    key, expected = CASES[condition]
    text = f"SELECT {key} AS k, COUNT(*) FROM people WHERE {condition} GROUP BY k"
    query = parser.parse(text, {"people": PEOPLE}).query
    assert query.keys[0].labels() == expected


def test_conditions_that_leave_no_group_are_refused_before_anything_is_paid() -> None:
    text = "SELECT region, COUNT(*) FROM people WHERE region = 'north' AND region = 'east' GROUP BY region"
    with pytest.raises(BadQuestion, match="leave no group"):
        parser.parse(text, {"people": PEOPLE})


def test_of_text_that_went_through_a_subquery_nothing_is_known() -> None:
    words = Schema.load(
        {"table": {"name": "people", "unit": "person", "rows": 1}, "columns": {"note": {"type": "text"}}}
    )
    key = "CASE WHEN note LIKE 'a%' THEN 'yes' ELSE 'no' END"
    for place in ("people", "(SELECT person, note FROM people) AS p"):
        query = parser.parse(f"SELECT {key} AS k, COUNT(*) FROM {place} GROUP BY k", {"people": words}).query
        assert query.keys[0].labels() == ["yes", "no"]


LONG = {
    "many conditions": " OR ".join(f"(age = {i % 100} AND region <> 'east')" for i in range(500)),
    "many values": " AND ".join(f"spend <> {i}" for i in range(900)),
    "many trials": " AND ".join(f"age * age <> {i}" for i in range(900)),
}


@pytest.mark.parametrize("name", LONG)
def test_long_conditions_are_read_in_no_time(name: str) -> None:
    keys = [f"CASE WHEN age = {i} THEN {i % 2} ELSE 1 END" for i in range(12)]
    text = f"SELECT COUNT(*) FROM people WHERE {LONG[name]} GROUP BY FLOOR(age / 50), {', '.join(keys)}"
    start = time.perf_counter()
    assert len(parser.parse(text, {"people": PEOPLE}).query.keys) == 13
    assert time.perf_counter() - start < 5


def test_parts_are_read_off_in_no_time() -> None:
    parts = [f"part {i}" for i in range(4000)]
    schema = Schema.load(
        {"table": {"name": "t", "unit": "row"}, "columns": {"p": {"type": "category", "values": parts}}}
    )
    p = build.column(schema.scan(), "p")
    many = Where(schema.scan(), build.and_(*(build.not_(build.compare("=", p, build.constant(x))) for x in parts)))
    start = time.perf_counter()
    touched(many, "t", "p")
    assert time.perf_counter() - start < 1
