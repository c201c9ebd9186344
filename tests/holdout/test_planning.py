"""Plans: theorems at work, each promise checked against the theorem it names."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.composition import rho_for, zcdp_to_epsilon
from tacit.core.errors import BadParameter
from tacit.holdout import (
    GaussianAnswers,
    GuessAndCheck,
    Ladder,
    Memory,
    ReusableHoldout,
    compare,
    max_questions,
    min_records,
    planning,
    transfer,
)
from tacit.holdout.planning import METHODS
from tacit.holdout.ranking import FINE, table

BETA = "0.05"
CASES = [(10_000, 10), (10_000, 1000), (10**6, 100), (10**6, 50_000)]


def plans(n: int, k: int) -> dict[str, planning.HoldoutPlan]:
    return {plan.method: plan for plan in compare(n, k, BETA)}


@pytest.mark.parametrize(("n", "k"), CASES)
def test_gaussian_plans_are_private_as_they_say(n: int, k: int) -> None:
    for plan in (planning.gaussian(n, k, BETA, theorem) for theorem in ("jung", "bassily", "notes", "monitor")):
        rho = k / (2 * (n * plan.sigma) ** 2)
        assert zcdp_to_epsilon(rho, plan.delta) <= plan.epsilon * (1 + 1e-9)
        assert rho <= rho_for(plan.epsilon, plan.delta)


@pytest.mark.parametrize(("n", "k"), CASES)
def test_plans_are_what_their_theorems_prove(n: int, k: int) -> None:
    for name, theorem in (("bassily", transfer.bassily), ("notes", transfer.notes)):
        plan = planning.gaussian(n, k, BETA, name)
        alpha = plan.sigma * planning.quantile(0.025, k)
        proved = theorem(plan.epsilon, plan.delta, n, alpha=alpha, beta="0.025")
        assert proved.failure <= 0.05
        assert proved.width == plan.width
    jung = planning.gaussian(n, k, BETA, "jung")
    widths = [
        transfer.jung_at(BETA, jung.epsilon, jung.delta, alpha=jung.sigma * planning.quantile(b, k), beta=b).width
        for b in (10 ** (-j / 8) for j in range(12, 80))
    ]
    assert min(widths) == pytest.approx(jung.width, rel=0.01)


@pytest.mark.parametrize(("n", "k"), CASES)
def test_no_other_noise_is_much_better(n: int, k: int) -> None:
    jung = planning.gaussian(n, k, BETA, "jung")
    for epsilon in (jung.epsilon * 2 ** (j / 4) for j in range(-8, 9)):
        for delta in (jung.delta * 10**j for j in range(-3, 4)):
            sigma = math.sqrt(k / (2 * rho_for(epsilon, delta))) / n
            for b in (10 ** (-j / 2) for j in range(3, 16)):
                alpha = sigma * planning.quantile(b, k)
                assert transfer.jung_at(BETA, epsilon, delta, alpha=alpha, beta=b).width >= jung.width * 0.99


@pytest.mark.parametrize("method", METHODS)
def test_widths_fall_with_n_however_many_there_are(method: str) -> None:
    """Like 1/sqrt(n)."""
    for n in (10**k for k in range(7, 17)):
        near, far = (METHODS[method](m, 10, BETA).width for m in (n, 10 * n))
        assert 2.7 < near / far < 3.3


def test_the_records_that_a_width_takes() -> None:
    assert 10**10 < min_records(10, "0.00005", BETA) < 10**12
    with pytest.raises(BadParameter, match="width must be larger: no n up to 2\\^62 is known to be enough"):
        min_records(10, "1e-12", BETA)


def test_what_is_known_of_the_order_of_methods() -> None:
    few, many = plans(10_000, 10), plans(10**6, 100_000)
    assert few["asked beforehand"].width < few["rounded answers"].width < few["sample splitting"].width
    assert few["sample splitting"].width < few["Gaussian, Jung et al. 2020"].width
    assert many["Gaussian, Jung et al. 2020"].width < many["rounded answers"].width < many["sample splitting"].width
    for plan in (few, many):
        assert plan["Gaussian, posterior drift"].width < plan["Gaussian, mutual information"].width
        assert plan["Gaussian, mutual information"].width < plan["Gaussian, Jung et al. 2020"].width
        assert plan["Gaussian, Jung et al. 2020"].width < plan["Gaussian, lecture notes"].width
        assert plan["Gaussian, lecture notes"].width < plan["Gaussian, Bassily et al. 2016"].width


@pytest.mark.parametrize("method", [name for name in METHODS if name != "asked beforehand"])
def test_bears_is_the_last_that_fits(method: str) -> None:
    k = max_questions(10**6, "0.1", BETA, method)
    assert k > 100
    assert METHODS[method](10**6, k, BETA).width <= 0.1 < METHODS[method](10**6, k + 1, BETA).width
    assert max_questions(50, "0.01", BETA, method) == 0
    n = min_records(500, "0.1", BETA, method)
    assert METHODS[method](n, 500, BETA).width <= 0.1 < METHODS[method](n - 1, 500, BETA).width
    assert n < 2 * 10**6
    assert min_records(k + 1, "0.1", BETA, method) > 10**6


def test_by_default_the_best_method_is_taken():
    adaptive = [method for method in METHODS if method != "asked beforehand"]
    for n in (10_000, 1_000_000):
        assert max_questions(n, "0.1") == max(max_questions(n, "0.1", method=method) for method in adaptive)
    assert min_records(1000, "0.1") == min(min_records(1000, "0.1", method=method) for method in adaptive)


def test_the_rule_promises_about_what_the_plan_says() -> None:
    """Its noise is discrete, and its sigma has four digits."""
    plan = planning.gaussian(100_000, 200, BETA)
    rule = GaussianAnswers(n=100_000, questions=200, grid=1)
    assert rule.promise.width == pytest.approx(plan.width, rel=0.01)


def test_the_ladder_takes_the_best_rise() -> None:
    """It is about (ln k / n)^(1/3), and no power of two is better."""
    for n, k in ((10**4, 100), (10**8, 10**4), (10**14, 10**6)):
        best = Ladder(n=n, questions=k, grid=1)
        assert 0.2 < (math.log(k) / n) ** (1 / 3) * best.rungs < 5
        for rungs in (best.rungs // 2, best.rungs * 2):
            assert Ladder(n=n, questions=k, grid=1, rise=Fraction(1, rungs)).promise.width >= best.promise.width


@pytest.mark.parametrize("beta", ["0.5", "0.9", "0.999"])
def test_theorems_that_are_not_for_a_large_beta_are_listed_as_none(beta: str) -> None:
    widths = {method: planner(10**6, 1000, beta).width for method, planner in METHODS.items()}
    assert {method for method, width in widths.items() if width == math.inf} == {
        "Gaussian, Bassily et al. 2016",
        "Gaussian, lecture notes",
    }
    assert all(planner(10**6, 1000, "0.499").width < math.inf for planner in METHODS.values())


def test_a_beta_of_which_no_parts_can_be_given_is_refused_by_its_name() -> None:
    for call in (
        lambda beta: compare(10**6, 1000, beta),
        lambda beta: GaussianAnswers(n=10**6, questions=10, beta=beta).promise,
        lambda beta: ReusableHoldout(n=10**6, questions=10, exceptions=2, beta=beta).promise,
    ):
        assert call("1e-280")
        with pytest.raises(BadParameter, match=r"beta must be at least 1e-280.*got '1e-300'"):
            call("1e-300")


def test_splitting_too_far_is_no_plan() -> None:
    assert planning.splitting(10, 11, BETA).width == math.inf
    assert planning.gaussian(10, 5, BETA, "notes").width == math.inf


def test_table() -> None:
    found = compare(10_000, [10, 10_000], BETA)
    lines = table(found).splitlines()
    assert len(lines) == 1 + len(found) == 1 + 2 * (len(METHODS) + 5)  # four rules, and fresh sets
    shown = {line[:30].strip(): line.split() for line in lines[1 : len(found) // 2 + 1]}
    jung = plans(10_000, 10)["Gaussian, Jung et al. 2020"]
    assert f"{math.ceil(jung.width * 10**4) / 10**4:.4f}" in shown[jung.method]
    assert "none" in [line.split()[4] for line in lines if line.startswith("sample splitting")]
    for half in (found[: len(found) // 2], found[len(found) // 2 :]):
        assert [plan.width for plan in half] == sorted(plan.width for plan in half)


def test_bad_parameters() -> None:
    for call in (
        lambda: max_questions(1000, "0.1", method="hope"),
        lambda: planning.gaussian(1000, 10, BETA, "hope"),
        lambda: compare(1000, 0),
        lambda: compare(0, 1),
        lambda: max_questions(1000, 2),
        lambda: min_records(10, "0.1", method="hope"),
    ):
        with pytest.raises(BadParameter):
            call()


@pytest.mark.parametrize(
    ("n", "k", "rounds", "accuracy"),
    [(2000, 500, 1, None), (2000, 500, 1, "0.95"), (10_000, 500, 10, "0.95"), (2000, 500, None, "0.98")],
)
def test_guess_and_check_answers_as_planned(n: int, k: int, rounds: int | None, accuracy: str | None) -> None:
    (plan,) = [each for each in compare(n, k, rounds=rounds, accuracy=accuracy, wrong=1) if each.method.startswith("g")]
    resolution = FINE if rounds == 1 else Fraction(1, 128)
    rule = GuessAndCheck(
        n=n, width=math.ceil(plan.width * 10**6) / 10**6, questions=k, rounds=rounds, resolution=resolution, grid=FINE
    )
    right = round(n * float(accuracy or "0.5"))
    desk = rule.open(np.arange(n), keeper=Memory())
    mean = desk.ask((0.0 if rounds == 1 else right / n, np.arange(n) < right))
    assert abs(mean - right / n) <= float(rule.resolution)
