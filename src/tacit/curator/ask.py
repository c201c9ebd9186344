"""A question in SQL or Python as something to be bought: its keys, its price, and one draw by what was paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from .. import storage
from ..core.accounting.budget import Budget
from ..core.accounting.loss import zero
from ..core.errors import LedgerConflict, reading
from ..core.purpose import Purpose
from ..core.randomness import Source
from ..ledger import Charge
from ..query.plan.calibration import Step
from ..query.plan.compiler import Compiled
from ..query.plan.draw import Drawn, draw
from ..query.plan.offer import Offer
from ..query.relation.relation import scans
from ..query.select.query import Query
from ..release import Provenance, Release, versions
from .identity import draw as named_draw
from .purchase import Admit, Draw, Order, Parts, Priced, Read
from .questions import identities
from .registration import Registration


@dataclass(frozen=True)
class Asked:
    """A question at its terms: what it means, its plan, and its text if it was asked in SQL."""

    query: Query
    compiled: Compiled
    terms: Mapping[str, Any]
    text: str = ""
    drawn: dict[bytes, Release] = field(default_factory=dict)  # the release of this draw, by what was stored

    def keys(self, registration: Registration, analyst: str, fresh: bool | str) -> list[str]:
        """The keys under which the question is bought: the present one first, and then the one of an earlier version.

        Where `fresh` is text, the keys are those of the draw that the analyst called so.
        """
        ledger = registration.ledger
        identified = identities(self.compiled, self.terms, ledger.budget, registration.schemas, ledger.former_words)
        return [registration.key(named_draw(identity, fresh, analyst)) for identity in identified]

    def charge(self, registration: Registration, analyst: str, fresh: bool | str = False) -> Charge | None:
        """The charge by which the question, or a named draw of it, was bought before."""
        if fresh is True or self.query.public or not registration.sold:
            return None
        return registration.ledger.find(*self.keys(registration, analyst, fresh))

    def order(
        self,
        registration: Registration,
        offer: Callable[[Parts], Offer],
        provenance: Callable[[Charge], Provenance],
        *,
        analyst: str,
        admit: Admit,
        fresh: bool | str,
    ) -> Order:
        """The question as it is bought."""
        keys, offers = self.keys(registration, analyst, fresh), list[tuple[Offer, Purpose]]()

        def price(parts: Parts) -> Priced:
            offered = offer(parts)
            offers[:] = [(offered, self._purpose(offered))]
            return Priced(keys[0], offered.loss, offers[0][1])

        def prepare(charge: Charge) -> Draw:
            paid, about = self._paid_for(charge, offers, registration.ledger.budget), provenance(charge)

            def drawn(read: Read, source: Source) -> bytes:
                release = Release.of(paid, draw(paid, read(self.compiled.plan), source), about)
                facts = release.facts()
                self.drawn[facts] = release
                return facts

            return drawn

        return Order(
            relation=self.query.relation,
            keys=keys,
            analyst=analyst,
            price=price,
            admit=admit,
            prepare=prepare,
            fresh=fresh is True,
        )

    def public_release(self, registration: Registration) -> Release:
        """The answer, where public facts are all it takes: no data are read, and nothing is charged or kept."""
        budget, beta = registration.ledger.budget, self.terms["beta"]
        offer = Offer(self.query, self.compiled.plan, (), (), zero, Fraction(0), budget, beta)
        origin = registration.origin(self.query.relation, self.text, versions())
        return Release.of(offer, Drawn(None, (), seeded=False), origin)

    def release(self, stored: bytes) -> Release:
        """The release that was stored: the one that was just drawn, or another's, which was stored before."""
        release = self.drawn.get(stored)
        return Release.from_json(stored) if release is None else release

    def shown(self, release: Release) -> Release:
        """A release of this question as it is asked now: with its own columns and its own beta."""
        return replace(release, query=self.query, recipes=self.compiled.recipes, beta=self.terms["beta"])

    def _purpose(self, offer: Offer) -> Purpose:
        """What completes an open charge: the mechanisms and the beta that it paid for."""
        mechanisms = [storage.write(step.mechanism) for step in offer.steps]
        return Purpose("question", self._description, {"mechanisms": mechanisms, "beta": storage.write(offer.beta)})

    @property
    def _description(self) -> str:
        if self.text:
            return self.text
        names = ", ".join(self.query.names)
        tables = ", ".join(dict.fromkeys(scan.table for scan in scans(self.query.relation)))
        return f"{names} of {tables}, asked in Python"

    def _paid_for(self, charge: Charge, offers: Sequence[tuple[Offer, Purpose]], budget: Budget) -> Offer:
        """The offer with the mechanisms that a charge paid for, which an offer of today might not name."""
        plan = self.compiled.plan
        for offer, purpose in offers:
            if charge.purpose.terms == purpose.terms:
                steps, beta = offer.steps, offer.beta
                break
        else:
            terms = charge.purpose.terms or {}
            measured = (*plan.measures, *([None] if plan.chosen else []))
            if len(terms.get("mechanisms", ())) != len(measured) or "beta" not in terms:
                raise LedgerConflict(
                    "The charge of this question does not say what it paid for, so nothing can be drawn under it."
                    " Ask with fresh=True, which is charged again."
                )
            with reading("this charge"):
                mechanisms, beta = storage.read(terms["mechanisms"]), storage.read(terms["beta"])
            steps = tuple(Step(measure, (m,), beta) for measure, m in zip(measured, mechanisms, strict=True))
        price = budget.price(charge.loss)
        return Offer(self.query, plan, self.compiled.recipes, steps, charge.loss, price, budget, beta)
