"""Linear queries through the ledger: a workload is planned from public facts, bought once, and kept as a model.

Whatever is asked later of a model that was released is free, with what is known of its error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from ..core.errors import BadParameter, BadQuestion, EngineError, LedgerError
from ..core.parameters import Number, exactly_one, flag, instance, positive, probability, whole
from ..core.randomness import SYSTEM, Source, Words
from ..query.plan.accuracy import public_size
from ..query.plan.buying import sells_gaussian
from ..query.plan.calibration import tidy
from ..query.plan.offer import BETA, Paid, checked_share, promise
from ..query.plan.plan import Plan as TablePlan
from ..query.python.table_domain import Counted, TableDomain
from ..query.relation import build
from ..query.relation.relation import Relation, Where
from ..query.soundness import checks
from ..query.soundness.copying import remade
from ..release import versions
from ..release.purchased_answers import Bought
from ..workloads import Answered, Method, Plan, Price, Released, Workload
from ..workloads import method as method_of
from ..workloads import plan as planned
from ..workloads.planner import refused
from ..workloads.queries.copying import remade as remade_workload
from ..workloads.queries.data import Floats
from ..workloads.queries.domain import CELLS
from . import archive
from .online import Online
from .questions import check_owned
from .silence import silently

if TYPE_CHECKING:
    from ..ledger import Charge
    from ..query.python.table import Table
    from .curator import Curator
    from .purse import Purse

Purchase = tuple[Workload, Method, Price]
_MOST_KEPT = 80_000_000  # numbers of 11 bytes: a database holds a billion of them in one cell


def _domain(tables: Mapping[str, Table], domain: object) -> TableDomain:
    """A domain of these tables, made anew: its rows, keys and labels are what the tables say."""
    if type(domain) is not TableDomain:
        raise BadParameter("domain", type(domain).__name__, "of the table, as table.domain('region', 'sex')")
    relation, keys = remade((domain.relation, domain.keys))
    check_owned(relation, tables)
    checks.check_rows(relation, keys)
    made = TableDomain(tuple((key.name, tuple(key.labels())) for key in keys), relation=relation, keys=keys)
    if made.attributes != domain.attributes:
        raise BadParameter("domain", "other attributes", "those of its keys; take it from the table, as table.domain()")
    return made


def _checked(tables: Mapping[str, Table], workload: object) -> Workload:
    """A workload on a domain of these tables, made anew."""
    if not isinstance(workload, Workload):
        raise BadParameter("workload", type(workload).__name__, "linear queries, as workloads.marginals(domain, k=2)")
    return remade_workload(workload, _domain(tables, workload.domain))


def _of(workload: Workload) -> TableDomain:
    """The domain of a workload that was checked."""
    return cast(TableDomain, workload.domain)


def _typed(terms: Mapping[str, Any]) -> tuple[str, Number]:
    """Which of epsilon, rho and share was given, and how much."""
    if unknown := terms.keys() - Paid.__annotations__.keys():
        raise BadParameter("price", sorted(unknown), "epsilon, or epsilon and delta, or rho, or share")
    given: tuple[str, Number] = exactly_one(**{name: terms.get(name) for name in ("epsilon", "rho", "share")})
    return given


def _prices(domain: TableDomain, terms: Mapping[str, Any], purse: Purse | None = None) -> list[Price]:
    """What a release may be paid with, about units that move the histogram as those of the table do.

    Epsilon at a delta is spent by zCDP, for a ledger counts what came before, or without the delta; a budget that has
    no place for Gaussian noise buys without, and one in rho by zCDP.  A share buys whatever takes it of the budget.
    """
    name, number = _typed(terms)
    if name == "share":
        if purse is None:
            raise BadParameter("share", number, "given with a budget", says="share= is of a budget: give a ledger too")
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
    """What epsilon at a delta was paid with in ledgers where it took no more of the budget than that epsilon."""
    if not curator.ledger.former_words or terms.get("delta") is None or len(prices) == 1:
        return []
    price, *pure = prices
    asked, cost = positive("epsilon", terms["epsilon"]), curator.budget.price(price.loss())
    return [price.part(tidy(price.amount * asked / Fraction(cost)) / price.amount), *pure] if cost > asked else []


def _about(tables: Mapping[str, Table], domain: TableDomain) -> int | None:
    """The size of its table, if no row is left out but for a missing value: rough, so that no error may rest on it."""
    there = domain.relation
    schemas = {name: table.schema for name, table in tables.items()}
    return public_size(there.source if isinstance(there, Where) else there, schemas)


def plan(
    tables: Mapping[str, Table],
    workload: Workload,
    n: int | None,
    beta: Number,
    pays: Callable[[Relation], Purse] | None = None,
    *,
    method: str = "auto",
    **terms: Unpack[Paid],
) -> Plan:
    """Every method's predicted error and time, as `pays` would buy it after what was spent; reads no data.

    What is said of the price is of the best method, or of the one of this name.
    How many records there are is private, so an n that is told is a promise: methods that need it may rest on it.
    """
    workload, typed = _checked(tables, workload), _typed(terms)
    domain = _of(workload)
    build.bounded(domain.relation)
    purse = None if pays is None else pays(domain.relation)
    prices = _prices(domain, terms, purse)
    facts: dict[str, Any] = {"beta": probability("beta", beta), "about": _about(tables, domain)}
    for ways in (prices, *([price] for price in prices)):
        found = planned(workload, n, prices[0], ways=ways, **facts)
        if purse is None or not found.rows[0].prediction:
            return found
        first = found.row(method)
        loss = first.method.loss(workload, n, first.price)
        if typed[0] != "share" or purse.affords(loss, checked_share(typed[1], purse.least_share)):
            takes = f"{first.method.name} takes {float(purse.takes(loss)):g} of {purse.budget}"
            alone = f"taken alone, its answers are {promise(loss, _delta(terms))}"
            return replace(found, remarks=(f"{takes}; {alone}",), surcharge=purse.surcharge(loss, typed))
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
    fresh: bool,
    analyst: str | None,
    **terms: Unpack[Paid],
) -> Bought:
    """Buy the answers of a workload, once."""
    arrived, asked, workload = curator.pace.arrival(), workload, _checked(curator.tables, workload)
    domain, typed = _of(workload), _typed(terms)
    flag("fresh", fresh)
    who, people, at = curator.who(analyst), None if n is None else whole("n", n), probability("beta", beta)
    purse = curator.purse(domain.relation, who)
    prices = _prices(domain, terms, purse)
    others = prices if typed[0] == "share" else prices[:1]
    wanted = _wanted(curator, workload, method, n=people, beta=at, prices=prices, others=others)
    if (kept := 4 * workload.queries + min(domain.cells(workload.span), CELLS)) > _MOST_KEPT:
        raise BadQuestion(
            f"a ledger keeps {_MOST_KEPT} numbers of one release at most, and this one may have {kept}; ask fewer"
            " queries at once, or about fewer attributes"
        )
    charge = None
    if not fresh:
        former = _former_prices(curator, prices, terms)
        bought = _wanted(curator, workload, method, n=people, beta=at, prices=former, others=former[:1])
        named = {_name(curator, each, people, at): each for each in (*wanted, *bought)}
        charge = curator.ledger.find(*named)
    _, chosen, price = named[charge.key] if charge else _affordable(purse, wanted, typed, people)
    if (reason := chosen.refusal(workload, people, price)) is not None:
        raise refused(chosen, reason, workload, people, price)
    if charge is None or charge.release is None:
        build.bounded(domain.relation)
    if charge is None:
        chosen.predict(workload, people, price, at)  # noise that cannot be drawn is refused here
        loss = chosen.loss(workload, people, price)
        purse.check(loss, typed)
        charge = curator.ledger.charge(
            key=_name(curator, (workload, chosen, price), people, at),
            loss=loss,
            analyst=who,
            parts=curator.parts(domain.relation),
            plan=f"{chosen.name} on {workload!r}",
            fresh=fresh,
        )
    stored = charge.release
    if stored is None:

        def draw() -> bytes:
            released = _draw(curator, charge, (workload, chosen, price), people, at)
            return curator.ledger.store(charge, archive.dumps((released, versions())), form="workload")

        stored = curator.pace.let_out(arrived, charge.seq, draw)
    else:
        curator.pace.hold(charge.seq)
    drawn, made_with = _stored(stored)
    again = replace(drawn, workload=asked)  # the asker's own, so that it is known again
    told = vars(chosen.restated(again, people, price, float(at)))
    paid = Fraction(curator.budget.price(charge.loss))
    question = f"{workload!r}: {' x '.join(domain.names)}"
    return Bought(**told, price=paid, provenance=curator.provenance(charge, domain.relation, question, made_with))


def _affordable(purse: Purse, wanted: list[Purchase], typed: tuple[str, Number], n: int | None) -> Purchase:
    """The best purchase; for a share, of those that take no more than that of the budget."""
    name, number = typed
    if name != "share":
        return wanted[0]
    share = checked_share(number, purse.least_share)
    fitting = (each for each in wanted if purse.affords(each[1].loss(each[0], n, each[2]), share))
    if (best := next(fitting, None)) is None:
        raise purse.nothing(number)
    return best


def _stored(text: bytes) -> tuple[Released, tuple[tuple[str, str], ...]]:
    """A release, and what it was made with, unless it was stored when that was not."""
    found = archive.loads(text)
    return (found, ()) if isinstance(found, Released) else found


class _Noise(Source):
    """The operating system's randomness, which remembers whether any of it was drawn."""

    width = SYSTEM.width

    def __init__(self) -> None:
        self.drawn = False

    def words(self, n: int) -> Words:
        self.drawn = True
        return SYSTEM.words(n)

    def word(self) -> int:
        self.drawn = True
        return SYSTEM.word()


