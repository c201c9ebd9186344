from __future__ import annotations

import math

import pytest

from tacit.theory import laplace
from tacit.theory.noise_laws import LAWS, density, tail

from . import integral


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("deviation", [0.5, 1.0, 3.0])
def test_each_is_a_law_of_its_deviation(law: str, deviation: float) -> None:
    far = 15 * deviation
    mass, mean, square = (
        sum(integral(lambda x: density(law, x, deviation) * x**k, a, b) for a, b in ((-far, -1e-300), (0, far)))  # noqa: B023
        for k in range(3)
    )
    assert mass == pytest.approx(1, abs=1e-6)
    assert math.sqrt(square - mean**2) == pytest.approx(deviation, rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 2.5])
def test_tails_are_integrals_of_densities(law: str, t: float) -> None:
    inside = integral(lambda x: density(law, x, 2.0), 0, t) + integral(lambda x: density(law, x, 2.0), -t, -1e-300)
    assert tail(law, t, 2.0) == pytest.approx(1 - inside, abs=1e-9)


def test_gaussian_tails_are_the_lightest_and_laplace_is_that_of_its_file() -> None:
    assert tail("gaussian", 5) < tail("laplace", 5) < tail("exponential", 5)
    assert density("laplace", 0.7, math.sqrt(2)) == pytest.approx(laplace.density(0.7, 1.0))
    assert tail("laplace", 3, math.sqrt(2) * 2) == pytest.approx(laplace.tail(3, 2.0))
    assert density("exponential", -0.1) == 0
