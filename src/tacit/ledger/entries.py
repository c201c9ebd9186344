"""The entries of a ledger: facts in a row, each of which holds the hash of the one before.

    opening     format, dataset, budget (all five fields), whether an allowance is asked for, the least share a question
                takes (absent from ledgers opened before there was one, in which it is 1/10000)
    allowance   analyst, budget, and what the analyst had spent of it by then
    charge      key of the question, draw, analyst, parts, loss as exact atoms, amounts paid, purpose (what it is for)
    release     of which charge, its form; the bytes stand beside it
    step        of which session (a charge), its number, key of the question, what it cost beyond the session's price

The body is canonical JSON and names its place, the hash before it and the digest of its bytes; its SHA-256 is its own
hash.  So no entry can be changed, moved, dropped or slipped in without changing the last hash, which `Head` exports.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from ..core.accounting.loss import Loss
from ..core.errors import BadParameter, LedgerCorrupt, NewerVersion
from ..core.purpose import UNSTATED, Purpose
from ..core.safe_text import visible
from ..storage import Unreadable
from .encoding import Json, canonical, read_loss

FORMAT = 2  # in 1, losses and the keys of workload answers were spelled otherwise (`storage/former.py`)
FORMATS = (1, FORMAT)  # that can be read
_APART = ("kind", "key", "draw", "charge", "step")  # of the body, also kept apart to be looked up
FAILED = b"null"  # the bytes of a release of which the draw failed after its first noise
COLUMNS = ("seq", *_APART, "body", "data", "hash")


class Head(NamedTuple):
    """The last entry.  Kept elsewhere, it is an anchor that shows when a ledger was rolled back or cut short."""

    seq: int
    hash: str


START = Head(0, "0" * 64)


def is_newer(version: object) -> bool:
    """Whether an opening entry of this format is of a newer version of tacit."""
    return type(version) is int and version > FORMAT


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _seal(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


@dataclass(frozen=True)
class Entry:
    """One fact: a body of JSON and perhaps bytes beside it."""

    body: Mapping[str, Json]
    data: bytes | None = None

    @classmethod
    def after(cls, head: Head, kind: str, facts: Mapping[str, Json], data: bytes | None = None) -> Entry:
        """The entry of this kind that follows `head`, made now."""
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        seal = {"seq": head.seq + 1, "previous": head.hash, "kind": kind, "time": now}
        return cls({**facts, **seal, "data": _seal(data)}, data)

    @property
    def seq(self) -> int:
        return int(self.body["seq"])

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @cached_property
    def text(self) -> str:
        return canonical(self.body)

    @cached_property
    def head(self) -> Head:
        return Head(self.seq, digest(self.text.encode()))

    def row(self) -> dict[str, Any]:
        """The entry as a row of the table."""
        columns = {name: self.body.get(name) for name in _APART}
        return {**columns, "seq": self.seq, "body": self.text, "data": self.data, "hash": self.head.hash}

    @classmethod
    def read(cls, row: Sequence[Any]) -> Entry:
        """The entry of a row with these `COLUMNS`; `LedgerCorrupt` if hash or columns disagree with the body."""
        seq, *_, body, data, _ = row
        try:
            entry = cls(json.loads(body), data)
            same = entry.row() == dict(zip(COLUMNS, row, strict=True)) and entry.body["data"] == _seal(data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise LedgerCorrupt(seq, "the entry cannot be read") from None
        if not same:
            raise LedgerCorrupt(seq, "the hash of the entry is not that of its content")
        return entry


@dataclass(frozen=True)
class Request:
    """A charge to be made.  Whoever asks with the same `key` gets the same answer, unless `fresh`."""

    key: str
    loss: Loss
    analyst: str
    parts: frozenset[str] | None = None  # None: all of the data
    purpose: Purpose = UNSTATED
    fresh: bool = False


@dataclass(frozen=True, repr=False)
class Charge:
    """A charge that was made.

    Where `release` is None it is yet to be computed, and nobody has seen anything.  Where the charge `failed`, the
    bytes of `release` hold no answer.
    """

    seq: int
    key: str = field(repr=False)
    draw: int
    analyst: str
    loss: Loss
    parts: frozenset[str] | None
    written_purpose: Json = field(repr=False, hash=False)  # as `purpose` reads it
    time: str
    session: bool
    hash: str = field(repr=False)  # of its entry
    release: bytes | None = field(default=None, repr=False)

    @classmethod
    def read(cls, entry: Entry, release: bytes | None = None, loss: Loss | None = None) -> Charge:
        """The charge of an entry; where its loss is known, it is not read again."""
        body = entry.body
        try:
            return cls(
                seq=entry.seq,
                key=body["key"],
                draw=body["draw"],
                analyst=body["analyst"],
                loss=read_loss(body["loss"]) if loss is None else loss,
                parts=None if body["parts"] is None else frozenset(body["parts"]),
                written_purpose=body["purpose"] if "purpose" in body else body["plan"],
                time=body["time"],
                session=body["session"],
                hash=entry.head.hash,
                release=release,
            )
        except (BadParameter, Unreadable, LookupError, TypeError):
            raise LedgerCorrupt(entry.seq, "the charge cannot be read") from None

    def __repr__(self) -> str:
        what = f"{self.purpose.kind}: {self.purpose.description}" if self.purpose.description else self.purpose.kind
        return visible(f"<Charge {self.seq}, {self.time[:19]}, {self.analyst}, {what}>")

    @property
    def failed(self) -> bool:
        """Whether the draw failed after its first noise, so that the charge is spent without an answer."""
        return self.release == FAILED

    @cached_property
    def purpose(self) -> Purpose:
        """What the charge is for.  Entries of earlier versions say so in prose, from which the kind is read."""
        if isinstance(self.written_purpose, str):
            return _from_prose(self.written_purpose, self.session, self.analyst)
        try:
            return Purpose(**self.written_purpose)
        except (BadParameter, TypeError):
            raise NewerVersion("an entry of this ledger", "its purpose is of a kind that is not known here") from None


def write_purpose(purpose: Purpose) -> Json:
    """A purpose as it stands in an entry."""
    return {"kind": purpose.kind, "description": purpose.description, "terms": purpose.terms}


def _from_prose(text: str, session: bool, analyst: str) -> Purpose:
    """The purpose of a charge that has a text called plan instead: canonical JSON for a question, else a sentence."""
    if session:
        if not text:
            return Purpose("private value" if analyst in ("curator", "holdout") else "holdout")
        return Purpose("online" if ": multiplicative weights on " in text else "stream", text)
    if text.startswith("bounds of "):
        return Purpose("bounds", text)
    if text.startswith("["):
        try:
            _, mechanisms, beta = json.loads(text)
        except (ValueError, TypeError):
            return Purpose("other", text)
        return Purpose("question", "", {"mechanisms": mechanisms, "beta": beta})
    return Purpose("workload" if " on " in text else "other", text)
