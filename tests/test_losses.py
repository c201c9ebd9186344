"""Losses of one's own: what is taken, what is refused and in which words, and that they cover their mechanisms."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest

import tacit
from tacit import ADD_REMOVE, SUBSTITUTE, laws, losses
from tacit.core.accounting.atoms import GaussianPrivacy
from tacit.core.errors import BadParameter, MixedRelations
from tacit.ledger.encoding import read_loss, write_loss
from tacit.storage import canonical


def refused(says: str):
    return pytest.raises(BadParameter, match=says)


def test_bare_guarantees():
    assert losses.pure("0.5").epsilon() == 0.5
    assert losses.approximate("0.5", "1e-6").epsilon("2e-6") <= 0.5
    assert losses.approximate("0.5", 0) == losses.pure("0.5")
    assert losses.approximate(0, 0, relation=ADD_REMOVE) == tacit.Loss({}, ADD_REMOVE)
    assert losses.approximate(0, "1e-6").delta(0) == pytest.approx(1e-6, rel=1e-12)
    assert losses.bounded_range(1) == tacit.mix("exponential eps=1")
    assert losses.concentrated("0.1") == tacit.mix("zcdp rho=0.1")
    assert losses.concentrated("0.1", "1e-6") == tacit.mix("zcdp rho=0.1 delta=1e-6")
    assert losses.gaussian("0.5") == tacit.Loss({GaussianPrivacy(Fraction(1, 4)): 1})
    assert losses.gaussian("0.5").epsilon("1e-6") == tacit.mix("gaussian mu=0.5").epsilon("1e-6")


def test_a_relation_is_kept_and_not_mixed():
    one, other = losses.pure(1, relation=ADD_REMOVE), losses.concentrated(1, relation=SUBSTITUTE)
    assert one.relation == ADD_REMOVE
    with pytest.raises(MixedRelations):
        one + other
    with refused("relation must be ADD_REMOVE or SUBSTITUTE; got 'str'"):
        losses.pure(1, relation="ADD_REMOVE")


def test_a_renyi_curve_by_points_and_by_function():
    sigma = 2.0
    by_function = losses.renyi_curve(lambda a: a / (2 * sigma**2))
    by_points = losses.renyi_curve({2: "0.25", 4: "0.5", 8: 1, 16: 2, 32: 4})
    exact = tacit.mix("gaussian sigma=2").epsilon("1e-6")
    assert exact < by_function.epsilon("1e-6") < 1.15 * exact
    assert exact < by_points.epsilon("1e-6") < 1.3 * exact
    assert losses.renyi_curve({2: 0, 4: 0}).epsilon() == 0.0


@pytest.mark.parametrize(
    ("curve", "says"),
    [
        ({1: "0.1"}, "order must be above 1"),
        ({"0.5": "0.1"}, "order must be above 1"),
        ({2: "-0.1"}, "the divergence of order 2 must be at least 0"),
        ({2: math.inf}, "the divergence of order 2 must be a finite number"),
        ({2: math.nan}, "the divergence of order 2 must be a finite number"),
        ({2: "0.2", 4: "0.1"}, "never falls as its order grows, but the divergence of order 4 is 0.1"),
        ({4: "0.1", 2: "0.2"}, "never falls as its order grows"),
        ({2: 1, "2": "0.5"}, "order must be given once"),
        ({"2": "0.5", 2: 1, "3": 1}, "order must be given once"),
        ({2: 1, "2.5": 1, None: 1}, "order must be a number"),
        ({}, "given at one order or more"),
        (0.5, "a mapping from orders, or a function of one"),
    ],
)
def test_what_is_no_renyi_curve(curve, says):
    with refused(says):
        losses.renyi_curve(curve)


def test_a_dominating_pair_is_read_in_both_directions():
    loss = losses.dominating_pair({"a": "0.5", "b": "0.5"}, {"a": "0.2", "b": "0.8"}, relation=ADD_REMOVE)
    assert loss.epsilon() == pytest.approx(math.log(2.5))
    assert loss.delta(0) == pytest.approx(0.3)
    other = losses.dominating_pair(["0.2", "0.8"], ["0.5", "0.5"], relation=ADD_REMOVE)
    assert other.epsilon() == pytest.approx(loss.epsilon())
    assert losses.dominating_pair([0.25, 0.75], [0.25, 0.75], relation=SUBSTITUTE) == tacit.Loss({}, SUBSTITUTE)


def test_under_substitution_a_pair_stands_for_both_orders():
    """Two uses, of which one is the worse in each order: their composition must be that of the worse ones."""
    p, q = ["0.5", "0.5"], ["0.1", "0.9"]
    loss = losses.dominating_pair(p, q, relation=SUBSTITUTE) + losses.dominating_pair(q, p, relation=SUBSTITUTE)
    pairs = (
        {(a, b): float(x) * float(y) for a, x in enumerate(r) for b, y in enumerate(s)} for r, s in ((p, q), (q, p))
    )
    one, other = pairs
    for e in ("0.1", "0.5", "1", "1.5"):
        assert laws.hockey_stick(one, other, e) <= loss.delta(e) + 1e-12


@pytest.mark.parametrize(
    ("p", "q", "says"),
    [
        ({"a": 1}, {"b": 1}, "on the same outcomes; write 0 where one of them has none. p has 1, q has 1, and 0 are"),
        ([1], ["0.5", "0.5"], "on the same outcomes"),
        (["0.5", "0.4"], ["0.5", "0.5"], "The masses of p must sum to 1; they sum to 0.9"),
        (["0.5", "0.5"], ["1.5", "-0.5"], "a mass of q must be at least 0"),
        (["0.5", math.nan], ["0.5", "0.5"], "a mass of p must be a finite number"),
        ("ab", ["1"], "a law: masses by outcome"),
        (0.5, ["1"], "a law: masses by outcome"),
        ([], [], "The masses of p must sum to 1; they sum to 0"),
    ],
)
def test_what_is_no_pair(p, q, says):
    with refused(says):
        losses.dominating_pair(p, q, relation=ADD_REMOVE)


def test_own_pairs_need_a_relation():
    for relation in (None, "AddRemove", 3):
        with refused("relation must be ADD_REMOVE or SUBSTITUTE"):
            losses.dominating_pair([1], [1], relation=relation)
        with refused("relation must be ADD_REMOVE or SUBSTITUTE"):
            losses.exact_law([([1], [1])], relation=relation)


def noisy_or(table):
    """A mechanism of one's own: reports whether anyone has the property, truly with probability 3/4."""
    truth = any(table)
    return {truth: Fraction(3, 4), not truth: Fraction(1, 4)}


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
def test_an_exact_law_is_as_private_as_its_worst_neighbours(relation):
    pairs = [(noisy_or(x), noisy_or(y)) for x, y in laws.neighbours([0, 1], 3, relation)]
    loss = losses.exact_law(pairs, relation=relation)
    assert loss.relation == relation
    assert loss.epsilon() == pytest.approx(math.log(3), abs=1e-12) and loss.epsilon() >= math.log(3)
    for e in ("0", "0.3", "1"):
        worst = max(laws.hockey_stick(p, q, e) for a, b in pairs for p, q in ((a, b), (b, a)))
        assert loss.delta(e) == pytest.approx(worst, abs=1e-12)


