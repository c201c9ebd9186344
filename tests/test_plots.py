"""Pictures: each is written, in a sane size, and shows the right numbers."""

import builtins
import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from tacit import BadParameter, TacitError, plots, workloads
from tacit.core.accounting.atoms import GaussianNoise
from tacit.core.accounting.best_bound import VIEWS
from tacit.core.accounting.loss import Concentrated, Loss, Pure
from tacit.mix import mix

COUNTS = "100 x laplace eps=0.1, gaussian rho=0.01"
PAIRS = workloads.marginals(workloads.Domain.of({"a": 4, "b": 3, "c": 2}), k=2)
PLAN = workloads.plan(PAIRS, 1000, workloads.Price.of(epsilon=1))
CHARTS = {
    "composition": lambda: plots.composition("laplace eps=0.1", most=100),
    "mix": lambda: plots.composition("3 x coin eps=0.1, gaussian rho=0.01", "1e-9", most=50),
    "profile": lambda: plots.profile(COUNTS),
    "planned": lambda: plots.planned(PLAN),
    "concentration": lambda: plots.concentration(mix("coin eps=0.5").distribution(), ks=(1, 16)),
}


def rows(chart):
    return chart.to_dict(format="vega-lite")["data"]["values"]


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)
def test_each_is_written_as_a_picture_of_sane_size(make, tmp_path):
    path = plots.save(make(), tmp_path / "chart.png")
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data.startswith(b"\x89PNG") and 800 < width < 1600 and 300 < height < 1200 and 10_000 < len(data) < 10**6


def test_a_plan_is_drawn_as_it_is_ranked():
    shown = rows(plots.planned(PLAN))
    usable = [row for row in PLAN.records() if row["mean"] is not None]
    assert list(dict.fromkeys(row["method"] for row in shown)) == [row["method"] for row in usable]
    assert [row["counts"] for row in shown[:2]] == [usable[0]["mean"], usable[0]["worst"]]
    with pytest.raises(BadParameter, match="plan must be"):
        plots.planned(3)
    none = workloads.plan(PAIRS, None, workloads.Price.of(epsilon=1), [workloads.method("small_db")])
    with pytest.raises(BadParameter, match="no usable method"):
        plots.planned(none)


def test_vectors_and_pages_need_no_network(tmp_path):
    chart = plots.composition("coin eps=0.1", most=10)
    svg, page = (plots.save(chart, str(tmp_path / name)).read_text() for name in ("chart.svg", "chart.html"))
    assert svg.startswith("<svg") and "accountant" in svg
    assert "<html" in page and 'src="http' not in page
    with pytest.raises(BadParameter, match=r"path must be .*\.png"):
        plots.save(chart, tmp_path / "chart.gif")


def test_composition_shows_what_every_view_proves():
    loss = mix("laplace eps=0.1")
    shown = rows(plots.composition(loss, "1e-6", most=64))
    proved = {view.name: view for view in VIEWS}
    assert {row["accountant"] for row in shown} >= {"basic", "advanced", "zCDP", "Renyi", "optimal", "PLD"}
    for row in shown:
        assert row["epsilon"] == proved[row["accountant"]].epsilon(row["k"] * loss, 1e-6)
    assert {1, 64} <= {row["k"] for row in shown}
    assert plots.ACCOUNTANTS.keys() == proved.keys()


def test_every_line_has_a_look_of_its_own():
    looks = [(colour, tuple(dashes)) for colour, dashes in plots.ACCOUNTANTS.values()]
    assert len(set(looks)) == len(looks)


def test_profile_shows_the_hockey_stick_below_the_tail():
    mu = 2.0
    shown = rows(plots.profile(Loss({GaussianNoise(Fraction(4)): 1})))
    curves = {name: {row["epsilon"]: row["delta"] for row in shown if row["bound"] == name} for name in plots.BOUNDS}
    tail, hockey = curves.values()
    assert len(hockey) > 30 and max(hockey) > 10
    for epsilon, delta in hockey.items():
        assert delta <= tail[epsilon]
        assert delta == pytest.approx(GaussianNoise(Fraction(4)).profile(epsilon), rel=0.02)
    for epsilon, delta in tail.items():
        assert delta == pytest.approx(norm.sf(epsilon, mu**2 / 2, mu), rel=0.03)


def test_profile_takes_the_worse_direction():
    loss = mix("2 x sampled 0.1 gaussian sigma=1")
    hockey = [row for row in rows(plots.profile(loss, points=6)) if row["bound"] == "hockey stick"]
    assert len(hockey) > 3
    for row in hockey[1::2]:
        ways = [loss.distribution(reverse=way).delta(row["epsilon"]).upper for way in (False, True)]
        assert row["delta"] == max(ways)


