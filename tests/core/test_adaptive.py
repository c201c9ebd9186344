"""Filters against every adaptive adversary of a few coins.

The adversary asks coins (randomized response), chooses each next epsilon, or to stop, by the loss realised so far, and
wants the largest hockey-stick divergence between the laws of the transcript on two neighbours.  The best play is found
by going backwards through all states; the transcripts of a given play are listed one by one.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tacit.core.accounting.atoms import Approximate
from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import Loss, Pure, zero
from tacit.core.law import Finite, hockey_stick

EIGHTH, QUARTER, HALF, ONE, TWO = (Fraction(n, 8) for n in (1, 2, 4, 8, 16))


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
                best = max(best, fails * payoff(math.inf) + (1 - fails) * tossed if fails else tossed)
        return best

    return value((0,) * len(levels), Fraction(0))


def admitting(budget, levels):
    return lambda counts: budget.admits(zero, Loss(dict(zip(levels, counts, strict=True))))


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
    ("account", "play", "epsilon", "delta", "truth"),
    [
        pytest.param(composed, after_two, 1, 0.095, 0.137623, id="composed distribution"),
        pytest.param(best_order, after_one, 2, 0.0611, 0.068677, id="order chosen last"),
    ],
)
def test_a_composed_curve_is_not_a_filter(account, play, epsilon, delta, truth):
    """Each sequence that can happen keeps the budget by its own account, yet the whole does not; no play is worse."""
    sequences = {tuple(abs(x) for x in t[:k]) for t in transcripts(play) for k in range(1, len(t) + 1)}
    assert max(account(s, epsilon) for s in sequences) <= delta
    assert divergence(play, epsilon) == pytest.approx(truth, abs=1e-6)
    assert truth > 1.12 * delta
    budget = Budget(epsilon=epsilon, delta=delta)
    assert not all(budget.admits(zero, sum((Loss({Pure(e): 1}) for e in s), zero)) for s in sequences)

    levels = sorted({e for s in sequences for e in s})

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
    for delta in ("0.05", "0.2"):
        epsilon, at = budget.guarantee(delta)
        assert worst(levels, 9, admitting(budget, levels), stick(epsilon)) <= at * (1 + 1e-12)


@pytest.mark.parametrize("levels", LEVELS[:2], ids=["coins", "far coins"])
@pytest.mark.parametrize("order", [1.5, 3, 8])
def test_no_adversary_gets_past_a_divergence(order, levels):
    for budget in (Budget(rho="0.3"), Budget(renyi_order=order, epsilon="0.3")):
        most = worst(levels, 9, admitting(budget, levels), lambda loss: math.exp((order - 1) * loss))
        limit = 0.3 * (order if budget.rho else 1)
        assert 0.5 * limit < math.log(most) / (order - 1) <= limit


def test_the_union_filter_is_used_to_the_full():
    """Not vacuous: with many small coins the best play comes within a factor of the promise."""
    budget, levels = Budget(epsilon="0.5", delta="0.2", slack="0.2"), (Pure(EIGHTH), Pure(QUARTER), Pure(ONE))
    assert 0.1 < worst(levels, 30, admitting(budget, levels), stick(0.5)) <= 0.2
