"""A picture of a release: bars, and on each its interval.

What is chosen, such as a quantile, is near in rows and not in value: its interval would be all that is declared, so
none is drawn, and the title says how near it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import BadParameter, BadQuestion
from ..core.exact import from_above
from ..drawing import altair
from ..tables.kinds import of_query
from ..tables.outputs import Released, released
from ..tables.query import Query

if TYPE_CHECKING:
    from altair import TopLevelMixin

    from .release import Release

_MOST = 60  # bars that can be told apart
_BAR, _WHISKER = "#56B4E9", "#000000"


def release_bars(release: Release, name: str | None = None) -> TopLevelMixin:
    """One column of numbers (the first that is not exact, unless told) against the keys."""
    alt = altair()
    columns, shown, drawn = release.columns, _labels(release.query), drawable(release.query)
    if name is not None and name not in drawn:
        raise BadParameter("name", name, f"a column of numbers, one of {', '.join(drawn)}")
    title = name or drawn[0]
    c = columns[title]
    rows: list[dict[str, Any]] = [
        {
            "cell": ", ".join(_shown(columns[key].tolist()[i]) for key in shown) if shown else title,
            "value": value,
            "lower": float(c.lower[i]),
            "upper": float(c.upper[i]),
        }
        for i, value in enumerate(c.tolist()[:_MOST])
        if value is not None
    ]
    base = alt.Chart(alt.Data(values=rows), width=460).encode(
        y=alt.Y("cell:N", sort=None, title=", ".join(shown) or None)
    )
    bars = base.mark_bar(color=_BAR).encode(x=alt.X("value:Q", title=title))
    ends = base.mark_errorbar(color=_WHISKER, ticks=True).encode(x=alt.X("lower:Q", title=title), x2=alt.X2("upper:Q"))
    in_rows = _in_rows(release, title)
    finished: TopLevelMixin = alt.layer(bars, *([] if in_rows else [ends])).properties(
        title=in_rows or f"{title}, with {_confidence(release)} intervals"
    )
    return finished


def _in_rows(release: Release, name: str) -> str | None:
    """The title of a column that is made of chosen values alone, whose error is in rows."""
    recipes, output = dict(release.recipes), dict(release.query.outputs)[name]
    used = {recipes[part].kind for part in released(output) & recipes.keys()}
    if not used or not used <= {"quantile", "top"}:
        return None
    away = release.ranks(release.beta).get(name)
    if away is None:
        return f"{name}, of values that are near in rank: no intervals"
    near = "of the rank asked for" if used == {"quantile"} else "of its place"
    return f"{name}; {_confidence(release)}: within {from_above(away)} rows {near}"


def _confidence(release: Release) -> str:
    return f"{float(100 * (1 - release.beta)):g} %"


def drawable(query: Query) -> list[str]:
    """The columns of numbers that are no keys, as the question alone tells them; one without any is refused."""
    kinds, labels = of_query(query), _labels(query)
    drawn = [name for name, output in query.outputs if name not in labels and kinds.of(output) == "number"]
    if not drawn:
        raise BadQuestion("this answer has no column of numbers to draw; ask for a count or the like, or draw nothing")
    return drawn


def _labels(query: Query) -> list[str]:
    """The columns that are keys."""
    keys = {key.name for key in query.keys}
    return [name for name, output in query.outputs if isinstance(output, Released) and output.name in keys]


def _shown(label: Any) -> str:
    """A key as it stands at the axis: blank text, and text with commas, in quotes."""
    text = str(label)
    return text if text.strip() and "," not in text else f'"{text}"'
