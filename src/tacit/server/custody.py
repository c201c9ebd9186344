"""What a custodian sets that concerns a ledger as well as the store."""

from __future__ import annotations

from ..core.accounting.budget import Budget
from ..ledger import Ledger
from .policy import Policy
from .store import Person, Store
from .store.database import StoreConflict


def set_policy(store: Store, dataset: str, subject: str, policy: Policy, *, by: str) -> None:
    """Set a policy, and write its allowance to the ledger for everybody whom it concerns now.

    Whoever it concerns later gets the allowance before their first purchase (`settle`).  An allowance that
    the ledger refuses, because it is larger than the budget or in another currency, is refused before anything is set.
    """
    known = store.dataset(dataset)
    if known is None:
        raise StoreConflict(f"There is no data set called {dataset!r}. `tacit dataset list` shows all of them.")
    if policy.allowance is None:
        store.set_policy(dataset, subject, policy, by=by)
        return
    with Ledger.open(known.ledger) as ledger:
        ledger.check_allowance(policy.allowance)
        store.set_policy(dataset, subject, policy, by=by)
        for person in store.people():
            own = None if person.revoked else store.effective(dataset, person)
            if own is not None:
                settle(ledger, own, person)


def settle(ledger: Ledger, policy: Policy, person: Person) -> None:
    """Write the allowance of a person's policy to the ledger, which enforces it, unless it is there already."""
    wanted = policy.allowance
    if wanted is None:
        return
    known = ledger.allowance(person.name)
    if known is None or _amounts(known) != _amounts(wanted):
        ledger.allow(person.name, wanted)


def _amounts(budget: Budget) -> tuple[object, ...]:
    return budget.epsilon, budget.rho, budget.delta, budget.slack  # the ledger sets the order of an allowance itself


def publish(store: Store, dataset: str, entry: str, *, by: str) -> None:
    """Publish a release of a data set, by the hash of its entry in the ledger."""
    known = store.dataset(dataset)
    if known is None:
        raise StoreConflict(f"There is no data set called {dataset!r}. `tacit dataset list` shows all of them.")
    with Ledger.open(known.ledger) as ledger:
        if not any(each.head.hash == entry and each.data is not None for each in ledger.entries()):
            raise StoreConflict("The ledger of this data set has no release with this hash. Look at its history.")
    store.publish(entry, dataset, by=by)
