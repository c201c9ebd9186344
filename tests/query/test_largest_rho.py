"""The search for the largest rho is shortened by a guess, which changes nothing that it finds."""

from fractions import Fraction

import pytest

from tacit.core.distance import ADD_REMOVE, scalar
from tacit.query.plan import buying
from tacit.query.plan.calibration import Need

BETA = Fraction(1, 20)


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1.5", "5", "20"])
@pytest.mark.parametrize(("moves", "delta"), [((1,), "1e-9"), ((3,), "1e-6"), ((1, 1), "1e-9")], ids=str)
def test_a_guess_changes_nothing(monkeypatch, moves, epsilon, delta):
    """Also where Laplace noise is the better at larger rho, so that what is private is no interval."""
    wanted = tuple(Need(scalar(Fraction(each), ADD_REMOVE)) for each in moves)
    terms = wanted, Fraction(epsilon), Fraction(delta), Fraction(0), BETA
    found = buying._largest_rho.__wrapped__(*terms)
    monkeypatch.setattr(buying, "_normal", lambda *_: False)
    assert found == buying._largest_rho.__wrapped__(*terms)


@pytest.mark.parametrize("epsilon", ["0.05", "2"])
def test_a_good_guess_is_tried_a_few_times(monkeypatch, epsilon):
    tried, real = [], buying.proves
    monkeypatch.setattr(buying, "proves", lambda *given: tried.append(given) or real(*given))
    wanted = (Need(scalar(Fraction(3), ADD_REMOVE)),)
    buying._largest_rho.__wrapped__(wanted, Fraction(epsilon), Fraction("1e-9"), Fraction(0), BETA)
    assert len(tried) <= 5
