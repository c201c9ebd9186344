"""Patterns, formats of dates and tables of functions, each against another that says the same."""

import datetime
import math
import random
import re
import time
from fractions import Fraction

import pytest

from tacit.core.errors import BadQuestion
from tacit.query.values.coercion import at_day, at_second
from tacit.query.values.date_formats import formatted
from tacit.query.values.dates import add_months
from tacit.query.values.domain import EPOCH, ValueDomain, number
from tacit.query.values.nodes import Column, Expression
from tacit.query.values.patterns import Pattern
from tacit.query.values.tabulated import RealFunction, tabulated

ATOMS = [
    "a",
    "b",
    "A",
    ".",
    "[ab]",
    "[^a]",
    "[a-c]",
    r"\d",
    r"\w",
    r"\S",
    "7",
    r"\.",
    "(a|b)",
    "(?:ab|)",
    "^",
    "$",
    "( a)",
]
TIMES = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,1}", "{2,}", "*?", "{0}"]


def some_pattern(rng: random.Random) -> str:
    parts = [rng.choice(ATOMS) for _ in range(rng.randint(1, 5))]
    made = "".join(part + ("" if part in "^$" else rng.choice(TIMES)) for part in parts)
    return rng.choice([made, f"({made}){rng.choice(TIMES)}", f"{made}|b+"])


def test_patterns_find_what_python_finds() -> None:
    rng, compared = random.Random(7), 0
    for _ in range(3000):
        pattern, ignore = some_pattern(rng), rng.random() < 0.3
        theirs = re.compile(pattern.replace("$", r"\Z"), re.ASCII | re.DOTALL | (re.IGNORECASE if ignore else 0))
        ours = Pattern(pattern, ignore)
        for _ in range(6):
            text = "".join(rng.choice("abcAB7. _") for _ in range(rng.randrange(8)))
            assert ours.found(text) == (theirs.search(text) is not None), (pattern, text, ignore)
            compared += 1
    assert compared == 18_000


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+$", "(.*a){20}", "a{200}b"])
def test_no_pattern_takes_long(pattern: str) -> None:
    began = time.process_time()
    Pattern(pattern).found("a" * 4000)
    assert time.process_time() - began < 5


BAD = ["(", ")", "a)", "[a", "*", "a**", "a{", "a{1,2,3}", "a{3,2}", "a{1000}", r"\1", r"\b", "(?=a)", "[[:alpha:]]"]
BAD += ["\\", "[b-a]", "((a{200}){200})", "a" * 1001]


@pytest.mark.parametrize("pattern", BAD)
def test_a_pattern_that_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(BadQuestion):
        Pattern(pattern)


DATES = Column(
    ValueDomain("date", (datetime.date(2018, 12, 30) - EPOCH).days, (datetime.date(2021, 1, 4) - EPOCH).days), "d"
)
STAMPS = Column(ValueDomain("timestamp", 86400 * 365 * 50, 86400 * 365 * 50 + 86400 * 20), "d")


def label(e: Expression, step: int) -> object:
    found = e.meaning({"d": step})
    return None if found is None else e.domain.label(int(found))


@pytest.mark.parametrize(
    ("form", "theirs"),
    [
        ("YYYY-MM-DD", "%Y-%m-%d"),
        ("YYYY-MM", "%Y-%m"),
        ("YY", "%y"),
        ("Mon DD", "%b %d"),
        ("FMMonth YYYY", "%B %Y"),
        ("DY", "%a"),
        ("FMDay", "%A"),
        ('IYYY-"W"IW', "%G-W%V"),
        ("DDD", "%j"),
        ("ID", "%u"),
    ],
)
def test_a_date_is_written_as_python_writes_it(form: str, theirs: str) -> None:
    e = formatted(DATES, form)
    for step in range(DATES.domain.lower, DATES.domain.upper + 1):
        expected = (EPOCH + datetime.timedelta(days=step)).strftime(theirs)
        assert label(e, step) == (expected.upper() if form == "DY" else expected)


@pytest.mark.parametrize(("form", "theirs"), [("HH24:MI", "%H:%M"), ("DD HH24", "%d %H"), ("HH12", "%I"), ("SS", "%S")])
def test_a_time_is_written_as_python_writes_it(form: str, theirs: str) -> None:
    e, rng = formatted(STAMPS, form), random.Random(1)
    for step in [rng.randint(STAMPS.domain.lower, STAMPS.domain.upper) for _ in range(300)]:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=step)
        assert label(e, step) == moment.strftime(theirs)


def test_names_are_padded_as_postgresql_pads_them() -> None:
    assert label(formatted(DATES, "Month|Day"), DATES.domain.lower) == "December |Sunday   "
    assert label(formatted(at_day(0), "Day"), 0) == "Thursday "


def test_months_end_on_their_last_day() -> None:
    def later(day: datetime.date, months: int) -> object:
        moved = add_months(at_day((day - EPOCH).days), months)
        return moved.domain.label(moved.domain.lower)

    assert later(datetime.date(2024, 1, 31), 1) == datetime.date(2024, 2, 29)
    assert later(datetime.date(2024, 3, 31), -13) == datetime.date(2023, 2, 28)
    moved = add_months(at_second(1_700_000_000), 12)
    assert moved.domain.label(moved.domain.lower) == datetime.datetime(2024, 11, 14, 22, 13, 20)
    stamps = add_months(STAMPS, 1)
    step = STAMPS.domain.lower + 12_345
    assert label(stamps, step) == label(add_months(at_second(step), 1), step)


@pytest.mark.parametrize("name", ["sqrt", "ln", "log10", "exp"])
def test_a_function_of_a_number_is_rounded_down_to_its_grid(name: RealFunction) -> None:
    x = Column(number(-40, 60, Fraction(1, 2)), "d")
    e, function = tabulated(name, x), getattr(math, {"ln": "log"}.get(name, name))
    for step in range(-40, 61):
        found = e.meaning({"d": step})
        try:
            expected = function(step / 2)
        except ValueError:
            assert found is None
            continue
        assert found is not None
        assert -1e-9 * expected <= expected - float(int(found) * e.domain.grid) < float(e.domain.grid) + 1e-9 * expected
    assert e.domain.grid <= Fraction(1, 1024)
