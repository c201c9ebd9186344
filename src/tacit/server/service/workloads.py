"""Linear queries: plans, answers that are bought, and whatever is read off what was bought before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...core.errors import BadParameter
from ...curator import Curator
from ...release import Release
from ..errors import BadRequest, NotFound
from ..policy import Purchase
from .admission import Admission, Request, Terms, paid
from .questions import stored
from .service import Access, Service

if TYPE_CHECKING:  # else loaded when linear queries are first asked for: they take longer to load than all the rest
    from ...query.python.table_domain import TableDomain
    from ...release.purchased_answers import Bought
    from ...workloads import Answered, Plan, Workload

_SOLD = "Linear queries"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Linear queries as a request names them: of some attributes, or as tacit stores a workload."""

    attributes: tuple[str, ...] = ()
    kind: str = "marginals"
    k: int | None = None
    workload: Mapping[str, Any] | None = None

    def on(self, curator: Curator, domain: TableDomain | None = None) -> Workload:
        """The workload: on the domain of the attributes, or as tables of a domain that has more."""
        from ...query.python.table_domain import TableDomain  # a stored workload names one
        from ...workloads import Workload, marginals, prefixes, ranges
        from ...workloads.queries.copying import remade

        if self.workload is not None:
            asked: Workload = stored("workload", Workload, self.workload)
            try:
                assert isinstance(asked.domain, TableDomain)
                return remade(asked, asked.domain)  # checked anew: anybody may have written it
            except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
                raise BadRequest("This is not a workload as tacit stores one.") from None
        if domain is not None:
            return marginals(domain, subsets=[self.attributes])  # of no attribute: the total
        if not self.attributes:
            raise BadRequest("Give `attributes`, or a `workload`.")
        own = curator.table.domain(*self.attributes)
        match self.kind:
            case "prefixes":
                return prefixes(own, own.names[0])
            case "ranges":
                return ranges(own, own.names[0])
        return marginals(own, k=min(2, len(own.names)) if self.k is None else self.k)


def plan(service: Service, access: Access, wanted: Wanted, terms: Terms, n: int | None) -> Plan:
    """Every method for linear queries, with its predicted error."""
    curator = service.curator(access).seen_by(access.name)
    return curator.plan(wanted.on(curator), n=n, **paid(access, terms, _SOLD))


def check(service: Service, access: Access, wanted: Wanted, terms: Terms, *, kind: Purchase, fresh: bool) -> None:
    """Refuse from public facts what a job would be refused for at once."""
    curator = service.curator(access)
    Admission(service, access, curator, Request(kind, "", fresh=fresh))
    wanted.on(curator)
    paid(access, terms, _SOLD)


def answer(
    service: Service,
    access: Access,
    wanted: Wanted,
    terms: Terms,
    *,
    kind: Purchase = "workload",
    method: str = "auto",
    n: int | None = None,
    fresh: bool | str = False,
) -> tuple[Bought, bool]:
    """Buy the answers of linear queries, and say whether they were bought before."""
    curator = service.buyer(access)
    asked, given = wanted.on(curator), paid(access, terms, _SOLD)
    about = f"{asked!r} by {method}"
    admission = Admission(service, access, curator, Request(kind, about, given, fresh))
    view = curator.seen_by(access.name, admission)
    bought = view.answer(asked, method=method, n=n, fresh=fresh, **given)
    return bought, not admission.charged


def query(service: Service, access: Access, wanted: Wanted, release: str | None) -> Answered:
    """Answers from what was bought before, free: from one release, or from the best there is."""
    curator = service.curator(access)
    if release is None:
        return curator.query(wanted.on(curator))
    try:
        bought = curator.release_of(release)
    except BadParameter:
        raise NotFound("release") from None
    if isinstance(bought, Release):
        raise NotFound("release of linear queries")
    return bought.query(wanted.on(curator, cast("TableDomain", bought.workload.domain)))
