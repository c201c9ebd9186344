"""Releases: facts that survive a round trip, intervals at any confidence, exports that no spreadsheet runs."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import math
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.accounting.atoms import GaussianNoise
from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import Loss, Pure
from tacit.core.errors import BadData, BadParameter, Missing
from tacit.core.exact import from_above
from tacit.core.randomness import SYSTEM
from tacit.core.safe_text import cell
from tacit.engines.base import EngineAnswer
from tacit.engines.rows.reference import Reference
from tacit.mechanisms import KeySelection
from tacit.query.plan.draw import Drawn, draw
from tacit.query.plan.offer import offer
from tacit.query.plan.plan import Total
from tacit.query.python.table import Table
from tacit.query.select.aggregates import (
    count,
    mean,
    median,
    mode,
    quantile,
    stddev,
    sum_,
    units,
)
from tacit.query.select.outputs import Arithmetic, ReleasedColumn
from tacit.query.sql import parser
from tacit.release import Provenance, Release, consistent, versions
from tacit.release.export import _number
from tacit.release.plots import release_bars
from tacit.testing.sources import Seeded

SCHEMA = {
    "table": {"name": "people", "unit": "id", "rows": 2, "size": 200},
    "columns": {
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "spend": {"type": "real", "lower": 0, "upper": 8, "grid": 0.25},
        "region": {"type": "category", "values": ["north", "=2+3", "a,b"]},
        "member": {"type": "boolean"},
        "note": {"type": "text"},
    },
}
ROWS = [
    {
        "id": i // 2,
        "age": 20 + i % 40,
        "spend": (i % 9) * 0.75,
        "region": ["north", "=2+3", "a,b"][i % 3],
        "member": i % 2 == 0,
        "note": "often" if i % 5 else f"only {i}",
    }
    for i in range(200)
]
YEAR = {"lower": date(2024, 1, 1), "upper": date(2024, 12, 31)}
PEOPLE = Table(ROWS, SCHEMA)
SCHEMAS = {"people": PEOPLE.schema}
GENEROUS = Budget(epsilon=1000, delta="1e-3")


def ask(
    question: Any, budget: Budget = GENEROUS, seed: int = 1, provenance: Provenance | None = None, **price: Any
) -> Release:
    """The way of a question, without a ledger."""
    made = offer(question.query, budget, schemas=SCHEMAS, **(price or {"share": "0.5"}))
    with Reference() as engine:
        engine.register(PEOPLE, "00" * 16)
        return Release.of(made, draw(made, engine.answer(made.plan), Seeded(seed)), provenance)


GROUPED = PEOPLE.group_by("region", "member").aggregate(
    n=count(), u=units(), s=sum_("spend"), m=mean("age"), d=stddev("age"), q=quantile("age", "0.9"), top=mode("region")
)
CHOSEN = PEOPLE.group_by("note", private=True).aggregate(n=count(), u=units(), m=mean("age"))


def test_with_next_to_no_noise_the_answer_is_the_truth() -> None:
    found = ask(PEOPLE.group_by("region").aggregate(n=count(), s=sum_("spend"), m=mean("age"), h=median("age")))
    for i, region in enumerate(["north", "=2+3", "a,b"]):
        own = [row for row in ROWS if row["region"] == region]
        assert found.columns["region"].tolist()[i] == region
        assert found.columns["n"].tolist()[i] == len(own)
        assert found.columns["s"].tolist()[i] == pytest.approx(sum(row["spend"] for row in own), abs=1)  # type: ignore[misc]
        assert found.columns["m"].tolist()[i] == pytest.approx(np.mean([row["age"] for row in own]), abs=0.5)
        assert abs(found.columns["h"].tolist()[i] - np.median([row["age"] for row in own])) <= 2


def test_a_column_is_found_by_its_name() -> None:
    found = ask(PEOPLE.group_by("region").aggregate(n=count()))
    assert (found["n"].lower <= found["n"].values).all() and found["region"].tolist() == ["north", "=2+3", "a,b"]
    with pytest.raises(BadParameter, match="one of region, n"):
        found["m"]


def test_an_error_is_that_of_the_farther_end() -> None:
    """A mean at the end of its range: what lies beyond is cut off."""
    made = offer(PEOPLE.mean("age").query, Budget(epsilon=10), schemas=SCHEMAS, epsilon=2)
    column = (found := Release.of(made, Drawn(None, ((100,), (5000,)), True)))["mean_age"]
    assert column.upper[0] - column.values[0] < column.values[0] - column.lower[0]
    assert found.error("0.05") == {"mean_age": column.values[0] - column.lower[0]}


def test_a_release_of_another_format_is_refused() -> None:
    old = {**json.loads(ask(PEOPLE.count()).to_json()), "format": 1}
    with pytest.raises(BadParameter, match="format"):
        Release.from_json(json.dumps(old))


def test_measures_stay_with_the_keys_that_were_chosen() -> None:
    question = PEOPLE.group_by("note", private=True).aggregate(n=count(), s=sum_("age"))
    made = offer(question.query, GENEROUS, schemas=SCHEMAS, share="0.5")
    cells = tuple(np.array([1, 1, 900]) for _ in made.plan.measures)
    found = draw(made, EngineAnswer(cells, (("a",), ("b",), ("z",)), np.array([1, 1, 300])), Seeded(1))
    assert found.keys == (("z",),) and all(abs(values[0] - 900) < 100 for values in found.noisy[:-1])


def test_dates_are_dates_to_pandas() -> None:
    pytest.importorskip("pandas")
    rows, dates = [{"d": date(2024, 2, 3)}], {"d": {"type": "date", **YEAR}}
    days = Table(rows, {"table": {"name": "people", "unit": "row"}, "columns": dates})
    made = offer(days.group_by("d").count().query, GENEROUS, epsilon=500)
    frame = Release.of(made, Drawn(None, ((0,) * 366,), True)).to_pandas()
    assert frame["d"].dt.year.unique().tolist() == [2024]


def test_no_interval_of_a_sum_of_what_is_never_negative_is_below_zero() -> None:
    found = ask(PEOPLE.group_by("region").aggregate(s=sum_("spend")), Budget(epsilon=1), epsilon="0.001")["s"]
    assert (found.lower == np.minimum(np.maximum(found.lower, 0), found.values)).all() and (found.upper >= 0).all()
    below = ask(PEOPLE.aggregate(s=sum_(PEOPLE.spend * -1)), Budget(epsilon=1), epsilon="0.001")["s"]
    assert (below.upper == np.maximum(np.minimum(below.upper, 0), below.values)).all() and (below.lower <= 0).all()


def test_values_without_names_are_no_revision_even_of_an_aggregate_called_values() -> None:
    found = ask(PEOPLE.group_by("region").aggregate(values=count()))
    assert found.revise({"values": [1, 2, 3]}, "so").columns["values"].tolist() == [1, 2, 3]
    with pytest.raises(BadParameter, match=r"mapping from names of aggregates \(values\) to 3 whole numbers each"):
        found.revise([1, 2, 3], "so")  # type: ignore[arg-type]


@pytest.mark.parametrize("question", [GROUPED, CHOSEN, PEOPLE.count()], ids=["grouped", "chosen", "one"])
@pytest.mark.parametrize("budget", [GENEROUS, Budget(rho=5, delta="1e-6")], ids=["epsilon", "rho"])
def test_a_release_survives_the_round_trip(question: Any, budget: Budget) -> None:
    origin = Provenance(
        "a question", (("people", "id", "ab" * 32),), repr(budget), "2026-01-01T00:00:00Z", versions(), 7
    )
    price = {"rho": 1} if budget.rho else {"share": "0.05"}
    release = ask(question, budget, provenance=origin, **price)
    text = release.to_json()
    again = Release.from_json(text)
    assert again == release
    assert again.to_json() == text
    assert again.provenance == replace(origin, seeded=True)
    assert str(again) == str(release)
    assert json.loads(text)["answer"].keys() == set(release.names)
    json.dumps(release.card(), allow_nan=False)


GOLDEN = Path(__file__).parent / "golden"


def test_what_is_stored_is_the_same_to_the_byte_and_can_be_read() -> None:
    """A ledger keeps releases for years: this is one of them."""
    stored = (GOLDEN / "release.json").read_bytes()
    question = PEOPLE.where(PEOPLE.age >= 18).group_by("region")
    question = question.aggregate(n=count(), m=mean("spend"), q=quantile("age", "0.9"))
    drawn = Drawn(None, (((5,), (77,), (82,)), (41, -3, 17), (40, 1, 18), (12, 0, -9)), False)
    facts = ("a question", (("people", "id", "ab" * 32),), "Budget(epsilon=2)", "2026-01-01T00:00:00Z")
    provenance = Provenance(*facts, (("python", "3.11"),), 7)
    made = offer(question.query, Budget(epsilon=2), schemas=SCHEMAS, epsilon="0.3")
    release = Release.of(made, drawn, provenance)
    assert release.facts() == stored
    again = Release.from_json(stored)
    assert again == release and again.facts() == stored
    assert again.columns["n"].tolist() == [41, -3, 17]
    assert again.columns["q"].tolist() == [23, 95, 100]


def test_no_text_of_a_key_is_obeyed_by_a_terminal() -> None:
    made = offer(PEOPLE.group_by("note", private=True).count().query, Budget(epsilon=1, delta="1e-6"), share="0.5")
    drawn = Drawn((("\x1b[31mred\0\u202e",),), ((4000,),) * len(made.steps), False)
    shown = str(Release.of(made, drawn))
    assert "\\x1b[31mred\\x00\\u202e" in shown and "\x1b" not in shown


def test_what_is_chosen_is_exported_without_an_interval() -> None:
    """It would be the whole public range, which says nothing; how many rows it is away is in the sentence."""
    release = ask(PEOPLE.aggregate(m=median("age"), n=count()).select(m=lambda q: q["m"], n=lambda q: q["n"]))
    assert release.to_arrow().column_names == ["m", "n", "n_lower", "n_upper"]
    assert release.to_csv().splitlines()[0] == "m,n,n_lower,n_upper"


def test_a_release_says_how_far_a_quantile_is_from_its_rank() -> None:
    """And in what steps, where its cells have several values."""
    found = ask(PEOPLE.median("age"), epsilon=1)
    away = f"is at most {from_above(found.mechanisms[0].error())} rows away from rank 0.5, with 95 % probability."
    assert f"median_age {away}" in str(found)
    surer = replace(found, beta=Fraction(1, 1000))
    away = f"{from_above(found.mechanisms[0].error(beta='0.001'))} rows away from rank 0.5"
    assert f"{away}, with 99.9 % probability." in str(surer)
    made = offer(WIDE.median("x").query, Budget(epsilon=1), epsilon=1)
    wide = Release.of(made, draw(made, EngineAnswer((np.eye(1, made.steps[0].mechanism.cells, 7, int),)), Seeded(1)))  # type: ignore[attr-defined]
    step = dict(wide.recipes)["median_x"].coarse
    assert step > 1 and f"median_x is the middle of a cell {step:g} wide, at most" in str(wide)


def test_a_release_says_what_is_clamped() -> None:
    few = PEOPLE.where(PEOPLE.spend < 5).group_by("region")
    release = ask(few.aggregate(n=count(), m=mean("spend"), q=quantile("age", "0.9")))
    assert "Values are clamped: age to [0, 100] and spend to [0, 8]." in str(release)
    card = release.card()
    assert card["accuracy"]["clamped"] == {"spend": [0.0, 8.0], "age": [0, 100]}
    assert card["accuracy"]["clamped_by_unit"] == {}
    assert [(m["of"], m["step"]) for m in card["mechanisms"]] == [(["q"], 1), (["n"], 1), (["m"], 1), (["m"], 0.25)]
    assert "Values of" not in str(ask(PEOPLE.group_by("region").count()))
    twice = PEOPLE.derive(twice=PEOPLE.spend * 2).per_unit(all=sum_("twice"))
    assert ask(twice.mean("all")).card()["accuracy"]["clamped"] == {"spend": [0.0, 8.0]}
    both = PEOPLE.derive(a=PEOPLE.age).join(PEOPLE.derive(b=PEOPLE.spend))
    found = ask(both.aggregate(a=mean("a"), b=sum_("b")))
    for release in (found, Release.from_json(found.to_json())):
        assert release.card()["accuracy"]["clamped"] == {"age": [0, 100], "spend": [0.0, 8.0]}
        assert "age to [0, 100] and spend to [0, 8]" in str(release)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "3", '{"format":1}', '{"format":2,"facts":{},"provenance":{}}', "[" * 9999]
)
def test_other_texts_are_no_releases(text: str) -> None:
    with pytest.raises(BadParameter):
        Release.from_json(text)


def test_intervals_at_every_confidence() -> None:
    release = ask(GROUPED, epsilon=5)
    widths = [release.error(beta) for beta in ("0.5", "0.05", "1e-6")]
    for name in ("n", "u", "s", "m"):
        errors = [width[name] for width in widths]
        assert errors == sorted(errors) and errors[0] < errors[-1]
    low, high = release.interval("0.05")["n"]
    assert (high - low <= 2 * release.mechanisms[0].error(beta="0.05")).all()
    assert "region" not in release.interval()
    assert release.error()["q"] > 0  # ranks


def test_an_output_of_several_aggregates_keeps_its_confidence() -> None:
    """Each of its measures is given a smaller share of beta, so its interval is wider than its parts' together."""
    query = PEOPLE.aggregate(n=count(), s=sum_("spend")).query
    both = Arithmetic("+", ReleasedColumn("n"), ReleasedColumn("s"))
    release = ask(SimpleNamespace(query=replace(query, outputs=(("both", both),))), epsilon=2)
    rows, total = release.mechanisms
    noises = rows.noise(), total.noise()  # type: ignore[attr-defined]
    points = [np.array(noise.support(1e-9)) for noise in noises]
    masses = [np.array([noise.mass(int(z)) for z in zs]) for noise, zs in zip(noises, points, strict=True)]
    off = np.abs(points[0][:, None] + points[1][None, :] / 4)
    missed = np.outer(*masses)[off > release.error("0.05")["both"]].sum()
    assert 0 < missed <= 0.05
    assert release.error("0.05")["both"] > 1.05 * (rows.error(beta="0.05") + total.error(beta="0.05") / 4)


