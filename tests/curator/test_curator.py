"""The line from a question to a release: one draw for one charge, whatever fails in between."""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import tacit
from tacit.core.errors import (
    BadParameter,
    BadQuestion,
    BudgetExceeded,
    EngineError,
    EngineUnavailable,
    Exhausted,
    TacitError,
)
from tacit.curator import Curator
from tacit.curator.bounds import Bounds
from tacit.curator.registration import Registration
from tacit.engines.duckdb.engine import DuckDB
from tacit.ledger import Ledger
from tacit.query.relation.relation import Derive, PerUnit, Where, fold
from tacit.query.select.outputs import Function, ReleasedColumn
from tacit.query.select.query import Key
from tacit.query.sql import parser
from tacit.query.values.domain import number
from tacit.query.values.nodes import Add, Column, Compare
from tacit.workloads import marginals

SCHEMA = """
[table]
name = "visits"
unit = "person"
rows = 3
size = 500
partition = "year"
[columns.year]
type = "category"
values = ["2023", "2024", "2025"]
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.cost]
type = "real"
lower = 0
upper = 64
[columns.note]
type = "text"
"""
CANARY = "kanarienvogel-7f3a"
ROWS = [
    {"person": i % 200, "year": str(2023 + i % 200 % 3), "age": i % 90, "cost": i % 50 / 2, "note": CANARY}
    for i in range(500)
]
COUNT = "SELECT COUNT(*) AS n FROM visits"


class Failing(DuckDB):
    """An engine that fails as often as it is told to."""

    fail = 0

    def _answer(self, plan, content):
        if self.fail:
            self.fail -= 1
            raise EngineError
        return super()._answer(plan, content)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "visits.ledger"


def curator(place, budget=None, **given):
    return Curator(tacit.Table(ROWS, SCHEMA), ledger=place, budget=budget or tacit.Budget(epsilon=1), **given)


