"""A bar chart with intervals as SVG, by hand: a page that holds it asks no other host and needs no library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..core.safe_text import html as safe

MOST = 40  # bars
_LABELS, _BARS, _ROW, _RIGHT, _TOP = 210, 420, 22, 90, 8
_LONGEST = 30  # characters of a label


class Bar(NamedTuple):
    """A value with the ends of its interval; None where an end is not known."""

    label: str
    value: float
    lower: float | None
    upper: float | None


def bars(shown: Sequence[Bar], axis: str) -> str:
    """The chart, of the first `MOST` bars; "" without any."""
    drawn = [_finite(bar) for bar in shown[:MOST]]
    if not drawn:
        return ""
    ends = [end for bar in drawn for end in (0.0, bar.value, bar.lower, bar.upper) if end is not None]
    low, high = min(ends), max(ends)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    wide = (high - low) or 1.0

    def x(value: float) -> float:
        return round(_LABELS + (value - low) / wide * _BARS, 1)

    bottom = _TOP + _ROW * len(drawn)
    parts = [f'<line x1="{x(t)}" y1="{_TOP}" x2="{x(t)}" y2="{bottom}" class="grid"/>' for t in ticks]
    parts += [f'<text x="{x(t)}" y="{bottom + 16}" class="tick">{_short(t)}</text>' for t in ticks]
    for i, bar in enumerate(drawn):
        top = _TOP + _ROW * i
        left, right = sorted((x(0.0), x(bar.value)))
        middle = top + _ROW / 2
        parts.append(f'<text x="{_LABELS - 8}" y="{middle + 4}" class="label">{safe(_cut(bar.label))}</text>')
        parts.append(f'<rect x="{left}" y="{top + 4}" width="{round(right - left, 1)}" height="{_ROW - 8}"/>')
        if bar.lower is not None and bar.upper is not None:
            a, b = x(bar.lower), x(bar.upper)
            parts.append(f'<path d="M{a} {middle}H{b}M{a} {middle - 4}v8M{b} {middle - 4}v8"/>')
    parts.append(f'<text x="{_LABELS + _BARS / 2}" y="{bottom + 34}" class="axis">{safe(axis)}</text>')
    size = f'viewBox="0 0 {_LABELS + _BARS + _RIGHT} {bottom + 42}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{safe(axis)}">{"".join(parts)}</svg>'


def _finite(bar: Bar) -> Bar:
    ends = (None if end is None or not math.isfinite(end) else end for end in (bar.lower, bar.upper))
    return Bar(bar.label, bar.value, *ends)


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}\u2026"


def _ticks(low: float, high: float) -> list[float]:
    """A few round numbers across a range."""
    if not high > low:
        return [low, low + 1]
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough)
    return [i * step for i in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _short(tick: float) -> str:
    return f"{tick:,.0f}" if abs(tick) >= 1000 or tick == int(tick) else f"{tick:.4g}"
