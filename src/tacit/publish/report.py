"""The report of a publication: one HTML page that asks no other host for anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..core.safe_text import html as safe
from .answers import Answer

_MAX_ROWS, _MAX_SYNTHETIC = 200, 10
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--faint:#59636e;--line:#d5d9de;--page:#fff;--bar:#56b4e9}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--faint:#9aa4ae;--line:#3a4149;--page:#14171a;--bar:#2f7fae}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:48rem;margin:2rem auto;
padding:0 1rem}
h1{line-height:1.2;margin-bottom:.3rem}h2{margin:2.5rem 0 .3rem;padding-top:1rem;border-top:1px solid var(--line)}
.lead,.note,footer{color:var(--faint)}.note{font-size:.9rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem;color:var(--faint);margin:.3rem 0}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right}
svg{width:100%;height:auto;max-width:45rem;margin:.6rem 0}svg text{font-size:12px;fill:var(--ink)}
svg .label{text-anchor:end}svg .tick,svg .axis{text-anchor:middle;fill:var(--faint)}svg .grid{stroke:var(--line)}
svg rect{fill:var(--bar)}svg path{stroke:var(--ink);stroke-width:1.5;fill:none}
a{color:inherit}code{overflow-wrap:anywhere}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(card: Mapping[str, Any], answers: Sequence[Answer]) -> str:
    """The page."""
    title, privacy = safe(card["title"]), card["privacy"]
    contents = "".join(f'<li><a href="#{a.name}">{safe(a.title)}</a></li>' for a in answers)
    units = " and ".join(sorted(set(privacy["unit"].values())))
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{safe(_POLICY)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><main>"
    )
    about = f"<p>{safe(card['description'])}</p>" if card["description"] else ""
    lead = (
        f'<h1>{title}</h1><p class="lead">{safe(card["date"][:10])}. Every number has noise added to it, so that what '
        f"is published hardly depends on any one {safe(units)}: {safe(privacy['sentence'])}</p>{about}"
        f"<nav><ul>{contents}</ul></nav>"
    )
    return "".join((head, lead, *map(_section, answers), _footer(card), "</main></body></html>\n"))


def _section(answer: Answer) -> str:
    files = ["csv", "parquet", *answer.files]
    links = ", ".join(f'<a href="answers/{answer.name}.{suffix}">{suffix.upper()}</a>' for suffix in files)
    return (
        f'<section id="{answer.name}"><h2>{safe(answer.title)}</h2><pre>{safe(answer.question)}</pre>'
        f'{answer.chart}<div class="scroll">{"".join(_table(answer))}</div>'
        f'<p class="note">{safe(answer.sentences)}</p><p class="note">{links}</p></section>'
    )


def _table(answer: Answer) -> Iterator[str]:
    most = _MAX_SYNTHETIC if answer.kind == "synthetic" else _MAX_ROWS
    rows, names = answer.table.slice(0, most).to_pylist(), answer.table.column_names
    numeric = {name for name in names if any(isinstance(row[name], int | float) for row in rows)}
    classes = {name: ' class="n"' if name in numeric else "" for name in names}
    yield "<table><thead><tr>"
    yield from (f'<th scope="col"{classes[name]}>{safe(name)}</th>' for name in names)
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = (f"<td{classes[name]}>{safe(_shown(value))}</td>" for name, value in row.items())
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"
    if answer.table.num_rows > most:
        yield f'<p class="note">The first {most} of {answer.table.num_rows} rows; the files have all.</p>'


def _shown(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
        case int():
            return f"{value:,}"
    return str(value)


def _footer(card: Mapping[str, Any]) -> str:
    ledger, privacy = card["ledger"], card["privacy"]
    head = f"{ledger['head']['entry']}:{ledger['head']['hash']}"
    first = next((a["name"] for a in card["answers"] if a["kind"] == "question"), None)
    check = "" if first is None else f" and <code>tacit verify answers/{first}.json --ledger ledger.jsonl</code>"
    more = '<a href="registry.yaml">registry.yaml</a>, ' if "registry.yaml" in card["files"] else ""
    made = ", ".join(f"{name} {version}" for name, version in card["implementation"].items())
    return (
        "<section><h2>How this was made</h2>"
        f"<p>{safe(privacy['neighbours'])} {safe(privacy['composition'])}</p>"
        f"<p>The answers were bought together, by entry {ledger['entry']} of a ledger, for {ledger['price']:.6g} of "
        f"{safe(ledger['budget'])}; {ledger['spent']:.6g} of it was spent by then. Anybody can check that the numbers "
        f"are those that were stored, and that the budget was kept: <code>tacit ledger verify ledger.jsonl</code>"
        f"{check}. The head of the ledger was <code>{safe(head)}</code>.</p>"
        f'<p>Files: <a href="card.json">card.json</a>, <a href="ledger.jsonl">ledger.jsonl</a>, {more}'
        f'<a href="release.toml">release.toml</a>. Made with {safe(made)}.</p></section>'
    )
