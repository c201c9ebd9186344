import re
import time
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tacit import SUBSTITUTE, BadParameter
from tacit.core.distance import Distance
from tacit.core.errors import BadQuestion
from tacit.testing.sources import Seeded
from tacit.workloads import (
    METHODS,
    Domain,
    Histogram,
    Price,
    Rows,
    from_matrix,
    marginals,
    method,
    plan,
    predicates,
    prefixes,
    ranges,
)
from tacit.workloads.comparison import generated
from tacit.workloads.textbook import textbook

BITS = Domain.of({f"q{i}": 2 for i in range(10)})
SMALL = Domain.of({"a": 2, "b": 2, "c": 4})
PURE = Price.of(epsilon=1)


def test_the_table_of_the_textbooks():
    """Few queries: noise on them.  Many on a small domain: noise on the histogram.  In between it depends on both."""
    few = predicates(BITS, [{"q0": 1, "q1": [0, 1], "q5": [0, 1], "q7": [0, 1]}])
    many = marginals(BITS, k=5)
    assert plan(few, 10_000, PURE).best.name == "queries"
    chosen = [method("queries"), method("histogram")]
    assert plan(many, 10_000, PURE, chosen).best.name == "histogram"
    text = str(plan(many, 10_000, PURE, chosen))
    for word in ("queries", "histogram", "max / n", "k log(k/beta)", "sqrt(|X|", "why histogram", "epsilon = 1"):
        assert word in text


def test_a_price_with_a_delta_is_spent_without_where_that_buys_more():
    """At a small delta Gaussian noise is wider than Laplace noise, until answers move by many counts in all."""
    both, small, large = Price.of(epsilon=1, delta="1e-9"), marginals(BITS, k=1), marginals(BITS, k=3)
    for w, pure in ((small, True), (large, False)):
        p, alone = plan(w, None, both), {r.method.name: r for r in plan(w, None, both.ways[0], ways=both.ways[:1]).rows}
        without = {r.method.name: r for r in plan(w, None, PURE).rows}
        assert p.row("queries").price == both.ways[pure] and ("without delta" in str(p)) and p.price == both
        for row in p.rows:
            means = [r.prediction.mean for r in (alone[row.method.name], without[row.method.name]) if r.prediction]
            assert (row.prediction.mean == min(means)) if means else row.prediction is None
        data = generated(BITS, 5000, Seeded(1))
        assert p.row().method.release(w, data, p.row().price, Seeded(2)).loss.epsilon(delta="1e-9") < 1 + 1e-9
    assert "n must be public" in next(r.reason for r in plan(small, None, both).rows if r.method.name == "small_db")
    assert "substituted" in next(r.reason for r in plan(small, None, both).rows if r.method.name == "local")
    with pytest.raises(BadParameter, match="auto, or one of"):
        plan(small, None, both).row("nope")
    with pytest.raises(BadQuestion, match=r"^hierarchy: the queries are not ranges of one attribute; use residual$"):
        plan(small, None, both).row("hierarchy")


def test_a_release_tells_what_it_is():
    w, data = marginals(BITS, k=1), generated(BITS, 500, Seeded(1))
    release = method("residual").release(w, data, Price.of(rho=1), Seeded(2))
    told = str(release)
    assert told.startswith("20 answers by residual; errors within ") and "with probability 0.95 each" in told
    told = str(replace(release, errors=np.array([1.2301, 40.2])))  # rounded up, but not what needs no rounding
    assert "errors within 1.24 to 40.2\n" in told
    told = str(method("mwem").release(w, data, Price.of(rho=1), Seeded(2), n=500))
    assert told.startswith("20 answers by mwem\nnothing is known of the errors") and "500 records" in told


FIVES, WIDE = Domain.of({f"x{i}": 5 for i in range(100)}), Domain.of({f"x{i}": 2 for i in range(400)})
GRID, MANY = Domain.of({"x": 100, "y": 100}), Domain.of({f"x{i}": 2 for i in range(500)})


