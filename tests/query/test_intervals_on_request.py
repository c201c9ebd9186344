"""The ends of intervals as columns of an answer, which are free and exact."""

from pathlib import Path

import numpy as np

import tacit

from .test_sql import PEOPLE

ASKED = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY region"
SHOWN = "region, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, DP_INTERVAL_HIGH(AVG(age)) AS high"
ENDS = f"SELECT {SHOWN} FROM people GROUP BY region"


def test_ends_are_those_of_the_intervals_and_free(tmp_path: Path) -> None:
    rows = [{"person_id": i, "region": "north" if i % 3 else "south", "age": i % 90} for i in range(900)]
    budget = tacit.Budget(epsilon=1)
    with tacit.Curator(tacit.Table(rows, PEOPLE), ledger=tmp_path / "people.ledger", budget=budget) as curator:
        bought, left = curator.ask(ASKED, epsilon="0.5"), curator.remaining
        ends = curator.ask(ENDS, epsilon="0.5")
        assert curator.remaining == left and ends.noisy == bought.noisy
        assert np.array_equal(ends["low"].values, bought["n"].lower)
        assert np.array_equal(ends["high"].values, bought["a"].upper)
        assert ends.to_arrow().column_names == ["region", "n", "n_lower", "n_upper", "low", "high"]
        widest = curator.ask(ENDS, epsilon="0.5", beta="0.001")
        assert (widest["low"].values <= ends["low"].values).all() and curator.remaining == left
        shown = curator.ask(ENDS + " HAVING DP_INTERVAL_LOW(n) > 1000000", epsilon="0.5")
        assert shown["n"].tolist() == []
