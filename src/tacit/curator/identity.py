"""What identifies a purchase: two of them are the same, and the second is free, if these facts are the same.

Each function states the facts.  Their canonical text (`tacit.storage`) is digested into the key of a charge, so what is
not listed here has no say: neither the names of modules and classes, nor fields of a class that are not stored.

Where a ledger may hold purchases under a former spelling of their facts, that spelling follows, to find them by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..mechanisms import Gaussian, Laplace, NumericSparse, Sparse
from ..query.plan.estimators import Recipe
from ..query.plan.plan import QueryPlan
from ..storage import canonical, digest, former

if TYPE_CHECKING:
    from ..mechanisms.continual._continual_count import ContinualCount
    from ..query.python.table_domain import TableDomain
    from ..workloads import Method, Price, Workload
    from ..workloads.models.multiplicative_weights import LinearQuery

Identity = str | tuple[object, ...]
Term = tuple[str, Fraction | int | None]

_STREAMS = {Sparse: "Sparse", NumericSparse: "NumericSparse"}


def answer(plan: QueryPlan, choices: object, terms: Sequence[Term], aimed: Iterable[Recipe]) -> Identity:
    """The answer to a question: what is measured and chosen, what has a say in the noise, whose error was asked for."""
    return plan, choices, terms, sorted(aimed, key=canonical)


def draw(facts: Identity, fresh: bool | str, analyst: str) -> Identity:
    """These facts, or where `fresh` is text, those of the further draw that its analyst called so."""
    return ("draw", analyst, fresh, facts) if isinstance(fresh, str) else facts


def bounds(plan: QueryPlan, noise: Laplace | Gaussian) -> Identity:
    """Bounds of a column: the histogram they are read from, and its noise."""
    return "bounds", plan, noise


def answers(
    workload: Workload, method: Method, price: Price, n: int | None, beta: Fraction | None, *, former_spelling: bool
) -> list[Identity]:
    """The answers of a workload: its queries and their domain, the method, the price, and what its law reads."""
    facts = "answers", workload, method, _price(price), n, beta
    return [facts, *([former.text((workload, method, price, n, beta))] if former_spelling else [])]


def online(
    name: str,
    analyst: str,
    domain: TableDomain,
    price: Price,
    *,
    n: int,
    queries: int,
    updates: int | None,
    grid: Fraction,
    schema: str,
    former_spelling: bool,
) -> list[str]:
    """The key of an online session, which is its analyst's own: what it is about, what was paid, what it promises."""
    facts = "online", analyst, name, domain, _price(price), n, queries, updates, grid, schema
    keys = [digest(facts)]
    if former_spelling:
        text = former.text((name, domain, price, n, queries, updates, *(() if grid == 1 else (grid,))))
        keys.append(digest(("online", analyst, text, schema)))
    return keys


def online_question(question: LinearQuery, *, former_spelling: bool) -> list[Identity]:
    """A question to an online session: its coefficients."""
    return [("linear query", question), *([former.text(question)] if former_spelling else [])]


def stream(
    name: str,
    analyst: str,
    kind: type[Sparse] | type[NumericSparse],
    *,
    threshold: int,
    epsilon: Fraction,
    count: int,
    schema: str,
) -> str:
    """The key of a stream, which is its analyst's own: which answers it may give, and what was paid."""
    return digest(("stream", analyst, name, _STREAMS[kind], (threshold, epsilon, count), schema))


def continual(name: str, analyst: str, plan: QueryPlan, mechanism: ContinualCount) -> str:
    """The key of continual counts, which are their analyst's own: what is counted by which periods, and how.

    The version of the data has no say: the counts go on as the table grows.
    """
    return digest(("continual counts", analyst, name, plan, mechanism))


def _price(price: Price) -> Identity:
    """What is paid, and for which unit; not the words that it came from."""
    return price.epsilon, price.rho, price.unit
