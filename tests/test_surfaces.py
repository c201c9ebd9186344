"""What people see of answers and ledgers: rates within their range, caveats, amounts, questions and options by name."""

import inspect
import shutil

import numpy as np
import pytest

import tacit
from tacit import Budget, Curator
from tacit.core.accounting.currency import Readable
from tacit.query.plan.draw import Drawn
from tacit.query.plan.offer import offer
from tacit.query.schema.schema import Schema
from tacit.query.sql import parser
from tacit.release import Release

SCHEMA = """
[table]
name = "t"
unit = "person"
rows = 3
[columns.x]
type = "integer"
lower = -4
upper = 9
[columns.y]
type = "integer"
lower = 0
upper = 9
total = [0, 5]
"""
LOADED = Schema.load(SCHEMA)
ROWS = [{"person": i % 100, "x": i % 10, "y": i % 5} for i in range(250)]


def drawn(sql, **noisy):
    """A release of a question with these noisy aggregates, as if they had been drawn."""
    query = parser.parse(sql, {"t": LOADED}, {}).query
    offered = offer(query, Budget(epsilon=1), schemas={"t": LOADED}, epsilon=1)
    values = [(0,)] * len(offered.steps)
    for name, recipe in offered.recipes:
        values[recipe.parts[0]] = (noisy[name],)
    return Release.of(offered, Drawn(None, tuple(values), True))


RATE = "SELECT SUM(CASE WHEN x > 5 THEN 1 ELSE 0 END) / COUNT(*) AS r FROM t"


@pytest.mark.parametrize(("top", "rows"), [(-3, 10), (34, 10), (5, 10), (-5, -2), (0, 1), (500, 1000)])
def test_a_rate_stays_between_0_and_1(top, rows):
    r = drawn(RATE, sum=top, count=rows)["r"]
    assert 0 <= r.values[0] <= 1 and 0 <= r.lower[0] <= r.upper[0] <= 1
    if 0 <= top <= rows:
        assert r.values[0] == top / rows and r.lower[0] <= top / rows <= r.upper[0]
    percent = drawn(RATE.replace("SUM(", "100 * SUM(", 1), sum=top, count=rows)["r"]
    assert np.allclose([percent.values, percent.lower, percent.upper], [100 * v for v in (r.values, r.lower, r.upper)])


def test_what_is_no_share_of_the_rows_is_not_clipped():
    free = drawn("SELECT SUM(x) / COUNT(x) AS r FROM t", sum_x=5000, count_x=1)["r"]
    assert free.values[0] == 5000  # a quotient by another count than that of all rows
    wide = drawn("SELECT SUM(x) / COUNT(*) AS r FROM t", sum_x=-5000, count=1)["r"]
    assert wide.values[0] == -4 and wide.lower[0] == -4
    units = drawn("SELECT SUM(y) / COUNT(*) AS r FROM t", sum_y=5000, count=1)["r"]
    assert units.values[0] == 5000  # what a unit adds is clamped, and by that no quotient is bounded here
    other = drawn("SELECT COUNT(x) / COUNT(*) AS r, COUNT(*) / COUNT(x) AS s FROM t", count_x=70, count=50)
    assert other["r"].values[0] == 1 and other["s"].values[0] == 50 / 70


@pytest.fixture
def curator(tmp_path):
    with Curator(tacit.Table(ROWS, SCHEMA), ledger=tmp_path / "t.ledger", budget=Budget(epsilon=1)) as c:
        yield c


def test_a_notebook_shows_the_caveats(curator):
    html = curator.ask("SELECT SUM(x) AS s, COUNT(*) AS n FROM t", epsilon="0.1")._repr_html_()
    for words in ("clamped: x to [-4, 9]", "At most 3 rows of each person", "0.1-differentially private"):
        assert words in html
    assert "from lower to upper" in html and html.count("<p>") == 1
    picked = curator.ask("SELECT x, COUNT(*) AS n FROM t GROUP BY x ORDER BY n DESC LIMIT 2", epsilon="0.1")
    assert "Noisy values decided which rows are shown" in picked._repr_html_()
    assert curator.rehearse("SELECT COUNT(*) AS n FROM t", epsilon=1)._repr_html_().count("rehearsal") == 1


def test_amounts_read_as_numbers_and_history_shows_questions(curator):
    curator.ask("SELECT COUNT(*) AS n FROM t", epsilon="0.1")
    left = curator.remaining
    assert repr(left) == str(left) == f"{left}" == "0.9" and f"{left:.2f}" == "0.90"
    assert left == Readable(9, 10) and isinstance(left, Readable) and left * 10 == 9
    assert repr(curator.remaining_for("SELECT COUNT(*) FROM t")) == "0.9"
    (charge,) = curator.history()
    assert repr(charge).endswith("analyst, question: SELECT COUNT(*) AS n FROM t>")


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("ask", {"epsilon", "delta", "rho", "share", "error", "relative", "beta", "fresh", "analyst"}),
        ("offer", {"epsilon", "delta", "rho", "share", "error", "relative", "beta", "analyst"}),
        ("answer", {"epsilon", "delta", "rho", "share", "method", "n", "beta", "fresh", "analyst"}),
        ("bounds", {"epsilon", "delta", "rho", "share", "beta", "fresh", "analyst"}),
        ("above_threshold", {"epsilon", "share", "count", "queries", "name", "analyst"}),
    ],
)
def test_every_option_is_in_the_signature(method, options):
    parameters = inspect.signature(getattr(Curator, method)).parameters.values()
    assert options <= {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters)


def test_a_ledger_moves_to_another_machine_by_its_three_files(tmp_path):
    """As `tacit docs tables` says: the file, its key and its head, moved together while nobody uses it."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with Curator(tacit.Table(ROWS, SCHEMA), ledger=here / "t.ledger", budget=Budget(epsilon=1)) as c:
        first = c.ask("SELECT COUNT(*) AS n FROM t", epsilon="0.1")
        head = c.ledger.head()
    for suffix in ("", ".key", ".head"):
        shutil.move(here / f"t.ledger{suffix}", there / f"t.ledger{suffix}")
    with Curator(tacit.Table(ROWS, SCHEMA), ledger=there / "t.ledger") as c:
        assert c.ledger.verify(head) == head
        assert c.ask("SELECT COUNT(*) AS n FROM t", epsilon="0.1").noisy == first.noisy and c.remaining == Readable(
            9, 10
        )
        c.ask("SELECT COUNT(*) AS n FROM t WHERE x > 1", epsilon="0.1")
        assert c.remaining == Readable(8, 10)
