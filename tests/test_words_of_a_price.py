"""One meaning of a price at every door: `epsilon` is what a release alone guarantees, `share` what it takes at most."""

import inspect
import random
import re
import warnings
from fractions import Fraction

import pytest
from curator.test_curator import COUNT, ROWS, SCHEMA

import tacit
from tacit.core.accounting.loss import zero
from tacit.core.errors import BadParameter, BadQuestion, Refused
from tacit.core.exact import up
from tacit.curator import Curator
from tacit.curator.purse import TakesMore
from tacit.ledger import Ledger
from tacit.mechanisms import Gaussian, Laplace
from tacit.query.plan.offer import Offer, offer, sells_gaussian
from tacit.query.python.table import Table
from tacit.query.select.aggregates import (
    count,
    mean,
    median,
    mode,
    quantile,
    sum_,
    units,
    variance,
)
from tacit.workloads import marginals, prefixes

BUDGETS = {
    "pure": {"epsilon": 10},
    "pure with failures": {"epsilon": 10, "delta": "1e-6", "slack": 0},
    "zCDP": {"rho": 10},
    "zCDP with failures": {"rho": 10, "delta": "1e-6"},
    "union of 1": {"epsilon": 1, "delta": "1e-9"},
    "union of 10": {"epsilon": 10, "delta": "1e-9"},
    "union of 100": {"epsilon": 100, "delta": "1e-6"},
    "Renyi": {"epsilon": 10, "renyi_order": 8},
}
VISITS = Table([], SCHEMA)
SCHEMAS = {"visits": VISITS.schema}
QUESTIONS = {
    "count": VISITS.count(),
    "sums": VISITS.group_by("year").aggregate(n=count(), s=sum_("cost"), a=mean("age")),
    "variance": VISITS.variance("age"),
    "quantiles": VISITS.aggregate(a=quantile("age", "0.25"), b=median("age")),
    "mode": VISITS.mode("year"),
    "everything": VISITS.group_by("year").aggregate(
        n=count(), u=units(), s=sum_("cost"), v=variance("age"), m=median("cost"), t=mode("age")
    ),
    "keys": VISITS.group_by("note", private=True).aggregate(n=count(), s=sum_("cost")),
}


def made(question, budget, **asked) -> Offer:
    return offer(QUESTIONS[question].query, budget, schemas=SCHEMAS, **asked)


def history(budget, draw: random.Random):
    """What may have been bought before, of each kind that the budget sells."""
    before, kinds = zero, [Laplace, *([Gaussian] if sells_gaussian(budget) else [])]
    for _ in range(draw.randrange(3)):
        part, kind = Fraction(draw.choice(["0.001", "0.05", "0.2", "0.3"])) * budget.limit, draw.choice(kinds)
        loss = (Laplace(epsilon=part) if kind is Laplace else Gaussian(rho=part / 50)).loss()
        before += loss if budget.admits(before, loss) else zero
    return before


@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_epsilon_is_what_the_release_alone_guarantees(kind, question):
    """With delta and without, after any purchases, small and large."""
    budget, draw = tacit.Budget(**BUDGETS[kind]), random.Random(f"{kind} {question}")
    for _ in range(3):
        epsilon = Fraction(draw.choice(["0.003", "0.05", "0.1", "0.5", "2", "7"]))
        delta = draw.choice([None, "1e-12", "1e-9", "1e-7"])
        terms = {"epsilon": epsilon, **({} if delta is None else {"delta": delta})}
        if question == "keys" and (delta is None or not budget.failures):
            with pytest.raises(BadQuestion, match="delta"):
                made(question, budget, **terms)
            continue
        try:
            told = made(question, budget, spent=[history(budget, draw)], least_share=Fraction(0), **terms)
        except tacit.BudgetExceeded:
            assert question == "keys" and Fraction(delta) > budget.failures
            continue
        assert told.loss.epsilon(0 if delta is None else delta) <= up(epsilon), (terms, told)


