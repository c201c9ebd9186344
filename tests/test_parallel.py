"""Parallel composition against the exact joint laws of mechanisms on disjoint parts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.composition import parallel
from tacit.composition.parts import covers
from tacit.core.accounting.atoms import (
    Approximate,
    ApproximateConcentrated,
    DiscreteGaussianVector,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
    RenyiCurve,
)
from tacit.core.accounting.loss import Atom, BoundedRange, Concentrated, Loss, Pure
from tacit.core.accounting.parallel import Worst
from tacit.core.accounting.sampled import Sampled
from tacit.core.law import Product, hockey_stick

RESPONSES = (
    tacit.RandomizedResponse(epsilon=1, categories=2),
    tacit.RandomizedResponse(epsilon="1.2", categories=6),  # more at large epsilon, less at small
    tacit.RandomizedResponse(epsilon="0.3", categories=3),
)
PARTS = tuple(Loss({KaryResponse(m.epsilon, m.categories): 1}) for m in RESPONSES)
EPSILONS = (0.0, 0.1, 0.5, 0.9, 1.1, 1.5)


def one(atom: Atom, n: int = 1) -> Loss:
    return Loss({atom: n})


def whole(*answers: int) -> Product:
    return Product(tuple(m.law(x) for m, x in zip(RESPONSES, answers, strict=True)))


def test_a_unit_in_one_part_pays_the_worst_of_them_and_exactly_that() -> None:
    loss = parallel(*PARTS)
    assert isinstance(next(iter(loss.terms)), Worst)
    paid_by = set()
    for epsilon in EPSILONS:
        moved = [hockey_stick(whole(0, 0, 0), whole(*at), epsilon) for at in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
        assert loss.delta(epsilon) == pytest.approx(max(moved), rel=1e-9, abs=1e-15)
        paid_by.add(moved.index(max(moved)))
    assert paid_by == {0, 1}  # neither part dominates the other


def test_what_one_part_does_twice_is_paid_twice() -> None:
    first, second, _ = RESPONSES
    loss = parallel(2 * PARTS[0], PARTS[1])
    twice = [Product((first.law(x), first.law(x))) for x in (0, 1)]
    for epsilon in (0.0, 0.5, 1.9):
        exact = max(hockey_stick(*twice, epsilon), hockey_stick(second.law(0), second.law(1), epsilon))
        assert exact * (1 - 1e-12) <= loss.delta(epsilon) <= exact * (1 + 1e-3)


def test_a_substituted_unit_may_touch_two_parts() -> None:
    substituted, added = parallel(*PARTS, relation=tacit.SUBSTITUTE), parallel(*PARTS)
    beyond = 0
    for epsilon, (i, j) in product(EPSILONS, combinations(range(3), 2)):
        to = [int(part in (i, j)) for part in range(3)]
        exact = hockey_stick(whole(0, 0, 0), whole(*to), epsilon)
        assert exact <= substituted.delta(epsilon)
        beyond += exact > added.delta(epsilon)
    assert beyond > 6
    assert substituted.epsilon() == pytest.approx(2.4)  # it leaves the second part, and enters it again


def test_a_substituted_unit_may_leave_a_part_and_enter_the_same() -> None:
    m = tacit.Laplace(epsilon="0.5")
    loss = parallel(m.loss(), one(Pure(Fraction(1, 10))), relation=tacit.SUBSTITUTE)
    exact = hockey_stick(m.law(0), m.law(2), 0.2)
    assert exact == pytest.approx(m.loss(2).delta("0.2"), rel=1e-9)
    assert exact <= loss.delta("0.2") * (1 + 1e-12)


def test_relations() -> None:
    count = tacit.Laplace(epsilon=1, sensitivity=tacit.SUBSTITUTE.counts()).loss()
    with pytest.raises(tacit.BadParameter, match="ADD_REMOVE"):
        parallel(count, count, relation=tacit.SUBSTITUTE)
    with pytest.raises(tacit.BadParameter, match="relation"):
        parallel(one(Pure(Fraction(1))), relation=None)  # type: ignore[arg-type]
    with pytest.raises(tacit.BadParameter, match="losses"):
        parallel(1)  # type: ignore[arg-type]
    with pytest.raises(tacit.MixedRelations):
        parallel(one(Pure(Fraction(1)))) + count
    assert parallel(one(Pure(Fraction(1))), relation=tacit.SUBSTITUTE).relation is tacit.SUBSTITUTE


def test_every_view_takes_the_largest() -> None:
    a, b = one(LaplaceNoise(Fraction(1, 2)), 3), one(GaussianNoise(Fraction(1, 4)))
    (worst,) = parallel(a, b).terms
    assert worst.pure() == math.inf
    assert worst.concentrated() == pytest.approx(3 * LaplaceNoise(Fraction(1, 2)).concentrated())
    for order in (1.1, 2.0, 30.0):
        exact = max(3 * LaplaceNoise(Fraction(1, 2)).renyi(order), GaussianNoise(Fraction(1, 4)).renyi(order))
        assert exact <= worst.renyi(order) <= exact * (1 + 1e-12)
    assert worst.pairs(2.0**-8) == ()
    for delta in (1e-9, 1e-3):
        assert parallel(a, b).epsilon(delta) == max(a.epsilon(delta), b.epsilon(delta))
    assert parallel(a, one(BoundedRange(Fraction(2)))).epsilon() == 2


def test_failures_are_paid_once_at_the_largest_rate() -> None:
    a, b = (
        one(Approximate(Fraction(1), Fraction(1, 1000))),
        one(ApproximateConcentrated(Fraction(1, 50), Fraction(1, 500))),
    )
    loss = parallel(a, b)
    assert loss.epsilon("0.001") == math.inf  # the second may fail more often than that
    for delta in ("0.003", "0.1"):
        least = max(a.epsilon(delta), b.epsilon(delta))
        most = max(a.epsilon(Fraction(delta) - Fraction(1, 1000)), b.epsilon(delta))
        assert least <= loss.epsilon(delta) <= most * (1 + 1e-9)
    for epsilon in ("0.2", 1):
        assert max(a.delta(epsilon), b.delta(epsilon)) <= loss.delta(epsilon) <= a.delta(epsilon) + b.delta(epsilon)
    assert loss.group(2).epsilon("0.003") == math.inf  # of two, twice as often
    assert max(a.group(2).epsilon("0.1"), b.group(2).epsilon("0.1")) <= loss.group(2).epsilon("0.1") < 3


def test_nothing_one_part_and_like_parts() -> None:
    laplace = one(LaplaceNoise(Fraction(1, 10)))
    assert parallel().epsilon() == 0
    assert parallel(one(Pure(Fraction(1)))) == Loss({Pure(Fraction(1)): 1}, tacit.ADD_REMOVE)
    many = parallel(*[100 * laplace] * 50, one(LaplaceNoise(Fraction(1, 20)), 7))
    assert many.epsilon(1e-6) == (100 * laplace).epsilon(1e-6)  # one dominates: its pair is known, and composes
    assert parallel(laplace, one(Pure(Fraction(1)))) == parallel(one(Pure(Fraction(1))), laplace)
    assert (5 * many).epsilon(1e-6) == (500 * laplace).epsilon(1e-6)
    sampled = one(Sampled(Fraction(1, 10), GaussianNoise(Fraction(1, 4))), 20)
    assert parallel(sampled, sampled).epsilon(1e-6) == sampled.epsilon(1e-6)


SIZES = st.fractions(Fraction(1, 20), Fraction(2), max_denominator=20)
ATOMS = st.one_of(
    *(st.builds(kind, SIZES) for kind in (Pure, BoundedRange, LaplaceNoise, GaussianNoise, Concentrated)),
    st.builds(KaryResponse, SIZES, st.integers(2, 4)),
    st.builds(lambda r: RenyiCurve(((2.0, float(r)), (8.0, 2 * float(r)))), SIZES),
    st.builds(Approximate, SIZES, st.just(Fraction(1, 100))),
    st.builds(DiscreteGaussianVector, SIZES, st.integers(1, 40).map(Fraction), st.integers(1, 4)),
)
LOSSES = st.dictionaries(ATOMS, st.integers(1, 2), max_size=2).map(Loss)


@given(LOSSES, LOSSES)
def test_what_is_left_out_is_covered(a: Loss, b: Loss) -> None:
    assert covers(a, a)
    for delta in (0, 1e-6, 0.02):
        first, second = a.epsilon(delta), b.epsilon(delta)
        assert second <= first * (1 + 1e-3) or not covers(a, b)  # certified bounds have some slack
        assert parallel(a, b).epsilon(delta) >= max(first, second) * (1 - 1e-3)


@given(st.integers(0, 2), st.integers(0, 2), st.sampled_from(EPSILONS))
def test_two_units_in_any_two_parts_are_a_group(i: int, j: int, epsilon: float) -> None:
    moved = [int(part in (i, j)) for part in range(3)]
    loss = parallel(*PARTS).group(2)
    assert hockey_stick(whole(0, 0, 0), whole(*moved), epsilon) <= loss.delta(epsilon)
    assert parallel(one(GaussianNoise(Fraction(1))), one(RenyiCurve(((2.0, 1.0),)))).group(3).epsilon("0.9") == math.inf
    rho = parallel(one(GaussianNoise(Fraction(1))), one(Pure(Fraction(1)))).group(3)
    assert next(iter(rho.terms)).concentrated() == pytest.approx(4.5)


def test_like_parts_of_laplace_noise_promise_a_group_no_more_than_purity_does() -> None:
    """Two units in two parts move two noises, which is not known to be covered by one noise moved twice as far."""
    assert parallel(*[one(LaplaceNoise(Fraction(1)))] * 2).group(2).terms == {Pure(Fraction(2)): 1}
