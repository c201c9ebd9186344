"""A SELECT on the rows of an answer, and its windows: what DuckDB computes from the same rows, free, with intervals."""

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.core.errors import BadQuestion
from tacit.query.select.outputs import (
    ColumnEstimate,
    Comparison,
    Output,
    OutputValue,
    ReleasedColumn,
    Window,
    WindowFunction,
    numbers,
)
from tacit.query.select.query import Selection
from tacit.query.select.selections import AnswerRows, Lineage, Origin
from tacit.query.sql.parser import parse

SCHEMA = """
[table]
name = "visits"
unit = "person"
rows = 3
[columns.region]
type = "category"
values = ["north", "south", "east", "west"]
[columns.age]
type = "integer"
lower = 0
upper = 9
[columns.cost]
type = "real"
lower = 0
upper = 64
"""
INNER = "SELECT region, age, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY region, age"
OUTER = """
SELECT region, age, n FROM x WHERE n > 20 AND region <> 'east'
SELECT region, age, n, n * 2 + 1 AS twice FROM x ORDER BY n DESC, region, age LIMIT 7
SELECT region, SUM(n) AS s, COUNT(*) AS k, AVG(n) AS a, MIN(n) AS l, MAX(m) AS h FROM x GROUP BY region ORDER BY region
SELECT SUM(n), COUNT(*), COUNT(m), AVG(m), MIN(age) FROM x
SELECT SUM(n) FILTER (WHERE age > 3), COUNT(*) FILTER (WHERE n > 20) FROM x WHERE region = 'north'
SELECT COUNT(*) AS k, COALESCE(SUM(n), 0), MAX(n), AVG(n) FROM x WHERE n > 1000000
SELECT n % 2 = 1 OR n < 0 AS odd FROM (SELECT ABS(n) AS n FROM x) WHERE n > 3
SELECT region, COUNT(*) AS k FROM x GROUP BY region HAVING SUM(n) > 200 ORDER BY k, region
SELECT n > 20 AS big, SUM(n), COUNT(*) FROM x GROUP BY big ORDER BY big
SELECT DISTINCT region FROM x WHERE n > 0 ORDER BY region
SELECT DISTINCT age > 4, region FROM x ORDER BY 1, 2
SELECT region, age, SUM(n) OVER () AS t, SUM(n) OVER (PARTITION BY region) AS p FROM x
SELECT region, age, SUM(n) OVER (PARTITION BY region ORDER BY age) AS running FROM x
SELECT region, age, AVG(n) OVER (ORDER BY region, age ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS smooth FROM x
SELECT region, age, MIN(n) OVER (PARTITION BY age ORDER BY region DESC ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM x
SELECT age, n, MAX(m) OVER (PARTITION BY n > 9 ORDER BY age, region ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING) FROM x
SELECT age, n, COUNT(*) OVER (PARTITION BY age ORDER BY n ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) FROM x
SELECT region, age, COUNT(*) OVER (ORDER BY age) AS peers, MAX(n) OVER (ORDER BY age DESC) FROM x
SELECT region, age, ROW_NUMBER() OVER (ORDER BY n DESC, region, age) AS k, RANK() OVER (ORDER BY n) AS r FROM x
SELECT region, age, RANK() OVER (PARTITION BY region ORDER BY n DESC), DENSE_RANK() OVER (ORDER BY n) FROM x
SELECT region, age, PERCENT_RANK() OVER (PARTITION BY region ORDER BY n), CUME_DIST() OVER (ORDER BY n) FROM x
SELECT region, age, NTILE(7) OVER (ORDER BY region, age), NTILE(3) OVER (PARTITION BY region ORDER BY age) FROM x
SELECT region, age, LAG(n) OVER (ORDER BY region, age), LEAD(n, 3) OVER (PARTITION BY region ORDER BY age) FROM x
SELECT region, age, LAG(region) OVER (ORDER BY age, region), FIRST_VALUE(region) OVER (ORDER BY n, region, age) FROM x
SELECT LAST_VALUE(n) OVER (PARTITION BY region ORDER BY n), FIRST_VALUE(n) OVER (ORDER BY region, age) FROM x
SELECT region, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC, age) AS k FROM x) WHERE k <= 2
SELECT region, s, RANK() OVER (ORDER BY s) FROM (SELECT region, SUM(n) AS s FROM x GROUP BY region)
SELECT n FROM (SELECT n FROM x ORDER BY n DESC LIMIT 5) ORDER BY n LIMIT 2
""".strip().splitlines()


