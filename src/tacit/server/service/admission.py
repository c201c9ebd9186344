"""The policy on a purchase: its last word is on the very loss that is charged, so nothing comes between the two.

What needs an owner's approval is written down as a request, and refused until one approves of it; asked again, it is
bought, once.  A request is known by the key of what it buys, so that it is one request however it is spelt.  What was
bought before is free, and no policy is asked about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...core.accounting.loss import Loss
from ...core.progress import report
from ...curator import Curator
from ...curator.purchase import Parts
from ...storage import digest
from ..errors import ApprovalNeeded, BadRequest
from ..policy import NeedsApproval, Purchase, decide
from .service import Access, Service

PRICES = ("epsilon", "share", "rho", "error", "relative")
AMOUNTS = ("epsilon", "delta", "share", "rho")  # the prices that aim at no error
Terms = Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """A purchase as an owner reads it: its kind, what it is about, and its terms; `fresh` may be the name of a draw."""

    kind: Purchase
    about: str
    terms: Terms = field(default_factory=dict)
    fresh: bool | str = False

    def digest(self, key: str) -> str:
        """What the request is known by, given the key of what it buys, which the name of a draw is part of."""
        return digest((self.kind, key, self.fresh is True))

    def text(self, share: float) -> str:
        """The request as an owner reads it, with the share of the budget that it takes now."""
        facts = {"kind": self.kind, "about": self.about}
        terms = {name: str(value) for name, value in sorted(self.terms.items())}
        return json.dumps({**facts, "terms": terms, "fresh": bool(self.fresh), "share": share}, ensure_ascii=False)


class Admission:
    """Decides on a loss before it is charged, and remembers that something was."""

    def __init__(self, service: Service, access: Access, curator: Curator, request: Request) -> None:
        self._service, self._access, self._curator, self._request = service, access, curator, request
        self.charged = False
        decide(access.rules, request.kind, Fraction(0), bool(request.fresh))  # what is sold at no price is not priced

    def __call__(self, key: str, loss: Loss, parts: Parts) -> None:
        """Let this loss be charged, or refuse it; work that is to stop stops here at the latest."""
        report("charge", 0.0)
        curator, request = self._curator, self._request
        share = Fraction(curator.takes(loss, parts, analyst=self._access.name)) / curator.budget.limit
        decision = decide(self._access.rules, request.kind, share, bool(request.fresh))
        if isinstance(decision, NeedsApproval):
            self._use_approval(key, float(share))
        self.charged = True

    def _use_approval(self, key: str, share: float) -> None:
        """Use up an approval of this very request, or ask for one."""
        store, access, request = self._service.store, self._access, self._request
        approval = store.request_approval(access.about.name, access.name, request.text(share), request.digest(key))
        if approval.state != "approved" or not store.use(approval.id):
            raise ApprovalNeeded(approval)


def priced(access: Access, terms: Terms, asked: Callable[[], Terms]) -> dict[str, Any]:
    """The terms of a question, with the price that the policy sets where neither they nor its text name one."""
    given, price = dict(terms), access.rules.price
    if price is None or given.keys() & {*PRICES} or asked().keys() & {*PRICES}:
        return given
    return {**price.terms, **given}


def paid(access: Access, terms: Terms, what: str) -> dict[str, Any]:
    """The price of what is sold by an amount alone: the one that was given, or the policy's if that is an amount."""
    given = priced(access, terms, dict)
    if not given.keys() <= {*AMOUNTS, "beta"}:
        if terms.keys() <= {*AMOUNTS, "beta"}:
            raise BadRequest(f"{what} need a price of their own: epsilon, epsilon and delta, rho, or share.")
        raise BadRequest(f"{what} are sold by epsilon, epsilon and delta, rho, or share.")
    return given
