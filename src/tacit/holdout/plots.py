"""Plots of the classic experiment, and of the width of an answer against the number of questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.parameters import Number
from ..plot_style import altair
from .experiment import Experiment
from .planning import compare

if TYPE_CHECKING:
    from altair import Chart, FacetChart

# The colours of Okabe and Ito, which remain distinct under colour blindness.
COLOURS = {"training set": "#E69F00", "reported": "#D55E00", "truth": "#0072B2"}
METHOD_COLOURS = ["#777777", "#000000", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#56B4E9"]


def rows(experiment: Experiment) -> list[dict[str, Any]]:
    """The experiment as plot data: one row for each line and number of variables."""
    data = []
    for p in experiment.points:
        panel = {"method": p.method, "signal": "with signal" if p.signal else "no signal", "voters": p.voters}
        lines = {"training set": p.train, "reported": p.reported, "truth": p.truth}
        data += [{**panel, "line": name, "accuracy": value} for name, value in lines.items() if value is not None]
    return data


def overfitting(experiment: Experiment) -> FacetChart:
    """Accuracy against the number of variables: a panel for each method, without signal and with it."""
    alt, data = altair(), rows(experiment)
    methods = list(dict.fromkeys(row["method"] for row in data))
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    chart = alt.Chart(alt.Data(values=data), width=200, height=170).mark_line(point=True, strokeWidth=2)
    encoded = chart.encode(
        x=alt.X("voters:Q", title="variables that vote"),
        y=alt.Y("accuracy:Q", title="accuracy", axis=alt.Axis(format="%"), scale=alt.Scale(zero=False)),
        color=alt.Color("line:N", scale=scale, title=None),
    )
    panels: FacetChart = encoded.facet(
        column=alt.Column("method:N", title=None, sort=methods), row=alt.Row("signal:N", title=None)
    )
    return panels


def widths(n: int, beta: Number = "0.05", *, most: int = 100_000) -> Chart:
    """The promised width against the number of adaptive questions, by every method."""
    alt, ks = altair(), sorted({round(10 ** (j / 4)) for j in range(4 * len(str(most)) - 3)})
    plans = [plan for plan in compare(n, [k for k in ks if k <= most], beta) if plan.width < 1]
    names = list(dict.fromkeys(plan.method for plan in plans))
    data = [{"method": p.method, "questions": p.questions, "width": p.width} for p in plans]
    scale = alt.Scale(domain=names, range=METHOD_COLOURS[: len(names)])
    chart = alt.Chart(alt.Data(values=data), width=460, height=320).mark_line(strokeWidth=2.5)
    finished: Chart = chart.encode(
        x=alt.X("questions:Q", title="adaptive questions", scale=alt.Scale(type="log")),
        y=alt.Y("width:Q", title=f"width, n = {n:,}, beta = {beta}", scale=alt.Scale(type="log")),
        color=alt.Color("method:N", scale=scale, title=None, legend=alt.Legend(labelLimit=300)),
    )
    return finished
