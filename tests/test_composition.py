"""Composition and conversion against golden values, against 50 digits, against brute force, and against each other."""

from __future__ import annotations

import decimal
import inspect
import itertools
import json
import math
import random
import re
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from tacit import composition as c
from tacit.composition import optimum
from tacit.composition._coins import coins
from tacit.composition._enclosure import Reader, lower, upper
from tacit.core.errors import BadParameter
from tacit.core.exact import up
from tacit.theory import gaussian, laplace

mp = mpmath.mp.clone()
mp.dps = 50
DIGITS = mp.mpf("1e-40")  # what cancellation leaves of them
ROOM = mp.mpf("1e-9")

GOLDEN = Path(__file__).parent / "golden" / "golden.json"
PREFIXES = ("comp.", "em.ddr20.", "group.", "zcdp.", "rdp.", "azuma.", "hoeffding.", "pinsker.")
ENTRIES = [e for e in json.loads(GOLDEN.read_text())["entries"] if e["id"].startswith(PREFIXES)]

Inputs = dict[str, Any]


def drift(name: str) -> Callable[[Inputs], float]:
    return lambda i: c.advanced(i["eps"], i["delta0"], i["k"], i["delta_prime"], name)[0]


def half_square(i: Inputs) -> Fraction:
    """rho of Gaussian noise."""
    return 1 / (2 * Fraction(str(i["sigma"])) ** 2)


FORMULAS: dict[str, Callable[[Inputs], float]] = {
    r"comp\.basic\..*": lambda i: c.basic([i["eps"]] * i["k"])[0],
    r"comp\.adv\.drv\..*": drift("original"),
    r"comp\.adv\.seed5\..*": drift("classical"),
    r"comp\.adv\.half\..*": drift("half"),
    r"comp\.adv\.tanh\..*": drift("sharp"),
    r"comp\.kov\.eps.*": lambda i: c.optimal(i["eps"], i["k"], i["delta_prime"], i["delta0"]),
    r"comp\.kov\.delta\..*": lambda i: c.optimal_delta(i["eps"], i["k"], i["eps_g"], i.get("delta0", 0)),
    r"comp\.cor9\.eps.*": lambda i: c.per_query_epsilon_classical(i["eps_target"], i["delta"], i["k"]),
    r"comp\.cor9\.optimal\..*": lambda i: c.per_query_epsilon(i["eps_target"], i["delta"], i["k"]),
    r"comp\.hetero\.[a-d]": lambda i: c.optimal_heterogeneous(i["eps"], i["delta"]),
    r"comp\.hetero\.[a-d]\.adv": lambda i: c.advanced_heterogeneous(i["eps"], (), i["delta"], "sharp")[0],
    r"comp\.hetero\.delta\..*": lambda i: c.optimal_heterogeneous_delta(i["eps"], i["eps_g"]),
    r"comp\.crossover\..*": lambda i: c.crossover(i["eps"], i["delta"]),
    r"em\.ddr20\..*": lambda i: c.optimal_bounded_range(i["eps"], i["k"], i["delta"]),
    r"group\.delta\.tight\..*": lambda i: c.group(i["eps"], i["delta"], i["k"])[1],
    r"group\.delta\.seed\..*": lambda i: c.group_classical(i["eps"], i["delta"], i["k"])[1],
    r"group\.eps\..*": lambda i: c.group(i["eps"], 0, i["k"])[0],
    r"group\.zcdp\..*": lambda i: c.group_zcdp(i["rho"], i["k"]),
    r"group\.gdp\..*": lambda i: c.group_gdp(i["mu"], i["k"]),
    r"group\.rdp\..*": lambda i: c.group_renyi(i["alpha"], i["eps"], i["group"])[1],
    r"group\.gauss\.exact": lambda i: gaussian.profile(i["eps"], c.group_gdp(i["mu"], i["k"])),
    r"zcdp\.eps\.cks\..*": lambda i: c.zcdp_to_epsilon(i["rho"], i["delta"]),
    r"zcdp\.eps\.classic\..*": lambda i: c.zcdp_to_epsilon_classical(i["rho"], i["delta"]),
    r"zcdp\.rho\.from\..*\.classic": lambda i: c.rho_for_classical(i["eps"], i["delta"]),
    r"zcdp\.rho\.from\..*\.cks": lambda i: c.rho_for(i["eps"], i["delta"]),
    r"rdp\.gauss\.eps\.sigma.*": lambda i: c.zcdp_to_epsilon(half_square(i), i["delta"]),
    r"rdp\.gauss\.eps\.mironov\..*": lambda i: c.zcdp_to_epsilon_classical(half_square(i), i["delta"]),
    r"rdp\.rr\..*": lambda i: c.pure_to_renyi(i["eps"], i["alpha"]),
    r"rdp\.laplace\..*": lambda i: laplace.renyi_divergence(i["alpha"], i["eps"]),
    r"rdp\.asoodeh\..*": lambda i: c.renyi_to_epsilon_optimal(i["alpha"], i["gamma"], i["delta"]),
    r"rdp\.cks\..*": lambda i: c.renyi_to_epsilon(i["alpha"], i["gamma"], i["delta"]),
    r"hoeffding\.two\..*": lambda i: c.hoeffding(i["n"], i["t"]),
    r"azuma\.pl\..*": lambda i: c.azuma(i["k"], i["eps"], i["t"]),
    r"azuma\.inverse\..*": lambda i: c.azuma_inverse(i["k"], i["eps"], i["delta"]),
    r"pinsker\.rr\..*": lambda i: c.pinsker(Fraction(c.pure_to_zcdp(i["eps"]))),
}
NEAREST = re.compile(r"group\.gauss\.exact|rdp\.laplace\..*")  # theorems of one mechanism, rounded to nearest
PERMITTED = re.compile(r"comp\.cor9\..*|zcdp\.rho\..*")  # what may be spent: never above


