"""What was bought: the history of a data set, releases by the hash of their entry, and the ledger for owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...core.accounting.currency import Amount
from ...core.errors import BadParameter, TacitError
from ...ledger import Charge, Entry, Head
from ...ledger.names import skeleton
from ...ledger.purchases import purchases
from ...release import Release
from ..access import Action
from ..errors import NotFound
from ..store import Person
from .curators import DataSetUnavailable
from .service import Access, Service
from .verdicts import Verdict

if TYPE_CHECKING:
    from ...release.purchased_answers import Bought

_HASH = 64  # hexadecimal digits
_HIDDEN = ("loss", "paid", "amounts", "totals", "key")  # of an entry: long, and said otherwise


@dataclass(frozen=True)
class Record:
    """A purchase, what it took of the budget when nothing else was bought, and whether its answer was stored."""

    charge: Charge
    price: Amount
    released: bool


def history(service: Service, access: Access, *, before: int | None, count: int) -> list[Record]:
    """The last purchases before an entry, newest first: one's own, or for an owner everybody's."""
    curator = service.curator(access)
    mine = None if access.owner else skeleton(access.name)

    def seen() -> Iterator[Record]:
        for charge, released in purchases(curator.ledger, before):
            if charge.loss.terms and mine in (None, skeleton(charge.analyst)):
                yield Record(charge, curator.budget.price(charge.loss), released)

    return list(islice(seen(), count))


@dataclass(frozen=True)
class Found:
    """A release, the data set that it is about, and whether it was published."""

    access: Access
    release: Release | Bought
    published: bool


def release(service: Service, person: Person | None, entry_hash: str) -> Found:
    """The release of the entry with this hash, if it is published or about a data set that one may see.

    A hash cannot be guessed, as it depends on the secret of a ledger: who has it was shown the release, or its card.
    """
    if len(entry_hash) != _HASH or not entry_hash.isalnum():
        raise NotFound("release")
    published = service.store.published(entry_hash)
    if published is not None:
        dataset = service.store.dataset(published.dataset)
        candidates = [] if dataset is None else [Access(Action.PUBLISHED, person, dataset)]
    elif person is not None:
        seen = service.visible(person)
        candidates = [Access(Action.PUBLISHED, person, dataset, policy) for dataset, policy in seen]
    else:
        candidates = []
    missing: TacitError = NotFound("release")
    for access in candidates:
        try:
            return Found(access, service.curator(access).release_of(entry_hash), published is not None)
        except BadParameter:
            continue
        except DataSetUnavailable as error:  # which may have it, unless another has
            missing = error
    raise missing


def entries(service: Service, access: Access, *, after: int, count: int) -> tuple[list[dict[str, Any]], Head]:
    """Entries of the ledger after a number, as facts without the bytes of releases; and the head."""
    ledger = service.curator(access).ledger
    found = islice(ledger.entries(after), count)
    return [_facts(entry) for entry in found], ledger.head()


def _facts(entry: Entry) -> dict[str, Any]:
    facts = {name: value for name, value in entry.body.items() if name not in _HIDDEN}
    return {**facts, "hash": entry.head.hash, "bytes": len(entry.data or b"")}


def verify(service: Service, access: Access) -> Verdict:
    """Whether the ledger of a data set is what was written."""
    return service.verdicts.of(access.about.name, service.curator(access))
