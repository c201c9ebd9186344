"""Plots of the classic experiment, and of the width of an answer against the number of questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.parameters import Number
from ..plot_style import altair
from .experiment import Experiment
from .ranking import FRESH, compare

if TYPE_CHECKING:
    from altair import FacetChart, LayerChart

# The colours of Okabe and Ito, which remain distinct under colour blindness.
COLOURS = {"training set": "#E69F00", "reported": "#D55E00", "truth": "#0072B2"}
DASHES = [[1, 0], [5, 3], [1, 2]]
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


def widths(n: int, questions: Sequence[int] = (100_000,), beta: Number = "0.05", **use: Any) -> LayerChart:
    """The promised width against the number of questions, by every rule and method, as `compare` ranks them.

    The lines go from the least to the greatest of `questions`, or from 1 if there is only one; points mark those asked
    about.  `use` is passed to `compare`.
    """
    alt, first, last = altair(), min(questions) if len(set(questions)) > 1 else (use.get("rounds") or 1), max(questions)
    steps = max(2, round(4 * math.log10(max(last / first, 1.01))))
    ks = sorted({*questions, *(round(first * (last / first) ** (j / steps)) for j in range(steps + 1))})
    plans = [plan for plan in compare(n, ks, beta, **use) if plan.width < 1 and plan.method != FRESH]
    at_last = {plan.method: plan.width for plan in plans}  # of the greatest number of questions it answers
    names = sorted(at_last, key=lambda name: at_last[name])
    data = [{"method": p.method, "questions": p.questions, "width": p.width} for p in plans]
    asked = [row for row in data if row["questions"] in set(questions)]
    scale = alt.Scale(domain=names, range=[METHOD_COLOURS[i % len(METHOD_COLOURS)] for i in range(len(names))])
    dashes = alt.Scale(domain=names, range=[DASHES[i // len(METHOD_COLOURS)] for i in range(len(names))])
    x = alt.X("questions:Q", title=_title("questions", use), scale=alt.Scale(type="log", domain=[ks[0], ks[-1]]))
    y = alt.Y("width:Q", title=f"width, n = {n:,}, beta = {beta}", scale=alt.Scale(type="log"))
    legend = alt.Legend(labelLimit=300, symbolLimit=20, symbolType="stroke", symbolSize=300)
    color = alt.Color("method:N", scale=scale, title=None, legend=legend)
    dash = alt.StrokeDash("method:N", scale=dashes, title=None, legend=legend)
    lines = alt.Chart(alt.Data(values=data)).mark_line(strokeWidth=2.5).encode(x=x, y=y, color=color, strokeDash=dash)
    points = alt.Chart(alt.Data(values=asked)).mark_point(filled=True, size=40).encode(x=x, y=y, color=color)
    finished: LayerChart = alt.layer(lines, points).properties(width=460, height=320)
    return finished


def _title(noun: str, use: dict[str, Any]) -> str:
    """The title of an axis, with what was said about the use."""
    return ", ".join([noun, *(f"{name} {value}" for name, value in use.items() if value is not None)])