def formulas_for(name: str) -> list[Callable[[Inputs], float]]:
    return [formula for pattern, formula in FORMULAS.items() if re.fullmatch(pattern, name)]


def test_no_golden_entry_is_left_out() -> None:
    assert [entry["id"] for entry in ENTRIES if len(formulas_for(entry["id"])) != 1] == []
    assert all(any(entry["id"].startswith(prefix) for entry in ENTRIES) for prefix in PREFIXES)


def test_no_formula_is_idle() -> None:
    assert [p for p in FORMULAS if not any(re.fullmatch(p, entry["id"]) for entry in ENTRIES)] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_golden(entry: dict[str, Any]) -> None:
    (formula,) = formulas_for(entry["id"])
    found, value = formula(entry["inputs"]), entry["value"]
    assert abs(found - value) <= entry["tolerance"] * (abs(value) if entry["tolerance_type"] == "rel" else 1)
    exact = Fraction(entry.get("value_str", value))
    digits = Fraction("1e-13") if NEAREST.fullmatch(entry["id"]) else Fraction("1e-22")
    if PERMITTED.fullmatch(entry["id"]):
        assert Fraction(found) <= exact * (1 + digits)
    else:
        assert Fraction(found) >= exact * (1 - digits)
    if "alpha" in entry and "rho" in entry["inputs"]:  # the order at which it is least
        order, rho, delta = (Fraction(str(x)) for x in (entry["alpha"], *map(entry["inputs"].get, ("rho", "delta"))))
        assert c.renyi_to_epsilon(order, order * rho, delta) == pytest.approx(value, rel=1e-9)


# --- never below the truth, at 50 digits ------------------------------------------------------------------------------


def real(x: float | str | Fraction) -> mpf:
    """The number that is meant: a float is its decimal text."""
    x = Fraction(str(x)) if isinstance(x, float) else Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def tanh_half(e: mpf) -> mpf:
    return mp.tanh(e / 2)


def kov_delta(e: mpf, k: int, total: mpf) -> mpf:
    """The theorem's sum, term by term."""
    high = [j for j in range(k + 1) if (k - 2 * j) * e > total]
    terms = (mp.binomial(k, j) * (mp.exp((k - j) * e) - mp.exp(total + j * e)) for j in high)
    return mp.fsum(terms) / (1 + mp.exp(e)) ** k


def subsets_delta(es: list[Fraction], total: Fraction) -> mpf:
    """Over all sets of coins."""
    result = mp.mpf(0)
    for signs in itertools.product((1, -1), repeat=len(es)):
        loss = sum(s * e for s, e in zip(signs, es, strict=True))
        if loss > total:
            mass = mp.fprod(1 / (1 + mp.exp(-s * real(e))) for s, e in zip(signs, es, strict=True))
            result -= mass * mp.expm1(real(total - loss))
    return result


def zcdp_epsilon(rho: mpf, d: mpf) -> mpf:
    log = -mp.log(d)
    high = min(mp.sqrt(log / rho), 1 / d)
    s = mp.findroot(lambda s: rho * s * s + mp.log1p(s) - log, (high / 1000, high), solver="anderson", verify=False)
    return max(mp.mpf(0), (1 + s) * rho + mp.log(s / (1 + s)) - mp.log((1 + s) * d) / s)


