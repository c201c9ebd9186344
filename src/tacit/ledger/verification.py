"""Verification: read every entry, replay it on empty accounts, and compare with the stored totals and states.

A ledger verifies if each entry is sealed, in its place and after its predecessor; every charge was within the budget
and the allowance of its time; every release and step belongs to a charge, and follows in order; and the totals and the
states of sessions are those that the entries imply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from fractions import Fraction

from ..core.accounting.budget import Amounts, Budget
from ..core.errors import LedgerCorrupt, NewerVersion, TacitError
from ..core.exact import GRID
from .accounts import Accounts, Overdrawn
from .encoding import read_amounts, read_budget, read_loss
from .entries import FORMAT, FORMATS, START, Entry, Head, digest, is_newer
from .stores.dialect import Connection
from .stores.statements import ENTRIES, STATES, TOTALS
from .tally import Tally
from .totals import Digest

# The prices of some atoms are floats rounded outward, and another machine's may differ in their last bits.
_LAST_BITS = 1 + Fraction(1, 1 << 40)
_STEPS = Fraction(1 << 62, GRID)  # more than rounding up adds to the terms of any loss


class Replay:
    """The accounts and sessions that the entries so far imply."""

    def __init__(self) -> None:
        self.head, self.accounts, self.tally = START, Accounts(Budget(epsilon=1)), Tally()
        self.totals = Digest(0)
        self.open: dict[int, Entry] = {}  # charges that await a release
        self.sessions: dict[int, tuple[Entry, int, str | None]] = {}  # charge, step, commitment to the state
        self._kinds = {
            "opening": self._opening,
            "allowance": self._allowance,
            "charge": self._charge,
            "release": self._release,
            "step": self._step,
        }

    def take(self, entry: Entry) -> None:
        """Replay the next entry; `LedgerCorrupt` if it is not as it should be."""
        if entry.body["previous"] != self.head.hash:
            raise LedgerCorrupt(entry.seq, "it does not hold the hash of the entry before it")
        if (entry.kind == "opening") != (entry.seq == 1):
            raise LedgerCorrupt(entry.seq, "a ledger opens once, with its first entry")
        self.accounts.exactly = "sums" not in entry.body  # an entry of an earlier version
        self._kinds[entry.kind](entry)
        self.totals.change(self.accounts.take_changed())
        if entry.body.get("sums", str(self.totals)) != str(self.totals):
            raise LedgerCorrupt(entry.seq, "the totals after it are not the sums of the entries")
        self.tally.read([entry])
        self.head = entry.head

    def _opening(self, entry: Entry) -> None:
        if is_newer(version := entry.body["format"]):
            raise NewerVersion("this ledger", f"it is of format {version}, and this version reads {FORMAT}")
        if version not in FORMATS:
            raise LedgerCorrupt(entry.seq, "its format is unknown")
        self.accounts = Accounts(read_budget(entry.body["budget"]), entry.body["only_allowed"])

    def _allowance(self, entry: Entry) -> None:
        analyst, budget = entry.body["key"], read_budget(entry.body["budget"])
        spent = {part: read_amounts(amounts) for part, amounts in entry.body["spent"].items()}
        owed = self.tally.amounts(budget, analyst, self.accounts.exactly)
        if spent.keys() != owed.keys():
            raise LedgerCorrupt(entry.seq, "what was spent before the allowance is missing")
        for part, amounts in spent.items():
            self._covers(entry, amounts, owed[part])
        self.accounts.allowances[analyst], self.accounts.some_allowed = budget, True
        self.accounts.replace(analyst, spent)

    def _charge(self, entry: Entry) -> None:
        if entry.body["session"]:
            self.sessions[entry.seq] = entry, -1, None
        else:
            self.open[entry.seq] = entry
        self._pay(entry, entry)

    def _release(self, entry: Entry) -> None:
        if self.open.pop(entry.body["charge"], None) is None or entry.body["step"] != 0 or entry.data is None:
            raise LedgerCorrupt(entry.seq, "it is not the release of an open charge")

    def _step(self, entry: Entry) -> None:
        charge, step, _ = self.sessions[entry.body["charge"]]
        if entry.body["step"] != step + 1:
            raise LedgerCorrupt(entry.seq, "it is not the next step of its session")
        if entry.body["loss"] is not None:
            self._pay(charge, entry)
        self.sessions[charge.seq] = charge, step + 1, entry.body["state"]

    def _pay(self, charge: Entry, entry: Entry) -> None:
        analyst, parts, loss = charge.body["analyst"], charge.body["parts"], read_loss(entry.body["loss"])
        paid = {account: read_amounts(amounts) for account, amounts in entry.body["paid"].items()}
        price = self.accounts.price(analyst, loss)
        if paid.keys() != price.keys():
            raise LedgerCorrupt(entry.seq, "it was not paid from the accounts of its analyst")
        for account, amounts in price.items():
            self._covers(entry, paid[account], amounts)
        self.accounts.post(analyst, parts, loss, paid)

    def _covers(self, entry: Entry, paid: Amounts, owed: Amounts) -> None:
        """Refuse a payment below what is owed, up to last bits and a step of the grid, which old amounts are not on."""
        if any(due > _LAST_BITS * amount + _STEPS for due, amount in zip(owed, paid, strict=True)):
            raise LedgerCorrupt(entry.seq, "less was paid than its loss costs")

    def implied_totals(self) -> dict[tuple[str, str], tuple[str, str | None]]:
        """The rows that the table of totals should have."""
        sums = self.accounts.sums
        rows = (self.accounts.row(account, part) for account in sums for part in sums[account])
        return {(str(r["account"]), str(r["part"])): (str(r["amounts"]), r["relation"]) for r in rows}


def verify(connection: Connection, anchor: Head) -> Head:
    """The head of a ledger that verifies; else `LedgerCorrupt` with the first entry that is wrong."""
    replay = replayed(_stored(connection), anchor)
    try:
        _check_stored(connection, replay)
    except LedgerCorrupt:
        raise
    except (connection.Error, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LedgerCorrupt(0, f"the totals or the states cannot be read ({type(error).__name__})") from None
    return replay.head


def _stored(connection: Connection) -> Iterator[Entry]:
    """All entries in the table; `LedgerCorrupt` with the first that the database cannot read."""
    seq = 0
    try:
        with closing(connection.execute(ENTRIES)) as rows:
            for row in rows:
                entry = Entry.read(row)
                seq = entry.seq
                yield entry
    except connection.Error as error:
        raise LedgerCorrupt(seq + 1, f"the entry cannot be read ({type(error).__name__})") from None


def replayed(entries: Iterable[Entry], anchor: Head = START) -> Replay:
    """What all entries imply, if each is as it should be; else `LedgerCorrupt` with the first that is wrong."""
    replay = Replay()
    anchored = anchor.seq == 0
    try:
        for entry in entries:
            if entry.seq != replay.head.seq + 1:
                raise LedgerCorrupt(replay.head.seq + 1, "the entry is missing")
            replay.take(entry)
            if replay.head.seq == anchor.seq:
                anchored = replay.head == anchor
    except (LedgerCorrupt, NewerVersion):
        raise
    except Overdrawn as over:
        raise LedgerCorrupt(replay.head.seq + 1, f"{over.budget} does not admit the charge") from None
    except (TacitError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LedgerCorrupt(replay.head.seq + 1, f"the entry cannot be read ({type(error).__name__})") from None
    if not anchored:
        if anchor.seq > replay.head.seq:
            ends = f"the ledger ends at entry {replay.head.seq}, and the anchor is of entry {anchor.seq}"
            raise LedgerCorrupt(0, f"{ends}: it was rolled back, or is another ledger")
        raise LedgerCorrupt(anchor.seq, "the anchor is of another history")
    if replay.head == START:
        raise LedgerCorrupt(1, "there are no entries")
    return replay


def _check_stored(connection: Connection, replay: Replay) -> None:
    """Refuse totals and states of sessions other than those that the entries imply."""
    stored = {(account, part): tuple(rest) for account, part, *rest in connection.execute(TOTALS)}
    if stored != replay.implied_totals():
        raise LedgerCorrupt(0, "the totals are not the sums of the entries")
    states = {charge: (step, digest(salt + state)) for charge, step, salt, state in connection.execute(STATES)}
    if states != {charge: (step, state) for charge, (_, step, state) in replay.sessions.items()}:
        raise LedgerCorrupt(0, "the states of sessions are not those that the entries commit to")