def test_exact_laws_of_our_own_mechanisms_are_within_what_they_claim():
    mechanism = tacit.Exponential(epsilon=1, sensitivity=SUBSTITUTE.histogram())
    pairs = [
        (mechanism.law([x.count(c) for c in range(3)]), mechanism.law([y.count(c) for c in range(3)]))
        for x, y in laws.neighbours(range(3), 4, SUBSTITUTE)
    ]
    loss = losses.exact_law(pairs, relation=SUBSTITUTE)
    assert 0.5 < loss.epsilon() <= mechanism.loss().epsilon()
    assert all(loss.delta(e) <= mechanism.loss().delta(e) + 1e-12 for e in ("0", "0.2", "0.5"))


def test_of_a_law_without_end_a_little_counts_as_known():
    noise = tacit.Laplace(epsilon=1)
    loss = losses.exact_law([(noise.law(1), noise.law(0))], relation=ADD_REMOVE)
    assert loss.epsilon() == math.inf
    assert loss.epsilon("1e-30") == pytest.approx(1, abs=1e-9)


def test_what_is_no_list_of_laws():
    for pairs, says in (
        ([], "one pair of neighbouring laws or more"),
        (5, "a list of pairs of laws"),
        ("ab", "a list of pairs of laws"),
        (None, "a list of pairs of laws"),
        ([{"a": 1}], "pairs of laws"),
        (["ab"], "pairs of laws"),
        ([({"a": 1}, 3)], "a mapping to probabilities, or a law such as mechanism.law"),
        ([({"a": "0.5"}, {"a": 1})], "must sum to 1"),
    ):
        with refused(says):
            losses.exact_law(pairs, relation=ADD_REMOVE)