def least_moment(a: mpf, d: mpf, epsilon: mpf) -> mpf:
    """ln of the least p^a q^(1-a) + (1-p)^a (1-q)^(1-a) with q = (p - delta) e^-epsilon, over p in (delta, 1]."""

    def moment(x: mpf) -> mpf:
        p = d + (1 - d) * mp.exp(-x)
        q = (p - d) * mp.exp(-epsilon)
        return p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)

    low, high = mp.mpf(0), mp.mpf(60)
    for _ in range(70):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if moment(left) < moment(right) else (left, high)
    return mp.log(moment(low))


class Draw:
    """Parameters over many orders of magnitude."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def power(self, low: float, high: float) -> float:
        return float(f"{10 ** self.rng.uniform(low, high):.{self.rng.randint(1, 17)}g}")

    def epsilon(self) -> float:
        return self.power(-6, 1.5)

    def delta(self) -> float:
        return min(0.99, self.power(-15, -0.01))

    def count(self, most: float = 5) -> int:
        return int(10 ** self.rng.uniform(0, most))

    def order(self) -> Fraction:
        return 1 + Fraction(str(self.power(-2, 3)))


def closed_forms(draw: Draw) -> Iterator[tuple[float, mpf, bool]]:
    """What a function says, what is true, and whether it is a thing permitted (rounded down)."""
    e, d, s, k, a, t = draw.epsilon(), draw.delta(), draw.delta(), draw.count(), draw.order(), draw.power(-3, 1)
    E, D, S, A, T = map(real, (e, d, s, a, t))
    root, log = E * mp.sqrt(-2 * k * mp.log(S)), -mp.log(D)
    drifts = {"original": E * mp.expm1(E), "classical": 2 * E * E, "half": E * E / 2, "sharp": E * tanh_half(E)}
    name = draw.rng.choice(list(drifts))
    epsilon, delta = c.advanced(e, d, k, s, name)
    yield epsilon, root + k * drifts[name], False
    yield delta, -mp.expm1(k * mp.log1p(-D) + mp.log1p(-S)), False
    epsilon, delta = c.advanced_heterogeneous([e, t, e], [d, s, d], s, name)
    yield delta, 1 - (1 - D) ** 2 * (1 - S) ** 2, False
    if Fraction(str(e)) <= 8 * log:
        yield c.per_query_epsilon_classical(e, d, k), E / mp.sqrt(8 * k * log), True
    each, all_of_them = c.per_query_epsilon_lecture(e, d, k)
    yield each, E / mp.sqrt(2 * k * log), True
    yield all_of_them, E + E * E / log, False
    total, tight = c.group(e, Fraction(str(d)) / 10**9, min(k, 100))
    yield total, min(k, 100) * E, False
    yield tight, min(mp.mpf(1), D / 10**9 * mp.expm1(min(k, 100) * E) / mp.expm1(E)), False
    yield c.group_classical(e, d, 3)[1], min(mp.mpf(1), 3 * D * mp.exp(2 * E)), False
    yield c.azuma(k, e, t), mp.exp(-T * T / (2 * k * E * E)), False
    yield c.azuma_inverse(k, e, d), E * mp.sqrt(2 * k * log), False
    yield c.hoeffding(k, t), min(mp.mpf(1), 2 * mp.exp(-2 * k * T * T)), False
    yield c.hoeffding_inverse(k, d), mp.sqrt(mp.log(2 / D) / (2 * k)), False
    yield c.azuma_intervals([e, 2 * Fraction(str(e))], t), mp.exp(-2 * T * T / (5 * E * E)), False
    bernstein = mp.sqrt(2 * T * mp.log(4 / D) / (k + 1)) + 7 * mp.log(4 / D) / (3 * k)
    yield c.bernstein_inverse(k + 1, t, d), bernstein, False
    yield c.pinsker(t), mp.sqrt(2 * T), False
    yield c.pure_to_zcdp(e), E * tanh_half(E), False
    renyi = mp.log((mp.exp(A * E) + mp.exp((1 - A) * E)) / (1 + mp.exp(E))) / (A - 1)
    yield c.pure_to_renyi(e, a), renyi, False
    yield c.renyi_to_epsilon(a, t, d), max(mp.mpf(0), T + mp.log(1 - 1 / A) - mp.log(A * D) / (A - 1)), False
    yield c.renyi_to_epsilon_classical(a, t, d), T + log / (A - 1), False
    yield c.zcdp_to_epsilon_classical(t, d), T + 2 * mp.sqrt(T * log), False
    yield c.rho_for_classical(t, d), (mp.sqrt(log + T) - mp.sqrt(log)) ** 2, True
    yield c.zcdp_to_epsilon(t, d), zcdp_epsilon(T, D), False


def assert_outward(found: float, truth: mpf, permitted: bool, room: float) -> None:
    x, least, most = mp.mpf(found), truth * (1 - DIGITS), truth * (1 + DIGITS)
    if permitted:
        assert truth * (1 - room) <= x <= most
    else:
        assert least <= x <= max(truth * (1 + room), mp.mpf("1e-300"))


@pytest.mark.parametrize("seed", range(20))
def test_closed_forms_are_never_below_the_truth(seed: int) -> None:
    """Twenty runs of 500 parameters and more, each answer within some ulps."""
    draw, tried = Draw(seed), 0
    while tried < 500:
        for found, truth, permitted in closed_forms(draw):
            assert_outward(found, truth, permitted, 1e-15)
            tried += 1


@pytest.mark.parametrize("seed", range(4))
def test_optimal_composition_is_never_below_the_truth(seed: int) -> None:
    draw = Draw(100 + seed)
    for _ in range(100):
        e, k, d = draw.epsilon(), draw.count(1.7), draw.delta()
        total = Fraction(str(e)) * k * Fraction(draw.rng.randint(0, 99), 100)
        assert_outward(c.optimal_delta(e, k, total), kov_delta(real(e), k, real(total)), False, 1e-11)
        found = c.optimal(e, k, d)
        assert kov_delta(real(e), k, mp.mpf(found)) <= real(d) * (1 + DIGITS)
        if found:
            assert kov_delta(real(e), k, mp.mpf(found) * (1 - ROOM)) > real(d)
        share = c.per_query_epsilon(e, d, k)
        assert kov_delta(mp.mpf(share), k, real(e)) <= real(d) * (1 + DIGITS)
        assert kov_delta(mp.mpf(share) * (1 + ROOM), k, real(e)) > real(d)


@pytest.mark.parametrize(("k", "share"), [(10**6, 0.00023670468654057), (10**9, 7.485249762822063e-06)])
def test_the_share_of_very_many_takes_few_passes(k: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Fraction] = []

    def counted(epsilon: Fraction, *args: Any) -> Any:
        asked.append(epsilon)
        return coins(epsilon, *args)

    monkeypatch.setattr("tacit.composition.optimum.coins", counted)
    assert c.per_query_epsilon(1, "1e-6", k) == pytest.approx(share, rel=1e-13)
    assert len(asked) <= 7


def test_rho_is_never_above_what_is_permitted() -> None:
    draw = Draw(7)
    for _ in range(300):
        e, d = draw.epsilon(), draw.delta()
        rho = mp.mpf(c.rho_for(e, d))
        assert zcdp_epsilon(rho, real(d)) <= real(e) * (1 + DIGITS)
        assert zcdp_epsilon(rho * (1 + ROOM), real(d)) > real(e)


def test_the_optimal_conversion_is_never_below_the_truth_and_meets_it() -> None:
    draw = Draw(8)
    for _ in range(20):
        a, r, d = draw.order(), draw.power(-4, 1), draw.delta()
        found, level = mp.mpf(c.renyi_to_epsilon_optimal(a, r, d)), (real(a) - 1) * real(r)
        assert least_moment(real(a), real(d), found) >= level * (1 - mp.mpf("1e-30"))
        if found:
            assert least_moment(real(a), real(d), found * (1 - ROOM)) < level


@pytest.mark.parametrize("seed", range(20))
def test_heterogeneous_composition_is_never_below_the_truth(seed: int) -> None:
    draw = Draw(200 + seed)
    values = [Fraction(str(draw.power(-2, 0.3))) for _ in range(draw.rng.randint(1, 4))]
    es = [draw.rng.choice(values) for _ in range(8)]
    total = sum(es) * Fraction(draw.rng.randint(0, 99), 100)
    assert_outward(c.optimal_heterogeneous_delta(es, total), subsets_delta(es, total), False, 1e-11)
    d = draw.delta()
    found = c.optimal_heterogeneous(es, d)
    assert subsets_delta(es, Fraction(found)) <= real(d) * (1 + DIGITS)
    if found:
        assert subsets_delta(es, Fraction(found) * (1 - Fraction("1e-9"))) > real(d)


def lattice_delta(ks: list[int], unit: Fraction, total: Fraction) -> float:
    """Coins of epsilon k * unit: the law of the sum on the integers, one coin after the other; delta by definition."""
    law = np.ones(1)
    for k in ks:
        p, before = 1 / (1 + math.exp(-k * unit)), law
        law = np.zeros(len(before) + 2 * k)
        law[2 * k :] += p * before
        law[: len(before)] += (1 - p) * before
    loss = np.arange(len(law)) - sum(ks)
    return float(np.sum(law * -np.expm1(np.minimum(0, float(total) - loss * float(unit)))))


@pytest.mark.parametrize("different", [1 << 10, 16])
@pytest.mark.parametrize(
    ("ks", "unit", "delta"),
    [
        (range(1, 61), Fraction(1, 1000), 1e-6),
        (range(1, 121), Fraction(1, 300), 1e-9),
        ([7, 9, 11, 1000, 2000, 13] * 5 + list(range(1, 40)), Fraction(1, 1500), 1e-3),
    ],
)
def test_the_grid_is_above_the_truth_by_little(
    ks: list[int], unit: Fraction, delta: float, different: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More sets than can be listed; and so many epsilons that they are rounded first."""
    monkeypatch.setattr(optimum, "_MAX_EPSILONS", different)
    es = [k * unit for k in ks]
    found = Fraction(c.optimal_heterogeneous(es, delta))
    truth = lattice_delta(list(ks), unit, found)
    assert truth <= delta < lattice_delta(list(ks), unit, found * Fraction("0.997" if different == 16 else "0.9999"))
    assert truth * (1 - 1e-12) <= c.optimal_heterogeneous_delta(es, found) <= delta * (1 + 1e-3)


