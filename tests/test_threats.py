"""Ways in which systems like this one leak, each tried on tacit and on a control that does leak.

Last bits of the output (Mironov 2012; Jin et al. 2022; Haney et al. 2022), time of a draw (Jin et al. 2022), and bad
parameters.  Forks and seeds are in core/test_randomness.py, sparse vector variants in test_conformance.py.
"""

import inspect
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta as beta_law

import tacit
from tacit import BadData, BadParameter, Gaussian, Laplace, mechanisms
from tacit.core.errors import TacitError
from tacit.core.randomness import SYSTEM
from tacit.testing.mechanisms import Refuted, refuses_bad_parameters
from tacit.testing.sources import Seeded
from tacit.testing.wrong.mechanisms import FloatLaplace

ALPHA = 5e-12 / 130  # for each of 65 events and two directions


def epsilon_at_least(hits, others, n):
    """A lower confidence bound on ln(P/Q) from counts of one event in n draws each (Clopper-Pearson)."""
    p = beta_law.ppf(ALPHA, hits, n - hits + 1) if hits else 0.0
    q = beta_law.ppf(1 - ALPHA, others + 1, n - others) if others < n else 1.0
    return math.log(p / q) if p else -math.inf


def bit_events(values):
    """For each bit of the float, how often it is set; and how often the value is no multiple of 2^-53."""
    words = np.ascontiguousarray(values, np.float64).view(np.uint64)
    bits = [int((words >> np.uint64(b) & np.uint64(1)).sum()) for b in range(64)]
    return [*bits, int((values * 2.0**53 % 1 != 0).sum())]


def worst_bit(x, y):
    n = len(x)
    pairs = list(zip(bit_events(x), bit_events(y), strict=True))
    return max(max(epsilon_at_least(a, b, n), epsilon_at_least(b, a, n)) for a, b in pairs)


@pytest.mark.parametrize(
    ("mechanism", "claimed"),
    [
        (Laplace(epsilon=1, grid=Fraction(1, 1 << 20)), 1.0),
        (Laplace(epsilon="0.5", grid=Fraction(1, 1 << 40)), 0.5),
        (Gaussian(rho="0.125", grid=Fraction(1, 1 << 20)), 1.0),
    ],
)
def test_the_last_bits_say_nothing(mechanism, claimed):
    n = 1_000_000
    x, y = (mechanism.sample(np.full(n, v), Seeded(i)) for i, v in enumerate((0.0, 1.0)))
    for values in (x, y):
        steps = values / float(mechanism.grid)
        assert (steps == np.rint(steps)).all()
    assert worst_bit(x, y) <= claimed


def test_the_last_bits_of_naive_laplace_give_the_input_away():
    naive, n = FloatLaplace(epsilon=1), 20_000
    source = Seeded(7)
    x, y = (np.array([naive.sample(v, source) for _ in range(n)]) for v in (0.0, 1.0))
    assert worst_bit(x, y) > 2


def timed(draw, n):
    """Sizes of n draws and the nanoseconds each took."""
    sizes, times = np.empty(n), np.empty(n)
    clock = time.perf_counter_ns
    for i in range(n):
        start = clock()
        z = draw()
        times[i] = clock() - start
        sizes[i] = abs(z)
    return sizes, times


def effect(sizes, times):
    """How much time one standard deviation of the size takes more, as a part of the median time of a draw.

    Times above the 99th percentile, which are the machine's, are cut down to it.  A correlation would not do: it
    divides by the noise of the machine, so that on a quiet one a single nanosecond is seen.
    """
    cut = np.minimum(times, np.quantile(times, 0.99))
    return float(np.cov(sizes, cut)[0, 1] / sizes.std() / np.median(times))


@pytest.mark.parametrize(
    "mechanism", [Laplace(scale=3), Laplace(scale=1000), Gaussian(sigma=3), Gaussian(sigma=1000)], ids=repr
)
def test_the_time_of_a_draw_says_nothing_about_its_size(mechanism):
    mechanism.draw(SYSTEM, None)
    sizes, times = timed(lambda: mechanism.draw(SYSTEM, None), 200_000)
    assert abs(effect(sizes, times)) < 0.03
    large = sizes > np.median(sizes)
    assert abs(np.median(times[large]) - np.median(times[~large])) < 0.1 * np.median(times)


