"""Offers: prices to the last digit, sensitivities by brute force, errors from public facts, no data at all."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.accounting.accountants import failures
from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import zero
from tacit.core.errors import BadParameter, BadQuestion, BudgetExceeded, Refused
from tacit.core.exact import outward
from tacit.engines.rows.reference import Reference
from tacit.mechanisms import Gaussian, IndependentQuantiles, KeySelection, Laplace, Quantiles
from tacit.query.plan.accuracy import level
from tacit.query.plan.compiler import FINEST, KEYS, MOST_CELLS, compiled, plan
from tacit.query.plan.estimators import NoisyMeasure
from tacit.query.plan.offer import Offer, offer
from tacit.query.plan.plan import BinCounts, RowCount, Total, UnitCount
from tacit.query.python.column_expressions import case
from tacit.query.python.table import Table
from tacit.query.schema.schema import Schema
from tacit.query.select.aggregates import (
    count,
    mean,
    median,
    mode,
    quantile,
    stddev,
    sum_,
    units,
    variance,
)
from tacit.query.select.outputs import Comparison, OutputValue, ReleasedColumn
from tacit.query.select.query import Query

COLUMNS = {
    "age": {"type": "integer", "lower": 20, "upper": 60},
    "spend": {"type": "real", "lower": 0, "upper": 500, "grid": 0.25, "total": [0, 1000]},
    "debt": {"type": "integer", "lower": -3, "upper": 5},
    "wide": {"type": "integer", "lower": 0, "upper": 10**9},
    "region": {"type": "category", "values": ["north", "south", "west"]},
    "free": {"type": "real"},
    "note": {"type": "text"},
}
PURE, UNION, ZCDP = Budget(epsilon=1), Budget(epsilon=1, delta="1e-9"), Budget(rho="0.1", delta="1e-6")


def table(data: Any = (), rows: int = 3, **more: Any) -> Table:
    return Table(list(data), {"table": {"name": "people", "unit": "id", "rows": rows, **more}, "columns": COLUMNS})


PEOPLE = table(size=10_000)
SCHEMAS: dict[str, Schema] = {"people": PEOPLE.schema}
EVERYTHING = PEOPLE.group_by("region").aggregate(
    n=count(),
    u=units("debt"),
    s=sum_("spend"),
    m=mean("age"),
    v=variance("debt"),
    d=stddev("wide"),
    q=quantile("age", "0.25"),
    h=median("age"),
    top=mode("debt"),
)


def made(question: Any, budget: Budget = PURE, **asked: Any) -> Offer:
    return offer(question.query, budget, schemas=SCHEMAS, **asked)


# What is measured


def measures(question: Any) -> list[Any]:
    return list(plan(question.query, SCHEMAS).measures)


def test_a_mean_takes_the_middle_from_each_value() -> None:
    p = plan(PEOPLE.mean("age").query, SCHEMAS)
    rows, total = p.measures
    assert isinstance(rows, RowCount) and isinstance(total, Total)
    assert (total.expression.domain.lower, total.expression.domain.upper) == (-20, 20)
    assert p.distance(total).l1 == 3 * 20  # of 60 a row without the middle


def test_the_squares_of_a_variance_are_centred_twice() -> None:
    p = plan(PEOPLE.variance("age").query, SCHEMAS)
    assert sorted(p.distance(m).l1 for m in p.measures) == [3, 60, 3 * 200]  # 20^2 = 400, less its half


def test_wide_squares_are_taken_of_coarse_values() -> None:
    totals = [m.expression.domain for m in measures(PEOPLE.variance("wide")) if isinstance(m, Total)]
    assert len(totals) == 2 and all(max(-d.lower, d.upper) <= 1 << 29 for d in totals)


def test_equal_measures_are_taken_once() -> None:
    shared = PEOPLE.aggregate(m=mean("age"), v=variance("age"), d=stddev("age"), n=count("age"))
    assert len(measures(shared)) == 3
    assert len(measures(PEOPLE.aggregate(s=sum_("debt"), m=mean("debt")))) == 2  # the sum serves the mean
    assert len(measures(PEOPLE.aggregate(s=sum_("age"), m=mean("age")))) == 3  # it would be three times as wide
    assert len(measures(PEOPLE.aggregate(s=sum_("spend"), m=mean("spend")))) == 3  # it is clamped for each unit
    assert len(measures(PEOPLE.aggregate(a=quantile("age", "0.1"), b=median("age"), c=mode("age")))) == 2


def test_where_a_unit_has_one_row_rows_are_units() -> None:
    one = table(rows=1)
    assert measures(one.aggregate(n=count(), u=units())) == [RowCount()]
    assert measures(PEOPLE.aggregate(n=count(), u=units())) == [RowCount(), UnitCount()]


def test_the_counts_by_which_keys_are_chosen_are_free() -> None:
    several = compiled(PEOPLE.group_by("note", private=True).aggregate(n=count(), u=units()).query, SCHEMAS)
    assert several.plan.measures == (RowCount(),)
    assert [recipe.parts for _, recipe in several.recipes] == [(0,), (KEYS,)]
    single = compiled(table(rows=1).group_by("note", private=True).aggregate(n=count(), u=units()).query)
    assert single.plan.measures == ()
    assert [recipe.parts for _, recipe in single.recipes] == [(KEYS,), (KEYS,)]


def test_a_total_is_clamped_as_the_schema_says() -> None:
    (total,) = measures(PEOPLE.where(PEOPLE.age >= 30).sum("spend"))
    assert total.per_unit == (0, 4000)
    assert measures(PEOPLE.sum(PEOPLE.spend * 2))[0].per_unit is None
    renamed = PEOPLE.derive(money=PEOPLE.spend, spend=PEOPLE.age)
    assert measures(renamed.sum("money"))[0].per_unit == (0, 4000)
    assert measures(renamed.sum("spend"))[0].per_unit is None


@pytest.mark.parametrize(
    ("name", "q", "rows", "truth"),
    [
        ("debt", "0.5", {-1: 100}, -1),
        ("debt", "0.01", {-1: 5000}, -1),
        ("debt", "0.58", {-3: 600, 5: 400}, -3),
        ("spend", "0.5", {0: 600, 1234: 400}, 0),
        ("spend", "0.99", {77: 5000}, 77 / 4),
        ("wide", "0.5", {5 * 10**8: 1000}, 5 * 10**8),
    ],
)
def test_a_value_that_many_rows_share_is_found(name: str, q: str, rows: dict[int, int], truth: float) -> None:
    """By the exact law of what an offer would draw, with the middle of a cell where that has several values."""
    told = made(PEOPLE.quantile(name, q), epsilon=6)
    (step,), ((_, recipe),), (histogram,) = told.steps, told.recipes, told.plan.measures
    assert isinstance(histogram, BinCounts) and len(histogram.edges) - 1 == step.mechanism.cells  # type: ignore[attr-defined]
    x = np.zeros(len(histogram.edges) - 1, int)
    for value, n in rows.items():
        x[np.searchsorted(histogram.edges, value, side="right") - 1] += n
    law = step.mechanism.law(x)
    (y,) = [y for y in law.support(0.0) if law.mass(y) > 0.99]
    (value,) = recipe.estimate([NoisyMeasure(np.array([y]))]).tolist()
    assert abs(truth - value) <= recipe.coarse / 2
    assert step.mechanism.loss().epsilon() == 6
    away = f"at most {step.mechanism.error(beta='0.05'):g} rows away from rank {float(q):g}"
    cell = f"the middle of a cell {recipe.coarse} wide, " if recipe.coarse > 1 else ""
    assert told.errors[0].text == cell + away


def test_two_quantiles_are_chosen_in_the_way_that_promises_more() -> None:
    """Bisection saves no level there; where it does, it is taken: nearer to the ranks, whatever its bound says."""
    two = made(PEOPLE.aggregate(a=quantile("age", "0.1"), b=median("age")), epsilon=1)
    (step,) = two.steps
    assert isinstance(step.mechanism, IndependentQuantiles) and two.loss.epsilon() == 1
    assert [name for name, _ in step.considered] == ["IndependentQuantiles", "Quantiles"]
    assert "IndependentQuantiles" in two.explain() and "Quantiles" in two.explain() and "one by one" in two.explain()
    both = PEOPLE.aggregate(a=quantile("age", "0.1"), b=median("age"), c=quantile("age", "0.9"))
    (step,) = made(both, epsilon=1).steps
    assert type(step.mechanism) is Quantiles and len(step.considered) == 1


def test_noise_is_for_the_values_that_conditions_leave() -> None:
    few = PEOPLE.where((PEOPLE.spend < 20) & (PEOPLE.age > 50))
    (total,) = measures(few.sum("spend"))
    assert (total.expression.domain.lower, total.expression.domain.upper) == (0, 79)
    assert total.per_unit == (0, 4000)
    (_, centred), ((_, recipe),) = measures(few.mean("age")), made(few.mean("age"), epsilon=1).recipes
    assert (centred.expression.domain.lower, centred.expression.domain.upper) == (-4, 5)
    assert recipe.ends == (51, 60)
    (histogram,) = measures(few.median("age"))
    assert histogram.edges == tuple(range(51, 62))
    nobody = PEOPLE.where(PEOPLE.age > 60).mean("age")
    assert made(nobody, epsilon=1).recipes[0][1].ends == (20, 60)


def test_what_conditions_leave_does_not_depend_on_the_order_of_aggregates() -> None:
    """Though reading them takes so long that not all of it may be done."""
    columns = {name: {"type": "integer", "lower": 0, "upper": 2500} for name in "ab"}
    squares = Table([], {"table": {"name": "squares", "unit": "row"}, "columns": columns})
    few = squares.where((squares.a * squares.a < 100) & (squares.b * squares.b < 100))
    both = [sum_("a"), sum_("b")]
    assert len({plan(few.aggregate(*asked).query) for asked in (both, both[::-1])}) == 1


def test_histograms_are_of_moderate_size_and_cover_the_range() -> None:
    for name in ("age", "wide", "debt"):
        (histogram,) = measures(PEOPLE.median(name))
        assert isinstance(histogram, BinCounts)
        steps = {b - a for a, b in itertools.pairwise(histogram.edges)}
        assert len(steps) == 1 and len(histogram.edges) - 1 <= FINEST
        d = histogram.expression.domain
        assert histogram.edges[0] == d.lower and histogram.edges[-2] <= d.upper < histogram.edges[-1]


def test_histograms_of_all_groups_together_are_of_moderate_size() -> None:
    groups = PEOPLE.group_by(g=PEOPLE.wide // 1001)
    for asked in (groups.mode("age"), groups.top("age", 2), groups.aggregate(a=median("age"), b=median("wide"))):
        with pytest.raises(BadQuestion, match="999001 groups, more than 16777216 in all"):
            made(asked, epsilon=1)
    made(groups.median("age"), epsilon=1)
    p = plan(PEOPLE.group_by(g=PEOPLE.wide // 10**5).aggregate(a=median("wide"), b=median("spend")).query, SCHEMAS)
    bins = [len(m.edges) - 1 for m in p.measures if isinstance(m, BinCounts)]
    assert p.cells is not None and MOST_CELLS / 2 < p.cells * sum(bins) <= MOST_CELLS


def test_the_finer_grid_of_a_quotient_adds_no_noise() -> None:
    told = made(PEOPLE.sum(PEOPLE.age / PEOPLE.age), epsilon=1)  # at most 3, in three rows
    assert told.recipes[0][1].own <= Fraction(3, 2**18)
    assert told.errors[0].error == pytest.approx(9 * math.log(20), rel=1e-5)


@pytest.mark.parametrize(
    "ask", [lambda t: t.sum("free"), lambda t: t.quantile("age", 1), lambda t: t.quantile("age", 0)]
)
def test_what_cannot_be_measured_is_refused(ask: Any) -> None:
    with pytest.raises(BadQuestion):
        plan(ask(PEOPLE).query, SCHEMAS)


cells = st.fixed_dictionaries(
    {
        "id": st.integers(1, 3),
        "age": st.sampled_from([20, 41, 60, None]),
        "spend": st.sampled_from([0.0, 333.25, 500.0]),
        "debt": st.integers(-3, 5),
        "wide": st.sampled_from([0, 10**9, 5 * 10**8]),
        "region": st.sampled_from(["north", "south", None]),
    }
)


@settings(max_examples=60)
@given(data=st.lists(cells, max_size=10), groups=st.sampled_from([None, 1]), grouped=st.booleans())
def test_one_unit_moves_each_measure_by_its_distance_at_most(data: Any, groups: int | None, grouped: bool) -> None:
    """The distance of each measure, recomputed from the answers of the reference engine on neighbouring tables."""
    asked = dict(EVERYTHING.query.aggregates)
    facts: Any = {} if groups is None else {"groups": groups}
    told = table(data, rows=2, **facts)
    question = Query(
        told.relation, EVERYTHING.query.keys if grouped else (), tuple(asked.items()), (), groups if grouped else None
    )
    p = plan(question, SCHEMAS)

    def answers(rows: Any) -> Any:
        with Reference() as engine:
            engine.register(table(rows, rows=2, **facts), "00" * 16)
            return [np.asarray(a, object) for a in engine.answer(p).cells]

    whole = answers(data)
    for unit in {row["id"] for row in data}:
        without = answers([row for row in data if row["id"] != unit])
        for measure, a, b in zip(p.measures, whole, without, strict=True):
            moves = [abs(int(v)) for v in (a - b).ravel()]
            d = p.distance(measure)
            assert sum(moves) <= d.l1
            assert sum(v * v for v in moves) <= d.l2_squared
            assert max(moves, default=0) <= d.linf
            assert d.l0 is not None and sum(v > 0 for v in moves) <= d.l0


# What it costs


def test_shares_are_equal_and_their_sum_is_what_was_asked() -> None:
    asked = PEOPLE.group_by("region").aggregate(n=count(), s=sum_("spend"), m=mean("age"))
    pure = made(asked, epsilon="0.1")
    assert [step.mechanism.loss().epsilon() for step in pure.steps] == [0.025] * 4
    assert pure.price == Fraction(1, 10) == sum(Fraction(a.pure()) * n for a, n in pure.loss.terms.items())
    zcdp = made(asked, ZCDP, rho="0.01")
    assert zcdp.price == Fraction(1, 100)
    assert all(isinstance(step.mechanism, Gaussian) for step in zcdp.steps)


@given(epsilon=st.fractions(Fraction(1, 100), 3), parts=st.integers(1, 4))
def test_a_pure_price_is_met_to_the_last_digit(epsilon: Fraction, parts: int) -> None:
    aggregates = [count(), sum_("spend"), median("age"), mode("debt")][:parts]
    told = made(PEOPLE.aggregate(**{f"a{i}": a for i, a in enumerate(aggregates)}), epsilon=epsilon)
    assert told.price == outward(epsilon, PURE.grid)


@pytest.mark.parametrize("budget", [PURE, UNION, ZCDP, Budget(epsilon=2, renyi_order=8)], ids=repr)
def test_a_price_is_never_more_than_its_share(budget: Budget) -> None:
    told, most = made(EVERYTHING, budget, share="0.05"), budget.limit / 20
    assert most * (1 - Fraction(1, 10**9)) < told.price <= most
    assert budget.spent(told.loss) == told.price


def test_of_two_currencies_the_one_with_the_smaller_errors_is_taken() -> None:
    many = made(EVERYTHING, UNION, share="0.1")
    assert any(isinstance(step.mechanism, Gaussian) for step in many.steps)
    one = made(PEOPLE.count(), UNION, share="0.1")
    assert [type(step.mechanism) for step in one.steps] == [Laplace]
    assert one.price == many.price.limit_denominator(10**6) == Fraction(1, 10)  # type: ignore[union-attr]


def test_a_sum_that_is_spoilt_for_good_buys_nothing() -> None:
    """Once Gaussian noise was bought there is no pure sum left, and a price in it would not be what is charged."""
    spent = Gaussian(rho="0.001").loss()
    told = made(PEOPLE.count(), UNION, share="0.1", spent=(spent,))
    assert told.price == UNION.price(told.loss, spent) <= Fraction(1, 10)


def test_a_change_of_currency_is_not_made_where_it_costs_more_than_asked() -> None:
    """After pure prices, Gaussian noise would be paid in the other sum, of which more is gone."""
    spent = 5 * Laplace(epsilon="0.1").loss()
    told = made(EVERYTHING, UNION, share="0.1", spent=(spent,))
    assert Fraction(99, 1000) < told.price <= Fraction(1, 10)
    assert UNION.price(made(EVERYTHING, UNION, share="0.1").loss, spent) > Fraction(1, 10)


def test_no_part_pays_more_than_was_asked() -> None:
    """One part was bought with Gaussian noise and another with Laplace noise: each has another sum that is dear."""
    parts = (Gaussian(rho="0.001").loss(), 5 * Laplace(epsilon="0.1").loss(), zero)
    for question in (EVERYTHING, PEOPLE.count()):
        told = made(question, UNION, share="0.4", spent=parts)
        assert all(UNION.price(told.loss, spent) <= Fraction(4, 10) for spent in parts)
        with pytest.raises(Refused, match="Ask with a larger price"):
            made(question, UNION, share="0.1", spent=parts)


def test_prices_in_other_currencies() -> None:
    with pytest.raises(Refused, match="Ask with epsilon"):
        made(PEOPLE.count(), PURE, rho="0.1")
    pure_in_zcdp = made(PEOPLE.count(), ZCDP, epsilon="0.1")
    assert [type(step.mechanism) for step in pure_in_zcdp.steps] == [Laplace]
    assert pure_in_zcdp.loss.epsilon() == 0.1
    assert pure_in_zcdp.price == ZCDP.spent(pure_in_zcdp.loss)
    rho_in_union = made(PEOPLE.count(), UNION, rho="0.001")
    assert UNION.spent(rho_in_union.loss) == rho_in_union.price < math.inf
    assert sum(atom.concentrated() for atom in rho_in_union.loss.terms) == pytest.approx(0.001)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 0},
        {"error": -1},
        {"epsilon": 1, "beta": 2},
        {"epsilon": 1, "beta": "1e-301"},
    ],
)
def test_bad_prices_are_refused(asked: Any) -> None:
    with pytest.raises(BadParameter):
        made(PEOPLE.count(), **asked)


def test_keys_that_are_chosen_need_a_delta() -> None:
    question = PEOPLE.group_by("note", private=True).aggregate(n=count(), u=units())
    with pytest.raises(BadQuestion, match="delta"):
        made(question, PURE, epsilon="0.1")
    told = made(question, ZCDP, rho="0.01")
    assert isinstance(told.steps[-1].mechanism, KeySelection)
    assert told.price == Fraction(1, 100)  # of which the keys have their share
    assert 0 < failures(told.loss) <= ZCDP.failures / 10  # a tenth of the budget, and so of its failures
    assert told.errors[0].text == f"shown if more than {told.steps[-1].mechanism.error(beta='0.05'):g} units have it"
    more = made(question, ZCDP, rho="0.01", delta="9e-7")
    assert failures(told.loss) < failures(more.loss) <= Fraction(9, 10**7)
    with pytest.raises(BudgetExceeded, match="smaller delta="):
        made(question, ZCDP, rho="0.01", delta="1e-3")


def test_keys_take_no_more_of_an_allowances_failures_than_of_the_allowance() -> None:
    question = PEOPLE.group_by("note", private=True).aggregate(n=count()).query

    def failing(**allowance: Any) -> Fraction:
        return failures(offer(question, ZCDP, allowance=(Budget(**allowance), [zero]), rho="0.01").loss)

    assert 0 < failing(rho="0.04", delta="1e-8") <= Fraction("1e-8") / 4  # a quarter of the allowance
    assert failing(rho="0.04", delta="1e-6") == failures(offer(question, ZCDP, rho="0.01").loss)
    with pytest.raises(BadQuestion, match="an allowance"):
        failing(rho="0.04")


@pytest.mark.parametrize(
    "ask", [quantile("debt", "0.25"), median("debt"), mode("debt")], ids=["quarter", "median", "mode"]
)
def test_choices_in_all_cells_cost_what_one_cell_does(ask: Any) -> None:
    """By their exact laws: one unit's three rows, however they are shared out among two cells."""
    told = made(PEOPLE.group_by("region").aggregate(a=ask), epsilon=1)
    m = told.steps[0].mechanism
    base = np.array([0, 3, 2, 0, 0, 1, 0, 0, 0])

    def worst(own: Any) -> float:
        p, q = m.law(base), m.law(base + own)
        return max(abs(math.log(p.mass(y) / q.mass(y))) for y in p.support(0.0))

    for first, second in (((3, 0), (0, 0)), ((2, 0), (0, 1)), ((1, 1), (0, 1))):
        moved = [np.eye(9, dtype=int)[1] * a + np.eye(9, dtype=int)[7] * b for a, b in (first, second)]
        assert sum(map(worst, moved)) <= told.loss.epsilon() * (1 + 1e-9)


