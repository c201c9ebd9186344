"""A release in the form that was asked for: JSON, CSV, Arrow, Parquet, or tacit's own text of it."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from msgspec import Raw

from ....query.select.outputs import ColumnEstimate, listed
from ....release import Release
from ....release.export import sentence
from ...errors import BadRequest
from ...numbers import write_number
from ..answers import AnswerColumn, ReleaseAnswer
from ..call import JSON, Answer, Call

ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
CSV, OWN = "text/csv", "application/vnd.tacit.release+json"
FORMATS = {"json": JSON, "csv": CSV, "arrow": ARROW, "parquet": PARQUET, "release": OWN}
_ANY = {"*/*": JSON, "application/*": JSON, "text/*": CSV}


def wanted(call: Call, offered: Mapping[str, str] = FORMATS) -> str:
    """The media type that a request asks for, by `format=` or by its Accept header."""
    if (named := call.query.get("format")) is not None:
        if named not in offered:
            raise BadRequest(f"The format must be one of {', '.join(offered)}.")
        return offered[named]
    accept = call.headers.get("accept", "*/*")
    if accept == "*/*":
        return JSON
    ranked = sorted(enumerate(accept.split(",")), key=lambda each: (-_quality(each[1]), each[0]))
    for _, text in ranked:
        media = text.partition(";")[0].strip().lower()
        media = _ANY.get(media, media)
        if _quality(text) > 0 and media in offered.values():
            return media
    raise BadRequest(f"The answer can be of type {', '.join(offered.values())}.", 406)


def _quality(text: str) -> float:
    """The weight that a member of an Accept header has."""
    for parameter in text.split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "q":
            try:
                return float(value) if math.isfinite(float(value)) else 0.0
            except ValueError:
                return 0.0
    return 1.0


def released(
    call: Call, release: Release, *, free: bool, alike: Mapping[str, str], limit: Fraction, rehearsal: bool = False
) -> Answer:
    """A release as an answer."""
    media, p = wanted(call), release.provenance
    headers = {"Tacit-Price": write_number(release.price), "Tacit-Free": "true" if free else "false"}
    if p.entry_hash is not None:
        headers["Tacit-Entry"] = p.entry_hash
    if rehearsal:
        headers["Tacit-Rehearsal"] = "true"
    if media == OWN:
        return Answer(release.to_json(), media=media, headers=headers)
    if media != JSON:
        return Answer(
            _file(release, media), media=f"{media}; charset=utf-8" if media == CSV else media, headers=headers
        )
    columns, ranks = release.columns, release.ranks(release.beta)
    body = ReleaseAnswer(
        hash=p.entry_hash,
        entry=p.entry,
        time=p.time,
        question=p.question,
        price=write_number(release.price),
        share=float(release.price / limit),
        free=free,
        rehearsal=rehearsal,
        confidence=float(1 - release.beta),
        rows=len(next(iter(columns.values())).tolist()) if columns else 0,
        columns=[_column(name, c, name in release.noisy_names, ranks.get(name)) for name, c in columns.items()],
        sentence=sentence(release),
        equivalents=dict(alike),
        release=Raw(release.facts()),
    )
    return Answer(body, headers=headers)


def _column(name: str, c: ColumnEstimate, noisy: bool, rank: float | None) -> AnswerColumn:
    values = c.tolist()
    if c.kind == "label":
        texts = [v if v is None or isinstance(v, str) else v.isoformat() for v in values]
        return AnswerColumn(name, c.kind, noisy, texts, rank_error=rank)
    return AnswerColumn(name, c.kind, noisy, values, listed(c.lower), listed(c.upper), rank)


def _file(release: Release, media: str) -> bytes:
    return release.to_csv().encode() if media == CSV else arrow_file(release.to_arrow(), media)


def arrow_file(table: Any, media: str) -> bytes:
    """An Arrow table as a stream of Arrow, or as a file of Parquet."""
    import pyarrow as pa
    import pyarrow.parquet

    out = io.BytesIO()
    if media == PARQUET:
        pa.parquet.write_table(table, out)
    else:
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()