def test_a_loop_as_long_as_its_result_is_seen():
    def geometric():
        k = 0
        while SYSTEM.word() & 3:
            k += 1
        return k

    sizes, times = timed(geometric, 20_000)
    assert effect(sizes, times) > 0.2
    large = sizes > np.median(sizes)
    assert np.median(times[large]) > 1.2 * np.median(times[~large])


BAD_NUMBERS = [
    math.nan, math.inf, -math.inf, 0, -1, -0.0, "nan", "inf", "-1", "0", "", "1e", "one", None, True, False, [], [1],
    {}, (), b"1", 1j, object(), np.nan, np.array([1.0]), "1/0", float, "0x1", "1_", Fraction(-1, 2), Fraction(0),
]  # fmt: skip


STREAM = {"threshold": 3, "sensitivity": 1}
RIGHT = {
    mechanisms.AboveThreshold: [STREAM | {"epsilon": 1}],
    mechanisms.Exponential: [{"epsilon": 1, "sensitivity": 2}, {"rho": 1}, {"epsilon": 1, "range_sensitivity": 1}],
    mechanisms.Gaussian: [{"rho": 1, "sensitivity": 2}, {"sigma": 1}, {"epsilon": 1, "delta": "1e-3"}],
    mechanisms.GaussianSparse: [
        STREAM | {"queries": 5, "sigma_threshold": 2, "sigma_query": 3},
        STREAM | {"queries": 5, "epsilon": 1, "delta": "1e-3"},
    ],
    mechanisms.HadamardResponse: [{"epsilon": 1, "categories": 3}],
    mechanisms.KeySelection: [{"epsilon": 1, "delta": "1e-3", "sensitivity": 1}, {"rho": 1, "delta": "1e-3"}],
    mechanisms.Laplace: [{"epsilon": 1, "sensitivity": 2}, {"scale": 1}, {"epsilon": 1, "grid": "0.5"}],
    mechanisms.NoisyMax: [{"epsilon": 1, "sensitivity": 2}, {"rho": 1}],
    mechanisms.NoisyMaxWithGap: [{"epsilon": 1, "sensitivity": 2}, {"rho": 1}],
    mechanisms.NumericSparse: [STREAM | {"epsilon": 1, "count": 2, "share": "0.1"}],
    mechanisms.PermuteAndFlip: [{"epsilon": 1, "sensitivity": 2}, {"rho": 1}],
    mechanisms.PostedPrice: [{"prices": [1, 2], "epsilon": 1, "sensitivity": 1}],
    mechanisms.IndependentQuantiles: [{"epsilon": 1, "sensitivity": 1, "quantiles": [0.1, 0.5]}, {"rho": 1}],
    mechanisms.Quantiles: [{"epsilon": 1, "sensitivity": 1, "quantiles": [0.5]}, {"rho": 1}],
    mechanisms.RandomizedResponse: [{"epsilon": 1, "categories": 2}],
    mechanisms.RestartedSparse: [
        STREAM | {"epsilon": 1, "count": 2},
        STREAM | {"epsilon": 1, "count": 2, "delta": "1e-3"},
    ],
    mechanisms.Sparse: [STREAM | {"epsilon": 1, "count": 2}],
    mechanisms.SubsetSelection: [{"epsilon": 1, "categories": 5}],
    mechanisms.ToeplitzCount: [{"periods": 3, "rho": 1, "sensitivity": 2}, {"periods": 3, "epsilon": 1, "delta": ".1"}],
    mechanisms.TopK: [{"k": 2, "epsilon": 1, "sensitivity": 1}],
    mechanisms.TreeCount: [{"periods": 3, "epsilon": 1, "branches": 3}, {"periods": 3, "rho": 1, "grid": 1}],
    mechanisms.UnaryEncoding: [{"epsilon": 1, "categories": 3}],
}
ABSENT_IS_FINE = {"grid", "range_sensitivity"}  # None says that there is none
WHATEVER_SIGN = {"0", "-0.0", "-1", "-1/2"}