def test_what_is_hidden_is_not_there() -> None:
    release = ask(CHOSEN, share="0.02")
    assert release.columns["note"].tolist() == ["often"]
    assert b"only" not in release.to_json()


def test_an_empty_release_looks_like_any_other() -> None:
    made = offer(CHOSEN.query, GENEROUS, share="0.02", schemas=SCHEMAS)
    none = np.array([], np.int64)
    empty = Release.of(made, draw(made, EngineAnswer((none,) * len(made.plan.measures), (), none), Seeded(1)))
    full = ask(CHOSEN, share="0.02")
    assert empty.to_arrow().schema == full.to_arrow().schema
    assert empty.to_arrow().num_rows == 0 and full.to_arrow().num_rows == 1
    assert empty.to_csv() == full.to_csv().splitlines(keepends=True)[0]
    assert Release.from_json(empty.to_json()) == empty
    assert str(empty)


def test_an_answer_without_its_keys_is_refused() -> None:
    made = offer(CHOSEN.query, GENEROUS, share="0.02", schemas=SCHEMAS)
    with pytest.raises(BadData):
        draw(made, EngineAnswer((np.array([1]),) * len(made.plan.measures)), SYSTEM)


def test_sums_beyond_64_bits_are_drawn_too() -> None:
    """No table has so many units, and whatever an engine says is drawn."""
    made = offer(PEOPLE.sum("spend").query, Budget(epsilon=1), epsilon=1)
    drawn = draw(made, EngineAnswer((np.array([1 << 80], object),)), SYSTEM)
    assert 1 << 59 < drawn.noisy[0][0] < 1 << 61


