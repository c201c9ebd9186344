import math
import re

import pytest

from tacit import SUBSTITUTE, BadParameter, Exponential, NoisyMax, PermuteAndFlip, RandomizedResponse
from tacit.composition import rho_for
from tacit.core.errors import BadQuestion
from tacit.testing.workloads import applicable
from tacit.theory import selection
from tacit.workloads import METHODS, Domain, Price, marginals, method, predicates
from tacit.workloads import sample_complexity as closed
from tacit.workloads.methods.weights.small_db import classical_error, classical_rate
from tacit.workloads.textbook import textbook

WIDE = Domain.of({"a": 2, "b": 3, "c": 4})
EASY = [(m, c) for m, c in applicable(METHODS) if c.name in ("marginals-substitute", "ranges-substitute")]


@pytest.mark.parametrize(("m", "case"), EASY, ids=lambda x: getattr(x, "name", None))
def test_the_least_n_is_enough_and_one_less_is_not(m, case):
    def good(n):
        return m.refusal(case.workload, n, case.price) is None and (
            m.predict(case.workload, n, case.price).worst <= 0.3 * n
        )

    if not good(10**7):  # a method whose own size is bounded may never be as good
        with pytest.raises(BadQuestion, match="enough"):
            closed.sample_size(m, case.workload, case.price, "0.3")
        return
    n = closed.sample_size(m, case.workload, case.price, "0.3")
    assert good(n) and (n == 1 or not good(n - 1))


def test_the_least_price_is_enough_and_less_is_not():
    w, price = marginals(WIDE, k=2), Price.of(rho="0.01")
    for name in ("queries", "histogram"):
        m = method(name)
        found = closed.price_for(m, w, 10_000, price, alpha="0.002")
        assert m.predict(w, 10_000, found).worst <= 20
        assert m.predict(w, 10_000, found.part(found.amount.__class__(99, 100))).worst > 20


def test_what_cannot_be_reached_is_refused():
    w = marginals(WIDE, k=2)
    with pytest.raises(BadQuestion, match="SUBSTITUTE"):
        closed.sample_size(method("local"), w, Price.of(epsilon=1), "0.1")
    with pytest.raises(BadQuestion, match="SUBSTITUTE"):
        closed.price_for(method("local"), w, 100, Price.of(epsilon=1), alpha="0.1")
    with pytest.raises(BadParameter):
        closed.sample_size(method("queries"), w, Price.of(epsilon=1), 0)
    with pytest.raises(BadParameter, match="alpha"):
        closed.price_for(method("queries"), w, 10, Price.of(epsilon=1), alpha="1e-60")


@pytest.mark.parametrize("name", ["mwem", "tree", "adaptive"])
def test_where_nothing_is_proved_that_is_said(name):
    with pytest.raises(BadQuestion, match="no bound below n is proved for its errors"):
        closed.sample_size(method(name), marginals(WIDE, k=2), Price.of(rho=1), "0.1")


def test_closed_forms():
    """The worked example: 100 queries at epsilon 0.5 among 10^4 people, and the figures of randomized response."""
    assert closed.laplace_on_queries(100, 10_000, "0.5") == pytest.approx(0.15201804919084164, rel=1e-12)
    assert closed.randomized_response(100, 10_000, 1) == pytest.approx(0.04406727788896447, rel=1e-12)
    assert closed.randomized_response(1, 10_000, "0.1") == pytest.approx(0.27184661568468516, rel=1e-12)
    assert closed.gaussian_on_queries(8, 1000, 2) == pytest.approx(2 * math.sqrt(math.log(320)) / 1000)
    assert closed.laplace_on_histogram(1024, 10, 1000, 1) == pytest.approx(math.sqrt(8192 * math.log(400)) / 1000)
    assert closed.laplace_on_histogram(1, 10, 1000, 1) == pytest.approx(4 * math.log(400) / 1000)
    assert closed.multiplicative_weights(64, 100, 10**6, 1) == pytest.approx(3 * 0.13516730001324956, rel=1e-9)


def test_own_bounds_are_no_worse_than_the_closed_forms():
    """But for half a step of rounding, and within the constants of the histogram's."""
    n = 1000
    for k in (2, 20, 200):
        w = predicates(WIDE, [{"a": 0, "b": 1}] * k)
        both = w + w
        exact = method("queries").predict(both, n, Price.of(epsilon=1)).worst / n
        assert exact <= closed.laplace_on_queries(2 * k, n, 1) + 0.6 / n
        gaussian = method("queries").predict(both, n, Price.of(rho=1)).worst / n
        assert gaussian <= closed.gaussian_on_queries(2 * k, n, 1) * 1.001
    w = marginals(WIDE, k=1)
    assert method("histogram").predict(w, n, Price.of(epsilon=1)).worst / n <= closed.laplace_on_histogram(24, 9, n, 1)
    bits = marginals(Domain.of({"bit": 2}), k=1)
    local = method("local").predict(bits, n, Price.of(epsilon=1, unit=SUBSTITUTE.histogram())).worst / n
    assert local <= closed.randomized_response(2, n, 1) * (1 + 1e-9)


