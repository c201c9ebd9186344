"""The tally: what was charged, as losses, read from all entries once and then only from new ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..core.accounting.budget import Amounts, Budget
from ..core.accounting.loss import Atom, Loss
from ..core.distance import Neighbours
from ..core.errors import BadParameter, LedgerCorrupt
from ..storage import Unreadable
from .accounts import ALL
from .encoding import Json, read_budget, read_loss
from .entries import Entry
from .names import skeleton


class Tally:
    """Losses by account and part, of all entries read so far."""

    def __init__(self) -> None:
        self.seen = 0
        self.allowances: dict[str, Budget] = {}
        self.names: dict[str, str] = {}  # of accounts, as they were first written
        self._alike: dict[str, set[str]] = {}  # analysts by their skeletons
        self._relation: Neighbours | None = None
        self._terms: dict[str, dict[str, Counter[Atom]]] = {ALL: {}}
        self._payers: dict[int, tuple[str, Json]] = {}  # by charge, as the steps of a session name only that

    def read(self, entries: Iterable[Entry]) -> None:
        """Add entries that follow those read before."""
        for entry in entries:
            body = entry.body
            match entry.kind:
                case "allowance":
                    self.allowances[body["key"]] = read_budget(body["budget"])
                    self.names[body["key"]] = body.get("name", body["key"])
                case "charge":
                    self._payers[entry.seq] = body["analyst"], body["parts"]
                    self._add(entry, entry.seq)
                case "step" if body["loss"]:
                    self._add(entry, body["charge"])
            self.seen = entry.seq

    def _add(self, entry: Entry, charge: int) -> None:
        """Add the loss of an entry to what the payer of a charge has spent."""
        try:
            (analyst, parts), loss = self._payers[charge], read_loss(entry.body["loss"])
            self._alike.setdefault(skeleton(analyst), set()).add(analyst)
        except (BadParameter, Unreadable, LookupError, TypeError, AttributeError):
            raise LedgerCorrupt(entry.seq, "the charge cannot be read") from None
        self._relation = self._relation or loss.relation
        for account in (ALL, analyst):
            for part in parts or (ALL,):
                self._terms.setdefault(account, {}).setdefault(part, Counter()).update(loss.terms)

    def of(self, account: str, exactly: bool = False) -> dict[str, Counter[Atom]]:
        """What an analyst spent on each part, under all spellings of a name, or `exactly` under this one."""
        names = {account} if exactly or account == ALL else self._alike.get(skeleton(account), set())
        spent: dict[str, Counter[Atom]] = {}
        for part, terms in ((part, terms) for name in names for part, terms in self._terms.get(name, {}).items()):
            spent.setdefault(part, Counter()).update(terms)
        return spent

    def parts(self, account: str) -> list[str]:
        """The parts that were named, and one that stands for all that never were."""
        return [ALL, *self.of(account).keys() - {ALL}]

    def spent(self, account: str, part: str) -> Loss:
        """What an analyst spent on a part."""
        terms = self.of(account)
        return Loss(sum((terms.get(p, Counter()) for p in {ALL, part}), Counter()), self._relation)

    def amounts(self, budget: Budget, account: str, exactly: bool = False) -> dict[str, Amounts]:
        """The sums of an account by part, as if it had always had this budget."""
        return {part: budget.amounts(Loss(terms)) for part, terms in self.of(account, exactly).items()}
