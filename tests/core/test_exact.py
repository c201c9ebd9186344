"""Enclosures contain the truth, and rounding is outward."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core import exact

positives = st.fractions(min_value=0, max_value=2000, max_denominator=10**12)


@given(x=positives, bits=st.integers(0, 700))
def test_the_exponential_lies_in_its_enclosure(x, bits):
    low, high = exact.exp_minus(x)(bits)
    with mpmath.workdps(600):
        truth = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** bits
        assert low <= truth <= high
    assert high - low <= 3


@given(x=positives, bits=st.integers(1, 300))
def test_the_logistic_lies_in_its_enclosure(x, bits):
    low, high = exact.logistic(x)(bits)
    with mpmath.workdps(300):
        truth = mpmath.mpf(2) ** bits / (1 + mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator))
        assert low <= truth <= high
    assert high - low <= 5


@given(st.fractions())
def test_rounding_is_outward_and_tight(x):
    assert Fraction(exact.down(x)) <= x <= Fraction(exact.up(x))
    assert exact.up(x) <= math.nextafter(exact.down(x), math.inf)


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_decimals_are_told_as_they_are_written(digits, places):
    x = Fraction(digits, 10**places)
    assert Fraction(repr(exact.decimal_up(x))) == x


@given(st.fractions())
def test_what_is_no_decimal_is_rounded_up(x):
    assert exact.decimal_up(x) == exact.up(x) or Fraction(repr(exact.decimal_up(x))) == x


def test_rounding_beyond_the_floats():
    huge = Fraction(10) ** 400
    assert exact.up(huge) == math.inf and exact.down(-huge) == -math.inf
    assert math.isfinite(exact.down(huge)) and math.isfinite(exact.up(-huge))


def test_a_bound_is_told_rounded_away_from_what_it_bounds():
    assert (exact.from_above(0.123449, 4), exact.from_below(0.123459, 4)) == ("0.1235", "0.1234")
    assert (exact.from_above(1234561), exact.from_below(1234569)) == ("1.23457e+06", "1.23456e+06")
    assert (exact.from_above(math.inf), exact.from_below(0.0), exact.from_below(-0.00012345678)) == (
        "inf", "0", "-0.000123457",
    )  # fmt: skip
    assert [exact.at_most(x, "row") for x in (1, 0.5, 2)] == ["1 row", "0.5 rows", "2 rows"]


@pytest.mark.parametrize("x", [0.3, 0.7, 40.2, 1.0, 1e-300, 1e22])
def test_the_last_bits_of_a_bound_are_not_told_as_a_digit_more(x):
    assert exact.from_above(math.nextafter(x, math.inf)) == exact.from_above(x) == f"{x:g}"
    assert exact.from_below(math.nextafter(x, 0)) == f"{x:g}"
