"""Plots, one function each; `save` writes any of them as PNG, SVG or HTML, without a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .core.accounting.best_bound import VIEWS
from .core.accounting.distribution import Distribution
from .core.accounting.loss import Loss
from .core.errors import BadParameter
from .core.exact import down
from .core.parameters import Number, instance, probability, whole
from .core.safe_text import InScript
from .mix import mix
from .plot_style import MIN_DELTA, SHORT, altair, embeddable, styled
from .theory import plots as theorems

if TYPE_CHECKING:
    from altair import Chart, FacetChart, TopLevelMixin

    from .workloads import Plan

PlotRows = list[dict[str, Any]]
Axis = tuple[str, str]  # a field, and its title
Style = tuple[str, list[int]]  # a colour, and a dash pattern

# The colours of Okabe and Ito, which the colour-blind can distinguish; lines of one colour differ in their dashes.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"
SOLID, DASHED, DOTTED = [1, 0], [7, 4], [2, 3]
ACCOUNTANTS: dict[str, Style] = {
    "basic": (BLACK, SOLID),
    "advanced, 2keps^2": (ORANGE, DOTTED),
    "advanced, exp": (ORANGE, DASHED),
    "advanced": (ORANGE, SOLID),
    "zCDP": (SKY, DASHED),
    "Renyi": (BLUE, SOLID),
    "optimal": (RED, SOLID),
    "Gaussian": (PURPLE, SOLID),
    "profile": (GREEN, DOTTED),
    "PLD": (GREEN, DASHED),
}
martingale, noise_laws = theorems.martingale, theorems.noise_laws
BOUNDS: dict[str, Style] = {"tail, P[L > epsilon]": (ORANGE, DASHED), "hockey stick": (BLUE, SOLID)}


_HTML = {"inline": True, "json_kwds": {"cls": InScript}}
FORMATS: dict[str, dict[str, Any]] = {".png": {"scale_factor": 2}, ".svg": {}, ".html": _HTML}


def target(path: str | Path) -> Path:
    """The path to which a chart will be written, checked before anything is drawn."""
    place = Path(path)
    if place.suffix not in FORMATS:
        raise BadParameter("path", str(path), "a file name that ends in .png, .svg or .html")
    if not place.parent.is_dir():
        raise BadParameter("path", str(path), "in an existing folder")
    altair()
    return place


def save(chart: TopLevelMixin, path: str | Path) -> Path:
    """Write a chart in the format of the file name's suffix; an HTML file needs no network."""
    place = target(path)
    embeddable(chart).save(str(place), **FORMATS[place.suffix])
    return place


def page(charts: Sequence[TopLevelMixin], columns: int = 2) -> TopLevelMixin:
    """Several charts on one page, in the style of the first that has one (Vega allows one style for a page)."""
    alt, untyped = altair(), cast("Sequence[Any]", charts)
    parts = [chart.copy(deep=False) for chart in untyped]
    styles = [chart.config for chart in parts if chart.config is not alt.Undefined]
    for chart in parts:
        chart.config = alt.Undefined
    apart = dict.fromkeys(("x", "y", "color", "strokeDash"), "independent")
    whole_page = alt.concat(*parts, columns=columns).resolve_scale(**apart)
    whole_page.config = styles[0] if styles else alt.Undefined
    return cast("TopLevelMixin", whole_page)


def composition(loss: Loss | str, delta: Number = "1e-6", *, most: int = 1000) -> Chart:
    """Epsilon at delta after k copies of a loss (or of a mix, as text), as each accountant proves it."""
    alt, one, d = altair(), _loss(loss), down(probability("delta", delta))
    ks = sorted({round(k) for k in np.geomspace(1, whole("most", most, at_least=2), 19)})
    rows: PlotRows = []
    for view in VIEWS:
        answers = [(k, epsilon) for k in ks if 0 < (epsilon := view.epsilon(k * one, d)) < math.inf]
        if len(answers) > 1:  # a single point is no line
            rows += [{"k": k, "epsilon": epsilon, "accountant": view.name} for k, epsilon in answers]
    axes = ("k", "k, the number of copies"), ("epsilon", f"epsilon at delta = {delta}")
    return _lines(alt, rows, *axes, ACCOUNTANTS, title=_title(loss), log_x=True)


def profile(loss: Loss | str, *, points: int = 49) -> Chart:
    """Delta against epsilon: the hockey-stick divergence, and the weaker bound by the tail of the privacy loss."""
    alt, total = altair(), _loss(loss)
    ways = [total.distribution(reverse=reverse) for reverse in (False, True)]
    ways = ways[:1] if ways[0].mean == ways[1].mean else ways
    top = min(total.epsilon(), max(way.mean + 7.5 * way.deviation for way in ways))
    rows: PlotRows = []
    for epsilon in np.linspace(0, top or 1.0, whole("points", points, at_least=2)).tolist():
        bounds = (max(way.tail_delta(epsilon) for way in ways), max(way.delta(epsilon).upper for way in ways))
        named = zip(BOUNDS, bounds, strict=True)
        rows += [{"epsilon": epsilon, "delta": y, "bound": name} for name, y in named if y >= MIN_DELTA]
    return _lines(alt, rows, ("epsilon", "epsilon"), ("delta", "delta"), BOUNDS, title=_title(loss))