def stated_by_examples(kind):
    """A right call for each example of a mechanism that is not listed: its parameters are its attributes."""
    names = inspect.signature(kind).parameters
    return [{name: getattr(example.mechanism, name) for name in names} for example in kind.examples()]


RIGHT |= {kind: stated_by_examples(kind) for kind in mechanisms.ALL if kind not in RIGHT}
CALLS = [
    pytest.param(kind, call, name, id=f"{kind.__name__}-{i}-{name}")
    for kind, calls in RIGHT.items()
    for i, call in enumerate(calls)
    for name in call
]


def test_every_mechanism_is_given_bad_parameters():
    assert set(RIGHT) == set(mechanisms.ALL)
    for kind, calls in RIGHT.items():
        for call in calls:
            kind(**call)


@pytest.mark.parametrize(("kind", "call", "name"), CALLS)
@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=map(str, range(len(BAD_NUMBERS))))
def test_a_bad_parameter_is_refused_before_any_data(kind, call, name, bad):
    if bad is None and (name in ABSENT_IS_FINE or (kind, name) == (mechanisms.RestartedSparse, "delta")):
        return
    if name == "threshold" and type(bad) in (int, float, str, Fraction) and str(bad) in WHATEVER_SIGN:
        return
    with pytest.raises(TacitError) as raised:
        kind(**(call | {name: bad}))
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(("kind", "calls"), RIGHT.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_the_public_check_of_parameters_agrees(kind, calls):
    for call in calls:
        refuses_bad_parameters(kind, call)


def test_the_public_check_of_parameters_refutes():
    class Lenient(Laplace):
        def __init__(self, *, epsilon, unused=0):
            super().__init__(epsilon=epsilon)

    with pytest.raises(Refuted, match="unused=nan is accepted"):
        refuses_bad_parameters(Lenient, {"epsilon": 1, "unused": 0})
    with pytest.raises(Refuted, match="ValueError, not BadParameter"):
        refuses_bad_parameters(lambda *, scale: Laplace(scale=int(scale)), {"scale": 1})


@pytest.mark.parametrize("kind", mechanisms.ALL, ids=lambda k: k.__name__)
@given(beta=st.one_of(st.floats(max_value=0), st.floats(min_value=1), st.just(math.nan), st.text(max_size=3)))
@settings(max_examples=20, deadline=None)
def test_a_bad_beta_is_refused(kind, beta):
    try:
        if 0 < Fraction(beta) < 1:
            return
    except (ValueError, OverflowError, TypeError, ZeroDivisionError):
        pass
    mechanism = next(iter(kind.examples())).mechanism
    with pytest.raises(BadParameter, match="beta"):
        mechanism.error(beta=beta)


SECRET = 1234567890123
BAD_DATA = [
    None, "1234567890123", [SECRET, "x"], [[SECRET], [1, 2]], np.array([SECRET], object), np.array([1j * SECRET]),
    np.array(["1234567890123"]), {SECRET: "1234567890123"}, object(), np.array([SECRET], "datetime64[s]"),
    np.array([float(SECRET), math.nan]), np.array([SECRET, math.inf]), [-math.inf], math.nan,
]  # fmt: skip


@pytest.mark.parametrize("kind", mechanisms.ALL, ids=lambda k: k.__name__)
@pytest.mark.parametrize("bad", BAD_DATA, ids=lambda b: type(b).__name__)
def test_bad_data_is_refused_without_being_shown(kind, bad):
    for mechanism in {example.mechanism for example in kind.examples()}:
        with pytest.raises(BadData) as raised:
            mechanism.release(bad)
        assert "123456789" not in str(raised.value)
        assert raised.value.__cause__ is None or "123456789" not in str(raised.value.__cause__)


def test_every_public_name_is_there_and_sorted():
    assert sorted(tacit.__all__, key=lambda n: (not n.isupper(), n)) == tacit.__all__
    assert all(hasattr(tacit, name) for name in tacit.__all__)