LARGEST = 10**12
COLUMN = {"x": {"type": "integer", "lower": 0, "upper": LARGEST}}
WIDE = Table([], {"table": {"name": "wide", "unit": "row"}, "columns": COLUMN})


@pytest.mark.parametrize("rows", [1, 2 * 10**6, 1 << 35])
def test_no_sum_is_too_large_for_its_noise(rows: int) -> None:
    """Each row holds the largest value: the noise is that of zeros, and every interval holds."""
    question = WIDE.aggregate(n=count(), s=sum_("x"), m=mean("x"), d=stddev("x"))
    made = offer(question.query, Budget(epsilon=8), epsilon=8, beta="1e-9")
    each = [m.expression.meaning({"x": LARGEST}) if isinstance(m, Total) else 1 for m in made.plan.measures]
    exact = [rows * value for value in each]  # type: ignore[operator]
    noises, drawn = (
        draw(made, EngineAnswer(tuple(np.array([v]) for v in values)), Seeded(1))
        for values in ([0] * len(exact), exact)
    )
    assert [y - x for (y,), x in zip(drawn.noisy, exact, strict=True)] == [z for (z,) in noises.noisy]
    release = Release.of(made, drawn)
    assert Release.from_json(release.to_json()) == release
    for name, truth in (("n", rows), ("s", rows * LARGEST), ("m", LARGEST), ("d", 0)):
        column = release.columns[name]
        assert column.lower[0] <= truth <= column.upper[0]


