"""What all pictures have in common: what draws them, which is loaded when it is needed, and how they look."""

from __future__ import annotations

from typing import Any

from .core.errors import Missing

FAINTEST = 1e-12  # the least delta that is drawn
SHORT = "format(datum.value, datum.value < 0.001 ? '~e' : '~g')"  # how numbers stand at an axis


def altair() -> Any:
    """The library that draws, if the one that writes files is there too."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise Missing("pictures need the extra `plots`: pip install 'tacit[plots]'") from None
    return altair


def styled(chart: Any, **legend: int) -> Any:
    """Letters large enough to read, and a faint grid."""
    return (
        chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e8e8e8")
        .configure_legend(labelFontSize=12, titleFontSize=12, **legend)
        .configure_title(fontSize=13, anchor="start", fontWeight="normal")
    )
