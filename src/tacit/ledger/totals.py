"""A digest of all totals, which every entry carries on: so a total that was edited is seen when a ledger is opened.

The digest is the sum of the rows' SHA-256 values modulo 2^256.  A row that changes is subtracted and added anew, so an
entry costs the same however many accounts and parts there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from ..core.errors import LedgerCorrupt
from .stores.dialect import Connection
from .stores.statements import TOTALS

Row = Mapping[str, str | None]
_MODULUS = 1 << 256


def row_digest(row: Row) -> int:
    """The digest of one row; names are printable, so they cannot run into one another."""
    text = f"{row['account']}\0{row['part']}\0{row['amounts']}\0{row['relation']}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


def stored(connection: Connection) -> Digest:
    """The digest of the totals in the table."""
    names = ("account", "part", "amounts", "relation")
    digest = Digest(0)
    digest.change(dict(zip(names, row, strict=True)) for row in connection.execute(TOTALS))
    return digest


def check(connection: Connection, sums: str | None) -> None:
    """Refuse totals other than those after the last entry; entries of earlier versions do not say which those are."""
    if sums is not None and sums != str(stored(connection)):
        raise LedgerCorrupt(0, "the totals are not those after the last entry")


class Digest:
    """A digest that follows the totals as they change."""

    def __init__(self, value: int) -> None:
        self._value, self._rows = value, dict[tuple[str | None, str | None], Row]()

    def know(self, row: Row) -> None:
        """Note a row that is part of the digest, before it changes."""
        self._rows.setdefault((row["account"], row["part"]), row)

    def change(self, rows: Iterable[Row]) -> None:
        """Put rows in the place of what was known under their names."""
        for row in rows:
            at = row["account"], row["part"]
            before = self._rows.get(at)
            self._value += row_digest(row) - (0 if before is None else row_digest(before))
            self._rows[at] = row
        self._value %= _MODULUS

    def __str__(self) -> str:
        return f"{self._value:064x}"