def test_intervals_beyond_all_whole_floats_are_exported() -> None:
    made = offer(WIDE.sum("x").query, Budget(epsilon=1), epsilon=1)
    release = Release.of(made, draw(made, EngineAnswer((np.array([3 * 10**16 + 1]),)), Seeded(1)))
    column, table = release.columns["sum_x"], release.to_arrow()
    assert table["sum_x"].to_pylist() == column.tolist() and column.kind == "integer"
    assert (table["sum_x_lower"].to_pylist(), table["sum_x_upper"].to_pylist()) == (
        column.lower.tolist(),
        column.upper.tolist(),
    )


def test_intervals_of_chosen_keys_hold_for_those_that_are_shown() -> None:
    """Keys of five units each, below the threshold: those that are shown are shown because of their noise."""
    question, keys, truth = PEOPLE.group_by("note", private=True).aggregate(u=units()), 60_000, 5
    made = offer(question.query, Budget(epsilon=2, delta="1e-3"), epsilon=2, delta="1e-3", schemas=SCHEMAS)
    found = EngineAnswer((), tuple((f"{i}",) for i in range(keys)), np.full(keys, truth))
    release = Release.of(made, draw(made, found, Seeded(1)))
    column, selection = release.columns["u"], release.mechanisms[-1]
    assert isinstance(selection, KeySelection) and truth < selection.threshold and len(column) > 400
    missed = np.mean((column.lower > truth) | (column.upper < truth))
    assert missed <= 0.05 + math.sqrt(math.log(1e9) / (2 * len(column)))  # Hoeffding: a false alarm once in 1e9
    assert "given that its key is shown" in str(release)
    assert "given that" not in str(ask(PEOPLE.count()))


