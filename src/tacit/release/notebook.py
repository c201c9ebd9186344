"""A release as an HTML table, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.safe_text import html as safe
from .export import sentence
from .provenance import REHEARSAL

if TYPE_CHECKING:
    from .release import Release

_MAX_ROWS = 60


def html(release: Release) -> str:
    """The exported table as HTML, at most `_MAX_ROWS` rows of it, and the sentences about its accuracy and privacy."""
    table = release.to_arrow()
    rows = [_row("th", table.column_names)]
    rows += [_row("td", row.values()) for row in table.slice(0, _MAX_ROWS).to_pylist()]
    more = f"<p>... and {table.num_rows - _MAX_ROWS} more rows</p>" if table.num_rows > _MAX_ROWS else ""
    note = f"<p>{REHEARSAL}</p>" if release.provenance.rehearsal else ""
    caveats = safe(sentence(release, "from lower to upper ").removeprefix(REHEARSAL).strip())
    return f"{note}<table>{''.join(rows)}</table>{more}<p>{caveats}</p>"


def _row(cell: str, values: Any) -> str:
    return f"<tr>{''.join(f'<{cell}>{safe(_shown(value))}</{cell}>' for value in values)}</tr>"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