def _draw(curator: Curator, charge: Charge, bought: Purchase, n: int | None, beta: Fraction) -> Released:
    """The one draw of a charge.

    Methods are total: nothing that a table holds, and no noise, makes one fail.  Should one fail all the same, a read
    that fails, and whatever fails before there is noise, is an error that says nothing, and nothing is stored.  After
    the first noise was drawn a failure is stored, as a release that knows nothing: another draw under the same charge
    would be another look at the data.
    """
    workload, method, price = bought

    def read(plan: TablePlan) -> Any:
        return silently(lambda: curator.exact(plan, charge.parts)).cells[0]

    data, noise = Counted(_of(workload), read), _Noise()
    try:
        return method.release(workload, data, price, noise, n=n, beta=beta)
    except (EngineError, LedgerError):  # of a read
        raise
    except Exception:
        pass
    if not noise.drawn:
        raise EngineError
    nothing, note = np.full(workload.queries, np.nan), "the fit failed; nothing is known"
    return Released(method.name, workload, nothing, None, None, charge.loss, float(beta), (note,))


def _wanted(
    curator: Curator,
    workload: Workload,
    method: str,
    *,
    n: int | None,
    beta: Number,
    prices: list[Price],
    others: list[Price],
) -> list[Purchase]:
    """The best purchase at one of the prices; and beside it the best at each of the others, if there is any."""
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