def test_chosen_booleans_are_exported() -> None:
    release = ask(PEOPLE.mode("member"))
    (mode,) = release.columns["mode_member"].tolist()
    assert json.loads(release.to_json())["answer"]["mode_member"]["values"] == [mode]
    assert release.to_arrow()["mode_member"].to_pylist() == [mode] and isinstance(mode, bool)


def test_what_is_shown_is_ordered_and_limited_after_the_noise() -> None:
    question = PEOPLE.group_by("region").aggregate(n=count()).order_by("-n").limit(2)
    release = ask(question)
    counts = release.columns["n"].tolist()
    assert len(counts) == 2 and counts == sorted(counts, reverse=True)
    assert len(release.noisy[0]) == 3


def test_tables() -> None:
    release = ask(GROUPED)
    table = release.to_arrow()
    assert table.num_rows == 6
    assert [str(table.schema.field(name).type) for name in ("region", "member", "n", "m", "n_lower", "top")] == [
        "string",
        "bool",
        "int64",
        "double",
        "double",
        "string",
    ]
    assert "region_lower" not in table.schema.names


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library: str) -> None:
    release = ask(GROUPED)
    if importlib.util.find_spec(library) is None:
        with pytest.raises(Missing, match=f"pip install {library}"):
            getattr(release, f"to_{library}")()
    else:
        assert list(getattr(release, f"to_{library}")().columns) == release.to_arrow().schema.names


def test_no_cell_of_the_csv_is_a_formula() -> None:
    release = ask(PEOPLE.group_by("region").aggregate(**{"@n": count()}))
    text = release.to_csv()
    assert text.endswith("\r\n") and '"a,b"' in text
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header[1] == "'@n"
    assert [row[0] for row in rows] == ["north", "'=2+3", "a,b"]


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"], include_characters="\t\n\u200c\u200d")))
def test_no_text_begins_a_formula(text: str) -> None:
    assert not cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell(text).removeprefix("'") == text.removeprefix("'")


def test_counts_below_zero_are_shown_as_zero_for_free() -> None:
    release = ask(
        PEOPLE.group_by("region").aggregate(n=count(), s=sum_("spend")), Budget(epsilon=1), epsilon="0.001", seed=3
    )
    assert min(release.noisy[0]) < 0
    clipped = release.nonnegative()
    assert clipped.columns["n"].tolist() == [max(0, n) for n in release.columns["n"].tolist()]
    for end in ("lower", "upper"):  # no count is below zero, so an interval loses nothing there
        now, before = (getattr(r.columns["n"], end) for r in (clipped, release))
        assert (now == np.maximum(before, 0)).all()
    assert release.columns["n"].lower.min() < 0
    assert clipped.columns["s"].tolist() == release.columns["s"].tolist()
    assert clipped.card()["post_processing"] == ["n: negative values set to zero"]
    assert Release.from_json(clipped.to_json()) == clipped


KNOWN = PEOPLE.region.coalesce("none")


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_groups_and_their_total_are_made_to_agree(seed: int) -> None:
    groups = ask(PEOPLE.group_by(region=KNOWN).aggregate(n=count()), epsilon="0.5", seed=seed)
    total = ask(PEOPLE.aggregate(n=count()), epsilon=5, seed=seed + 1)
    a, b = consistent(groups, total, "n")
    assert sum(a.columns["n"].tolist()) == b.columns["n"].tolist()[0]
    assert all(type(n) is int for n in a.columns["n"].tolist())
    moved = [x - y for x, y in zip(a.columns["n"].tolist(), groups.columns["n"].tolist(), strict=True)]
    assert max(moved) - min(moved) <= 1  # shared out equally
    near, far = (abs(b.columns["n"].tolist()[0] - n) for n in (total.noisy[0][0], sum(groups.noisy[0])))
    assert near <= far + 1  # the total's own noise is smaller


def test_what_does_not_add_up_is_not_made_to() -> None:
    groups, total = ask(PEOPLE.group_by(region=KNOWN).aggregate(n=count())), ask(PEOPLE.aggregate(n=count()))
    consistent(groups, total, "n")
    for a, b, name in ((groups, total, "m"), (total, groups, "n"), (groups, groups, "n")):
        with pytest.raises(BadParameter):
            consistent(a, b, name)
    other = ask(PEOPLE.where(PEOPLE.age > 30).aggregate(n=count()))
    with pytest.raises(BadParameter):
        consistent(groups, other, "n")


