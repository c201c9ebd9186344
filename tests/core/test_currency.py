"""Currencies are filters: against 50 digits, and against every adaptive adversary of a few coins.

The adversary asks coins (randomized response), chooses each next epsilon, or to stop, by the loss realised so far, and
wants the largest hockey-stick divergence between the laws of the transcript on two neighbours.  The best play is found
by going backwards through all states; the transcripts of a given play are listed one by one.
"""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.atoms import Approximate
from tacit.core.budget import Budget
from tacit.core.currency import RenyiAt
from tacit.core.law import Finite, hockey_stick
from tacit.core.loss import Loss, Pure, zero

MP = mpmath.MPContext()
MP.dps = 50
EIGHTH, QUARTER, HALF, ONE, TWO = (Fraction(n, 8) for n in (1, 2, 4, 8, 16))

amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=3, max_denominator=10**6)
deltas = st.sampled_from([Fraction(1, 10**k) for k in (2, 4, 6, 9, 12)])


def pure(epsilon):
    return Loss({Pure(Fraction(epsilon)): 1})


def real(x):
    return MP.mpf(x.numerator) / x.denominator


def coin(epsilon, order):
    """The Renyi divergence of a coin of odds e^epsilon, to 50 digits."""
    e, a = real(epsilon), real(order)
    return MP.log1p(2 * MP.sinh(a * e / 2) * MP.sinh((a - 1) * e / 2) / MP.cosh(e / 2)) / (a - 1)


def test_never_beyond_the_rule():
    """Against 50 digits: what is admitted keeps the rule, and what the classical rule admits is admitted."""
    for u, v, w in np.random.default_rng(1).uniform(size=(2000, 3)):
        epsilon, slack, part = (Fraction(f"{10**x:.3g}") for x in (3.3 * u - 2, 11.9 * v - 12, -9 * w))
        budget, step = Budget(epsilon=epsilon, delta=slack, slack=slack), epsilon * part
        a, price = real(budget.sums[1][0].order), coin(step, budget.sums[1][0].order)
        limit = real(epsilon) + (MP.log(real(slack)) - (a - 1) * MP.log(1 - 1 / a) + MP.log(a)) / (a - 1)
        most = max(int(limit / price), math.floor(epsilon / step))
        assert not budget.admits(zero, (most + 1) * pure(step))
        assert budget.admits(zero, int(most * (1 - 1e-4)) * pure(step))
        nats = MP.log(1 / real(slack))
        classical = 2 * (MP.sqrt(nats + real(epsilon)) - MP.sqrt(nats)) ** 2 / real(step) ** 2
        assert budget.admits(zero, int(classical) * pure(step))


@given(st.fractions(min_value=Fraction(101, 100), max_value=100, max_denominator=100), amounts, deltas)
@settings(max_examples=200, deadline=None)
def test_room_is_a_lower_bound(order, epsilon, delta):
    a = real(order)
    truth = (MP.log(real(delta)) - (a - 1) * MP.log(1 - 1 / a) + MP.log(a)) / (a - 1)
    assert 0 <= truth - real(RenyiAt(order).room(delta)) < 1e-40
    assert RenyiAt(order).of(Pure(epsilon)) >= Fraction(str(coin(epsilon, order)))


@pytest.mark.parametrize("epsilon", [10.0**-k for k in range(1, 25)])
@pytest.mark.parametrize("order", ["1.001", "2", "27"])
def test_small_losses_are_not_cheap(order, epsilon):
    atom, order = Pure(Fraction(str(epsilon))), Fraction(order)
    truth = coin(atom.epsilon, order)
    assert truth <= real(RenyiAt(order).of(atom)) <= truth * MP.mpf("1.0001")


def up(epsilon):
    """The probability with which a coin's loss is +epsilon; otherwise it is -epsilon."""
    return 1 / (1 + math.exp(-epsilon))


def worst(levels, rounds, admits, payoff):
    """The largest mean payoff of the loss at the end, over all plays in which each purchase is admitted."""
    admits = cache(admits)

    @cache
    def value(counts, loss):
        best = payoff(loss)
        for i, level in enumerate(levels if sum(counts) < rounds else ()):
            after = tuple(n + (j == i) for j, n in enumerate(counts))
            if admits(after):
                e, fails = level.epsilon, float(level.failure())
                tossed = up(e) * value(after, loss + e) + (1 - up(e)) * value(after, loss - e)
                best = max(best, fails * payoff(math.inf) + (1 - fails) * tossed)
        return best

    return value((0,) * len(levels), Fraction(0))


def stick(epsilon):
    """Its mean is the hockey-stick divergence at epsilon."""
    return lambda loss: max(0.0, -math.expm1(epsilon - loss))


def transcripts(play, so_far=()):
    """Each complete list of losses with its probability on the one table; on the other all losses change sign."""
    e = play(so_far)
    if e is None:
        return {so_far: 1.0}
    return {t: q * p for x, q in ((e, up(e)), (-e, 1 - up(e))) for t, p in transcripts(play, (*so_far, x)).items()}


