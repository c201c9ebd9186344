"""Multiplicative weights against plain NumPy, and their progress against the theorem."""

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadParameter
from tacit.workloads import Domain, Histogram, Rows
from tacit.workloads.models._folded import Folded
from tacit.workloads.models.multiplicative_weights import LinearQuery, Weights, least_gap, most_updates
from tacit.workloads.queries._all_marginals import AllMarginals
from tacit.workloads.queries._layout import in_memory, longest_last, scale, summed

GOLDEN = {
    entry["id"]: entry
    for entry in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]
}
SHAPES = (
    *((2,) * 15, (3, 5, 2, 4, 7, 3, 2, 6), (20_000,), (3, 9_000), (40, 50, 6), (5, 1, 3), (300, 7, 9)),
    *((400, 300), (2, 150_000), (150_000, 2), (140_003,)),
)


@st.composite
def places(draw):
    """A shape and some of its axes."""
    shape = draw(st.sampled_from(SHAPES))
    axes = draw(st.sets(st.integers(0, len(shape) - 1)))
    return shape, tuple(sorted(axes))


@given(places(), st.integers(0, 10**6))
@settings(max_examples=60)
def test_sums_and_products_over_axes_are_those_of_numpy(place, seed):
    shape, axes = place
    random = np.random.default_rng(seed)
    values = random.integers(0, 1000, shape).astype(float)
    others = tuple(axis for axis in range(len(shape)) if axis not in axes)
    table = summed(values, axes)
    assert np.array_equal(table, values.sum(axis=others))
    factors = random.choice([1.0, 0.5, 3.0], table.shape)
    wanted = values * factors.reshape([size if axis in axes else 1 for axis, size in enumerate(shape)])
    scale(values, axes, factors)
    assert np.array_equal(values, wanted)


