"""What the tools of an agent need: data sets, each with a curator, and a way to buy that knows when to ask a person."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..client import Remote, RemoteCurator
    from ..curator import Curator
    from ..query.plan.offer import Offer, Terms
    from ..release import Release


class Desk(Protocol):
    """The data sets that one agent may ask about."""

    def names(self) -> list[str]:
        """The data sets."""

    def curator(self, name: str) -> Curator | RemoteCurator:
        """Whom to ask about a data set."""

    def offer(self, name: str, sql: str, terms: Terms) -> Offer:
        """What a question costs."""

    def ask(self, name: str, sql: str, terms: Terms) -> Release:
        """Buy an answer, or read again what was bought."""

    def doubt(self, name: str, offer: Offer) -> str:
        """Why a person has to agree to a purchase first, or "" where an agent may decide by itself."""


class RemoteDesk:
    """The data sets of a service, asked for with the token of the agent."""

    def __init__(self, service: Remote, alone: Fraction) -> None:
        self._service, self._alone = service, alone
        self._curators: dict[str, RemoteCurator] = {}

    def names(self) -> list[str]:
        return self._service.datasets

    def curator(self, name: str) -> RemoteCurator:
        if name not in self._curators:
            self._curators[name] = self._service.dataset(name)
        return self._curators[name]

    def offer(self, name: str, sql: str, terms: Terms) -> Offer:
        return self.curator(name).offer(sql, **terms)

    def ask(self, name: str, sql: str, terms: Terms) -> Release:
        return self.curator(name).ask(sql, **terms)

    def doubt(self, name: str, offer: Offer) -> str:
        share = Fraction(offer.price) / self.curator(name).budget.limit
        if offer.bought or share <= self._alone:
            return ""
        return (
            f"This question takes {float(share):.2%} of the budget, more than the {float(self._alone):.2%} that an"
            " agent may spend alone."
        )
