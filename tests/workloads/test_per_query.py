"""Noise on the answers, on the histogram and by each person."""

import math

import numpy as np
import pytest

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter
from tacit.core.errors import BadQuestion
from tacit.testing.sources import Seeded
from tacit.workloads import (
    Domain,
    Histogram,
    Price,
    Rows,
    from_matrix,
    marginals,
    method,
    plan,
    predicates,
    ranges,
)
from tacit.workloads.methods.direct import per_query
from tacit.workloads.models.marginals.noisy_marginals import NoisyMarginals
from tacit.workloads.models.measured_model import fitted
from tacit.workloads.price import variance

WIDE = Domain.of({"a": 2, "b": 3, "c": 4})
RNG = np.random.default_rng(1)
DATA = Rows(WIDE, np.stack([RNG.integers(0, s, 400) for s in WIDE.shape], axis=1))
QUERIES, HISTOGRAM, LOCAL = method("queries"), method("histogram"), method("local")


def test_shares_of_marginals_make_the_mean_square_least():
    """Every other way to share the price among the marginals has a larger error."""
    w = marginals(WIDE, subsets=[["a"], ["b", "c"]], weights=[1, 2])
    for price, power in ((Price.of(epsilon=1), 2), (Price.of(rho="0.5"), 1)):
        noises = QUERIES.noises(w, price)
        best = (2 * variance(noises[0]) + 2 * 12 * variance(noises[1])) / 26
        assert QUERIES.predict(w, None, price).rms ** 2 < best  # by least squares
        for share in np.linspace(0.05, 0.95, 30):
            scale = [1 / (s * float(price.amount)) ** power * (2 if power == 2 else 0.5) for s in (share, 1 - share)]
            other = (2 * scale[0] + 2 * 12 * scale[1]) / 26
            assert best <= other * 1.001


def test_least_squares_lowers_the_error_of_the_same_price():
    d = Domain.of({"x": 32})
    w = ranges(d)
    counts = np.arange(32)
    price = Price.of(epsilon=1)
    r = QUERIES.release(w, Histogram(d, counts), price, Seeded(3))
    alone = float(price.noise(w.distance(price.unit)).noise().variance()) ** 0.5
    assert QUERIES.predict(w, None, price).rms < 0.3 * alone
    assert np.sqrt(np.mean((r.answers - w.answer(Histogram(d, counts))) ** 2)) < 0.5 * alone
    low, middle, high = (r.query(ranges(d, low=[a], high=[b])).answers[0] for a, b in ((0, 9), (10, 31), (0, 31)))
    assert low + middle == pytest.approx(high)


def test_what_lies_outside_the_measured_queries_is_said_to_be_unknown():
    d = Domain.of({"x": 4})
    w = from_matrix(d, [[1, 1, 0, 0], [1, 1, 1, 1]])
    r = QUERIES.release(w, Histogram(d, [1, 2, 3, 4]), Price.of(epsilon=5), Seeded(0))
    found = r.query(from_matrix(d, [[0, 0, 1, 1], [1, 0, 0, 0]]))
    assert np.isfinite(found.errors[0]) and np.isinf(found.errors[1])
    assert "nothing is known of 1" in found.statement
    assert "within" in r.query(w).statement and "nothing" not in r.query(w).statement


@pytest.mark.parametrize("small", [2.0**-20, 2.0**-17, 2.0**-10])
def test_small_coefficients_are_measured_as_well_as_large_ones(small):
    """Their own answers have one noise each, and what they say of the cell is said of it."""
    d = Domain.of({"x": 2})
    w, data = from_matrix(d, [[1, 0], [0, small]]), Histogram(d, [5, 10**6])
    assert QUERIES.predict(w, None, Price.of(epsilon=1)).worst < 10
    r = QUERIES.release(w, data, Price.of(epsilon=1), Seeded(0))
    assert np.abs(r.answers - [5, small * 10**6]).max() <= r.errors.max() < 10
    cell = r.query(from_matrix(d, [[0, 1]]))
    assert abs(cell.answers[0] - 10**6) <= cell.errors[0] == pytest.approx(r.errors[1] / small)


