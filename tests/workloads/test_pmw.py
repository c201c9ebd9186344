"""Private multiplicative weights: the exact law of a session, its promise, its state, and the constants."""

import json
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import Loss, Pure, zero
from tacit.core.distance import SUBSTITUTE
from tacit.core.errors import BadData, BadParameter, BadQuestion
from tacit.testing.mechanisms import Refuted, loss_covers_law
from tacit.testing.mechanisms.claims import CHECKS
from tacit.testing.sources import Seeded
from tacit.theory.linear_queries import weights_epsilon
from tacit.workloads import Domain, Histogram, Price, Rows, from_matrix, marginals, method, plan, predicates, ranges
from tacit.workloads.methods.weights.pmw import Move, Moves, OnlineState, PrivateMultiplicativeWeights
from tacit.workloads.methods.weights.pmw_offline import questions
from tacit.workloads.methods.weights.pmw_plans import (
    classical,
    classical_threshold,
    classical_updates,
    consistent_alpha,
    practical,
    proven,
)
from tacit.workloads.models.multiplicative_weights import LinearQuery, Weights, least_gap

GOLDEN = {
    entry["id"]: entry
    for entry in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]
    if entry["id"].startswith("pmw.")
}
EXAMPLES = list(PrivateMultiplicativeWeights.examples())
BITS = Domain.of({f"x{i}": 2 for i in range(6)})


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_claims_hold_against_the_exact_law(example, check):
    check(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_law_is_one(example):
    law = example.mechanism.law(example.x)
    assert math.fsum(law.mass(y) for y in law.support(1e-15)) == pytest.approx(1, abs=1e-12)
    assert law.mass(()) == 0


def test_a_life_sold_at_half_its_price_is_refuted():
    class Cheap(PrivateMultiplicativeWeights):
        def loss(self, distance=None):
            return Loss({Pure(Fraction(self.price.epsilon, 2)): 1}) if distance else super().loss()

    example = EXAMPLES[0]
    known = {name: getattr(example.mechanism, name) for name in ("domain", "n", "price", "updates", "threshold")}
    with pytest.raises(Refuted, match="claimed"):
        loss_covers_law(replace(example, mechanism=Cheap(**known, questions=3)))


def table(seed, n=20_000):
    random = np.random.default_rng(seed)
    return Histogram(BITS, random.multinomial(n, random.dirichlet(np.full(64, 0.1))))


def stream(k, seed=0):
    random = np.random.default_rng(seed)
    pairs = list(combinations(BITS.names, 2))
    chosen = random.integers(0, len(pairs), k).tolist()
    return [
        LinearQuery.where(BITS, dict(zip(pairs[i], random.integers(0, 2, 2).tolist(), strict=True))) for i in chosen
    ]


def lived(mechanism, data, questions, seed):
    source = Seeded(seed)
    state, answers = mechanism.begin(source), []
    for question in questions:
        state, answer = mechanism.step(state, (question, question.exactly(data)), source)
        answers.append(answer)
    return state, answers


@pytest.mark.parametrize("price", [Price.of(epsilon=4), Price.of(rho=2)], ids=str)
def test_the_promise_for_all_questions_is_kept(price):
    """At beta = 1e-10; updates never run out, as the theorem says."""
    data, asked = table(1), stream(150)
    mechanism = proven(BITS, 20_000, price, questions=150, beta="1e-10")
    state, answers = lived(mechanism, data, asked, 5)
    assert {answer.by for answer in answers} == {"model", "data"}
    assert all(answer.error == mechanism.error() < 20_000 for answer in answers)
    for question, answer in zip(asked, answers, strict=True):
        assert abs(answer.value - question.exactly(data)) <= answer.error
    assert len(state.moves) < mechanism.updates


def test_proven_is_narrower_than_classical():
    price = Price.of(epsilon=1)
    sharp = proven(BITS, 10**7, price, questions=1000)
    a, w = sharp.noise_bounds
    gap = sharp.threshold * 10**7 - a - Fraction(1, 2)  # of an update, at least
    assert gap > w and gap >= 10**7 * least_gap(64, sharp.updates) and sharp.least * 10**7 == gap
    old = classical(BITS, 10**7, price, questions=1000)
    assert sharp.error() < old.error() / 2
    assert old.error() <= 3 * consistent_alpha(64, 1000, epsilon=1, n=10**7, beta=0.05) * 10**7
    with pytest.raises(BadQuestion, match=r"They need about \d+ records"):
        classical(BITS, 1000, price)
    with pytest.raises(BadParameter, match="pure"):
        classical(BITS, 1000, Price.of(rho=1))


def test_golden_constants():
    for name in ("pmw.T.pure.X1024.a0.1", "pmw.T.approx.X64.a0.2"):
        i = GOLDEN[name]["inputs"]
        found = classical_threshold(
            i["X"], i["Q"], i["alpha"], epsilon=i["eps"], n=i["n"], beta=i["beta"], delta=i.get("delta", 0.0)
        )
        assert found == pytest.approx(GOLDEN[name]["value"], rel=1e-12)
    for name in ("pmw.c.X1024.a0.1", "pmw.c.X64.a0.2"):
        i = GOLDEN[name]["inputs"]
        assert classical_updates(i["X"], i["alpha"]) == pytest.approx(GOLDEN[name]["value"], rel=1e-12)
        seed = GOLDEN[name.replace(".c.", ".updates.seed.")]
        assert classical_updates(i["X"], i["alpha"] / 2) == pytest.approx(seed["value"], rel=1e-12)
    entry = GOLDEN["pmw.alpha_star.pure.X64.Q100"]
    i = entry["inputs"]
    found = consistent_alpha(i["X"], i["Q"], epsilon=i["eps"], n=i["n"], beta=i["beta"])
    assert found == pytest.approx(entry["value"], rel=1e-10)
    entry = GOLDEN["pmw.seed.eps0"]
    i = entry["inputs"]
    found = weights_epsilon(i["k"], i["n"], i["alpha"], i["beta"])
    assert found == pytest.approx(entry["value"], rel=1e-12)


@pytest.mark.parametrize("unit", [None, SUBSTITUTE.histogram()])
def test_a_life_costs_its_price(unit):
    pure = practical(BITS, 1000, Price.of(epsilon="0.7", unit=unit), updates=30)
    assert pure.loss().epsilon() == pytest.approx(0.7, rel=1e-12)
    assert Budget(epsilon="0.7").admits(zero, pure.loss())
    concentrated = practical(BITS, 1000, Price.of(rho="0.1", unit=unit), updates=30)
    assert Budget(rho="0.1").admits(zero, concentrated.loss())
    assert not Budget(rho="0.0999").admits(zero, concentrated.loss())


@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(rho="0.05")], ids=str)
def test_a_life_goes_on_after_a_restart(price):
    data, asked = table(2), stream(80)
    mechanism = practical(BITS, 20_000, price, updates=40)
    state, _ = lived(mechanism, data, asked, 3)
    assert state.moves
    kept = pickle.dumps(state)
    again = pickle.loads(kept)
    assert again == state
    assert len(kept) < 400 * (len(state.moves) + 1)
    assert np.array_equal(mechanism.model(again).values, mechanism.model(state).values)
    rest = [(question, question.exactly(data)) for question in stream(20, 9)]
    one, two = Seeded(8), Seeded(8)
    first, second = state, again
    for value in rest:
        first, told = mechanism.step(first, value, one)
        second, same = mechanism.step(second, value, two)
        assert told == same
    assert str(state.bar) not in repr(state).split("asked")[0]
    with pytest.raises(FrozenInstanceError):
        state.asked = 0


