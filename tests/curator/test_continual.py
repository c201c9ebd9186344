"""Continual counts through a ledger: one price for all periods, each period read once, in any process."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app
from tacit.core.errors import BadParameter, BadQuestion, BudgetExceeded, EngineError
from tacit.curator import Curator
from tacit.curator.continual import METHODS
from tacit.engines.duckdb.engine import DuckDB
from tacit.ledger.session import LedgerSession
from tacit.mechanisms import Gaussian, Laplace, ToeplitzCount, TreeCount

SCHEMA = """
[table]
name = "flights"
unit = "row"
[columns.day]
type = "date"
lower = 2026-01-01
upper = 2027-12-31
[columns.late]
type = "boolean"
[columns.airport]
type = "category"
values = ["a", "b"]
"""
MONTHLY = "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM flights WHERE late GROUP BY month"
BUDGET = tacit.Budget(rho=100)
PER_MONTH = 90


def rows(months, *, late=0):
    """90 rows in each of the first months, a third of them late; `late` more of the first month arrive afterwards."""
    day = [(datetime.date(2026, 1 + m, 1 + i % 28), i) for m in range(months) for i in range(PER_MONTH)]
    day += [(datetime.date(2026, 1, 1), 0)] * late
    return [{"day": d, "late": i % 3 == 0, "airport": "ab"[i % 2]} for d, i in day]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "flights.ledger"


@contextmanager
def curator(place, months=3, schema=SCHEMA, budget=BUDGET, **more):
    late = more.pop("late", 0)
    with Curator(tacit.Table(rows(months, late=late), schema), ledger=place, budget=budget, **more) as c:
        yield c


class Blind(DuckDB):
    """An engine that may not read."""

    def register(self, table, key):
        raise AssertionError("data was read")


def test_totals_go_on_as_the_table_grows(place):
    with curator(place, 3) as c:
        counts = c.continual_counts(MONTHLY, rho=50)
        assert counts.closed == 0 and counts.left == 24 and c.remaining == 100 and counts.totals().values == ()
        first = counts.advance("2026-03")
        assert [str(p) for p in first.periods] == ["2026-01-01", "2026-02-01", "2026-03-01"]
        assert first.values == pytest.approx([30, 60, 90], abs=2) and c.remaining == 50
    with curator(place, 6) as c:
        counts = c.continual_counts(MONTHLY, rho=50)
        assert counts.totals() == first and counts.closed == 3
        then = counts.advance(datetime.date(2026, 6, 1))
        assert then.values[:3] == first.values and then.errors[:3] == first.errors
        assert then.values == pytest.approx([30, 60, 90, 120, 150, 180], abs=2)
        assert counts.totals(window=2).values == pytest.approx([30, 60, 60, 60, 60, 60], abs=3)
        assert c.remaining == 50 and len(c.history()) == 1 and counts.left == 18
        c.ledger.verify()


def test_a_version_of_the_data_does_not_start_the_counts_anew(place):
    with curator(place, 3, SCHEMA.replace("[columns.day]", 'version = "2026-03"\n[columns.day]')) as c:
        first = c.continual_counts(MONTHLY, rho=50).advance("2026-03")
    with curator(place, 4, SCHEMA.replace("[columns.day]", 'version = "2026-04"\n[columns.day]')) as c:
        assert c.continual_counts(MONTHLY, rho=50).advance("2026-04").values[:3] == first.values
        assert c.remaining == 50


def test_a_closed_period_is_free_and_its_rows_are_never_read_again(place):
    with curator(place, 3) as c:
        first = c.continual_counts(MONTHLY, rho=50).advance("2026-03")
        entries = c.newest
    with curator(place, 3, engine=Blind()) as c:
        for period in ("2026-03", "2026-01"):
            assert c.continual_counts(MONTHLY, rho=50).advance(period) == first
        assert c.newest == entries
    with curator(place, 4, late=3000) as c:  # rows that are late for a period that was closed
        asked, answer = [], c._registration.engine.answer
        c._registration._engine.answer = lambda plan, *content: asked.append(plan) or answer(plan, *content)
        then = c.continual_counts(MONTHLY, rho=50).advance("2026-04")
        (plan,) = asked
        assert len(plan.keys[0].values) == 1 and plan.groups is None
        assert then.values[:3] == first.values and then.values[3] == pytest.approx(120, abs=2)


def test_exact_counts_are_measured_with_the_noise_that_was_paid_for(place):
    """What is stored of a step is the strategy of the exact counts, off by discrete Gaussian noise of its sigma."""
    with curator(place, 12) as c:
        counts = c.continual_counts(MONTHLY, rho="0.5")
        counts.advance("2026-12")
        mechanism, (step,) = counts.mechanism, [e for e in c.ledger.entries() if e.kind == "step" and e.data]
        noise = np.array(json.loads(step.data), float) - mechanism.exactly([30] * 12)
        assert isinstance(mechanism, ToeplitzCount) and noise.any()
        assert np.max(np.abs(noise)) < 8 * mechanism.noise.sigma  # missed with probability 1e-13
        assert sum((noise / mechanism.noise.sigma) ** 2) > 0.05  # of 12 normals: likewise
        (charge,) = c.history()
        assert charge.loss == mechanism.loss() and charge.purpose.kind == "stream"
        assert charge.loss.relation == tacit.ADD_REMOVE
        assert str(charge.purpose).startswith("counts: continual counts by month, ToeplitzCount(periods=24")


@pytest.mark.parametrize(
    ("budget", "price", "kind", "noise"),
    [
        (tacit.Budget(rho=1), {"rho": "0.5"}, ToeplitzCount, Gaussian),
        (tacit.Budget(epsilon=1), {"epsilon": "0.5"}, TreeCount, Laplace),
        (tacit.Budget(epsilon=1), {"share": "0.5"}, TreeCount, Laplace),
        (tacit.Budget(epsilon=1, delta="1e-6"), {"share": "0.5"}, ToeplitzCount, Gaussian),
        (tacit.Budget(epsilon=1, delta="1e-6"), {"epsilon": "0.5"}, TreeCount, Laplace),
        (tacit.Budget(epsilon=1, delta="1e-6"), {"epsilon": "0.5", "delta": "1e-7"}, ToeplitzCount, Gaussian),
    ],
)
def test_the_planner_states_the_error_of_each_way_and_takes_the_best(place, budget, price, kind, noise):
    schema = SCHEMA.replace("2027-12-31", "2060-12-31")
    with curator(place, 3, schema, budget) as c:
        counts = c.continual_counts(MONTHLY, **price)
        assert [way.error for way in counts.ways] == sorted(way.error for way in counts.ways)
        assert {way.method for way in counts.ways} == {*METHODS} - ({"toeplitz"} if noise is Laplace else set())
        for way in counts.ways:
            assert way.error == pytest.approx(float(np.max(way.mechanism.radii(0.05))))
        assert counts.ways[-1].method == "independent" and "independent, " in str(counts.ways[-1])
        assert not c.history()
        counts.advance("2026-01")
        assert counts.mechanism == counts.ways[0].mechanism
        assert isinstance(counts.mechanism, kind) and isinstance(counts.mechanism.noise, noise)
        assert len(c.history()) == 1 and c.remaining >= c.budget.limit * Fraction("0.49")


def test_few_periods_are_measured_one_by_one(place):
    """In pure epsilon, where a tree has no use."""
    yearly = "SELECT YEAR(day) AS y, COUNT(*) AS n FROM flights GROUP BY y"
    with curator(place, budget=tacit.Budget(epsilon=1)) as c:
        counts = c.continual_counts(yearly, epsilon="0.5")
        assert counts.periods == (2026, 2027) and counts.ways[0].method == "independent"
        assert len(counts.advance(2026).values) == 1


def test_the_method_can_be_chosen_and_is_found_again_without_it(place):
    with curator(place) as c:
        chosen = c.continual_counts(MONTHLY, rho=50, method="tree")
        first = chosen.advance("2026-02")
        assert isinstance(chosen.mechanism, TreeCount)
        again = c.continual_counts(MONTHLY, rho=50)
        assert again.totals() == first and again.advance("2026-02") == first and c.remaining == 50
        with pytest.raises(BadParameter, match=r"^The square root of running totals needs Gaussian noise\."):
            _ = c.continual_counts(MONTHLY, epsilon=1, method="toeplitz").ways


def test_names_and_analysts_have_counts_of_their_own(place):
    with curator(place) as c:
        for i, more in enumerate(({}, {"name": "other"}, {"analyst": "bob"})):
            c.continual_counts(MONTHLY, rho=20, **more).advance("2026-01")
            assert c.remaining == 80 - 20 * i
        assert [charge.analyst for charge in c.history()] == ["analyst", "analyst", "bob"]


def test_what_the_budget_does_not_cover_is_refused_before_data_are_read(place):
    with curator(place, engine=Blind(), budget=tacit.Budget(rho=1)) as c:
        counts = c.continual_counts(MONTHLY, rho=2)
        with pytest.raises(BudgetExceeded):
            counts.advance("2026-01")
        assert not c.history() and c.remaining == 1
    refused = []

    def admit(key, loss, parts):
        refused.append((loss, parts))
        raise tacit.Refused("Not today.")

    with curator(place, engine=Blind(), budget=tacit.Budget(rho=1)) as c:
        view = c.seen_by("ann", admit).continual_counts(MONTHLY, rho="0.5")
        with pytest.raises(tacit.Refused, match="Not today"):
            view.advance("2026-01")
        assert refused == [(view.ways[0].mechanism.loss(), None)] and not c.history()


PERSONS = SCHEMA.replace('unit = "row"', 'unit = "person"\nrows = 2')


@pytest.mark.parametrize(
    ("schema", "question", "says"),
    [
        (PERSONS, MONTHLY, "need a table in which each row is a unit of its own"),
        (SCHEMA, "SELECT COUNT(*) AS n FROM flights", "grouped by its periods alone"),
        (SCHEMA, MONTHLY.replace("COUNT(*)", "AVG(YEAR(day))"), "grouped by its periods alone"),
        (SCHEMA, MONTHLY.replace("COUNT(*)", "2 * COUNT(*)"), "grouped by its periods alone"),
        (SCHEMA, f"{MONTHLY}, airport", "grouped by its periods alone"),
        (SCHEMA, f"{MONTHLY} HAVING n > 3", "grouped by its periods alone"),
        (SCHEMA, f"{MONTHLY} LIMIT 3", "grouped by its periods alone"),
        (SCHEMA, "SELECT airport, COUNT(*) AS n FROM flights GROUP BY airport", "need a public order"),
    ],
)
def test_what_cannot_be_counted_continually_is_refused_from_public_facts(place, schema, question, says):
    with curator(place, schema=schema, engine=Blind()) as c:
        with pytest.raises(BadQuestion, match=says):
            c.continual_counts(question, rho=1)
        assert not c.history()


def test_rows_per_unit_and_joins_are_refused(place):
    with curator(place, engine=Blind()) as c:
        flights = c.table
        first = flights.per_unit(first=tacit.min("day"))
        for asked in (first.group_by(month=first.first.trunc("month")).count(),):
            with pytest.raises(BadQuestion, match="of the rows of one table"):
                c.continual_counts(asked, rho=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"rho": 1, "share": "0.1"},
        {"rho": 1, "delta": "1e-6"},
        {"rho": 1, "method": "best"},
        {"rho": 1, "beta": 2},
        {"rho": 1, "name": 5},
        {"rho": 1, "count": 3},
        {"rho": -1},
    ],
)
def test_terms_without_a_meaning_are_refused(place, wrong):
    with curator(place, engine=Blind()) as c, pytest.raises(BadParameter):
        _ = c.continual_counts(MONTHLY, **wrong).ways


def test_periods_are_named_by_their_labels(place):
    with curator(place) as c:
        counts = c.continual_counts(MONTHLY, rho=50)
        for wrong in ("2026-03-15", "2025-12", "2028-01", "March", "", 3):
            with pytest.raises(BadParameter, match="a period from 2026-01-01 to 2027-12-01"):
                counts.advance(wrong)
        with pytest.raises(BadParameter, match="window"):
            counts.totals(0)
        assert not c.history()
        assert len(counts.advance("2027").values) == 13 and counts.left == 11


def test_a_failure_of_the_engine_closes_nothing(place, monkeypatch):
    with curator(place) as c:
        counts = c.continual_counts(MONTHLY, rho=50)
        first = counts.advance("2026-01")

        def fails(*_):
            raise ValueError("4711")

        with monkeypatch.context() as patch:
            patch.setattr(c._registration.engine, "_answer", fails)
            with pytest.raises(EngineError) as silent:
                counts.advance("2026-03")
        assert silent.value.__context__ is None and "4711" not in str(silent.value)
        assert counts.closed == 1 and counts.totals() == first
        assert counts.advance("2026-03").values[:1] == first.values and c.remaining == 50


def test_two_processes_that_close_a_period_at_once_measure_it_once(place, monkeypatch):
    """While one reads, the other closes the same period: what the first drew nobody sees."""
    with curator(place) as c, curator(place) as other:
        counts, real, done = c.continual_counts(MONTHLY, rho=50), LedgerSession.step, []
        counts.advance("2026-01")

        def late(self, *given):
            if not done:
                done.append(None)
                done[0] = other.continual_counts(MONTHLY, rho=50).advance("2026-03")
            return real(self, *given)

        monkeypatch.setattr(LedgerSession, "step", late)
        assert counts.advance("2026-02") == done[0] and counts.closed == 3
        assert c.remaining == 50 and len(c.history()) == 1
        c.ledger.verify()


WORKER = """
import sys
sys.path.insert(0, {tests!r})
from curator.test_continual import MONTHLY, curator
with curator({place!r}, 12) as c:
    counts = c.continual_counts(MONTHLY, rho=50)
    for month in range(1, 13):
        totals = counts.advance(f"2026-{{month:02d}}")
        print(month, repr(totals.values[-1]), flush=True)