def test_the_card_says_what_a_reader_must_know() -> None:
    provenance = Provenance(tables=(("people", "id", "ab" * 32),), time="2026-01-01", versions=versions(), seeded=True)
    card = ask(CHOSEN, Budget(rho=5, delta="1e-6"), provenance=provenance, rho=1).card()
    assert card["privacy"]["definition"] == "approximate zero-concentrated differential privacy"
    assert card["privacy"]["rho"] == pytest.approx(1)
    assert 0 < card["privacy"]["failure_delta"] <= 1e-6
    assert card["privacy"]["relation"] == "AddRemove" and card["privacy"]["rows_per_unit"] == 2
    assert {m["name"] for m in card["mechanisms"]} == {"Gaussian", "KeySelection"}
    assert all("sensitivity" in m for m in card["mechanisms"])
    assert card["randomness"].startswith("seeded") and card["implementation"]["tacit"]
    pure = ask(PEOPLE.count(), Budget(epsilon=1), epsilon="0.25").card()
    assert pure["privacy"]["epsilon"] == 0.25 and pure["privacy"]["definition"] == "pure differential privacy"
    for question, price, definition in [
        (PEOPLE.count(), {"rho": 1}, "zero-concentrated differential privacy"),
        (CHOSEN, {"epsilon": 1, "delta": "1e-6"}, "approximate differential privacy"),  # pure but for its failures
    ]:
        made = ask(question, Budget(rho=5, delta="1e-6"), **price).card()
        assert made["privacy"]["definition"] == definition


def test_the_card_says_what_each_error_counts() -> None:
    accuracy = ask(GROUPED).card()["accuracy"]
    units = {"n": "rows", "u": "units", "s": "values", "m": "values", "d": "values", "q": "ranks", "top": "rows"}
    assert accuracy["of"] == units | {"member": "values"} and accuracy["of"].keys() == accuracy["largest_error"].keys()
    assert ask(PEOPLE.variance("age")).card()["accuracy"]["of"] == {"variance_age": "squared values"}


def test_the_card_names_the_hash_of_an_entry_where_it_is_known() -> None:
    assert "hash" not in ask(PEOPLE.count(), provenance=Provenance(entry=7)).card()["accounting"]
    sealed = ask(PEOPLE.count(), provenance=Provenance(entry=7, entry_hash="ab" * 32))
    assert sealed.card()["accounting"]["hash"] == "ab" * 32


def test_a_person_can_read_it() -> None:
    text = str(ask(PEOPLE.group_by("region").aggregate(n=count()), Budget(epsilon=1), epsilon=1))
    assert "95 % probability" in text and "Taken alone, this answer is 1-diff" in text and "north" in text
    assert "SEED" in text
    assert "inf" not in str(ask(CHOSEN, Budget(epsilon=5, delta="1e-2"), share=1))


def test_whole_numbers_are_shown_in_full() -> None:
    made = offer(WIDE.sum("x").query, Budget(epsilon=1), epsilon=1)
    release = Release.of(made, Drawn(None, ((1_457_013_164,),), False))
    column = release.columns["sum_x"]
    shown = str(release).splitlines()[1].strip()
    assert shown.startswith("1457013164 [") and "e+" not in shown
    assert shown.endswith(f"[{math.floor(column.lower[0])}, {math.ceil(column.upper[0])}]")
    made = offer(PEOPLE.sum("spend").query, Budget(epsilon=1), epsilon=1)
    real = Release.of(made, Drawn(None, ((4 * 728_507_000,),), False))
    assert real.columns["sum_spend"].kind == "real" and "728507000 [" in str(real)


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (1457013164, 1457012999.5, 1457013200.25, "1457013164 [1457012999, 1457013201]"),
        (728507000.0, 728506912.25, 728507087.75, "728507000 [728506912.2, 728507087.8]"),
        (1457013164.5, 1457013164.25, 1457013164.75, "1457013164.5 [1457013164.25, 1457013164.75]"),
        (39.41, 38.123456, 40.2, "39.41 [38.1234, 40.2]"),
        (1 / 3, 1 / 3 - 1e-9, 1 / 3 + 1e-9, "0.333333333333 [0.333333332333, 0.333333334334]"),
        (5.0, 5 - 2.0**-46, 5 + 2.0**-46, "5 [4.99999999999998, 5.00000000000002]"),
        (1e-9, -49.5, 50.0, "1e-9 [-49.5, 50]"),
        (-0.0, -1e-7, 2.5, "0 [-0.00001, 2.5]"),
        (None, 0.0, 100.0, "- [0, 100]"),
        (None, -math.inf, math.inf, "- [-inf, inf]"),
        (2.5, 2.5, 2.5, "2.5"),
        (728507000.0, 728507000.0, 728507000.0, "728507000"),
        (1.5e300, 1.25e300, math.inf, "1.5e+300 [1.25e+300, inf]"),
    ],
)
def test_how_numbers_are_shown(value: Any, low: float, high: float, shown: str) -> None:
    assert _number(value, low, high) == shown