def of_unit(name, unit, rows=1, people=range(50)):
    facts = f'[table]\nname = "{name}"\nunit = "{unit}"\n' + ("" if unit == "row" else f"rows = {rows}\n")
    facts += f'[columns.{name}_x]\ntype = "integer"\nlower = 0\nupper = 9\n'
    return tacit.Table([{"p": i, "h": i // 2, f"{name}_x": i % 10} for i in people for _ in range(rows)], facts)


@pytest.mark.parametrize(("one", "other"), [("p", "row"), ("row", "p"), ("p", "h"), ("p", "P")])
def test_the_tables_of_a_curator_are_of_one_unit(place, one, other):
    """Else a question about one of them would be sold as a promise to the units of the other."""
    with pytest.raises(BadParameter, match="one unit"):
        Curator(of_unit("people", one), of_unit("visits", other), ledger=place, budget=tacit.Budget(epsilon=1))
    assert not place.exists()


def test_an_engine_holds_one_table_of_a_name(tmp_path):
    fewer = SCHEMA.replace("rows = 3", "rows = 1")
    budget = tacit.Budget(epsilon=100)
    with DuckDB() as engine:
        first, again = (
            Curator(tacit.Table(ROWS[:n], SCHEMA), ledger=tmp_path / "a", budget=budget, engine=engine)
            for n in (500, 400)
        )
        assert 450 < first.ask(COUNT, epsilon=9).columns["n"].values[0] < 550
        for rows, place in ((fewer, "a"), (SCHEMA, "b")):
            with pytest.raises(BadParameter, match="one engine for each curator"):
                Curator(tacit.Table(ROWS, rows), ledger=tmp_path / place, budget=budget, engine=engine).ask(
                    COUNT, epsilon=9
                )
        told = again.ask(COUNT, epsilon=9, fresh=True)  # of the same ledger: the data changed
        assert 350 < told.columns["n"].values[0] < 450
        engine.forget("visits")
        other = Curator(tacit.Table(ROWS, fewer), ledger=tmp_path / "a", budget=budget, engine=engine)
        assert 150 < other.ask(COUNT, epsilon=9).columns["n"].values[0] < 250
        spent = first.remaining
        with pytest.raises(BadParameter, match="one engine for each curator"):  # who held it before asks no other's
            first.ask("SELECT SUM(cost) FROM visits", epsilon=9)
        assert first.remaining == spent
        with pytest.raises(BadParameter, match="registered"):
            engine.forget("nobody")


def test_a_file_that_is_gone_is_told_before_a_charge(tmp_path):
    place = tmp_path / "visits.parquet"
    parquet.write_table(pa.Table.from_pylist(ROWS), place)
    with Curator(tacit.Table(place, SCHEMA), ledger=tmp_path / "l", budget=tacit.Budget(epsilon=1)) as c:
        place.unlink()
        with pytest.raises(TacitError, match="cannot read"):
            c.ask(COUNT, epsilon="0.5")
        assert c.remaining == 1
        with pytest.raises(BadParameter, match="rho or share"):
            c.bounds("age", epsilon="0.1", outside=3)


def test_a_file_that_cannot_be_read_again_is_told_before_a_charge(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, budget = tmp_path / "visits.parquet", tacit.Budget(epsilon=100)
    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    table = tacit.Table(path, SCHEMA)
    with DuckDB() as engine:
        first, again = (Curator(table, ledger=tmp_path / "a", budget=budget, engine=engine) for _ in range(2))
        first.ask(COUNT, epsilon=9)
        path.write_bytes(b"")
        with pytest.raises(TacitError):
            again.ask(COUNT, epsilon=8)
        with pytest.raises(TacitError):
            first.ask(COUNT, epsilon=7)
        assert first.remaining == 91


def test_a_closed_curator_does_not_blame_the_data(place):
    with curator(place) as c:
        c.ask(COUNT, epsilon="0.1")
    for door in (lambda: c.ask(COUNT, epsilon="0.1"), lambda: c.bounds("age", epsilon="0.1")):
        with pytest.raises(EngineUnavailable, match="this curator was closed"):
            door()


def test_a_ledger_is_of_one_unit_whatever_tables_come_later(place):
    with Curator(of_unit("people", "p"), ledger=place, budget=tacit.Budget(epsilon=1)) as c:
        c.ask("SELECT COUNT(*) FROM people", epsilon="0.1")
    for unit in ("row", "h"):
        with Curator(of_unit("people", unit), of_unit("visits", unit), ledger=place) as c:
            with pytest.raises(BadParameter, match=r"^The unit or partition of 'people' is not the one"):
                c.ask("SELECT COUNT(*) FROM visits", epsilon="0.1")
            assert c.remaining == Fraction(9, 10)


def test_a_release_names_the_tables_that_its_question_reads(place):
    tables = of_unit("people", "p"), of_unit("visits", "p", rows=4)
    with Curator(*tables, ledger=place, budget=tacit.Budget(epsilon=10**6)) as c:
        both = c.ask("SELECT COUNT(*) AS n FROM people JOIN visits ON people.p = visits.p", epsilon=10**5)
        one = c.ask("SELECT COUNT(*) AS n FROM visits", epsilon=10**5)
    assert (both.noisy, one.noisy) == (((200,),), ((200,),))
    assert [unit["table"] for unit in both.card()["privacy"]["unit"]] == ["people", "visits"]
    assert one.provenance.tables == (("visits", "p", tables[1].schema.digest),)
    assert list(one.card()["schemas"]) == ["visits"] and "private for any one p" in str(one)


def test_a_column_has_the_domain_of_its_table(place):
    """Sensitivities are read off the domains of columns, so one made by hand could ask for less noise than it takes."""
    lie = Column(number(0, 1), "age")
    with curator(place) as c:
        honest = c.table.sum("age").query
        (name, total), rows = honest.aggregates[0], honest.relation
        summed = ((name, replace(total, expression=lie)),)
        folded = PerUnit(rows, (), (("age", fold("sum", rows.rows, lie)),))
        for query in (
            replace(honest, aggregates=summed),
            replace(honest, aggregates=((name, replace(total, expression=Add(number(0, 2), lie, lie))),)),
            replace(honest, keys=(Key("k", lie, (0, 1)),)),
            replace(honest, relation=Derive(rows, (("age", lie),)), aggregates=summed),
            replace(honest, relation=Where(folded, Compare("<=", lie, lie))),
            replace(honest, relation=folded, aggregates=((name, replace(total, expression=folded.folds[0][1])),)),
        ):
            with pytest.raises(BadQuestion, match="columns"):
                c.ask(query, epsilon="0.1")
        forged = replace(rows, known=(("age", lie.domain),))  # under the digest of what is really known
        assert forged == rows
        with pytest.raises(BadQuestion, match="rows"):
            c.ask(replace(honest, relation=forged, aggregates=summed), epsilon="0.1")
        assert c.remaining == 1 and c.ask(honest, epsilon="0.1").noisy


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("year", {}), ("year", {"delta": "1e-9"}), True),
        (("year", {}), ("year", {"groups": 3}), True),
        (("year", {"groups": 5}), ("year", {"groups": 4}), True),
        (("year", {}), ("year", {"groups": 2}), False),
        (("year", {"groups": 1}), ("year", {"groups": 2}), False),
        (("year", {}), ("year", {"beta": "0.01"}), False),
        (("note", {}), ("note", {"delta": "1e-9"}), False),
        (("note", {"delta": "1e-8"}), ("note", {"delta": "1e-9"}), False),
        (("note", {"groups": 3}), ("note", {}), True),
        (("note", {"groups": 2}), ("note", {}), False),
    ],
)
def test_a_cap_that_never_binds_and_a_delta_without_use_ask_nothing_else(place, one, other, same):
    with curator(place, tacit.Budget(epsilon=1, delta="1e-6")) as c:
        left = []
        for key, told in (one, other):
            groups, terms = told.get("groups"), {name: value for name, value in told.items() if name != "groups"}
            released = c.ask(c.table.group_by(key, private=True, groups=groups).count(), share="0.1", **terms)
            left.append((c.remaining, released.provenance.entry))
        assert (left[0] == left[1]) == same


def test_the_errors_of_one_draw_are_told_at_any_beta(place):
    """For pure noise beta has no say in what is drawn; where it has, another beta is another question."""
    with curator(place) as c:
        usual = c.ask(COUNT, epsilon="0.25")
        surer = c.ask(COUNT, epsilon="0.25", beta="0.001")
        assert c.remaining == Fraction(3, 4) and surer.noisy == usual.noisy
        assert surer.beta == Fraction(1, 1000) and "99.9 %" in str(surer)
        ends = [(each.columns["n"].lower[0], each.columns["n"].upper[0]) for each in (surer, usual)]
        assert ends == [tuple(end[0] for end in usual.interval(beta)["n"]) for beta in ("0.001", "0.05")]
        assert ends[0][1] > ends[1][1]
        assert c.ask(COUNT, epsilon="0.25") == usual
        for beta in (0, 1, "1e-400", "nan", True):
            with pytest.raises(BadParameter):
                c.ask(COUNT, epsilon="0.25", beta=beta)
        first = c.ask(COUNT, error=50, beta="0.05")
        assert c.ask(COUNT, error=50, beta="0.01").provenance.entry != first.provenance.entry


def test_a_price_that_is_found_is_another_than_the_same_price_named(place):
    with curator(place) as c:
        price = c.offer(COUNT, error=50).price
        found = c.ask(COUNT, error=50)
        assert c.ask(COUNT, error=50) == found and c.remaining == 1 - price
        assert c.ask(COUNT, epsilon=price).provenance.entry != found.provenance.entry and c.remaining == 1 - 2 * price


def test_an_open_charge_is_completed_at_any_beta(place):
    engine = Failing()
    with curator(place, engine=engine) as c:
        engine.fail = 1
        with pytest.raises(EngineError):
            c.ask(COUNT, epsilon="0.25", beta="0.01")
        usual, surer = c.ask(COUNT, epsilon="0.25"), c.ask(COUNT, epsilon="0.25", beta="0.01")
        assert usual.noisy == surer.noisy and usual.columns["n"].upper < surer.columns["n"].upper
        assert c.remaining == Fraction(3, 4)


def test_a_question_again_is_free_and_the_same_however_it_is_put(place):
    with curator(place) as c:
        first = c.ask("SELECT age < 30 AS young, COUNT(*) AS n FROM visits GROUP BY young", epsilon="0.25")
        assert c.remaining == Fraction(3, 4)
        again = c.ask("select age<30 y, count(*) as m, m / 2 as half from visits group by y order by m", epsilon=0.25)
        assert c.remaining == Fraction(3, 4)
        assert sorted(first.to_arrow()["n"].to_pylist()) == again.to_arrow()["m"].to_pylist()
        table = c.table
        door = c.ask(table.group_by(young=table.age < 30).count(), epsilon="0.25")
        assert door.noisy == first.noisy and c.remaining == Fraction(3, 4)
    with curator(place) as c:  # another process would find the same
        assert c.ask("SELECT age < 30 AS young, COUNT(*) AS n FROM visits GROUP BY young", epsilon="0.25") == first
        fresh = c.ask("SELECT age < 30 AS young, COUNT(*) AS n FROM visits GROUP BY young", epsilon="0.25", fresh=True)
        assert c.remaining == Fraction(1, 2)
        assert fresh.provenance.entry != first.provenance.entry


def test_questions_of_the_same_measures_are_paid_once(place):
    """In any order, and whatever is computed of them; but an error is aimed at for what was asked."""
    with curator(place) as c:
        first = c.ask("SELECT year, COUNT(age) AS n, AVG(age) AS m FROM visits GROUP BY year", epsilon="0.25")
        again = c.ask("SELECT AVG(age) AS mean, year, COUNT(age) AS many FROM visits GROUP BY year", epsilon="0.25")
        assert again.noisy == first.noisy and again.names == ("mean", "year", "many")
        assert again.columns["many"].tolist() == first.columns["n"].tolist()
        assert again.columns["mean"].tolist() == first.columns["m"].tolist()
        alone = c.ask(c.table.group_by("year").mean("age"), epsilon="0.25")
        assert alone.columns["mean_age"].tolist() == first.columns["m"].tolist() and c.remaining == Fraction(3, 4)
        spread = c.ask("SELECT VARIANCE(age) AS v FROM visits", epsilon="0.25")
        both = c.ask("SELECT STDDEV(age) AS d, AVG(age) AS m, VARIANCE(age) AS v FROM visits", epsilon="0.25")
        assert both.noisy == spread.noisy and c.remaining == Fraction(1, 2)
        assert both.columns["d"].values[0] == pytest.approx(spread.columns["v"].values[0] ** 0.5)
        c.ask("SELECT AVG(age) AS m FROM visits", epsilon="0.25")
        assert c.remaining == Fraction(1, 4)
    with curator(place, tacit.Budget(epsilon=1)) as c:
        half = c.ask("SELECT COUNT(*) AS n FROM visits", error=100)
        c.ask("SELECT COUNT(*) AS n FROM visits", error=100)
        assert c.remaining == Fraction(1, 4) - half.price


def test_a_charge_is_completed_by_who_asks_in_another_order(place):
    engine = Failing()
    with curator(place, engine=engine) as c:
        engine.fail = 1
        with pytest.raises(EngineError):
            c.ask("SELECT COUNT(*) AS n, SUM(age) AS s, MEDIAN(age) AS m FROM visits", epsilon="0.5")
        other = c.ask("SELECT MEDIAN(age) AS m, SUM(age) AS s, COUNT(*) AS n FROM visits", epsilon="0.5")
        assert c.remaining == Fraction(1, 2)
        asked = c.ask("SELECT COUNT(*) AS n, SUM(age) AS s, MEDIAN(age) AS m FROM visits", epsilon="0.5")
        assert {k: v.tolist() for k, v in asked.columns.items()} == {k: v.tolist() for k, v in other.columns.items()}
        assert c.remaining == Fraction(1, 2)


def test_the_key_of_a_question_and_what_completes_it_never_change(place, monkeypatch):
    """Else what was bought under an earlier version would be bought again."""
    monkeypatch.setattr(Registration, "_secret", b"secret")
    schema = SCHEMA.replace("upper = 64", 'upper = 64\ngrid = "0.0009765625"')
    with Curator(tacit.Table(ROWS, schema), ledger=place, budget=tacit.Budget(epsilon=1)) as c:
        c.ask("SELECT year, COUNT(*) AS n, AVG(cost) FROM visits WHERE age < 30 GROUP BY year", epsilon="0.25")
        (charge,) = c.history()
    assert charge.key == "5c3ae45aaffd70966c669858bd776077f4063381dca06027dbe738cf20585d64"
    terms = hashlib.sha256(json.dumps(charge.purpose.terms, sort_keys=True).encode()).hexdigest()
    assert terms == "17cc1d73d3641c99bdc01dd4f71c5dbeecdeb2475b0d02a03cf25d068f08bb8a"


def test_a_text_is_read_once_for_all_its_prices(place, monkeypatch):
    read = []
    monkeypatch.setattr(
        parser, "parse", lambda text, *about, parse=parser.parse: read.append(text) or parse(text, *about)
    )
    with curator(place) as c:
        releases = [c.ask(COUNT, epsilon=price) for price in ("0.1", "0.2", "0.1")]
        assert read == [COUNT]
        assert releases[0] == releases[2] and c.remaining == Fraction(7, 10)
        for _ in range(2):
            with pytest.raises(BadQuestion):
                c.ask("SELECT nothing FROM visits", epsilon="0.1")
        for i in range(100):
            c.offer(f"{COUNT} WHERE age < {i}", epsilon="0.1")
        assert len(read) == 103 and c._parse.cache_info().currsize < 100
    with curator(place) as c:  # tables, and what is known of them, are a curator's own
        c.ask(COUNT, epsilon="0.1")
        assert len(read) == 104


def test_a_tenth_ten_times_spends_all_and_then_nothing_is_sold(place):
    with curator(place) as c:
        for i in range(10):
            c.ask(f"SELECT COUNT(*) AS n FROM visits WHERE age < {i + 1}", epsilon=0.1)
        assert c.remaining == 0
        with pytest.raises(BudgetExceeded):
            c.ask(COUNT, epsilon="0.0001")
        assert c.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 3", epsilon=0.1).noisy


def test_an_offer_reads_nothing_and_charges_nothing(place):
    class Blind(Failing):
        def register(self, table, key):
            raise AssertionError("data was read")

    with curator(place, engine=Blind()) as c:
        start = time.perf_counter()
        offers = [c.offer(COUNT, epsilon=e) for e in ("0.1", "0.2", "0.3", "0.4", "0.5")]
        assert (time.perf_counter() - start) / 5 < 0.25  # stated: 50 ms, on a machine that does nothing else
        assert [made.price for made in offers] == [Fraction(i, 10) for i in range(1, 6)]
        assert c.remaining == 1 and not c.history()
        with pytest.raises(AssertionError):
            c.ask(COUNT, epsilon="0.1")


def test_the_price_is_asked_by_accuracy(place):
    with curator(place) as c:
        made = c.offer(COUNT, error=20)
        assert made.errors[0].name == "n" and float(made.price) < 1
        cheaper = c.offer(COUNT, error=40)
        assert cheaper.price < made.price
        assert c.offer(COUNT, relative="0.04").price == made.price  # of 500
        release = c.ask(COUNT, error=20)
        low, high = release.interval()["n"]
        assert high - low <= 40


def test_an_engine_that_fails_keeps_the_charge_and_the_question_is_completed_under_it(place):
    engine = Failing()
    with curator(place, engine=engine) as c:
        c._registration.engine  # noqa: B018 - reads the table
        engine.fail = 2
        for _ in range(2):
            with pytest.raises(EngineError) as raised:
                c.ask(COUNT, epsilon="0.5")
            assert CANARY not in str(raised.value)
            assert c.remaining == Fraction(1, 2)
        release = c.ask(COUNT, epsilon="0.5")
        assert c.remaining == Fraction(1, 2)
        assert [charge.release is not None for charge in c.history() if charge.loss.terms] == [True]
        assert c.ask(COUNT, epsilon="0.5") == release


def test_memory_that_runs_out_does_not_say_how_much_was_asked_for(place, monkeypatch):
    with curator(place) as c:
        monkeypatch.setattr(c._registration.engine, "answer", lambda plan: np.empty(123_457 * 10**12))
        with pytest.raises(EngineError) as raised:
            c.ask(COUNT, epsilon="0.5")
        assert raised.value.__cause__ is raised.value.__context__ is None


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT year, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY year",
        "SELECT MEDIAN(age) AS m, TOP_K(year, 2) FROM visits",
        "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    ],
)
def test_what_is_handed_out_is_what_was_stored(place, asked):
    with curator(place, tacit.Budget(epsilon=9, delta="1e-6")) as c:
        release = c.ask(asked, share=1)
        assert tacit.Release.from_json(c.history()[-1].release) == release


