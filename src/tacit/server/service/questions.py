"""Questions: what they cost, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ... import storage
from ...core.accounting.currency import Amount
from ...core.errors import reading
from ...curator import Bounds, Curator
from ...ledger import Charge
from ...query.plan.offer import Offer
from ...query.select.query import Query
from ...release import Release
from ..errors import BadRequest
from ..policy import NeedsApproval, PolicyRefused, decide
from .admission import Admission, Request, Terms, paid, priced
from .service import Access, Service

MAX_REHEARSED = 100_000  # groups, which are free, and keep a process busy for a second


@dataclass(frozen=True)
class Offered:
    """An offer, and what it means for who asked."""

    offer: Offer
    left: Amount  # of the budget, or of an allowance
    left_after: Amount
    covered: bool
    needs_approval: bool
    refusal: str  # by the policy, or ""
    terms: Terms
    curator: Curator
    bought: Charge | None = None


@dataclass(frozen=True)
class Sold:
    """An answer that was bought now, or before: then it is free."""

    release: Release
    free: bool
    terms: Terms
    curator: Curator


def question_of(service: Service, sql: str | None, query: Mapping[str, Any] | None) -> str | Query:
    """The question that a request holds: SQL, or a question as tacit stores it."""
    if (sql is None) == (query is None):
        raise BadRequest("Give the question as `sql` or as `query`, and not as both.")
    if sql is not None and len(sql) > (longest := service.settings.limits.sql):
        raise BadRequest(f"A question may have at most {longest} characters.")
    return sql if sql is not None else stored("question", Query, query)


def stored(what: str, kind: type[Any], written: Any) -> Any:
    """A value of a type that tacit stores, from JSON that anybody may have written."""
    try:
        with reading(f"this {what}"):
            value = storage.read(written)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        value = None
    if not isinstance(value, kind):
        raise BadRequest(f"This is not a {what} as tacit stores one.")
    return value


def offer(service: Service, access: Access, question: str | Query, terms: Terms) -> Offered:
    """What a question costs somebody, and how good its answer will be."""
    curator = service.curator(access).seen_by(access.name)
    given = priced(access, terms, lambda: curator.read(question, {})[1])
    offered = curator.offer(question, **given)
    left = curator.remaining
    if offered.bought:  # and so free, whatever the policy says
        bought = curator.bought(question, **given)
        return Offered(offered, left, left, True, False, "", given, curator, bought)
    share, refusal, needs_approval = Fraction(offered.price) / curator.budget.limit, "", False
    try:
        needs_approval = isinstance(decide(access.rules, "question", share), NeedsApproval)
    except PolicyRefused as error:
        refusal = str(error)
    after = _left_after(curator, offered, left)
    return Offered(offered, left, after, curator.covers(offered), needs_approval, refusal, given, curator)


def _left_after(curator: Curator, offered: Offer, left: Amount) -> Amount:
    """What is left of the budget, or of an allowance, each at its own price, once an offer is bought."""
    accounts = curator.accounts(offered.query.relation)
    after = (b.remaining(before) - b.price(offered.loss, before) for b, spent in accounts for before in spent)
    return max(Fraction(0), min(left, *after))


def ask(service: Service, access: Access, question: str | Query, terms: Terms, *, fresh: bool | str = False) -> Sold:
    """Buy the answer to a question, once.  With a text as `fresh` the draw has a name, by which it is found again."""
    curator = service.buyer(access)
    given = priced(access, terms, lambda: curator.read(question, {})[1])
    about = question if isinstance(question, str) else "a question that was made in Python"
    admission = Admission(service, access, curator, Request("question", about, given, fresh))
    release = curator.seen_by(access.name, admission).ask(question, fresh=fresh, **given)
    return Sold(release, not admission.charged, given, curator)


def bounds(
    service: Service, access: Access, column: str, terms: Terms, *, fresh: bool | str = False
) -> tuple[Bounds, bool]:
    """Buy bounds of a column, and say whether they were bought before."""
    curator, given = service.buyer(access), paid(access, terms, "Bounds")
    admission = Admission(service, access, curator, Request("bounds", f"bounds of {column}", given, fresh))
    bought = curator.seen_by(access.name, admission).bounds(column, fresh=fresh, **given)
    return bought, not admission.charged


def rehearse(service: Service, access: Access, question: str | Query, terms: Terms, rows: int) -> Sold:
    """The answer to a question about made-up rows, which is free and says so."""
    curator = service.curator(access).seen_by(access.name)
    given = priced(access, terms, lambda: curator.read(question, {})[1])
    if (curator.offer(question, **given).plan.cells or 0) > MAX_REHEARSED:
        raise BadRequest(f"A rehearsal shows at most {MAX_REHEARSED} groups. Rehearse a question with fewer.")
    return Sold(curator.rehearse(question, rows=rows, **given), True, given, curator)
