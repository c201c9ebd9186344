"""The private tree: exact inference against brute force, scores that move by one, and what it finds."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.distance import SUBSTITUTE
from tacit.core.errors import BadQuestion
from tacit.testing.sources import Seeded
from tacit.workloads import plan
from tacit.workloads.methods.marginals._measurement_search import Search, stated
from tacit.workloads.methods.marginals.chow_liu import ChowLiu
from tacit.workloads.models.graphical.bins import Bins, coarse, fine
from tacit.workloads.models.graphical.junction_tree import Junction, cliques, placed, size, summed
from tacit.workloads.models.graphical.maximum_entropy import Measurement, fit
from tacit.workloads.price import Price
from tacit.workloads.queries.data import Rows
from tacit.workloads.queries.domain import Domain
from tacit.workloads.queries.marginals import marginals

seeds = st.integers(0, 2**32)


def chain(n: int, attributes: int, values: int = 4, seed: int = 0) -> Rows:
    """A Markov chain: each attribute is the one before it, or now and then another value."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, values, n)]
    for _ in range(attributes - 1):
        columns.append(np.where(rng.random(n) < 0.8, columns[-1], rng.integers(0, values, n)))
    return Rows(Domain.of({f"a{i}": values for i in range(attributes)}), np.stack(columns, axis=1))


def graph(seed: int) -> tuple[tuple[int, ...], list[tuple[int, ...]], np.random.Generator]:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 4, 6).tolist())
    sets = [tuple(sorted(rng.choice(6, rng.integers(1, 4), replace=False).tolist())) for _ in range(rng.integers(0, 7))]
    return shape, sets, rng


@given(seeds)
def test_inference_is_exact(seed):
    """Every marginal and the constant, against the full table."""
    shape, sets, rng = graph(seed)
    potentials = {axes: 3 * rng.normal(size=[shape[a] for a in axes]) for axes in sets}
    full = np.zeros(shape)
    for axes, potential in potentials.items():
        full = full + placed(potential, axes, tuple(range(6)))
    tree = Junction.of(sets, shape)
    beliefs, log_z = tree.calibrate(potentials)
    assert log_z == pytest.approx(np.log(np.exp(full).sum()))
    joint = np.exp(full - log_z)
    for k in range(7):
        for axes in combinations(range(6), k):
            np.testing.assert_allclose(tree.marginal(beliefs, axes), summed(joint, tuple(range(6)), axes), atol=1e-10)


@given(seeds)
def test_cliques_cover_the_sets_and_run_through_the_tree(seed):
    shape, sets, _ = graph(seed)
    tree = Junction.of(sets, shape)
    assert all(tree.home(axes) is not None for axes in [*sets, *((a,) for a in range(6))])
    assert size(sets, shape) == sum(np.prod([shape[a] for a in c]) for c in cliques(sets, shape))
    for axis in range(6):  # the cliques that hold an axis are connected: all but one have a parent among them
        holding = {i for i, clique in enumerate(tree.cliques) if axis in clique}
        assert sum(tree.parents[i] not in holding for i in holding) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 2))
def test_bins_are_heavy_enough_and_lose_nothing(masses, least):
    array = np.array(masses)
    bins = Bins.of(array, least)
    sums = coarse(array, [bins])
    assert bins.lengths.sum() == array.size and bins.starts[0] == 0
    assert sums.sum() == pytest.approx(array.sum())
    assert len(bins) == 1 or (3 * sums >= least).all()
    assert (fine(sums, [bins]).size, fine(sums, [bins])[0]) == (array.size, sums[0])


def test_the_fit_has_no_gradient_left():
    """Of exact tables of a distribution on a tree, the fit is that distribution."""
    data = chain(3000, 4)
    n, shape = 3000.0, data.domain.shape
    shares = [data.marginal((i,)) / n for i in range(4)]
    exact = [
        Measurement(axes, tuple(Bins.each(4) for _ in axes), data.marginal(axes).astype(float), np.full((4, 4), 1e-3))
        for axes in [(0, 1), (1, 2), (2, 3)]
    ]
    tree, beliefs, _ = fit(shares, exact, n, np.zeros(0), 500)
    assert tree.shape == shape
    for m in exact:
        np.testing.assert_allclose(n * tree.marginal(beliefs, m.axes), m.values, atol=0.5)
    far = n * tree.marginal(beliefs, (0, 2))
    expected = data.marginal((0, 1)) / data.marginal((1,))[None, :] @ data.marginal((1, 2))
    np.testing.assert_allclose(far, expected, atol=1.0)