@given(*(st.floats(-1e9, 1e9) | st.floats(allow_nan=False, allow_infinity=False) for _ in range(3)))
def test_what_is_shown_holds_what_was_computed(a: float, b: float, c: float) -> None:
    low, value, high = sorted((a, b, c))
    if low < high:
        shown = _number(value, low, high)
        texts = shown.translate(str.maketrans("", "", "[],")).split()
        at, start, end = map(Fraction, texts)
        assert float(texts[1]) <= low and high <= float(texts[2]) and start <= at <= end
        if min(value - low, high - value) > (high - low) / 1000 > 1e-14 * max(abs(low), abs(high)):
            assert start < at < end


def test_a_person_is_told_how_many_rows_are_joined() -> None:
    other = Table(ROWS, SCHEMA | {"table": {"name": "visits", "unit": "id", "rows": 3}})
    said = "SELECT COUNT(*) FROM people JOIN visits ON people.id = visits.id"
    query = parser.parse(said, {"people": PEOPLE, "visits": other}, {}).query
    made = offer(query, GENEROUS, epsilon=1)
    text = str(Release.of(made, draw(made, EngineAnswer((np.array([5]),)), Seeded(1))))
    assert "At most 2 rows of people and 3 of visits are used for each unit." in text
    assert "At most 2 rows of each unit are used." in str(ask(PEOPLE.count()))
    capped = ask(PEOPLE.group_by("region", groups=1).count())
    assert "At most 2 rows of each unit are used, in at most 1 group." in str(capped)


@pytest.mark.parametrize(
    ("asked", "picked"),
    [
        (lambda q: q, False),
        (lambda q: q.order_by("-n"), False),
        (lambda q: q.limit(2), False),
        (lambda q: q.order_by("region").limit(2), False),
        (lambda q: q.having(lambda q: q["region"] != "north"), False),
        (lambda q: q.order_by("-n").limit(2), True),
        (lambda q: q.having(lambda q: q["n"] * 2 > 1), True),
    ],
)
def test_who_reads_it_is_told_when_noise_picked_the_rows(asked: Any, picked: bool) -> None:
    release = ask(asked(PEOPLE.group_by("region").aggregate(n=count())), epsilon=1)
    assert ("decided which rows are shown" in str(release)) == picked
    assert ("the selection of the rows shown by noisy values" in release.card()["accuracy"]["covers"]) == picked


@pytest.mark.parametrize("epsilon", [1, 50])  # at 50 there is no noise that is worth an interval
def test_a_ranking_says_that_noise_made_it(epsilon: int) -> None:
    """Also where no column shows the numbers that it was made by, or none has an interval."""
    counted = PEOPLE.group_by("region").aggregate(n=count()).order_by("-n")
    hidden = parser.parse(
        "SELECT region FROM people GROUP BY region ORDER BY COUNT(*) DESC LIMIT 2", {"people": PEOPLE}, {}
    )
    for question in (counted.limit(2), hidden):
        assert "Noisy values decided which rows are shown" in str(ask(question, epsilon=epsilon))
    assert "The rows are ordered by noisy values." in str(ask(counted, epsilon=epsilon))
    assert "order of" not in str(ask(PEOPLE.group_by("region").count().order_by("region"), epsilon=epsilon))


def test_only_the_operating_system_draws_without_a_mark() -> None:
    made = offer(PEOPLE.count().query, Budget(epsilon=1), epsilon=1)
    answer = EngineAnswer((np.array([5]),))
    assert not Release.of(made, draw(made, answer)).provenance.seeded
    marked = Release.of(made, draw(made, answer, Seeded(1)), Provenance("a question"))
    assert marked.provenance == Provenance("a question", seeded=True)


def test_a_picture() -> None:
    release = ask(GROUPED)
    chart = release.plot().to_dict()
    assert len(chart["layer"][0]["data"]["values"] if "data" in chart["layer"][0] else chart["data"]["values"]) == 6
    assert "m, with 95 %" in release.plot("m").to_dict()["title"]
    assert release.plot("m").to_dict() == release_bars(release, "m").to_dict() != chart
    with pytest.raises(BadParameter):
        release_bars(release, "region")


def test_a_picture_draws_no_interval_that_says_nothing() -> None:
    """What is chosen is near in rows; its interval is all that is declared."""
    question = PEOPLE.group_by("region").aggregate(q=median("age"), m=mean("age"), t=mode("age"))
    question = question.select("region", "q", "m", "t", twice=lambda a: 2 * a["q"], both=lambda a: a["q"] + a["m"])
    release = ask(question, epsilon=5)
    drawn = {name: release_bars(release, name).to_dict() for name in ("q", "t", "twice", "m", "both")}
    marks = {name: [layer["mark"]["type"] for layer in chart["layer"]] for name, chart in drawn.items()}
    bare, whiskered = ["bar"], ["bar", "errorbar"]
    assert marks == {"q": bare, "t": bare, "twice": bare, "m": whiskered, "both": whiskered}
    q, t = (f"{name}; 95 %: within {from_above(release.ranks()[name])} rows" for name in ("q", "t"))
    assert drawn["q"]["title"] == f"{q} of the rank asked for" and drawn["t"]["title"] == f"{t} of its place"
    assert drawn["twice"]["title"] == "twice, computed from quantiles or most common labels: no intervals"
    assert drawn["both"]["title"] == "both, with 95 % intervals"
    surer = replace(release, beta=Fraction(1, 1000))
    away = from_above(release.ranks("0.001")["q"])
    assert f"99.9 %: within {away} rows" in release_bars(surer, "q").to_dict()["title"]