def concentration(distribution: Distribution, *, ks: Sequence[int] = (1, 4, 16, 64, 256)) -> FacetChart:
    """How the privacy loss per mechanism, L / k, concentrates: a smoothed density for each k, to equal heights."""
    if not instance("distribution", distribution, Distribution).variance:
        raise BadParameter(
            "distribution",
            "a constant",
            "that of a loss that varies",
            says="The privacy loss must be one that varies; this one is a constant, and there is nothing to plot.",
        )
    alt, mean, bandwidth = altair(), distribution.mean, 1 / 8
    margin = 3 * bandwidth * distribution.deviation
    first, last = distribution.quantile("0.001").lower - margin, distribution.quantile("0.999").upper + margin
    rows: PlotRows = []
    for k in ks:
        law = distribution.times(k)
        width = 6 * law.deviation / k
        points = np.linspace(max(first, mean - width), min(last, mean + width), 301)
        density = np.maximum(0, law.density(k * points, bandwidth * law.deviation))
        curve = [(first, 0.0), *zip(points.tolist(), (density / density.max()).tolist(), strict=True), (last, 0.0)]
        rows += [{"k": f"k = {k}", "x": x, "density": y} for x, y in curve]
    base = alt.Chart(alt.Data(values=rows), width=460, height=70)
    area = base.mark_area(color=SKY, opacity=0.6, line={"color": BLUE, "strokeWidth": 1.5}).encode(
        x=alt.X("x:Q", title="privacy loss per mechanism, L / k", scale=alt.Scale(domain=[first, last], nice=False)),
        y=alt.Y("density:Q", stack=None, axis=None),
    )
    rule = base.mark_rule(color=RED, strokeWidth=1.5, strokeDash=DASHED).encode(x=alt.datum(mean))
    header = alt.Header(labelAngle=0, labelAlign="left", labelFontSize=12)
    rowed = alt.Row("k:N", title=None, sort=[f"k = {k}" for k in ks], header=header)
    chart = alt.layer(area, rule).facet(row=rowed, spacing=6)
    title = f"Densities, smoothed by an eighth of their deviation; dashed: the mean, {mean:.3g}"
    titled = chart.properties(title=title)
    finished: FacetChart = styled(titled)
    return finished


def _loss(loss: Loss | str) -> Loss:
    return mix(loss) if isinstance(loss, str) else instance("loss", loss, Loss)


def _title(loss: Loss | str) -> str:
    return loss if isinstance(loss, str) else ""


def _lines(
    alt: Any, rows: PlotRows, x: Axis, y: Axis, styles: dict[str, Style], *, title: str, log_x: bool = False
) -> Chart:
    """A line for each name, in its style or in grey; the vertical scale is logarithmic."""
    if not rows:
        raise BadParameter(
            "loss",
            "nothing to draw",
            "one for which some accountant proves an epsilon above 0",
            says="There is nothing to plot: some accountant must prove a finite epsilon above 0 for this loss.",
        )
    by = next(key for key in rows[0] if key not in (x[0], y[0]))
    names = {row[by] for row in rows}
    shown = [name for name in styles if name in names] + sorted(names - styles.keys())
    colours, dashes = zip(*(styles.get(name, (GREY, DOTTED)) for name in shown), strict=True)
    legend = alt.Legend(symbolSize=400, symbolStrokeWidth=2.5, labelLimit=300)
    chart = alt.Chart(alt.Data(values=rows), width=460, height=320, title=title).mark_line(strokeWidth=2.5)
    encoded = chart.encode(
        x=alt.X(f"{x[0]}:Q", title=x[1], **(_log(alt, rows, x[0]) if log_x else {"scale": alt.Scale(nice=False)})),
        y=alt.Y(f"{y[0]}:Q", title=y[1], **_log(alt, rows, y[0])),
        color=alt.Color(f"{by}:N", scale=alt.Scale(domain=shown, range=list(colours)), title=by, legend=legend),
        strokeDash=alt.StrokeDash(f"{by}:N", scale=alt.Scale(domain=shown, range=list(dashes)), title=by),
    )
    finished: Chart = styled(encoded)
    return finished


