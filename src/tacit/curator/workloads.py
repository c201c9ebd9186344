"""Linear queries through the ledger: a workload is planned from public facts, bought once, and stored as a model.

Whatever is asked later of a released model is free, with what is known of its error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Unpack, cast

import numpy as np

from ..core.errors import BadParameter, BadQuestion, reading
from ..core.parameters import Number, exactly_one, instance, positive, probability, whole
from ..core.purpose import Purpose
from ..core.randomness import Source
from ..ledger import Charge
from ..query.plan.accuracy import public_size
from ..query.plan.buying import sells_gaussian
from ..query.plan.calibration import tidy
from ..query.plan.offer import Paid, checked_share, promise
from ..query.python.table_domain import Counted, TableDomain
from ..query.relation import build
from ..query.relation.relation import Relation, Where
from ..query.soundness import checks
from ..query.soundness.copying import remade
from ..release import versions
from ..release.purchased_answers import Bought
from ..storage import canonical, loads
from ..workloads import Method, Plan, Price, Released, Workload
from ..workloads import method as method_of
from ..workloads import plan as planned
from ..workloads.planner import refused
from ..workloads.queries.copying import remade as remade_workload
from ..workloads.queries.domain import CELLS
from . import identity
from .online import Online
from .purchase import Draw, Order, Parts, Priced, Read, buy, checked_fresh
from .questions import check_owned

if TYPE_CHECKING:
    from ..query.python.table import DeclaredTable
    from .curator import Curator
    from .purse import Purse

Candidate = tuple[Workload, Method, Price]


class Candidates(NamedTuple):
    """A checked workload, how it may be bought, the best way first, at which prices, and n and beta as read."""

    workload: Workload
    wanted: list[Candidate]
    prices: list[Price]
    n: int | None
    beta: Fraction


class Buyer(Protocol):
    """Whoever may buy: what is public of tables, and a budget as if nothing were spent of it."""

    @property
    def tables(self) -> Mapping[str, DeclaredTable]: ...
    @property
    def unspent(self) -> Purse: ...


MAX_STORED_NUMBERS = 80_000_000  # of one release: 11 bytes each, and one cell of a database holds a billion bytes


def _domain(tables: Mapping[str, DeclaredTable], domain: object) -> TableDomain:
    """The domain, rebuilt from these tables: its rows, keys and labels are what the tables say."""
    if type(domain) is not TableDomain:
        raise BadParameter("domain", type(domain).__name__, "of the table, such as table.domain('region', 'sex')")
    relation, keys = remade((domain.relation, domain.keys), (table.schema.scan() for table in tables.values()))
    check_owned(relation, tables)
    checks.check_rows(relation, keys)
    rebuilt = TableDomain(tuple((key.name, tuple(key.labels())) for key in keys), relation=relation, keys=keys)
    if rebuilt.attributes != domain.attributes:
        wrong = "The attributes of this domain are not those of its keys. Make the domain by table.domain()."
        raise BadParameter("domain", "other attributes", "those of its keys", says=wrong)
    return rebuilt


def checked_workload(tables: Mapping[str, DeclaredTable], workload: object) -> Workload:
    """The workload, rebuilt on a domain of these tables."""
    if not isinstance(workload, Workload):
        raise BadParameter(
            "workload", type(workload).__name__, "linear queries, such as workloads.marginals(domain, k=2)"
        )
    return remade_workload(workload, _domain(tables, workload.domain))


def _of(workload: Workload) -> TableDomain:
    """The domain of a workload that was checked."""
    return cast(TableDomain, workload.domain)


def _typed(terms: Mapping[str, Any]) -> tuple[str, Number]:
    """Which of epsilon, rho and share was given, and how much."""
    if unknown := terms.keys() - Paid.__annotations__.keys():
        raise BadParameter("price", sorted(unknown), "epsilon, or epsilon and delta, or rho, or share")
    typed: tuple[str, Number] = exactly_one(**{name: terms.get(name) for name in ("epsilon", "rho", "share")})
    return typed


def _prices(domain: TableDomain, terms: Mapping[str, Any], purse: Purse | None = None) -> list[Price]:
    """The prices at which a release may be bought, for units that move the histogram as those of the table do.

    Epsilon at a delta is spent by zCDP, since a ledger adds up prices, or without the delta.  A budget without room for
    Gaussian noise buys without the delta, and a budget in rho by zCDP.  A share buys at any price that takes so much of
    the budget.
    """
    name, number = _typed(terms)
    if name == "share":
        if purse is None:
            raise BadParameter(
                "share", number, "given with a budget", says="share= is a share of a budget. Give a ledger too."
            )
        if terms.get("delta") is not None:
            raise BadParameter("delta", terms["delta"], "given with epsilon alone")
        return [Price.of(epsilon=e, rho=r, unit=domain.distance) for e, r in purse.ways(number)]
    price, *pure = Price.of(**{name: number}, delta=terms.get("delta"), unit=domain.distance).ways
    price = price.shared
    if not pure or purse is None:
        return [price, *pure]
    if purse.budget.epsilon is None:
        return [price]
    return [price, *pure] if sells_gaussian(purse.budget) else pure


def _former_prices(curator: Curator, prices: list[Price], terms: Mapping[str, Any]) -> list[Price]:
    """The former price of epsilon at a delta, in ledgers where that took no more of the budget than the epsilon."""
    if not curator.ledger.former_words or terms.get("delta") is None or len(prices) == 1:
        return []
    price, *pure = prices
    asked, cost = positive("epsilon", terms["epsilon"]), curator.budget.price(price.loss())
    return [price.part(tidy(price.amount * asked / Fraction(cost)) / price.amount), *pure] if cost > asked else []


def _about(tables: Mapping[str, DeclaredTable], domain: TableDomain) -> int | None:
    """The public size of a domain's table, if only rows with missing values are left out; None otherwise.

    The size is rough, so no stated error may rest on it.
    """
    there = domain.relation
    schemas = {name: table.schema for name, table in tables.items()}
    return public_size(there.source if isinstance(there, Where) else there, schemas)


def plan(
    tables: Mapping[str, DeclaredTable],
    workload: Workload,
    n: int | None,
    beta: Number,
    pays: Callable[[Relation], Purse] | None = None,
    *,
    method: str = "auto",
    **terms: Unpack[Paid],
) -> Plan:
    """Every method's predicted error and time, as `pays` would buy it after what was spent; reads no data.

    The remark on the price is about the best method, or about `method`.  The number of records is private, so `n` is
    the analyst's promise, on which methods that need it may rest.
    """
    workload, typed = checked_workload(tables, workload), _typed(terms)
    domain = _of(workload)
    build.bounded(domain.relation)
    purse = None if pays is None else pays(domain.relation)
    prices = _prices(domain, terms, purse)
    facts: dict[str, Any] = {"beta": probability("beta", beta), "about": _about(tables, domain)}
    for ways in (prices, *([price] for price in prices)):
        methods = planned(workload, n, prices[0], ways=ways, **facts)
        if purse is None or not methods.rows[0].prediction:
            return methods
        first = methods.row(method)
        loss = first.method.loss(workload, n, first.price)
        if typed[0] != "share" or purse.affords(loss, checked_share(typed[1], purse.least_share)):
            takes = f"{first.method.name} takes {float(purse.takes(loss)):g} of {purse.budget}"
            alone = f"taken alone, its answers are {promise(loss, _delta(terms))}"
            return replace(methods, remarks=(f"{takes}; {alone}",), surcharge=purse.surcharge(loss, typed))
    assert purse is not None
    raise purse.nothing(typed[1])


def _delta(terms: Mapping[str, Any]) -> Fraction | None:
    return None if (delta := terms.get("delta")) is None else probability("delta", delta)


def answer(
    curator: Curator,
    workload: Workload,
    method: str,
    n: int | None,
    *,
    beta: Number,
    fresh: bool | str,
    analyst: str | None,
    **terms: Unpack[Paid],
) -> Bought:
    """Buy the answers of a workload, once."""
    arrived, asked = curator.pace.arrival(), workload
    found = candidates(curator, workload, method, n, beta=beta, terms=terms)
    workload, wanted, prices, people, at = found
    domain, typed, draws, who = _of(workload), _typed(terms), checked_fresh(fresh), curator.who(analyst)
    former = [] if fresh else _former_prices(curator, prices, terms)
    before = _wanted(curator, workload, method, n=people, beta=at, prices=former, others=former[:1])
    drawn_as = partial(identity.draw, fresh=draws, analyst=who)
    by_key = {key: each for each in (*wanted, *before) for key in _keys(curator, each, people, at, drawn_as)}

    def priced(parts: Parts) -> Priced:
        purse = curator._purse(parts, who)
        possible = [each for each in wanted if each[1].refusal(workload, people, each[2]) is None]
        if not possible:
            _, chosen, price = wanted[0]
            raise refused(chosen, chosen.refusal(workload, people, price) or "", workload, people, price)
        bought = _affordable(purse, possible, typed, people)
        _, chosen, price = bought
        chosen.predict(workload, people, price, at)  # noise that cannot be drawn is refused here
        loss = chosen.loss(workload, people, price)
        purse.check(loss, typed)
        key, *_ = _keys(curator, bought, people, at, drawn_as)
        return Priced(key, loss, Purpose("workload", f"{chosen.name} on {workload!r}"))

    def prepare(charge: Charge) -> Draw:
        _, chosen, price = by_key[charge.key]

        def draw(read: Read, source: Source) -> bytes:
            data = Counted(domain, lambda plan: read(plan).cells[0])
            return canonical((chosen.release(workload, data, price, source, n=people, beta=at), versions())).encode()

        return draw

    def failed(charge: Charge) -> bytes:
        _, chosen, _ = by_key[charge.key]
        nothing, note = np.full(workload.queries, np.nan), "the fit failed; nothing is known"
        released = Released(chosen.name, workload, nothing, None, None, charge.loss, float(at), (note,))
        return canonical((released, versions())).encode()

    order = Order(
        relation=domain.relation,
        keys=[*by_key],
        analyst=who,
        price=priced,
        admit=curator.admit,
        prepare=prepare,
        failed=failed,
        form="workload",
        fresh=draws is True,
    )
    charge, stored = buy(curator._registration, curator.pace, arrived, order)
    _, chosen, price = by_key[charge.key]
    drawn, made_with = stored_release(stored)
    again = replace(drawn, workload=asked)  # the asker's own object, so that it is recognised
    return _bought(curator, charge, chosen.restated(again, people, price, float(at)), made_with)


def bought(curator: Curator, charge: Charge) -> Bought:
    """The answers that were bought by a charge, as they were stored."""
    released, made_with = stored_release(charge.release or b"")
    workload = checked_workload(curator.tables, released.workload)
    return _bought(curator, charge, replace(released, workload=workload), made_with)


def _bought(curator: Curator, charge: Charge, released: Released, made_with: tuple[tuple[str, str], ...]) -> Bought:
    domain, paid = _of(released.workload), Fraction(curator.budget.price(charge.loss))
    question = f"{released.workload!r}: {' x '.join(domain.names)}"
    origin = curator.provenance(charge, domain.relation, question, made_with)
    return Bought(**vars(released), price=paid, provenance=origin)


def candidates(
    curator: Buyer,
    workload: Workload,
    method: str,
    n: int | None,
    *,
    beta: Number,
    terms: Paid,
) -> Candidates:
    """How a workload may be bought; what public facts refuse is refused."""
    workload, typed = checked_workload(curator.tables, workload), _typed(terms)
    domain = _of(workload)
    people, at = None if n is None else whole("n", n), probability("beta", beta)
    prices = _prices(domain, terms, curator.unspent)
    others = prices if typed[0] == "share" else prices[:1]
    wanted = _wanted(curator, workload, method, n=people, beta=at, prices=prices, others=others)
    if (stored_numbers := 4 * workload.queries + min(domain.cells(workload.span), CELLS)) > MAX_STORED_NUMBERS:
        raise BadQuestion(
            f"A ledger keeps at most {MAX_STORED_NUMBERS} numbers of one release, and this one may have"
            f" {stored_numbers}. Ask fewer queries at once, or about fewer attributes."
        )
    return Candidates(workload, wanted, prices, people, at)


def restated(found: Candidates, bought: Bought) -> Bought:
    """Bought answers with their error bounds at the asker's beta, if it is known how they were bought."""
    for workload, chosen, price in found.wanted:
        if chosen.name == bought.method and chosen.loss(workload, found.n, price) == bought.loss:
            return cast(Bought, chosen.restated(bought, found.n, price, float(found.beta)))
    return bought