@pytest.fixture(scope="module")
def curator(tmp_path_factory: Any) -> Any:
    rows = [
        {"person": i % 400, "region": ["north", "south", "east", "west", "north"][i % 5], "age": i % 9, "cost": i % 40}
        for i in range(1000)
    ]
    place = tmp_path_factory.mktemp("selections") / "visits.ledger"
    with tacit.Curator(tacit.Table(rows, SCHEMA), ledger=place, budget=tacit.Budget(epsilon=10)) as curator:
        curator.ask(INNER, epsilon=2)
        yield curator


def plain(rows: Any) -> list[tuple[Any, ...]]:
    return [tuple(round(v, 6) if isinstance(v, float) and math.isfinite(v) else v for v in row) for row in rows]


@pytest.mark.parametrize("text", OUTER)
def test_a_database_computes_the_same_from_the_released_rows(curator: tacit.Curator, text: str) -> None:
    released = curator.ask(INNER, epsilon=2)
    connection = duckdb.connect()
    connection.register("x", released.to_arrow().select(list(released.names)))
    text = text.replace("n % 2 = 1", "n / 2 = FLOOR(n / 2)")
    theirs = connection.execute(text).fetchall()
    before = curator.remaining
    asked = f"WITH x AS ({INNER}) {text}"
    offer = curator.offer(asked, epsilon=2)
    assert offer.bought
    ours = curator.ask(asked, epsilon=2)
    assert curator.remaining == before  # one question, whatever is computed from its answer
    found = zip(*(c.tolist() for c in ours.columns.values()), strict=True)
    ordered = "ORDER BY" in text.rpartition(")")[2]
    assert sorted(plain(found), key=str) == sorted(plain(theirs), key=str)
    if ordered:
        assert plain(zip(*(c.tolist() for c in ours.columns.values()), strict=True)) == plain(theirs)
    if "1000000" not in text:  # the largest of no rows is missing, and so no integer
        kinds = [kind if kind in ("integer", "real", "boolean") else "label" for _, kind in offer.schema]
        assert kinds == [c.kind for c in ours.columns.values()]
    for c in ours.columns.values():
        if c.kind in ("integer", "real"):
            there = ~c.missing()
            assert (c.lower[there] <= c.values[there]).all() and (c.values[there] <= c.upper[there]).all()
    assert tacit.Release.from_json(ours.to_json()).to_json() == ours.to_json()


def test_a_released_answer_says_what_noise_decides(curator: tacit.Curator) -> None:
    def lineage(text: str) -> Lineage:
        return curator.ask(f"WITH x AS ({INNER}) {text}", epsilon=2).lineage

    assert not lineage("SELECT region, SUM(n) AS s FROM x GROUP BY region").deciding
    counted = lineage("SELECT COUNT(*) AS k FROM x WHERE n > 20")
    assert counted.deciding == counted.columns["k"].sources == {"n"}
    assert lineage("SELECT region, n FROM x ORDER BY m").ordering == {"m"}
    assert lineage("SELECT region, n FROM x ORDER BY m LIMIT 3").deciding == {"m"}
    assert lineage("SELECT age FROM x WHERE age > 3 ORDER BY region LIMIT 3").columns["age"] == Origin(
        frozenset(), "age"
    )


def test_the_interval_of_a_sum_is_that_of_its_noise(curator: tacit.Curator) -> None:
    """Forty noises of scale 3 / 2 exceed 33 in absolute value once in twenty draws, by their normal approximation."""
    release = curator.ask(f"WITH x AS ({INNER}) SELECT SUM(n) AS s, COUNT(*) AS k FROM x", epsilon=2)
    (low,), (high,) = release["s"].lower, release["s"].upper
    scale = release.mechanisms[0].added_noise.noise_scale
    deviation = math.sqrt(2 * 40) * scale
    assert 1.9 * deviation < (high - low) / 2 < 3.2 * deviation
    assert release["k"].lower == release["k"].upper == [40]
    asked = f"SELECT SUM(n) AS s FROM ({INNER}) AS x WHERE n > 20"
    assert np.isinf(curator.ask(asked, epsilon=2)["s"].lower).all()  # noise decides what is summed