def test_samples_need_their_own_relation():
    add, substitute = (tacit.Laplace(epsilon=1, sensitivity=r.counts()).loss() for r in (ADD_REMOVE, SUBSTITUTE))
    with refused("Poisson sampling amplifies a loss under ADD_REMOVE, but this one is stated under SUBSTITUTE"):
        losses.poisson_sample(substitute, "0.1")
    with refused("A sample of fixed size amplifies a loss under SUBSTITUTE"):
        losses.fixed_size_sample(add, 1, 10)
    with refused("A sample of fixed size amplifies a loss under SUBSTITUTE"):
        losses.fixed_size_sample(losses.poisson_sample(add, "0.1"), 1, 10)
    with refused("Poisson sampling amplifies a loss under ADD_REMOVE"):
        losses.poisson_sample(losses.fixed_size_sample(substitute, 1, 10), "0.1")
    with pytest.raises(MixedRelations):
        losses.poisson_sample(losses.pure(1), "0.1") + losses.fixed_size_sample(losses.pure(1), 1, 10)


@pytest.mark.parametrize("rate", [0, -1, "1.01", math.nan, None])
def test_what_is_no_rate(rate):
    with pytest.raises(BadParameter, match="rate"):
        losses.poisson_sample(losses.pure(1), rate)


def test_sampling_is_of_one_mechanism_with_a_known_profile():
    with refused("has 3 uses. Sample each of them anew"):
        losses.poisson_sample(3 * losses.pure(1), "0.1")
    with refused("has 2 uses"):
        losses.fixed_size_sample(losses.pure(1) + losses.gaussian(1), 1, 10)
    with refused("has 0 uses"):
        losses.poisson_sample(tacit.Loss(), "0.1")
    for unknown in (losses.concentrated(1), losses.renyi_curve({2: 1})):
        with refused("Sampling amplifies privacy profiles"):
            losses.poisson_sample(unknown, "0.1")
    with refused(r"size must be at most n \(10\)"):
        losses.fixed_size_sample(losses.pure(1), 11, 10)
    with refused("a Loss"):
        losses.poisson_sample(tacit.Laplace(epsilon=1), "0.1")


@pytest.mark.parametrize(
    "loss",
    [
        losses.dominating_pair(["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"], relation=SUBSTITUTE),
        losses.poisson_sample(tacit.Laplace(epsilon=1).loss(), "0.1"),
        losses.fixed_size_sample(tacit.Gaussian(rho="0.1").loss(), 10, 100),
        losses.fixed_size_sample(losses.gaussian("0.5"), 10, 100),
        losses.renyi_curve({2: 1, 3: 2}),
    ],
)
def test_they_are_stored_budgeted_and_explained(loss):
    assert read_loss(write_loss(loss)) == loss
    budget = tacit.Budget(epsilon=20, delta="1e-6")
    assert budget.admits(tacit.Loss({}, loss.relation), loss)
    assert loss.group(2).delta(5) >= loss.delta(5)
    assert "PLD" in (3 * loss).explain("1e-6")


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
def test_laws_that_differ_by_less_than_floats_tell_are_not_the_same(relation):
    x, half = Fraction(1, 10**18), Fraction(1, 2)
    loss = losses.dominating_pair([half + x, half - x], [half, half], relation=relation)
    assert loss.terms and 2e-18 <= loss.epsilon() < 1e-12
    assert (10**6 * loss).epsilon() >= 2e-12
    assert not losses.dominating_pair([half + x, half - x], [half + x, half - x], relation=relation).terms


def anyone_there(count: int, keep: Fraction) -> dict[bool, Fraction]:
    """Randomized response to: is anyone in the sample?"""
    return {count > 0: keep, count == 0: 1 - keep}