# --- laws -------------------------------------------------------------------------------------------------------------

EPSILONS = st.decimals("0.0001", 5, places=4).map(str)
DELTAS = st.integers(1, 12).flatmap(lambda n: st.integers(1, 9).map(lambda m: f"{m}e-{n}"))
COUNTS = st.integers(1, 200)
NEARLY = 1 + 1e-12
LAWS = settings(deadline=None, max_examples=30)


@LAWS
@given(EPSILONS, DELTAS)
def test_one_mechanism_is_itself(e: str, d: str) -> None:
    epsilon = Fraction(e)
    assert c.basic([e], [d]) == (up(epsilon), up(Fraction(d)))
    assert c.optimal(e, 1, d, d) == pytest.approx(float(epsilon), rel=1e-15)
    assert c.optimal_delta(e, 1, e, d) == pytest.approx(float(d), rel=1e-15)
    assert c.per_query_epsilon(e, "1e-300", 1) == pytest.approx(float(epsilon), rel=1e-15)
    assert c.group(e, d, 1) == pytest.approx((float(epsilon), float(d)), rel=1e-15)
    assert c.group_classical(e, d, 1) == pytest.approx((float(epsilon), float(d)), rel=1e-15)
    assert c.group_renyi("1.5", e, 1) == pytest.approx((1.5, float(epsilon)), rel=1e-15)


