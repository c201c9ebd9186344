"""A release as a notebook shows it: the table as it is exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.safe_text import html as safe

if TYPE_CHECKING:
    from .release import Release

_MOST = 60  # rows


def html(release: Release) -> str:
    table = release.to_arrow()
    lines = [_line("th", table.column_names)]
    lines += [_line("td", row.values()) for row in table.slice(0, _MOST).to_pylist()]
    more = f"<p>and {table.num_rows - _MOST} more rows</p>" if table.num_rows > _MOST else ""
    return f"<table>{''.join(lines)}</table>{more}"


def _line(cell: str, values: Any) -> str:
    return f"<tr>{''.join(f'<{cell}>{safe(_shown(value))}</{cell}>' for value in values)}</tr>"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
