"""Prices and errors that a loose bound would not show to be wrong, by their formulas."""

import math
from fractions import Fraction

import pytest
from mpmath import exp, mp, mpf

from tacit import ADD_REMOVE, SUBSTITUTE, Gaussian, KeySelection, Quantiles
from tacit.core.distance import scalar
from tacit.mechanisms import GaussianSparse
from tacit.mechanisms.selection.exponential import Exponential
from tacit.mechanisms.sparse_vector.gaussian_sparse import Transcripts


def test_keys_error_is_that_of_all_of_them():
    m = KeySelection(epsilon=1, delta="1e-6")
    assert m.error("0.05", size=1000) == m.threshold - 1 + m.noise.error("0.05", 1000) > m.error("0.05", size=1)


@pytest.mark.parametrize("keys", [1, 3])
def test_the_chance_of_a_lone_key_is_rounded_up(keys):
    mp.dps = 50
    for top in range(1, 40):
        m = KeySelection(epsilon=Fraction(top, 7), threshold=9, sensitivity=ADD_REMOVE.counts(keys))
        rate = 1 / (mpf(m.noise.scale.numerator) / m.noise.scale.denominator)
        p = exp(-8 * rate) / (1 + exp(-rate))
        (atom,) = m.loss().terms
        charged = mpf(atom.delta.numerator) / atom.delta.denominator
        exact = 1 - (1 - p) ** keys
        assert exact <= charged <= exact * (1 + mpf(2) ** -36)


@pytest.mark.parametrize("cells", [2, 10**12])
def test_error_of_quartiles_is_carried_from_the_median(cells):
    m = Quantiles(epsilon=1, cells=cells)
    root, *leaves = m.tree
    each = -math.expm1(math.log1p(-0.05) / 4)  # three choices and one cut

    def own(node):
        return Fraction(Exponential.rule.shortfall(each, m._unit(node), cells), node.share.denominator)

    cut = max(own(root), Fraction(m._noise(root).tail_quantile(each), 2) + Fraction(1, 2))
    assert m.error(0.05) == float(max(own(root), *(cut / 2 + own(leaf) for leaf in leaves)))


def test_a_vector_pays_by_its_length_and_for_every_coordinate():
    (atom,) = Gaussian(sigma=3, sensitivity=ADD_REMOVE.counts(4)).loss().terms
    assert (atom.rho, atom.moved) == (Fraction(4, 18), 4)


def test_each_answer_above_is_paid_for():
    for count in (1, 3):
        m = GaussianSparse(threshold=0, queries=10, count=count, sigma_threshold=3, sigma_query=5)
        (atom,) = m.loss().terms
        assert atom.rho == Fraction(1, 2 * 9) + count * Fraction(4, 2 * 25)


def test_beyond_the_best_order_the_divergence_is_that_of_the_order():
    atom = Transcripts(Fraction(1, 50), 1001)
    best = 1 + math.sqrt(math.log(1001) * 50)
    for order in (best * 1.5, best * 10):
        assert atom.renyi(order) == atom.bound(order) > atom.concentrated()


def test_a_substituted_record_is_two():
    m = Quantiles(epsilon=1, cells=3)
    assert m.loss(SUBSTITUTE.counts()).epsilon() == 2 * m.loss(1).epsilon()
    n = Quantiles(epsilon=1, cells=3, sensitivity=SUBSTITUTE.counts())
    assert n.each == m.each / 2


def test_a_sum_moves_by_its_largest_value_of_either_sign():
    assert ADD_REMOVE.sum(-3, 2) == scalar(Fraction(3), ADD_REMOVE) == ADD_REMOVE.sum(-2, 3)


def test_distances_side_by_side_have_the_larger_maximum():
    small, large = scalar(Fraction(1), ADD_REMOVE), scalar(Fraction(5), ADD_REMOVE)
    for d in (small + large, large + small):
        assert (d.l1, d.l2_squared, d.linf, d.l0) == (6, 26, 5, 2)
