"""Plots of audits: how much of a secret column is recovered, and true curves beside claimed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import BadParameter
from ..core.parameters import instance, instances
from ..plot_style import MIN_DELTA, SHORT, altair, styled
from .verification import Exact

if TYPE_CHECKING:
    from altair import Chart, LayerChart

Row = dict[str, Any]

# The colours of Okabe and Ito, which colour-blind eyes can distinguish; tacit is green.
COLOURS = ("#D55E00", "#E69F00", "#CC79A7", "#56B4E9", "#0072B2", "#000000")
GREEN, GREY, PALE = "#009E73", "#777777", "#cccccc"
LEGEND = {"labelLimit": 300, "symbolSize": 90}
MIN_SHARE = 0.35  # that is drawn; a coin gets 0.5


def comparison(rows: Sequence[Row]) -> LayerChart:
    """The rows of `attacks.compare`: the share of bits recovered against the number of questions."""
    return _shares(rows, "queries", "random subset sums asked", "defence")


def transition(rows: Sequence[Row]) -> LayerChart:
    """The rows of `attacks.transition`: the share of bits recovered against noise / sqrt(n)."""
    return _shares(rows, "ratio", "scale of the noise on each answer / sqrt(n)", "n")


def curve(audit: Exact, points: int = 49) -> Chart:
    """Delta against epsilon: the truth in both directions, and the claim."""
    alt, audit = altair(), instance("audit", audit, Exact)
    rows = [row for row in audit.curve(points) if row["delta"] >= MIN_DELTA]
    if not rows:
        raise BadParameter("audit", "laws that do not differ", "one of laws that do")
    names, colours, dashes = ["claimed", "x to y", "y to x"], [PALE, COLOURS[0], COLOURS[4]], [[1, 0], [1, 0], [2, 6]]
    chart = alt.Chart(alt.Data(values=rows), width=460, height=320, title=repr(audit.mechanism)).mark_line()
    axis = alt.Axis(labelExpr=SHORT, tickCount=6)
    finished: Chart = styled(
        chart.encode(
            x=alt.X("epsilon:Q", title="epsilon", scale=alt.Scale(nice=False)),
            y=alt.Y("delta:Q", title="delta", scale=alt.Scale(type="log"), axis=axis),
            color=alt.Color("of:N", title=None, scale=alt.Scale(domain=names, range=colours)),
            strokeDash=alt.StrokeDash("of:N", title=None, scale=alt.Scale(domain=names, range=dashes)),
            strokeWidth=alt.StrokeWidth("of:N", title=None, scale=alt.Scale(domain=names, range=[8, 4, 1.5])),
        ),
        **LEGEND,
    )
    return finished


def _shares(rows: Sequence[Row], x: str, title: str, by: str) -> LayerChart:
    """A line for each name, and a dashed one where guessing by chance would be."""
    if not instances("rows", rows, dict):
        raise BadParameter("rows", "none", "what `attacks.compare` or `attacks.transition` gives")
    alt = altair()
    names = list(dict.fromkeys(str(row[by]) for row in rows))
    others = iter(COLOURS)
    colours = [GREEN if name.startswith("tacit") else next(others, GREY) for name in names]
    values = [{**row, by: str(row[by])} for row in rows]
    shares = alt.Scale(domain=[MIN_SHARE, 1.02], nice=False)
    ticks = sorted({row[x] for row in rows})
    base = alt.Chart(alt.Data(values=values), width=460, height=320)
    lines = base.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=45, filled=True)).encode(
        x=alt.X(
            f"{x}:Q",
            title=title,
            scale=alt.Scale(type="log", nice=False, padding=8),
            axis=alt.Axis(values=ticks, labelExpr=SHORT, labelOverlap="greedy"),
        ),
        y=alt.Y("recovered:Q", title="share of secret bits recovered", scale=shares, axis=alt.Axis(grid=True)),
        color=alt.Color(f"{by}:N", title=by, scale=alt.Scale(domain=names, range=colours)),
        shape=alt.Shape(f"{by}:N", title=by, scale=alt.Scale(domain=names)),
    )
    chance = base.mark_rule(color=GREY, strokeDash=[7, 4]).encode(y=alt.YDatum(0.5, scale=shares))
    drawn = alt.layer(chance, lines).properties(title="Dashed: what a coin would guess")
    finished: LayerChart = styled(drawn, **LEGEND)
    return finished