# How accurate it is


@pytest.mark.parametrize("budget", [PURE, UNION, ZCDP], ids=repr)
def test_the_least_price_for_an_error(budget: Budget) -> None:
    question = PEOPLE.group_by("region").aggregate(n=count(), s=sum_("debt"))
    told = made(question, budget, error=500)
    errors = [a.error for a in told.errors if a.name in ("n", "s")]
    assert max(errors) <= 500  # type: ignore[type-var]
    less = made(question, budget, share=told.price / budget.limit * Fraction(99, 100))  # type: ignore[operator]
    assert max(a.error for a in less.errors if a.name in ("n", "s")) > 500  # type: ignore[type-var]
    for rows in (PEOPLE, PEOPLE.where(PEOPLE.age > 30)):
        counts, sums = rows.group_by("region").aggregate(n=count()), rows.group_by("region").aggregate(s=sum_("debt"))
        for asked, most in ((counts, 500), (sums, 2500)):  # of a size of 10000, where one row adds at most 5 to the sum
            assert made(asked, budget, relative="0.05").errors == made(asked, budget, error=most).errors


def test_errors_that_cannot_be_asked_for() -> None:
    with pytest.raises(BadQuestion):
        made(PEOPLE.median("age"), error=5)
    for rows, schemas in ((table(), {}), (PEOPLE.per_unit(n=count()), SCHEMAS)):
        with pytest.raises(BadQuestion, match="A relative error needs the size of the table"):
            offer(rows.count().query, PURE, schemas=schemas, relative="0.1")
    for price in ("1e25", "1e-25"):
        with pytest.raises(Refused, match=r"^No noise can be drawn at this price for values of so many steps"):
            made(PEOPLE.count(), epsilon=price)
    with pytest.raises(Refused, match="Ask for a larger error"):
        made(PEOPLE.sum("wide"), error="0.001")
    chosen = PEOPLE.group_by("note", private=True).aggregate(u=units())
    with pytest.raises(BadQuestion, match="delta"):
        made(chosen, PURE, error=50)
    told = made(chosen, ZCDP, error=50)
    assert told.errors[1].error is not None and 45 < told.errors[1].error <= 50
    least = told.steps[-1].mechanism.threshold + told.errors[1].error  # type: ignore[attr-defined]
    assert told.errors[1].text.endswith(f" where it is above {least:g}, else from 1 up")


