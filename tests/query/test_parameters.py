"""Parameters are constants before a text has a meaning, and nothing in a value can end its constant."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import BadQuestion
from tacit.query.sql.parameters import bound
from tacit.query.values.nodes import Compare, Constant

from .test_sql import read

COUNT = "SELECT COUNT(*) AS n FROM people WHERE "


@pytest.mark.parametrize(
    ("text", "values", "meant"),
    [
        ("age > $1 AND region = $2", [18, "north"], "age > 18 AND region = 'north'"),
        ("age > ? AND age < ?", [18, 65], "age > 18 AND age < 65"),
        ("age > $2 AND age < $1 AND spend < $1", [65, 18], "age > 18 AND age < 65 AND spend < 65"),
        ("age > :low AND region = :where", {"low": -3, "where": "north"}, "age > -3 AND region = 'north'"),
        ("joined >= ?", [datetime.date(2024, 1, 31)], "joined >= DATE '2024-01-31'"),
        ("joined >= ?", [datetime.datetime(2024, 1, 31, 1)], "joined >= TIMESTAMP '2024-01-31 01:00:00'"),
        ("spend < ? - ?", [Decimal("1.50"), Fraction(1, 4)], "spend < 1.5 - 1 / 4"),
        ("member = ? OR age = ?", [True, None], "member = TRUE OR age = NULL"),
        ("note = '$1 ? :x' AND age = ? -- ? $9", [3], "note = '$1 ? :x' AND age = 3"),
        ("age::int > ?", [1e-7], "CAST(age AS INT) > 0.0000001"),
        ("age > 3", [], "age > 3"),
    ],
)
def test_a_parameter_is_its_value(text: str, values: Any, meant: str) -> None:
    assert read(bound(COUNT + text, values)) == read(COUNT + meant)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("age > $1", []),
        ("age > $1", [1, 2]),
        ("age > $0", [1]),
        ("age > ?", {"a": 1}),
        ("age > :a", [1]),
        ("age > :a", {"b": 1}),
        ("age > 3", [1]),
        ("age > ?", "1"),
        ("age > ?", 1),
        ("age > ?", [float("nan")]),
        ("age > ?", [float("inf")]),
        ("age > ?", [[1, 2]]),
        ("age > ?", [b"1"]),
        ("age > '?", [1]),
    ],
)
def test_parameters_and_values_must_fit(text: str, values: Any) -> None:
    with pytest.raises(BadQuestion):
        bound(COUNT + text, values)


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40))
def test_no_text_can_leave_its_quotes(value: str) -> None:
    text = bound(COUNT + "note = ?", [value])
    condition = read(text).relation.condition  # type: ignore[attr-defined]
    assert isinstance(condition, Compare) and isinstance(condition.b, Constant) and condition.b.value == value


@given(st.integers(-(2**30), 2**30))
def test_every_number_is_itself(value: int) -> None:
    meant = read(f"SELECT SUM(age + ({Decimal(value) / 1024:f})) AS s FROM people")
    for same in (value / 1024, Decimal(value) / 1024):
        assert read(bound("SELECT SUM(age + ?) AS s FROM people", [same])) == meant
