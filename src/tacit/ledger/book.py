"""One writing transaction: what it needs is read first, entries are appended, and all is written at its end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ..core.accounting.loss import Loss, zero
from ..core.errors import LedgerConflict, LedgerCorrupt
from ..core.randomness import SYSTEM
from . import totals
from .accounts import ALL, Accounts, Overdrawn
from .encoding import Json, read_amounts, read_budget, write_amounts, write_loss
from .entries import START, Charge, Entry, Head, Request, digest, write_purpose
from .names import skeleton
from .seal import MAGIC, Seal
from .stores import statements
from .stores.dialect import Connection

_SUMS, _DIGEST = ',"sums":"', re.compile('[0-9a-f]{64}"')  # in the body of an entry; in a text, quotes are escaped


def read(connection: Connection, query: str, **given: str | int) -> Entry | None:
    """The one entry that a query finds, if any."""
    row = connection.execute(query, given).fetchone()
    return None if row is None else Entry.read(row)


def last(connection: Connection) -> Head:
    row = connection.execute(statements.HEAD).fetchone()
    return START if row is None else Head(*row[:2])


def last_sums(connection: Connection) -> tuple[Head, str | None]:
    """The last entry, which is there, and the digest of the totals that it carries, if it does."""
    seq, hashed, body = connection.execute(statements.HEAD).fetchone()
    if not isinstance(body, str):
        raise LedgerCorrupt(seq, "it cannot be read")
    _, found, rest = body.rpartition(_SUMS)
    return Head(seq, hashed), rest[:64] if found and _DIGEST.match(rest) else None


def find(connection: Connection, key: str) -> Charge | None:
    """The last draw of a question, with its release if it has one."""
    entry = read(connection, statements.DRAW, key=key)
    if entry is None:
        return None
    release = None if entry.body["session"] else following(connection, entry.seq, 0)
    return Charge.read(entry, None if release is None else release.data)


def following(connection: Connection, charge: int, step: int) -> Entry | None:
    """What was appended to a charge under this number: its release is 0, the steps of a session are 0, 1, 2, ..."""
    return read(connection, statements.FOLLOWING, charge=charge, step=step)


class Book:
    """Entries to be appended after those in the tables."""

    def __init__(
        self, connection: Connection, accounts: Accounts, seal: Seal, spellings: Mapping[str, list[str]]
    ) -> None:
        self.connection, self.accounts, self._seal, self._spellings = connection, accounts, seal, spellings
        self._stored: dict[str, dict[str, totals.Row]] = {}  # as read: account, part, total
        self._changed: dict[tuple[str | None, str | None], totals.Row] = {}
        self._fetched: dict[str, set[str | None]] = {}  # the parts that were looked for; None is all
        self._pending: list[Entry] = []
        self._head: Head | None = None  # unless it was read
        self._sums: str | None = None
        self._digest: totals.Digest | None = None
        self._new: dict[str, Charge] = {}
        self.posted: list[tuple[str, frozenset[str] | None, Loss]] = []

    @property
    def head(self) -> Head:
        """The last entry so far."""
        if self._head is None:
            self._head, self._sums = last_sums(self.connection)
        return self._head

    def _followed(self) -> totals.Digest:
        """The digest of the totals so far."""
        if self._digest is None:
            self._digest = totals.stored(self.connection) if self._sums is None else totals.Digest(int(self._sums, 16))
            for row in (row for rows in self._stored.values() for row in rows.values()):
                self._digest.know(row)
        return self._digest

    def append(self, kind: str, facts: Mapping[str, Json], data: bytes | None = None) -> Entry:
        head, rows = self.head, self.accounts.take_changed()
        if rows or self._sums is None:
            digest = self._followed()
            digest.change(rows)
            self._changed |= {(row["account"], row["part"]): row for row in rows}
            self._sums = str(digest)
        entry = Entry.after(head, kind, {**facts, "sums": self._sums}, data)
        self._head = entry.head
        self._pending.append(entry)
        return entry

    def named(self, analyst: str) -> list[str]:
        """The accounts that an analyst has, or would have."""
        return self._spellings.get(skeleton(analyst)) or [skeleton(analyst)]

    def allowance(self, analyst: str) -> None:
        """Look up what the analyst may spend, if anybody has an allowance at all."""
        if not self.accounts.some_allowed:
            self.accounts.some_allowed = self.connection.execute(statements.ANY_ALLOWANCE).fetchone() is not None
        if not self.accounts.some_allowed:
            return
        found = [(name, read(self.connection, statements.ALLOWANCE, analyst=name)) for name in self.named(analyst)]
        own = {name: read_budget(entry.body["budget"]) for name, entry in found if entry is not None}
        self.accounts.allowances |= own

    def look_up(self, analyst: str, parts: frozenset[str] | None, loss: Loss = zero) -> None:
        """Read the accounts that a charge of the loss is paid from."""
        if analyst not in self._fetched:
            self._fetched[analyst] = set()
            self.allowance(analyst)
        for account in self.accounts.budgets(analyst, loss):
            self.fetch(account, parts)

    def pay(self, analyst: str, parts: frozenset[str] | None, loss: Loss) -> Json:
        """Check and charge; what each account paid."""
        self.look_up(analyst, parts, loss)
        price = self.accounts.price(analyst, loss)
        self.posted.append((analyst, parts, loss))
        self.accounts.post(analyst, parts, loss, price)
        return {account: write_amounts(amounts) for account, amounts in price.items()}

    def fetch(self, account: str, parts: Iterable[str] | None) -> None:
        """Read the sums that a charge on these parts must be checked against: with None, all."""
        stored, fetched = self._stored.setdefault(account, {}), self._fetched.setdefault(account, set())
        if None in fetched:
            return
        query = statements.OF_ACCOUNT if parts is None else statements.OF_PART
        wanted: set[str | None] = {None} if parts is None else {ALL, *parts}
        at = ({"account": account, "part": part} for part in wanted - fetched)
        rows = [row for each in at for row in self.connection.execute(query, each)]
        fetched |= wanted
        for part, amounts, relation in rows:
            if part in stored:  # and added to since
                continue
            stored[part] = {"account": account, "part": part, "amounts": amounts, "relation": relation}
            if self._digest is not None:
                self._digest.know(stored[part])
            try:
                self.accounts.sums.setdefault(account, {})[part] = read_amounts(json.loads(amounts))
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                raise LedgerCorrupt(0, "a total cannot be read") from None
            if (account, part) == (ALL, ALL):
                self.accounts.relation = relation

    def charge(self, request: Request, session: bool = False) -> Charge:
        """The charge of a question that was asked before, free; or a new one."""
        known = self._new.get(request.key) or find(self.connection, request.key)
        if known is not None and not request.fresh:
            return _same(known, request, session)
        facts = {
            "key": request.key,
            "draw": 1 if known is None else known.draw + 1,
            "analyst": request.analyst,
            "parts": None if request.parts is None else sorted(request.parts),
            "loss": write_loss(request.loss),
            "purpose": write_purpose(request.purpose),
            "session": session,
            "paid": self.pay(request.analyst, request.parts, request.loss),
        }
        charge = self._new[request.key] = Charge.read(self.append("charge", facts), loss=request.loss)
        return charge

    def step(self, charge: Charge, number: int, state: bytes, data: bytes | None, facts: Mapping[str, Json]) -> Entry:
        """Go on to a state.  Its digest would let a guess at it be checked, so it is salted."""
        salt = SYSTEM.words(4).tobytes()
        state = self._seal.seal(state, charge.seq, number, sealed_before=self._sealed_before)
        entry = self.append(
            "step", {**facts, "charge": charge.seq, "step": number, "state": digest(salt + state)}, data
        )
        row = {"charge": charge.seq, "step": number, "salt": salt, "state": state}
        self.connection.execute(statements.CHANGE_STATE if number else statements.NEW_STATE, row)
        return entry

    def _sealed_before(self) -> bool:
        given = {"magic": MAGIC, "length": len(MAGIC)}
        (count,) = self.connection.execute(statements.SEALED, given).fetchone()
        return bool(count)

    @property
    def appended(self) -> bool:
        """Whether this transaction has entries of its own."""
        return bool(self._pending)

    def attempted(self, over: Overdrawn) -> Loss:
        """The sum of the losses that this transaction tried to charge to the overdrawn account and part."""
        wanted = (
            loss
            for analyst, parts, loss in self.posted
            if over.account in (ALL, *self.named(analyst)) and (parts is None or over.part in parts)
        )
        return sum(wanted, zero)

    def close(self) -> None:
        """Write it all."""
        new, changed = [], []
        for (account, part), row in self._changed.items():
            known = self._stored.get(account or ALL, {}).get(part or ALL)
            if known is None:
                new.append(row)
            elif known != row:
                changed.append(row)
        for statement, rows in (
            (statements.APPEND, [entry.row() for entry in self._pending]),
            (statements.NEW_TOTAL, new),
            (statements.CHANGE_TOTAL, changed),
        ):
            if rows:
                self.connection.executemany(statement, rows)


def _same(known: Charge, request: Request, session: bool) -> Charge:
    """A release may be had by all; what is open is completed by whoever asks for the very same."""
    if known.session != session:
        raise LedgerConflict("this key was charged for " + ("a session" if known.session else "one answer"))
    if known.release is None and (write_loss(known.loss), known.parts) != (write_loss(request.loss), request.parts):
        raise LedgerConflict("this key was charged at another price or for other parts; ask as before, or afresh")
    return known