def test_what_cannot_be_shown_is_not_sold() -> None:
    wrong = replace(PEOPLE.count().query, having=Comparison("<", OutputValue("10"), ReleasedColumn("count")))
    with pytest.raises(BadQuestion, match="without quotes"):
        offer(wrong, PURE, epsilon=1)


def test_an_error_is_that_of_the_noise() -> None:
    told = made(PEOPLE.aggregate(n=count(), s=sum_("spend")), epsilon=1)
    (n, s), (rows, total) = told.errors, told.steps
    assert n.error == rows.mechanism.error(beta="0.05")
    assert s.error == total.mechanism.error(beta="0.05") / 4  # steps of a quarter
    assert total.mechanism == Laplace(epsilon="0.5", sensitivity=told.plan.distance(told.plan.measures[1]))


def test_the_error_of_a_mean_is_that_of_its_parts_over_the_fewest_rows() -> None:
    """Values lie within 20 of the middle, 40: a count that is off by f moves the total about it by 20 f."""
    told = made(PEOPLE.mean("age"), epsilon="0.5")
    f, e = (step.mechanism.error(beta=level(Fraction("0.05"), 2)) for step in told.steps)
    assert told.errors[0].error == pytest.approx((e + 20 * f) / (10_000 - f))
    told = made(PEOPLE.variance("age"), epsilon=1)
    f, e, q = (told.steps[i].mechanism.error(beta=level(Fraction("0.05"), 3)) for i in told.recipes[0][1].parts)
    assert told.errors[0].error == pytest.approx((q + 200 * f + 2 * 20 * (e + 20 * f)) / (10_000 - f))