X, Y, G = (ReleasedColumn(name) for name in "xyg")
FUNCTIONS: tuple[WindowFunction, ...] = ("sum", "mean", "min", "max", "count", "first", "last", "lag", "lead")
RANKINGS: tuple[WindowFunction, ...] = ("rank", "row_number", "dense_rank", "percent_rank", "cume_dist", "ntile")
FRAMES = st.none() | st.tuples(st.none() | st.integers(-3, 2), st.none() | st.integers(-2, 3))
ORDERS = st.sampled_from([(), ((X, False),), ((X, True),), ((ReleasedColumn("i"), True),), ((G, False), (X, True))])
WINDOWS = st.builds(
    Window,
    st.sampled_from(FUNCTIONS),
    st.sampled_from([X, Y]),
    st.sampled_from([(), (G,), (Comparison("<", X, OutputValue(None)),), (X,)]),
    ORDERS,
    FRAMES,
    st.integers(1, 3),
) | st.builds(
    Window, st.sampled_from(RANKINGS), st.none(), st.sampled_from([(), (G,)]), ORDERS, st.none(), st.integers(1, 3)
)


@given(
    window=WINDOWS,
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), max_size=9),
    truth=st.lists(st.integers(0, 6), min_size=18, max_size=18),
)
def test_the_interval_of_a_window_holds_whatever_the_truth_within(window: Window, rows: Any, truth: list[int]) -> None:
    """The same window, on any true values within the intervals of the noisy ones, lies in its interval."""

    def column(values: Any, low: Any, high: Any) -> ColumnEstimate:
        return numbers(*(np.array(each, float) for each in (values, low, high)))

    x, below, above, group = (np.array([row[i] for row in rows], float) for i in range(4))
    low, high = x - below, x + above
    ends = {"x": (x, low, high), "y": (x + 1, low + 1, high + 1), "g": (group,) * 3, "i": (np.arange(len(x)),) * 3}
    noisy = {name: column(*each) for name, each in ends.items()}
    share = np.array(truth[: len(x)], float) / 6
    points = {name: low + share * (high - low) for name, (_, low, high) in ends.items()}
    true = {name: column(*[point] * 3) for name, point in points.items()}
    lineage = Lineage({n: Origin(frozenset((n,)) if n in "xy" else frozenset(), n) for n in ends})
    exact = Lineage({n: Origin(frozenset(), n) for n in ends})
    selection = Selection((("w", window),))
    told = AnswerRows(noisy, len(x), lineage).select(selection).columns["w"]
    right = AnswerRows(true, len(x), exact).select(selection).columns["w"]
    unsure = np.broadcast_to(told.unsure, len(x))
    assert (unsure | (told.missing() == right.missing())).all()
    there = ~right.missing()
    assert (told.lower[there] <= right.values[there]).all() and (right.values[there] <= told.upper[there]).all()


def test_nesting_is_bounded_and_work_stays_small() -> None:
    table = {"visits": tacit.Table([], SCHEMA)}
    chain = f"WITH x0 AS ({INNER})"
    for i in range(70):
        chain += f", x{i + 1} AS (SELECT *, n + 1 AS n{i} FROM x{i})"
    with pytest.raises(BadQuestion, match="nested at most 64 deep"):
        parse(f"{chain} SELECT n FROM x70", table)
    assert len(parse(f"{chain} SELECT n FROM x60", table).query.then) == 61


def test_a_stream_takes_no_selection(tmp_path: Path) -> None:
    with tacit.Curator(tacit.Table([], SCHEMA), ledger=tmp_path / "l", budget=tacit.Budget(epsilon=1)) as curator:
        stream = curator.above_threshold(5, epsilon="0.1")
        with pytest.raises(BadQuestion, match="plain count"):
            stream.ask("SELECT n FROM (SELECT COUNT(*) AS n FROM visits) AS x")


def test_forged_windows_are_refused(curator: tacit.Curator) -> None:
    from dataclasses import replace

    query = parse(INNER, {"visits": tacit.Table([], SCHEMA)}).query
    wrong: list[tuple[Output, str]] = [
        (Window("rank", ReleasedColumn("n")), "another number of arguments"),
        (Window("sum"), "another number of arguments"),
        (Window("lag", ReleasedColumn("n"), n=0), "whole number from 1"),
        (Window("sum", ReleasedColumn("n"), frame=(-(10**9), None)), "at most 1000000 rows"),
        (Window("sum", ReleasedColumn("region")), "needs numbers"),
        (Window("sum", ReleasedColumn("nosuch")), "no column 'nosuch'"),
    ]
    for output, reason in wrong:
        forged = replace(query, then=(Selection((("w", output),)),))
        with pytest.raises(BadQuestion, match=reason):
            curator.offer(forged, epsilon=2)
    within = replace(query, having=Comparison("<", Window("count"), OutputValue(None)))
    with pytest.raises(BadQuestion, match="cannot decide which rows"):
        curator.offer(within, epsilon=2)
