"""Shared by all plots: loading Altair when it is needed, a common style, and safe text."""

from __future__ import annotations

from typing import Any

from .core.errors import Missing
from .core.safe_text import chart as safe

MIN_DELTA = 1e-12  # smaller values of delta are not drawn
SHORT = "format(datum.value, datum.value < 0.001 ? '~e' : '~g')"  # the format of numbers at an axis


def altair() -> Any:
    """The module altair, once it is clear that vl-convert, which writes files, is installed too."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise Missing("Plots need Altair, which is not installed. Run pip install 'tacit[plots]'.") from None
    return altair


def embeddable(part: Any) -> Any:
    """A chart, or a part of one, with every text made safe inside the <script> of a notebook or an HTML file."""
    if isinstance(part, str):
        return safe(part)
    if isinstance(part, list):
        return [embeddable(item) for item in part]
    if isinstance(part, dict):
        return {embeddable(name): embeddable(value) for name, value in part.items()}
    for name, value in getattr(part, "_kwds", {}).items():
        part._kwds[name] = embeddable(value)
    return part


def styled(chart: Any, **legend: int) -> Any:
    """The chart with letters large enough to read, and a faint grid."""
    return embeddable(
        chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e8e8e8")
        .configure_legend(labelFontSize=12, titleFontSize=12, **legend)
        .configure_title(fontSize=13, anchor="start", fontWeight="normal")
    )
