"""How little noise meets a target: it does, and a little less would not."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import BadParameter, Gaussian, Laplace
from tacit.calibrate import PRECISION, Target, calibrate, simplest
from tacit.core.accounting.atoms import GaussianNoise, LaplaceNoise
from tacit.core.accounting.loss import Loss, Pure
from tacit.core.accounting.sampled import Sampled

MILLIONTH = "1e-6"


def mixed(noise):
    """A hundred counts by Laplace noise, and five by Gaussian noise of ten times the scale."""
    return Loss({LaplaceNoise(1 / noise): 100, GaussianNoise(1 / (10 * noise) ** 2): 5})


def training(noise):
    return Loss({Sampled(Fraction(1, 100), GaussianNoise(1 / noise**2)): 10_000})


CASES = {
    "gaussian": (lambda noise: Gaussian(sigma=noise), (1, MILLIONTH)),
    "laplace": (lambda noise: Laplace(scale=noise), ("0.3", 0)),
    "a hundred laplace": (lambda noise: 100 * Laplace(scale=noise).loss(), (1, MILLIONTH)),
    "mix": (mixed, Target(1, MILLIONTH)),
    "sampled": (training, (2, MILLIONTH)),
    "loose": (lambda noise: Loss({GaussianNoise(1 / noise**2): 1}), (40, "1e-9")),
    "tight": (lambda noise: Loss({GaussianNoise(1 / noise**2): 1}), ("1e-4", "1e-12")),
}


def price(made, delta):
    return (made if isinstance(made, Loss) else made.loss()).epsilon(delta)


@pytest.mark.parametrize(("make", "target"), CASES.values(), ids=CASES)
def test_the_target_is_met_and_not_with_a_little_less_noise(make, target):
    found = calibrate(make, target)
    epsilon, delta = (target.epsilon, target.delta) if isinstance(target, Target) else target
    assert price(found.made, delta) == found.epsilon <= float(epsilon)
    assert price(make(found.noise), delta) == found.epsilon
    assert price(make(found.noise * (1 - 4 * PRECISION)), delta) > float(epsilon)
    assert found.noise.denominator < 2**18


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("delta", ["1e-9", MILLIONTH, "1e-3"])
def test_a_few_gaussians_of_any_target(count, delta):
    """Epsilon goes up and down as sigma grows, below 1.6: no reason to refuse, nor to miss the target."""
    for epsilon in [Fraction(2 * i + 1, 2) for i in range(0, 32, 2)]:
        found = calibrate(lambda noise: count * Gaussian(sigma=noise).loss(), (epsilon, delta))
        assert price(found.made, delta) == found.epsilon <= float(epsilon)
        assert price(count * Gaussian(sigma=found.noise * (1 - 4 * PRECISION)).loss(), delta) > float(epsilon)


def test_where_the_answer_is_known():
    assert calibrate(lambda noise: Laplace(scale=noise), ("0.1", 0)).noise == 10
    assert calibrate(lambda noise: 10 * Laplace(scale=noise).loss(), (1, 0)).noise == 10
    sigma = calibrate(lambda noise: Loss({GaussianNoise(1 / noise**2): 1}), (1, "1e-5")).noise
    assert float(sigma) == pytest.approx(3.7306, abs=1e-4)  # Balle and Wang 2018


def test_a_target_that_any_noise_meets_takes_the_least():
    assert calibrate(lambda noise: Loss({Pure(Fraction(1, 2)): 1}), (1, 0)).noise == Fraction(1, 2**40)


@pytest.mark.parametrize(
    ("make", "target", "message"),
    [
        (
            lambda e: Laplace(epsilon=e),
            ("0.1", 0),
            "falls as its argument, the noise, doubles; got epsilon 1 at 1, epsilon",
        ),
        (
            lambda noise: Loss({GaussianNoise(1 / noise**2): 1}),
            (1, 0),
            "The target is not met by any noise.*epsilon inf",
        ),
        (lambda noise: Loss({Pure(Fraction(2)): 1}), (1, MILLIONTH), "The target is not met.*still epsilon 2 at noise"),
        (lambda noise: 1.0, (1, 0), "a Loss or a Mechanism; got 'float'"),
        (lambda noise: Laplace(scale=noise), 1, "target must be"),
        (lambda noise: Laplace(scale=noise), (1, 2, 3), "target must be"),
        (lambda noise: Laplace(scale=noise), (0, 0), "epsilon must be positive"),
        (lambda noise: Laplace(scale=noise), (1, 1), "delta must be at least 0 and below 1"),
        (lambda noise: Laplace(scale=noise), Target("x"), "epsilon must be a finite number"),
    ],
)
def test_what_cannot_be_met_is_said(make, target, message):
    with pytest.raises(BadParameter, match=message):
        calibrate(make, target)


def test_errors_of_make_pass_through():
    def broken(noise):
        raise BadParameter("noise", noise, "something else")

    with pytest.raises(BadParameter, match="something else"):
        calibrate(broken, (1, 0))


@given(st.fractions(Fraction(1, 10**6), 10**6), st.fractions(Fraction(1, 10**9), 1))
def test_the_simplest_fraction(low, width):
    found = simplest(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, min(found.denominator, 50)):
        assert not low <= Fraction(-(-low * denominator // 1), denominator) <= low + width