@given(places(), st.sampled_from([1, 10, 500]), st.integers(0, 10**6))
@settings(max_examples=80)
def test_what_a_query_holds_is_summed_and_multiplied_as_by_numpy(place, run, seed):
    """Masks with runs of any length, so that each of the ways is taken."""
    shape, axes = place
    random = np.random.default_rng(seed)
    values = random.integers(0, 1000, shape).astype(float)
    masks = {axis: random.integers(0, 2, -(-shape[axis] // run)).repeat(run)[: shape[axis]] for axis in axes}
    held = np.ones(shape)
    for axis, mask in masks.items():
        held *= mask.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    folded = Folded.of(shape, masks)
    assert folded.sum(values) == pytest.approx((held * values).sum(), rel=1e-12)
    wanted = values * (1 + 2 * held)
    values /= folded.scale(values, 2.0)
    assert np.array_equal(values, wanted)


@given(places(), st.sampled_from([20, 40]), st.floats(-0.999, 1e6).filter(bool), st.integers(0, 10**6))
@settings(max_examples=60)
def test_cells_are_multiplied_by_any_coefficients_but_for_rounding(place, digits, by, seed):
    """Within 4 units in the last place of the largest and the least factor, of what 64 bits of mantissa give."""
    shape, axes = place
    random = np.random.default_rng(seed)
    values, on = random.random(shape) + 0.5, axes[:1] or (0,)
    vector = random.integers(0, 1 << digits, [shape[axis] if axis in on else 1 for axis in range(len(shape))])
    if len(axes) > 1:  # on all cells
        vector = random.integers(0, 1 << digits, shape)
    vector = vector / 2.0**digits
    folded = Folded(np.ones(1), vector.ravel()) if len(axes) > 1 else Folded.of(shape, {on[0]: vector.ravel()})
    assert folded.sum(values) == pytest.approx((values * vector).sum(), rel=1e-12)
    wanted = values * (1 + vector.astype(np.longdouble) * by)
    values /= np.longdouble(folded.scale(values, by))
    assert float(np.abs(values / wanted - 1).max()) <= 4 * 2.0**-53 / min(1, 1 + by)


@given(st.sampled_from([(2, 3, 4), (5, 2, 3), (3, 1, 2, 2), (4,), (7, 3)]), st.integers(0, 10**6))
def test_weights_do_not_depend_on_how_they_lie_in_memory(shape, seed):
    domain, random = Domain.of({f"x{i}": size for i, size in enumerate(shape)}), np.random.default_rng(seed)
    assert longest_last(shape).shape == shape
    start = random.random(shape)
    asked = [
        LinearQuery(tuple(((a,), tuple(random.integers(0, 2, shape[a]).tolist())) for a in domain.all)),
        LinearQuery.on_cells(domain, random.integers(0, 2, domain.size)),
        LinearQuery.on_cells(domain, random.random(domain.size)),
        LinearQuery((((0,), tuple(random.integers(0, 5, shape[0]).tolist())),), Fraction(1, 4)),
    ]
    if len(shape) > 2:
        asked.append(LinearQuery((((0, 2), tuple(random.integers(0, 2, shape[0] * shape[2]).tolist())),)))
    order = random.permutation(len(shape))
    other = np.ascontiguousarray(start.transpose(order)).transpose(np.argsort(order))
    assert other.transpose(in_memory(other)).flags.c_contiguous
    one, two = Weights(domain, 10.0, start), Weights(domain, 10.0, other)
    plain = start.copy()
    for i in random.integers(0, len(asked), 12):
        question = asked[i]
        full = np.ones(shape)
        for axes, steps in question.factors:
            full = full * np.array(steps).reshape([shape[a] if a in axes else 1 for a in domain.all])
        share = float((full * plain).sum() / plain.sum()) * float(question.grid)
        assert question.answer(one) == pytest.approx(10 * share, rel=1e-9, abs=1e-12)
        by = random.uniform(-0.9, 0.9) * max(0.0, min(share, 1 - share))
        new, old = (min(max(x, 2.0**-40), 1 - 2.0**-40) for x in (share + by, share))
        plain *= 1 + (new / (1 - new) * (1 - old) / old - 1) * full * float(question.grid)
        one.move(question, by)
        two.move(question, by, question.answer(two))
        plain /= plain.sum()
    for weights in (one, two):
        assert np.allclose(weights.marginal(domain.all) / 10, plain, rtol=1e-9, atol=1e-300)
        for axis in domain.all:
            rest = tuple(a for a in domain.all if a != axis)
            assert np.allclose(weights.marginal((axis,)) / 10, plain.sum(axis=rest), rtol=1e-9)


def _asked(domain, random):
    """One question of each kind."""
    first, last = domain.shape[0], domain.shape[-1]
    yield LinearQuery.where(domain, {"x0": range(first // 2)})
    yield LinearQuery((((0,), tuple(random.integers(0, 2, first).tolist())),))
    yield LinearQuery.on_cells(domain, random.integers(0, 2, domain.size))
    yield LinearQuery.on_cells(domain, random.random(domain.size))
    yield LinearQuery((((0, 2), tuple(random.integers(0, 2, first * last).tolist())),))
    yield LinearQuery((((1,), (0, 1, 4)),), Fraction(1, 4))


def test_moves_alone_make_the_same_bits_again():
    """Answers in between, which a restart does not give again, leave no trace."""
    domain, random = Domain.of({"x0": 200, "x1": 3, "x2": 40}), np.random.default_rng(3)
    asked = list(_asked(domain, random))
    one, two = Weights(domain, 100.0), Weights(domain, 100.0)
    for i in random.integers(0, len(asked), 100).tolist():
        for j in random.integers(0, len(asked), 3).tolist():
            one.answer(asked[j])
        by = random.uniform(-0.1, 0.1)
        one.move(asked[i], by, one.answer(asked[i]))
        two.move(asked[i], by)
    assert np.array_equal(one.values, two.values)


THREADS = """
import numpy as np
from tacit.workloads import Domain
from tacit.workloads.models.multiplicative_weights import LinearQuery, Weights
random, domain = np.random.default_rng(0), Domain.of({"x": 3, "y": 100_003})
weights = Weights(domain, 1.0, random.random(domain.shape))
for question in (LinearQuery.on_cells(domain, random.integers(0, 2, domain.size)), LinearQuery((((0,), (0, 1, 1)),))):
    print(weights.answer(question).hex())
domain = Domain.of({"x": 2, "y": 300, "z": 400})
some = LinearQuery((((1, 2), tuple(random.integers(0, 2, 120_000).tolist())),))
print(Weights(domain, 1.0, random.random(domain.shape)).answer(some).hex())
"""


def test_answers_do_not_depend_on_the_number_of_threads():
    """Else the model would not be made again, to the last bit, where there are others."""
    found = {
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in "12"
    }
    assert len(found) == 1


@pytest.mark.parametrize("power", [-400, 400])
def test_weights_are_brought_back_without_rounding(power):
    domain = Domain.of({"x": 30, "y": 4})
    start = np.random.default_rng(4).random(domain.shape)
    near, far = Weights(domain, 10.0, start), Weights(domain, 10.0, np.ldexp(start, power))
    question = LinearQuery.on_cells(domain, np.arange(domain.size) % 2)
    assert far.answer(question) == near.answer(question)
    assert np.array_equal(np.frexp(far.values)[0], np.frexp(start)[0])
    assert 0.25 < far.values.mean() <= 1


def test_the_sum_that_is_kept_does_not_drift():
    """2000 moves, up and down by factors of up to a million; the bound allows 1e-9 at this size."""
    domain, random = Domain.of({"x": 1000, "y": 3}), np.random.default_rng(1)
    weights = Weights(domain, 1.0)
    worst = 0.0
    for i in range(2000):
        low, high = sorted(random.integers(0, 1000, 2).tolist())
        question = LinearQuery((((0,), tuple(int(low <= j <= high) for j in range(1000))),))
        if i % 3 == 0:
            question = LinearQuery.on_cells(domain, random.random(domain.size))
        by = (0.0005, 0.9, -0.9)[0 if i % 40 else random.integers(1, 3)]
        weights.move(question, by if random.random() < 0.5 else -by)
        if i % 10 == 0:
            worst = max(worst, abs(weights._sum.total / math.fsum(weights.values.ravel().tolist()) - 1))
    assert worst < 1e-9


@given(st.sets(st.sampled_from([axes for k in range(6) for axes in combinations(range(5), k)]), min_size=1))
def test_many_marginals_at_once(wanted):
    domain = Domain.of({"a": 2, "b": 3, "c": 1, "d": 4, "e": 2})
    values = np.arange(48.0).reshape(domain.shape)
    found = AllMarginals(wanted).of(values)
    assert found.keys() == wanted
    for axes in wanted:
        rest = tuple(axis for axis in range(5) if axis not in axes)
        assert np.array_equal(found[axes], values.sum(axis=rest))


def test_golden_update():
    weights = Weights(Domain.of({"x": 4}), 1.0)
    weights.tilt((0,), -GOLDEN["mw.update.i2"]["inputs"]["eta"] * np.array([0.0, 0.0, 1.0, 1.0]))
    assert weights.marginal((0,))[2] == pytest.approx(GOLDEN["mw.update.i2"]["value"], rel=1e-12)


def test_updates_and_gaps_are_inverse():
    for entry in (GOLDEN["pmw.c.X1024.a0.1"], GOLDEN["pmw.c.X64.a0.2"]):
        i = entry["inputs"]
        assert most_updates(i["X"], i["alpha"]) == math.floor(entry["value"] / 8)
        assert most_updates(i["X"], least_gap(i["X"], 100) * (1 + 1e-12)) == 99


def divergence(p, q):
    return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))


@st.composite
def scenes(draw):
    """Data and a model on a few cells, a query, and a share of the true gap."""
    cells = draw(st.integers(2, 8))
    counts = draw(st.lists(st.integers(0, 30), min_size=cells, max_size=cells).filter(any))
    weights = draw(st.lists(st.floats(0.05, 1), min_size=cells, max_size=cells))
    fine = draw(st.booleans())
    steps = draw(st.lists(st.integers(0, 4 if fine else 1), min_size=cells, max_size=cells))
    return np.array(counts), np.array(weights), tuple(steps), Fraction(1, 4 if fine else 1), draw(st.floats(0.01, 1))


@given(scenes())
@settings(max_examples=300)
def test_every_move_brings_the_model_nearer_by_twice_the_square(scene):
    counts, start, steps, grid, part = scene
    domain, n = Domain.of({"x": len(counts)}), float(counts.sum())
    weights, question = Weights(domain, n, start.copy()), LinearQuery((((0,), steps),), grid)
    p, q = counts / n, start / start.sum()
    gap = (question.exactly(Histogram(domain, counts)) * float(grid) - question.answer(weights)) / n
    by = part * gap
    weights.move(question, by)
    after = weights.marginal((0,)) / n
    assert divergence(p, q) - divergence(p, after) >= 2 * by**2 - 1e-9
    if grid == 1 and 0 < float(q @ np.array(steps)) < 1:
        assert question.answer(weights) / n == pytest.approx(float(q @ np.array(steps)) + by, abs=1e-9)


@given(scenes(), st.sampled_from([1e-14, 1e-9, 1e-4]))
@settings(max_examples=200)
def test_a_model_that_is_almost_sure_comes_nearer_as_well(scene, share):
    """Where a move to the spot would change odds by more than a step may."""
    counts, start, steps, grid, part = scene
    start = start * np.where(counts > 0, share, 1.0)
    domain, n = Domain.of({"x": len(counts)}), float(counts.sum())
    weights, question = Weights(domain, n, start.copy()), LinearQuery((((0,), steps),), grid)
    p, q = counts / n, start / start.sum()
    by = part * (float(p @ np.array(steps)) - float(q @ np.array(steps))) * float(grid)
    weights.move(question, by)
    after = weights.marginal((0,)) / n
    assert (after > 0).all()
    assert divergence(p, q) - divergence(p, after) >= 2 * by**2 - 1e-9


@given(scenes(), st.floats(-2, 2))
def test_golden_potential_bounds_every_step(scene, height):
    counts, start, steps, grid, _ = scene
    bound = GOLDEN["mw.potential.bound"]
    eta, gap = bound["inputs"]["eta"], bound["inputs"]["gap"]
    assert bound["value"] == pytest.approx(eta * gap - eta**2 / 8, rel=1e-12)
    f, p, q = np.array(steps) * float(grid), counts / counts.sum(), start / start.sum()
    after = q * np.exp(height * f)
    fall = divergence(p, q) - divergence(p, after / after.sum())
    assert fall >= height * float(p @ f - q @ f) - height**2 / 8 - 1e-9


def test_moves_end_when_the_theorem_says():
    domain, random = Domain.of({f"x{i}": 2 for i in range(6)}), np.random.default_rng(2)
    data = Histogram(domain, random.multinomial(1000, random.dirichlet(np.full(64, 0.05))))
    weights = Weights(domain, 1000.0)
    asked = [
        LinearQuery.where(domain, {f"x{i}": a, f"x{j}": b})
        for i, j in combinations(range(6), 2)
        for a in (0, 1)
        for b in (0, 1)
    ]
    moves, gap = 0, 0.04
    while True:
        gaps = [(q.exactly(data) - q.answer(weights)) / 1000 for q in asked]
        worst = int(np.argmax(np.abs(gaps)))
        if abs(gaps[worst]) < gap:
            break
        weights.move(asked[worst], math.copysign(gap, gaps[worst]))
        moves += 1
    assert 10 < moves <= most_updates(64, gap)


@pytest.mark.parametrize("shape", [(3, 2), (140_003,)])
def test_no_weight_is_ever_0(shape):
    """Moves as far as they go, most of them one way."""
    domain, random = Domain.of({f"x{i}": size for i, size in enumerate(shape)}), np.random.default_rng(5)
    weights, asked = Weights(domain, 1.0), [LinearQuery((((0,), (1,) + (0,) * (shape[0] - 1)),))]
    asked += [LinearQuery.on_cells(domain, random.random(domain.size)) for _ in range(2)]
    for i in range(900 if domain.size < 10 else 200):
        weights.move(asked[i % 3], -1.0 if random.random() < 0.9 else 1.0)
        assert weights.values.min() > 0
    for _ in range(9):
        weights.move(asked[0], 0.5)
    assert asked[0].answer(weights) > 0.4


def test_weights_stay_finite():
    weights = Weights(Domain.of({"x": 3, "y": 2}), 10.0)
    for _ in range(400):
        weights.tilt((0,), np.array([40.0, 39.99, 0.0]))
        assert weights.marginal(()) == pytest.approx(10)
    first = LinearQuery.where(weights.domain, {"y": 0})
    for _ in range(400):
        weights.move(first, 0.9)
        weights.move(first, -0.9)
    for _ in range(40):
        weights.move(first, 0.0)
        weights.tilt((1,), np.array([30.0, 30.0]))
    assert first.answer(weights) + LinearQuery.where(weights.domain, {"y": 1}).answer(weights) == pytest.approx(10)
    assert np.isfinite(weights.values).all()


def test_questions():
    domain = Domain.of({"a": 3, "b": ["u", "v"], "c": 2})
    random = np.random.default_rng(0)
    data = Rows(domain, np.stack([random.integers(0, size, 500) for size in domain.shape], axis=1))
    full = data.marginal(domain.all)
    asked = LinearQuery.where(domain, {"c": 1, "a": [0, 2]})
    assert asked.axes == (0, 2)
    assert asked.exactly(data) == full[[0, 2], :, 1].sum()
    assert asked.answer(Weights(domain, 500.0)) == pytest.approx(500 / 3)
    every = LinearQuery.where(domain, {})
    assert every.exactly(data) == 500
    fine = LinearQuery.on_cells(domain, np.linspace(0, 1, 12))
    assert fine.exactly(data) == int((np.round(np.linspace(0, 1, 12) * 2**20) * full.ravel()).sum())
    assert fine.grid == Fraction(1, 2**20)
    assert not fine.counts
    with pytest.raises(BadParameter, match="comes alone"):
        LinearQuery((((0,), (1, 2, 3)), ((1,), (1, 1))), Fraction(1, 4))
    joint = LinearQuery.on_cells(domain, np.arange(12) % 2)
    assert joint.exactly(data) == full[..., 1].sum()
    one, other = Weights(domain, 1.0), Weights(domain, 1.0)
    one.move(joint, 0.1)
    other.move(LinearQuery.where(domain, {"c": 1}), 0.1)
    assert np.allclose(one.values, other.values, rtol=1e-15)
    for factors, grid in (((), 10**9), ((), Fraction(1, 2)), ((((0,), (0, 1, 0)),), Fraction(2, 3))):
        with pytest.raises(BadParameter, match="one over a whole number"):  # the same
            LinearQuery(factors, Fraction(grid))
    steps = [0, 1, 0]
    kept = LinearQuery((((0,), steps),))
    steps[1] = 10**9
    assert kept.factors == (((0,), (0, 1, 0)),)
    with pytest.raises(BadParameter, match="whole numbers"):
        LinearQuery((((0,), (0.5, 0.5, 1)),))
    for steps, grid in (((2, 0, 1), 1), ((-1, 0, 1), 1), ((5, 0, 1), Fraction(1, 4))):
        with pytest.raises(BadParameter, match="between 0 and 1"):  # else one record would count for more than one
            LinearQuery((((0,), steps),), Fraction(grid))
    with pytest.raises(BadParameter, match="on the domain"):
        LinearQuery((((0,), (1, 0)),)).exactly(data)
    with pytest.raises(BadParameter, match="in the order"):
        LinearQuery((((1,), (1, 0)), ((0,), (1, 1, 0))))
    with pytest.raises(BadParameter, match="two or more"):
        least_gap(1, 5)


def test_a_copy_is_its_own():
    weights = Weights(Domain.of({"x": 2}), 1.0)
    other = weights.copy()
    other.tilt((0,), np.array([1.0, 0.0]))
    assert weights.values.tolist() == [1.0, 1.0]