def test_disjoint_parts_cost_the_largest_and_not_the_sum(place):
    with curator(place) as c:
        for year, price in (("2023", "0.5"), ("2024", "0.4"), ("2025", "0.3")):
            c.ask(f"SELECT COUNT(*) AS n FROM visits WHERE year = '{year}'", epsilon=price)
        assert c.remaining == Fraction(1, 2)
        c.ask("SELECT COUNT(*) AS n FROM visits WHERE year IN ('2024', '2025') AND age < 9", epsilon="0.2")
        assert c.ledger.spent(part="year=2024").epsilon() == pytest.approx(0.6)
        c.ask(COUNT, epsilon="0.3")
        with pytest.raises(BudgetExceeded):
            c.ask("SELECT COUNT(*) AS n FROM visits WHERE year = '2024' AND age < 50", epsilon="0.2")
        with pytest.raises(BudgetExceeded):
            c.ask("SELECT COUNT(*) AS n FROM visits WHERE age = 3", epsilon="0.2")


def test_every_part_that_a_schema_may_declare_can_be_asked_about(place):
    labels = ["", "x" * 198, "côte d'or"]
    schema = f'[table]\nname = "t"\nunit = "row"\npartition = "g"\n[columns.g]\ntype = "category"\nvalues = {labels}\n'
    table = tacit.Table([{"g": label} for label in labels], schema)
    with Curator(table, ledger=place, budget=tacit.Budget(epsilon=1)) as c:
        for label in labels:
            c.ask(table.where(table.g == label).count(), epsilon=1)