@LAWS
@given(EPSILONS, DELTAS, COUNTS)
def test_optimal_is_below_every_other_bound(e: str, d: str, k: int) -> None:
    best = c.optimal(e, k, d)
    others = [c.advanced(e, 0, k, d, drift)[0] for drift in ("sharp", "half", "original", "classical")]
    assert best <= min(c.basic([e] * k)[0], *others)
    assert others[0] <= others[1] <= min(others[2:])
    rho = Fraction(c.pure_to_zcdp(e)) * k
    assert best <= c.zcdp_to_epsilon(rho, d) * NEARLY
    assert c.zcdp_to_epsilon(rho, d) <= c.zcdp_to_epsilon_classical(rho, d)


@LAWS
@given(st.tuples(EPSILONS, EPSILONS), st.tuples(DELTAS, DELTAS), st.tuples(COUNTS, COUNTS))
def test_more_is_worse(es: tuple[str, str], ds: tuple[str, str], ks: tuple[int, int]) -> None:
    (e1, e2), (d1, d2), (k1, k2) = sorted(es, key=Fraction), sorted(ds, key=Fraction), sorted(ks)
    base = c.optimal(e1, k1, d1)
    assert base <= c.optimal(e2, k1, d1) * NEARLY
    assert base <= c.optimal(e1, k2, d1) * NEARLY
    assert base >= c.optimal(e1, k1, d2) / NEARLY
    assert base <= c.optimal(e1, k1, d1, Fraction(d1) / (2 * k1)) * NEARLY
    target = Fraction(e1) * k1 / 2
    delta = c.optimal_delta(e1, k1, target)
    assert delta <= c.optimal_delta(e2, k1, target) * NEARLY
    assert delta <= c.optimal_delta(e1, k2, target) * NEARLY
    assert delta >= c.optimal_delta(e1, k1, target * 2) / NEARLY
    share = c.per_query_epsilon(e1, d1, k1)
    assert share <= c.per_query_epsilon(e2, d1, k1) * NEARLY
    assert share <= c.per_query_epsilon(e1, d2, k1) * NEARLY
    assert share >= c.per_query_epsilon(e1, d1, k2) / NEARLY
    assert share >= float(Fraction(e1) / k1) / NEARLY
    assert c.advanced(e1, 0, k1, d1) <= c.advanced(e2, d1, k2, d1)
    assert c.group(e1, d1, k1) <= c.group(e2, d2, k2)
    assert c.zcdp_to_epsilon(e1, d2) <= c.zcdp_to_epsilon(e2, d1)
    assert c.rho_for(e1, d1) <= c.rho_for(e2, d2)


