"""What owners do: data sets, policies, people, approvals, and what a policy would allow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from ...core.accounting.loss import zero
from ...core.exact import from_above
from ...ledger.names import analyst_name
from ...query.plan.offer import Offer
from ...query.select.query import Query
from ..custody import set_policy as set_on_ledger
from ..errors import NotFound
from ..policy import Policy, subject
from ..registration import register
from ..store import Approval, DataSet, Issued, Person
from .admission import Terms, priced
from .service import Access, Service


def add_dataset(service: Service, access: Access, dataset: DataSet) -> DataSet:
    """Serve a data set from now on."""
    return register(service.store, service.settings, dataset, by=access.name)


def remove_dataset(service: Service, access: Access) -> None:
    """Serve a data set no longer; its files and its ledger stay where they are."""
    service.store.remove_dataset(access.about.name, by=access.name)
    service.curators.forget(access.about.name)


def policies(service: Service, access: Access) -> dict[str, Policy]:
    """The policies on a data set by whom they are for."""
    return service.store.policies(access.about.name)


def policy(service: Service, access: Access, whom: str) -> Policy:
    """The policy on a data set for a role or a person."""
    found = policies(service, access).get(subject(whom))
    if found is None:
        raise NotFound("policy")
    return found


def set_policy(service: Service, access: Access, whom: str, new: Policy) -> None:
    """Set the policy on a data set for a role or a person."""
    set_on_ledger(service.store, access.about.name, whom, new, by=access.name)


def remove_policy(service: Service, access: Access, whom: str) -> None:
    """Remove the policy for a role or a person."""
    policy(service, access, whom)
    service.store.remove_policy(access.about.name, whom, by=access.name)


def issue(service: Service, access: Access, name: str, *, kind: str, label: str, days: int | None) -> Issued:
    """A new token or login link for a person."""
    _person(service, name)
    expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
    return service.store.issue_token(name, kind, label, expires, by=access.name)  # type: ignore[arg-type]


def revoke(service: Service, access: Access, name: str) -> None:
    """Shut a person out."""
    service.store.revoke_person(_person(service, name).name, by=access.name)


def revoke_token(service: Service, access: Access, number: str) -> None:
    """End a token, a link or a session."""
    if not any(token.id == number for token in service.store.tokens()):
        raise NotFound("token")
    service.store.revoke_token(number, by=access.name)


def _person(service: Service, name: str) -> Person:
    person = service.store.person(analyst_name(name))
    if person is None:
        raise NotFound("person")
    return person


def approvals(service: Service, access: Access) -> list[Approval]:
    """The requests for approval: an owner's are everybody's, an analyst's their own."""
    return service.store.approvals(person=None if access.owner else access.name)


def decide(service: Service, access: Access, number: str, *, approved: bool) -> Approval:
    """Approve of a purchase, or deny it."""
    if service.store.approval(number) is None:
        raise NotFound("request for approval")
    return service.store.decide(number, by=access.name, approved=approved)


@dataclass(frozen=True)
class Allows:
    """How many questions of one kind a policy allows, and how good their answers are."""

    questions: int
    offer: Offer
    reason: str  # what ends them

    @property
    def text(self) -> str:
        """The finding as a sentence."""
        errors = [error.error for error in self.offer.errors if error.error]
        at = f" at +-{from_above(max(errors))}" if errors else ""
        return f"This policy allows {self.questions} such questions{at} before {self.reason} ends them."


def what_if(
    service: Service, access: Access, tried: Policy, question: str | Query, *, terms: Terms, analyst: str | None
) -> Allows:
    """How many more such questions somebody could buy under a policy; nothing is set, and nothing is charged."""
    curator = service.curator(access).seen_by(access.name)
    as_theirs = Access(access.action, access.person, access.dataset, tried)
    offered = curator.offer(question, **priced(as_theirs, terms, lambda: curator.read(question, {})[1]))
    parts, who = curator.parts(offered.query.relation), None if analyst is None else analyst_name(analyst)
    share = Fraction(offered.price) / curator.budget.limit
    if tried.most is not None and share > tried.most:
        return Allows(0, offered, "the largest price of one purchase")
    _, spent = curator.ledger.accounts(None, parts)[0]
    counts = [(min(curator.budget.repeats(offered.loss, before) for before in spent), "the budget")]
    if tried.allowance is not None:
        own = [zero] if who is None else [curator.ledger.spent(who, part) for part in parts or (None,)]
        counts.append((min(tried.allowance.repeats(offered.loss, before) for before in own), "the allowance"))
    number, reason = min(counts)
    return Allows(number, offered, reason)
