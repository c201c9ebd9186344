"""Whether a published release is the one that a ledger, or an export of it, keeps: for anybody who has both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import BadParameter
from ..core.safe_text import visible
from ..ledger import Charge
from ..storage import canonical
from .release import Release


@dataclass(frozen=True)
class Proof:
    """A published release, the charge that keeps it, and whether it is shown by the very question that was stored."""

    release: Release
    charge: Charge
    same_question: bool
    stored_question: str

    @property
    def caveats(self) -> list[str]:
        """What the proof does not cover, in sentences."""
        stored = visible(self.stored_question)
        other = f"It is shown by another question than the one that was stored, {stored}: compare the two."
        revised = (
            f"Values were replaced after the draw ({', '.join(sorted({why for _, why, _ in self.release.revised}))})."
        )
        return [*([] if self.same_question else [other]), *([visible(revised)] if self.release.revised else [])]


def drawn(release: Release) -> str:
    """What was drawn, by which mechanisms, for which loss and price, and where from."""
    facts = release.noisy, release.keys, release.mechanisms, release.loss, release.price, release.provenance
    return canonical(facts)


def kept_release(charge: Charge, place: int | None = None) -> Release:
    """The release that a charge keeps; of several that were bought together, the one at this place."""
    stored = charge.release or b""
    if charge.purpose.kind == "question" and place is None:
        return Release.from_json(stored)
    if charge.purpose.kind == "publication" and place is not None:
        listed = json.loads(stored)["publication"]
        if 0 <= place < len(listed) and "facts" in listed[place]:
            return Release.from_json(json.dumps(listed[place]))
    says = f"Entry {charge.seq} of the ledger keeps no such answer: it is for {charge.purpose.kind}."
    raise BadParameter("release", "another", "one that its entry keeps", says=says)


def proved(text: str | bytes, charge_of: Callable[[str], Charge | None]) -> Proof:
    """The proof that a release in JSON was drawn as its ledger says and that its answer follows; else an error.

    `charge_of` finds a charge by the hash of its entry, in a ledger or an export that was verified.
    """
    release = Release.from_json(text)
    origin = release.provenance
    if origin.entry_hash is None or origin.rehearsal:
        says = "This release names no entry of a ledger, so nothing vouches for it."
        raise BadParameter("release", "one without an entry", "one that was bought", says=says)
    charge = charge_of(origin.entry_hash)
    if charge is None or charge.release is None or charge.failed:
        says = "The entry that this release names is not in the ledger, or keeps no answer."
        raise BadParameter("release", "unknown", "one that the ledger keeps", says=says)
    kept = kept_release(charge, None if origin.together is None else origin.together[0])
    if drawn(kept) != drawn(release):
        says = f"This is not the release that entry {charge.seq} of the ledger keeps: what was drawn is another."
        raise BadParameter("release", "another", "as the ledger keeps it", says=says)
    if _answer(text) not in (None, _answer(release.to_json())):
        says = f"The answer in this file was changed: it does not follow from what entry {charge.seq} keeps."
        raise BadParameter("answer", "another", "that of the release", says=says)
    asked, first = ((each.query, each.recipes) for each in (release, kept))
    question = kept.provenance.question or charge.purpose.description
    return Proof(release, charge, canonical(asked) == canonical(first), question)


def _answer(text: str | bytes) -> Any:
    """The answer that stands beside the facts of a release, if there is one."""
    whole = json.loads(text)
    return whole.get("answer") if isinstance(whole, Mapping) else None