def test_what_is_left_is_left_where_a_question_looks(place):
    parts = [f"{COUNT} WHERE year = '{year}'" for year in (2023, 2024)]
    Ledger.open(place, tacit.Budget(epsilon=1), "visits", only_allowed=False).close()
    with curator(place) as c:
        c.ask(parts[0], epsilon="0.3")
        assert [c.remaining_for(part) for part in parts] == [Fraction(7, 10), 1] and c.remaining_for(
            COUNT
        ) == c.remaining
        dear = c.offer(parts[1], epsilon="0.9")
        assert c.covers(dear) and not c.covers(c.offer(parts[0], epsilon="0.9"))
        c.ledger.allow("ann", tacit.Budget(epsilon="0.2"))
        assert c.remaining_for(parts[1], analyst="ann") == Fraction(1, 5) and not c.covers(dear, analyst="ann")
    with Curator(tacit.Table(ROWS[1:], SCHEMA), ledger=place) as c:  # somebody may have gone to another part
        assert c.remaining_for(parts[1]) == Fraction(7, 10)


def test_in_a_budget_with_delta_no_question_costs_more_than_its_share(place):
    with curator(place, tacit.Budget(epsilon=1, delta="1e-9")) as c:
        left = c.remaining
        for i in range(12):
            keys = "age / 10" if i % 3 else "year"
            text = f"SELECT FLOOR({keys}) AS k, COUNT(*) AS n FROM visits WHERE age > {i} GROUP BY k"
            c.ask(text if i % 3 else f"SELECT year, SUM(cost) FROM visits WHERE age > {i} GROUP BY year", share="0.08")
            assert left - c.remaining <= Fraction(8, 100)
            left = c.remaining


@pytest.mark.parametrize(
    ("terms", "told"),
    [({}, "A stream needs epsilon= or share="), ({"epsilon": 1, "foo": 3}, "foo"), ({"rho": 1}, "rho")],
)
def test_a_stream_without_its_terms_is_refused(place, terms, told):
    with curator(place) as c, pytest.raises(BadParameter, match=told):
        c.above_threshold(10, **terms)


def test_the_threshold_of_a_stream_is_whole(place):
    with (
        curator(place) as c,
        pytest.raises(BadParameter, match=r"^threshold must be a whole number, as counts are; got 1.5$"),
    ):
        c.above_threshold(1.5, epsilon=1)


