"""A part is left out of a maximum only if another costs as much at every delta."""

from fractions import Fraction

from tacit.composition.parts import covers
from tacit.core.accounting.atoms import Approximate, DiscreteGaussianVector, LaplaceNoise
from tacit.core.accounting.loss import BoundedRange, Loss, Pure


def one(atom, times=1):
    return Loss({atom: times})


def test_what_is_not_covered():
    rho, one_, half = Fraction(1, 8), Fraction(1), Fraction(1, 2)
    assert not covers(one(Pure(one_)), one(Approximate(one_, Fraction(1, 100))))
    assert not covers(one(LaplaceNoise(one_)), one(LaplaceNoise(half), 3))
    assert not covers(one(BoundedRange(one_), 2), one(BoundedRange(half), 5))
    wide, narrow, more = (DiscreteGaussianVector(rho, Fraction(s), m) for s, m in ((40, 1), (4, 1), (40, 9)))
    assert not covers(one(wide), one(narrow)) and not covers(one(wide), one(more))
    assert narrow.gaussian() > wide.gaussian() < more.gaussian()
    assert covers(one(narrow), one(wide)) and covers(one(more), one(wide))
