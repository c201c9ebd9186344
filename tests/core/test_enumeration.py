"""Epsilons of compositions against exact enumeration: never below it, within a tenth of a per cent, and monotone."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.accounting.accountants import failures
from tacit.core.accounting.atoms import (
    Approximate,
    ApproximateConcentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
    LaplaceNoise,
    LocalReport,
    RenyiCurve,
)
from tacit.core.accounting.best_bound import VIEWS
from tacit.core.accounting.loss import Atom, BoundedRange, Concentrated, Loss, Pure
from tacit.core.accounting.parallel import Worst
from tacit.core.accounting.sampled import Sampled
from tacit.core.law import hockey_stick

from . import enumeration as oracle
from .enumeration import Enumerated

TIGHT = 1.001
Case = tuple[Loss, Enumerated, float]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(oracle.DIGITS):
        yield


def hundredths(rng: random.Random, low: int, high: int) -> Fraction:
    return Fraction(rng.randint(low, high), 100)


def delta(rng: random.Random) -> float:
    return float(10 ** rng.uniform(-9, -1))


def responses(rng: random.Random, kinds: int = 3, most: int = 20) -> Case:
    """One to three kinds of k-ary randomized response, each up to 20 times."""
    terms: dict[Atom, int] = {}
    for _ in range(rng.randint(1, kinds)):
        atom = KaryResponse(hundredths(rng, 1, 300), rng.choice([2, 3, 5, 10, 30, 100, 1000]))
        terms[atom] = rng.randint(1, most)
    laws = [(oracle.response(a.epsilon, a.categories), n) for a, n in terms.items() if isinstance(a, KaryResponse)]
    return Loss(terms), Enumerated(oracle.sum_of(laws)), delta(rng)


def coarse(rng: random.Random) -> Case:
    """One or two kinds of losses that lie far apart, and mostly a loss that has a density."""
    terms, laws = {}, []
    for _ in range(rng.randint(1, 2)):
        kind, n, d, e = rng.randint(0, 3), rng.randint(1, 4), rng.randint(1, 4), hundredths(rng, 50, 400)
        sigma2, k = hundredths(rng, 30, 160) ** 2, rng.choice([3, 10, 100])
        atom, law = [
            (KaryResponse(e, k), lambda e=e, k=k: oracle.response(e, k)),
            (DiscreteLaplaceNoise(e, d), lambda e=e, d=d: oracle.laplace(e, d)),
            (DiscreteGaussianNoise(d * d / (2 * sigma2), d, sigma2), lambda s=sigma2, d=d: oracle.gaussian(s, d)),
            (LocalReport(e, 1 / Fraction(k)), lambda e=e, k=k: oracle.three(e, 1 - mpmath.mpf(1) / k)),
        ][kind]
        if atom not in terms:
            terms[atom] = n
            laws.append((law(), n))
    size, other = hundredths(rng, 5, 200), rng.randint(0, 3)
    smooth, profile = [
        (GaussianNoise(size**2), oracle.normal(size)),
        (LaplaceNoise(size), oracle.continuous_laplace(size)),
        (BoundedRange(size), oracle.bounded_range(size)),
        (None, None),
    ][other]
    if smooth is not None:
        terms[smooth] = 1
    law = {x: p for x, p in oracle.sum_of(laws).items() if profile is None or p > 1e-20}
    return Loss(terms), Enumerated(law, profile), delta(rng)


def check(case: Case) -> None:
    loss, exact, d = case
    found, truth = loss.epsilon(Fraction(d)), exact.epsilon(d)
    assert found >= truth * (1 - mpmath.mpf(10) ** -9), (loss, d)
    assert found <= truth * TIGHT + 1e-6, (loss, d, float(found / truth))
    claimed, at = loss.delta(Fraction(found)), exact.delta(found)
    assert claimed >= at * (1 - mpmath.mpf(10) ** -9), (loss, d)
    assert claimed <= d * 1.01, (loss, d)


@pytest.mark.parametrize("seed", range(25))
def test_few_responses(seed: int) -> None:
    check(responses(random.Random(seed), 2, 6))


@pytest.mark.parametrize("seed", range(8))
def test_few_coarse_losses_beside_others(seed: int) -> None:
    check(coarse(random.Random(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400))
def test_responses(seed: int) -> None:
    check(responses(random.Random(1000 + seed)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_coarse_losses_beside_others(seed: int) -> None:
    check(coarse(random.Random(2000 + seed)))


@pytest.mark.parametrize(
    ("text", "delta", "truth"),
    [
        ("3 x response eps=0.3 categories=100", "1e-3", 0.2776),
        ("20 x response eps=0.365 categories=1000", "0.00015", 0.364),
        ("2 x discrete-gaussian sigma=1.05", "1e-7", 7.2455),
        ("2 x discrete-gaussian sigma=1.05", "1.26e-7", 7.2426),
        ("2 x discrete-gaussian sigma=1.05", "2e-7", 7.2335),
    ],
)
def test_steps_of_delta_do_not_mislead_the_search(text: str, delta: str, truth: float) -> None:
    """T falls in steps where losses lie far apart, and Newton's rule alone jumps to and fro between them."""
    assert tacit.mix(text).epsilon(delta) == pytest.approx(truth, rel=1e-3)


