"""Parts of dates, and casts from one kind to another, in the proleptic Gregorian calendar and in UTC.

A date cut to its month, quarter, year or week is a public lookup from the number of the period to its first day, so a
question grouped by it has one cell for each period between its bounds.  Parts have only values of days between them.
"""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal
from typing import cast as typed

from ...core.errors import BadQuestion
from .arithmetic import add, modulo, multiply, quotient, round_to
from .cells import NUMBER, WORDS
from .coercion import LONGEST_TABLE, absent, at_day, constant, converted, folded, scaled, shaped
from .domain import BOOLEAN, DAY, DAYS, EPOCH, ValueDomain, number
from .logic import compare, not_
from .lookups import lookup
from .nodes import Column, Constant, DatePart, DatePartName, Expression, Lookup, part

YEARLY = ("quarter", "month", "day", "weekday")  # any 366 days have all their values
CLOCK = {"hour": (3600, 24), "minute": (60, 60), "second": (1, 60)}
To = Literal["integer", "real", "boolean", "category", "date", "timestamp", "text"]


def date_part(name: str, a: Expression) -> Expression:
    """A part of a date: year, quarter, month, week (1 to 53, ISO 8601), day, weekday (1 to 7, from Monday), dayofyear.

    A timestamp also has hour, minute and second.
    """
    if not isinstance(name, str):
        raise BadQuestion("Name a part of a date by text, such as 'year'.")
    if name in CLOCK and a.domain.kind == "timestamp":
        seconds, most = CLOCK[name]
        steps = shaped(a, number(a.domain.lower, a.domain.upper, declared=a.domain.declared))
        return modulo(quotient(steps, seconds, steps.domain), constant(most))
    day = _day(a)
    if name == "week":  # the first is that of the year's first Thursday, and day 0 is a Thursday
        before = add(date_part("dayofyear", scaled(_week(day), 7, day.domain)), constant(-1))
        return add(quotient(before, 7, before.domain), constant(1))
    if name == "dayofyear":
        steps = shaped(day, number(day.domain.lower, day.domain.upper, declared=day.domain.declared))
        years = _years(day.domain)
        before = folded(replace(_days_before(years.start, years.stop), a=date_part("year", day)))
        day_of_year = add(steps, multiply(constant(-1), before))
        return shaped(day_of_year, number(max(day_of_year.domain.lower, 1), min(day_of_year.domain.upper, 366)))
    if name not in ("year", *YEARLY):
        clock = CLOCK if a.domain.kind == "timestamp" else ()
        known = ", ".join(("year", *YEARLY, "week", "dayofyear", *clock))
        raise BadQuestion(f"A {a.domain.kind} has no part {name[:40]!r}; its parts are {known}.")
    ends = (min(max(end, DAYS[0]), DAYS[1]) for end in (day.domain.lower, day.domain.upper))
    lower, upper = part_ends(typed(DatePartName, name), *ends)
    domain = number(lower, upper, declared=day.domain.declared or name != "year")
    return folded(DatePart(domain, typed(DatePartName, name), day))


@lru_cache(maxsize=64)
def _days_before(first: int, end: int) -> Lookup:
    """The last day before each of the years from the first until the end."""
    starts = {year: (datetime.date(year, 1, 1) - EPOCH).days - 1 for year in range(first, end)}
    return typed(Lookup, lookup(Column(number(first, end - 1), "year"), starts))


@lru_cache(maxsize=1024)
def part_ends(name: DatePartName, first: int, last: int) -> tuple[int, int]:
    """The least and the largest value of a part, on the days from the first to the last."""
    days = (first, last) if name == "year" else range(first, min(last, first + 366) + 1)  # any 367 days have them all
    values = [part(name, EPOCH + datetime.timedelta(days=day)) for day in days]
    return min(values), max(values)