def test_many_queries_of_very_different_sizes():
    """The answers are those of an exact projection on what cells can make, by rational least squares."""
    rows = np.array([[1, 0.5, 0], [0, 2.0**-18, 2.0**-20], [1, 1, 0.25], [2.0**-19, 0, 1], [1, 1, 1]])
    w = from_matrix(Domain.of({"x": 3}), rows)
    y = np.array([10.0, 3.0, -4.0, 8.0, 1.0])
    left, _ = np.linalg.qr(rows / np.linalg.norm(rows, axis=0))  # columns may be scaled: their span is the same
    np.testing.assert_allclose(fitted(w, y), left @ (left.T @ y), atol=1e-9)


def test_further_marginals_come_from_measured_ones():
    w = marginals(WIDE, subsets=[["a", "b"], ["b", "c"]])
    r = QUERIES.release(w, DATA, Price.of(epsilon=50), Seeded(0))
    within = r.query(marginals(WIDE, subsets=[["a"]]))
    assert np.abs(within.answers - DATA.marginal((0,)).ravel()).max() <= within.errors.max() < 5
    unknown = r.query(marginals(WIDE, subsets=[["a", "c"]]))
    assert np.isinf(unknown.errors).all() and unknown.answers.sum() == pytest.approx(400, abs=5)
    assert np.abs(unknown.answers - DATA.marginal((0, 2)).ravel()).max() < 30  # nearly independent here


def test_fractional_queries_are_on_the_grid():
    w = from_matrix(WIDE, np.random.default_rng(0).random((30, 24)))
    noise = QUERIES.noises(w, Price.of(epsilon=1))[0]
    assert noise.grid == w.grid
    assert float(noise.scale) == pytest.approx(float(w.row.l1), rel=1e-4)  # rounding costs next to nothing


@pytest.mark.parametrize("unit", [ADD_REMOVE.histogram(), SUBSTITUTE.histogram()])
def test_the_histogram_costs_no_more_for_more_queries(unit):
    few, many = marginals(WIDE, subsets=[["a", "b", "c"]]), marginals(WIDE, k=2) + ranges(WIDE, "c")
    price = Price.of(epsilon=1, unit=unit)
    assert HISTOGRAM.loss(few, None, price) == HISTOGRAM.loss(many, None, price)
    assert HISTOGRAM.noise(many, price).scale == unit.l1


def test_only_the_attributes_that_are_looked_at_are_laid_out():
    huge = Domain.of({f"a{i}": 10 for i in range(50)})
    w = marginals(huge, subsets=[["a3", "a40"]])
    assert HISTOGRAM.refusal(w, None, Price.of(epsilon=1)) is None
    reason = HISTOGRAM.refusal(marginals(huge, k=1), None, Price.of(epsilon=1))
    assert "1e+50 cells" in reason
    with pytest.raises(BadQuestion, match=r"1e\+50 cells.*; use residual"):
        plan(marginals(huge, k=1), None, Price.of(epsilon=1)).row("histogram")
    with pytest.raises(BadQuestion, match="histogram"):
        HISTOGRAM.release(marginals(huge, k=1), Rows(huge, np.zeros((1, 50), int)), Price.of(epsilon=1))


def test_reports_need_a_public_number_of_people():
    w = marginals(Domain.of({"bit": 2}), k=1)
    assert "SUBSTITUTE" in LOCAL.refusal(w, 100, Price.of(epsilon=1))
    price = Price.of(epsilon=1, unit=SUBSTITUTE.histogram())
    assert "public" in LOCAL.refusal(w, None, price) and LOCAL.refusal(w, 100, price) is None
    assert "epsilon" in LOCAL.refusal(w, 100, Price.of(rho=1, unit=SUBSTITUTE.histogram()))
    assert LOCAL.loss(w, 100, price).epsilon() == 1
    for unit in (SUBSTITUTE.histogram().group(3), SUBSTITUTE.counts(), SUBSTITUTE.sum(0, 2)):  # whatever is bounded
        assert LOCAL.loss(w, 100, Price.of(epsilon=1, unit=unit)).epsilon() == pytest.approx(1)


def test_a_price_for_fewer_records_is_refused():
    w = marginals(WIDE, k=1)
    thrice = Rows(WIDE, np.zeros((9, 3), int), ADD_REMOVE.histogram().group(3))
    with pytest.raises(BadParameter, match="price"):
        QUERIES.release(w, thrice, Price.of(epsilon=1))
    with pytest.raises(BadParameter, match="price"):
        QUERIES.release(w, Rows(WIDE, np.zeros((9, 3), int), SUBSTITUTE.histogram()), Price.of(epsilon=1))
    with pytest.raises(BadParameter, match="domain"):
        QUERIES.release(marginals(Domain.of({"z": 2}), k=1), thrice, Price.of(epsilon=1))