SINGLE: dict[str, tuple[Atom, Callable[[], Enumerated]]] = {
    "coin": (Pure(Fraction(7, 10)), lambda: Enumerated(oracle.response(Fraction(7, 10), 2))),
    "response": (KaryResponse(Fraction(7, 10), 9), lambda: Enumerated(oracle.response(Fraction(7, 10), 9))),
    "report": (
        LocalReport(Fraction(7, 10), Fraction(1, 3)),
        lambda: Enumerated(oracle.three(Fraction(7, 10), mpmath.mpf(2) / 3)),
    ),
    "discrete laplace": (
        DiscreteLaplaceNoise(Fraction(6, 5), 3),
        lambda: Enumerated(oracle.laplace(Fraction(6, 5), 3)),
    ),
    "discrete gaussian": (
        DiscreteGaussianNoise(Fraction(2) / Fraction(49, 25), 2, Fraction(49, 25)),
        lambda: Enumerated(oracle.gaussian(Fraction(49, 25), 2)),
    ),
    "gaussian": (
        GaussianNoise(Fraction(4, 9)),
        lambda: Enumerated({Fraction(0): mpmath.mpf(1)}, oracle.normal(Fraction(2, 3))),
    ),
    "laplace": (
        LaplaceNoise(Fraction(4, 5)),
        lambda: Enumerated({Fraction(0): mpmath.mpf(1)}, oracle.continuous_laplace(Fraction(4, 5))),
    ),
    "bounded range": (
        BoundedRange(Fraction(4, 5)),
        lambda: Enumerated({Fraction(0): mpmath.mpf(1)}, oracle.bounded_range(Fraction(4, 5))),
    ),
}


@pytest.mark.parametrize("d", [1e-9, 1e-4, 0.03])
@pytest.mark.parametrize(("atom", "exact"), SINGLE.values(), ids=SINGLE)
def test_every_atom_alone(atom: Atom, exact: Callable[[], Enumerated], d: float) -> None:
    check((Loss({atom: 1}), exact(), d))


LOCAL = [
    tacit.UnaryEncoding(epsilon=1, categories=4),
    tacit.HadamardResponse(epsilon=1, categories=5),
    tacit.SubsetSelection(epsilon=1, categories=6),
    tacit.RandomizedResponse(epsilon=1, categories=6),
]


