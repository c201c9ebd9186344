"""Every law against its definition in 60 to 400 digits, also where masses are tiny.

`tacit.core.law` promises a relative 1e-14, and for masses below e^-20 a relative 5e-16 for each nat of -ln mass.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from tacit import mechanisms as m
from tacit.core import law as laws

Real = Any  # of mpmath, which has no types
LEAST = mpf(10) ** -280  # below it floats lose digits


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(400):
        yield


def real(x: Fraction) -> Real:
    return mpf(x.numerator) / x.denominator


def agrees(found: float, truth: Real) -> bool:
    if truth < LEAST:
        return found <= 2 * LEAST
    return bool(abs(found / truth - 1) <= max(mpf(10) ** -14, mpf(5) * mpf(10) ** -16 * -mpmath.log(truth)))


def laplace(k: int, q: Real) -> Real:
    return (1 - q) / (1 + q) * q ** abs(k)


def at_most(k: int, q: Real) -> Real:
    return 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)


SCORES = [(0, 20), (20, 0), (0, 0), (5, 3, 5, 0), (0, 0, 0, 40), (300, 0)]
EPSILONS = ["0.4", "4", "8"]
on_scores = pytest.mark.parametrize("scores", SCORES, ids=str)
each_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)


def led(gaps: list[int], i: int, lead: int, q: Real) -> Real:
    """P[i wins and leads by so much]: P[M = v] from P[M <= v], with enough digits for the difference."""
    span = int(mpmath.log(LEAST) / mpmath.log(q)) // 2 + 20
    others = [(gap, j < i) for j, gap in enumerate(gaps) if j != i]
    values = range(-max(lead + gaps[i], *gaps) - span, span)
    below = [mpmath.fprod(at_most(v + gap - first, q) for gap, first in others) for v in (values[0] - 1, *values)]
    return mpmath.fsum(
        (b - a) * laplace(lead + v + gaps[i], q) for v, a, b in zip(values, below[:-1], below[1:], strict=True)
    )


@on_scores
@pytest.mark.parametrize("epsilon", ["4", "8"])
def test_noisy_max_with_gap(epsilon: str, scores: tuple[int, ...]) -> None:
    mechanism = m.NoisyMaxWithGap(epsilon=epsilon)
    law, q = mechanism.law(scores), mpmath.exp(-real(mechanism.unit))
    gaps = [max(scores) - s for s in scores]
    for i in range(len(scores)):
        for lead in (0, 1, 7, 40):
            assert agrees(law.mass((i, lead)), led(gaps, i, lead, q)), (i, lead)


def test_the_lead_that_was_once_wrong_by_four_percent() -> None:
    found = m.NoisyMaxWithGap(epsilon=4).law([0, 20]).mass((1, 0))
    assert agrees(found, led([20, 0], 1, 0, mpmath.exp(-2)))
    assert found == pytest.approx(3.648349309569831e-16, rel=1e-13)


@on_scores
@each_epsilon
def test_noisy_max(epsilon: str, scores: tuple[int, ...]) -> None:
    mechanism = m.NoisyMax(epsilon=epsilon)
    law, q = mechanism.law(scores), mpmath.exp(-real(mechanism.unit))
    gaps = [max(scores) - s for s in scores]
    span = int(60 * mpmath.log(10) / real(mechanism.unit)) // 2 + 20
    with mpmath.workdps(40):  # all terms are positive
        for i, gap in enumerate(gaps):
            truth = mpmath.fsum(
                laplace(v + gap, q) * mpmath.fprod(at_most(v + g - (j < i), q) for j, g in enumerate(gaps) if j != i)
                for v in range(-max(gaps) - span, span)
            )
            assert agrees(law.mass(i), truth), i


def flips(gaps: list[int], i: int, unit: Real) -> Real:
    """w_i Integral_0^1 prod (1 - t w_j) dt, by the coefficients of the polynomial."""
    w = [mpmath.exp(-gap * unit) for gap in gaps]
    polynomial = [mpf(1)]
    for j, x in enumerate(w):
        if j != i:
            polynomial = [a - x * b for a, b in zip([*polynomial, 0], [0, *polynomial], strict=True)]
    return w[i] * mpmath.fsum(c / (k + 1) for k, c in enumerate(polynomial))


def softmax(gaps: list[int], i: int, unit: Real) -> Real:
    w = [mpmath.exp(-gap * unit) for gap in gaps]
    return w[i] / mpmath.fsum(w)


@pytest.mark.parametrize(("kind", "truth"), [(m.PermuteAndFlip, flips), (m.Exponential, softmax)])
@pytest.mark.parametrize("scores", [*SCORES, tuple(range(60)), (0,) * 200], ids=lambda s: str(s)[:20])
@each_epsilon
def test_one_choice(epsilon: str, scores: tuple[int, ...], kind: Any, truth: Callable[..., Real]) -> None:
    mechanism = kind(epsilon=epsilon)
    law, gaps = mechanism.law(scores), [max(scores) - s for s in scores]
    for i in {0, 1, len(scores) // 2, len(scores) - 1}:
        assert agrees(law.mass(i), truth(gaps, i, real(mechanism.unit))), i


@pytest.mark.parametrize(("selector", "truth"), [("exponential", softmax), ("permute-and-flip", flips)])
def test_top_k(selector: Any, truth: Callable[..., Real]) -> None:
    scores = [9, 30, 0, 4]
    mechanism = m.TopK(k=2, epsilon=8, selector=selector)
    for first, second in itertools.permutations(range(4), 2):
        left = [j for j in range(4) if j != first]
        best = max(scores[j] for j in left)
        one = truth([max(scores) - s for s in scores], first, real(mechanism.unit))
        two = truth([best - scores[j] for j in left], left.index(second), real(mechanism.unit))
        assert agrees(mechanism.law(scores).mass((first, second)), one * two)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(50)])
def test_laplace_noise(scale: Fraction) -> None:
    q, law = mpmath.exp(-1 / real(scale)), laws.DiscreteLaplaceLaw(scale, 3)
    for k in (-200, -9, 0, 3, 4, 40, 300):
        assert agrees(law.mass(k), laplace(k - 3, q))
        assert agrees(law.at_least(k), 1 - at_most(k - 4, q))


@pytest.mark.parametrize("sigma2", [Fraction(1, 100), Fraction(1, 3), Fraction(4), Fraction(9, 2), Fraction(400)])
def test_gaussian_noise(sigma2: Fraction) -> None:
    law, s = laws.DiscreteGaussianLaw(sigma2, 3), real(sigma2)
    with mpmath.workdps(60):
        top = int(mpmath.sqrt(1600 * s)) + 3
        weights = {k: mpmath.exp(-(mpf(k) ** 2) / (2 * s)) for k in range(-top, top + 1)}
        total = mpmath.fsum(weights.values())
        for k in (-30, -4, 0, 3, 4, 40):
            if abs(k - 3) <= top:
                assert agrees(law.mass(k), weights[k - 3] / total), k
                tail = mpmath.fsum(w for at, w in weights.items() if at >= k - 3) / total
                assert abs(law.at_least(k) - tail) <= tail * law.tail_accuracy(k) + LEAST, k


@pytest.mark.parametrize(
    "mechanism",
    [m.KeySelection(epsilon=2, threshold=5), m.KeySelection(rho=1, threshold=5), m.KeySelection(rho=1, threshold=40)],
    ids=str,
)
def test_key_selection(mechanism: m.KeySelection) -> None:
    noise: Any = mechanism.law({"a": 1}).noisy["a"]

    def tail(count: int, shown: bool) -> Real:
        """P[count + Z >= threshold], or its complement, by masses in 60 digits."""
        far = range(mechanism.threshold - count, 400) if shown else range(-400, mechanism.threshold - count)
        if isinstance(noise, laws.DiscreteLaplaceLaw):
            q = mpmath.exp(-1 / real(noise.scale))
            return mpmath.fsum(laplace(k, q) for k in far)
        weight = {k: mpmath.exp(-(mpf(k) ** 2) / (2 * real(noise.sigma2))) for k in range(-400, 401)}
        return mpmath.fsum(weight[k] for k in far) / mpmath.fsum(weight.values())

    with mpmath.workdps(60):
        for counts in itertools.product((1, 4, 20, 36), repeat=2):
            law = mechanism.law(dict(zip("ab", counts, strict=True)))
            hidden = tail(counts[0], shown=False) * tail(counts[1], shown=False)
            found = law.mass(())
            assert hidden < LEAST or abs(found / hidden - 1) < mpf(10) ** -12 * max(1, -mpmath.log(hidden)), counts


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_above_threshold(noise: Any) -> None:
    """Summed over the noisy threshold, also where a value far above it is passed over."""
    mechanism = m.AboveThreshold(threshold=0, epsilon=8, noise=noise, queries=3)
    threshold, query = (real(s) for s in mechanism.scales[:2])
    shift = int(mechanism.noisy_thresholds()[0][0]) - int(mechanism.threshold_noise.interval(1e-300)[0])

    def mass(k: int, q: Real) -> Real:
        if noise == "laplace":
            return laplace(k, q)
        return (1 - q) * q**k if k >= 0 else mpf(0)

    def at_least(k: int, q: Real) -> Real:
        if noise == "laplace":
            return 1 - at_most(k - 1, q)
        return q ** max(k, 0)

    a, b = mpmath.exp(-1 / threshold), mpmath.exp(-1 / query)
    for values in ((0, 0), (60, 0), (120, 3)):
        law = mechanism.law(values)
        for hit in (0, 1, None):
            passed = values if hit is None else values[:hit]
            truth = mpmath.fsum(
                mass(z, a)
                * mpmath.fprod(1 - at_least(z + shift - v, b) for v in passed)
                * (1 if hit is None else at_least(z + shift - values[hit], b))
                for z in range(-300, 400)
            )
            assert agrees(law.mass(hit), truth), (values, hit)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "12"])
def test_reports(epsilon: str) -> None:
    e = mpmath.exp(mpf(epsilon))
    response = m.RandomizedResponse(epsilon=epsilon, categories=5).law(0)
    assert agrees(response.mass(0), e / (e + 4)) and agrees(response.mass(3), 1 / (e + 4))
    signs = m.HadamardResponse(epsilon=epsilon, categories=5).law(2)
    for y in range(8):
        owned = bin(3 & y).count("1") % 2 == 0
        assert agrees(signs.mass(y), (e if owned else 1) / (e + 1) / 4)
    bits = m.UnaryEncoding(epsilon=epsilon, categories=3).law(1)
    assert agrees(bits.mass((True, True, False)), e / (e + 1) ** 2 / 2)
    sets = m.SubsetSelection(epsilon=epsilon, categories=4, size=2).law(0)
    own = 2 * e / (2 * e + 2)
    assert agrees(sets.mass((True, False, True, False)), own / 3)
    assert agrees(sets.mass((False, True, True, False)), (1 - own) / 3)


def test_quantiles_have_the_masses_of_their_definition() -> None:
    """One quantile is one exponential mechanism on the ranks."""
    counts = np.array([400, 0, 3, 0, 100])
    mechanism = m.Quantiles(epsilon=2, cells=5, quantiles=["0.5"])
    (node,) = mechanism.tree
    below = np.concatenate([[0], np.cumsum(counts)])
    gaps = [int(g) for g in node.gaps(below, node.aim(0, int(below[-1])))]
    for cell in range(5):
        truth = softmax(gaps, cell, real(mechanism._unit(node)))
        assert agrees(mechanism.law(counts).mass((cell,)), truth)
