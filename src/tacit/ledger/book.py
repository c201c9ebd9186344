"""The book: one writing transaction, which reads what it needs, appends entries, and writes everything at its end."""

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
    """The one entry that a query finds, or None."""
    row = connection.execute(query, given).fetchone()
    return None if row is None else Entry.read(row)


def last(connection: Connection) -> Head:
    """The last entry of the ledger."""
    row = connection.execute(statements.HEAD).fetchone()
    return START if row is None else Head(*row[:2])


def last_sums(connection: Connection) -> tuple[Head, str | None]:
    """The last entry of a ledger that has one, and the digest of the totals that it carries, or None."""
    seq, hashed, body = connection.execute(statements.HEAD).fetchone()
    if not isinstance(body, str):
        raise LedgerCorrupt(seq, "the entry cannot be read")
    _, found, rest = body.rpartition(_SUMS)
    return Head(seq, hashed), rest[:64] if found and _DIGEST.match(rest) else None


def find(connection: Connection, key: str) -> Charge | None:
    """The charge for the last draw of a question, with its release if it has one."""
    return _with_release(connection, read(connection, statements.DRAW, key=key))


def by_hash(connection: Connection, entry_hash: str, known: dict[str, int]) -> Charge | None:
    """The charge whose entry has this hash, with its release if it has one.

    `known` are the numbers of charges by their hashes, as far as was looked: entries never change, so what was read
    stays.
    """
    if entry_hash not in known:
        last = max(known.values(), default=0)
        known.update({found: seq for seq, found in connection.execute(statements.CHARGES, {"seq": last})})
    seq = known.get(entry_hash)
    return None if seq is None else _with_release(connection, read(connection, statements.AT, seq=seq))


def _with_release(connection: Connection, entry: Entry | None) -> Charge | None:
    if entry is None:
        return None
    release = None if entry.body["session"] else following(connection, entry.seq, 0)
    return Charge.read(entry, None if release is None else release.data)


def following(connection: Connection, charge: int, step: int) -> Entry | None:
    """The entry that follows a charge under this number: 0 for its release, and 0, 1, 2, ... for steps of a session."""
    return read(connection, statements.FOLLOWING, charge=charge, step=step)


class Book:
    """The entries that one transaction appends to those in the tables, and the totals that they change."""

    def __init__(
        self, connection: Connection, accounts: Accounts, seal: Seal, spellings: Mapping[str, list[str]]
    ) -> None:
        self.connection, self.accounts, self._seal, self._spellings = connection, accounts, seal, spellings
        self._stored: dict[str, dict[str, totals.Row]] = {}  # totals as they were read, by account and part
        self._changed: dict[tuple[str | None, str | None], totals.Row] = {}
        self._fetched: dict[str, set[str | None]] = {}  # the parts that were looked for; None is all
        self._pending: list[Entry] = []
        self._head: Head | None = None  # None until it is read
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
        """Append an entry, with the digest of the totals after it."""
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
        """The names of the accounts that an analyst has, or would have."""
        return self._spellings.get(skeleton(analyst)) or [skeleton(analyst)]

    def allowance(self, analyst: str) -> None:
        """Look up what the analyst may spend, if anybody has an allowance at all."""
        if not self.accounts.some_allowed:
            self.accounts.some_allowed = self.connection.execute(statements.ANY_ALLOWANCE).fetchone() is not None
        if not self.accounts.some_allowed:
            return
        entries = [(name, read(self.connection, statements.ALLOWANCE, analyst=name)) for name in self.named(analyst)]
        own = {name: read_budget(entry.body["budget"]) for name, entry in entries if entry is not None}
        self.accounts.allowances |= own

    def look_up(self, analyst: str, parts: frozenset[str] | None, loss: Loss = zero) -> None:
        """Read the accounts that a charge of the loss is paid from."""
        if analyst not in self._fetched:
            self._fetched[analyst] = set()
            self.allowance(analyst)
        for account in self.accounts.budgets(analyst, loss):
            self.fetch(account, parts)

    def pay(self, analyst: str, parts: frozenset[str] | None, loss: Loss) -> Json:
        """Charge a loss to each account that it is paid from, if all admit it, and return what each paid, as JSON."""
        self.look_up(analyst, parts, loss)
        price = self.accounts.price(analyst, loss)
        self.posted.append((analyst, parts, loss))
        self.accounts.post(analyst, parts, loss, price)
        return {account: write_amounts(amounts) for account, amounts in price.items()}

    def fetch(self, account: str, parts: Iterable[str] | None) -> None:
        """Read the sums that a charge on these parts is checked against; None is all parts."""
        stored, fetched = self._stored.setdefault(account, {}), self._fetched.setdefault(account, set())
        if None in fetched:
            return
        query = statements.OF_ACCOUNT if parts is None else statements.OF_PART
        wanted: set[str | None] = {None} if parts is None else {ALL, *parts}
        at = ({"account": account, "part": part} for part in wanted - fetched)
        rows = [row for each in at for row in self.connection.execute(query, each)]
        fetched |= wanted
        for part, amounts, relation in rows:
            if part in stored:  # it was read before, and may have been added to since
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
        """The charge of a question: the one it was asked with before, free, or a new one."""
        before = self._new.get(request.key) or find(self.connection, request.key)
        if before is not None and not request.fresh:
            return _same(before, request, session)
        facts = {
            "key": request.key,
            "draw": 1 if before is None else before.draw + 1,
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
        """Append a step and store its state.  The digest of the state is salted, so that no guess can be checked."""
        salt = SYSTEM.words(4).tobytes()
        state = self._seal.seal(state, charge.seq, number, sealed_before=self._sealed_before)
        entry = self.append(
            "step", {**facts, "charge": charge.seq, "step": number, "state": digest(salt + state)}, data
        )
        row = {"charge": charge.seq, "step": number, "salt": salt, "state": state}
        self.connection.execute(statements.CHANGE_STATE if number else statements.NEW_STATE, row)
        return entry

    def _sealed_before(self) -> bool:
        parameters = {"magic": MAGIC, "length": len(MAGIC)}
        (count,) = self.connection.execute(statements.SEALED, parameters).fetchone()
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
        """Write the entries and the totals that changed."""
        new, changed = [], []
        for (account, part), row in self._changed.items():
            stored = self._stored.get(account or ALL, {}).get(part or ALL)
            if stored is None:
                new.append(row)
            elif stored != row:
                changed.append(row)
        for statement, rows in (
            (statements.APPEND, [entry.row() for entry in self._pending]),
            (statements.NEW_TOTAL, new),
            (statements.CHANGE_TOTAL, changed),
        ):
            if rows:
                self.connection.executemany(statement, rows)


def _same(known: Charge, request: Request, session: bool) -> Charge:
    """The known charge: its release is for all; while it is open, a request must ask for the very same."""
    if known.session != session:
        raise LedgerConflict(f"This key was charged for {'a session' if known.session else 'one answer'}.")
    if known.release is None and (write_loss(known.loss), known.parts) != (write_loss(request.loss), request.parts):
        raise LedgerConflict("This key was charged at another price or for other parts. Ask as before, or afresh.")
    return known
