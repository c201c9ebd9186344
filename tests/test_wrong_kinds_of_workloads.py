"""Whatever a public function is given, what it refuses it refuses in our own words."""

import datetime
import math

import numpy as np
import pytest
from curator.test_curator import ROWS, SCHEMA

import tacit
from tacit import mechanisms
from tacit.core.errors import BadParameter, BadQuestion, TacitError
from tacit.core.parameters import instance, instances
from tacit.core.randomness import SYSTEM
from tacit.query.python.column_expressions import ColumnExpression, case
from tacit.query.relation import build
from tacit.workloads import (
    METHODS,
    Domain,
    Histogram,
    Marginals,
    Price,
    Rows,
    Stack,
    from_matrix,
    marginals,
    method,
    plan,
    predicates,
    prefixes,
    ranges,
)
from tacit.workloads import sample_complexity as closed
from tacit.workloads.comparison import compare, generated
from tacit.workloads.methods.weights import pmw_plans as plans
from tacit.workloads.methods.weights.pmw import PrivateMultiplicativeWeights
from tacit.workloads.models.multiplicative_weights import LinearQuery, least_gap, most_updates
from tacit.workloads.textbook import textbook

WRONG = ["x", b"x", None, True, 0, -1, 1.5, math.nan, math.inf, 1j, 10**400, "1e400", "1e-400", np.int64(-1)]
WRONG += [[], (), {}, [None], ["x"], [[1], [2, 3]], [-1], [99], object(), int]
WRONG += [np.array([1, 2]), np.array([math.nan]), np.array([object()]), np.zeros((2, 2, 2)), lambda *_: None]

DOMAIN, LINE = Domain.of({"a": 3, "b": ["x", "y"]}), Domain.of({"a": 8})
ONES, SPANS, PRICE = marginals(DOMAIN, k=1), ranges(LINE), Price.of(epsilon=1)
RELEASED = method("histogram").release(ONES, Histogram(DOMAIN, np.arange(6)), PRICE)
PEOPLE = tacit.Table(ROWS, SCHEMA)
DAY = ColumnExpression(build.constant(datetime.date(2020, 1, 1)))
COUNTS = PEOPLE.group_by("year").count()


class Call:
    """A call that is right as it stands."""

    def __init__(self, call, *given, **named):
        self.call, self.given, self.named = call, given, named

    def others(self):
        """The same with each argument replaced by each that may be wrong."""
        for wrong in WRONG:
            for i in range(len(self.given)):
                yield (*self.given[:i], wrong, *self.given[i + 1 :]), self.named
            for name in self.named:
                yield self.given, {**self.named, name: wrong}

    def survives(self):
        self.call(*self.given, **self.named)
        for given, named in self.others():
            try:
                self.call(*given, **named)
            except TacitError:
                continue
            except Exception as error:
                raise AssertionError(f"{given}, {named}: {type(error).__name__}") from error