@LAWS
@given(EPSILONS, DELTAS, COUNTS)
def test_inverses(e: str, d: str, k: int) -> None:
    total = c.optimal(e, k, d)
    if total:
        assert c.optimal_delta(e, k, Fraction(total)) <= float(d) * NEARLY
    share = c.per_query_epsilon(e, d, k)
    assert c.optimal(Fraction(share), k, d) == pytest.approx(float(e), rel=1e-9)
    if Fraction(e) <= 1:
        assert c.per_query_epsilon_classical(e, d, k) <= share * NEARLY
    assert c.zcdp_to_epsilon(Fraction(c.rho_for(e, d)), d) == pytest.approx(float(e), rel=1e-12)
    assert c.zcdp_to_epsilon_classical(Fraction(c.rho_for_classical(e, d)), d) == pytest.approx(float(e), rel=1e-12)
    assert c.rho_for_classical(e, d) <= c.rho_for(e, d)
    assert c.azuma(k, e, Fraction(c.azuma_inverse(k, e, d))) <= float(d) * NEARLY
    assert c.hoeffding(k, Fraction(c.hoeffding_inverse(k, d))) <= float(d) * NEARLY


@LAWS
@given(EPSILONS, DELTAS, st.integers(1, 40))
def test_equal_epsilons_need_no_list(e: str, d: str, k: int) -> None:
    assert c.optimal_heterogeneous([e] * k, d) == c.optimal(e, k, d)
    third = Fraction(d) / (3 * k)
    assert c.optimal_heterogeneous([e] * k, d, [third] * k) == c.optimal(e, k, d, third)
    assert c.optimal_heterogeneous([e, 0] * k, d) == c.optimal(e, k, d)
    assert c.optimal_heterogeneous_delta([e] * k, e, [d] * k) == c.optimal_delta(e, k, e, d)
    assert c.advanced_heterogeneous([e] * k, [d] * k, d) == c.advanced(e, d, k, d)


@LAWS
@given(st.decimals("1.01", 64, places=2).map(str), EPSILONS, DELTAS)
def test_conversions_from_one_order_are_ordered(a: str, r: str, d: str) -> None:
    best, good, old = (
        f(a, r, d) for f in (c.renyi_to_epsilon_optimal, c.renyi_to_epsilon, c.renyi_to_epsilon_classical)
    )
    assert best <= good <= old
    assert c.zcdp_to_epsilon(r, d) <= c.renyi_to_epsilon(a, Fraction(a) * Fraction(r), d) * NEARLY
    assert c.pure_to_renyi(r, a) <= min(float(Fraction(r)), c.pure_to_zcdp(r) * float(a)) * NEARLY


@LAWS
@given(EPSILONS, DELTAS)
def test_crossover(e: str, d: str) -> None:
    k = c.crossover(e, d)
    if k < 10**9:
        assert c.advanced(e, 0, k, d, "sharp")[0] <= float(k * Fraction(e)) * NEARLY
        if k > 1:
            assert c.advanced(e, 0, k - 1, d, "sharp")[0] >= float((k - 1) * Fraction(e))


def test_deltas_of_the_mechanisms_come_first() -> None:
    assert c.optimal("0.1", 1000, "1e-6", "1e-8") == math.inf
    assert c.optimal("0.1", 10, "1e-6", "1e-8") < c.optimal("0.1", 10, "9e-7")
    assert c.optimal("0.1", 10**6, "1e-6", "1e-13") < math.inf
    assert c.optimal_delta("0.1", 10**6, 10**5, "1e-13") == pytest.approx(1e-7, rel=1e-6)
    assert c.optimal_delta("0.1", 10**6, 10**5) == 0