def test_what_is_asked_of_a_stream_at_once_is_drawn_once(place):
    """The other asks after this one has looked, and before it takes its step."""
    count = "SELECT COUNT(*) FROM visits"
    with curator(place, tacit.Budget(epsilon=200)) as c:
        one, other = (c.numeric_sparse(10, epsilon=50, count=4) for _ in range(2))
        read, told = one._session.stored.read, []

        def late():
            one._session.stored.read = read
            told.append(other.ask(count))
            return read()

        one._session.stored.read = late
        assert one.ask(count) == told[0] and one.left == 3


def test_a_share_is_of_the_size_that_the_schema_tells_now(place):
    count = "SELECT COUNT(*) AS n FROM visits"
    prices = []
    for size in (100_000, 1000, 100_000):
        schema = SCHEMA.replace("size = 500", f"size = {size}")
        with Curator(tacit.Table(ROWS, schema), ledger=place, budget=tacit.Budget(epsilon=10)) as c:
            prices.append(c.ask(count, relative="0.01").price)
            assert c.offer(count, relative="0.01").errors[0].error <= size / 100
            assert c.remaining == 10 - sum(prices[:2])
    assert prices[0] == prices[2] < prices[1]


def test_the_error_of_a_mean_is_that_of_the_size_that_the_schema_tells_now(place):
    prices = []
    for size in (100_000, 1000, 100_000):
        schema = SCHEMA.replace("size = 500", f"size = {size}")
        with Curator(tacit.Table(ROWS, schema), ledger=place, budget=tacit.Budget(epsilon=100)) as c:
            prices.append(c.ask("SELECT AVG(age) AS m FROM visits", error=1).price)
            assert c.remaining == 100 - sum(prices[:2])
    assert prices[0] == prices[2] < prices[1]


def test_a_life_is_of_who_opened_it(place):
    """Else who has no allowance could ask what another paid for."""
    ledger = Ledger.open(place, tacit.Budget(epsilon=100), "visits", only_allowed=True)
    ledger.allow("ann", tacit.Budget(epsilon=90))
    with curator(ledger, tacit.Budget(epsilon=100), analyst="ann") as c:
        stream = c.numeric_sparse(10, epsilon=20, count=3)
        c.online(c.table.domain("year"), epsilon=20, n=500, queries=10, updates=4)
        for open_it in (
            lambda: c.numeric_sparse(10, epsilon=20, count=3, analyst="bob"),
            lambda: c.online(c.table.domain("year"), epsilon=20, n=500, queries=10, updates=4, analyst="bob"),
        ):
            with pytest.raises(tacit.NoAllowance):
                open_it()
        ledger.allow("bob", tacit.Budget(epsilon=30))
        other = c.numeric_sparse(10, epsilon=20, count=3, analyst="bob")
        assert other.ask(COUNT) and other.left == 2 and stream.left == 3
        assert (ledger.remaining("ann"), ledger.remaining("bob"), ledger.remaining()) == (40, 10, 40)


def test_a_stream_is_paid_once_survives_a_restart_and_ends(place):
    low, high = "SELECT COUNT(*) FROM visits WHERE age = 3", "SELECT COUNT(*) FROM visits WHERE age >= 0"
    with curator(place, tacit.Budget(epsilon=100)) as c:
        opened = c.above_threshold(250, epsilon=90, count=2, queries=50)
        assert c.remaining == 10
        assert (opened.ask(low), opened.ask(high), opened.left) == (False, True, 1)
        alike = tacit.Sparse(threshold=250, epsilon=90, count=2, queries=50, sensitivity=3, monotone=True)
        assert opened.error("0.001") == alike.error("0.001") > opened.error()
    with curator(place, tacit.Budget(epsilon=100)) as c:
        opened = c.above_threshold(250, epsilon=90, count=2, queries=60)  # for which errors are stated, and no more
        assert c.remaining == 10 and opened.left == 1
        assert opened.ask(high) is True and opened.left == 1  # told before
        assert opened.ask("SELECT COUNT(*) FROM visits WHERE age > 1 OR age <= 1") is True
        ended = "This stream is exhausted: it has given its 2 answers above the threshold."
        with pytest.raises(Exhausted, match=rf"^{ended} Open another under a new name=, at its full price\.$"):
            opened.ask("SELECT COUNT(*) FROM visits WHERE age > 5")
        for bad in (
            "SELECT SUM(cost) FROM visits",
            "SELECT year, COUNT(*) FROM visits GROUP BY year",
            "SELECT COUNT(*) * 2 FROM visits",
            "SELECT -COUNT(*) FROM visits",
            "SELECT COUNT(*), COUNT(*) + 1 FROM visits",
            "SELECT COUNT(*) > 3 FROM visits",
            "SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) < 5",
            "SELECT COUNT(*) AS n FROM visits ORDER BY n",
            "SELECT COUNT(*) AS n FROM visits LIMIT 1",
        ):
            with pytest.raises(BadQuestion):
                opened.ask(bad)
        numbers = c.numeric_sparse(250, epsilon=9, count=1, queries=50)
        assert abs(numbers.ask(high) - 500) < 200


@pytest.mark.parametrize(
    ("question", "price", "error"),
    [
        (COUNT, {}, BadParameter),
        (COUNT, {"epsilon": 1, "rho": 1}, BadParameter),
        (COUNT, {"epsilon": "nan"}, BadParameter),
        (COUNT, {"epsilon": "0.1", "delta": 2}, BadParameter),
        (COUNT, {"epsilon": -1}, BadParameter),
        (COUNT, {"rho": "0.1"}, tacit.Refused),
        (COUNT, {"epsilon": 2}, BudgetExceeded),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) COUNT(*) FROM visits",
            {"epsilon": 0.2},
            BadQuestion,
        ),
        ("SELECT * FROM visits", {"epsilon": 0.1}, BadQuestion),
        ("DROP TABLE visits", {"epsilon": 0.1}, BadQuestion),
        (17, {"epsilon": 0.1}, BadParameter),
    ],
)
def test_what_cannot_be_asked_is_refused_and_free(place, question, price, error):
    with curator(place) as c:
        with pytest.raises(error):
            c.ask(question, **price)
        assert c.remaining == 1


