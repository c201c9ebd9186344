"""A witness beside a ledger's file: the last entry that was acknowledged, and which file it was in.

people.ledger.head is written after each commit, and not synced: what it names is always in the ledger already, and
after a power cut it may name an earlier entry.  So an entry that it names and the ledger lacks was taken away: its log
was deleted, an older copy was put in its place, or a copy was made and gone on with elsewhere.  Who can write the
ledger can write its witness; an anchor that is kept elsewhere (`tacit ledger verify --anchor`) sees more.
"""

from __future__ import annotations

import os
import re
import warnings
import zlib
from contextlib import suppress
from pathlib import Path

from ...core.errors import LedgerCorrupt
from ...core.safe_text import visible
from ..entries import Head
from .dialect import Connection

_HASH = "SELECT hash FROM entries WHERE seq = :seq"
_TEXT = re.compile(r"tacit ledger head 1 ([0-9]+) ([0-9]+) ([0-9a-f]{64})")


class LedgerCopied(UserWarning):
    """A warning that a ledger's file is not the one with its last entry: it may be a second ledger of one budget."""


class Witness:
    """A note of the last entry that was acknowledged, kept beside the file of a ledger."""

    def __init__(self, ledger: Path) -> None:
        self._ledger, self.path = ledger, ledger.with_name(f"{ledger.name}.head")
        self._file: int | None = None

    def read(self) -> tuple[int, Head] | None:
        """The number of the file and the last entry; None if there is no note, or it was torn."""
        try:
            text, _, check = self.path.read_text("ascii").strip().rpartition(" ")
        except (OSError, ValueError):
            return None
        match = _TEXT.fullmatch(text)
        if match is None or check != _check(text):
            return None
        return int(match[1]), Head(int(match[2]), match[3])

    def check(self, connection: Connection, known: tuple[int, Head] | None, *, empty: bool = False) -> None:
        """Refuse a ledger that lacks what was read from its witness before the transaction; `empty`: it has nothing."""
        if known is None:
            return
        number, head = known
        if empty or connection.execute(_HASH, {"seq": head.seq}).fetchone() != (head.hash,):
            lost = (
                f"entry {head.seq}, which was acknowledged, is not in it: its log was deleted, or an older copy was put"
            )
            raise LedgerCorrupt(0, f"{lost} in its place (if you restored that copy on purpose, remove {self.path})")
        if number != os.stat(self._ledger).st_ino:
            copied = (
                "this ledger is a copy, or was moved from another disk; while the other is in use, both sell one budget"
            )
            warnings.warn(visible(f"{self._ledger}: {copied}"), LedgerCopied, stacklevel=4)

    def note(self, number: int, head: Head) -> None:
        """Note the last entry, if the disk allows it: the ledger itself is already durable."""
        text = f"tacit ledger head 1 {number} {head.seq} {head.hash}"
        line = f"{text} {_check(text)}".ljust(200) + "\n"
        with suppress(OSError):
            if self._file is None:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            os.pwrite(self._file, line.encode(), 0)

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def _check(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
