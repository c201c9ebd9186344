"""The ledger: charge, then compute, then store, then hand out.

Each arrow is a commit.  A crash can lose time but no privacy: a charge without a release was seen by nobody, so the
same question is completed under it; a release that is stored is what every later asker gets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import IO, NoReturn, TypeVar

from ..core.accounting.budget import LEAST_SHARE, Amounts, Budget
from ..core.accounting.currency import Amount
from ..core.accounting.loss import Loss
from ..core.errors import BadParameter, BudgetExceeded, LedgerConflict, LedgerCorrupt, LedgerUnavailable
from ..core.parameters import Number, flag
from ..core.purpose import UNSTATED, Purpose
from . import backup as copying
from . import book as pages
from . import totals, verification
from .accounts import ALL, Accounts, Overdrawn
from .book import Book
from .encoding import Json, read_amount, read_budget, write_amount, write_amounts, write_budget
from .entries import FORMAT, FORMATS, START, Charge, Entry, Head, Request, is_newer
from .names import alike, analyst_name, skeleton
from .parameters import as_bytes, fraction, name, part_names, question_key, request, text
from .seal import Seal
from .session import LedgerSession
from .stores import statements
from .stores.dialect import Connection
from .stores.store import Store
from .tally import Tally

T = TypeVar("T")
_PAGE = 1000  # entries that are read at once


class Ledger:
    """What was paid for and what was released about one data set.  Threads and forked processes may share a ledger."""

    def __init__(self, store: Store, opening: Entry, key: str | os.PathLike[str] | None = None) -> None:
        self.database, self._tally = store, Tally()
        place = store.dialect.key_path(opening.head.hash) if key is None else Path(key).absolute()
        self.seal = Seal(place, opening.head.hash)
        written = opening.body.get("least_share")
        try:
            self.dataset: str = opening.body["dataset"]
            self.budget: Budget = read_budget(opening.body["budget"])
            self.only_allowed: bool | None = opening.body["only_allowed"]
            share = None if written is None else fraction("least_share", read_amount(written))
            self.least_share: Fraction = LEAST_SHARE if share is None else share
        except (BadParameter, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise LedgerCorrupt(opening.seq, "the opening entry cannot be read") from None
        self.former_spelling = opening.body["format"] == 1  # of workload answers, in the keys of what was bought
        self.former_words = written is None  # opened when epsilon was an amount of the budget in some questions
        self._spellings: dict[str, list[str]] = {}  # of accounts that earlier versions made
        self._charges: dict[str, int] = {}  # the number of each charge by the hash of its entry, as far as was looked

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        budget: Budget | None = None,
        dataset: str | None = None,
        only_allowed: bool | None = None,
        least_share: Number | None = None,
        *,
        key: str | os.PathLike[str] | None = None,
    ) -> Ledger:
        """Open the ledger at a path or URL; with a budget, make it if there is none.

        What is given must agree with what the ledger was made with.  With `only_allowed`, analysts without an allowance
        are refused; by default, as soon as anybody has one.  `least_share` is the share of the budget that a question
        takes at least, 1/10000 by default.  `key` is the file with the key of the private states, by default the one
        beside the ledger (see `seal.py`).
        """
        if dataset is not None:
            name("dataset", dataset)
        if not isinstance(budget, Budget | None):
            raise BadParameter("budget", budget, "a Budget, such as Budget(epsilon=1, delta=1e-9)")
        least = fraction("least_share", least_share)
        store = Store(place, create=budget is not None)
        try:
            if not isinstance(key, str | os.PathLike | None):
                raise BadParameter("key", key, "the path of a key file")
            witness = store.dialect.witness()
            seen = None if witness is None else witness.read()  # before the transaction, which then has it
            with store.reading() as connection:
                opening = _opening(store, connection)
                if opening is not None:
                    totals.check(connection, pages.last_sums(connection)[1])
                if witness is not None:
                    witness.check(connection, seen, empty=opening is None)
            limits: dict[str, Json] = {
                "only_allowed": None if only_allowed is None else flag("only_allowed", only_allowed),
                "least_share": write_amount(LEAST_SHARE if least is None else least),
            }
            opening = opening or _make(store, budget, dataset or "data", limits)
            ledger = cls(store, opening, key)
            with store.reading() as connection:
                store.dialect.guard(connection)
                ledger._spellings = alike(account for (account,) in connection.execute(statements.ALLOWED))
            stated = {"budget": budget, "dataset": dataset, "only_allowed": only_allowed, "least_share": least}
            for what, value in stated.items():
                if value is not None and value != (stored := getattr(ledger, what)):
                    shown = str(stored) if isinstance(stored, Fraction) else repr(stored)
                    raise BadParameter(what, value, f"{shown}, with which this ledger was opened")
        except BaseException:
            store.close()
            raise
        return ledger

    def write(self, do: Callable[[Book], T]) -> T:
        """Do something in one transaction, or not at all."""
        try:
            with self.database.writing() as connection:
                book = self._book(connection)
                done = do(book)
                book.close()
            if book.appended:
                self.database.dialect.acknowledged(book.head)
            return done
        except Overdrawn as over:
            refusal = self._refusal(book, over)
        raise refusal

    def check(self, *, loss: Loss, analyst: str, parts: Iterable[str] | None = None) -> None:
        """Refuse a loss that `charge` would refuse now; nothing is charged and nothing is written."""
        account, wanted = analyst_name(analyst), part_names(parts)
        try:
            with self.database.reading() as connection:
                book = self._book(connection)
                book.pay(account, wanted, loss)
            return
        except Overdrawn as over:
            refusal = self._refusal(book, over)
        raise refusal

    def _refusal(self, book: Book, over: Overdrawn) -> BudgetExceeded:
        spent = self.spent(over.account or None, over.part or None)
        who = self._tally.names.get(over.account, over.account)
        return BudgetExceeded(over.budget, spent, book.attempted(over), analyst=who)

    def find(self, *keys: str) -> Charge | None:
        """The charge for the last draw of a question, by the first of its keys that is known; None if none is."""
        wanted = [*map(question_key, keys)]
        with self.database.reading() as connection:
            return next(filter(None, (pages.find(connection, key) for key in wanted)), None)

    def charge_of(self, entry_hash: str) -> Charge | None:
        """The charge whose entry has this hash, with its release if it has one; None if there is none."""
        with self.database.reading() as connection:
            return pages.by_hash(connection, text("hash", entry_hash), self._charges)

    def charge(
        self,
        *,
        key: str,
        loss: Loss,
        analyst: str,
        parts: Iterable[str] | None = None,
        purpose: Purpose = UNSTATED,
        fresh: bool = False,
    ) -> Charge:
        """Pay for a question, once: asked again, it is the same charge, with its release if it has one.

        `fresh` pays for another draw.  `parts` are public and disjoint parts of the data, None is all of it.  `purpose`
        says what the charge is for.
        """
        (charge,) = self.charge_many([Request(key, loss, analyst, part_names(parts), purpose, fresh)])
        return charge

    def charge_many(self, requests: Iterable[Request]) -> list[Charge]:
        """Pay for all requests, in their order, or for none."""
        wanted = [request(each) for each in requests]
        return self.write(lambda book: [book.charge(each) for each in wanted])

    def store(self, charge: Charge, data: bytes, form: str = "release") -> bytes:
        """Store the release of a charge and return the bytes to hand out: those that were stored first."""
        data, form = as_bytes("data", data), text("form", form)

        def keep(book: Book) -> bytes:
            recorded = pages.read(book.connection, statements.AT, seq=charge.seq)
            if (
                recorded is None
                or recorded.head.hash != charge.hash
                or Charge.read(recorded, loss=charge.loss) != replace(charge, release=None)
            ):
                raise LedgerConflict("This charge is not one of this ledger.")
            if charge.session:
                raise LedgerConflict("This charge is for a session, which is answered step by step.")
            first = pages.following(book.connection, charge.seq, 0)
            entry = first or book.append("release", {"charge": charge.seq, "step": 0, "form": form}, data)
            return entry.data or b""

        return self.write(keep)

    def start(
        self,
        *,
        key: str,
        loss: Loss,
        state: bytes,
        analyst: str,
        parts: Iterable[str] | None = None,
        purpose: Purpose = UNSTATED,
        fresh: bool = False,
    ) -> LedgerSession:
        """Pay for a session and keep its first state; a session that was started with this key goes on where it was."""
        wanted = request(Request(key, loss, analyst, part_names(parts), purpose, fresh))
        state = as_bytes("state", state)

        def begin(book: Book) -> Charge:
            before = book.head
            charge = book.charge(wanted, session=True)
            if book.head != before:
                book.step(charge, 0, state, None, {"key": None, "loss": None, "paid": {}})
            return charge

        return LedgerSession(self, self.write(begin))

    def check_allowance(self, budget: Budget) -> None:
        """Refuse what cannot be an allowance within the budget."""
        cap = self.budget
        if not isinstance(budget, Budget):
            raise BadParameter("allowance", budget, "a Budget")
        if (budget.rho is None) != (cap.rho is None):
            raise BadParameter("allowance", budget, f"in {'rho' if cap.rho else 'epsilon'}, as the budget {cap} is")
        if budget.limit > cap.limit or budget.delta > cap.delta:
            raise BadParameter("allowance", budget, f"no larger than the budget, {cap}")

    def allow(self, analyst: str, budget: Budget) -> None:
        """Give an analyst an allowance within the budget, or replace it; what was spent before counts."""
        self.check_allowance(budget)
        cap = self.budget
        if budget.epsilon and budget.slack and cap.slack:  # one order for both, so that a price means the same
            terms = {"epsilon": budget.epsilon, "delta": budget.delta, "slack": budget.slack}
            budget = Budget(**terms, renyi_order=cap.renyi_order)

        def give(book: Book) -> None:
            self._tallied(book.connection)
            sums = self._tally.amounts(budget, who)
            written = {part: write_amounts(amounts) for part, amounts in sums.items()}
            for account in book.named(who):
                book.fetch(account, None)
                book.accounts.replace(account, dict(sums))
                facts = {"key": account, "name": who, "budget": write_budget(budget), "spent": written}
                book.append("allowance", facts)

        who = analyst_name(analyst)
        self.write(give)

    def allowance(self, analyst: str) -> Budget | None:
        """The allowance of an analyst, or None."""
        with self.database.reading() as connection:
            return self._allowance(self._tallied(connection), analyst_name(analyst))

    def accounts(self, analyst: str | None, parts: Iterable[str] | None = None) -> list[tuple[Budget, list[Amounts]]]:
        """The budgets that an analyst's charge is paid from, each with what is spent of it on each of these parts."""
        account, wanted = ALL if analyst is None else analyst_name(analyst), part_names(parts)
        with self.database.reading() as connection:
            book = self._book(connection)
            book.look_up(account, wanted)
        return book.accounts.spent(account, wanted)

    def allowances(self) -> dict[str, Budget]:
        """The allowance of each analyst who has one."""
        with self.database.reading() as connection:
            tally = self._tallied(connection)
            return {tally.names[account]: budget for account, budget in tally.allowances.items()}

    def spent(self, analyst: str | None = None, part: str | None = None) -> Loss:
        """What was charged to all analysts, or to one, on a part; without a part, on the part where it is most."""
        account = ALL if analyst is None else analyst_name(analyst)
        with self.database.reading() as connection:
            tally = self._tallied(connection)
            parts = tally.parts(account) if part is None else [part]
            budget = self._allowance(tally, account) or self.budget
            return max((tally.spent(account, part) for part in parts), key=budget.spent)

    def sells_to(self, analyst: str) -> bool:
        """Whether an analyst may buy anything: where an allowance is required, whether there is one."""
        if self.only_allowed is False or self.allowance(analyst) is not None:
            return True
        return self.only_allowed is None and not self._tally.allowances

    def remaining(self, analyst: str | None = None, part: str | None = None) -> Amount:
        """What is left of the budget, or of an analyst's allowance if that is less."""
        if analyst is not None and not self.sells_to(analyst):
            return Fraction(0)
        accounts = self.accounts(analyst, None if part is None else [part])
        return min(budget.remaining(amounts) for budget, spent in accounts for amounts in spent)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """All entries after number `after`, in their order, each checked by itself."""
        while True:
            with self.database.reading() as connection:
                rows = connection.execute(statements.PAGE, {"seq": after, "count": _PAGE}).fetchall()
            yield from map(Entry.read, rows)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]

    def history(self) -> list[Charge]:
        """Every charge, with its purpose, and its release if it has one."""
        entries = list(self.entries())
        released = {entry.body["charge"]: entry.data for entry in entries if entry.kind == "release"}
        return [Charge.read(entry, released.get(entry.seq)) for entry in entries if entry.kind == "charge"]

    def head(self) -> Head:
        """The last entry, which kept elsewhere is an anchor for `verify`."""
        with self.database.reading() as connection:
            return pages.last(connection)

    def verify(self, anchor: Head | tuple[int, str] = START) -> Head:
        """Go through all entries, recompute what they imply, and return the head; `LedgerCorrupt` if any is wrong.

        `anchor` is an earlier head, without which a ledger that was cut short or rolled back cannot be recognised.
        """
        with self.database.reading() as connection:
            self.database.dialect.check(connection)
            return verification.verify(connection, Head(*anchor))

    def export(self, target: str | os.PathLike[str] | IO[str]) -> None:
        """Write all entries as JSON lines, with what was released; the states of sessions are private and not written.

        A file must not exist yet: it could be a ledger.
        """
        copying.export(self, target)

    def backup(self, target: str | os.PathLike[str]) -> Head:
        """Copy the ledger to a new file, with its private states, verify the copy, and return its head.

        The key of the states is copied beside it, so the copy is as private as both.  The copy is for the day when this
        ledger is lost: asked while this one is in use, it would sell the same budget a second time.
        """
        return copying.backup(self, target)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.database.place!r}, dataset={self.dataset!r}, budget={self.budget})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A ledger cannot be copied or pickled. Open it by its path, which any process may do.")

    def _book(self, connection: Connection) -> Book:
        accounts = Accounts(self.budget, self.only_allowed, some_allowed=bool(self._tally.allowances))
        return Book(connection, accounts, self.seal, self._spellings)

    def _allowance(self, tally: Tally, analyst: str) -> Budget | None:
        """The least allowance of an analyst under all spellings of the name, or None."""
        own = (b for account, b in tally.allowances.items() if skeleton(account) == skeleton(analyst))
        return min(own, key=lambda budget: budget.limit, default=None)

    def _tallied(self, connection: Connection) -> Tally:
        """The tally, brought up to the last entry."""
        with closing(connection.execute(statements.CHARGED, {"seq": self._tally.seen})) as rows:
            self._tally.read(map(Entry.read, rows))
        return self._tally