def divergence(play, epsilon):
    here = transcripts(play)
    there = {t: p * math.exp(-sum(t)) for t, p in here.items()}
    assert math.isclose(sum(here.values()), 1) and math.isclose(sum(there.values()), 1)
    return max(hockey_stick(Finite(a), Finite(b), epsilon) for a, b in ((here, there), (there, here)))


def composed(epsilons, epsilon):
    """The divergence if these epsilons are fixed beforehand: the composed privacy loss distribution, exactly."""
    return divergence(lambda t: epsilons[len(t)] if len(t) < len(epsilons) else None, epsilon)


def best_order(epsilons, epsilon):
    """The delta at epsilon by Renyi divergences, their order chosen last."""
    a = 1 + np.geomspace(0.01, 200, 400)
    coins = (np.log1p(2 * np.sinh(a * e / 2) * np.sinh((a - 1) * e / 2) / np.cosh(e / 2)) for e in map(float, epsilons))
    return float(np.exp(sum(coins) - (a - 1) * epsilon - a * np.log(a) + (a - 1) * np.log(a - 1)).min())


def after_two(losses):
    """1/4 twice; if both went up, 1 once; if one did, 1/2 three times."""
    if len(losses) < 2:
        return QUARTER
    plan = {HALF: [ONE], 0: 3 * [HALF], -HALF: []}[sum(losses[:2])]
    return plan[len(losses) - 2] if len(losses) < 2 + len(plan) else None


def after_one(losses):
    """1/8; if it went up, 2 once; if down, 1/2 five times."""
    if not losses:
        return EIGHTH
    plan = [TWO] if losses[0] > 0 else 5 * [HALF]
    return plan[len(losses) - 1] if len(losses) <= len(plan) else None


@pytest.mark.parametrize(
    ("account", "play", "levels", "epsilon", "delta", "truth"),
    [
        pytest.param(composed, after_two, (QUARTER, HALF, ONE), 1, 0.095, 0.137623, id="composed distribution"),
        pytest.param(best_order, after_one, (EIGHTH, HALF, TWO), 2, 0.0611, 0.068677, id="order chosen last"),
    ],
)
def test_a_composed_curve_is_not_a_filter(account, play, levels, epsilon, delta, truth):
    """Each sequence that can happen keeps the budget by its own account, yet the whole does not; no play is worse."""
    sequences = {tuple(abs(x) for x in t[:k]) for t in transcripts(play) for k in range(1, len(t) + 1)}
    assert max(account(s, epsilon) for s in sequences) <= delta
    assert divergence(play, epsilon) == pytest.approx(truth, abs=1e-6)
    assert truth > 1.12 * delta
    assert not all(Budget(epsilon=epsilon, delta=delta).admits(zero, sum(map(pure, s), zero)) for s in sequences)

    def naive(counts):
        return account([e for e, n in zip(levels, counts, strict=True) for _ in range(n)], epsilon) <= delta

    assert worst([Pure(e) for e in levels], 6, naive, stick(epsilon)) == pytest.approx(truth, abs=1e-6)


BUDGETS = [
    Budget(epsilon=1),
    Budget(epsilon=1, delta="0.095"),
    Budget(epsilon=2, delta="0.0611", slack="0.0611"),
    Budget(epsilon="0.5", delta="0.2", slack="0.2"),
    Budget(epsilon="0.5", delta="0.1", slack=0),
    Budget(rho="0.125"),
    Budget(rho="0.5", delta="0.04"),
    Budget(renyi_order=3, epsilon=1),
    Budget(renyi_order="1.5", epsilon="0.25"),
]
LEVELS = [
    (Pure(QUARTER), Pure(HALF), Pure(ONE)),
    (Pure(EIGHTH), Pure(HALF), Pure(TWO)),
    (Pure(EIGHTH), Approximate(QUARTER, Fraction("0.02")), Approximate(ONE, Fraction("0.01"))),
]


@pytest.mark.parametrize("levels", LEVELS, ids=["coins", "far coins", "failing coins"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_no_adversary_gets_past_a_budget(budget, levels):
    def admits(counts):
        return budget.admits(zero, Loss(dict(zip(levels, counts, strict=True))))

    for delta in ("0.05", "0.2"):
        epsilon, at = budget.guarantee(delta)
        assert worst(levels, 9, admits, stick(epsilon)) <= at * (1 + 1e-12)
    if not budget.failures and (budget.rho or budget.renyi_order):
        for a in (1.5, 3, 8) if budget.rho else (float(budget.renyi_order),):
            most = budget.limit * (Fraction(a) if budget.rho else 1)
            assert math.log(worst(levels, 9, admits, lambda loss: math.exp((a - 1) * loss))) / (a - 1) <= most


def test_the_union_filter_is_used_to_the_full():
    """Not vacuous: with many small coins the best play comes within a factor of the promise."""
    budget, levels = Budget(epsilon="0.5", delta="0.2", slack="0.2"), (Pure(EIGHTH), Pure(QUARTER), Pure(ONE))
    found = worst(levels, 30, lambda c: budget.admits(zero, Loss(dict(zip(levels, c, strict=True)))), stick(0.5))
    assert 0.1 < found <= 0.2
