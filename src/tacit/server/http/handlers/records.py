"""Histories, releases and ledgers."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import replace
from fractions import Fraction

from ....core.safe_text import cell
from ....release import Release
from ...errors import BadRequest
from ...service import records
from ...service.verdicts import Verdict
from ..answers import Card, History, PurchaseLine
from ..call import JSON, Answer, Call
from ..owner_answers import HeadOf, LedgerPage, PublishedAnswer, VerdictAnswer
from .formats import CSV, released, wanted
from .linear import bought_answers
from .questions import exact

_COLUMNS = ("entry", "hash", "time", "analyst", "kind", "what", "price", "share", "released")
MAX_PAGE = 1000


def history(call: Call) -> Answer:
    """What was bought, newest first."""
    count, before = number(call, "count", 100), number(call, "before", 0)
    found = records.history(call.service, call.access, before=before or None, count=min(count, MAX_PAGE))
    limit = call.service.curator(call.access).budget.limit
    lines = [_line(each, limit) for each in found]
    if wanted(call, {"json": JSON, "csv": CSV}) == JSON:
        return Answer(History(lines, lines[-1].entry if lines and len(lines) == count else None))
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(_COLUMNS)
    for line in lines:
        values = (getattr(line, name) for name in _COLUMNS)
        writer.writerow([cell(value) if isinstance(value, str) else value for value in values])
    return Answer(sheet.getvalue().encode(), media=f"{CSV}; charset=utf-8")


def _line(record: records.Record, limit: Fraction) -> PurchaseLine:
    charge, purpose = record.charge, record.charge.purpose
    share = float(Fraction(record.price) / limit) if record.price < float("inf") else 1.0
    facts = charge.seq, charge.hash, charge.time, charge.analyst, purpose.kind, purpose.description
    return PurchaseLine(*facts, exact(record.price), share, record.released)


def number(call: Call, name: str, default: int) -> int:
    text = call.query.get(name, str(default))
    if not text.isdecimal() or not text.isascii() or len(text) > 15:
        raise BadRequest(f"{name} must be a whole number.")
    return int(text)


def release(call: Call) -> Answer:
    """A release by the hash of its entry."""
    found = records.release(call.service, call.access.person, call.path["hash"])
    limit = call.service.curator(found.access).budget.limit
    if isinstance(found.release, Release):
        answer = released(call, found.release, free=True, alike={}, limit=limit)
    else:
        answer = bought_answers(call, found.release, limit)
    about = {"Tacit-Published": "true" if found.published else "false"}
    if call.access.person is not None:
        about["Tacit-Dataset"] = found.access.about.name
    return replace(answer, headers={**answer.headers, **about})


def card(call: Call) -> Answer:
    """The card of a release."""
    return Answer(Card(records.release(call.service, call.access.person, call.path["hash"]).release.card()))


def verify_release(call: Call) -> Answer:
    """Whether the ledger keeps a release, and is what was written."""
    found = records.release(call.service, call.access.person, call.path["hash"])
    return Answer(_verdict(records.verify(call.service, found.access)))


def publish(call: Call) -> Answer:
    """Let anybody read a release."""
    found = records.release(call.service, call.access.person, call.path["hash"])
    said = call.service.store.publish(call.path["hash"], found.access.about.name, by=call.access.name)
    return Answer(PublishedAnswer(said.hash, said.dataset, said.published))


def ledger(call: Call) -> Answer:
    """Entries of a ledger."""
    after, count = number(call, "after", 0), min(number(call, "count", 100), MAX_PAGE)
    found, head = records.entries(call.service, call.access, after=after, count=count)
    last = int(found[-1]["seq"]) if found else 0
    return Answer(LedgerPage(found, HeadOf(*head), last if found and last < head.seq else None))


def verify(call: Call) -> Answer:
    """Whether a ledger is what was written."""
    return Answer(_verdict(records.verify(call.service, call.access)))


def _verdict(verdict: Verdict) -> VerdictAnswer:
    return VerdictAnswer(verdict.intact, verdict.head.seq, HeadOf(*verdict.head), verdict.reason or None)


def export(call: Call) -> Answer:
    """All entries of a ledger as JSON lines, with what was released."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed once it is sent
    text = io.TextIOWrapper(file, encoding="ascii")
    call.service.curator(call.access).ledger.export(text)
    text.detach()
    file.seek(0)
    return Answer(file, media="application/x-ndjson")
