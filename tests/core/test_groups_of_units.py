"""What groups of units cost: by the rule of each atom, or by the hybrid sum at the best epsilon of one unit."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tacit.core.accounting.atoms import (
    Approximate,
    ApproximateConcentrated,
    DiscreteGaussianVector,
    GaussianNoise,
    LaplaceNoise,
    RenyiCurve,
)
from tacit.core.accounting.grouped import Grouped
from tacit.core.accounting.loss import Concentrated, Loss, Pure
from tacit.core.accounting.parallel import Worst
from tacit.core.accounting.sampled import Sampled


def test_a_group_pays_the_square_of_its_size() -> None:
    assert Loss({Concentrated(Fraction(1, 8)): 2}).group(3) == Loss({Concentrated(Fraction(9, 8)): 2})


def test_rho_of_a_group_is_the_square_for_sampled_noise_too() -> None:
    one = Sampled(Fraction(1, 10), GaussianNoise(Fraction(1)))
    found = Grouped(Loss({one: 2}), 3).concentrated()
    assert found >= 18 * one.concentrated() and found == pytest.approx(18 * one.concentrated(), rel=1e-9)


PROMISE = ApproximateConcentrated(Fraction(1, 50), Fraction(1, 10**12))
CURVE = RenyiCurve(((2.0, 0.01), (4.0, 0.02), (8.0, 0.05), (16.0, 0.1), (32.0, 0.2), (64.0, 0.4), (128.0, 1.0)))
SAMPLED = Sampled(Fraction(1, 10), GaussianNoise(Fraction(1, 4)))
UNRULED = {
    "what may fail": Loss({PROMISE: 1}),
    "several that may fail": Loss({PROMISE: 3, Approximate(Fraction(1, 10), Fraction(1, 10**12)): 2}),
    "a curve": Loss({CURVE: 2}),
    "a sample": Loss({SAMPLED: 20}),
    "the worst of several": Loss({Worst(frozenset([Loss({PROMISE: 1}), Loss({LaplaceNoise(Fraction(1, 10)): 1})])): 1}),
    "a mix": Loss({PROMISE: 1, GaussianNoise(Fraction(1, 100)): 9, LaplaceNoise(Fraction(1, 10)): 2, SAMPLED: 1}),
}


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("loss", UNRULED.values(), ids=UNRULED)
def test_groups_pay_no_more_than_the_hybrid_sum_at_any_epsilon(loss: Loss, k: int) -> None:
    """What follows by hand from any (epsilon, delta) of one unit: no answer is above the best of these."""
    together = loss.group(k)
    for delta in (1e-6, 1e-3):
        least = math.inf
        for i in range(1, 120):
            each = i / 40
            if loss.delta(Fraction(each)) * math.expm1(k * each) / math.expm1(each) <= delta:
                least = k * each
                break
        found = together.epsilon(Fraction(delta))
        assert found <= least * (1 + 2**-11)
        assert found == math.inf or together.delta(Fraction(found)) <= delta * (1 + 1e-9)
    assert together.epsilon("1e-3") < math.inf


def test_a_group_is_never_cheaper_than_one_unit_nor_dearer_with_more_delta() -> None:
    for loss in UNRULED.values():
        found = [loss.group(k).epsilon("1e-6") for k in (1, 2, 3)]
        assert found == sorted(found) and found[0] == loss.epsilon("1e-6")
        assert loss.group(2).epsilon("1e-6") >= loss.group(2).epsilon("2e-6")
        assert loss.group(2).delta("0.5") >= loss.group(2).delta("2") * (1 - 1e-6)


def test_the_hybrid_sum_holds_for_a_law_that_may_fail() -> None:
    """A chain of four laws: with probability 1/1000 the record itself is released, and otherwise it is randomized."""
    fails, e = Fraction(1, 1000), Fraction(1, 2)
    keep = 1 / (1 + math.exp(-float(e)))

    def law(x: int) -> dict[object, float]:
        """x of three bits are 1: each is reported by a coin, all at once, or the number itself is released."""
        masses: dict[object, float] = {("released", x): float(fails)}
        for reports in range(8):
            odds = [keep if (reports >> i & 1) == (i < x) else 1 - keep for i in range(3)]
            masses[reports] = (1 - float(fails)) * math.prod(odds)
        return masses

    one = Loss({Approximate(e, fails): 1})
    for k in (1, 2, 3):
        p, q = law(k), law(0)
        for at in (0.0, 0.3, 0.9, 1.4):
            truth = sum(max(0.0, p.get(y, 0.0) - math.exp(at) * q.get(y, 0.0)) for y in {*p, *q})
            assert truth <= Grouped(one, k).profile(at) * (1 + 1e-12)


def test_groups_of_what_may_fail_and_of_what_is_known_at_orders() -> None:
    found = Approximate(Fraction(1), Fraction(1, 100)).group(3)
    assert found.epsilon == 3 and float(found.delta) == pytest.approx((1 + math.e + math.e**2) / 100, rel=1e-9)
    assert PROMISE.group(1) == PROMISE and CURVE.group(1) == CURVE
    two = RenyiCurve(((2.0, 0.1), (4.0, 0.2), (8.0, 0.3))).group(2)
    assert [two.renyi(order) for order in (2, 4)] == [pytest.approx(3 * 0.2), pytest.approx(3 * 0.3)]
    assert two.renyi(1.5) == two.renyi(2) and two.renyi(5) == math.inf
    assert RenyiCurve(((2.0, 0.1),)).renyi(2.5) == math.inf
    vector = DiscreteGaussianVector(Fraction(1, 8), Fraction(4), 2)
    assert vector.group(3) == DiscreteGaussianVector(Fraction(9, 8), Fraction(4), 18)


def test_one_of_a_group_never_pays_more_than_its_share() -> None:
    """delta(E) of k units takes delta(e) of one at k e <= E, exactly: a coin just beyond E / k is not free at E."""
    found = 0
    for k in (3, 5, 7, 11):
        for epsilon in (0.1, 0.3, 0.7, 1.1, 2.3):
            nearest = epsilon / k
            if k * Fraction(nearest) > Fraction(epsilon):
                found += 1
                assert Grouped(Loss({Pure(Fraction(nearest)): 1}), k).profile(epsilon) > 0
    assert found > 3
