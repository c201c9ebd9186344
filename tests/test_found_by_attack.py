"""What attackers found who had not seen the code, and must not find again."""

import math

import pytest

import tacit
from tacit.core.errors import BadParameter, BadQuestion

SCHEMA = """
[table]
name = "visits"
unit = "person"
rows = 1
[columns.region]
type = "category"
values = ["north", "south"]
[columns.city]
type = "text"
"""
ROWS = [{"person": i, "region": "north", "city": "a" if i < 400 else f"c{i}"} for i in range(600)]


@pytest.fixture
def curator(tmp_path):
    budget = tacit.Budget(epsilon=100, delta="1e-6")
    with tacit.Curator(tacit.Table(ROWS, SCHEMA), ledger=tmp_path / "ledger.sqlite", budget=budget) as opened:
        yield opened


def test_labels_that_functions_make_do_not_multiply(curator):
    label = "region"
    for _ in range(5):
        label = f"REPLACE({label}, 'o', '{'o' * 40}')"
    with pytest.raises(BadQuestion, match="at most 1000 characters"):
        curator.offer(f"SELECT {label} AS r, COUNT(*) AS n FROM visits GROUP BY r", share="0.1")
    with pytest.raises(BadQuestion, match="at most 1000 characters"):
        curator.offer(f"SELECT region || '{'o' * 1000}' AS r, COUNT(*) FROM visits GROUP BY r", share="0.1")


def test_sums_over_keys_that_were_chosen_have_no_interval(curator):
    inner = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    release = curator.ask(f"SELECT SUM(n) AS s, COUNT(*) AS k FROM ({inner}) AS x", share="0.5")
    assert release["k"].tolist() == [1], "199 cities of one person each stay hidden"
    for name in ("s", "k"):
        assert math.isinf(release[name].lower[0]) or release[name].upper[0] >= len(ROWS), name
        assert math.isinf(release[name].upper[0]), name
    public = curator.ask(
        "SELECT SUM(n) AS s FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) AS x", share="0.1"
    )
    assert math.isfinite(public["s"].upper[0])


@pytest.mark.parametrize("share", ["1e400", 10**400, "2"])
def test_a_share_of_any_size_is_refused_in_words(curator, share):
    with pytest.raises(BadParameter, match="share must be a fraction of the budget"):
        curator.offer("SELECT COUNT(*) AS n FROM visits", share=share)