def test_nothing_costs_nothing() -> None:
    assert c.basic([]) == (0, 0)
    assert c.optimal_heterogeneous([], "1e-6") == 0
    assert c.optimal(0, 10, "1e-6") == 0
    assert c.optimal_delta(0, 10, 0) == 0
    assert c.advanced(0, 0, 10, "1e-6")[0] == 0
    assert c.group(0, "1e-6", 5) == pytest.approx((0, 5e-6))
    assert c.group(1000, 0, 5) == c.group_classical(1000, 0, 5) == (5000, 0)
    assert c.zcdp_to_epsilon(0, 0.1) == c.renyi_to_epsilon_optimal(2, 0, 0.1) == c.pure_to_zcdp(0) == 0
    assert c.pure_to_renyi(0, 2) == c.pinsker(0) == 0
    assert c.azuma(1, 1, 0) == c.hoeffding(1, 0) == 1


def test_extremes_are_true_and_finite_where_the_truth_is() -> None:
    assert c.optimal(1000, 3, "1e-6") == pytest.approx(3000)
    assert c.optimal("1e-90", 100, "0.001") == 0
    assert 0 < c.optimal("1e-90", 100, "1e-95") < 1e-88
    assert c.optimal("0.1", 100, "1e-300") == 10
    assert c.optimal_delta(800, 2, 1) == 1
    assert 0 < c.optimal_delta("0.01", 10**6, 2000) < 1e-200
    assert c.per_query_epsilon("0.1", "1e-300", 100) == pytest.approx(1e-3)
    assert c.per_query_epsilon(50, "1e-16", 1) == pytest.approx(50)
    assert c.advanced("1e30", 0, 2, "0.1", "original") == (math.inf, pytest.approx(0.1))
    assert c.azuma(1, "1e-9", 1) == 5e-324
    assert c.group("1e-60", "1e-6", 3)[1] == pytest.approx(3e-6)
    assert upper(lambda at: at(Fraction(1, 3)) - Fraction(1, 3)) == 5e-324
    assert 0 < c.zcdp_to_epsilon("1e-100", "1e-300") < 1e-48
    assert c.zcdp_to_epsilon("1e100", 1 - 2.0**-53) >= 1e99
    assert c.rho_for("1e-50", 1 - 2.0**-53) > 0
    assert c.rho_for("1e50", "1e-300") > 1e49
    assert c.crossover(1000, "1e-6") > 10**860


def test_the_callers_decimals_do_not_matter() -> None:
    usual = c.advanced("0.1", "1e-9", 7, "1e-6"), c.rho_for(1, "1e-6"), c.crossover("0.1", "1e-6")
    with decimal.localcontext(decimal.Context(prec=3, Emin=-9, Emax=9, traps=[decimal.Inexact, decimal.Rounded])):
        assert (c.advanced("0.1", "1e-9", 7, "1e-6"), c.rho_for(1, "1e-6"), c.crossover("0.1", "1e-6")) == usual


@LAWS
@given(st.fractions(-50, 50, max_denominator=10**9), st.fractions("1/1000", 50, max_denominator=10**9))
def test_spans_hold_the_truth(x: Fraction, y: Fraction) -> None:
    def formula(at: Reader) -> Any:
        return (at(x).exp() - at(y).ln()) * (at(y).sqrt() - x) / (at(y) + at(x).exp()) - 1

    X, Y = real(x), real(y)
    truth = (mp.exp(X) - mp.log(Y)) * (mp.sqrt(Y) - X) / (Y + mp.exp(X)) - 1
    low, high = lower(formula), upper(formula)
    assert low - abs(low) * DIGITS <= truth <= high + abs(high) * DIGITS
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@LAWS
@given(st.decimals("0.001", 700, places=3), st.integers(1, 30))
def test_coins_have_their_law(e: decimal.Decimal, k: int) -> None:
    atoms = coins(Fraction(e), k, 2.0**-900)
    E = real(Fraction(e))
    for j, mass in zip(range(k + 1), atoms.mass, strict=False):
        truth = mp.binomial(k, j) * mp.exp(-j * E) / (1 + mp.exp(-E)) ** k
        if truth > 1e-260:
            assert truth <= mass <= truth * (1 + mp.mpf("1e-15")) + 2.0**-899
    dropped = range(len(atoms.mass), k + 1)
    assert all(mp.binomial(k, j) * mp.exp(-j * E) < 2.0**-900 for j in dropped)


