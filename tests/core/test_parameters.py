"""Numbers are read as they are written, and what is none is refused by its name."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tacit.core import parameters
from tacit.core.errors import BadParameter


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), np.float64(0.1), np.float32(0.1)])
def test_a_tenth_is_a_tenth_however_it_is_written(value):
    assert parameters.rational("x", value) == Fraction(1, 10)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), "3", 3.0, Fraction(3)])
def test_three_is_three(value):
    assert parameters.rational("x", value) == 3


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        "nan",
        "inf",
        Decimal("nan"),
        "1/0",
        "",
        "one",
        "\uff19",
        "0_1",
        "1_0/3",
        "\u0663",
        None,
        True,
        1j,
        [1],
        b"1",
    ],
)
def test_what_is_no_finite_number_is_refused_by_name(value):
    with pytest.raises(BadParameter, match="scale must be"):
        parameters.rational("scale", value)


def test_a_delta_is_at_least_0_and_below_1():
    assert parameters.failure("delta", 0) == 0 and parameters.failure("delta", "0.9") == Fraction(9, 10)
    for value in (-1e-300, 1, 1.5):
        with pytest.raises(BadParameter, match=f"delta must be at least 0 and below 1; got {value}"):
            parameters.failure("delta", value)