"""


@pytest.mark.parametrize("told", [1, 4])
def test_what_was_told_survives_being_killed(place, told):
    """kill -9 after a few periods: the totals that were told are those of the next process, under one charge."""
    script = WORKER.format(tests=str(Path(__file__).parents[1]), place=str(place))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as worker:
        seen = [worker.stdout.readline().split() for _ in range(told)]
        os.kill(worker.pid, signal.SIGKILL)
        seen += [line.split() for line in worker.stdout if line.endswith("\n")]
    assert worker.returncode == -signal.SIGKILL and len(seen) >= told
    with curator(place, 12) as c:
        counts = c.continual_counts(MONTHLY, rho=50)
        assert counts.closed >= len(seen)
        values = counts.advance("2026-12").values
        assert [float(value) for _, value in seen] == list(values[: len(seen)])
        assert values == pytest.approx(np.arange(1, 13) * 30, abs=2)
        assert c.remaining == 50 and len(c.history()) == 1
        c.ledger.verify()


def test_exact_counts_are_sealed_and_no_export_shows_them(place):
    """The state holds the counts of closed periods; the files and the export of the ledger hold them nowhere."""
    with curator(place) as c:
        counts = c.continual_counts(MONTHLY.replace("WHERE late ", ""), rho="0.01")
        counts.advance("2026-03")
        assert b"90,90,90" in counts._open().state.replace(b" ", b"")
        c.ledger.export(place.with_suffix(".jsonl"))
        public = {name: value for name, value in vars(counts).items() if not name.startswith("_")}
        assert "90, 90, 90" not in f"{public} {counts} {counts.totals()} {counts.ways} {c.history()}"
    for file in place.parent.iterdir():
        stored = file.read_bytes().replace(b" ", b"") if file.is_file() else b""
        assert b"90,90,90" not in stored, file.name


def test_on_a_time_grid_a_closed_period_is_at_once_and_a_new_one_on_the_grid(place):
    with curator(place, time_grid="0.2") as c:
        counts = c.continual_counts(MONTHLY, rho=50)
        start = time.monotonic()
        first = counts.advance("2026-02")
        assert time.monotonic() - start >= 0.2 and counts.advance("2026-01") == first


def test_what_is_shown(place):
    with curator(place) as c:
        counts = c.continual_counts(
            MONTHLY.replace("AS month", 'AS "=month"').replace("BY month", 'BY "=month"'), rho=50
        )
        totals = counts.advance("2026-02")
        assert totals.to_csv().startswith("'=month,total,lower,upper\n2026-01-01,")
        assert str(totals).splitlines()[-1] == "with probability 0.95 each" and "2026-02-01  " in str(totals)
        (row, _) = counts.totals(3).rows()
        assert row.keys() == {"=month", "last_3", "lower", "upper"} and row["lower"] < row["last_3"] < row["upper"]
        assert repr(counts) == "ContinualCounts(24 periods from 2026-01-01 to 2027-12-01)"


def test_the_command_line(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    data = tmp_path / "flights.parquet"
    parquet.write_table(pa.Table.from_pylist(rows(3)), data)
    data.with_suffix(".toml").write_text(SCHEMA)

    def run(*words, code=0):
        result = CliRunner().invoke(app, ["continual", str(data), *words])
        assert result.exit_code == code, result.output
        return result.output

    bought = (MONTHLY, "--rho", "50")
    assert "nothing was charged" in run(*bought, "--budget", "rho=100")
    ways = json.loads(run(*bought, "--json"))
    assert ways["periods"] == 24 and [way["method"] for way in ways["ways"]] == ["toeplitz", "tree", "independent"]
    first = run(*bought, "--through", "2026-02")
    assert "2026-02-01  " in first and "Paid 50; 50 of Budget(rho=100) is left." in first
    assert "Free: it was asked before" in run(*bought, "--through", "2026-01")
    assert json.loads(run(*bought, "--through", "2026-02", "--json"))[1]["month"] == "2026-02-01"
    assert run(*bought, "--window", "2", "--csv").splitlines()[0] == "month,last_2,lower,upper"
    assert "Choose one of --json and --csv." in run(*bought, "--csv", "--json", code=2)
    assert "a period from" in run(*bought, "--through", "soon", code=2)