@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_share_is_the_most_that_is_taken_of_the_budget(kind, question):
    budget, draw = tacit.Budget(**BUDGETS[kind]), random.Random(f"{kind} {question}")
    if question == "keys" and not budget.failures:
        return
    for _ in range(8):
        share = Fraction(draw.choice(["0.0001", "0.002", "0.1", "1/3", "1"]))
        before = history(budget, draw)
        told = made(question, budget, spent=[before], share=share)
        assert 0 < budget.price(told.loss, before) == told.price <= share * budget.limit, (share, told)


@pytest.mark.parametrize(("limit", "own"), [(1, "0.195"), (10, "0.551"), (100, "1.13")])
def test_an_epsilon_of_0_05_is_one_under_every_budget(limit, own):
    """As a share, it was worth more the larger the budget."""
    budget = tacit.Budget(epsilon=limit, delta="1e-9")
    for terms in ({"epsilon": "0.05"}, {"epsilon": "0.05", "delta": "1e-9"}):
        assert made("count", budget, least_share=Fraction(0), **terms).loss.epsilon(terms.get("delta", 0)) <= 0.05
    amount = made("count", budget, share=Fraction("0.05") / limit, least_share=Fraction(0))
    assert amount.loss.epsilon("1e-9") == pytest.approx(float(own), rel=0.01)
    assert re.fullmatch(rf"taken alone, the answer is \({own}\d*, 1e-09\)-differentially private", amount.alone)


def test_a_delta_buys_smaller_errors_where_there_is_gaussian_noise():
    """The noise is that of the exact profile: a tenth below that of the rho which zCDP alone allows."""
    for budget in (tacit.Budget(rho=10), tacit.Budget(epsilon=10, delta="1e-6")):
        pure, both = (
            made("everything", budget, **terms) for terms in ({"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"})
        )
        assert max(s.mechanism.error(beta="0.05") for s in both.steps) < max(
            s.mechanism.error(beta="0.05") for s in pure.steps
        )
        assert 0.99 < both.loss.epsilon("1e-6") <= 1
    pure = made("sums", tacit.Budget(epsilon=10), epsilon=1, delta="1e-6")
    assert pure.loss.epsilon() == 1  # where there is none, the delta is not used


def curator(place, kind, **more):
    return Curator(Table(ROWS, SCHEMA), ledger=place, budget=tacit.Budget(**BUDGETS[kind]), **more)


