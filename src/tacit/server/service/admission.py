"""The policy on a purchase: its last word is on the very loss that is charged, so nothing comes between the two.

What needs an owner's approval is written down as a request, and refused until one approves of it; asked again, it is
bought, once.  What was bought before is free, and no policy is asked about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ...core.accounting.loss import Loss
from ...curator import Curator
from ...curator.purchase import Parts
from ...storage import canonical, digest
from ..errors import ApprovalNeeded
from ..policy import NeedsApproval, Purchase, decide
from .service import Access, Service

PRICES = ("epsilon", "share", "rho", "error", "relative")


class Admission:
    """What may be bought by somebody at a time: decides on a loss before it is charged, and notes that it was."""

    def __init__(
        self, service: Service, access: Access, curator: Curator, kind: Purchase, request: object, *, fresh: bool
    ) -> None:
        self._service, self._access, self._kind, self._request, self._fresh = service, access, kind, request, fresh
        self._curator, self.charged = curator, False
        decide(access.rules, kind, Fraction(0), fresh)  # what is not sold at any price is refused before it is priced

    def __call__(self, loss: Loss, parts: Parts) -> None:
        """Let this loss be charged, or refuse it."""
        curator = self._curator
        price = curator._purse(parts, curator.who(self._access.name)).takes(loss)
        decision = decide(self._access.rules, self._kind, price / curator.budget.limit, self._fresh)
        if isinstance(decision, NeedsApproval):
            self._use_approval()
        self.charged = True

    def _use_approval(self) -> None:
        """Use up an approval of this very request, or ask for one."""
        store, access = self._service.store, self._access
        text = canonical(self._request)
        approval = store.request_approval(access.about.name, access.name, digest(self._request), text)
        if approval.state != "approved" or not store.use(approval.id):
            raise ApprovalNeeded(approval)


def priced(access: Access, terms: Mapping[str, Any], asked: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """The terms of a question, with the price that the policy sets where neither they nor its text name one."""
    given = dict(terms)
    price = access.rules.price
    if price is None or given.keys() & set(PRICES) or asked().keys() & set(PRICES):
        return given
    return {**price.terms, **given}
