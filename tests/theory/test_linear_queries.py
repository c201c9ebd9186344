from __future__ import annotations

import math

import pytest

from tacit.composition import advanced
from tacit.theory import linear_queries as lectures


def test_rounds_and_epsilon_of_the_slide() -> None:
    assert lectures.weights_updates(1024, 0.1) == pytest.approx(16 * math.log(1024) / 0.01)
    assert lectures.weights_epsilon(100, 10_000, 0.1, 0.05) == pytest.approx(16 * math.log(6000) / 1000)


def test_the_total_is_that_of_its_composition() -> None:
    each, count = lectures.weights_epsilon(100, 10**7, 0.1, 0.05), 2 * math.ceil(lectures.weights_updates(64, 0.1))
    assert lectures.weights_total(64, 100, 10**7, 0.1, 0.05) == pytest.approx(count * each)
    found = lectures.weights_total(64, 100, 10**7, 0.1, 0.05, delta=1e-6)
    assert found == advanced(each, 0, count, 1e-6)[0] < count * each
    assert found > 2 * math.sqrt(count / 2) * each  # the slide leaves out sqrt(ln(1/delta))


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_alpha_is_the_least_that_epsilon_pays_for(delta: float) -> None:
    alpha = lectures.weights_alpha(64, 100, 10**6, 1.0, 0.05, delta=delta)
    assert lectures.weights_total(64, 100, 10**6, alpha, 0.05, delta=delta) <= 1.0
    assert lectures.weights_total(64, 100, 10**6, alpha * (1 - 1e-3), 0.05, delta=delta) > 1.0


def test_alpha_falls_as_a_cube_root_and_with_a_delta_as_a_square_root() -> None:
    pure = [lectures.weights_alpha(64, 100, n, 1.0, 0.05) for n in (10**6, 10**9)]
    approximate = [lectures.weights_alpha(64, 100, n, 1.0, 0.05, delta=1e-6) for n in (10**6, 10**9)]
    assert pure[0] / pure[1] == pytest.approx(1000 ** (1 / 3), rel=0.01)
    assert approximate[0] / approximate[1] == pytest.approx(math.sqrt(1000), rel=0.1)
