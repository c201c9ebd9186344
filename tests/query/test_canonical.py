"""Every cell has a meaning within its column's domain, whatever it holds, and nothing is raised."""

import datetime
import decimal
import math
import os
import time
import uuid
import zoneinfo
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit.query.schema.schema import Schema
from tacit.query.values.cells import row_text, steps, unit_text

SCHEMA = Schema.load("""
[table]
name = "cells"
unit = "id"
rows = 3
[columns.integer]
type = "integer"
lower = -5
upper = 120
[columns.long]
type = "integer"
lower = -4611686018427387904
upper = 4611686018427387904
[columns.free]
type = "integer"
[columns.real]
type = "real"
lower = -1
upper = 500
grid = 0.25
[columns.coarse]
type = "real"
lower = -100
upper = 100
grid = 8
[columns.loose]
type = "real"
[columns.boolean]
type = "boolean"
[columns.category]
type = "category"
values = ["north", "", "1", "true", "-0", " x "]
[columns.date]
type = "date"
lower = 2015-01-01
upper = 2025-12-31
[columns.day]
type = "date"
[columns.timestamp]
type = "timestamp"
lower = 2000-01-01T00:00:00Z
upper = 2030-01-01T00:00:00Z
[columns.moment]
type = "timestamp"
[columns.text]
type = "text"
""")
COLUMNS = dict(SCHEMA.columns)
UTC = datetime.UTC
EAST, WEST = (datetime.timezone(datetime.timedelta(hours=h)) for h in (14, -12))
date, moment = datetime.date, datetime.datetime


class NotATime(datetime.datetime):
    """As pandas has it: a datetime whose parts are not numbers."""

    year = math.nan


HOSTILE = [
    None,
    NotATime(2020, 1, 1),
    math.nan,
    -math.nan,
    math.inf,
    -math.inf,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    0.49999999999999994,
    -0.5,
    2.0**52 + 1,
    2.0**63,
    -(2.0**63),
    2.0**64,
    2**31,
    2**63,
    -(2**63) - 1,
    2**64,
    10**38,
    -(10**38),
    10**400,
    -(10**5000),
    1 << 100_000,
    True,
    False,
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Decimal("-Infinity"),
    Decimal("-0"),
    Decimal("1e-999999"),
    Decimal("1e999999"),
    Decimal("0e999999999"),
    Decimal("7.5"),
    Fraction(1, 3),
    1 + 2j,
    np.float16("nan"),
    np.float32("inf"),
    np.longdouble("1e4000"),
    np.int8(-128),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("north"),
    np.bytes_(b"north"),
    np.complex128(1),
    np.datetime64("NaT"),
    np.datetime64(2**63 - 1, "s"),
    np.datetime64(-(2**63) + 1, "D"),
    np.datetime64(7, "as"),
    np.datetime64("2020-02-29T23:59:59.999999999"),
    np.timedelta64(5, "ns"),
    np.timedelta64("NaT"),
    np.array([1, 2]),
    np.array(3),
    np.void(b"abc"),
    "",
    " ",
    "1",
    " 1\t",
    "1\n",
    "\u00a01",
    "+.5e+2",
    "1e999",
    "-1e999",
    "1e1000",
    "1" + "0" * 400,
    "9" * 5000,
    "0x10",
    "1_000",
    "nan",
    "inf",
    "١٢",
    "\uff11\uff12",
    "²",
    "TRUE ",
    "yes",
    "Tr\u0000ue",
    "north",
    "North",
    "n\u200borth",
    "\ud800",
    "a\udfffb",
    "\U0010ffff",
    "\u202eevil",
    "'; DROP TABLE people; --",
    "x" * 100_000,
    "2020-02-29",
    "2021-02-29",
    "0000-01-01",
    "9999-12-31T23:59:59Z",
    "10000-01-01",
    "2020-1-1",
    "٢٠٢٠-01-01",
    "2020-01-01\n",
    "2020-01-01 nonsense",
    "2020-01-01T24:00",
    "2020-01-01T23:59:60",
    "2020-01-01T10:00+02:00",
    "0001-01-01T00:00+23:59",
    "9999-12-31 23:59:59.9-2359",
    "2020-01-01 10:00:07.5-00:30",
    "2020-01-01T10:00-02",
    "2020-01-01T10:00+24",
    "2020-01-01 10:00:59.999Z",
    date.min,
    date.max,
    moment.min,
    moment.max,
    moment.min.replace(tzinfo=EAST),
    moment.max.replace(tzinfo=WEST),
    moment.min.replace(tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo")),
    moment(1969, 12, 31, 23, 59, 59, 999999),
    datetime.time(1),
    datetime.timedelta(1),
    b"",
    b"1",
    b"\xff\xfe",
    bytearray(b"1"),
    memoryview(b"1"),
    uuid.UUID(int=0),
    [],
    [1],
    [[1, [None]]],
    (),
    {},
    {"a": 1},
    {1},
    object(),
    int,
    ...,
]


def within(value, column) -> bool:
    """Whether this is a value that the schema promises."""
    if value is None:
        return True
    if column.type == "text":
        return type(value) is str and value.encode() is not None
    return type(value) is int and column.domain.lower <= value <= column.domain.upper


def test_the_hostile_cells_are_many():
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("name", COLUMNS)
def test_hostile_cells_have_a_meaning_within_the_domain(name):
    for raw in HOSTILE:
        value = steps(raw, COLUMNS[name])
        assert within(value, COLUMNS[name]), raw
        assert steps(raw, COLUMNS[name]) == value
        row_text([value])


def test_hostile_units_have_a_text_or_none():
    for raw in HOSTILE:
        text = unit_text(raw)
        assert text is None or (type(text) is str and row_text([text]))


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.floats(),
    st.decimals(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=st.none() | st.timezones()),
    st.from_regex(r"[ \t]*[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,4})?\s*", fullmatch=True),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?Z?)?", fullmatch=True),
    st.integers(-(2**63), 2**63 - 1).map(lambda n: np.datetime64(n, "us")),
    st.recursive(st.none() | st.integers(), lambda s: st.lists(s) | st.dictionaries(st.text(), s), max_leaves=5),
)