@pytest.mark.parametrize("mechanism", LOCAL, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("epsilon", ["0", "0.3", "0.9"])
def test_local_reports_cost_what_their_law_says(mechanism: tacit.UnaryEncoding, epsilon: str) -> None:
    truth = hockey_stick(mechanism.law(0), mechanism.law(1), float(epsilon))
    assert truth * (1 - 1e-12) <= mechanism.loss().delta(epsilon) <= truth * (1 + 1e-9)


# any loss at all

sizes = st.integers(5, 300).map(lambda x: Fraction(x, 100))
small = st.integers(1, 40).map(lambda x: Fraction(x, 100))
ATOMS = st.one_of(
    sizes.map(Pure),
    sizes.map(BoundedRange),
    sizes.map(LaplaceNoise),
    small.map(Concentrated),
    sizes.map(lambda mu: GaussianNoise(mu**2)),
    st.builds(KaryResponse, sizes, st.sampled_from([2, 3, 10, 1000])),
    st.builds(LocalReport, sizes, small),
    st.builds(DiscreteLaplaceNoise, sizes, st.integers(1, 30)),
    st.builds(Approximate, small, st.just(Fraction(1, 10**9))),
    st.builds(ApproximateConcentrated, small, st.just(Fraction(1, 10**9))),
    st.builds(Sampled, small, sizes.map(lambda mu: GaussianNoise(mu**2))),
    st.builds(Sampled, small, sizes.map(LaplaceNoise)),
    st.builds(lambda s, d: DiscreteGaussianNoise(d * d / (2 * s * s), d, s * s), sizes, st.integers(1, 3)),
    st.just(RenyiCurve(((2.0, 0.01), (8.0, 0.05), (32.0, 0.2), (128.0, 1.0)))),
    st.builds(lambda a, b: Worst(frozenset([Loss({Pure(a): 1}), Loss({LaplaceNoise(b): 2})])), sizes, sizes),
)
LOSSES = st.dictionaries(ATOMS, st.sampled_from([1, 1, 2, 3, 7, 20]), min_size=1, max_size=3).map(Loss)
DELTAS = st.floats(-25, -0.5).map(lambda x: 10.0**x)
RATIOS = st.floats(-4, 1).map(lambda x: 1 + 10.0**x)


@given(LOSSES, DELTAS, RATIOS)
@settings(max_examples=60)
def test_epsilon_falls_as_delta_rises_and_delta_as_epsilon_rises(loss: Loss, d: float, ratio: float) -> None:
    near, far = loss.epsilon(Fraction(d)), loss.epsilon(Fraction(min(d * ratio, 0.9)))
    assert far <= near * (1 + 1e-9)
    at = near / 3 if near < math.inf else 1.0
    assert loss.delta(Fraction(at * ratio)) <= loss.delta(Fraction(at)) * (1 + 1e-9)


@given(LOSSES, DELTAS, st.floats(0, 1))
@settings(max_examples=40)
def test_the_answer_is_the_least_of_its_table(loss: Loss, d: float, share: float) -> None:
    rows = [view.epsilon(loss, d) for view in VIEWS]
    assert loss.epsilon(Fraction(d)) == pytest.approx(min(rows), rel=1e-11)
    at, f = share * min(*rows, 50.0), failures(loss)
    deltas = [float(1 - (1 - f) * (1 - Fraction(view.delta(view.total(loss), at)))) for view in VIEWS]
    least = float(f) if at >= rows[0] else min(deltas)
    assert loss.delta(Fraction(at)) == pytest.approx(least, rel=1e-11)


def test_the_least_of_the_table_where_grids_end() -> None:
    """Losses beyond the grid of a sample have more mass than 2e-20, so that sums of pairs prove nothing."""
    loss = tacit.mix("5000 x sampled 0.0003 gaussian sigma=45")
    assert loss.epsilon("2e-20") < 0.0093 and loss.delta("0.0093") <= 2e-20
    best = loss.explain("2e-20").splitlines()
    assert next(line for line in best if line.startswith("*")).split()[1] == "Renyi"