def test_a_relative_error_is_of_the_largest_that_can_be_added_whatever_its_sign() -> None:
    columns = {
        "loss": {"type": "integer", "lower": -8, "upper": 2},
        "gain": {"type": "integer", "lower": -2, "upper": 8},
    }
    t = Table([], {"table": {"name": "people", "unit": "id", "rows": 3, "size": 1000}, "columns": columns})
    prices = [offer(t.sum(x).query, PURE, schemas={"people": t.schema}, relative="0.05").price for x in columns]
    assert prices[0] == prices[1]


def test_the_price_is_that_of_the_part_where_it_costs_most() -> None:
    spent = (zero, Gaussian(rho="0.001").loss())
    told = made(PEOPLE.count(), UNION, epsilon="0.5", spent=spent)
    few, most = sorted(UNION.price(told.loss, before) for before in spent)
    assert few < most == told.price


def test_the_error_of_a_mean_needs_a_public_size() -> None:
    known, unknown = made(PEOPLE.mean("age"), epsilon=1), offer(table().mean("age").query, PURE, epsilon=1)
    assert known.errors[0].error is not None and 0 < known.errors[0].error < 1
    assert unknown.errors[0].error is None and "/ (count - " in unknown.errors[0].text
    few = PEOPLE.where(PEOPLE.age > 30)
    assert made(few.mean("age"), epsilon=1).errors[0].error is None  # how many are left is not public
    with pytest.raises(BadQuestion, match="for means of columns alone if the schema has a size"):
        made(few.mean("age"), error="0.5")