def test_a_record_moves_every_score_by_one_at_most():
    """The model, the bins and the noise are public, so only the table counts."""
    price = Price.of(rho=10)
    data = chain(200, 3)
    search = Search(data, price, Seeded(7))
    candidates = search.worth(combinations(range(3), 2), price)
    before, moved = search.scores(candidates, price), []
    for record in np.ndindex(4, 4, 4):
        search.data, search._tables = Rows(data.domain, np.concatenate([data._columns.T, [record]])), {}
        moved.append(search.scores(candidates, price) - before)
    assert len(candidates) >= 3 and before.dtype == np.int64
    assert np.abs(moved).max() == 1


def test_it_finds_the_chain_and_says_how_good_it_is():
    data = chain(20_000, 6)
    workload, price = marginals(data.domain, k=2), Price.of(rho="0.05")
    released = ChowLiu().release(workload, data, price, Seeded(1))
    assert released.loss == price.loss()
    found = set(released.notes[1].removeprefix("measured: ").split(", "))
    assert found == {f"a{i} x a{i + 1}" for i in range(5)}
    error = np.abs(released.answers - workload.answer(data)).mean()
    assert error < 0.005 * 20_000
    stated = [float(word) for word in released.notes[0].replace(",", "").split() if word[0].isdigit()]
    assert abs(stated[0] - error) <= stated[1]  # at this seed


@given(st.floats(0, 1e12), st.floats(1e-3, 1e9))
def test_the_interval_that_is_told_holds_what_was_found(mean, within):
    """In no more digits than are known: 12345.678 within 0.0101 is not told as 1.23e+04 within 0.01."""
    told, far = stated(mean, within)
    low, high = (Decimal(repr(mean)) + sign * Decimal(repr(within)) for sign in (-1, 1))
    assert told - far <= low and high <= told + far
    assert far <= Decimal("1.2") * Decimal(repr(within))


@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(rho="0.1", unit=SUBSTITUTE.histogram())])
def test_other_prices(price):
    rows = chain(5000, 4)
    data = Rows(rows.domain, rows._columns.T, price.unit)
    workload = marginals(data.domain, k=2)
    released = ChowLiu().release(workload, data, price, Seeded(3))
    assert np.abs(released.answers - workload.answer(data)).sum() < 0.5 * 5000 * 6
    assert released.answers.min() >= 0 and released.nonnegative().answers.min() >= 0


@pytest.mark.parametrize(("shape", "n"), [((1,), 0), ((5,), 3), ((1, 1), 10), ((3, 1, 4), 0), ((300, 2), 50)])
def test_nothing_is_too_small(shape, n):
    domain = Domain.of({f"a{i}": m for i, m in enumerate(shape)})
    data = Rows(domain, np.zeros((n, len(shape)), np.int64))
    workload = marginals(domain, k=1)
    released = ChowLiu().release(workload, data, Price.of(rho=1), Seeded(4))
    assert np.isfinite(released.answers).all()
    assert released.synthetic(7, Seeded(5)).shape == (7, len(shape))


def test_prices_of_picks_and_measurements_add_up():
    spent: list[Fraction] = []
    price = Price.of(rho="0.1")
    search = Search(chain(1000, 5), price, Seeded(6))
    search.pick = lambda scores, part: spent.append(part.amount) or int(np.argmax(scores))  # type: ignore[method-assign]
    measure = search.measure
    search.measure = lambda c, part: spent.append(part.amount) or measure(c, part)  # type: ignore[method-assign]
    search.span(price.part(Fraction(1, 40)), price.part(Fraction(9, 40)))
    assert sum(spent) == price.amount and len(spent) == 8


def test_what_is_too_wide_is_refused():
    domain = Domain.of({f"a{i}": 2 for i in range(500)})
    workload = marginals(domain, k=1)
    with pytest.raises(BadQuestion, match="; use residual"):
        plan(workload, None, Price.of(rho=1)).row("tree")
    with pytest.raises(BadQuestion, match="pairs of at most 400 attributes"):
        ChowLiu().release(workload, Rows(domain, np.zeros((1, 500), np.int64)), Price.of(rho=1))


def test_what_is_known_beforehand():
    """Of fifty values a record is in one, so the answers miss by 2 n / 50 on average at most."""
    workload, price = marginals(Domain.of({"a": 50, "b": 2}), subsets=[["a"]]), Price.of(rho=1)
    known = ChowLiu().predict(workload, 1000, price)
    assert 2000 / 50 <= known.mean < 2100 / 50
    assert 1000 <= known.worst < 1100 and known.mean <= known.rms <= known.worst
    assert ChowLiu().predict(workload, None, price).mean == np.inf


def test_a_single_attribute_has_no_pairs():
    line = Domain.of({"x": 5})
    told = ChowLiu().release(marginals(line, k=1), Rows(line, np.arange(50)[:, None] % 5), Price.of(rho=1), Seeded(0))
    assert told.notes[1] == "measured: no attributes together"