def _affordable(purse: Purse, wanted: list[Candidate], typed: tuple[str, Number], n: int | None) -> Candidate:
    """The best candidate; for a share, of those that take no more than that of the budget."""
    name, number = typed
    if name != "share":
        return wanted[0]
    share = checked_share(number, purse.least_share)
    fitting = (each for each in wanted if purse.affords(each[1].loss(each[0], n, each[2]), share))
    if (best := next(fitting, None)) is None:
        raise purse.nothing(number)
    return best


def stored_release(text: bytes) -> tuple[Released, tuple[tuple[str, str], ...]]:
    """A release and the versions that it was made with, which earlier versions did not store."""
    with reading("this release"):
        value = loads(text)
    return (value, ()) if isinstance(value, Released) else value


def _wanted(
    curator: Buyer,
    workload: Workload,
    method: str,
    *,
    n: int | None,
    beta: Number,
    prices: list[Price],
    others: list[Price],
) -> list[Candidate]:
    """The best candidate at any of the prices, and then the best at each of the other prices, if there is any."""
    named = None if instance("method", method, str) == "auto" else [method_of(method)]
    if not prices:
        return []
    if named and len(prices) == 1:
        return [(workload, named[0], prices[0])]
    about = _about(curator.tables, _of(workload))
    rows = [planned(workload, n, prices[0], named, beta, about=about, ways=prices).row(method)]
    for price in others:
        if price != rows[0].price:
            other = planned(workload, n, prices[0], named, beta, about=about, ways=[price]).rows[0]
            rows += [other] if other.prediction else []
    return [(workload, row.method, row.price) for row in rows]