def test_predicates_without_a_model_say_so():
    w = predicates(WIDE, [{"a": 1}]) + marginals(WIDE, k=1)
    r = QUERIES.release(w, DATA, Price.of(epsilon=1), Seeded(0))
    assert r.model is None and np.array_equal(r.query(w).answers, r.answers)
    with pytest.raises(BadQuestion, match="no model"):
        r.query(marginals(WIDE, k=2))
    with pytest.raises(BadQuestion, match="no model"):
        r.synthetic(10)
    assert (r.nonnegative().answers >= 0).all()
    with pytest.raises(BadParameter, match="domain"):
        r.query(marginals(Domain.of({"z": 2}), k=1))


def test_synthetic_rows_have_the_counts_of_the_model():
    w = marginals(WIDE, subsets=[["a", "b", "c"]])
    r = HISTOGRAM.release(w, DATA, Price.of(epsilon=10), Seeded(0)).nonnegative()
    table = r.synthetic(100_000, Seeded(1))
    codes = [[WIDE.code(name, value) for value in table[name].to_pylist()] for name in WIDE.names]
    made = Rows(WIDE, np.array(codes).T).marginal(WIDE.all) / 100_000
    assert np.abs(made - r.model.marginal(WIDE.all) / r.model.total).max() <= 1.001 / 100_000


def test_an_empty_table_is_answered_like_any_other():
    w = marginals(WIDE, k=2)
    for m in (QUERIES, HISTOGRAM):
        r = m.release(w, Rows(WIDE, np.zeros((0, 3), int)), Price.of(epsilon=1), Seeded(0))
        assert r.answers.shape == (26,) and r.synthetic(7, Seeded(0)).shape == (7, 3)


def test_textbook_bounds_are_not_exceeded():
    """k ln(k / beta) / epsilon, with half a step for whole noise."""
    for k in (1, 5, 30):
        w = predicates(WIDE, [{"a": 0}] * k)
        worst = QUERIES.predict(w + w, None, Price.of(epsilon=1)).worst
        assert worst <= 2 * k * math.log(2 * k / 0.05) + 0.6
    w = marginals(Domain.of({"x": 10}), k=1)
    assert HISTOGRAM.predict(w, None, Price.of(epsilon=1, unit=SUBSTITUTE.histogram())).worst <= 10.5966347330961 + 0.51


def test_marginals_of_too_many_subsets_stay_as_they_were_drawn(monkeypatch):
    monkeypatch.setattr(per_query, "_MAX_SETS", 11)  # three pairs have twelve
    w = marginals(WIDE, k=2)
    r = QUERIES.release(w, DATA, Price.of(epsilon=1), Seeded(0))
    assert isinstance(r.model, NoisyMarginals) and (r.answers == np.rint(r.answers)).all()
    drawn = [variance(noise) for noise in QUERIES.noises(w, Price.of(epsilon=1))]
    square = np.average(drawn, weights=[part.queries for part in w.parts])
    assert QUERIES.predict(w, None, Price.of(epsilon=1)).rms ** 2 == pytest.approx(square)
    assert np.array_equal(w.answer(r.model), r.answers)
    assert r.synthetic(7, Seeded(0)).shape == (7, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30, 200])
@pytest.mark.parametrize("epsilon", ["0.3", 1, 3])
def test_the_mean_error_of_few_reports_is_bounded(n, epsilon):
    """By the exact law of the reports, whoever they are of."""
    pair, price = Domain.of({"a": 2}), Price.of(epsilon=epsilon, unit=SUBSTITUTE.histogram())
    one = predicates(pair, [{"a": 1}])
    chances, worst = LOCAL.response(one, price).chances, 0.0
    for held in range(n + 1):
        law = np.ones(1)
        for i in range(n):
            chance = chances.other + (chances.gain if i < held else 0)
            law = np.convolve(law, [1 - chance, chance])
        estimates = (np.arange(n + 1) - n * chances.other) / chances.gain
        worst = max(worst, float(law @ np.abs(estimates - held)))
    assert worst <= LOCAL.predict(one, n, price).mean <= LOCAL.predict(one, n, price).rms


def test_no_more_rows_are_drawn_than_memory_holds():
    with pytest.raises(BadParameter, match="rows of 3 attributes at once"):
        HISTOGRAM.release(marginals(WIDE, k=1), DATA, Price.of(epsilon=1), Seeded(0)).synthetic(10**14)