def test_a_group_is_priced_after_sampling():
    """A coin of epsilon 10 says whether anyone was drawn: three records against none, each drawn with chance 1/100."""
    rate, keep = Fraction(1, 100), 1 - Fraction(1, 22027)  # a little less than epsilon 10
    loss = losses.pure(10, relation=ADD_REMOVE)
    any_of_three = 1 - (1 - rate) ** 3
    drawn = {y: any_of_three * anyone_there(1, keep)[y] + (1 - any_of_three) * anyone_there(0, keep)[y] for y in (0, 1)}
    truth = laws.hockey_stick(drawn, anyone_there(0, keep), 0)
    assert 0.0296 < truth <= losses.poisson_sample(loss, rate).group(3).delta(0)


@pytest.mark.parametrize("k", [2, 3])
def test_the_loss_of_a_group_is_not_sampled(k):
    of_one = [
        losses.pure(1),
        losses.gaussian(1),
        losses.approximate(1, "1e-6"),
        losses.dominating_pair([0.5, 0.5], [0.4, 0.6], relation=ADD_REMOVE),
        tacit.Laplace(epsilon=1, sensitivity=ADD_REMOVE.histogram()).loss(),
        tacit.Exponential(epsilon=1, sensitivity=ADD_REMOVE.counts()).loss(),
    ]
    of_many = [loss.group(k) for loss in of_one]
    for kind in (tacit.Laplace, tacit.Gaussian, tacit.Exponential):
        mechanism = kind(epsilon=1, **({"delta": "1e-6"} if kind is tacit.Gaussian else {}))
        of_one.append(mechanism.loss(ADD_REMOVE.counts()))
        of_many.append(mechanism.loss(ADD_REMOVE.counts().group(k)))
        of_many.append(mechanism.loss(ADD_REMOVE.counts() + ADD_REMOVE.counts().group(k)))
    of_many.append(tacit.Laplace(epsilon=10, sensitivity=ADD_REMOVE.histogram().group(k)).loss())
    of_many += [pickle.loads(pickle.dumps(loss)) for loss in of_many]
    of_many += [tacit.Loss({}) + loss for loss in of_many] + [1 * loss for loss in of_many]
    of_many += [tacit.composition.parallel(loss) for loss in of_many]
    of_many.append(read_loss(write_loss(of_one[3].group(k))))
    for loss in of_one:
        assert loss.units == 1 and losses.poisson_sample(loss, "0.1").group(k).units == k
        assert loss.group(1).units == 1 and losses.poisson_sample(loss.group(1), "0.1").terms
    for loss in of_many:
        with refused("Sample first, then group"):
            losses.poisson_sample(loss, "0.1")
    with refused("Sample first, then group"):
        losses.fixed_size_sample(losses.pure(1, relation=SUBSTITUTE).group(k), 1, 10)
    with refused("Sample first, then group"):
        losses.fixed_size_sample(tacit.Laplace(epsilon=1).loss(SUBSTITUTE.histogram().group(k)), 1, 10)
    substituted = tacit.composition.parallel(losses.pure(1), relation=SUBSTITUTE)  # of one unit
    assert losses.fixed_size_sample(substituted, 1, 10).epsilon() < 2


def test_how_many_pay_is_no_part_of_what_a_loss_is():
    """Stored losses and questions stay what they were."""
    one, three = ADD_REMOVE.counts(), ADD_REMOVE.counts().group(3)
    assert (
        three.relation == ADD_REMOVE
        and repr(three.relation) == "AddRemove"
        and hash(three.relation) == hash(ADD_REMOVE)
    )
    assert three == tacit.norms(l0=3, l1=3, l2=3, linf=3, relation=ADD_REMOVE) and one.relation is ADD_REMOVE
    direct, grouped = losses.pure(3, relation=ADD_REMOVE), losses.pure(1, relation=ADD_REMOVE).group(3)
    assert direct == grouped and hash(direct) == hash(grouped) and repr(direct) == repr(grouped)
    assert write_loss(direct) == write_loss(grouped)
    assert canonical(direct) == canonical(grouped) and canonical(three) == canonical(ADD_REMOVE.counts().group(3))
    assert "units" not in canonical(three)


class Cut:
    """A law that has lost some of its mass."""

    def __init__(self, masses):
        self.masses = masses

    def mass(self, y):
        return self.masses.get(y, 0.0)

    def support(self, tail):
        return list(self.masses)