def test_the_most_records_that_a_method_takes_may_be_enough():
    """From 2^k - 1 to 2^(k + 1) - 1 a doubling goes beyond them; they are tried too."""
    local, w, price = method("local"), marginals(WIDE, k=1), Price.of(epsilon=1, unit=SUBSTITUTE.histogram())
    most = 10**8
    assert local.refusal(w, most, price) is None and local.refusal(w, most + 1, price)
    alpha = local.predict(w, 9 * 10**7, price).worst / (9 * 10**7)
    n = closed.sample_size(local, w, price, alpha)
    assert n == pytest.approx(9 * 10**7, rel=1e-6) and local.predict(w, n, price).worst <= alpha * n
    least = local.predict(w, most, price).worst / most
    assert closed.sample_size(local, w, price, least) == most
    with pytest.raises(BadQuestion, match="100000000"):
        closed.sample_size(local, w, price, least * 0.999)


def test_a_delta_that_may_be_left_unspent_takes_no_more_records():
    w = marginals(WIDE, k=1)
    for name in ("queries", "histogram"):
        sizes = [
            closed.sample_size(method(name), w, Price.of(**terms), "0.05")
            for terms in ({"epsilon": 1, "delta": "1e-9"}, {"epsilon": 1})
        ]
        assert sizes[0] <= sizes[1]


def test_closed_forms_at_a_delta():
    for delta in ("0.1", "0.9"):  # for which advanced composition is not stated
        assert closed.multiplicative_weights(64, 10, 10**6, 100, delta=delta) == closed.multiplicative_weights(
            64, 10, 10**6, 100
        )
        assert closed.laplace_on_queries(10, 10**6, 100, delta=delta) == closed.laplace_on_queries(10, 10**6, 100)
    k, n, delta = 1000, 10**6, "1e-6"
    many = math.sqrt(8 * k * math.log(1e6))
    assert closed.laplace_on_queries(k, n, 1, delta=delta) == pytest.approx(many * math.log(k / 0.05) / n)
    assert closed.laplace_on_queries(k, n, 1, delta=delta) < closed.laplace_on_queries(k, n, 1)
    alpha = closed.multiplicative_weights(64, k, n, 1, delta=delta) / 3
    c = 4 * math.log(64) / alpha**2
    threshold = (2 + 32 * math.sqrt(2)) * math.sqrt(c * math.log(2e6)) * (math.log(2 * k) + math.log(4 * c / 0.05)) / n
    assert threshold == pytest.approx(2 * alpha, rel=1e-9)
    lines = {line.method: line for line in textbook(k, 64, n, 1, delta=delta)}
    queries, weights = lines["noise on the queries"], lines["multiplicative weights"]
    assert (queries.error, weights.error) == (closed.laplace_on_queries(k, n, 1, delta=delta), 3 * alpha)
    assert queries.formula.startswith("sqrt(8 k ln(1/d))") and weights.formula.startswith("3 a, a^2 =")
    assert lines["Gaussian on the queries"].error == closed.gaussian_on_queries(k, n, rho_for(1, delta))


def test_a_delta_never_makes_a_bound_worse():
    """What is private at epsilon is so at any delta; each line names the bound that it tells."""
    assert closed.laplace_on_queries(12, 1000, 1, delta="1e-6") == closed.laplace_on_queries(12, 1000, 1)
    few = closed.multiplicative_weights(2, 10, 10**5, 1)
    assert closed.multiplicative_weights(2, 10, 10**5, 1, delta="1e-10") == few
    lines = {line.method: line for line in textbook(12, 2, 1000, 1, delta="1e-10")}
    assert lines["noise on the queries"].formula.startswith("k ln(k/b)")
    assert lines["multiplicative weights"].formula.startswith("3 a, a^3 =")


def test_records_for_an_error_have_that_error():
    for alpha in (0.3, 0.01):
        n = math.ceil(closed.small_db_records(1024, 100, alpha, "0.5"))
        assert classical_rate(1024, 100, n=n, epsilon="0.5", beta=0.05) == pytest.approx(alpha, rel=1e-4)
        n = math.ceil(closed.multiplicative_weights_records(1024, 100, alpha, "0.5"))
        assert closed.multiplicative_weights(1024, 100, n, "0.5") == pytest.approx(alpha, rel=1e-4)