def doors(c, **price):
    """Every way to buy, one after the other."""
    domain = c.table.derive(band=lambda rows: rows.age // 10 * 10).domain("year", "band")
    text = ", ".join(f"{name} = {value}" for name, value in price.items())
    yield lambda: c.ask(COUNT, **price)
    yield lambda: c.ask(c.table.group_by("year").sum("cost"), **price)
    yield lambda: c.ask(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({text}) AVG(age) AS a FROM visits")
    yield lambda: c.ask(f"{COUNT} WHERE year = '2024'", **price)
    yield lambda: c.answer(marginals(domain, k=2), **price)
    yield lambda: c.answer(prefixes(domain, "year"), method="queries", **price)
    yield lambda: c.bounds("cost", **price)
    if "delta" not in price:
        yield lambda: c.above_threshold(100, **price)
        yield lambda: c.numeric_sparse(100, name="numeric", **price)
    yield lambda: c.online(domain, n=10**6, queries=10, updates=2, **price)


def bought(c, act):
    """The charge of a purchase, and what was taken of the budget."""
    before, left = c.ledger.head(), c.remaining
    act()
    (charge,) = [charge for charge in c.history() if charge.seq > before.seq]
    return charge, left - c.remaining


@pytest.mark.parametrize("kind", ["pure", "zCDP", "union of 10", "union of 100", "Renyi"])
@pytest.mark.filterwarnings("ignore::tacit.curator.purse.TakesMore")
def test_at_every_door_epsilon_is_the_guarantee_and_a_share_the_most_that_is_taken(tmp_path, kind):
    with curator(tmp_path / "visits.ledger", kind, least_share="0.00001") as c:
        for price in ({"epsilon": "0.3"}, {"epsilon": "0.4", "delta": "1e-7"}):
            most = float(price["epsilon"]) * (1 + 1e-9)  # the epsilon of a rho is rounded outward by less than that
            for act in doors(c, **price):
                charge, _ = bought(c, act)
                assert charge.loss.epsilon(price.get("delta", 0)) <= most, charge.purpose
        for act in doors(c, share="0.01"):
            charge, taken = bought(c, act)
            assert 0 < taken <= Fraction("0.01") * c.budget.limit, charge.purpose
        head = c.ledger.head()
        for price in ({"epsilon": "0.3"}, {"epsilon": "0.4", "delta": "1e-7"}, {"share": "0.01"}):
            for act in doors(c, **price):
                act()
        assert c.ledger.head() == head  # all of it is free again
        c.ledger.verify()


@pytest.mark.parametrize("kind", ["pure", "zCDP", "union of 10", "Renyi"])
def test_nothing_is_sold_below_the_least_price(tmp_path, kind):
    with curator(tmp_path / "visits.ledger", kind, least_share="0.001") as c:
        head = c.ledger.head()
        for price in ({"epsilon": "0.00001"}, {"epsilon": "0.00001", "delta": "1e-7"}, {"share": "0.0009"}):
            for act in doors(c, **price):
                with pytest.raises(Refused, match=r"[Aa] question takes at least 1/1000 of .*share=0\.001"):
                    act()
        if kind != "pure":
            for act in (lambda: c.ask(COUNT, rho="1e-7"), lambda: c.bounds("age", rho="1e-7")):
                with pytest.raises(Refused, match="rho = 1e-07 would take"):
                    act()
        assert [entry.kind for entry in c.ledger.entries(head.seq) if entry.kind == "release"] == []
        assert c.remaining == c.budget.limit
        for act in doors(c, share="0.001"):
            bought(c, act)


def test_the_least_price_is_the_ledgers(tmp_path):
    """A tenth of a thousandth unless its custodian says otherwise, when it is opened, once."""
    for name, given, least in (("a", {}, Fraction(1, 10_000)), ("b", {"least_share": "0.01"}, Fraction(1, 100))):
        with Ledger.open(tmp_path / name, tacit.Budget(epsilon=1), "visits", **given) as ledger:
            assert ledger.least_share == least
        with Ledger.open(tmp_path / name) as ledger:
            assert ledger.least_share == least
            ledger.verify()
        with pytest.raises(BadParameter, match="with which this ledger was opened"):
            Ledger.open(tmp_path / name, least_share="0.5")
    for wrong in ("-0.1", "1.5"):
        with pytest.raises(BadParameter, match="a fraction of the budget"):
            Ledger.open(tmp_path / "c", tacit.Budget(epsilon=1), least_share=wrong)
    with Curator(Table(ROWS, SCHEMA), ledger=tmp_path / "d", budget=tacit.Budget(epsilon=1), least_share=0) as c:
        c.ask(COUNT, epsilon="1e-9")


@pytest.mark.parametrize("kind", BUDGETS)
def test_no_more_questions_are_sold_than_the_least_price_allows(kind):
    """Whatever they are asked with, ten least prices of a tenth each are all there is."""
    budget, draw, sold, before = tacit.Budget(**BUDGETS[kind]), random.Random(kind), 0, zero
    least = Fraction(1, 10)
    while True:
        terms = draw.choice([{"share": "0.1"}, {"error": 1000}, {"epsilon": budget.limit / 7}])
        try:
            told = made("count", budget, spent=[before], least_share=least, **terms)
        except Refused:
            told = made("count", budget, spent=[before], least_share=least, share="0.1")
        if not budget.admits(before, told.loss):
            break
        before, sold = before + told.loss, sold + 1
        assert sold <= 10
    assert sold >= 5


@pytest.mark.parametrize("kind", BUDGETS)
def test_an_error_that_could_be_had_for_less_is_made_smaller_for_the_least_price(kind):
    budget = tacit.Budget(**BUDGETS[kind])
    for terms in ({"error": 10**6}, {"relative": 1000}):
        told = made("count", budget, **terms)
        assert told.raised and told.errors[0].error < 10**6
        assert told.price == pytest.approx(float(budget.limit) / 10_000, rel=1e-6)
        assert "is the least price of a question, so the errors are smaller" in str(told) and str(told) in repr(told)
        assert told.errors == made("count", budget, share="0.0001").errors
    assert not made("count", budget, error=30).raised


def test_a_purchase_that_takes_more_than_was_typed_says_so_before_it_is_bought(tmp_path):
    with curator(tmp_path / "visits.ledger", "union of 1") as c:
        c.bounds("cost", rho="0.003")
        told = c.offer("SELECT SUM(age) AS s FROM visits", epsilon="0.3")
        assert told.price > Fraction("0.3")
        says = f"it takes {float(told.price):.4g} of Budget(epsilon=1, delta=1e-09), more than the epsilon = 0.3"
        assert re.sub(r"(0\.\d{3})\d*", r"\1", says) in re.sub(r"(0\.\d{3})\d*", r"\1", str(told))
        planned = c.plan(prefixes(c.table.domain("year"), "year"), epsilon="0.3")
        assert "more than the epsilon = 0.3 that was asked for" in str(planned)
        assert "taken alone, its answers are 0.3-differentially private" in str(planned)
        assert "more than" not in str(c.offer(COUNT, share="0.1"))


def test_what_is_bought_by_a_share_is_not_handed_out_for_an_epsilon(tmp_path):
    """Nor the other way round: they are other noise, with other guarantees."""
    with curator(tmp_path / "visits.ledger", "union of 1") as c:
        by_share, _ = bought(c, lambda: c.ask(COUNT, share="0.05"))
        by_epsilon, _ = bought(c, lambda: c.ask(COUNT, epsilon="0.05"))
        assert by_epsilon.loss.epsilon() == 0.05 < by_share.loss.epsilon("1e-9")
        bought(c, lambda: c.ask(COUNT, epsilon="0.05", delta="1e-9"))


@pytest.mark.parametrize(("kind", "same"), [("pure", {"epsilon": 1}), ("zCDP", {"rho": 1})])
def test_in_one_currency_a_share_is_an_amount_of_it(tmp_path, kind, same):
    with curator(tmp_path / "visits.ledger", kind) as c:
        first = c.ask(COUNT, share="0.1")
        assert c.ask(COUNT, **same).provenance.entry == first.provenance.entry


@pytest.mark.parametrize("share", [0, -1, 2, "1.0001"])
def test_a_share_is_a_fraction(tmp_path, share):
    with curator(tmp_path / "visits.ledger", "union of 1") as c:
        for act in doors(c, share=share):
            with pytest.raises(
                (BadParameter, BadQuestion), match=r"share (is a fraction of the budget|must be)|an option"
            ):
                act()


def test_one_price_is_given(tmp_path):
    with curator(tmp_path / "visits.ledger", "union of 1") as c:
        for act in doors(c, share="0.1", epsilon="0.1"):
            with pytest.raises(BadParameter):
                act()


@pytest.mark.parametrize("method", ["offer", "ask"])
def test_the_help_of_a_question_explains_each_word(method):
    told = inspect.getdoc(getattr(Curator, method))
    for word in ("epsilon", "share", "rho", "error", "relative"):
        assert re.search(rf"^ +{word} +\w", told, re.M), word
    assert "delta" in told and "beta" in told and "analyst" in told


def test_what_has_no_offer_warns_before_it_takes_more_than_was_typed(tmp_path):
    budget = tacit.Budget(**BUDGETS["union of 1"])
    more = r"^This purchase takes .* of .*, more than the epsilon = 0\.05 that was asked for\.$"
    with Curator(Table(ROWS, SCHEMA), ledger=tmp_path / "l", budget=budget) as curator:
        curator.ask(QUESTIONS["everything"], rho="0.001")
        for buy in (
            lambda: curator.bounds("age", epsilon="0.05"),
            lambda: curator.above_threshold(10, epsilon="0.05"),
            lambda: curator.numeric_sparse(10, epsilon="0.05"),
        ):
            with pytest.warns(TakesMore, match=more):
                buy()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                buy()  # bought already