CALLS = {
    "domain": Call(Domain, (("a", (1, 2)),)),
    "domain of": Call(Domain.of, {"a": 3}),
    "domain of values": Call(lambda values: Domain.of({"a": values}), 3),
    "axes": Call(DOMAIN.axes, ["a"]),
    "project": Call(DOMAIN.project, ["a"]),
    "cells": Call(DOMAIN.cells, (0,)),
    "laid out": Call(DOMAIN.laid_out, (0,)),
    "code": Call(DOMAIN.code, "a", 1),
    "marginals": Call(marginals, DOMAIN, k=1),
    "marginals on subsets": Call(marginals, DOMAIN, subsets=[["a"]], weights=[1]),
    "marginals on axes": Call(Marginals, DOMAIN, [(0,)], [1]),
    "marginals on one": Call(lambda axes: Marginals(DOMAIN, [axes]), (0,)),
    "prefixes": Call(prefixes, DOMAIN, "a", weights=[1, 1, 1]),
    "ranges": Call(ranges, DOMAIN, "a", low=[0], high=[1], weights=[1]),
    "boxes": Call(ranges, DOMAIN, "a", "b"),
    "predicates": Call(predicates, DOMAIN, [{"a": 1}], weights=[1]),
    "predicate": Call(lambda condition: predicates(DOMAIN, [{"a": condition}]), 1),
    "matrix": Call(from_matrix, DOMAIN, np.ones((1, 6)), weights=[1]),
    "stack": Call(Stack, [ONES, ONES], weights=[1, 1]),
    "sum of workloads": Call(lambda other: ONES + other, ONES),
    "answer": Call(ONES.answer, Histogram(DOMAIN, np.arange(6))),
    "histogram": Call(Histogram, DOMAIN, np.arange(6), PRICE.unit),
    "rows": Call(Rows, DOMAIN, np.zeros((2, 2), int), PRICE.unit),
    "price": Call(Price, epsilon=1, unit=PRICE.unit),
    "price in epsilon": Call(Price.of, epsilon=1, delta="1e-9", unit=PRICE.unit),
    "price in rho": Call(Price.of, rho=1),
    "part": Call(PRICE.part, 1),
    "split": Call(PRICE.split, [1, 2]),
    "noise": Call(PRICE.noise, PRICE.unit, 1),
    "method": Call(method, "queries", METHODS),
    "plan": Call(plan, ONES, 100, PRICE, [method("queries")], "0.05", about=None, ways=[PRICE]),
    "row of a plan": Call(plan(ONES, 100, PRICE).row, "auto"),
    "query": Call(RELEASED.query, ONES),
    "synthetic": Call(RELEASED.synthetic, 3, SYSTEM),
    "sample size": Call(closed.sample_size, method("queries"), ONES, PRICE, "0.1", "0.05"),
    "price for": Call(closed.price_for, method("queries"), ONES, 100, PRICE, alpha="0.1", beta="0.05"),
    "Laplace on queries": Call(closed.laplace_on_queries, 10, 100, 1, "0.05"),
    "Gaussian on queries": Call(closed.gaussian_on_queries, 10, 100, 1, "0.05"),
    "Laplace on a histogram": Call(closed.laplace_on_histogram, 64, 10, 100, 1, "0.05"),
    "randomized response": Call(closed.randomized_response, 10, 100, 1, "0.05"),
    "multiplicative weights": Call(closed.multiplicative_weights, 64, 10, 100, 1, "0.05"),
    "textbook": Call(textbook, 10, 64, 1000, 1),
    "generated": Call(generated, DOMAIN, 10),
    "compare": Call(compare, [ONES], [9], [PRICE], names=["x"], methods=[method("queries")], measured=True, beta="0.1"),
    "proven": Call(plans.proven, DOMAIN, 1000, PRICE, questions=10, beta="0.05", grid=1),
    "practical": Call(plans.practical, DOMAIN, 1000, PRICE, updates=4, questions=10, grid=1),
    "classical": Call(plans.classical, DOMAIN, 10**8, PRICE, questions=10, beta="0.05", grid=1),
    "life": Call(PrivateMultiplicativeWeights, DOMAIN, 1000, PRICE, updates=4, threshold="0.1", questions=10, grid=1),
    "question": Call(LinearQuery, (((0,), (0, 1, 1)),), 1),
    "question where": Call(LinearQuery.where, DOMAIN, {"a": 1}),
    "question on cells": Call(LinearQuery.on_cells, DOMAIN, np.ones(6)),
    "most updates": Call(most_updates, 64, "0.1"),
    "least gap": Call(least_gap, 64, 3),
    "exponential": Call(mechanisms.Exponential, rho=1, sensitivity=1),
    "aggregate": Call(PEOPLE.aggregate, tacit.count()),
    "named aggregate": Call(PEOPLE.aggregate, n=tacit.count()),
    "column of an answer": Call(COUNTS.__getitem__, "count"),
    "round": Call(PEOPLE.age.round, 1),
    "part of a date": Call(DAY.part, "year"),
    "cut of a date": Call(DAY.trunc, "month"),
    "cast": Call(DAY.cast, "timestamp"),
    "case": Call(case, (PEOPLE.age < 18, 1)),
    "private keys": Call(lambda private: PEOPLE.group_by("year", private=private), False),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_wrong_kind_is_refused_in_our_own_words(call):
    call.survives()


@pytest.mark.parametrize(
    "workload", [ONES, SPANS, predicates(DOMAIN, [{"a": 1}]), from_matrix(DOMAIN, np.ones((1, 6)))]
)
def test_a_query_that_is_not_there_is_not_described(workload):
    for asked in (workload.label, workload.vector):
        Call(asked, 0).survives()
        for wrong in (workload.queries, -1, 99, True, None):
            with pytest.raises(BadParameter, match="query"):
                asked(wrong)


@pytest.mark.parametrize("way", METHODS, ids=lambda way: way.name)
def test_every_method_reads_what_it_is_given(way):
    unit = tacit.SUBSTITUTE.histogram() if way.name == "local" else tacit.ADD_REMOVE.histogram()
    workload, price = next(
        (w, p) for w in (ONES, SPANS) for p in [Price.of(epsilon=1, unit=unit)] if not way.refusal(w, 100, p)
    )
    data = Histogram(workload.domain, np.arange(workload.domain.size), unit)
    Call(way.refusal, workload, 100, price).survives()
    Call(way.predict, workload, 100, price, "0.05").survives()
    Call(way.loss, workload, 100, price).survives()
    for wrong in (-1, 0, 1.5, math.nan, math.inf, True, "x", np.array([1, 2])):
        for asked in (way.refusal, way.predict, way.loss):
            with pytest.raises(BadParameter, match="n must be a whole number"):
                asked(workload, wrong, price)
    right = {"workload": workload, "data": data, "price": price, "source": SYSTEM, "n": 100, "beta": "0.05"}
    for name in right:
        for wrong in (-1, "x", object(), np.array([1, 2]), [None]):
            with pytest.raises(TacitError):
                way.release(**{**right, name: wrong})
    if way.needs_n:
        for asked in (way.predict, way.loss):
            with pytest.raises(BadQuestion, match="pass n"):
                asked(workload, None, price)


@pytest.mark.parametrize(
    "accepted",
    [
        lambda: Domain.of({"a": "abc"}),
        lambda: Domain.of({"a": b"abc"}),
        lambda: Domain.of({"a": True}),
        lambda: Domain((("a", 3),)),
        lambda: Marginals(DOMAIN, [None]),
        lambda: Marginals(DOMAIN, [(1, 0)]),
        lambda: Marginals(DOMAIN, [(-1,)]),
        lambda: Histogram(DOMAIN, np.arange(6), distance="x"),
        lambda: Rows(DOMAIN, np.zeros((2, 2), int), distance=[]),
        lambda: Price.of(epsilon=1, unit="x"),
        lambda: Price.of(epsilon=1, unit=0),
        lambda: PRICE.split([]),
        lambda: PRICE.part(True),
        lambda: PrivateMultiplicativeWeights(np.zeros(6), 1000, PRICE, updates=4, threshold="0.1"),
        lambda: plan(ONES, 100, PRICE, []),
        lambda: plan(ONES, 100, PRICE, ways=0),
        lambda: compare(ONES, [9], [PRICE], names="x"),
        lambda: compare(ONES, [9], [PRICE], measured=1),
    ],
)
def test_nothing_wrong_is_taken_for_something_else(accepted):
    with pytest.raises(BadParameter):
        accepted()


def test_the_type_of_what_is_wrong_is_told_and_never_its_value():
    with pytest.raises(BadParameter, match="domain must be a Domain; got 'dict'") as error:
        instance("domain", {"secret": 7}, Domain)
    assert "secret" not in str(error.value)
    with pytest.raises(BadParameter, match="methods must be a list of Method objects; got 'str'"):
        instances("methods", "queries", tacit.workloads.Method)
    assert instances("names", iter(["x"]), str) == ("x",)


@pytest.fixture
def curator(tmp_path):
    with tacit.Curator(PEOPLE, ledger=tmp_path / "x.ledger", budget=tacit.Budget(rho=10**6), least_share=0) as c:
        yield c


def test_a_curator_refuses_wrong_kinds_in_our_own_words(curator, tmp_path):
    domain, asked = PEOPLE.domain("year"), "SELECT COUNT(*) AS n FROM visits"
    w, budget = marginals(domain, k=1), tacit.Budget(rho=1)
    offer = curator.offer(asked, rho=1)
    online = curator.online(domain, queries=10, updates=5, n=500, rho=100)
    for call in (
        Call(curator.plan, w, n=100, beta="0.05", rho=1),
        Call(curator.plan, w, epsilon=1, delta="1e-9"),
        Call(curator.answer, w, method="queries", n=100, beta="0.05", fresh=False, analyst=None, rho=1),
        Call(curator.query, w),
        Call(curator.online, domain, queries=10, updates=5, n=500, name="online", analyst="x", rho=100),
        Call(online.ask, {"year": "2024"}),
        Call(online.synthetic, 3, SYSTEM),
        Call(curator.offer, asked, rho=1, beta="0.05", analyst=None),
        Call(curator.ask, asked, rho=1, fresh=False, analyst=None),
        Call(curator.remaining_for, asked, analyst=None),
        Call(curator.covers, offer, analyst=None),
        Call(curator.above_threshold, 5, epsilon=1, count=1, queries=10, name="s", analyst="x"),
        Call(curator.bounds, "age", rho=1, beta="0.05", analyst=None),
        Call(curator.ledger.allow, "bob", budget),
        Call(curator.ledger.allowance, "bob"),
        Call(curator.ledger.accounts, "bob", None),
        Call(curator.ledger.spent, "bob"),
        Call(curator.ledger.remaining, "bob"),
    ):
        call.survives()
    at = tmp_path / "y.ledger"
    for wrong in (-1, None, b"x", [], object()):
        for given in ({"ledger": wrong}, {"ledger": at, "public": [wrong]}, {"ledger": at, "analyst": wrong}):
            if given.get("analyst", 0) is not None:
                with pytest.raises(TacitError):
                    tacit.Curator(PEOPLE, budget=budget, **given)


@pytest.mark.parametrize("wrong", [[], 0, "", ["x"], np.array([1, 2]), math.nan])
def test_nobody_pays_who_is_not_named(curator, wrong):
    w = marginals(PEOPLE.domain("year"), k=1)
    asked = "SELECT COUNT(*) AS n FROM visits"
    curator.ask(asked, rho=1)  # so that it is free, and yet asked by somebody
    spent = curator.remaining
    for call in (
        lambda: curator.ask(asked, rho=1, analyst=wrong),
        lambda: curator.offer(asked, rho=1, analyst=wrong),
        lambda: curator.answer(w, rho=1, analyst=wrong),
        lambda: curator.online(w.domain, queries=10, updates=5, n=500, rho=100, analyst=wrong),
        lambda: curator.above_threshold(5, epsilon=1, analyst=wrong),
        lambda: curator.bounds("age", rho=1, analyst=wrong),
    ):
        with pytest.raises(BadParameter, match="analyst"):
            call()
    for named in (
        lambda: curator.online(w.domain, queries=10, updates=5, n=500, rho=100, name=None),
        lambda: curator.above_threshold(5, epsilon=1, name=None),
    ):
        with pytest.raises(BadParameter, match="name"):
            named()
    assert curator.remaining == spent
