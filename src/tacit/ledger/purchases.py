"""The purchases of a ledger, newest first, a page at a time: what a history shows of a ledger of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .entries import Charge, Entry
from .stores import statements

if TYPE_CHECKING:
    from .ledger import Ledger

_PAGE = 100
_LAST = 1 << 62


def purchases(ledger: Ledger, before: int | None = None) -> Iterator[tuple[Charge, bool]]:
    """Every charge before an entry, newest first, without its release; and whether there is one.

    A session, which is answered step by step, has none.
    """
    seq = _LAST if before is None else before
    while True:
        with ledger.database.reading() as connection:
            rows = connection.execute(statements.CHARGES_BEFORE, {"seq": seq, "count": _PAGE}).fetchall()
            first = {"seq": rows[-1][0] if rows else 0, "before": seq}
            released = {charge for (charge,) in connection.execute(statements.RELEASED_SINCE, first)}
        for row in rows:
            charge = Charge.read(Entry.read(row))
            yield charge, charge.seq in released
        if len(rows) < _PAGE:
            return
        seq = rows[-1][0]