def _name(curator: Curator, bought: Purchase, n: int | None, beta: Fraction) -> str:
    """What names a purchase: n and beta only where the law reads them."""
    _, method, _ = bought
    law = n if method.reads_n else None, beta if method.reads_beta else None
    return curator.key(archive.dumps((*bought, *law)).decode())


def query(curator: Curator, workload: Workload) -> Answered:
    """Answers from what was released before on the same domain: by the release that says most of their errors.

    Of those that say as little, by one that was bought for these queries, or for tables that hold theirs; and of those,
    by the last that says most of its own.
    """
    workload = _checked(curator.tables, workload)
    domain, text = _of(workload), archive.dumps(workload)
    found = list[tuple[tuple[int, float, bool, int, float], Answered]]()
    for entry in curator.ledger.entries():
        if entry.kind == "release" and entry.body["form"] == "workload" and entry.data is not None:
            try:
                released, _ = _stored(entry.data)
            except (BadParameter, AttributeError, TypeError, ValueError):  # of a version that wrote otherwise
                continue
            if released.workload.domain != domain:
                continue
            bought = (
                archive.dumps(released.workload) == text and not np.isnan(released.answers).any()
            )  # a fit that failed
            if bought or released.model is not None:
                told, tables = _asked(released, workload, bought=bought), [*map(set, released.workload.tables)]
                others = sum(not any(table.issuperset(axes) for table in tables) for axes in workload.tables)
                unsure = _unsure(told.errors, workload.queries)
                found.insert(0, ((*unsure, not bought, others, _unsure(released.errors, 1)[1]), told))
    if not found:
        raise BadQuestion(
            "nothing was released on this domain that these queries could be answered from; buy answers on it by a"
            " method that keeps a model, or ask an online life, which answers from its own"
        )
    _, best = min(found, key=itemgetter(0))
    return replace(best, statement=f"{best.statement}; the data are those of when it was released")


def _asked(released: Released, workload: Workload, *, bought: bool) -> Answered:
    """What a release answers, with errors at the usual beta, so that they compare; at its own if it knows no other."""
    own = (replace(released, workload=workload) if bought else released).query(workload)
    told = bought and (released.errors is None or released.beta == float(BETA))
    if released.model is None or told:
        return own
    then, now = released.query(workload), replace(released, beta=float(BETA)).query(workload)
    same = then.errors is not None and now.errors is not None and np.array_equal(then.errors, now.errors)
    return own if same or now.errors is None else now


def _unsure(errors: Floats | None, queries: int) -> tuple[int, float]:
    """How many errors are unknown, and the mean of the others."""
    told = np.full(queries, np.inf) if errors is None else errors
    known = np.isfinite(told)
    return int((~known).sum()), float(told[known].mean()) if known.any() else math.inf


def online(
    curator: Curator, domain: TableDomain, n: int | None, terms: dict[str, Any], **price: Unpack[Paid]
) -> Online:
    """Open a life of private multiplicative weights, or go on with one.

    A rough n will do: it sets how far the model moves, and what is told of errors holds for any number of records.
    """
    known, typed = _domain(curator.tables, domain), _typed(price)
    people = _about(curator.tables, known) if n is None else n
    if people is None:
        raise BadParameter("n", n, "about how many records there are: given here, or for a whole table by its size")
    prices = _prices(known, price, curator.purse(None, terms["analyst"]))
    ways = prices if typed[0] == "share" else prices[:1]
    return Online(curator, known, ways, _former_prices(curator, prices, price)[:1], typed, n=people, **terms)