def test_an_error_is_that_of_counts_and_sums_where_there_are_any() -> None:
    """It is in rows there, and a mean or a variance is not."""
    beside = made(PEOPLE.aggregate(n=count(), v=variance("wide")), error=50)
    assert beside.errors[0].error is not None and 49 < beside.errors[0].error <= 50
    for some in (PEOPLE.mean(case((PEOPLE.debt > 3, PEOPLE.age))), PEOPLE.mean(PEOPLE.age + 1)):
        with pytest.raises(BadQuestion, match="means of columns alone"):  # of how many rows is not public
            made(some, error=1)


@pytest.mark.parametrize("budget", [Budget(epsilon=10), Budget(epsilon=10, delta="1e-9"), Budget(rho=10, delta="1e-6")])
@pytest.mark.parametrize("question", [PEOPLE.mean("age"), PEOPLE.group_by("region").variance("debt")])
def test_a_mean_can_be_asked_for_by_its_error(question: Any, budget: Budget) -> None:
    told = made(question, budget, error="0.5")
    (error,) = [e.error for e in told.errors if e.error]
    assert 0.45 < error <= 0.5
    less = Fraction(told.price) / budget.limit * Fraction(99, 100)
    (cheaper,) = [e.error for e in made(question, budget, share=less).errors if e.error]
    assert cheaper > 0.5


def test_an_offer_explains_itself() -> None:
    told = made(EVERYTHING, UNION, share="0.1")
    text = told.explain()
    assert "Laplace" in text and "Gaussian" in text and "rows away from rank" in text
    assert "0.95" in str(told)
    both = PEOPLE.aggregate(n=count(), s=sum_("debt"))
    ratio = made(both.select(each=both["s"] / both["n"]), epsilon=1)
    assert ratio.errors[0].text == "follows from n +-18, s +-90"


@pytest.mark.parametrize("delta", ["1e-9", "1e-300"])
def test_an_offer_of_many_sums_at_a_delta_takes_no_more_than_two_seconds(delta: str) -> None:
    asked = PEOPLE.aggregate(**{f"s{k}": sum_(PEOPLE.spend + k) for k in range(200)})
    start = time.process_time()
    told = str(made(asked, UNION, epsilon="0.1", delta=delta))
    assert time.process_time() - start < 2 and "differentially private" in told