def _keys(
    curator: Curator,
    bought: Candidate,
    n: int | None,
    beta: Fraction,
    drawn_as: Callable[[identity.Identity], identity.Identity],
) -> list[str]:
    """The keys of a candidate, the present one first; n and beta count only where the law reads them."""
    workload, method, price = bought
    law = n if method.reads_n else None, beta if method.reads_beta else None
    identities = identity.answers(workload, method, price, *law, former_spelling=curator.ledger.former_spelling)
    return [curator._registration.key(drawn_as(each)) for each in identities]


def online(
    curator: Curator, domain: TableDomain, n: int | None, terms: dict[str, Any], **price: Unpack[Paid]
) -> Online:
    """Open a session of private multiplicative weights, or go on with one.

    A rough n will do: it sets how far the model moves, and the stated errors hold for any number of records.
    """
    (checked, people), typed = online_terms(curator.tables, domain, n, price), _typed(price)
    prices = _prices(checked, price, curator.unspent)
    ways = prices if typed[0] == "share" else prices[:1]
    return Online(curator, checked, ways, _former_prices(curator, prices, price)[:1], typed, n=people, **terms)


def online_terms(
    tables: Mapping[str, DeclaredTable], domain: TableDomain, n: int | None, price: Paid
) -> tuple[TableDomain, int]:
    """The checked domain of an online session, and about how many records there are."""
    checked, _ = _domain(tables, domain), _typed(price)
    people = _about(tables, checked) if n is None else n
    if people is None:
        wanted = "Pass n= (roughly how many records there are), or set `size` in the schema."
        raise BadParameter("n", n, "about how many records there are", says=wanted)
    return checked, people
