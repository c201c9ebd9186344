"""Statistics of pairs are those that a database computes, but for noise; and their intervals hold them."""

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tacit
from tacit.core.errors import BadQuestion

SCHEMA = """
[table]
name = "t"
unit = "person"
rows = 1
[columns.x]
type = "integer"
lower = 0
upper = 20
[columns.y]
type = "real"
lower = -50
upper = 50
[columns.g]
type = "category"
values = ["a", "b"]
"""
NAMES = ["COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT"]
ALL = ", ".join(f"{name}(y, x) AS {name.lower()}" for name in NAMES)


def rows(n: int) -> list[dict[str, Any]]:
    r = random.Random(7)
    made = []
    for i in range(n):
        x = r.randint(0, 20)
        y = None if i % 17 == 0 else round(1.5 * x - 20 + r.gauss(0, 4), 3)
        made.append({"person": i, "x": None if i % 13 == 0 else x, "y": y, "g": "ab"[i % 2]})
    return made


@pytest.mark.parametrize("where", ["", " WHERE x < 15", " GROUP BY g ORDER BY g"])
def test_a_database_computes_the_same(tmp_path: Path, where: str) -> None:
    import pyarrow as pa

    data = pa.Table.from_pylist(rows(3000))
    keys = "g, " if "GROUP" in where else ""
    connection = duckdb.connect()
    connection.register("t", data)
    theirs = connection.execute(f"SELECT {ALL} FROM t{where}").fetchall()
    budget = tacit.Budget(epsilon=10**6)
    with tacit.Curator(tacit.Table(data, SCHEMA), ledger=tmp_path / "l", budget=budget) as curator:
        exact = curator.ask(f"SELECT {keys}{ALL} FROM t{where}", epsilon=10**5)
        noisy = curator.ask(f"SELECT {keys}{ALL} FROM t{where}", epsilon=150)
    surely = noisy.interval("1e-12")
    for i, name in enumerate(each.lower() for each in NAMES):
        right = [row[i] for row in theirs]
        assert exact[name].values == pytest.approx(right, rel=1e-2, abs=1e-3)  # y is rounded to 1/512
        low, high = surely[name]
        assert (low <= right).all() and (right <= high).all()


def test_each_sum_is_bought_once_and_conditions_are_kept(tmp_path: Path) -> None:
    table = tacit.Table(rows(100), SCHEMA)
    with tacit.Curator(table, ledger=tmp_path / "l", budget=tacit.Budget(epsilon=1)) as curator:
        offer = curator.offer(f"SELECT {ALL} FROM t", epsilon=1)
        assert len(offer.plan.measures) == 6 and dict(offer.schema)["regr_count"] == "integer"
        some = curator.offer("SELECT CORR(x, y) FILTER (WHERE g = 'a') AS r FROM t HAVING CORR(x, y) > 0", epsilon=1)
        assert len(some.plan.measures) == 12
        with pytest.raises(BadQuestion, match="needs numbers"):
            curator.offer("SELECT CORR(x, g) FROM t", epsilon=1)
        squares = curator.offer("SELECT COVAR_POP(x, x) FROM t", epsilon=1)
        moves = sorted(step.mechanism.sensitivity.l1 for step in squares.steps)
        assert moves == [1, 10, 100]  # the count, the values less 10, and their squares
