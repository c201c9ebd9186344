"""Models: what a release leaves behind."""

import numpy as np
import pytest

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, Laplace
from tacit.core.errors import BadQuestion
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Model, Price, Rows, from_matrix, marginals, method, predicates, ranges
from tacit.workloads.models.cell_model import Cells
from tacit.workloads.models.marginals.noisy_marginals import NoisyMarginals
from tacit.workloads.models.model import rounded
from tacit.workloads.models.trees.line_model import LineModel

WIDE = Domain.of({"a": 2, "b": 3, "c": 4})
HUGE = Domain.of({f"a{i}": 10 for i in range(40)})


class Even(Model):
    """A million people, spread evenly."""

    domain = HUGE

    def marginal(self, axes):
        shape = self.domain.laid_out(axes)
        return np.full(shape, 1e6 / max(1, np.prod(shape)))


def test_a_model_says_nothing_of_what_it_does_not_know():
    even = Even()
    assert even.error_bounds(marginals(HUGE, k=1), 0.05) is None and even.total == 1e6
    assert np.allclose(marginals(HUGE, k=1).answer(even), 1e5)
    for use in (even.nonnegative, lambda: even.synthetic(5, Seeded(0))):
        with pytest.raises(BadParameter, match="cells"):
            use()


def test_cells_with_noise_know_the_error_of_every_query():
    cells = Cells(WIDE, np.arange(24.0), Laplace(epsilon=1))
    one, many = marginals(WIDE, k=3), marginals(WIDE, k=1)
    assert (cells.error_bounds(one, 0.05) < cells.error_bounds(many, 0.05).min()).all()
    assert Cells(WIDE, np.arange(24.0)).error_bounds(one, 0.05) is None
    half = from_matrix(WIDE, np.full((1, 24), 0.5))
    assert np.isfinite(cells.error_bounds(half, 0.05)).all()


@pytest.mark.parametrize("total", [-5.0, 0.0])
def test_a_total_below_zero_leaves_nothing(total):
    cells = np.full(24, total / 24)
    axes = {(0,): np.full(2, total / 2), (1, 2): np.full((3, 4), total / 12)}
    for model in (Cells(WIDE, cells), LineModel(WIDE, 2, np.full(4, total / 4)), NoisyMarginals(WIDE, axes, {})):
        flat = model.nonnegative()
        assert (marginals(WIDE, k=1).answer(flat) == 0).all()
        assert Rows(WIDE, flat.synthetic(9, Seeded(0))).marginal(()) == 9  # evenly, since nothing is known


def test_non_negative_counts_keep_the_total():
    values = np.random.default_rng(0).normal(3, 10, 24)
    for model in (Cells(WIDE, values), LineModel(WIDE, 2, values[:4])):
        assert model.nonnegative().total == pytest.approx(max(model.total, 0))
    assert LineModel(WIDE, 2, values[:4]).error_bounds(marginals(WIDE, k=1), 0.05).tolist() == [np.inf] * 9


def test_rounding_is_right_on_average():
    values = np.array([0.2, 1.5, 0.0, 2.3, 1.0])
    drawn = np.array([rounded(values, 5, Seeded(seed)) for seed in range(3000)])
    assert (drawn.sum(axis=1) == 5).all()
    assert ((drawn == np.floor(values)) | (drawn == np.ceil(values))).all()
    assert np.abs(drawn.mean(axis=0) - values).max() < 0.06  # 6.6 standard deviations


def test_bounds_where_there_are_too_many_cells_to_look_at():
    """Every record might be counted by every query, which is true if not sharp."""
    d = ADD_REMOVE.histogram()
    many = predicates(HUGE, [{f"a{i}": 1 for i in range(8)}, {"a9": 2}])
    assert many.distance(d).l1 == 2
    boxes = ranges(HUGE, *(f"a{i}" for i in range(9)), low=np.zeros((3, 9), int), high=np.full((3, 9), 5))
    assert boxes.row.l1 == 3


def test_what_cannot_be_drawn_is_refused():
    price = Price.of(epsilon=1)
    wide = Domain.of({"a": 10**5, "b": 10**5})
    assert "1e+10" in method("queries").refusal(marginals(wide, k=2), None, price)
    long = Domain.of({"x": range(1 << 27)})
    assert "values" in method("hierarchy").refusal(ranges(long, low=[0], high=[5]), None, price)
    people = Price.of(epsilon=1, unit=SUBSTITUTE.histogram())
    local = method("local")
    assert "cells" in local.refusal(marginals(HUGE, k=1), 100, people)
    assert "people" in local.refusal(marginals(WIDE, k=1), 10**9, people)
    half = from_matrix(Domain.of({"bit": 2}), [[0.5, 1]])
    assert local.predict(half, 100, people).rms <= local.predict(half, 10_000, people).rms


def test_a_release_is_of_one_price_and_domain():
    r = method("histogram").release(marginals(WIDE, k=1), Histogram(WIDE, np.ones(24, int)), Price.of(epsilon=1))
    assert r.method == "histogram" and r.loss.epsilon() == 1
    with pytest.raises(BadQuestion, match="not ranges"):
        method("hierarchy").release(marginals(WIDE, k=1), Histogram(WIDE, np.ones(24, int)), Price.of(epsilon=1))


@pytest.mark.parametrize("name", ["histogram", "residual", "queries", "isotonic"])
def test_counts_that_are_not_negative_keep_their_errors(name):
    """An answer that moves takes its error along, and no truth is left outside."""
    domain = Domain.of({"a": 12})
    data, w = Histogram(domain, np.arange(12) % 3), ranges(domain) if name == "isotonic" else marginals(domain, k=1)
    for seed in range(20):
        released = method(name).release(w, data, Price.of(rho="0.5"), Seeded(seed), beta="1e-6")
        for other in (released.nonnegative(), released.consistent(Seeded(seed))):
            assert other.errors is not None and (np.abs(other.answers - w.answer(data)) <= other.errors).all()
