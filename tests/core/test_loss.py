"""The algebra of losses: laws that hold for every loss, every view."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, Laplace, MixedRelations
from tacit.composition import optimal_bounded_range
from tacit.core.accounting.accountants import Formal
from tacit.core.accounting.best_bound import VIEWS, proves, table
from tacit.core.accounting.loss import BoundedRange, Concentrated, Loss, Pure, zero
from tacit.core.law import Finite, hockey_stick, renyi_divergence

amounts = st.fractions(min_value=Fraction(1, 1000), max_value=5, max_denominator=1000)
atoms = st.one_of(amounts.map(Pure), amounts.map(BoundedRange), amounts.map(Concentrated))
losses = st.dictionaries(atoms, st.integers(1, 50), max_size=4).map(Loss)
each_view = pytest.mark.parametrize("view", [v for v in VIEWS if not isinstance(v, Formal)], ids=lambda v: v.name)


def close(a, b):
    return np.allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-9)


@given(losses, losses, losses)
def test_sums_are_a_commutative_monoid(a, b, c):
    assert a + b == b + a and (a + b) + c == a + (b + c) and a + zero == a


@given(losses, st.integers(0, 9), st.integers(0, 9))
def test_multiples_are_repeated_sums(a, m, n):
    assert (m + n) * a == m * a + n * a and m * (n * a) == (m * n) * a
    assert n * a == sum([a] * n, zero)


@each_view
@given(a=losses, b=losses, n=st.integers(1, 9))
@settings(max_examples=25, deadline=None)
def test_a_view_is_a_homomorphism(view, a, b, n):
    assert close(view.total(a + b), view.both(view.total(a), view.total(b)))
    assert close(view.total(n * a), view.times(n, view.total(a)))


@given(losses, losses, st.sampled_from(["0", "1e-12", "1e-6", "0.01"]))
@settings(max_examples=25, deadline=None)
def test_more_is_never_cheaper_and_a_group_never_pays_less(a, b, delta):
    assert (a + b).epsilon(delta) >= a.epsilon(delta) * (1 - 1e-9)
    least = a.epsilon(delta)
    assert a.group(3).epsilon(delta) >= least * (1 - 1e-9)
    assert a.group(1) == a
    for epsilon in (least, math.nextafter(least, 0)) if 0 < least < math.inf else ():
        assert proves(a, Fraction(epsilon), Fraction(delta)) == (epsilon == least)


@given(amounts, st.floats(1.01, 100), st.floats(0, 6))
def test_a_pure_loss_is_that_of_a_coin(epsilon, order, at):
    odds = math.exp(epsilon)
    p, q = Finite({0: odds / (1 + odds), 1: 1 / (1 + odds)}), Finite({0: 1 / (1 + odds), 1: odds / (1 + odds)})
    atom = Pure(epsilon)
    assert math.isclose(atom.renyi(order), renyi_divergence(p, q, order), rel_tol=1e-7, abs_tol=1e-12)
    # the reference is a logarithm of numbers near 1 over order - 1, and errs by some ulps of 1
    assert renyi_divergence(p, q, order) <= order * atom.concentrated() * (1 + 1e-12) + 1e-13 / (order - 1)
    assert math.isclose(atom.profile(at), hockey_stick(p, q, at), rel_tol=1e-7, abs_tol=1e-12)


def test_a_tenth_ten_times_is_exactly_one():
    assert (10 * Laplace(epsilon=0.1).loss()).epsilon() == 1
    assert (11 * Laplace(epsilon="0.1").loss()).epsilon() > 1


@given(losses.filter(lambda a: a.terms), st.sampled_from(["1e-12", "1e-6", "0.01"]))
@settings(max_examples=25, deadline=None)
def test_epsilon_and_delta_are_inverse(a, delta):
    epsilon = a.epsilon(delta)
    assert a.delta(Fraction(epsilon)) <= float(delta) * (1 + 1e-6)


def test_losses_under_different_relations_do_not_add():
    one, other = (Laplace(epsilon=1, sensitivity=r.histogram()).loss() for r in (ADD_REMOVE, SUBSTITUTE))
    with pytest.raises(MixedRelations):
        one + other
    assert (one + Laplace(epsilon=1).loss()).relation is ADD_REMOVE


def test_a_loss_survives_pickling():
    loss = 3 * Laplace(epsilon=1).loss()
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(pickle.loads(pickle.dumps(loss))) == hash(loss)


def test_explain_names_every_view_and_stars_the_winner():
    text = (100 * Laplace(epsilon=0.1).loss()).explain("1e-6")
    assert all(view.name in text for view in VIEWS) and text.count("*") == 1


@pytest.mark.parametrize("delta", [-1, 1, 2, math.nan, "x", None])
def test_bad_deltas_are_refused(delta):
    with pytest.raises(BadParameter, match="delta"):
        Laplace(epsilon=1).loss().epsilon(delta)


@pytest.mark.parametrize("count", [-1, 1.5, True])
def test_bad_counts_are_refused(count):
    with pytest.raises(BadParameter):
        count * Laplace(epsilon=1).loss()
    with pytest.raises(BadParameter):
        Laplace(epsilon=1).loss().group(count)


@given(st.floats(0.01, 8), st.lists(st.floats(0, 1), min_size=2, max_size=5), st.floats(0, 1), st.data())
def test_no_pair_of_this_range_has_a_larger_profile(width, losses, share, data):
    weights = data.draw(st.lists(st.floats(0.001, 1), min_size=len(losses), max_size=len(losses)))
    q = np.array(weights) / math.fsum(weights)
    p = q * np.exp(width * np.array(losses))
    p /= p.sum()
    atom, e = BoundedRange(Fraction(width)), share * width
    for one, other in ((p, q), (q, p)):
        assert np.maximum(one - math.exp(e) * other, 0).sum() <= atom.profile(e) * (1 + 1e-9) + 1e-15
    assert atom.profile(e) <= Pure(Fraction(width)).profile(e)


@pytest.mark.parametrize("width", [0.1, 1.0, 5.0])
def test_two_losses_attain_the_profile_of_a_range(width):
    e = width / 3
    t = (e + width) / 2
    p = -math.expm1(t - width) / -math.expm1(-width)  # of the loss t
    assert p * -math.expm1(e - t) == pytest.approx(BoundedRange(Fraction(width)).profile(e), rel=1e-12)


@pytest.mark.parametrize(("width", "n"), [("1", 2), ("1", 10), ("0.1", 10), ("3", 3)])
def test_ranges_compose_by_their_worst_pair(width, n):
    """The density of its loss, summed on a fine grid: no other view is as near."""
    loss, e0, cells = Loss({BoundedRange(Fraction(width)): n}), float(width), 4000
    found, step = loss.epsilon("1e-6"), 2 * e0 / cells
    one = np.exp((np.arange(cells) + 0.5) * step / 2)
    size = 1 << (n * cells).bit_length()
    mass = np.fft.irfft(np.fft.rfft(one / one.sum(), size) ** n, size)[: n * cells - n + 1].clip(0)
    losses = n * (step / 2 - e0) + step * np.arange(len(mass))
    assert np.sum(mass * np.maximum(0, -np.expm1(found - losses))) == pytest.approx(1e-6, rel=0.005)
    assert found > optimal_bounded_range(width, n, "1e-6")  # whose mechanisms are chosen beforehand


def test_at_delta_zero_the_largest_losses_add_by_every_accountant_that_knows_them():
    loss = 2 * Loss({Pure(Fraction(1, 10)): 1})
    shown = {line[2:20].strip(): line[20:34].strip() for line in table(loss, 0).splitlines()}
    assert shown["basic"] == shown["optimal"] == shown["PLD"] == "0.2" and shown["zCDP"] == "inf"


@pytest.mark.parametrize("each", ["0.1", "0.01", "0.3", "0.7", "1.1", "0.007"])
def test_pure_losses_print_exactly_as_they_were_written(each):
    """A float is read as its shortest decimal text, so the float that prints 0.3 is three tenths."""
    for k in range(1, 60):
        exact = k * Fraction(each)
        assert Fraction(repr((k * Laplace(epsilon=each).loss()).epsilon())) == exact


def test_pure_losses_that_have_no_short_decimal_are_rounded_up():
    for n in (1, 2, 4, 7):
        found = Loss({Pure(Fraction(1, 3)): n}).epsilon()
        assert 0 <= Fraction(repr(found)) - Fraction(n, 3) < Fraction(1, 10**15)


@pytest.mark.parametrize("delta", ["1e-6", "1e-9", "0.1", "1/3"])
def test_a_delta_that_failures_fill_to_the_last_is_enough(delta):
    loss = tacit.losses.approximate(1, delta)
    assert loss.epsilon(delta) == 1.0 and loss.epsilon(Fraction(delta) * (1 - Fraction(1, 10**12))) == math.inf
    assert (loss + tacit.losses.approximate(2, delta)).epsilon(2 * Fraction(delta)) == 3.0
