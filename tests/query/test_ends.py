"""What conditions leave, to the last value, day and part: where one too few would lose rows, or charge too little."""

from __future__ import annotations

import datetime
from typing import Any

from tacit.query.plan.compiler import plan
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.partition_pruning import touched
from tacit.query.relation.relation import Derive, Where
from tacit.query.select.aggregates import median, sum_

COLUMNS = {
    "age": {"type": "integer", "lower": 20, "upper": 60},
    "debt": {"type": "integer", "lower": -8, "upper": 2},
    "region": {"type": "category", "values": ["north", "south", "west"]},
    "at": {"type": "timestamp", "lower": datetime.datetime(2015, 1, 1), "upper": datetime.datetime(2025, 12, 31)},
}
T = Table([], {"table": {"name": "people", "unit": "id", "rows": 3, "partition": "region"}, "columns": COLUMNS})
SCHEMAS = {"people": T.schema}


def keys(rows: Any, **by: Any) -> Any:
    return rows.group_by(**by).count().query.keys[0].values


def narrowed(question: Any) -> tuple[int, int]:
    domain = plan(question.query, SCHEMAS).measures[0].expression.domain  # type: ignore[union-attr]
    return domain.lower, domain.upper


def test_the_first_value_that_a_condition_leaves_is_among_them() -> None:
    rows = T.where(T.age >= 58)
    assert keys(rows, age="age") == (58, 59, 60) and narrowed(rows.sum("age")) == (58, 60)


def test_the_last_second_of_a_year_is_in_it() -> None:
    first = int(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC).timestamp())
    rows = T.where(T.at.part("year") == 2020)
    assert narrowed(rows.aggregate(q=median("at"))) == (first, first + 366 * 86400 - 1)


def test_the_last_value_of_the_last_step_is_left() -> None:
    rows = T.where((T.age // 10 * (T.age // 10)) <= 16)
    assert narrowed(rows.sum("age")) == (20, 49)


def test_a_band_that_begins_before_the_first_value_is_a_group() -> None:
    rows = T.where(T.age >= 25).where(T.age <= 31)
    assert keys(rows, band=rows.age // 10) == (2, 3)


def test_what_a_unit_adds_up_to_is_not_within_the_bounds_of_a_row() -> None:
    assert keys(T.per_unit(total=sum_("debt")), total="total") == tuple(range(-24, 7))


def test_a_missing_part_is_in_no_part_and_so_in_all() -> None:
    rows = T.where((T.region == "north") | T.region.is_missing())
    assert touched(rows.relation, "people", "region") is None
    assert touched(T.where(T.region == "north").relation, "people", "region") == frozenset({0})


def test_a_column_that_is_called_as_the_partition_is_not_it() -> None:
    scan = T.relation
    filled = Derive(scan, (("region", build.coalesce(build.column(scan, "region"), build.constant("north"))),))
    here = Where(filled, build.compare("=", build.column(filled, "region"), build.constant("north")))
    assert touched(here, "people", "region") is None