def date_trunc(unit: str, a: Expression) -> Expression:
    """The first day of the week (from Monday), month, quarter or year; of a timestamp also its day, hour or minute."""
    if not isinstance(unit, str):
        raise BadQuestion("Name the unit of DATE_TRUNC by text, such as 'month'.")
    if unit in CLOCK and a.domain.kind == "timestamp":
        seconds = CLOCK[unit][0]
        steps = quotient(a, seconds, number(0, 0, declared=a.domain.declared))
        return scaled(steps, seconds, replace(a.domain, grid=Fraction(1)))
    day = _day(a)
    if unit == "day":
        return day
    if not day.domain.declared:
        raise BadQuestion("DATE_TRUNC needs bounds: declare lower and upper for the dates in the schema.")
    if unit == "week":
        return _first_days(_week(day), lambda i: 7 * i - 3)
    if unit not in ("month", "quarter", "year"):
        known = ", ".join((*(CLOCK if a.domain.kind == "timestamp" else ()), "day, week, month, quarter, year"))
        raise BadQuestion(f"DATE_TRUNC cannot truncate a {a.domain.kind} to {unit[:40]!r}; use one of {known}.")
    year = date_part("year", day)
    each = {"month": 12, "quarter": 4, "year": 1}[unit]
    period = year
    if each > 1:
        lower, upper = (end.year * each + part(typed(DatePartName, unit), end) - 1 for end in _ends(day.domain))
        period = add(multiply(year, constant(each)), add(date_part(unit, day), constant(-1)))
        period = shaped(period, number(lower, upper))
    return _first_days(period, lambda i: (datetime.date(i // each, i % each * (12 // each) + 1, 1) - EPOCH).days)


def add_months(a: Expression, months: int) -> Expression:
    """A date or a timestamp so many months later, on the last day of the month where that has no such day."""
    if absent(a) or not months:
        return a
    day = _day(a)
    if isinstance(day, Constant):
        moved: Expression = at_day(_later(int(day.value or 0), months))
    else:
        if not day.domain.size or day.domain.size > LONGEST_TABLE:
            raise BadQuestion(f"Months can be added to dates with bounds at most {LONGEST_TABLE} days apart.")
        steps = range(day.domain.lower, day.domain.upper + 1)
        days = tuple(_later(step, months) for step in steps)
        moved = folded(Lookup(ValueDomain("date", days[0], days[-1]), day, tuple(steps), days))
    if a.domain.kind != "timestamp":
        return moved
    clock = modulo(shaped(a, number(a.domain.lower, a.domain.upper)), constant(DAY))
    return add(converted(moved, "timestamp"), clock)


def _later(step: int, months: int) -> int:
    day = EPOCH + datetime.timedelta(days=step)
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise BadQuestion("Dates could leave the years 1 to 9999 here. Declare narrower bounds for the dates.")
    last = calendar.monthrange(year, month + 1)[1]
    return (datetime.date(year, month + 1, min(day.day, last)) - EPOCH).days


def _week(day: Expression) -> Expression:
    """Weeks since that of day 0; day -3 is a Monday."""
    steps = shaped(day, number(day.domain.lower, day.domain.upper))
    return quotient(add(steps, constant(3)), 7, steps.domain)


def _first_days(period: Expression, first: Callable[[int], int]) -> Expression:
    periods = range(period.domain.lower, period.domain.upper + 1)
    if len(periods) > LONGEST_TABLE:
        raise BadQuestion(
            f"DATE_TRUNC allows at most {LONGEST_TABLE} periods; these dates span {len(periods)}. Declare narrower"
            " bounds, or use longer periods."
        )
    days = tuple(map(first, periods))
    return folded(Lookup(ValueDomain("date", days[0], days[-1]), period, tuple(periods), days))


def _day(a: Expression) -> Expression:
    if a.domain.kind == "timestamp":
        return quotient(a, DAY, replace(a.domain, kind="date"))
    return converted(a, "date")


def _ends(domain: ValueDomain) -> list[datetime.date]:
    ends = domain.lower, domain.upper
    return [EPOCH + datetime.timedelta(days=min(max(day, DAYS[0]), DAYS[1])) for day in ends]


def _years(domain: ValueDomain) -> range:
    first, last = _ends(domain)
    return range(first.year, last.year + 1)


def cast(a: Expression, to: To) -> Expression:
    """a as another kind: numbers are rounded to whole ones, and labels of categories are parsed."""
    kind = a.domain.kind
    if not isinstance(to, str):
        raise BadQuestion("Name the type of a cast by text, such as 'integer'.")
    if absent(a):
        return a
    match to:
        case "date":
            return _day(a)
        case "timestamp":
            return converted(a, "timestamp")
        case "text" | "category" if kind in ("text", "category"):
            return a
        case "boolean" if kind == "boolean":
            return a
        case "boolean" if kind == "number":
            return not_(compare("=", a, constant(0)))
        case "boolean" if kind == "category":
            truth = {x: WORDS[x.lower()] == 1 for x in a.domain.labels if x.lower() in WORDS}
            return shaped(lookup(a, truth), BOOLEAN)
        case "integer" | "real" if kind in ("number", "boolean", "category"):
            if kind == "boolean":
                return shaped(a, number(0, 1))
            if kind == "category":
                a = lookup(a, {label: x for label in a.domain.labels if (x := _number(label)) is not None})
            return round_to(a) if to == "integer" else a
    raise BadQuestion(
        f"CAST cannot turn a {kind} into {to}." if kind != "text" else f"CAST cannot turn text into {to}."
    )


def _number(text: str) -> Fraction | None:
    """The number that a label spells, or None; it is read as a cell of a table is, so its exponent has three digits."""
    return Fraction(text) if len(text) <= 40 and NUMBER.fullmatch(text) else None