def test_concentration_narrows_about_the_mean():
    d = mix("gaussian mu=1").distribution()
    shown = plots.concentration(d, ks=(1, 16)).to_dict()["data"]["values"]
    spreads = []
    for k in (1, 16):
        x, y = np.array([(row["x"], row["density"]) for row in shown if row["k"] == f"k = {k}"]).T
        assert y.max() == pytest.approx(1)
        mean = np.trapezoid(x * y, x) / np.trapezoid(y, x)
        spreads.append(math.sqrt(np.trapezoid((x - mean) ** 2 * y, x) / np.trapezoid(y, x)))
        assert mean == pytest.approx(0.5, abs=0.01)
    assert spreads[0] / spreads[1] == pytest.approx(4, rel=0.03)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(BadParameter, match="varies"):
        plots.concentration(Loss().distribution())
    with pytest.raises(BadParameter, match="dominating pair"):
        plots.profile(Loss({Concentrated(Fraction(1)): 1}))
    with pytest.raises(BadParameter, match="some accountant"):
        plots.composition(Loss())
    with pytest.raises(BadParameter, match="delta"):
        plots.composition(Loss({Pure(Fraction(1)): 1}), 0)


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "altair":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TacitError, match=r"pip install 'tacit\[plots\]'"):
        plots.composition("coin eps=1")


ABOUT = {"workload": "marginals", "domain": "2x2x2", "cells": 8, "queries": 6, "n": 100, "price": "epsilon = 1"}
FOUND = {**ABOUT, "method": "histogram", "kind": "exact", "predicted mean": 0.1, "measured mean": 0.2}


def across(chart):
    return chart.get("spec", chart)["layer"][0]["encoding"]["x"]["field"]


def test_methods_are_shown_against_what_varies():
    """An error of 0 has no place on a scale of logarithms, and must not take the others from it."""
    found = [
        {**FOUND, "n": n, "price": price, "measured mean": n - 100.0}
        for n in (100, 101)
        for price in ("epsilon = 1", "epsilon = 2")
    ]
    whole = plots.methods(found).to_dict(format="vega-lite")
    assert whole["facet"]["sort"] == ["epsilon = 1", "epsilon = 2"] and across(whole) == "n"
    assert {(row["n"], row["measured mean"]) for row in whole["data"]["values"]} == {(100, None), (101, 1.0)}
    by_price = plots.methods(found[:2]).to_dict(format="vega-lite")
    assert "facet" not in by_price and across(by_price) == "price"
    assert across(plots.methods(found[:1]).to_dict(format="vega-lite")) == "method"


def test_workloads_of_equal_size_have_pictures_of_their_own():
    named = [{**FOUND, "workload": name, "n": n} for name in ("marginals", "prefixes") for n in (100, 200)]
    assert plots.methods(named).to_dict(format="vega-lite")["facet"]["sort"] == ["marginals", "prefixes"]
    shaped = [{**FOUND, "domain": domain} for domain in ("2x2x2", "8")]
    assert plots.methods(shaped).to_dict(format="vega-lite")["facet"]["sort"] == ["2x2x2", "8"]
    grown = [{**FOUND, "domain": str(size), "cells": size, "queries": size} for size in (4, 8)]
    line = plots.methods(grown).to_dict(format="vega-lite")
    assert "facet" not in line and across(line) == "cells"
    more = [{**FOUND, "queries": queries} for queries in (4, 8)]
    assert across(plots.methods(more).to_dict(format="vega-lite")) == "queries"


def test_predictions_are_seen_where_nothing_varies(tmp_path):
    """A line of one point has no length."""
    found = [{**FOUND, "method": name, "kind": kind} for name, kind in (("histogram", "exact"), ("mwem", "bound"))]
    chart = plots.methods(found).to_dict(format="vega-lite")
    marks = {(layer["mark"]["type"], layer["encoding"]["y"]["field"]) for layer in chart["layer"]}
    assert marks == {("point", "predicted mean"), ("circle", "measured mean")} and "lines" not in chart["title"]
    assert plots.save(plots.methods(found), tmp_path / "m.svg").read_text().startswith("<svg")
    rough = plots.methods([{k: v for k, v in row.items() if k != "measured mean"} for row in found])
    assert "measured" not in rough.to_dict(format="vega-lite")["title"]


def test_pictures_of_losses_stand_on_one_page(tmp_path):
    mixed = "10 x laplace eps=0.1"
    charts = [plots.composition(mixed, most=10), plots.profile(mixed, points=5)]
    charts.append(plots.concentration(mix(mixed).distribution()))
    place = plots.save(plots.page(charts), tmp_path / "page.svg")
    assert place.stat().st_size > 10_000
    assert all(chart.to_dict()["config"] for chart in charts)  # each by itself is as it was
