"""Plots of theorems: laws of noise, and walks of the privacy loss.  `tacit.plots` makes them public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core.parameters import Number, instance
from ..plot_style import SHORT, altair, styled
from . import _validate as check
from . import laplace
from . import noise_laws as laws
from .martingale import Walks

if TYPE_CHECKING:
    from altair import LayerChart, TopLevelMixin

# The colours of Okabe and Ito, which colour-blind readers can distinguish.
COLOURS = {"laplace": "#0072B2", "gaussian": "#D55E00", "exponential": "#009E73"}
SHADES = ["#0072B2", "#56B4E9", "#CC79A7", "#777777"]
DASHES = {"laplace": [1, 0], "gaussian": [7, 4], "exponential": [2, 3]}
_POINTS = 241
_MAX_WALKS = 60


def noise_rows(scales: Sequence[Number] = (1, 2, 4), deviation: Number = 1.0) -> dict[str, list[dict[str, Any]]]:
    """The plot data: Laplace densities by scale; densities and tails of the three laws at equal deviation."""
    widths = [check.positive(scales=scale) for scale in scales]
    s = check.positive(deviation=deviation)
    ends = (-3 * max(widths), 3 * max(widths)), (-4 * s, 4 * s), (0, 8 * s)
    wide, near, far = (np.linspace(low, high, _POINTS).tolist() for low, high in ends)
    return {
        "scales": [{"x": x, "density": laplace.density(x, b), "scale": f"b = {b:g}"} for b in widths for x in wide],
        "densities": [{"x": x, "density": laws.density(law, x, s), "law": law} for law in laws.LAWS for x in near],
        "tails": [{"t": t, "tail": laws.tail(law, t, s), "law": law} for law in laws.LAWS for t in far],
    }


def noise_laws(scales: Sequence[Number] = (1, 2, 4), deviation: Number = 1.0) -> TopLevelMixin:
    """Laplace densities of several scales; and Laplace, Gaussian and exponential noise at equal standard deviation.

    On the right are the tails on a logarithmic scale: straight lines, except for the Gaussian, which bends down.
    """
    alt, rows = altair(), noise_rows(scales, deviation)
    s, size = check.positive(deviation=deviation), {"width": 300, "height": 240}
    names = list(dict.fromkeys(row["scale"] for row in rows["scales"]))

    def lines(key: str, title: str) -> Any:
        return alt.Chart(alt.Data(values=rows[key]), title=title, **size).mark_line(strokeWidth=2.5)

    law = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    dash = alt.Scale(domain=list(DASHES), range=list(DASHES.values()))
    legend = alt.Legend(symbolSize=400, symbolStrokeWidth=2.5, orient="bottom")
    one = {
        "color": alt.Color("law:N", scale=law, title=None, legend=legend),
        "strokeDash": alt.StrokeDash("law:N", scale=dash, title=None, legend=legend),
    }
    shades = alt.Scale(domain=names, range=(SHADES * len(names))[: len(names)])
    first = lines("scales", "Laplace noise of several scales b").encode(
        x=alt.X("x:Q", title="noise", scale=alt.Scale(nice=False)),
        y=alt.Y("density:Q", title="density"),
        color=alt.Color("scale:N", scale=shades, sort=names, title=None, legend=legend),
    )
    second = lines("densities", f"Three laws of standard deviation {s:g}").encode(
        x=alt.X("x:Q", title="noise", scale=alt.Scale(nice=False)), y=alt.Y("density:Q", title="density"), **one
    )
    third = lines("tails", "Their tails").encode(
        x=alt.X("t:Q", title="t", scale=alt.Scale(nice=False)),
        y=alt.Y("tail:Q", title="P[|noise| >= t]", scale=alt.Scale(type="log"), axis=alt.Axis(labelExpr=SHORT)),
        **one,
    )
    side_by_side = alt.hconcat(first, second, third).resolve_scale(color="independent", strokeDash="independent")
    return cast("TopLevelMixin", styled(side_by_side))


def walk_rows(walks: Walks) -> list[dict[str, Any]]:
    """The plot data: the first paths, step by step."""
    paths = instance("walks", walks, Walks).paths[:_MAX_WALKS].tolist()
    return [
        {"step": i, "value": value, "walk": walk} for walk, path in enumerate(paths) for i, value in enumerate(path)
    ]


def martingale(walks: Walks, beta: Number = 0.05) -> LayerChart:
    """Paths of a martingale, and the bounds that each step exceeds with probability at most beta (Azuma)."""
    alt, beta = altair(), check.probability(beta=beta)
    rows = walk_rows(walks)
    bound = [{"step": i, "above": y, "below": -y} for i, y in enumerate(walks.azuma(beta))]
    x = alt.X("step:Q", title="step", scale=alt.Scale(nice=False))
    count = min(len(walks.paths), _MAX_WALKS)
    title = f"{count} walks of {walks.steps} steps; dashed: exceeded at each step with probability at most {beta:g}"
    drawn = alt.Chart(alt.Data(values=rows)).mark_line(color="#0072B2", strokeWidth=1, opacity=0.35)
    paths = drawn.encode(x=x, y=alt.Y("value:Q", title="sum of losses less their means"), detail="walk:N")
    limit = alt.Chart(alt.Data(values=bound)).mark_line(color="#D55E00", strokeWidth=2.5, strokeDash=[7, 4])
    layers = [paths, limit.encode(x=x, y="above:Q"), limit.encode(x=x, y="below:Q")]
    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(color="#000000", strokeWidth=1).encode(y=alt.datum(0))
    return cast("LayerChart", styled(alt.layer(*layers, zero, width=560, height=320, title=title)))