@pytest.mark.parametrize(("k", "seconds"), [(10**4, 0.05), (10**6, 0.5)])
def test_it_is_quick(k: int, seconds: float) -> None:
    def once() -> float:
        start = time.perf_counter()
        c.optimal("0.001", k, "1e-6")
        c.optimal_delta("0.001", k, 5)
        return time.perf_counter() - start

    assert min(once() for _ in range(5)) < seconds


# --- bad input --------------------------------------------------------------------------------------------------------

NOT_NUMBERS = [math.nan, math.inf, -math.inf, "one", None, True, [1]]
NOT_EPSILONS = [*NOT_NUMBERS, -1, "-0.1", "1e-200", "1e200"]
NOT_DELTAS = [*NOT_NUMBERS, 1, -0.1, 1.5]
NOT_COUNTS = [0, -1, 1.5, "3", True, None, math.nan]
GOOD_AND_BAD: dict[str, tuple[Any, list[Any]]] = {
    **dict.fromkeys(
        ("epsilon", "epsilon_total", "rho", "mu", "value", "t", "kl", "limit", "variance"), (1, NOT_EPSILONS)
    ),
    **{name: (0.1, [*NOT_DELTAS, 0]) for name in ("slack", "delta_target", "beta")},
    **dict.fromkeys(("k", "n"), (3, NOT_COUNTS)),
    "delta": (0.1, NOT_DELTAS),
    "order": (8, [*NOT_EPSILONS, 1, 0]),
    "drift": ("sharp", ["wild", None]),
    "epsilons": ([1], [[x] for x in NOT_EPSILONS] + [3, "3"]),
    "lengths": ([1], [[x] for x in NOT_EPSILONS] + [3, "3"]),
    "deltas": ([0.1], [[x] for x in NOT_DELTAS] + [[0.1, 0.1], 3]),
}


@pytest.mark.parametrize("name", [name for name in c.__all__ if name != "parallel"])  # which is given losses
def test_bad_parameters_are_refused_by_name(name: str) -> None:
    function = getattr(c, name)
    names = inspect.signature(function).parameters
    good = {n: GOOD_AND_BAD[n][0] for n in names}
    function(**good)
    for bad in names:
        for value in GOOD_AND_BAD[bad][1]:
            with pytest.raises(BadParameter) as caught:
                function(**{**good, bad: value})
            assert caught.value.name == bad


def test_more_bad_parameters() -> None:
    for call in (
        lambda: c.group_renyi(7, 1, 3),
        lambda: c.per_query_epsilon_classical(2, "0.9", 10),
        lambda: c.crossover(1001, "0.1"),
        lambda: c.optimal(1, 10**10, "0.1"),
        lambda: c.zcdp_to_epsilon(1, 0),
        lambda: c.per_query_epsilon(1, 0, 3),
        lambda: c.renyi_to_epsilon(2, 1, 0),
        lambda: c.crossover(1, 0),
    ):
        with pytest.raises(BadParameter):
            call()


# --- bounded range ----------------------------------------------------------------------------------------------------


def worst_of_a_range(e: mpf, k: int, total: float) -> mpf:
    """delta of k pairs of two losses t and t - epsilon, the greatest over a grid of t."""

    def at(t: mpf) -> mpf:
        a = (1 - mp.exp(t - e)) / (1 - mp.exp(-e))
        return mp.fsum(
            mp.binomial(k, i) * a ** (k - i) * (1 - a) ** i * max(0, 1 - mp.exp(total - k * t + i * e))
            for i in range(k + 1)
        )

    return max(at(e - e / mpf(2) ** (mpf(j) / 40)) for j in range(600))


@pytest.mark.parametrize(
    ("e", "k", "delta"), [("1", 1, "1e-6"), ("0.3", 7, "1e-3"), ("3", 3, "0.2"), ("0.1", 20, "1e-9")]
)
def test_mechanisms_of_one_range_by_the_worst_interval(e: str, k: int, delta: str) -> None:
    found = c.optimal_bounded_range(e, k, delta)
    assert worst_of_a_range(mpf(e), k, found) <= mpf(delta) <= 1.01 * worst_of_a_range(mpf(e), k, found * (1 - 1e-6))
    assert found <= c.optimal(e, k, delta)


def test_a_range_at_its_ends() -> None:
    assert c.optimal_bounded_range("1e-90", 3, "1e-6") == 0
    assert c.optimal_bounded_range(10**99, 3, "1e-6") == pytest.approx(3e99)
    assert c.optimal_bounded_range(5, 3, "1e-290") == pytest.approx(15)
    with pytest.raises(BadParameter, match="k must be at most 1000"):
        c.optimal_bounded_range(1, 1001, "1e-6")