@pytest.mark.parametrize("digits", [float("nan"), 1j, np.int64(1), object()])
def test_what_could_not_be_kept_is_refused_before_it_is_bought(place, digits):
    """Else it would be charged and drawn, and then lost, each time it is asked."""
    asked = parser.parse("SELECT AVG(age) AS m FROM visits", {"visits": tacit.Table(ROWS, SCHEMA)}).query
    made = replace(asked, outputs=(("x", Function("round", ReleasedColumn("m"), digits)),))
    with curator(place) as c:
        for buy in (c.offer, c.ask):
            with pytest.raises(BadQuestion, match="cannot be part of a question"):
                buy(made, epsilon="0.5")
        assert c.remaining == 1


def test_digits_of_numpy_are_digits(place):
    with curator(place) as c:
        q = c.table.mean("age")
        m = c.ask(q.select(x=q["mean_age"].round(np.int64(1))), epsilon="0.5").columns["x"].values[0]
        assert m == round(m, 1) and c.remaining == Fraction(1, 2)


class Year(StrEnum):
    FIRST = "2023"


@pytest.mark.parametrize("year", [np.str_("2023"), Year.FIRST])
def test_text_of_another_class_means_what_it_says(place, year):
    with curator(place) as c:
        q = c.table.group_by("year").count()
        assert c.ask(q.having(q["year"] == year), epsilon="0.5").columns["year"].tolist() == ["2023"]


def test_the_price_may_stand_in_the_text(place):
    with curator(place) as c:
        c.ask("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) COUNT(*) AS n FROM visits")
        assert c.remaining == Fraction(9, 10)


def test_nothing_is_left_to_who_may_buy_nothing(place):
    with Ledger.open(place, tacit.Budget(epsilon=1), "visits", only_allowed=True) as ledger:
        c = Curator(tacit.Table(ROWS, SCHEMA), ledger=ledger, analyst="ann")
        offer = c.offer(COUNT, epsilon="0.1")
        assert (c.remaining, c.remaining_for(COUNT), c.covers(offer), ledger.remaining()) == (0, 0, False, 1)
        with pytest.raises(BadParameter, match="allowance must be a Budget"):
            ledger.allow("ann", 3)
        with pytest.raises(BadParameter, match=r"must be in epsilon, as the budget Budget\(epsilon=1\) is; got .*rho"):
            ledger.allow("ann", tacit.Budget(rho=1))
        with pytest.raises(BadParameter, match=r"must be no larger than the budget, Budget\(epsilon=1\); got .*=5"):
            ledger.allow("ann", tacit.Budget(epsilon=5))
        ledger.allow("ann", tacit.Budget(epsilon="0.5"))
        assert (c.remaining, c.remaining_for(COUNT), c.covers(offer)) == (Fraction(1, 2), Fraction(1, 2), True)


@pytest.mark.parametrize("allowance", [tacit.Budget(epsilon="0.1", delta="1e-7"), tacit.Budget(epsilon="0.1")])
def test_an_allowance_is_spent_after_gaussian_noise_of_others(place, allowance):
    """Then the budget has room in divergence alone, and a small allowance in epsilon alone: Laplace noise has both."""
    Ledger.open(place, tacit.Budget(epsilon=1, delta="1e-6"), "visits", only_allowed=False).close()
    with curator(place, tacit.Budget(epsilon=1, delta="1e-6")) as c:
        c.ask(COUNT, rho="0.0001")
        c.ledger.allow("bob", allowance)
        left, had = c.remaining, c.ledger.remaining("bob")
        bought = c.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 40", epsilon="0.05", analyst="bob")
        assert 0 < bought.loss.epsilon() <= 0.05 and had == Fraction(1, 10)
        assert 0 < left - c.remaining <= Fraction(1, 20) and 0 < had - c.ledger.remaining("bob") <= Fraction(1, 20)
        with pytest.raises(BudgetExceeded):
            c.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 41", epsilon="0.5", analyst="bob")


def test_allowances_hold_below_the_cap(place):
    Ledger.open(place, tacit.Budget(epsilon=1), "visits", only_allowed=False).close()
    with curator(place) as c:
        c.ledger.allow("ann", tacit.Budget(epsilon="0.2"))
        c.ask(COUNT, epsilon="0.2", analyst="ann")
        with pytest.raises(BudgetExceeded, match=r"^The allowance of ann, epsilon=0.2, has spent 0.2, and 0 is left"):
            c.ask("SELECT COUNT(*) AS n FROM visits WHERE age = 1", epsilon="0.1", analyst="ann")
        assert c.ask(COUNT, epsilon="0.2", analyst="ann").noisy  # what is released is free for all
        c.ask("SELECT COUNT(*) AS n FROM visits WHERE age = 1", epsilon="0.8", analyst="bob")


def test_what_is_free_does_not_tell_whether_the_table_has_changed(place):
    """Else whoever asks again, when nothing is left, learns without price whether anybody's rows did."""
    with curator(place) as c:
        told = c.ask(COUNT, epsilon=1)
    changed = [*ROWS, {"person": 999, "year": "2023", "age": 1, "cost": 1.0, "note": ""}]
    with Curator(tacit.Table(changed, SCHEMA), ledger=place) as c:
        assert c.ask(COUNT, epsilon=1).noisy == told.noisy and c.remaining == 0


def test_another_version_of_a_table_is_another_question_whatever_it_holds(place):
    with curator(place) as c:
        told = c.ask(COUNT, epsilon="0.25")
    later = tacit.Table(ROWS, SCHEMA.replace("rows = 3", 'rows = 3\nversion = "2026-11"'))
    with Curator(later, ledger=place) as c:
        assert c.ask(COUNT, epsilon="0.25").provenance.entry != told.provenance.entry
        assert c.remaining == Fraction(1, 2)


def test_what_is_not_released_is_nowhere(place, capfd):
    with curator(place, tacit.Budget(epsilon=1, delta="1e-6")) as c:
        c.ask("SELECT note, COUNT(*) FROM visits WHERE age = 1 GROUP BY note", share="0.1")
        for text in (
            "SELECT note FROM visits",
            "SELECT SUM(note) FROM visits",
            "SELECT COUNT(*) FROM visits WHERE note",
        ):
            with pytest.raises(tacit.TacitError) as raised:
                c.ask(text, epsilon="0.1")
            assert CANARY not in str(raised.value)
        c.ledger.export(place.with_suffix(".jsonl"))
    for file in place.parent.rglob("*"):
        if file.is_file() and ".tables" not in str(file):
            assert CANARY.encode() not in file.read_bytes(), file.name
    assert CANARY not in "".join(capfd.readouterr())