@pytest.mark.parametrize(
    "workload",
    [
        predicates(FIVES, [{"x0": 1}]),
        predicates(WIDE, [{"x0": 1}, {"x1": 1, "x2": 0}]),
        marginals(WIDE, k=1),
        ranges(GRID, "x", "y", low=[[0, 0]], high=[[50, 20]]),
        predicates(GRID, [{"x": [0, 5, 9]}]),
        prefixes(Domain.of({"x": 5000})),
        marginals(MANY, k=1) + predicates(MANY, [{"x0": 1}]),
        prefixes(Domain.of({f"x{i}": 30 for i in range(6)}), "x0", "x1"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("unit", [None, SUBSTITUTE.histogram()])
def test_a_refusal_names_what_would_do(workload, unit):
    """The planner does: a method says what is wrong, and knows no other method."""
    p = plan(workload, 1000, Price.of(epsilon=1, unit=unit))
    rows = {row.method.name: row for row in p.rows}
    for row in rows.values():
        assert not re.search(rf"\buse ({'|'.join(rows)})\b", row.reason)
        if row.prediction is None:
            with pytest.raises(BadQuestion) as refused:
                p.row(row.method.name)
            assert str(refused.value).startswith(f"{row.method.name}: {row.reason}; use ")
            (named,) = re.findall(r"; use (\w+)$", str(refused.value))
            assert rows[named].prediction is not None, (row.method.name, row.reason)


def test_what_no_method_can_lay_out_says_what_would_help():
    line, square = Domain.of({"x": 10**8}), Domain.of({"x": 10**5, "y": 10**5})
    for workload, less in (
        (ranges(line, low=[0, 5], high=[9, 10**7]), "join the values of the attribute in bins"),
        (ranges(square, "x", "y", low=[[0, 0]], high=[[9, 9]]), "look at fewer attributes, or join values in bins"),
    ):
        rows = plan(workload, None, Price.of(rho=1)).rows
        assert all(row.reason.endswith(less) for row in rows if row.method.name != "local")  # which is not for rho


def test_rows_are_ranked_and_refusals_say_why():
    p = plan(ranges(Domain.of({"x": 256})), 5000, PURE)
    usable = [row for row in p.rows if row.prediction is not None]
    assert [r.method.name for r in p.rows][:3] == ["optimised", "isotonic", "hierarchy"] and p.best.name == "optimised"
    first, second = (row.prediction.mean for row in p.rows[:2])
    assert f"isotonic, the next, has a mean error of at most {second:.3g}, not {first:.3g}" in p.why
    others = plan(ranges(Domain.of({"x": 256})), 5000, PURE, [m for m in METHODS if m.name != "optimised"])
    assert others.best.name == "isotonic" and "hierarchy, the next" in others.why
    assert "which isotonic keeps where no cell is nearly empty, and lowers where many are: " in others.why
    plain = [r.prediction.mean for r in usable if r.method.improves is None]
    assert plain == sorted(plain)
    assert all(row.reason for row in p.rows if row.prediction is None)
    assert {row.method.name for row in p.rows} == {m.name for m in METHODS}


@pytest.mark.parametrize("epsilon", ["0.5", 1, 2, 4])
@pytest.mark.parametrize("width", [0, 1, 2, 5, 8])
def test_no_tie_is_decided_by_rounding(epsilon, width):
    """Where a tree is its cells, its error is that of the histogram; then what lowers it stands before both."""
    low = np.arange(300 - width)
    p = plan(ranges(Domain.of({"x": 300}), low=low, high=low + width), None, Price.of(epsilon=epsilon), about=5000)
    means = {row.method.name: row.prediction.mean for row in p.rows if row.prediction is not None}
    assert means["histogram"] > means["hierarchy"] * (1 - 1e-3) and p.best.name == "isotonic"
    assert "which isotonic keeps where no cell is nearly empty, and lowers where many are: " in p.why


def test_who_stands_before_a_lesser_error_says_why():
    """And only isotonic does."""
    for workload in (marginals(Domain.of({"x": 8}), k=1), ranges(Domain.of({"x": 600})), marginals(SMALL, k=2)):
        p = plan(workload, 500, PURE)
        told = [line for line in str(p).splitlines() if " has the place of " in line]
        rest = [r.prediction.mean for r in p.rows if r.prediction is not None and r.method.name != "isotonic"]
        assert all(later > before * (1 - 2e-3) for before, later in pairwise(rest))
        assert all(
            line.startswith("isotonic has the place of hierarchy, whose error it keeps where no") for line in told
        )
        assert len(told) == (len(workload.domain.shape) == 1)


@pytest.mark.parametrize("n", [10, 500, 20_000])
def test_no_mean_is_above_the_largest(n):
    for domain in (SMALL, Domain.of({"x": 2}), Domain.of({"x": 40})):
        rows = plan(marginals(domain, k=1), n, PURE).rows
        told = [row.prediction for row in rows if row.prediction is not None]
        assert len(told) > 5 and all(p.mean <= p.rms <= p.worst for p in told if p.kind == "bound")
        assert all(p.mean <= p.worst for p in told)


@pytest.mark.parametrize("price", [PURE, Price.of(epsilon="0.1"), Price.of(rho="0.1")], ids=str)
def test_a_tree_that_is_its_cells_is_predicted_as_a_histogram(price):
    """Also beside a total, for which another tree would be no better."""
    line = Domain.of({"x": 300})
    p = plan(marginals(line, k=1) + marginals(line, k=0), None, price, [method("histogram"), method("hierarchy")])
    first, second = (row.prediction for row in p.rows)
    assert (first.mean, first.rms, first.worst) == pytest.approx((second.mean, second.rms, second.worst), rel=1e-9)


def test_one_is_not_many():
    domain = Domain.of({"x": 5})
    one, price = predicates(domain, [{"x": 1}]), Price.of(rho=1)
    assert "(1 query on 5 cells)" in repr(one) and "(5 queries on 5 cells)" in repr(marginals(domain, k=1))
    release = method("mwem").release(one, Histogram(domain, [9] * 5), price, Seeded(1), n=45)
    assert str(release).startswith("1 answer by mwem") and release.notes[0].startswith("1 measurement in 1 round;")
    assert "up to 1 cell adds up" in method("histogram").predict(one, 45, price).why


def test_a_tie_is_said_to_be_one():
    """One attribute counted whole: noise on its cells, or on its queries, which are the same."""
    p = plan(marginals(Domain.of({"x": 5}), k=1), None, PURE, [method("queries"), method("histogram")])
    first, second = (row.prediction for row in p.rows)
    assert first.mean == pytest.approx(second.mean) and first.seconds <= second.seconds
    assert f"a mean error of {second.mean:.3g}, which is a tie with {p.best.name}" in p.why


def test_records_are_plain_values():
    p = plan(marginals(BITS, k=2), 1000, PURE)
    records = p.records()
    assert len(records) == len(METHODS) and [r["rank"] for r in records] == list(range(1, len(METHODS) + 1))
    first = records[0]
    assert first["normalised"] == first["worst"] / 1000 and first["seconds_per_query"] < 1 and first["kind"] == "exact"
    assert all(r["why"] for r in records)


def test_n_may_be_unknown():
    p = plan(marginals(BITS, k=1), None, Price.of(epsilon=1, unit=SUBSTITUTE.histogram()))
    assert "n not public" in str(p) and p.records()[0]["normalised"] is None
    refused = {row.method.name: row.reason for row in p.rows if row.prediction is None}
    assert "n must be public" in refused["local"]


def test_a_rough_number_of_records_ranks_what_can_do_without_it():
    """At this price a table of n records is the best answer to the total, but only where n is what there is."""
    total, price = marginals(BITS, k=0), Price.of(epsilon="0.02")
    assert plan(total, 600, price).best.name == "small_db"
    p = plan(total, None, price, about=600)
    found = {row.method.name: row for row in p.rows}
    assert not p.best.needs_n and "n about 600" in str(p) and p.n is None
    assert all("exact" in found[name].reason for name in ("small_db", "pmw"))
    assert found["mwem"].prediction.mean == 600
    assert p.records()[0]["normalised"] == p.rows[0].prediction.worst / 600
    with pytest.raises(BadParameter):
        plan(total, None, price, about=0)


def test_a_method_whose_noise_cannot_be_drawn_is_refused_alone():
    five = Domain.of({"x": 5})
    reals, nothing = (from_matrix(five, np.full((5, 5), value)) for value in (0.37, 0))
    found = {row.method.name: row for row in plan(reals, 1000, Price.of(epsilon="0.02")).rows}
    assert all(found[name].prediction is not None for name in ("queries", "histogram", "pmw"))
    dear = plan(reals, 1000, Price.of(epsilon="1e-9"))
    assert "scale of the noise" in {row.method.name: row.reason for row in dear.rows}["pmw"] and dear.best
    none = plan(nothing, 1000, PURE)
    assert none.best.name == "histogram" and none.rows[0].prediction.worst == 0
    one = plan(marginals(BITS, k=0), 100, Price.of(epsilon=1, unit=SUBSTITUTE.histogram()))
    assert "2 to" in {row.method.name: row.reason for row in one.rows}["local"] and one.best


def test_a_price_is_for_units_of_its_own_relation():
    """Two cells that may both rise by 1 move their sum by 2, and not by 1 as where one is substituted."""
    two, unit = Domain.of({"x": 2}), SUBSTITUTE.histogram()
    any_two = Distance(Fraction(2), Fraction(2), Fraction(1), 2)
    both, price = from_matrix(two, [[1, 1]]), Price.of(epsilon=1, unit=unit)
    assert both.distance(any_two).linf == 2 * both.distance(unit).linf
    with pytest.raises(BadParameter, match="units that move"):
        method("queries").release(both, Histogram(two, [5, 5], any_two), price)
    method("queries").release(both, Histogram(two, [5, 5], unit), price)


def test_bad_plans():
    w = marginals(BITS, k=1)
    for n in (0, -5, 1.5):
        with pytest.raises(BadParameter):
            plan(w, n, PURE)
    with pytest.raises(BadParameter):
        plan(w, 10, PURE, beta=1)
    with pytest.raises(BadParameter, match="queries"):
        method("magic")
    none = plan(w, 10, PURE, [method("hierarchy")])
    assert none.why == "no method can be used"
    with pytest.raises(BadQuestion, match="not ranges"):
        _ = none.best


def test_predictions_need_no_data_and_are_quick():
    """A hundred attributes and 10^5 cells."""
    wide = Domain.of({f"a{i}": 5 for i in range(100)})
    p = plan(marginals(wide, k=2), 10_000, PURE, [method(n) for n in ("queries", "histogram", "local", "hierarchy")])
    assert p.best.name == "queries"
    assert [row.prediction for row in p.rows[1:]] == [None] * 3


@pytest.mark.parametrize("make", [ranges, prefixes])
def test_a_tree_beats_noise_on_cells_for_long_ranges(make):
    w = make(Domain.of({"x": 256}))
    mean = {r["method"]: r["mean"] for r in plan(w, 100, PURE).records()}
    assert mean["hierarchy"] < 0.9 * mean["histogram"]
    cells = marginals(Domain.of({"x": 256}), k=1)
    mean = {r["method"]: r["mean"] for r in plan(cells, 100, PURE).records()}
    assert mean["histogram"] <= mean["hierarchy"] * 1.001 and np.isfinite(mean["isotonic"])


def test_the_textbooks_own_bounds():
    """Where each of the three is best: few queries, few cells, and many of both with many people."""

    def best(queries, cells, n):
        feasible = (line for line in textbook(queries, cells, n, 1) if line.method != "SmallDB")
        return min(feasible, key=lambda line: line.error).method

    assert best(10, 2**20, 10**5) == "noise on the queries"
    assert best(10**6, 2**8, 10**5) == "noise on the histogram"
    assert best(10**9, 2**60, 10**9) == "multiplicative weights"
    told = [line.operations for line in textbook(5, 100, 7, 1)]
    assert [text.split()[0] for text in (told[0], told[1], told[3])] == ["7", "100", "100"]
    assert told[2].startswith("100^") and told[2].endswith("once")
    assert textbook(5, 2, 100, 1)[-1].method == "randomized response"
    assert textbook(100, 1024, 10_000, "0.5")[0].error == pytest.approx(0.152, rel=1e-3)
    for lines in zip(*(textbook(100, 1024, n, 1, delta="1e-6") for n in (10**3, 10**4, 10**5)), strict=True):
        errors = [line.error for line in lines]
        assert errors == sorted(errors, reverse=True)


def test_domains_larger_than_any_float():
    """10^310 cells: every method says what it does or why it does not, and what is asked of few of them is released."""
    wide = Domain.of({f"a{i}": 10 for i in range(310)})
    asked = [marginals(wide, k=1), marginals(wide, subsets=[["a0", "a1"]]), marginals(wide, subsets=[wide.names])]
    asked += [predicates(wide, [{"a0": 1}]), ranges(wide, "a0"), marginals(wide, k=1) + ranges(wide, "a3")]
    for w in asked:
        found = plan(w, 1000, Price.of(epsilon=1, unit=SUBSTITUTE.histogram()))
        assert all(row.prediction is not None or row.reason for row in found.rows)
    assert "10^310 cells" in {row.method.name: row.reason for row in found.rows}["mwem"]
    data = Rows(wide, np.random.default_rng(0).integers(0, 10, (500, 310)))
    for name in ("histogram", "queries", "residual"):
        release = method(name).release(asked[1], data, PURE)
        later = release.query(asked[3])
        assert np.abs(later.answers - asked[3].answer(data))[0] < 200 and np.isfinite(later.errors).all()
    assert method("histogram").release(asked[4], data, PURE).errors.max() < 50


def test_predicted_seconds_of_predicates():
    """Each takes some steps of its own: within a few times what it takes, and not a thousandth."""
    domain = Domain.of({f"b{i}": 4 for i in range(6)})
    w = predicates(domain, [{"b0": [0, i % 3 + 1], "b3": i % 4, "b5": [1, 2]} for i in range(2000)])
    data, start = Histogram(domain, np.ones(4096, int)), time.process_time()
    method("histogram").release(w, data, PURE)
    taken = time.process_time() - start
    assert taken / 20 < method("histogram").predict(w, None, PURE).seconds < 20 * taken


def test_predicted_seconds_of_a_model_that_is_measured():
    """What is paid for is measured, and fitted: at a low price that is little more than a tree."""
    domain = Domain.of({f"b{i}": 4 for i in range(8)})
    w, adaptive = marginals(domain, k=2), method("adaptive")
    high, low = (adaptive.predict(w, 5000, Price.of(rho=rho)).seconds for rho in (1, "0.001"))
    start = time.process_time()
    adaptive.release(w, generated(domain, 5000), Price.of(rho=1), Seeded(0))
    taken = time.process_time() - start
    assert taken / 20 < high < 20 * taken and low < high / 1.5


def test_a_method_that_needs_n_asks_for_it_in_one_way():
    workload, price = marginals(Domain.of({"a": 2, "b": 2}), k=1), Price.of(epsilon=1, unit=SUBSTITUTE.histogram())
    needy = [m for m in METHODS if m.needs_n]
    assert {m.name for m in needy} == {"local", "small_db", "pmw"}
    for m in needy:
        for entry in (m.predict, m.loss, m._predict):
            with pytest.raises(BadQuestion, match=f"^{m.name}: .*records"):
                entry(workload, None, price, *([] if entry == m.loss else ["0.05"]))
        assert "records" in m.refusal(workload, None, price)
