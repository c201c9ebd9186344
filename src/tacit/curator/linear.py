"""Linear queries through the ledger: a workload is planned from public facts, bought once, and kept as a model.

Whatever is asked later of a model that was released is free, with what is known of its error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.errors import BadParameter, BadQuestion
from ..core.exact import Number, rational
from ..core.randomness import SYSTEM
from ..tables.linear import Counted, TableDomain
from ..workloads import Plan, Price, Released, Workload
from ..workloads import method as method_of
from ..workloads import plan as planned
from . import archive
from .online import Online

if TYPE_CHECKING:
    from .curator import Curator


def _domain(curator: Curator, domain: object) -> TableDomain:
    """A domain of the curator's own tables."""
    if not isinstance(domain, TableDomain):
        raise BadParameter("domain", type(domain).__name__, "of the table, as table.domain('region', 'sex')")
    curator.check(domain.relation)
    return domain


def _price(domain: TableDomain, terms: Mapping[str, Any]) -> Price:
    """The price of a release about units that move the histogram as those of the table do."""
    given = {name: value for name, value in terms.items() if value is not None}
    return Price.of(**given, unit=domain.distance).shared  # a ledger counts what came before


def plan(curator: Curator, workload: Workload, n: int | None, beta: Number, **terms: Any) -> Plan:
    """Every method's predicted error and time; reads no data."""
    people = curator.table.schema.size if n is None else n
    return planned(workload, people, _price(_domain(curator, workload.domain), terms), beta=beta)


def answer(
    curator: Curator,
    workload: Workload,
    method: str,
    n: int | None,
    *,
    beta: Number,
    fresh: bool,
    analyst: str | None,
    **terms: Any,
) -> Released:
    """Buy the answers of a workload, once."""
    ranked = plan(curator, workload, n, beta, **terms)
    chosen = ranked.best if method == "auto" else method_of(method)
    domain, price, people = _domain(curator, workload.domain), ranked.price, ranked.n
    if (reason := chosen.refusal(workload, people, price)) is not None:
        raise BadQuestion(f"{chosen.name}: {reason}")
    told = archive.dumps((workload, chosen, price, people, rational("beta", beta))).decode()
    charge = curator.ledger.charge(
        key=curator.key(told),
        loss=chosen.loss(workload, people, price),
        analyst=analyst or curator.analyst,
        plan=f"{chosen.name} on {workload!r}",
        fresh=fresh,
    )
    stored = charge.release
    if stored is None:
        data = Counted(domain, lambda asked: curator.engine.answer(asked).cells[0])
        released = chosen.release(workload, data, price, SYSTEM, n=people, beta=beta)
        stored = curator.ledger.store(charge, archive.dumps(released), form="workload")
    released = archive.loads(stored)
    again: Released = replace(released, workload=workload)  # the asker's own, so that it is known again
    return again


def online(curator: Curator, domain: TableDomain, n: int | None, terms: dict[str, Any], **price: Any) -> Online:
    """Open a life of private multiplicative weights, or go on with one."""
    people = curator.table.schema.size if n is None else n
    if people is None:
        raise BadParameter("n", n, "a public number of records: given here, or as the size in the schema")
    return Online(curator, _domain(curator, domain), _price(domain, price), n=people, **terms)