def test_two_processes_that_race_hand_out_one_answer(place):
    curator(place).close()
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[2]);"
        "from curator.test_curator import curator, COUNT; from pathlib import Path\n"
        "with curator(Path(sys.argv[1])) as c: print(json.dumps(c.ask(COUNT, epsilon='0.5').noisy))"
    )
    command = [sys.executable, "-c", code, str(place), os.path.dirname(os.path.dirname(__file__))]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = {json.dumps(json.loads(run.communicate(timeout=120)[0])) for run in runs}
    assert len(told) == 1
    with Ledger.open(place) as ledger:
        assert ledger.remaining() == Fraction(1, 2)


def test_bounds_are_bought_and_asked_again_free(place):
    unbounded = SCHEMA.replace("lower = 0\nupper = 64\n", "")
    with Curator(tacit.Table(ROWS, unbounded), ledger=place, budget=tacit.Budget(epsilon=6)) as c:
        with pytest.raises(BadQuestion, match="bounds"):
            c.offer("SELECT SUM(cost) FROM visits", epsilon=1)
        found = c.bounds("cost", epsilon=5, beta="1e-9")
        assert 0 <= found.lower <= 8 and found.upper == 32  # costs are from 0 to 24.5
        assert c.remaining == 1 and c.bounds("cost", epsilon=5, beta="1e-9") == found and c.remaining == 1
        tacit.Schema.load(unbounded.replace('type = "real"', f'type = "real"\n{str(found).partition(chr(10))[2]}'))
        assert "with probability 0.9 " in str(c.bounds("cost", epsilon=5, beta="0.1"))  # of the same draw
        assert c.remaining == 1 and found.beta == Fraction(1, 10**9) and found.beyond > 0
        none = c.bounds("cost", epsilon="0.001", beta="1e-9")
        too_few = "too few values of cost lie together for this price"
        assert none.lower is None and str(none) == f"No bounds were found: {too_few}. Buy them at a higher price."
        for bad in ("note", "year", "nothing", 3):
            with pytest.raises(BadQuestion):
                c.bounds(bad, epsilon=1)
        left = c.remaining
        for beta in (5, 0, "x", float("nan")):
            with pytest.raises(BadParameter):
                c.bounds("cost", epsilon="0.001", beta=beta)
        assert c.remaining == left


def test_the_answer_follows_the_truth(place):
    with curator(place, tacit.Budget(epsilon=10**6)) as c:
        r = c.ask("SELECT year, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY year", epsilon=10**5)
        by_year = {y: [row["age"] for row in ROWS if row["year"] == y] for y in ("2023", "2024", "2025")}
        assert r.to_arrow()["n"].to_pylist() == [len(ages) for ages in by_year.values()]
        assert np.allclose(r.to_arrow()["mean"].to_pylist(), [np.mean(ages) for ages in by_year.values()], atol=0.05)


@pytest.mark.parametrize(("beyond", "told"), [(22, "22"), (1234567.0, "1.24e+06"), (40.2, "40.2")])
def test_what_bounds_promise_is_rounded_up(beyond, told):
    assert f"at most {told} in each doubling" in str(Bounds("x", 0, 8, Fraction(1, 20), beyond))


def test_bounds_are_toml_whatever_the_column_is_called():
    assert tomllib.loads(str(Bounds("\U0001f600", 0, 8, Fraction(1, 20), 3)))["columns"]["\U0001f600"]["upper"] == 8


def test_memory_that_runs_out_says_nothing_at_any_door(place):
    """What could not be allocated may be as large as the data made it."""

    class Full(DuckDB):
        def _answer(self, plan, content):
            raise MemoryError("an array with shape (123457,)")

    with curator(place, tacit.Budget(epsilon=100), engine=Full()) as c:
        domain = c.table.domain("year")
        doors = [
            lambda: c.ask(COUNT, epsilon=1),
            lambda: c.answer(marginals(domain, k=1), epsilon=1),
            lambda: c.bounds("age", epsilon=1),
            lambda: c.above_threshold(5, epsilon=1).ask(COUNT),
            lambda: c.online(domain, epsilon=5, queries=10, updates=2).ask({"year": "2023"}),
        ]
        for door in doors:
            with pytest.raises(EngineError) as told:
                door()
            assert told.value.__cause__ is told.value.__context__ is None


def exactly(c, text):
    """The integers before noise."""
    plan = c._compiled(c.read(text, {})[0]).plan
    return [list(map(int, cells)) for cells in c._registration.engine.answer(plan).cells]


@pytest.mark.parametrize("grid", ["", 'grid = "0.0078125"'])
@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("price = 9.99", 30),
        ("price <= 9.99", 30),
        ("price >= 9.99", 80),
        ("price < 9.99", 0),
        ("price > 9.99", 50),
        ("price <> 9.99", 50),
        ("price IN (1.5, 9.99)", 30),
        ("price BETWEEN 9.99 AND 9.99", 30),
        ("CASE price WHEN 9.99 THEN TRUE END", 30),
        ("-price >= -9.99 AND age >= 0.5", 0),
        ("age < 0.5", 80),
    ],
)
def test_a_real_meets_a_constant_as_both_are_written(place, grid, condition, count):
    """9.99 is on no grid: values are rounded to it as they are read, and so is what they are compared with."""
    schema = f'[table]\nname = "t"\nunit = "row"\n[columns.price]\ntype = "real"\nlower = 0\nupper = 100\n{grid}\n'
    schema += '[columns.age]\ntype = "integer"\nlower = 0\nupper = 9\n'
    rows = [{"price": 9.99 if i < 30 else 20.01, "age": 0} for i in range(80)]
    with Curator(tacit.Table(rows, schema), ledger=place, budget=tacit.Budget(epsilon=1)) as c:
        assert exactly(c, f"SELECT COUNT(*) FROM t WHERE {condition}") == [[count]]
        inner = f"SELECT COUNT(*) FROM (SELECT price, age FROM t) AS q WHERE {condition}"
        assert exactly(c, inner) == [[count]]
        assert exactly(c, "SELECT COUNT(*) FROM (SELECT ROUND(price) AS p FROM t) AS q WHERE p <= 9.5") == [[0]]