@pytest.mark.parametrize("missing", [Fraction(1, 10**10), Fraction(1, 10**18), Fraction(-1, 10**10)])
def test_what_is_missing_of_a_law_does_not_vanish(missing):
    """A law that was cut is not as private as what is left of it."""
    half = Fraction(1, 2)
    for cut in ([half, half - missing], [str(half), f"{(half - missing).numerator}/{(half - missing).denominator}"]):
        with refused("must sum to 1; they sum to .*, off by "):
            losses.dominating_pair(cut, [half, half], relation=ADD_REMOVE)
        with refused("must sum to 1"):
            losses.exact_law([(dict(enumerate(cut)), {0: half, 1: half})], relation=ADD_REMOVE)
        with refused("must sum to 1"):
            laws.finite(dict(enumerate(cut)))
    if abs(missing) > 1e-15:
        with refused("must sum to 1"):
            losses.dominating_pair([0.5, 0.5 - float(missing)], [0.5, 0.5], relation=ADD_REMOVE)
        with refused("must sum to 1"):
            losses.exact_law([(Cut({0: 0.5, 1: 0.5 - float(missing)}), {0: half, 1: half})], relation=ADD_REMOVE)


def test_a_law_object_that_misses_a_little_tells_it():
    loss = losses.exact_law([(Cut({0: 0.5, 1: 0.5 - 1e-13}), {0: 0.5, 1: 0.5})], relation=ADD_REMOVE)
    assert loss.epsilon() == math.inf and loss.delta(1) == pytest.approx(1e-13, rel=1e-3)


def test_floats_may_miss_one_by_their_rounding():
    third = 1 / 3
    assert losses.dominating_pair([third] * 3, [0.2, 0.3, 0.5], relation=ADD_REMOVE).epsilon() < 1
    assert losses.exact_law([({0: third, 1: 2 / 3}, {0: 0.5, 1: 0.5})], relation=ADD_REMOVE).epsilon() < 1
    assert laws.finite({0: third, 1: third, 2: third}).mass(0) == pytest.approx(third)


def test_exact_laws_are_compared_exactly():
    x, half = Fraction(1, 10**18), Fraction(1, 2)
    assert losses.exact_law([({0: half + x, 1: half - x}, {0: half, 1: half})], relation=ADD_REMOVE).terms
    tiny = Fraction(1, 10**400)
    loss = losses.exact_law([({0: 1 - tiny, 1: tiny}, {0: 1 - 2 * tiny, 1: 2 * tiny})], relation=ADD_REMOVE)
    assert loss.epsilon() == math.inf


@pytest.mark.parametrize("epsilon", ["0.001", "0.05", "0.4", "1", "3.7", "20"])
@pytest.mark.parametrize("delta", ["1e-2", "1e-7", "1e-14"])
def test_a_rho_made_for_an_epsilon_costs_that_epsilon(epsilon, delta):
    loss = losses.concentrated(Fraction(tacit.composition.rho_for(epsilon, delta)))
    assert float(epsilon) * (1 - 1e-6) < loss.epsilon(delta) <= float(epsilon) * (1 + 1e-12)


def test_an_explanation_shows_the_epsilon_that_was_asked_for():
    loss = losses.concentrated(Fraction(tacit.composition.rho_for("0.4", "1e-7")))
    (winner,) = (line for line in loss.explain("1e-7").splitlines() if line.startswith("*"))
    assert winner.split()[1:3] == ["Renyi", "0.4"]


@pytest.mark.parametrize("orders", [5, "25", None, {2: 1}])
def test_what_is_no_list_of_orders(orders):
    with refused("orders must be a list of numbers"):
        losses.renyi_curve(lambda a: a, orders=orders)


@pytest.mark.parametrize("loss", [losses.pure(1), losses.gaussian(1), tacit.Gaussian(rho="0.5").loss()])
def test_a_sample_of_a_sample_is_one_sample(loss):
    """Of 20 records 10, and of these 4: each set of 4 is equally likely."""
    twice = losses.fixed_size_sample(losses.fixed_size_sample(loss, 4, 10), 10, 20)
    assert twice == losses.fixed_size_sample(loss, 4, 20) and twice.epsilon("1e-6") < loss.epsilon("1e-6")
    poisson = losses.poisson_sample(losses.poisson_sample(loss, "0.4"), "0.5")
    assert poisson == losses.poisson_sample(loss, "0.2")