@given(cells)
@example(decimal.Decimal("sNaN123"))
def test_any_cell_has_a_meaning_within_the_domain(raw):
    for column in COLUMNS.values():
        assert within(steps(raw, column), column)
    unit_text(raw)


@given(st.integers(), st.sampled_from(["integer", "long", "free", "real", "coarse", "loose"]))
def test_whole_numbers_are_the_nearest_step_exactly(n, name):
    domain = COLUMNS[name].domain
    step = math.floor(n / domain.grid + Fraction(1, 2))
    assert steps(n, COLUMNS[name]) == min(max(step, domain.lower), domain.upper)


@given(st.floats(-1e6, 1e6), st.sampled_from(["integer", "real", "coarse", "loose"]))
def test_doubles_go_to_a_nearest_step(x, name):
    domain = COLUMNS[name].domain
    inside = min(max(Fraction(x), domain.lower * domain.grid), domain.upper * domain.grid)
    assert abs(steps(x, COLUMNS[name]) * domain.grid - inside) <= domain.grid * (Fraction(1, 2) + Fraction(1, 1 << 53))
    assert steps(x, COLUMNS[name]) == steps(repr(x), COLUMNS[name]) == steps(Decimal(x), COLUMNS[name])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_larger_doubles_have_no_smaller_steps(x, y):
    for name in ("integer", "long", "real", "coarse", "loose"):
        assert (steps(x, COLUMNS[name]) <= steps(y, COLUMNS[name])) or x > y