def _log(alt: Any, rows: PlotRows, field: str) -> dict[str, Any]:
    """A logarithmic scale, with ticks at 1, 2 and 5, or only at powers of ten if these would be many."""
    low, high = (end(row[field] for row in rows) for end in (min, max))
    steps = (1, 2, 5) if high < 10**4 * low else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [tick for e in decades for step in steps if low <= (tick := step * 10.0**e) <= high]
    axis = alt.Axis(labelExpr=SHORT, **({"values": ticks} if len(ticks) > 1 else {}))
    return {"scale": alt.Scale(type="log", nice=False), "axis": axis}


def methods(rows: Sequence[dict[str, Any]]) -> TopLevelMixin:
    """The errors of every method: measured as points, predicted as dashes and triangles.

    The horizontal axis is the first of records, price, cells and (for workloads of one name) queries that varies, or
    the method if none does.  There is a panel for each combination of the others.
    """
    alt = altair()

    def kinds(*fields: str) -> int:
        return len({tuple(row[field] for field in fields) for row in rows})

    named = {"n": "records", "price": "price", "cells": "cells", "queries": "queries"}
    across = [field for field in named if field != "queries" or kinds("workload") == 1]
    main = next((field for field in across if kinds(field) > 1), "method")
    others: list[str] = []
    for field in ("workload", *named, "domain"):
        if kinds(main, *others, field) > kinds(main, *others):  # else the others determine it
            others.append(field)
    values = [_on_a_log_scale(row) for row in rows]
    for row in values:
        row["at"] = ", ".join(f"{row[f]:,} {named[f]}" if f in named and f != "price" else row[f] for f in others)
    if main in ("price", "method"):
        x = alt.X(f"{main}:N", title=main, sort=None)
    else:
        ticks = alt.Axis(values=sorted({row[main] for row in rows}), format=",")
        x = alt.X(f"{main}:Q", title=named[main], scale=alt.Scale(type="log", nice=False, padding=24), axis=ticks)
    legend = {"legend": None} if main == "method" else {}
    base = alt.Chart(width=460, height=320).encode(
        x=x, color=alt.Color("method:N", title="method", scale=alt.Scale(scheme="tableau20"), **legend)
    )
    measured, predicted = (
        alt.Y(f"{what} mean:Q", scale=alt.Scale(type="log"), title="mean error / n")
        for what in ("measured", "predicted")
    )
    looks = alt.Scale(domain=["exact", "bound"], range=["stroke", "triangle-down"])
    marks = base.mark_point(size=180, strokeWidth=2.5, opacity=1).encode(
        y=predicted, shape=alt.Shape("kind:N", title="predicted", scale=looks)
    )
    points = base.mark_circle(size=70, opacity=1).encode(y=measured)
    lines = [] if main == "method" else [base.mark_line(strokeWidth=1.5).encode(y=predicted)]
    drawn = alt.layer(*lines, marks, points, data=alt.Data(values=values))
    if others:
        drawn = drawn.facet(alt.Facet("at:N", title=None, sort=list(dict.fromkeys(r["at"] for r in values))), columns=2)
    title = "Dashes and triangles are predicted" + (", with lines between them" if lines else "")
    title += "; points are measured" if any("measured mean" in row for row in rows) else ""
    titled: TopLevelMixin = styled(drawn.properties(title=title))
    return titled


def planned(plan: Plan) -> Chart:
    """The predicted mean and largest error of every usable method of a plan, the best first."""
    from .workloads import Plan

    alt, plan = altair(), instance("plan", plan, Plan)
    names = {"mean": "mean", "worst": f"largest of all {plan.workload.queries}"}
    rows = [
        {"method": row["method"], "predicted": row["kind"], "error": text, "counts": row[field]}
        for row in plan.records()
        for field, text in names.items()
        if row[field] is not None
    ]
    if not rows:
        raise BadParameter(
            "plan",
            "no usable method",
            "one in which a method can be used",
            says="This plan has no usable method, so there is nothing to plot. Print the plan to see why.",
        )
    looks = alt.Scale(domain=list(names.values()), range=[BLUE, ORANGE])
    shapes = alt.Scale(domain=["exact", "bound"], range=["circle", "triangle-down"])
    chart = alt.Chart(alt.Data(values=list(map(_on_a_log_scale, rows))), width=460, height=alt.Step(24))
    drawn = chart.mark_point(filled=True, size=110, opacity=0.75).encode(
        y=alt.Y("method:N", sort=None, title=None),
        x=alt.X("counts:Q", scale=alt.Scale(type="log"), title="error, in counts"),
        color=alt.Color("error:N", scale=looks, title="error"),
        shape=alt.Shape("predicted:N", scale=shapes, title="predicted"),
    )
    titled: Chart = styled(drawn.properties(title=f"{plan.workload!r}, {plan.price}"))
    return titled


def _on_a_log_scale(row: dict[str, Any]) -> dict[str, Any]:
    """The row without numbers that a logarithmic scale cannot show."""
    return {key: v if not isinstance(v, float) or 0 < v < math.inf else None for key, v in row.items()}
