"""Expressions: exact on every grid, never outside of their domains, refused where 64 bits might not do."""

import datetime
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.core.errors import BadQuestion
from tacit.query.relation import build
from tacit.query.relation.relation import Scan
from tacit.query.values.domain import BOOLEAN, TEXT, WIDEST, ValueDomain, category, number
from tacit.query.values.nodes import CellValue, Column, Compare, Constant, Expression, Lookup

DAY = ValueDomain("date", -40_000, 40_000)
MOMENT = ValueDomain("timestamp", -4_000_000_000, 4_000_000_000)
COLUMNS = {
    "whole": number(-7, 9),
    "real": number(-60, 90, Fraction(1, 8)),
    "third": number(0, 40, Fraction(1, 3)),
    "label": category("a", "b", "cab"),
    "other": category("b", "c"),
    "flag": BOOLEAN,
    "day": DAY,
    "moment": MOMENT,
    "word": TEXT,
    "free": number(-(1 << 40), 1 << 40, declared=False),
}
ROWS = Scan("t", 5, "", tuple(COLUMNS.items()))
C = {name: build.column(ROWS, name) for name in COLUMNS}
NUMBERS = ("whole", "real", "third")
CONSTANTS = st.sampled_from([Fraction(n, d) for n in range(-9, 10) for d in (1, 2, 3, 10)])
OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def value(e: Expression, **row: CellValue) -> Any:
    """What an expression means on a row, as a number or a label."""
    step = e.meaning({name: row.get(name) for name in COLUMNS})
    if step is None or isinstance(step, str):
        return step
    return step * e.domain.grid if e.domain.kind == "number" else e.domain.label(step)


def cell(domain: ValueDomain) -> st.SearchStrategy[CellValue]:
    if domain.kind == "text":
        return st.none() | st.text("ab%", max_size=4)
    return st.none() | st.integers(domain.lower, domain.upper)


rows = st.fixed_dictionaries({name: cell(domain) for name, domain in COLUMNS.items()})