def test_a_step_leaves_the_state_it_came_from_as_it_was():
    mechanism = PrivateMultiplicativeWeights(BITS, 20_000, Price.of(epsilon=50), updates=5, threshold="0.001")
    state, source, data = mechanism.begin(Seeded(1)), Seeded(2), table(3)
    before = mechanism.model(state).values.copy()
    question = LinearQuery.where(BITS, {"x0": 1})
    later, answer = mechanism.step(state, (question, question.exactly(data)), source)
    assert answer.by == "data"
    assert np.array_equal(mechanism.model(state).values, before)
    assert not np.array_equal(mechanism.model(later).values, before)


def test_an_interrupt_leaves_the_public_model_as_it_was(monkeypatch):
    """Else it would learn from an update that was not counted."""
    domain = Domain.of({"x": 4})
    life = PrivateMultiplicativeWeights(
        domain, 1000, Price.of(epsilon=1000), updates=3, threshold="0.01", questions=9, beta="0.1"
    )
    session, question, move = life.start(), LinearQuery.where(domain, {"x": 0}), Weights.move

    def interrupted(*given):
        move(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Weights, "move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.ask((question, 1000))
    monkeypatch.setattr(Weights, "move", move)
    assert question.answer(life.model(session.state)) == 250


def test_when_updates_are_used_up_the_model_answers_and_says_so():
    mechanism = PrivateMultiplicativeWeights(BITS, 20_000, Price.of(epsilon=50), updates=3, threshold=0, questions=4)
    data = table(4)
    state, answers = lived(mechanism, data, stream(40), 1)
    assert [answer.by for answer in answers].count("data") == 3
    assert mechanism.over(state)
    later, answer = mechanism.step(state, (stream(1)[0], None), Seeded(0))  # the data are not looked at
    assert (answer.by, answer.error) == ("unchecked model", None)
    assert answer.value == round(stream(1)[0].answer(mechanism.model(state)))
    assert later.asked == 41
    assert mechanism.model(later).synthetic(10, Seeded(1)).shape == (10, 6)


def test_no_promise_is_made_beyond_the_questions_it_was_for():
    mechanism = PrivateMultiplicativeWeights(
        BITS, 20_000, Price.of(epsilon=1), updates=90, threshold="0.9", questions=2
    )
    _, answers = lived(mechanism, table(5), stream(3), 1)
    assert [answer.error is None for answer in answers] == [False, False, True]


def test_learning_beats_a_uniform_guess():
    data, asked = table(6), stream(400)
    mechanism = practical(BITS, 20_000, Price.of(epsilon=1, delta="1e-9"), updates=60)
    _, answers = lived(mechanism, data, asked, 2)
    truth = np.array([question.exactly(data) for question in asked])
    uniform = np.array([question.answer(Weights(BITS, 20_000.0)) for question in asked])
    told = np.array([answer.value for answer in answers])
    assert np.abs(told - truth).mean() < np.abs(uniform - truth).mean() / 3


def test_what_cannot_be_asked_is_refused():
    mechanism = PrivateMultiplicativeWeights(BITS, 100, Price.of(epsilon=1), updates=1, threshold=0)
    state, source = mechanism.begin(Seeded(0)), Seeded(0)
    with pytest.raises(BadParameter, match="grid"):
        mechanism.step(state, (LinearQuery.on_cells(BITS, np.full(64, 0.3)), 3), source)
    for wrong in (0.5, True, "3"):
        with pytest.raises(BadData):
            mechanism.step(state, (LinearQuery.where(BITS, {"x0": 1}), wrong), source)
    with pytest.raises(BadQuestion, match="cells"):
        PrivateMultiplicativeWeights(Domain.of({"x": 1}), 100, Price.of(epsilon=1), updates=1, threshold=0)


def test_fractions_are_asked_in_steps():
    fine = PrivateMultiplicativeWeights(
        BITS, 20_000, Price.of(epsilon=100), updates=8, threshold="0.01", grid=Fraction(1, 1 << 20)
    )
    data, question = table(7), LinearQuery.on_cells(BITS, np.linspace(0, 1, 64))
    truth = question.exactly(data) / 2**20
    state, source = OnlineState(fine.begin(Seeded(1)).bar), Seeded(2)
    for _ in range(8):
        state, answer = fine.step(state, (question, question.exactly(data)), source)
    assert answer.value == pytest.approx(truth, abs=fine.error())
    count = LinearQuery.where(BITS, {"x0": 0})
    state, answer = fine.step(state, (count, count.exactly(data)), source)
    assert answer.value == pytest.approx(count.exactly(data), abs=20_000)


def test_an_older_state_makes_its_own_model_again():
    """Models are moved in place; two futures of one state do not disturb each other, nor what was handed out."""
    mechanism = PrivateMultiplicativeWeights(BITS, 20_000, Price.of(epsilon=80), updates=6, threshold="0.001")
    data, asked = table(8), stream(6, 4)
    state, source = mechanism.begin(Seeded(1)), Seeded(2)
    out = mechanism.model(state)
    values = [(question, question.exactly(data)) for question in asked]
    one, _ = mechanism.step(state, values[0], source)
    two, _ = mechanism.step(state, values[1], source)
    later, _ = mechanism.step(one, values[2], source)
    for of in (state, one, two, later):
        fresh = Weights(BITS, 20_000.0)
        for move in of.moves:
            fresh.move(move.question, move.by)
        assert np.array_equal(mechanism.model(of).values, fresh.values)
    assert (out.values == 1).all() and len(later.moves) == 2


@pytest.mark.parametrize("price", [Price.of(epsilon=8), Price.of(rho=4)], ids=str)
def test_a_known_workload_is_asked_until_every_answer_is_checked(price):
    """At beta = 1e-9: all answers of the last model are within what was stated, beforehand and afterwards."""
    workload, data = marginals(BITS, k=2), table(9)
    predicted = method("pmw").predict(workload, 20_000, price, beta="1e-9")
    released = method("pmw").release(workload, data, price, Seeded(3), n=20_000, beta="1e-9")
    misses = np.abs(released.answers - workload.answer(data))
    assert "checked" in released.notes[0] and "0 updates" not in released.notes[0]
    assert misses.max() <= released.errors[0] == predicted.worst < 20_000
    uniform = np.abs(workload.answer(Weights(BITS, 20_000.0)) - workload.answer(data))
    assert misses.mean() < uniform.mean() and misses.max() < uniform.max()


def test_what_is_stated_of_checked_answers_holds_for_any_number_of_records():
    """At beta = 1e-9, and 900 records where 500 were told of: a cap at n would be of no use to them."""
    two, truth = Domain.of({"x": 2}), np.array([900, 0])
    workload, unit = marginals(two, k=1), SUBSTITUTE.histogram()
    stated = []
    for seed in range(12):
        released = method("pmw").release(
            workload, Histogram(two, truth), Price.of(epsilon="0.05"), Seeded(seed), n=500, beta="1e-9"
        )
        if released.errors is not None:
            stated.append(np.abs(released.answers - truth).max() <= released.errors[0])
    assert len(stated) > 3 and all(stated)
    kept = method("pmw").release(
        workload, Histogram(two, [400, 100], unit), Price.of(epsilon="0.01", unit=unit), Seeded(1), n=500
    )
    assert kept.errors.tolist() == [500, 500]  # where units are substituted n is what there is


@pytest.mark.parametrize(("n", "counts"), [(10**8, 156), (10**6, 156), (10**5, 0), (10**5, 10**5)])
def test_it_ends_where_n_is_not_the_number_of_records(n, counts):
    """Moves that n records cannot explain are the end of it, though thousands of updates are left."""
    cube = Domain.of({"a": 4, "b": 4, "c": 2})
    asked, price = marginals(cube, k=2), Price.of(rho="0.5")
    released = method("pmw").release(asked, Histogram(cube, np.full(32, counts)), price, Seeded(1), n=n)
    assert f"these are not {n} records" in released.notes[0] and released.errors is None
    assert int(released.notes[0].split()[0]) < min(100, method("pmw").mechanism(asked, n, price, 0.05).updates)


@pytest.mark.parametrize("seed", range(8))
def test_moves_towards_the_data_bring_no_more_than_there_is(seed):
    """The falls of KL(p | q) that moves promise are true ones, so that they add up to ln |X| at most."""
    rng = np.random.default_rng(seed)
    cube = Domain.of({"a": 5, "b": 4})
    p = rng.dirichlet(np.full(20, 0.2))
    model, fallen = Weights(cube, 1.0), 0.0

    def divergence():
        return float((p * np.log(p / (model.values.ravel() / model.values.sum()))).sum())

    for _ in range(60):
        question = LinearQuery.on_cells(cube, rng.choice([rng.random(20), rng.integers(0, 2, 20)]))
        guess, before = question.answer(model), divergence()
        gap = float(question.vectors[0] @ p) * float(question.grid) - guess
        fall = model.move(question, rng.random() * gap, guess)
        assert 0 <= fall <= before - divergence() + 1e-9
        fallen += fall
    assert 0.1 < fallen <= np.log(20)


def test_many_moves_are_not_copied_with_each():
    one, other = (Move(LinearQuery.where(BITS, {"x0": i}), 0.1) for i in (0, 1))
    moves = chain = Moves(())
    for _ in range(10**5):  # which would be 5 * 10^9 copies
        chain = chain.then(one)
    assert len(moves) == 0 and len(chain) == 10**5 and chain[-1] is one
    left, right = (chain.then(move) for move in (one, other))  # of two lives, one does not see the other
    assert left[-1] is one and right[-1] is other and len(chain) == 10**5 and left != right
    assert pickle.loads(pickle.dumps(right)) == right == (*chain, other) and right[:-1] == list(chain)


def test_fine_steps_at_a_low_price():
    """Updates whose noise would be too wide to draw are not thought of."""
    life = proven(Domain.of({"x": 5}), 1000, Price.of(epsilon="0.02"), questions=5, grid=Fraction(1, 1 << 20))
    assert life.updates < 1 << 24 and life.loss().epsilon() <= 0.02 * (1 + 1e-12)
    with pytest.raises(BadParameter, match="scale of the noise"):
        proven(Domain.of({"x": 5}), 1000, Price.of(epsilon="1e-9"), grid=Fraction(1, 1 << 20))


def test_questions_that_memory_cannot_hold_are_refused():
    domain, price = Domain.of({f"x{i}": 2 for i in range(16)}), Price.of(epsilon=1)
    many = from_matrix(domain, sparse.csr_array((1 << 12, 1 << 16)))
    assert "memory" in method("pmw").refusal(many, 1000, price)
    few = marginals(domain, k=3)  # of as many steps, but each coefficient lies on one axis
    assert few.queries * domain.size > 1 << 27 and method("pmw").refusal(few, 1000, price) is None


def test_the_queries_of_any_workload_are_questions():
    domain = Domain.of({"a": 3, "b": 2, "c": 4})
    data = Rows(domain, np.stack([np.random.default_rng(0).integers(0, s, 200) for s in domain.shape], axis=1))
    some = [
        marginals(domain, subsets=[["a", "c"], ["b"], []]),
        ranges(domain, "a", "c"),
        predicates(domain, [{"a": [0, 2], "b": 1}, {}]),
        predicates(domain, [{"c": np.array([0, 0.5, 0.25, 1])}, {"a": [0, 2], "b": 1}]),
        from_matrix(domain, np.random.default_rng(1).integers(0, 3, (4, 24)) / 2),
    ]
    for workload in (*some, some[0] + some[3]):
        asked = list(questions(workload))
        found = [question.exactly(data) * float(question.grid) for question in asked]
        assert np.allclose(found, workload.answer(data), rtol=1e-12)


def test_it_is_a_row_of_the_plan():
    """With many people, on many cells and queries, the bound falls as the cube root says, or a square root."""
    workload = marginals(BITS, k=2)
    for price, power in ((Price.of(epsilon=1), 1 / 3), (Price.of(rho="0.1"), 1 / 2)):
        shares = []
        for n in (10**6, 10**9):
            row = next(r for r in plan(workload, n, price).records() if r["method"] == "pmw")
            assert row["kind"] == "bound" and row["seconds"] > 0
            shares.append(row["normalised"])
        fell = math.log(shares[0] / shares[1]) / math.log(1000)
        assert power - 0.05 < fell < power + 0.02  # and a little for the logarithm of the updates
    assert "n must be public" in method("pmw").refusal(workload, None, Price.of(epsilon=1))
    wide = marginals(Domain.of({f"x{i}": 2 for i in range(23)}), k=3)
    assert "steps a round; it takes at most 1e+10" in method("pmw").refusal(wide, 1000, Price.of(epsilon=1))
    with pytest.raises(BadQuestion, match="; use residual"):
        plan(wide, 1000, Price.of(epsilon=1)).row("pmw")