def test_why_no_number_of_records_is_enough():
    """Tables of 16 records, the most that can be laid out, come no nearer than sqrt(ln 24 / 32), whatever n is."""
    small, w = method("small_db"), marginals(Domain.of({"a": 2, "b": 2, "c": 2}), k=2)
    with pytest.raises(BadQuestion, match=r"no n up to 1e\+15 is enough: the smallest bound is 0\.315 n"):
        closed.sample_size(small, w, Price.of(epsilon=1), "0.3")
    assert closed.sample_size(small, w, Price.of(epsilon=1), "0.33") == 1973


def value(formula, **letters):
    """A formula of the table, as it is printed: products are written side by side, and `3 a, a^3 = ...` is solved."""
    text = formula.replace("|X|", "X").replace("^", "**")
    text = re.sub(r"(?<![\w.])(\d+)(?=[A-Za-z(])", r"\1*", text)
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", " * ", text)
    names = {"ln": math.log, "sqrt": math.sqrt, "exp": math.exp, **letters}
    if "=" not in text:
        return eval(text, names)
    told, equation = text.split(", ")
    left, right = equation.split(" = ")

    def too_small(a):
        return eval(left, {**names, "a": a}) < eval(right, {**names, "a": a})

    low, high = 1e-12, 1e12
    while high / low > 1 + 1e-13:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return eval(told, {**names, "a": high})


@pytest.mark.parametrize("delta", [0, "1e-6", "1e-10"])
@pytest.mark.parametrize(
    ("k", "cells", "n", "e"),
    [
        (100, 1024, 10**6, 1),
        (1, 1, 50, 2),
        (12, 2, 1000, 1),
        (10**6, 3, 10**4, 0.5),
        (1000, 64, 10**6, 1),
        (7, 2**40, 99, 3),
    ],
)
def test_every_formula_of_the_table_has_the_value_beside_it(k, cells, n, e, delta):
    lines = textbook(k, cells, n, e, "0.05", delta=delta)
    assert [line.method for line in lines if line.method != "Gaussian on the queries"] == [
        "noise on the queries",
        "noise on the histogram",
        "SmallDB",
        "multiplicative weights",
        "randomized response",
    ]
    letters = {"k": k, "X": cells, "n": n, "e": e, "b": 0.05, "d": float(delta)}
    letters |= {"rho": float(rho_for(e, delta))} if delta else {}
    for line in lines:
        assert value(line.formula, **letters) == pytest.approx(line.error, rel=1e-6), line


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 1), (5, 1), (40, 2), (1000, "0.5")])
def test_randomized_response_of_any_number_of_cells(cells, epsilon):
    """1 / (p - q) of k-ary response; on bits as before; and never below what the method proves."""
    oracle = RandomizedResponse(epsilon=epsilon, categories=cells)
    found = closed.randomized_response(7, 100, epsilon, cells=cells)
    assert found == pytest.approx(math.sqrt(math.log(280) / 200) / oracle.chances.gain, rel=1e-12)
    assert closed.randomized_response(2, 100, epsilon) == pytest.approx(
        oracle.classical_query_error(100, queries=2)
        if cells == 2
        else closed.randomized_response(2, 100, epsilon, cells=2)
    )
    with pytest.raises(BadParameter, match="cells"):
        closed.randomized_response(2, 100, 1, cells=1)


def test_formulas_into_which_only_logarithms_enter_take_any_number():
    """The candidates of SmallDB's own example: all tables of 461 records over 1024 cells, and all subsets of more."""
    many, logs = 1024**461, 461 * math.log(1024)
    assert selection.utility_bound("0.05", many, 2) == pytest.approx(2 * (logs + math.log(20)), rel=1e-12)
    assert selection.expected_gap_bound(many, 1, many) == 0
    for kind in (Exponential, PermuteAndFlip):
        assert kind(epsilon=1).classical_error("0.05", many) == pytest.approx(2 * (logs + math.log(20)), rel=1e-12)
    assert NoisyMax(epsilon=1).classical_error("0.05", many) == pytest.approx(4 * (logs + math.log(20)), rel=1e-12)
    wide = 2**300
    found = [
        f(wide, 100, n=10**6, epsilon=1, beta="0.05")
        for f in (classical_rate, lambda *a, **b: classical_error(*a, "0.1", **b))
    ]
    assert all(0 < error < 100 for error in found) and closed.small_db_records(wide, wide, "0.1", 1) > 10**6
    assert closed.multiplicative_weights(wide, wide, 10**12, 1) < 1
    for bad in (0, 1.5, True, "2"):
        with pytest.raises(BadParameter, match="candidates must be a whole number, at least 1"):
            selection.utility_bound("0.05", bad, 1)