def test_a_picture_of_many_rows_draws_all_or_says_which() -> None:
    ages = ask(PEOPLE.group_by("age").count(), epsilon=5).plot().to_dict()
    assert [row["cell"] for row in ages["data"]["values"]] == [*range(101)]
    assert [layer["mark"]["type"] for layer in ages["layer"]] == ["rule", "circle"]
    assert ages["title"] == "count, with 95 % intervals"
    pairs = ask(PEOPLE.group_by("region", "age").count(), epsilon=5).plot().to_dict()
    assert len(pairs["data"]["values"]) == 60
    assert pairs["title"] == "count, with 95 % intervals; the first 60 of 303 rows"


def test_a_picture_tells_times_in_utc() -> None:
    days = Table([], {"table": {"name": "t", "unit": "row"}, "columns": {"day": {"type": "date", **YEAR}}})
    made = offer(days.group_by("day").count().query, GENEROUS, epsilon=1)
    chart = Release.of(made, draw(made, EngineAnswer((np.zeros(366, np.int64),)), Seeded(1))).plot().to_dict()
    assert [row["cell"] for row in chart["data"]["values"]][::365] == ["2024-01-01", "2024-12-31"]
    assert chart["layer"][0]["encoding"]["x"]["scale"] == {"type": "utc"}


def test_a_release_is_shown_short_and_in_a_notebook_as_its_table() -> None:
    release = ask(PEOPLE.group_by("region").count().limit(2), epsilon=5)
    assert repr(release) == "Release(region, count; rows=2, price=5)"
    first, *_ = release.to_arrow().to_pylist()
    shown = release._repr_html_()
    assert shown.startswith("<table><tr><th>region</th><th>count</th><th>count_lower</th><th>count_upper</th></tr>")
    assert f"<tr><td>north</td><td>{first['count']}</td>" in shown and shown.count("<tr>") == 3
    wide = ask(PEOPLE.group_by("age").count(), epsilon=5)._repr_html_()
    assert wide.count("<tr>") == 61 and "</table><p>... and 41 more rows</p><p>Each interval" in wide
    assert "&lt;b&gt;" in ask(PEOPLE.aggregate(**{"<b>": count()}))._repr_html_()


def test_brackets_are_told_of_where_there_are_some() -> None:
    exact, noisy = ask(PEOPLE.count(), epsilon=500), ask(PEOPLE.count(), epsilon=1)
    assert exact.error()["count"] == 0 and "[" not in str(exact) and "in brackets" not in str(exact)
    assert "[" in str(noisy) and "Each interval in brackets contains the exact value with 95 %" in str(noisy)


def test_missing_means_have_the_whole_range() -> None:
    release = replace(ask(PEOPLE.aggregate(m=mean("age")), epsilon=1), noisy=((-5,), (3,)))
    column = release.columns["m"]
    assert column.tolist() == [None] and (column.lower[0], column.upper[0]) == (0, 100)
    assert release.error()["m"] == release.card()["accuracy"]["largest_error"]["m"] == 100


def test_a_missing_value_counts_among_the_errors_of_the_others() -> None:
    release = ask(PEOPLE.group_by("member").aggregate(m=mean("age")))
    counts, totals = release.noisy
    assert release.error()["m"] < 1
    assert replace(release, noisy=((-5, counts[1]), totals)).error()["m"] == 100
    unknown = ask(PEOPLE.group_by("member").aggregate(n=count()).select(r=lambda q: 1 / q["n"]))
    assert replace(unknown, noisy=((0, 50),)).error()["r"] == math.inf


def test_where_no_row_is_shown_there_is_no_error() -> None:
    release = ask(PEOPLE.group_by("member").aggregate(n=count()).having(lambda q: q["n"] < -1000))
    assert math.isnan(release.error()["n"])
    assert release.card()["accuracy"]["largest_error"]["n"] is None


def test_what_is_promised_is_never_less_than_what_was_paid() -> None:
    release = ask(PEOPLE.aggregate(n=count()), epsilon=1)
    for paid, epsilon, guarantee in (
        (Pure(Fraction("0.123449")), 0.1235, "0.1235"),
        (GaussianNoise(Fraction(4)), 13.54, "(13.54, 1e-09)"),
    ):
        loss = Loss({paid: 1})
        assert epsilon >= loss.epsilon("1e-9")
        assert f"Taken alone, this answer is {guarantee}-differentially private for any one" in str(
            replace(release, loss=loss)
        )