def test_keys_of_a_public_table_are_found_on_the_grid_of_a_real(place):
    schema = '[table]\nname = "t"\nunit = "row"\n[columns.price]\ntype = "real"\nlower = 0\nupper = 100\n'
    rows, tiers = [{"price": 9.99}] * 7, [{"price": 9.99, "tier": "low"}, {"price": 20.01, "tier": "high"}]
    table, public = tacit.Table(rows, schema), [tacit.PublicTable(tiers, "tiers")]
    grid = table.schema.domain("price").grid
    with Curator(table, ledger=place, budget=tacit.Budget(epsilon=1), public=public) as c:
        assert exactly(c, "SELECT tier, COUNT(*) FROM t JOIN tiers USING (price) GROUP BY tier") == [[7, 0]]
        with pytest.raises(BadQuestion, match="Two keys of the public table are the same value"):
            table.price.lookup({9.99: "low", round(Fraction("9.99") / grid) * grid: "high"})
        finer = table.price.lookup({9.99: "low", 9.9900000001: "high"})  # a value that the grid does not know
        assert exactly(c, table.group_by(tier=finer).count()) == [[7]]
        floor = table.price.floor().lookup({9.5: "no", 9: "nine", 10: "ten"})  # what is computed is exact
        assert exactly(c, table.group_by(tier=floor).count()) == [[7, 0]]


def test_keys_that_no_text_can_be_are_found_nowhere(place):
    table = tacit.Table([{"word": "a1"}], '[table]\nname = "t"\nunit = "row"\n[columns.word]\ntype = "text"\n')
    keys = {f"a{i}": i for i in range(100)} | {"\ud800": 1}
    with Curator(table, ledger=place, budget=tacit.Budget(epsilon=1)) as c:
        assert exactly(c, table.where(table.word.lookup(keys) == 1).count()) == [[1]]


def test_the_schema_of_a_file_is_beside_it(tmp_path):
    file = tmp_path / "visits.parquet"
    parquet.write_table(pa.Table.from_pylist(ROWS), file)
    file.with_suffix(".toml").write_text(SCHEMA)
    assert tacit.Table(file).schema == tacit.Table(file, SCHEMA).schema == tacit.Table(str(file)).schema
    for other in (ROWS, "hr.visits", "", ".", "postgresql://host/db?table=visits"):
        with pytest.raises(tacit.BadSchema, match=r"^Pass schema="):
            tacit.Table(other)


def test_an_offer_says_what_its_answer_alone_guarantees(place):
    with curator(place, tacit.Budget(epsilon=1, delta="0.9")) as c:
        told = str(c.offer(COUNT, share="0.1"))
        assert "taken alone, the answer is (" in told and ", 1e-09)-differentially private" in told
        keys = c.offer("SELECT note, COUNT(*) FROM visits GROUP BY note", share="0.1", delta="0.3")
        assert ", 0.6" in str(keys) and ", 0.6" in keys.explain()  # more than it fails with, below 1
        for delta in ("1e-5", "0.3"):
            keys = c.offer("SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon="0.1", delta=delta)
            assert re.search(rf"is \(0\.(1|0\d*), {float(delta):g}\)-differentially", str(keys))
    with curator(place.with_name("pure"), tacit.Budget(epsilon=1)) as c:
        assert "alone" not in str(c.offer(COUNT, epsilon="0.1"))  # the price says it


def test_the_key_of_a_left_join_is_told_apart_from_that_of_the_table(place):
    rows = [{"city": ["a", "b", "z"][i % 3]} for i in range(30)]
    schema = '[table]\nname = "t"\nunit = "row"\n[columns.city]\ntype = "category"\nvalues = ["a", "b", "z"]\n'
    public = [tacit.PublicTable([{"city": "a", "big": True}, {"city": "b", "big": False}], "cities")]
    with Curator(tacit.Table(rows, schema), ledger=place, budget=tacit.Budget(epsilon=1), public=public) as c:
        columns = "SELECT COUNT(c.city) AS a, COUNT(city) AS b, COUNT(t.city) AS own"
        joined = "FROM t LEFT JOIN cities c USING (city)"
        assert exactly(c, f"{columns} {joined}") == [[20], [30]]  # the last two are one measure
        assert exactly(c, f"SELECT COUNT(*) {joined} WHERE c.city IS NULL") == [[10]]
        assert exactly(c, f"{columns} FROM t JOIN cities c USING (city)") == [[20]]


@pytest.mark.parametrize("key", ["whole", "sparse", "text"])
def test_long_public_tables_are_looked_up_beside_the_statement(place, key):
    """Written into the statement, DuckDB took 10 kB for each of their entries, and seconds."""
    many = [{"whole": i, "sparse": 1000 * i, "text": f"z{i}", "state": f"s{i % 3}", "pop": i} for i in range(20_000)]
    kind = 'type = "text"' if key == "text" else 'type = "integer"\nlower = 0\nupper = 100000000'
    schema = f'[table]\nname = "t"\nunit = "who"\nrows = 2\n[columns.{key}]\n{kind}\n'
    rows = [{"who": i, key: many[7 * i][key] if i % 5 else None} for i in range(100)]
    public = [tacit.PublicTable(many, "zips")]
    asked = f"SELECT state, COUNT(*), SUM(CLAMP(pop, 0, 30000)) FROM t JOIN zips USING ({key}) GROUP BY state"
    with Curator(tacit.Table(rows, schema), ledger=place, budget=tacit.Budget(epsilon=1), public=public) as c:
        kept = [i for i in range(100) if i % 5]
        counts = [sum(7 * i % 3 == s for i in kept) for s in range(3)]
        sums = [sum(7 * i for i in kept if 7 * i % 3 == s) for s in range(3)]
        assert exactly(c, asked) == [counts, sums]
        plan = c._compiled(c.read(asked, {})[0]).plan
        assert all(len(text) < 10_000 for _, text, _ in c._registration.engine._translated(plan))