DAY = 86400
MEANINGS = [
    ("integer", "12", 12),
    ("integer", 2.5, 3),
    ("integer", -2.5, -2),
    ("integer", "1e999", 120),
    ("integer", "9" * 15_000, 120),
    ("integer", "9" * 15_001, None),
    ("integer", "1e1000", None),
    ("integer", "1\n", None),
    ("integer", " 1\t", 1),
    ("integer", ".", None),
    ("integer", "1.", 1),
    ("integer", "\u0661", None),
    ("integer", True, 1),
    ("integer", math.nan, None),
    ("integer", Decimal("sNaN"), None),
    ("integer", math.inf, 120),
    ("integer", b"1", None),
    ("integer", np.timedelta64(5, "ns"), None),
    ("long", 2**62 - 1, 2**62 - 1),
    ("long", 10**30, 2**62),
    ("long", 1e30, 2**62),
    ("free", 10**30, 2**40),
    ("real", 1, 4),
    ("real", 0.125, 1),
    ("real", -0.125, 0),
    ("real", 5e-324, 0),
    ("real", Decimal("0.37"), 1),
    ("real", -math.inf, -4),
    ("coarse", 4, 1),
    ("coarse", 3, 0),
    ("coarse", -4, 0),
    ("coarse", 10**400, 13),
    ("boolean", 1.0, 1),
    ("boolean", -0.0, 0),
    ("boolean", 2, None),
    ("boolean", Decimal(1), 1),
    ("boolean", "  YES ", 1),
    ("boolean", "1" + " " * 14_999, 1),
    ("boolean", "1" + " " * 15_000, None),
    ("boolean", "\tyes", None),
    ("boolean", "on", None),
    ("category", "north", 0),
    ("category", "North", None),
    ("category", "", 1),
    ("category", 1, 2),
    ("category", 1.0, None),
    ("category", True, 3),
    ("category", " x ", 5),
    ("category", "x", None),
    ("date", "2020-01-01", 18262),
    ("date", "2020-01-01T99:99", 18262),
    ("date", "2020-01-01x", None),
    ("date", "2021-02-29", None),
    ("date", date(1900, 1, 1), 16436),
    ("date", moment(2020, 1, 1, 23, tzinfo=WEST), 18263),
    ("day", moment.min.replace(tzinfo=EAST), -719162),
    ("day", np.datetime64("2020-01-01"), 18262),
    ("day", np.datetime64("2020-01-02T05", "h"), 18263),
    ("moment", np.datetime64("1970-01-02T00:01", "m"), 86460),
    ("date", 18262, None),
    ("date", NotATime(2020, 1, 1), None),
    ("date", np.datetime64("NaT"), None),
    ("timestamp", "2020-01-01", 18262 * DAY),
    ("timestamp", "2020-01-01 10:01", 18262 * DAY + 36060),
    ("timestamp", "2020-01-01T10:01:59.999Z", 18262 * DAY + 36119),
    ("timestamp", "2020-01-01T24:00", None),
    ("timestamp", "2020-01-01T10:00+02:00", 18262 * DAY + 8 * 3600),
    ("timestamp", "2020-01-01 10:00:07.5-00:30", 18262 * DAY + 10 * 3600 + 1807),
    ("timestamp", "2020-01-01 10:00:07+0130", 18262 * DAY + 8 * 3600 + 1807),
    ("timestamp", "2020-01-01T10:00-02", 18262 * DAY + 12 * 3600),
    ("timestamp", "2020-01-01T10:00+24:00", None),
    ("timestamp", "2020-01-01T10:00+1:00", None),
    ("timestamp", "2020-01-01T10:00Z+01:00", None),
    ("timestamp", "2020-01-01+01:00", None),
    ("timestamp", date(2020, 1, 1), 18262 * DAY),
    ("moment", moment(1969, 12, 31, 23, 59, 59, 1), -1),
    ("moment", np.datetime64(-1, "ns"), -1),
    ("moment", moment(2020, 1, 1, tzinfo=EAST), 18262 * DAY - 14 * 3600),
    ("text", 7, "7"),
    ("text", True, None),
    ("text", 10**38, None),
    ("text", 10**38 - 1, "9" * 38),
    ("text", "\ud800", None),
    ("text", "1 ", "1 "),
    ("text", uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
]


@pytest.mark.parametrize(("name", "raw", "value"), MEANINGS)
def test_the_meaning_of_a_cell(name, raw, value):
    assert steps(raw, COLUMNS[name]) == value


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (1, "1"),
        ("1", "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, None),
        (2.0**63, None),
        (2.0**62, str(2**62)),
        (Decimal("12345678901234567890123.0"), "12345678901234567890123"),
        (Decimal("0.5"), None),
        (Decimal("1e38"), None),
        (True, None),
        (None, None),
        (math.nan, None),
        ("", ""),
        (b"1", None),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_the_text_of_a_unit(raw, text):
    assert unit_text(raw) == text


values = st.none() | st.integers(-2, 2) | st.text("nit:,|0123", max_size=6)


@given(st.tuples(values, values, values), st.tuples(values, values, values))
@example(("", "n", None), ("", "n,n", None))
@example(("a,t1:b", "c", None), ("a", "b,t1:c", None))
def test_different_rows_have_different_texts(row, other):
    assert (row_text(row) == row_text(other)) == (row == other)


def test_the_text_of_a_row_is_that_of_the_contract():
    assert row_text([None, -3, "aé,|", ""]) == "n,i-3,t5:aé,|,t0:"


def test_the_zone_of_the_machine_does_not_matter(monkeypatch):
    cells = [moment(2020, 1, 1), moment(2020, 7, 1, tzinfo=EAST), date(2020, 1, 1), "2020-01-01T10:00", "2020-01-01"]
    found = []
    for zone in ("UTC", "Pacific/Kiritimati", "America/New_York"):
        monkeypatch.setitem(os.environ, "TZ", zone)
        time.tzset()
        found.append([steps(raw, COLUMNS[name]) for raw in cells for name in ("date", "timestamp")])
    monkeypatch.undo()
    time.tzset()
    assert found[0] == found[1] == found[2]
    assert None not in found[0]