def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Expressions made of others, whatever their kinds: those that do not fit are left out."""
    one = [
        build.negate,
        build.absolute,
        build.floor,
        build.ceil,
        *(lambda a, n=n: build.raised(a, build.constant(n)) for n in (2, 3, 4)),
        lambda a: build.recased(a, str.upper),
        build.not_,
        build.is_missing,
        *(lambda a, d=d: build.round_to(a, d) for d in (-1, 0, 1)),
        *(lambda a, w=w: build.bin_to(a, w) for w in (2, Fraction(3, 2))),
        *(lambda a, c=c: build.modulo(a, build.constant(c)) for c in (3, Fraction(1, 2))),
        *(lambda a, c=c: build.multiply(a, build.constant(c)) for c in (-2, 0, Fraction(1, 3))),
        *(lambda a, c=c: build.divide(a, build.constant(c)) for c in (-10, Fraction(3, 4))),
        *(
            lambda a, p=p: build.date_part(p, a)
            for p in ("year", "quarter", "month", "day", "weekday", "dayofyear", "week")
        ),
        *(lambda a, p=p: build.date_part(p, a) for p in ("hour", "minute", "second")),
        *(lambda a, p=p: build.date_trunc(p, a) for p in ("hour", "day", "week", "month", "quarter", "year")),
        *(lambda a, t=t: build.cast(a, t) for t in ("integer", "real", "boolean", "date", "timestamp")),
        lambda a: build.clamp(a, -2, Fraction(7, 2)),
        lambda a: build.lookup(a, {"a": 1, "b": Fraction(1, 2), 3: 7, True: 5}),
        lambda a: build.like(a, "%a_"),
    ]
    two = [
        build.add,
        build.subtract,
        build.multiply,
        build.divide,
        build.least,
        build.greatest,
        build.and_,
        build.or_,
        build.coalesce,
        *(lambda a, b, o=o: build.compare(o, a, b) for o in ("=", "<>", "<", ">=")),
    ]
    return st.one_of(
        st.tuples(st.sampled_from(one), inner).map(attempt),
        st.tuples(st.sampled_from(two), inner, inner).map(attempt),
        st.tuples(st.just(lambda c, a, b: build.case([(c, a)], b)), inner, inner, inner).map(attempt),
    )


def attempt(call: tuple[Any, ...]) -> Expression:
    function, *parts = call
    try:
        return function(*parts)
    except BadQuestion:
        return parts[0]


leaves = st.sampled_from([*C.values(), *map(build.constant, (0, 2, Fraction(-5, 3), True, "a", None))])
expressions = st.recursive(leaves, grown, max_leaves=8)


@settings(max_examples=600)
@given(expressions, rows)
def test_no_value_is_outside_of_its_domain(e: Expression, row: dict[str, CellValue]) -> None:
    step, d = e.meaning(row), e.domain
    if isinstance(step, int):
        assert d.lower <= step <= d.upper <= WIDEST
        assert d.kind != "text"
        d.label(step)
    if step is not None and d.declared and d.kind != "text" and d.upper - d.lower < 1000:
        assert step in build.keys(e)


@given(OPERATORS, st.sampled_from(NUMBERS), st.integers(-60, 90), CONSTANTS)
def test_a_column_meets_a_constant_between_two_points_of_its_grid_exactly(
    operator: Any, name: str, step: int, c: Fraction
) -> None:
    d = COLUMNS[name]
    assume(d.lower <= step <= d.upper)
    x = step * d.grid
    expected = {"=": x == c, "<>": x != c, "<": x < c, "<=": x <= c, ">": x > c, ">=": x >= c}[operator]
    assert value(build.compare(operator, C[name], build.constant(c)), **{name: step}) is expected
    mirrored = build.compare(operator, build.constant(c), C[name])
    expected = {"=": c == x, "<>": c != x, "<": c < x, "<=": c <= x, ">": c > x, ">=": c >= x}[operator]
    assert value(mirrored, **{name: step}) is expected
    assert value(mirrored) is None


@given(st.integers(-9999, 9999), st.integers(-9999, 9999), st.integers(0, 4), st.integers(0, 12), OPERATORS)
def test_reals_of_so_many_digits_are_compared_as_they_are_written(
    x: int, c: int, digits: int, fine: int, operator: Any
) -> None:
    """If the grid tells such decimals apart; a coarser one meets the constant exactly, with values that are on it."""
    grid = Fraction(1, 1 << fine)
    data, told = (Fraction(n, 10**digits) for n in (x, c))
    domain = ValueDomain("number", -(10**9), 10**9, grid, rounded=True)
    real = Column(domain, "real")
    last = next(Fraction(1, 10**d) for d in range(digits + 1) if (told * 10**d).denominator == 1)
    known = data if grid <= last and (data / last).denominator == 1 else math.floor(data / grid) * grid
    if grid <= last and known != data:
        return  # of values of more digits than the constant has, near ones are not told apart
    step = math.floor(known / grid + Fraction(1, 2))
    compared = {"=": known == told, "<>": known != told, "<": known < told, "<=": known <= told}
    compared |= {">": known > told, ">=": known >= told}
    found = build.compare(operator, real, build.constant(told)).meaning({"real": step})
    assert bool(found) is compared[operator]


def test_a_constant_out_of_reach_is_moved_next_to_the_domain() -> None:
    far = build.compare("<", C["whole"], build.constant(10**15))
    assert isinstance(far, Compare)
    assert far.b == Constant(number(10, 10), 10)
    assert value(far, whole=9) is True


@given(st.integers(-7, 9), st.integers(-60, 90), st.integers(0, 40), CONSTANTS)
def test_arithmetic_is_exact_on_common_grids(i: int, j: int, k: int, c: Fraction) -> None:
    row = {"whole": i, "real": j, "third": k}
    x, y, z = Fraction(i), Fraction(j, 8), Fraction(k, 3)
    constant = build.constant(c)
    assert value(build.add(C["real"], C["third"]), **row) == y + z
    assert value(build.subtract(C["whole"], C["third"]), **row) == x - z
    assert value(build.multiply(C["real"], C["third"]), **row) == y * z
    assert value(build.multiply(constant, C["real"]), **row) == c * y
    assert value(build.add(C["third"], constant), **row) == z + c
    assert value(build.divide(C["real"], constant), **row) == (y / c if c else None)
    assert value(build.floor(C["real"]), **row) == math.floor(y)
    assert value(build.ceil(C["third"]), **row) == math.ceil(z)
    assert value(build.absolute(C["real"]), **row) == abs(y)
    assert value(build.bin_to(C["real"], Fraction(3, 2)), **row) == math.floor(y / Fraction(3, 2)) * Fraction(3, 2)
    assert value(build.modulo(C["real"], build.constant(Fraction(1, 3))), **row) == y % Fraction(1, 3)
    half = math.floor(abs(y) * 10 + Fraction(1, 2)) / Fraction(10)
    assert value(build.round_to(C["real"], 1), **row) == (half if y >= 0 else -half)
    assert value(build.least(C["whole"], C["real"], C["third"]), **row) == min(x, y, z)
    assert value(build.greatest(C["whole"], constant, C["third"]), **row) == max(x, c, z)
    assert value(build.clamp(C["real"], -1, Fraction(5, 2)), **row) == min(max(y, -1), Fraction(5, 2))


@st.composite
def columns(draw: Any, name: str) -> Column:
    """Numbers of any signs."""
    lower, upper = sorted(draw(st.lists(st.integers(-(1 << 15), 1 << 15), min_size=2, max_size=2)))
    return Column(
        number(lower, upper, draw(st.sampled_from([Fraction(n, d) for n in (1, 4, 5) for d in (1, 3, 8)]))), name
    )


@settings(max_examples=300)
@given(columns("whole"), columns("real"), st.fractions(0, 5, max_denominator=8), st.data())
def test_quotients_are_exact_or_rounded_down_to_a_fine_grid(a: Column, b: Column, most: Fraction, data: Any) -> None:
    x, y = a.domain, b.domain
    p, q = (data.draw(st.sampled_from([d.lower, d.upper]) | st.integers(d.lower, d.upper)) for d in (x, y))
    row = {"whole": p, "real": q}
    whole, e = build.div(a, b), build.divide(a, b)
    between = build.clamp(e, -1, most)
    if not q:
        assert value(whole, **row) is value(e, **row) is value(between, **row) is None
        return
    exact = p * x.grid / (q * y.grid)
    assert value(whole, **row) == math.trunc(exact)
    assert whole.domain.lower <= math.trunc(exact) <= whole.domain.upper
    farthest = Fraction(max(-x.lower, x.upper), max(y.lower, -y.upper, 1)) * x.grid / y.grid
    assert value(e, **row) == math.floor(exact / e.domain.grid) * e.domain.grid
    assert e.domain.grid <= min(Fraction(1, 1024), max(farthest, Fraction(1, 1024)) / 2**18)
    assert 0 <= min(max(exact, -1), most) - value(between, **row) <= e.domain.grid
    rounded = build.clamp(whole, -1, 10)
    assert value(rounded, **row) == min(max(math.trunc(exact), -1), 10)  # and not as the quotient was before


def test_a_quotient_of_wide_columns_is_no_coarser_than_it_must_be() -> None:
    wide, narrow = Column(number(0, 1 << 45), "whole"), Column(number(1 << 40, 1 << 41), "real")
    assert build.divide(wide, narrow).domain.grid == Fraction(1, 1 << 14)
    assert build.divide(wide, C["whole"]).domain.grid == Fraction(1, 1024)
    small, of = Column(number(0, 10), "whole"), Column(number(1, 10), "real")
    share = build.divide(small, of)
    assert build.multiply(build.multiply(share, share), share).domain.upper < 1 << 62  # there is room for products


def test_what_is_missing_stays_missing_but_where_it_is_asked_for() -> None:
    two = build.constant(2)
    for e in (
        build.add(C["whole"], two),
        build.least(C["whole"], two),
        build.greatest(two, C["whole"]),
        build.least(C["whole"], C["real"]),
        build.compare("=", C["whole"], two),
        build.compare("=", C["whole"], build.constant(None)),
        build.absolute(C["whole"]),
        build.like(C["label"], "a%"),
        build.lookup(C["label"], {"a": 1}),
        build.divide(C["whole"], build.constant(0)),
    ):
        assert value(e, real=3) is None
    assert value(build.least(C["real"], C["whole"]), real=3) is None
    assert value(build.is_missing(C["whole"])) is True
    assert value(build.coalesce(C["whole"], two)) == 2
    assert value(build.or_(C["flag"], build.constant(True))) is True


def test_text_that_is_written_means_a_label_text_or_a_date() -> None:
    assert value(build.compare("=", C["label"], build.constant("b")), label=1) is True
    assert value(build.compare("=", C["word"], build.constant("b")), word="b") is True
    day = (datetime.date(2020, 2, 29) - datetime.date(1970, 1, 1)).days
    assert value(build.compare("<", C["day"], build.constant("2020-03-01")), day=day) is True
    assert value(build.compare("<", C["moment"], build.constant("2020-03-01")), moment=day * 86400) is True
    assert value(build.compare("=", C["label"], C["other"]), label=1, other=0) is True
    chosen = build.case([(build.compare("=", C["label"], build.constant("a")), build.constant("first"))], C["label"])
    assert chosen.domain.labels == ("first", "a", "b", "cab")
    assert value(chosen, label=0) == "first"
    assert value(chosen, label=2) == "cab"


CUTS = {
    (name, unit): build.date_trunc(unit, C[name])
    for name in ("day", "moment")
    for unit in ("week", "month", "quarter", "year")
}


@given(st.integers(DAY.lower, DAY.upper), st.integers(0, 86399))
def test_dates_are_of_the_gregorian_calendar(day: int, second: int) -> None:
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day)
    row = {"day": day, "moment": day * 86400 + second}
    for name in ("day", "moment"):
        e = C[name]
        assert value(build.date_part("year", e), **row) == date.year
        assert value(build.date_part("weekday", e), **row) == date.isoweekday()
        assert value(build.date_part("dayofyear", e), **row) == date.timetuple().tm_yday
        assert value(build.date_trunc("day", e), **row) == date
        assert value(CUTS[name, "week"], **row) == date - datetime.timedelta(days=date.weekday())
        assert value(CUTS[name, "month"], **row) == date.replace(day=1)
        assert value(CUTS[name, "quarter"], **row) == date.replace(day=1, month=(date.month - 1) // 3 * 3 + 1)
        assert value(CUTS[name, "year"], **row) == date.replace(day=1, month=1)
    assert value(build.date_part("hour", C["moment"]), **row) == second // 3600
    assert value(build.date_part("minute", C["moment"]), **row) == second // 60 % 60
    assert value(build.subtract(C["moment"], C["day"]), **row) == second
    assert value(build.cast(C["moment"], "date"), **row) == date


def test_cells_are_what_can_occur_and_no_more() -> None:
    assert [band * 10 for band in build.keys(build.bin_to(C["whole"], 10))] == [-10, 0]
    year = ValueDomain("date", 0, 364)
    months = build.date_trunc("month", Column(year, "day"))
    assert len(build.keys(months)) == 12
    sparse = build.case([(C["flag"], build.constant(1000))], build.constant(5))
    assert build.keys(sparse) == (5, 1000)
    assert (
        build.keys(build.add(sparse, build.constant(1)))
        == build.keys(build.add(build.constant(1), sparse))
        == (6, 1001)
    )
    assert build.keys(build.clamp(C["free"], 0, 3)) == (0, 1, 2, 3)
    assert build.keys(C["flag"]) == (0, 1)


DAYS = Column(ValueDomain("date", 18701, 18767), "day")  # from 2021-03-15 to 2021-05-20
HOURS = Column(ValueDomain("timestamp", 18701 * 86400 + 8 * 3600, 18701 * 86400 + 11 * 3600 - 1), "moment")  # 8 to 11


@pytest.mark.parametrize(
    ("e", "first", "last", "size"),
    [
        (build.date_trunc("month", DAYS), "2021-03-01", "2021-05-01", 3),
        (build.date_trunc("quarter", DAYS), "2021-01-01", "2021-04-01", 2),
        (build.date_trunc("year", DAYS), "2021-01-01", "2021-01-01", 1),
        (build.date_trunc("week", DAYS), "2021-03-15", "2021-05-17", 10),
        (build.date_trunc("day", HOURS), "2021-03-15", "2021-03-15", 1),
        (build.date_trunc("hour", HOURS), "2021-03-15 08:00:00", "2021-03-15 10:00:00", 3),
        (build.date_trunc("month", HOURS), "2021-03-01", "2021-03-01", 1),
        (build.date_part("month", DAYS), "3", "5", 3),
        (build.date_part("quarter", DAYS), "1", "2", 2),
        (build.date_part("day", DAYS), "1", "31", 31),
        (build.date_part("day", HOURS), "15", "15", 1),
        (build.date_part("weekday", DAYS), "1", "7", 7),
        (build.date_part("weekday", HOURS), "1", "1", 1),
        (build.date_part("dayofyear", DAYS), "74", "140", 67),
        (build.date_part("week", DAYS), "11", "20", 10),
        (build.date_part("hour", HOURS), "8", "10", 3),
        (build.date_part("minute", HOURS), "0", "59", 60),
    ],
)
def test_no_group_lies_outside_of_the_bounds_of_the_dates(e: Expression, first: str, last: str, size: int) -> None:
    found = [str(e.domain.label(step)) for step in build.keys(e)]
    assert (found[0], found[-1], len(found)) == (first, last, size)


@given(st.integers(-719162, 2932896), st.integers(0, 800), st.data())
def test_a_date_cut_between_bounds_is_one_of_its_groups(first: int, width: int, data: Any) -> None:
    last = min(first + width, 2932896)
    day = Column(ValueDomain("date", first, last), "day")
    row: dict[str, CellValue] = {"day": data.draw(st.integers(first, last))}
    for part in ("year", "quarter", "month", "week", "day", "weekday", "dayofyear"):
        e = build.date_part(part, day)
        assert e.meaning(row) in build.keys(e)
    assert build.date_part("week", day).meaning(row) == day.domain.label(int(row["day"] or 0)).isocalendar().week
    for unit in ("week", "month", "quarter", "year"):
        e = build.date_trunc(unit, day)
        assert e.meaning(row) in build.keys(e)


def test_lists_of_any_bracketing_are_one_tree() -> None:
    a, b, c, d = (build.compare("=", C["whole"], build.constant(i)) for i in range(4))
    assert build.and_(build.and_(a, b), build.and_(c, d)) == build.and_(a, build.and_(b, build.and_(c, d)))
    assert build.or_(build.or_(build.or_(a, b), c), d) == build.or_(a, b, c, d)
    long = build.is_in(C["whole"], range(1000))
    assert build.moderate(long) is long


def test_public_tables_keep_the_keys_that_can_occur() -> None:
    found = build.lookup(C["label"], {"a": "x", "cab": "y", "zzz": "w", None: "v"})
    assert (found.domain.labels, value(found, label=2), value(found, label=1)) == (("x", "y"), "y", None)
    found = build.lookup(C["third"], {Fraction(1, 3): 0.5, 1: None, 0.7: 9, 1000: 4})
    assert (value(found, third=1), value(found, third=3)) == (Fraction(1, 2), None)
    assert value(build.lookup(C["word"], {"b": True}), word="b") is True
    assert value(build.lookup(C["whole"], {}), whole=1) is None
    assert value(build.lookup(C["whole"], {"1": 5, 1: 6}), whole=1) == 6


@pytest.mark.parametrize(
    ("name", "key"), [("label", 1), ("word", 1), ("whole", "1"), ("whole", True), ("flag", 1), ("day", "2020-01-01")]
)
def test_public_keys_of_another_kind_are_refused(name: str, key: Any) -> None:
    with pytest.raises(
        BadQuestion, match=f"^No key of the public table fits the column; {name!r} is (a )?{C[name].domain.kind}\\."
    ):
        build.lookup(C[name], {key: 5, None: 6})


def test_labels_are_cast_to_the_numbers_that_cells_may_hold() -> None:
    labels = Column(category(" 2.5e1 ", "-.5", "1e9999999", "1e-9999999", "1/2", "1_0", "nan", "9" * 41), "label")
    found = build.cast(labels, "real")
    assert [value(found, label=i) for i in range(8)] == [25, Fraction(-1, 2), *[None] * 6]
    with pytest.raises(BadQuestion, match="64 bits"):
        build.cast(build.constant("1e999"), "integer")


WIDE = Column(number(-(1 << 61), 1 << 61), "wide")


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda: build.column(ROWS, "x" * 99), "no column"),
        (lambda: build.multiply(WIDE, WIDE), "64 bits"),
        (lambda: build.add(build.add(WIDE, WIDE), WIDE), "64 bits"),
        (lambda: build.add(WIDE, build.constant(Fraction(1, 1000))), "64 bits"),
        (lambda: build.constant(1 << 63), "64 bits"),
        (lambda: build.constant(Fraction(1, 10**100)), "too large or has too many digits"),
        (lambda: build.constant(float("nan")), "finite"),
        (lambda: build.constant([1]), "number"),
        (lambda: build.constant("a\0b"), "NUL"),
        (lambda: build.constant("\ud800"), "surrogate"),
        (lambda: build.add(C["day"], build.constant(10**7)), "9999"),
        (lambda: build.add(C["day"], build.constant(0.5)), "whole number of days"),
        (lambda: build.add(C["day"], C["day"]), "whole number of days"),
        (lambda: build.add(C["whole"], C["label"]), "Arithmetic needs numbers; 'label' is a category"),
        (lambda: build.compare("=", C["label"], build.constant("zebra")), "'a', 'b', 'cab'"),
        (lambda: build.compare("<", C["label"], build.constant("b")), "no public order"),
        (lambda: build.compare("<", C["word"], build.constant("b")), "no public order"),
        (lambda: build.compare("=", C["day"], build.constant("tomorrow")), "2020-12-31"),
        (lambda: build.compare("=", C["whole"], C["day"]), "Cannot combine"),
        (lambda: build.compare("~", C["whole"], C["whole"]), "one of ="),
        (lambda: build.and_(C["whole"], C["flag"]), "true or false"),
        (lambda: build.is_in(C["whole"], []), "have 1 to 1000 values"),
        (lambda: build.is_in(C["whole"], range(1001)), "have 1 to 1000 values"),
        (lambda: build.like(C["word"], "a_"), "only %"),
        (lambda: build.like(C["whole"], "a%"), "LIKE needs text or a category"),
        (lambda: build.modulo(C["whole"], build.constant(0)), "positive constant"),
        (lambda: build.modulo(C["whole"], C["whole"]), "positive constant"),
        (lambda: build.bin_to(C["whole"], -1), "positive number"),
        (lambda: build.clamp(C["whole"], 3, 1), "must not exceed"),
        (lambda: build.clamp(C["whole"], None, 1), "two constants"),
        (lambda: build.round_to(C["whole"], 99), "digits"),
        (lambda: build.date_part("hour", C["day"]), "no part"),
        (lambda: build.date_trunc("century", C["day"]), "DATE_TRUNC cannot truncate a date to"),
        (
            lambda: build.date_trunc("month", Column(ValueDomain("date", 0, 9, declared=False), "d")),
            "DATE_TRUNC needs bounds",
        ),
        (lambda: build.cast(C["word"], "integer"), "CAST cannot turn text into integer"),
        (lambda: build.cast(C["flag"], "date"), "A date is needed here"),
        (build.coalesce, "at least one"),
        (lambda: build.case([(C["flag"], C["whole"])], C["label"]), "Cannot combine"),
        (lambda: build.keys(C["word"]), "not public"),
        (lambda: build.keys(C["free"]), "A key needs declared bounds"),
        (lambda: build.keys(WIDE), "at most 1000000 groups"),
        (lambda: build.keys(C["moment"]), "at most 1000000 groups"),
        (lambda: build.lookup(C["whole"], {1: "a", 2: 3}), "Cannot combine"),
        (lambda: build.lookup(C["whole"], dict.fromkeys(range(100_001), 1)), "at most 100000"),
        (lambda: build.fold("sum", ROWS), "needs a column or an expression"),
        (lambda: build.fold("sum", ROWS, C["label"]), "A sum needs numbers"),
        (lambda: build.fold("sum", ROWS, C["free"]), "'free' has no bounds. Put lower"),
        (lambda: build.fold("sum", ROWS, WIDE), "64 bits"),
        (lambda: build.fold("max", ROWS, C["word"]), "A max needs numbers or dates; 'word' is text"),
    ],
)
def test_what_cannot_be_is_refused_from_public_facts(ask: Callable[[], object], reason: str) -> None:
    with pytest.raises(BadQuestion, match=reason.replace("(", r"\(")):
        ask()


def test_folds_have_the_bounds_of_all_rows_of_a_unit() -> None:
    assert build.fold("count", ROWS).domain == number(0, 5)
    assert build.fold("sum", ROWS, C["whole"]).domain == number(-35, 45)
    assert build.fold("sum", ROWS, C["flag"]).domain == number(0, 5)
    assert build.fold("max", ROWS, C["real"]).domain == COLUMNS["real"]


def test_an_expression_that_is_too_large_when_written_out_is_refused() -> None:
    doubled: Expression = C["real"]
    for _ in range(60):
        doubled = build.least(doubled, C["third"])
    with pytest.raises(BadQuestion, match="operations"):
        build.moderate(doubled)


def matches(text: str, pattern: str) -> bool:
    """LIKE by its definition: % is any text, _ any one character, all else itself."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(matches(text[i:], pattern[1:]) for i in range(len(text) + 1))
    return text != "" and pattern[0] in ("_", text[0]) and matches(text[1:], pattern[1:])


def test_patterns_on_categories_are_as_defined() -> None:
    texts = ["".join(t) for n in range(1, 6) for t in itertools.product("ab", repeat=n)]
    texts += ["a\nb", "\n", "a.b", ".*", "a\\", "(", "A", "\u00e9", "a\u0301"]
    column = Column(category(*texts), "c")
    patterns = ["".join(p) for n in range(6) for p in itertools.product("ab%_", repeat=n)]
    for pattern in [*patterns, "a%b_%a%", "%.%", "a_b", "\\%", "%\\", "(%", ".*", "%\n%", "[a]", "_\u0301", "%%_%%"]:
        e = build.like(column, pattern)
        assert isinstance(e, Lookup)
        assert [bool(value) for value in e.values] == [matches(text, pattern) for text in texts], pattern
