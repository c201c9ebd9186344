"""An export of a ledger, verified by itself: for third parties, who have neither the ledger nor its key.

Each entry is replayed as those of a ledger are (`verification.py`): its hash is that of its content and stands in the
entry after it, every charge was within the budget of its time, and the totals that the entries carry are their sums.
Nobody can tell from an export alone whether later entries were left out: the head that its custodian publishes can.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.accounting.budget import Budget
from ..core.accounting.currency import Amount
from ..core.errors import BadParameter, LedgerCorrupt
from .accounts import ALL
from .encoding import read_budget
from .entries import START, Charge, Entry, Head, digest
from .verification import replayed


@dataclass(frozen=True)
class Export:
    """A sound export: its last entry, what it is about, how much of the budget was spent, and every charge by its hash.

    What was `spent` is the most on any part of the data.
    """

    head: Head
    dataset: str
    budget: Budget
    spent: Amount
    charges: Mapping[str, Charge]

    def charge_of(self, entry_hash: str) -> Charge | None:
        """The charge whose entry has this hash, with its release if it has one; None if there is none."""
        return self.charges.get(entry_hash)


def is_export(place: str | os.PathLike[str]) -> bool:
    """Whether a file holds JSON lines and not a database; False for what is no file."""
    path = Path(place)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1) == b"{"


def verify_export(place: str | os.PathLike[str], anchor: Head = START) -> Export:
    """The export in a file, if it is sound; else `LedgerCorrupt` with the first entry that is wrong."""
    if not Path(place).is_file():
        raise BadParameter("export", os.fspath(place), "a file that `tacit ledger export` wrote")
    kept = list(_entries(place))
    replay = replayed(kept, anchor)
    opening, releases = kept[0].body, {e.body["charge"]: e.data for e in kept if e.kind == "release"}
    charges = [Charge.read(entry, releases.get(entry.seq)) for entry in kept if entry.kind == "charge"]
    ((budget, spent),) = replay.accounts.spent(ALL, None)
    return Export(
        replay.head,
        opening["dataset"],
        read_budget(opening["budget"]),
        max(budget.used(amounts) for amounts in spent),
        {charge.hash: charge for charge in charges},
    )


def _entries(place: str | os.PathLike[str]) -> Iterator[Entry]:
    """The entries of an export, each with the hash and the bytes that it states."""
    with open(place, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                written = json.loads(line)
                data = None if written["data"] is None else base64.b64decode(written["data"], validate=True)
                entry = Entry(written["entry"], data)
                sealed = None if data is None else digest(data)
                same = entry.head.hash == written["hash"] and entry.body["data"] == sealed
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise LedgerCorrupt(number, "the line cannot be read") from None
            if not same:
                raise LedgerCorrupt(number, "the hash of the entry is not that of its content")
            yield entry