def _opening(store: Store, connection: Connection) -> Entry | None:
    """The first entry, or None if there are no tables yet."""
    tables = store.dialect.tables(connection)
    if not tables:
        return None
    first = pages.read(connection, statements.AT, seq=1) if tables >= statements.LEDGER.tables.keys() else None
    if first is None or first.kind != "opening":
        raise LedgerUnavailable(store.place, "there is a database, but not a ledger")
    version = first.body.get("format")
    if type(version) is not int or version not in FORMATS:
        newer = f"a newer version of tacit wrote it (format {version}; this version reads {FORMAT}); update tacit"
        raise LedgerUnavailable(store.place, newer if is_newer(version) else f"its format {version} is unknown")
    return first


def _make(store: Store, budget: Budget | None, dataset: str, limits: dict[str, Json]) -> Entry:
    if budget is None:
        raise LedgerUnavailable(store.place, "there is no ledger in it yet; give a budget to make one")
    facts = {"format": FORMAT, "dataset": name("dataset", dataset), "budget": write_budget(budget)}
    opening = Entry.after(START, "opening", {**facts, **limits})
    with store.writing() as connection:
        if existing := _opening(store, connection):  # made by another process, just now
            return existing
        store.dialect.install(connection)
        connection.execute(statements.APPEND, opening.row())
    return opening
