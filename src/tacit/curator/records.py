"""What the ledger keeps: the release of a purchase, by the hash of its entry, and whether a release is that one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BadParameter
from ..ledger import Head
from ..release import Provenance, Release
from ..release.proof import drawn, kept_release
from ..storage import canonical

if TYPE_CHECKING:
    from ..release.purchased_answers import Bought
    from .curator import Curator


def release_of(curator: Curator, entry_hash: str) -> Release | Bought:
    """The release that the ledger keeps of the charge with this hash, as it was stored."""
    charge = curator.ledger.charge_of(entry_hash)
    if charge is None or charge.release is None or charge.failed:
        wrong = "No release of this ledger has this hash. It stands in the card of every release, under accounting."
        raise BadParameter("hash", entry_hash, "that of a charge with a release", says=wrong)
    match charge.purpose.kind:
        case "question":
            return Release.from_json(charge.release)
        case "workload":
            from . import workloads

            return workloads.bought(curator, charge)
    kind = charge.purpose.kind
    raise BadParameter("hash", entry_hash, "that of a question or a workload", says=f"This entry is for {kind}.")


def verified(curator: Curator, release: Release | Bought) -> Head:
    """The head of the ledger, if it is sound and keeps this very release; else an error that says what is wrong.

    A sound ledger has every charge within the budget.
    """
    entry_of(release, lambda at: _kept(curator, release, at))
    return curator.ledger.verify()


def _kept(curator: Curator, release: Release | Bought, at: str) -> Release | Bought:
    """What the ledger keeps under a hash: of several answers that were bought together, the one in the same place."""
    charge, together = curator.ledger.charge_of(at), release.provenance.together
    return curator.release_of(at) if charge is None or together is None else kept_release(charge, together[0])


def entry_of(release: Release | Bought, kept_at: Callable[[str], Release | Bought]) -> str:
    """The hash of the entry that keeps this very release, by what is `kept_at` it; else an error.

    What is only shown otherwise, such as the order of rows, an interval at another confidence or values that
    post-processing revised, is no part of what was drawn.
    """
    origin = getattr(release, "provenance", None)
    if not isinstance(origin, Provenance):
        raise BadParameter("release", type(release).__name__, "a release of this curator")
    at = origin.entry_hash
    if at is None or origin.rehearsal:
        wrong = "This release names no entry of a ledger, so nothing vouches for it."
        raise BadParameter("release", "one without an entry", "one that was bought", says=wrong)
    kept = kept_at(at)
    if _drawn(kept) != _drawn(release):
        wrong = f"This is not the release that entry {kept.provenance.entry} of the ledger keeps."
        raise BadParameter("release", "another", "as the ledger keeps it", says=wrong)
    return at


def _drawn(release: Release | Bought) -> str:
    """What was drawn, by which mechanisms, for which loss and price, and where from."""
    if not isinstance(release, Release):
        answers = tuple(None if np.isnan(x) else x for x in release.answers.tolist())
        return canonical((release.method, answers, release.loss, Fraction(release.price), release.provenance))
    return drawn(release)
