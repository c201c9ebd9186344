"""Listed losses and sampling, held against the law of the sampled mechanism by enumeration of every sample."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import ADD_REMOVE, SUBSTITUTE, losses
from tacit.core.accounting.atoms import (
    Approximate,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    KaryResponse,
)
from tacit.core.accounting.listed import FinitePair, FixedSizeSample, PoissonSample, poisson_sample
from tacit.core.accounting.loss import Atom, BoundedRange, Loss, Pure
from tacit.core.accounting.sampled import Sampled
from tacit.core.law import Finite, hockey_stick, renyi_divergence
from tacit.core.pld.envelope import envelope
from tacit.core.pld.loss_table import losses_of

EPSILONS = (0.0, 0.01, 0.1, 0.3, 0.7, 1.0, 1.9, 4.0)
RATES = (Fraction(1, 50), Fraction(1, 3), Fraction(9, 10))


def mixture(parts: list[tuple[float, Finite]]) -> Finite:
    total: dict[object, float] = {}
    for weight, law in parts:
        for y, mass in law.masses.items():
            total[y] = total.get(y, 0.0) + weight * mass
    return Finite(total)


def listed(law) -> Finite:
    """On one range for all integer laws here, which leaves out less than 1e-20 of each."""
    points = range(-500, 520) if isinstance(law.support(0.1), range) else law.support(0)
    return Finite({y: law.mass(y) for y in points})


def on_poisson_sample(law, table, rate) -> Finite:
    """Every subset of the records, by its chance."""
    r, parts = float(rate), []
    for taken in product((0, 1), repeat=len(table)):
        chance = math.prod(r if t else 1 - r for t in taken)
        parts.append((chance, law([x for x, t in zip(table, taken, strict=True) if t])))
    return mixture(parts)


def on_fixed_sample(law, table, size) -> Finite:
    """Every subset of so many records, all equally likely."""
    samples = list(combinations(table, size))
    return mixture([(1 / len(samples), law(list(sample))) for sample in samples])


def count_with(mechanism):
    return lambda table: listed(mechanism.law(sum(table)))


def select_with(mechanism):
    return lambda table: listed(mechanism.law([table.count(c) for c in (0, 1, 2)]))


def mechanisms(relation):
    """Each with its loss under the relation, and its law on a table of records."""
    count, one = relation.counts(), relation.counts()
    two = relation.histogram()
    yield tacit.Laplace(epsilon=1, sensitivity=count), count_with, (0, 1)
    yield tacit.Laplace(epsilon="0.4", sensitivity=relation.sum(0, 3)), count_with, (0, 1, 3)
    yield tacit.Gaussian(rho="0.4", sensitivity=one), count_with, (0, 1)
    monotone = relation is ADD_REMOVE
    yield tacit.Exponential(epsilon=2, sensitivity=two, monotone=monotone), select_with, (0, 1, 2)
    yield tacit.PermuteAndFlip(epsilon=1, sensitivity=two, monotone=monotone), select_with, (0, 1, 2)


@pytest.mark.parametrize("rate", RATES)
def test_poisson_samples_are_covered_in_both_directions(rate):
    """All tables of up to three records with one record more: none is further apart than the loss says."""
    for mechanism, how, universe in mechanisms(ADD_REMOVE):
        claim, law = losses.poisson_sample(mechanism.loss(), rate), how(mechanism)
        for others in ([], [universe[0]], [universe[-1]], [universe[0], universe[1], universe[-1]]):
            for x in universe:
                with_x, without = on_poisson_sample(law, [*others, x], rate), on_poisson_sample(law, others, rate)
                for e in EPSILONS:
                    delta = claim.delta(Fraction(e)) + 1e-14
                    assert hockey_stick(with_x, without, e) <= delta, (mechanism, others, x, e)
                    assert hockey_stick(without, with_x, e) <= delta


@pytest.mark.parametrize("size", [1, 2, 3])
def test_samples_of_fixed_size_are_covered(size):
    """Every table of four records, and every substitution of its first."""
    for mechanism, how, universe in mechanisms(SUBSTITUTE):
        claim, law = losses.fixed_size_sample(mechanism.loss(), size, 4), how(mechanism)
        deltas = {e: claim.delta(Fraction(e)) + 1e-14 for e in EPSILONS}
        for rest in ([universe[0]] * 3, [universe[-1]] * 3, [universe[0], universe[1], universe[-1]]):
            tables = [on_fixed_sample(law, [x, *rest], size) for x in universe]
            for p, q in product(tables, repeat=2):
                assert all(hockey_stick(p, q, e) <= delta for e, delta in deltas.items())


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    "mechanism",
    [tacit.Laplace(epsilon=1), tacit.Laplace(epsilon="0.4", sensitivity=3), tacit.Gaussian(rho="0.4")],
)
def test_the_claim_for_a_poisson_sample_is_attained_by_a_lone_record(mechanism, rate):
    far = int(mechanism.sensitivity.l1)
    claim = losses.poisson_sample(mechanism.loss(), rate)
    p, q = (on_poisson_sample(count_with(mechanism), table, rate) for table in ([far], []))
    for e in EPSILONS:
        truth = hockey_stick(p, q, e)
        assert truth - 1e-14 <= claim.delta(Fraction(e)) <= truth * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize(("size", "n"), [(1, 5), (2, 5), (4, 5)])
def test_the_claim_for_a_sample_of_fixed_size_is_attained_by_counts(size, n):
    mechanism = tacit.Laplace(epsilon=1)
    claim = losses.fixed_size_sample(mechanism.loss(), size, n)
    p, q = (on_fixed_sample(count_with(mechanism), [x] + [0] * (n - 1), size) for x in (1, 0))
    for e in EPSILONS:
        truth = max(hockey_stick(p, q, e), hockey_stick(q, p, e))
        assert truth - 1e-14 <= claim.delta(Fraction(e)) <= truth * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("rate", RATES)
def test_several_uses_each_on_a_sample_of_its_own(rate):
    """Four coins, sampled: every outcome of the four is enumerated, in both directions, for both kinds of sample."""
    r, keep = float(rate), 1 / (1 + math.exp(-1))
    mixed, plain = [(1 - r) * (1 - keep) + r * keep, (1 - r) * keep + r * (1 - keep)], [1 - keep, keep]
    p, q = (Finite({y: math.prod(one[i] for i in y) for y in product((0, 1), repeat=4)}) for one in (mixed, plain))
    poisson = 4 * losses.poisson_sample(losses.pure(1), rate)
    for e in (0.05, 0.2, 0.5, 1.0, 2.0):
        truth = max(hockey_stick(p, q, e), hockey_stick(q, p, e))
        assert truth <= poisson.delta(Fraction(e)) + 1e-14
        if truth > 1e-6:
            assert poisson.delta(Fraction(e)) <= truth * 1.005
    fixed = 4 * losses.fixed_size_sample(losses.pure(1), rate.numerator, rate.denominator)
    assert all(fixed.delta(e) >= max(hockey_stick(p, q, float(e)), hockey_stick(q, p, float(e))) for e in (0.25, 0.5))


def test_a_thousand_sampled_coins_against_the_binomial_law():
    """All outcomes are known by how many heads there are."""
    r, k = mpmath.mpf(1) / 10, 1000
    loss = k * losses.poisson_sample(losses.pure(1), "0.1")
    with mpmath.workdps(50):
        keep = 1 / (1 + mpmath.exp(-1))
        heads, plain = r * keep + (1 - r) * (1 - keep), 1 - keep

        def delta(e):
            masses = ([p**j * (1 - p) ** (k - j) for p in (heads, plain)] for j in range(k + 1))
            return mpmath.fsum(mpmath.binomial(k, j) * max(0, a - mpmath.exp(e) * b) for j, (a, b) in enumerate(masses))

        epsilon = loss.epsilon("1e-6")
        assert delta(epsilon) <= 1e-6 <= delta(epsilon * 0.999)


def both_ways(p: Finite, q: Finite, order: float) -> float:
    """The larger Renyi divergence, on the outcomes whose masses are floats above 0."""
    seen = [y for y in p.masses if p.masses[y] and q.masses[y]]
    one, other = (Finite({y: law.masses[y] for y in seen}) for law in (p, q))
    return max(renyi_divergence(one, other, order), renyi_divergence(other, one, order))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("order", [1.1, 1.5, 2.0, 3.7, 8.0, 40.0])
def test_renyi_divergences_of_samples(order, rate):
    for mechanism, claim_for, law in (
        (tacit.Laplace(epsilon=1), losses.poisson_sample, on_poisson_sample),
        (tacit.Gaussian(rho="0.2"), losses.poisson_sample, on_poisson_sample),
    ):
        (atom,) = claim_for(mechanism.loss(), rate).terms
        p, q = (law(count_with(mechanism), table, rate) for table in ([1], []))
        truth = both_ways(p, q, order)
        assert truth <= atom.renyi(order) * (1 + 1e-9) <= order * atom.concentrated() * (1 + 1e-6)
    mechanism, n = tacit.Laplace(epsilon=1), 3
    (atom,) = losses.fixed_size_sample(mechanism.loss(), 1, n).terms
    p, q = (on_fixed_sample(count_with(mechanism), [x, 0, 1], 1) for x in (1, 0))
    assert both_ways(p, q, order) <= atom.renyi(order) * (1 + 1e-9)


ATOMS: list[Atom] = [
    Pure(Fraction(1)),
    KaryResponse(Fraction(1), 5),
    DiscreteLaplaceNoise(Fraction(1, 2), 4),
    DiscreteGaussianNoise(Fraction(1, 8), 1, Fraction(4)),
    BoundedRange(Fraction(3, 2)),
]


@pytest.mark.parametrize("atom", ATOMS)
def test_a_list_of_losses_has_the_profile_of_its_atom(atom):
    table = losses_of(atom.pairs(2.0**-8)[0])
    assert table.p.sum() == pytest.approx(1, abs=1e-12) and table.q.sum() == pytest.approx(1, abs=1e-12)
    assert np.allclose(table.p * np.exp(-table.losses), table.q, rtol=1e-9, atol=0)
    for e in EPSILONS:
        assert atom.profile(e) * (1 - 1e-9) <= table.profile(e) + 1e-15
        assert table.profile(e) <= atom.profile(e) * (1 + 1e-6) + 1e-12
        assert table.reversed.profile(e) == pytest.approx(table.profile(e), rel=1e-9, abs=1e-15)


def test_what_may_fail_fails_less_often_on_a_sample():
    """(epsilon, delta) becomes (ln(1 + r (e^epsilon - 1)), r delta) (Li, Qardaji, Su 2012)."""
    loss = losses.poisson_sample(losses.approximate(1, "1e-6"), "0.1")
    least = math.log1p(0.1 * math.expm1(1))
    assert loss.delta(least) == pytest.approx(1e-7, rel=1e-6) and loss.epsilon() == math.inf
    assert isinstance(next(iter(loss.terms)), PoissonSample) and isinstance(next(iter(loss.terms)).of, Approximate)


def test_noise_with_a_closed_form_keeps_it():
    noise = GaussianNoise(Fraction(1, 16))
    assert poisson_sample(noise, Fraction(1, 100)) == Sampled(Fraction(1, 100), noise)
    again = losses.poisson_sample(Loss({Sampled(Fraction(1, 10), noise): 1}, ADD_REMOVE), "0.1")
    assert again == Loss({Sampled(Fraction(1, 100), noise): 1}, ADD_REMOVE)
    wide = losses.poisson_sample(tacit.Gaussian(rho="1e-12").loss(), "0.01")
    assert isinstance(next(iter(wide.terms)), Sampled)


def test_a_sample_of_fixed_size_costs_more_than_removal_alone_when_composed():
    """Both orders of the neighbours count, so their composition is above that of either direction of a Poisson pair."""
    fixed = 200 * losses.fixed_size_sample(losses.gaussian("0.5"), 1, 20)
    poisson = 200 * losses.poisson_sample(losses.gaussian("0.5"), "0.05")
    assert poisson.epsilon("1e-6") < fixed.epsilon("1e-6") < 1.3 * poisson.epsilon("1e-6")
    assert fixed.group(2).epsilon("1e-6") > fixed.epsilon("1e-6")


@pytest.mark.parametrize(("epsilon", "uses"), [("1", (1, 1)), ("2", (1, 1)), ("1", (3, 1)), ("2", (3, 1))])
def test_a_substitution_that_shows_on_both_sides(epsilon, uses):
    """One of two records is drawn each time and a bit of it reported by a coin.  The other record is (0, 1), and this
    one (1, 1) or (0, 0): reports of the first bit are a mixture on the first table, those of the second bit on the
    second.  A pair for removal alone, composed in either direction, claims less than the truth.
    """
    keep = 1 / (1 + math.exp(-float(epsilon)))

    def reports(table):
        laws = []
        for bit, times in zip((0, 1), uses, strict=True):
            ones = sum(keep if record[bit] else 1 - keep for record in table) / len(table)
            laws += [(1 - ones, ones)] * times
        outcomes = product((0, 1), repeat=len(laws))
        return Finite({y: math.prod(law[i] for law, i in zip(laws, y, strict=True)) for y in outcomes})

    p, q = reports([(1, 1), (0, 1)]), reports([(0, 0), (0, 1)])
    fixed = sum(uses) * losses.fixed_size_sample(losses.pure(epsilon), 1, 2)
    removal = sum(uses) * losses.poisson_sample(losses.pure(epsilon), "0.5")
    exceeded = False
    for e in ("0", "0.2", "0.5", "1", "2"):
        truth = max(hockey_stick(p, q, float(e)), hockey_stick(q, p, float(e)))
        assert truth <= fixed.delta(e)
        exceeded |= truth > removal.delta(e) * 1.001
    assert exceeded


def test_all_of_the_table_is_no_sample():
    loss = tacit.Laplace(epsilon=1).loss()
    assert losses.poisson_sample(loss, 1).terms == loss.terms == losses.fixed_size_sample(loss, 7, 7).terms


def laws(size: int, least: int = 0) -> st.SearchStrategy[tuple[Fraction, ...]]:
    weights = st.lists(st.integers(least, 30), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: tuple(Fraction(x, sum(w)) for x in w))


def stick(p, q, odds):
    return sum((max(a - odds * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


@settings(deadline=None)
@given(
    st.lists(st.tuples(laws(4), laws(4)), min_size=1, max_size=4),
    st.booleans(),
    st.fractions(0, 20, max_denominator=30),
)
def test_an_envelope_is_the_largest_of_its_pairs(pairs, both_orders, odds):
    p, q = envelope([list(zip(*pair, strict=True)) for pair in pairs], both_orders=both_orders)
    assert math.fsum(p) == pytest.approx(1) and math.fsum(q) == pytest.approx(1)
    orders = [*pairs, *((b, a) for a, b in pairs)] if both_orders else pairs
    kinks = {x / y for a, b in orders for x, y in zip(a, b, strict=True) if y}
    for at in {odds, *kinks}:
        found = math.fsum(max(0.0, x - float(at) * y) for x, y in zip(p, q, strict=True))
        truth = max(stick(a, b, at) for a, b in orders)
        assert found == pytest.approx(float(truth), abs=1e-12)


def composed(p, q, k, epsilon):
    """The hockey stick of k copies, the larger direction, by every outcome of all k."""
    one, other = (
        Finite({y: math.prod(float(law[i]) for i in y) for y in product(range(len(p)), repeat=k)}) for law in (p, q)
    )
    return max(hockey_stick(one, other, epsilon), hockey_stick(other, one, epsilon))


@settings(deadline=None, max_examples=40)
@given(laws(4), laws(4), st.integers(1, 3), st.floats(0, 3))
def test_no_composition_of_a_finite_pair_is_below_the_truth(p, q, k, epsilon):
    loss = losses.dominating_pair(p, q, relation=ADD_REMOVE)
    assert composed(p, q, k, epsilon) - 1e-12 <= (k * loss).delta(epsilon)


@settings(deadline=None, max_examples=40)
@given(laws(4, least=1), laws(4, least=1), st.integers(1, 4), st.floats(0, 2))
def test_compositions_of_a_finite_pair_are_near_the_truth(p, q, k, epsilon):
    loss = losses.dominating_pair(p, q, relation=ADD_REMOVE)
    truth = composed(p, q, k, epsilon)
    assert (k * loss).delta(epsilon) <= truth * 1.01 + 2e-4


def test_a_finite_pair_states_all_that_it_implies():
    atom = FinitePair((0.5, 0.3, 0.2), (0.3, 0.3, 0.4))
    p, q = Finite(dict(enumerate(atom.p))), Finite(dict(enumerate(atom.q)))
    for order in (1.01, 1.5, 2.0, 10.0, 300.0, 1e5):
        truth = max(renyi_divergence(p, q, order), renyi_divergence(q, p, order))
        assert truth <= atom.renyi(order) + 1e-15 <= truth + 1e-11
    orders = np.geomspace(1.0001, 1e4, 4000)
    least = max(max(renyi_divergence(p, q, a), renyi_divergence(q, p, a)) / a for a in orders)
    assert least <= atom.concentrated() <= 1.004 * least
    assert atom.pure() == pytest.approx(math.log(2)) and atom.pure() >= math.log(2)
    assert atom.group(1) is atom and Loss({atom: 1}).group(3).epsilon() == pytest.approx(3 * math.log(2))


def test_small_rates_keep_their_digits():
    """A loss of 1e-9 and less is neither lost nor swamped by rounding."""
    (atom,) = losses.poisson_sample(losses.pure(1), "1e-9").terms
    truth = math.log1p(1e-9 * math.expm1(1))
    assert truth <= atom.pure() <= truth * (1 + 1e-9)
    keep, lie = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))
    chi = (keep - lie) ** 2 * (1 / lie + 1 / keep)  # D_2 of the pair is ln(1 + r^2 chi^2)
    assert atom.renyi(2.0) == pytest.approx(1e-18 * chi, rel=1e-6)
    assert atom.renyi(2.0) >= 1e-18 * chi * (1 - 1e-9)


def test_fixed_size_atoms_are_made_of_their_poisson_twin():
    (atom,) = losses.fixed_size_sample(tacit.Laplace(epsilon=1).loss(), 1, 4).terms
    assert isinstance(atom, FixedSizeSample) and atom.poisson.rate == Fraction(1, 4)
    assert atom.pure() == atom.poisson.pure() and atom.profile(0.1) == atom.poisson.profile(0.1)


@pytest.mark.parametrize("rate", ["1e-12", "0.5", "0.999999"])
@pytest.mark.parametrize(
    "name",
    [
        "coin eps=1e-6", "coin eps=1000000", "discrete-laplace eps=1e-6", "discrete-laplace eps=700",
        "exponential eps=1e-6", "exponential eps=800", "discrete-gaussian sigma=1e-6", "discrete-gaussian sigma=0.1",
        "discrete-gaussian sigma=400", "discrete-gaussian sigma=1e6", "approximate eps=1 delta=0.5", "gaussian mu=1e-6",
    ],
)  # fmt: skip
def test_samples_of_any_mechanism_are_priced_from_above(name, rate):
    """Whatever the sizes: no warning, no NaN, never above the mechanism itself, and delta and epsilon fit together."""
    plain = tacit.mix(name)
    composed = rate == "0.5" and name in ("coin eps=1e-6", "discrete-laplace eps=700", "discrete-gaussian sigma=0.1")
    for times in (1, 30) if composed else (1,):
        poisson, whole = times * losses.poisson_sample(plain, rate), times * plain
        fixed = times * losses.fixed_size_sample(plain, *Fraction(rate).as_integer_ratio())
        for loss in (poisson, fixed):
            delta = loss.delta(1)
            assert 0 <= delta <= 1 and not math.isnan(delta)
            assert delta <= whole.delta(1) * 1.02 + 1e-12 or times > 1
            epsilon = loss.epsilon("1e-6")
            assert epsilon >= 0 and (epsilon == math.inf or loss.delta(Fraction(epsilon)) <= 1.01e-6)


def test_noise_on_too_many_integers_is_refused_in_words():
    far = Loss({DiscreteGaussianNoise(Fraction(10**10), 10**6, Fraction(50)): 1})
    with pytest.raises(tacit.BadParameter, match="a shift of 1000000 steps"):
        losses.poisson_sample(far, "0.1").epsilon("1e-6")


@pytest.mark.parametrize("k", range(1, 18))
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
def test_masses_far_apart_keep_their_ratio(k, relation):
    """A mass of 10^-k / 2 against one of 1/2, in both directions: pure epsilon, profile and Renyi divergence."""
    x = Fraction(1, 2 * 10**k)
    small, half = (x, 1 - x), (Fraction(1, 2), Fraction(1, 2))
    with mpmath.workdps(50):
        truth = k * mpmath.log(10)
        for p, q in ((small, half), (half, small)):
            loss = losses.dominating_pair(p, q, relation=relation)
            assert truth <= mpmath.mpf(loss.epsilon()) <= truth * (1 + mpmath.mpf(10) ** -12)
            for share in ("0.5", "0.9", "0.999"):
                e = Fraction(share) * Fraction(float(truth))
                odds = mpmath.exp(mpmath.mpf(e.numerator) / e.denominator)
                delta = mpmath.mpf("0.5") - odds * mpmath.mpf(x.numerator) / x.denominator
                assert delta <= mpmath.mpf(loss.delta(e)) <= delta * (1 + mpmath.mpf(10) ** -9)
            (atom,) = loss.terms
            moment = sum(
                mpmath.mpf(b.numerator) / b.denominator * (mpmath.mpf(b.numerator) * a.denominator)
                / (mpmath.mpf(b.denominator) * a.numerator)
                for a, b in zip(small, half, strict=True)
            )  # fmt: skip
            assert mpmath.log(moment) <= atom.renyi(2.0)
            if relation is ADD_REMOVE:  # under SUBSTITUTE one pair stands for both orders
                assert atom.renyi(2.0) <= mpmath.log(moment) * (1 + mpmath.mpf(10) ** -9)


@pytest.mark.parametrize("epsilon", [20, 36, 40, 300])
@pytest.mark.filterwarnings("error")
def test_exact_laws_of_responses_with_a_large_epsilon(epsilon):
    mechanism = tacit.RandomizedResponse(epsilon=epsilon, categories=2)
    loss = losses.exact_law([(mechanism.law(0), mechanism.law(1))], relation=SUBSTITUTE)
    assert loss.epsilon() == pytest.approx(epsilon, rel=1e-12) and loss.epsilon() >= epsilon
    assert (2 * loss).delta(epsilon) <= 1


@pytest.mark.filterwarnings("error")
def test_a_mass_too_small_for_floats_is_never_nothing():
    """Below 1e-290 a mass counts as one that the other law lacks, also on a sample."""
    for k in (295, 320, 400, 1000):
        x = Fraction(1, 10**k)
        for small in ((x, 2 * x), (x, Fraction(0)), (2 * x, x)):
            p, q = ((1 - mass, mass) for mass in small)
            loss = losses.dominating_pair(p, q, relation=ADD_REMOVE)
            assert loss.epsilon() == math.inf and loss.epsilon("1e-200") <= 1e-8
            for rate in ("1e-12", "1e-40"):
                assert losses.poisson_sample(loss, rate).epsilon() == math.inf
        one = losses.dominating_pair((1 - x, x), (Fraction(1, 2), Fraction(1, 2)), relation=ADD_REMOVE)
        assert one.epsilon() == math.inf and one.delta(100) >= 0.5


def exact_epsilon(p, q, delta):
    """The least epsilon of two listed laws, by the kinks of their profile."""

    def height(odds):
        return sum((max(a - odds * b, mpmath.mpf(0)) for a, b in zip(p, q, strict=True)), mpmath.mpf(0))

    below = mpmath.mpf(1)
    if height(below) <= delta:
        return mpmath.mpf(0)
    for kink in sorted({a / b for a, b in zip(p, q, strict=True) if b and a > b}):
        if height(kink) <= delta:
            above = [(a, b) for a, b in zip(p, q, strict=True) if not b or a / b > below]
            return mpmath.log((sum(a for a, _ in above) - delta) / sum(b for _, b in above))
        below = kink
    return mpmath.inf


def near_law(rng: random.Random, p, spread):
    """Masses of p, each times e^x for an x within the spread, and sometimes nothing."""
    weights = [x * Fraction(str(round(math.exp(rng.uniform(-spread, spread)), 6))) for x in p]
    weights = [Fraction(0) if rng.random() < 0.05 else w for w in weights]
    return [w / sum(weights) for w in weights] if any(weights) else p


@pytest.mark.parametrize("rate", [None, Fraction(1, 2), Fraction(1, 100)])
def test_compositions_of_few_losses_are_enumerated(rate):
    """Epsilon within a relative 1e-6 of the truth and never below, with and without sampling."""
    rng, compared = random.Random(5), 0
    for _ in range(60):
        size, k, spread = rng.randint(2, 4), rng.randint(2, 4), rng.choice([0.05, 0.3, 1, 3])
        p = [Fraction(1, size)] * size
        q, delta = near_law(rng, p, spread), Fraction(10 ** rng.uniform(-8, -1))
        loss = losses.dominating_pair(p, q, relation=ADD_REMOVE)
        if not loss.terms:
            continue
        if rate is not None:
            loss = losses.poisson_sample(loss, rate)
            p = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
        with mpmath.workdps(40):
            one, other = ([mpmath.mpf(x.numerator) / x.denominator for x in law] for law in (p, q))
            many = [[mpmath.fprod(law[i] for i in y) for y in product(range(size), repeat=k)] for law in (one, other)]
            at = mpmath.mpf(delta.numerator) / delta.denominator
            truth = max(exact_epsilon(*many, at), exact_epsilon(*many[::-1], at))
            found = (k * loss).epsilon(delta)
            assert truth <= found
            if 1e-6 < truth < mpmath.inf:
                compared += 1
                assert found <= truth * (1 + 1e-6)
    assert compared > 20


def test_infinite_losses_are_counted_once():
    """Five uses, each of which reveals everything with probability 1/10: 1 - 0.9^5, and not 5/10."""
    p, q = ["0.1", "0.46", "0.44", 0], [0, "0.44", "0.46", "0.1"]
    loss = 5 * losses.dominating_pair(p, q, relation=ADD_REMOVE)
    assert loss.delta(1) == pytest.approx(1 - 0.9**5, rel=1e-6) and loss.delta(1) >= 1 - 0.9**5
    assert loss.distribution().infinite == pytest.approx(1 - 0.9**5, rel=1e-6)
    everything = losses.dominating_pair([1, 0], [0, 1], relation=ADD_REMOVE)
    assert (5 * everything).delta(3) == 1 and (everything + loss).delta(1) == 1
