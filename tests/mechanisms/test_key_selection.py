"""The selection of keys against its exact tails: a key of one unit appears with probability delta at most."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.accounting.accountants import failures
from tacit.core.accounting.atoms import Approximate, ApproximateConcentrated
from tacit.core.accounting.budget import Budget
from tacit.core.distance import ADD_REMOVE, SUBSTITUTE, Distance, norms
from tacit.core.errors import BadData, BadParameter
from tacit.core.law import hockey_stick
from tacit.mechanisms.selection.key_selection import KeySelection
from tacit.testing.sources import Seeded

counts = st.dictionaries(st.sampled_from("ab"), st.integers(1, 6), max_size=2)


def tail(m: KeySelection, at: int) -> Any:
    """P[Z >= at] to 60 digits."""
    if hasattr(m.noise, "scale"):
        q = mpmath.exp(-mpmath.mpf(m.noise.scale.denominator) / m.noise.scale.numerator)
        return q**at / (1 + q) if at > 0 else 1 - q ** (1 - at) / (1 + q)
    twice = 2 * mpmath.mpf(m.noise.sigma2.numerator) / m.noise.sigma2.denominator
    reach = math.isqrt(math.ceil(300 * m.noise.sigma2)) + abs(at) + 2
    weights = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / twice) for k in range(-reach, reach + 1)}
    return mpmath.fsum(w for k, w in weights.items() if k >= at) / mpmath.fsum(weights.values())


def appears(m: KeySelection, threshold: int, keys: int) -> Any:
    """The probability that one of so many keys that one unit alone has is released."""
    return 1 - (1 - tail(m, threshold - 1)) ** keys


@pytest.mark.parametrize("delta", ["0.4", "0.01", "1e-6", "1e-12"])
@pytest.mark.parametrize("keys", [1, 3, 40])
@pytest.mark.parametrize("price", [{"epsilon": "0.3"}, {"epsilon": 7}, {"rho": "0.02"}, {"rho": 2}])
def test_the_threshold_is_the_least_that_keeps_delta(price: Any, keys: int, delta: str) -> None:
    m = KeySelection(**price, delta=delta, sensitivity=ADD_REMOVE.counts(keys))
    with mpmath.workdps(60):
        allowed = mpmath.mpf(delta)
        assert appears(m, m.threshold, keys) <= allowed
        assert m.threshold == 1 or appears(m, m.threshold - 1, keys) > allowed * (1 - mpmath.mpf(10) ** -9)
        claimed = failures(m.loss())
        assert appears(m, m.threshold, keys) <= mpmath.mpf(claimed.numerator) / claimed.denominator <= allowed


def test_the_claim_is_tight() -> None:
    m = KeySelection(epsilon=1, delta="1e-3", sensitivity=ADD_REMOVE.counts(2))
    assert float(failures(m.loss())) == pytest.approx(float(appears(m, m.threshold, 2)), rel=1e-9)
    assert next(iter(m.loss().terms)).pure() == 1


def test_of_many_keys_with_one_unit_each_no_more_appear_than_delta_says() -> None:
    n, m = 300_000, KeySelection(epsilon=1, delta="0.005")
    at, noisy = m.select(np.ones(n, np.int64), Seeded(3))
    p = float(tail(m, m.threshold - 1))
    assert p <= 0.005
    assert abs(at.size - n * p) < 7 * math.sqrt(n * p)  # Bernstein: P < 1e-9
    assert noisy.min() >= m.threshold


def test_what_is_released_does_not_depend_on_the_order_of_the_data() -> None:
    m, x = KeySelection(epsilon=50, delta="0.01"), {"b": 90, "a": 80, "d": 0, "c": 70}
    first, second = m.sample(x, Seeded(1)), m.sample(dict(reversed(x.items())), Seeded(1))
    assert first == second
    assert [key for key, _ in first] == ["a", "b", "c"]


@settings(max_examples=40)
@given(x=counts, own=st.sets(st.sampled_from("ab"), max_size=2), price=st.sampled_from(["epsilon", "rho"]))
def test_the_loss_covers_one_unit_more(x: dict[str, int], own: set[str], price: str) -> None:
    m = KeySelection(**{price: 3}, delta="0.02", sensitivity=ADD_REMOVE.counts(2))
    y = {key: x.get(key, 0) + (key in own) for key in {*x, *own}}
    p, q = m.law(x), m.law(y)
    for a, b in ((p, q), (q, p)):
        for epsilon in (0.0, 1.0, 3.0):
            assert hockey_stick(a, b, epsilon, tail=1e-7) <= m.loss().delta(epsilon) + 1e-6


@given(x=counts)
def test_masses_sum_to_one(x: dict[str, int]) -> None:
    law = KeySelection(epsilon=2, delta="0.1").law(x)
    assert math.fsum(law.mass(y) for y in law.support(1e-9)) == pytest.approx(1, abs=1e-8)
    assert law.mass((("zzz", 100),)) == 0
    assert law.mass((("b", 9), ("a", 9))) == 0
    assert law.mass((("a", 9), ("a", 9))) == 0


def test_losses_are_of_the_kind_that_budgets_know() -> None:
    pure, zcdp = KeySelection(epsilon=1, delta="1e-6"), KeySelection(rho="0.1", delta="1e-6")
    assert [type(atom) for atom in (*pure.loss().terms, *zcdp.loss().terms)] == [Approximate, ApproximateConcentrated]
    assert Budget(epsilon=1, delta="1e-5").price(pure.loss()) == 1
    assert Budget(rho=1, delta="1e-6").price(zcdp.loss()) == Fraction(1, 10)
    assert Budget(epsilon=1).price(pure.loss()) == math.inf


def test_farther_units_are_paid_for() -> None:
    m = KeySelection(epsilon=1, delta="1e-4")
    both = m.loss(norms(l0=2, linf=1)), m.loss(2)
    for loss, (shift, keys) in zip(both, ((1, 2), (2, 1)), strict=True):
        true = 1 - (1 - tail(m, m.threshold - shift)) ** keys
        assert float(failures(loss)) == pytest.approx(float(true), rel=1e-9)
    substituted = KeySelection(epsilon=1, delta="1e-4", sensitivity=SUBSTITUTE.histogram())
    assert substituted.threshold > m.threshold


def test_thresholds_grow_as_delta_shrinks() -> None:
    thresholds = [KeySelection(epsilon=1, delta=f"1e-{k}").threshold for k in range(1, 300, 20)]
    assert all(a < b for a, b in pairwise(thresholds))


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": "0.1"},
        {"epsilon": 1, "rho": 1, "delta": "0.1"},
        {"epsilon": 1},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": "0.1", "threshold": 3},
        {"epsilon": 1, "threshold": 0},
        {"epsilon": 1, "delta": "0.1", "sensitivity": Distance(Fraction(1), Fraction(1), Fraction(1))},
        {"epsilon": 1, "delta": "0.1", "sensitivity": "0.5"},
    ],
)
def test_bad_parameters_are_refused(wrong: Any) -> None:
    with pytest.raises(BadParameter):
        KeySelection(**wrong)


def test_absent_keys_are_no_data() -> None:
    m = KeySelection(epsilon=1, delta="0.1")
    with pytest.raises(BadData):
        m.select(np.array([3, 0]), Seeded(1))
    assert m.sample({}, Seeded(1)) == ()
    assert m.sample({"a": 0}, Seeded(1)) == ()


def test_the_error_is_that_of_all_keys_at_once() -> None:
    m, x = KeySelection(epsilon=1, delta="0.05"), {"a": 3, "b": 9}
    law = m.law(x)
    for beta, size in product((0.3, 0.05), (2,)):
        bad = math.fsum(law.mass(y) for y in law.support(1e-12) if m.miss(x, y) > m.error(beta, size))
        assert bad <= beta


def test_counts_of_numpy_are_counts() -> None:
    m, x = KeySelection(epsilon=50, delta="0.01"), {"a": 80, "b": 90, "c": 0}
    of_numpy = {key: kind(count) for (key, count), kind in zip(x.items(), (np.int64, np.uint8, np.int32), strict=True)}
    assert m.sample(of_numpy, Seeded(1)) == m.sample(x, Seeded(1))
    assert m.law(of_numpy) == m.law(x)


@pytest.mark.parametrize(
    "x", [{"a": 1.0}, {"a": "secret"}, {"a": True}, {"a": -1}, {"a": 1, 2: 1}, {"a": None}, [3], 3]
)
def test_what_are_no_counts_are_refused_by_law_and_sample_alike(x: Any) -> None:
    m = KeySelection(epsilon=50, delta="0.01")
    for entry in (m.law, lambda x: m.sample(x, Seeded(1))):
        with pytest.raises(BadData, match=f"a mapping from keys.*got {type(x).__name__}$"):
            entry(x)
