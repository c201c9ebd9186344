"""The plot of a release: bars (points if there are many rows) with their intervals.

The error of a quantile or a most common label is in rows, not in value: an interval of values would be the whole
declared range.  So none is drawn, and the title states the error.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from ..core.errors import BadParameter, BadQuestion
from ..core.exact import from_above
from ..plot_style import altair, embeddable
from ..query.select.output_types import of_answer
from ..query.select.query import Query
from ..query.select.selections import Lineage

if TYPE_CHECKING:
    from altair import TopLevelMixin

    from .release import Release

_MAX_BARS = 60  # more would be too thin to read
_TICKS = 6  # more would overlap
_BAR, _WHISKER = "#56B4E9", "#000000"


def release_bars(release: Release, name: str | None = None) -> TopLevelMixin:
    """A chart of one column of numbers (by default the first noisy one) against the keys.

    More than `_MAX_BARS` rows are drawn as points along the key if it is a single number or date; else only the first
    rows are drawn, and the title says so.
    """
    alt = altair()
    columns, shown, drawn = release.columns, _labels(release.query), drawable(release.query)
    if name is not None and name not in drawn:
        raise BadParameter("name", name, f"a column of numbers, one of {', '.join(drawn)}")
    title = name or drawn[0]
    c = columns[title]
    axis = _axis(release.query) if len(c.values) > _MAX_BARS else None
    in_rows = _in_rows(release, title)
    heading = in_rows or f"{title}, with {_confidence(release)} intervals"
    if axis is None and len(c.values) > _MAX_BARS:
        heading += f"; the first {_MAX_BARS} of {len(c.values)} rows"
    keys = [columns[key].tolist() for key in shown]
    rows: list[dict[str, Any]] = [
        {
            "cell": _placed(keys[0][i]) if axis else ", ".join(_shown(key[i]) for key in keys) if keys else title,
            "value": value,
            "lower": float(c.lower[i]),
            "upper": float(c.upper[i]),
        }
        for i, value in enumerate(c.tolist()[: None if axis else _MAX_BARS])
        if value is not None
    ]
    chart = alt.Chart(alt.Data(values=rows), width=460)
    marks, ends = _points(alt, chart, axis, shown[0], title) if axis else _bars(alt, chart, ", ".join(shown), title)
    layers = [marks] if in_rows else [ends, marks] if axis else [marks, ends]
    finished: TopLevelMixin = embeddable(alt.layer(*layers).properties(title=heading))
    return finished


def _bars(alt: Any, chart: Any, keys: str, title: str) -> tuple[Any, Any]:
    """Bars, and error bars for their intervals."""
    base = chart.encode(y=alt.Y("cell:N", sort=None, title=keys or None))
    bars = base.mark_bar(color=_BAR).encode(x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=_TICKS)))
    ends = base.mark_errorbar(color=_WHISKER, ticks=True).encode(x=alt.X("lower:Q", title=title), x2=alt.X2("upper:Q"))
    return bars, ends


def _points(alt: Any, chart: Any, axis: str, key: str, title: str) -> tuple[Any, Any]:
    """Points along a key, and rules for their intervals."""
    scale = alt.Scale(type="utc") if axis == "T" else alt.Scale(zero=False)
    base = chart.encode(x=alt.X(f"cell:{axis}", title=key, scale=scale))
    points = base.mark_circle(color=_WHISKER, size=9, opacity=1).encode(y=alt.Y("value:Q", title=title))
    ends = base.mark_rule(color=_BAR, opacity=0.5).encode(y=alt.Y("lower:Q", title=title), y2=alt.Y2("upper:Q"))
    return points, ends


def _axis(query: Query) -> str | None:
    """The type of the axis if all rows lie along a single key: number (Q) or time (T); else None."""
    if len(query.keys) != 1 or len(_labels(query)) != 1:
        return None
    return {"number": "Q", "date": "T", "timestamp": "T"}.get(query.keys[0].domain.kind)


def _placed(key: Any) -> Any:
    """The position of a key along an axis: a time is marked as UTC, as Vega reads a bare date."""
    if not isinstance(key, date):
        return key
    return f"{key.isoformat()}Z" if isinstance(key, datetime) else key.isoformat()


def _in_rows(release: Release, name: str) -> str | None:
    """The title of a column of quantiles or most common labels alone, whose error is in rows; else None."""
    recipes = dict(release.recipes)
    used = {recipes[part].kind for part in release.lineage.columns[name].sources}
    if not used or not used <= {"quantile", "top"}:
        return None
    away = release.ranks(release.beta).get(name)
    if away is None:
        return f"{name}, computed from quantiles or most common labels: no intervals"
    target = "of the rank asked for" if used == {"quantile"} else "of its place"
    return f"{name}; {_confidence(release)}: within {from_above(away)} rows {target}"


def _confidence(release: Release) -> str:
    return f"{float(100 * (1 - release.beta)):g} %"


def drawable(query: Query) -> list[str]:
    """The columns of numbers that are not keys, by the query alone; a query without any is refused."""
    labels = _labels(query)
    drawn = [name for name, kind in of_answer(query).items() if name not in labels and kind == "number"]
    if not drawn:
        raise BadQuestion("This answer has no column of numbers to plot. Ask for a count or a sum, or omit the plot.")
    return drawn


def _labels(query: Query) -> list[str]:
    """The columns that are keys."""
    keys = {key.name for key in query.keys}
    return [name for name, origin in Lineage.of(query).columns.items() if origin.column in keys]


def _shown(label: Any) -> str:
    """A key as an axis label: blank text, and text with commas, in quotes."""
    text = str(label)
    return text if text.strip() and "," not in text else f'"{text}"'
