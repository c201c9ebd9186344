"""Dates and times in SQL: their parts, their text, intervals, and today.

CURRENT_DATE is the date of the question in UTC, so that on another day it is another question.  NOW() would make one of
every second; it stands only where whole days are left of it, as in DATE_TRUNC('month', NOW()) and CAST(NOW() AS DATE).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ..relation import build
from ..values.coercion import at_day
from ..values.date_formats import day_name, formatted, month_name, read_date
from ..values.domain import DAY, EPOCH
from ..values.nodes import Expression, Lookup
from .allowlist import only

if TYPE_CHECKING:
    from .row_expressions import RowReader

PARTS = {
    **{part: part for part in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
    **dict.fromkeys(("dow", "dayofweek", "isodow", "dayofweek_iso"), "weekday"),
    **dict.fromkeys(("doy", "dayofyear"), "dayofyear"),
    "epoch": "epoch",
}
PARTS_OF: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "doy",
}
SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": DAY, "week": 7 * DAY}
MONTHS = {"month": 1, "mon": 1, "quarter": 3, "year": 12, "decade": 120}
NOW = (exp.CurrentTimestamp, exp.Localtimestamp)
LATELY = "It would make a new question of every second. Write CURRENT_DATE, or DATE_TRUNC('day', NOW())."
BAD_INTERVAL = "An interval must be like INTERVAL '3 months' or INTERVAL '1 day 12 hours'."
_FRACTION = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8})\.[0-9]{1,9}(Z|[+-][0-9:]{2,5})?")
_AMOUNTS = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*", re.IGNORECASE)


def part(rows: RowReader, node: exp.Expr, name: str, of: exp.Expr) -> Expression:
    """A part of a date."""
    name = name.lower()
    if name not in PARTS:
        raise rows.text.bad(node, f"A date has no part {name[:40]!r}; its parts are {', '.join(PARTS)}.")
    day = rows.read(of) if name in ("hour", "minute", "second", "epoch") else in_days(rows, of)
    if name == "epoch":
        return build.subtract(build.cast(day, "timestamp"), build.cast(build.constant(EPOCH), "timestamp"))
    if PARTS[name] in ("week", "dayofyear"):  # counted from the first day of each year
        year = build.date_part("year", day).domain
        rows.text.looks_up(year.upper - year.lower + 1)
    found = build.date_part(PARTS[name], day)
    if name in ("dow", "dayofweek"):
        found = build.modulo(found, build.constant(7))
    return build.add(found, build.constant(1)) if name == "dayofweek" else found


def extracted(rows: RowReader, node: exp.Expr) -> Expression:
    """EXTRACT(YEAR FROM d)."""
    only(rows.text, node, "this", "expression")
    return part(rows, node, node.name, node.expression)


def truncated(rows: RowReader, node: exp.Expr) -> Expression:
    """DATE_TRUNC('month', d)."""
    only(rows.text, node, "this", "unit")
    unit = node.args["unit"].name.lower() if node.args.get("unit") else ""
    of = rows.read(node.this) if unit in ("hour", "minute", "second") else in_days(rows, node.this)
    return counted(rows, build.date_trunc(unit, of))


def counted(rows: RowReader, e: Expression) -> Expression:
    """A lookup, whose entries count toward those that one question may have."""
    rows.text.looks_up(len(e.keys) if isinstance(e, Lookup) else 0)
    return e


def in_days(rows: RowReader, node: exp.Expr) -> Expression:
    """A time of which only whole days are left, so that NOW() may stand in it."""
    before, rows.whole_days = rows.whole_days, True
    try:
        return rows.read(node)
    finally:
        rows.whole_days = before


def now(rows: RowReader, node: exp.Expr) -> Expression:
    """NOW(), where only whole days are left of it: the beginning of today."""
    if not rows.whole_days:
        raise rows.text.bad(node, f"{rows.text.word(node)} cannot stand here. {LATELY}")
    return build.cast(today(rows, node), "timestamp")


def today(rows: RowReader, _: exp.Expr) -> Expression:
    """CURRENT_DATE."""
    return at_day((rows.text.today - EPOCH).days)


def in_utc(rows: RowReader, node: exp.Expr) -> Expression:
    """x AT TIME ZONE 'UTC', which is x: all times are in UTC."""
    only(rows.text, node, "this", "zone")
    zone = node.args.get("zone")
    if not isinstance(zone, exp.Literal) or str(zone.this).upper() not in ("UTC", "GMT", "Z", "ETC/UTC"):
        raise rows.text.bad(node, "Timestamps are in UTC, and can be in no other time zone.")
    return rows.read(node.this)


def to_char(rows: RowReader, node: exp.Expr) -> Expression:
    """TO_CHAR(d, 'YYYY-MM')."""
    only(rows.text, node, "this", "format")
    form = node.args.get("format")
    if not isinstance(form, exp.Literal) or not form.is_string:
        raise rows.text.bad(node, "TO_CHAR needs a constant format, such as 'YYYY-MM'.")
    has_clock = any(word in form.this.upper() for word in ("HH", "MI", "SS"))
    return counted(rows, formatted(rows.read(node.this) if has_clock else in_days(rows, node.this), str(form.this)))


def to_date(rows: RowReader, node: exp.Expr, text: exp.Expr, form: exp.Expr) -> Expression:
    """TO_DATE('2020-12-31', 'YYYY-MM-DD') and TO_TIMESTAMP."""
    if not isinstance(form, exp.Literal) or not form.is_string:
        raise rows.text.bad(form, "A format must be a constant text, such as 'YYYY-MM-DD'.")
    return read_date(rows.listed(text), str(form.this), str(node.this).upper() == "TO_TIMESTAMP")


def moved(rows: RowReader, node: exp.Expr) -> Expression:
    """A date or timestamp plus or minus an interval: first its months, then its days and seconds."""
    months, seconds = _interval(rows, node.expression)
    sign = 1 if isinstance(node, exp.Add) else -1
    a = rows.read(node.this)
    if seconds % DAY:
        if node.find(*NOW) or any(str(each.this).upper() == "NOW" for each in node.find_all(exp.Anonymous)):
            raise rows.text.bad(node, "Only whole days and months can be added to the current time.")
        a = build.cast(a, "timestamp") if a.domain.kind == "date" else a
    if months:
        a = counted(rows, build.add_months(a, sign * months))
    if not seconds:
        return a
    return build.add(a, build.constant(sign * seconds / (DAY if a.domain.kind == "date" else 1)))


def whole_seconds(node: exp.Expr) -> exp.Expr:
    """t <= 23:59:59.999 as t <= 23:59:59, and likewise for >: every timestamp of a row has whole seconds."""
    time = node.expression
    while isinstance(time, exp.Paren | exp.Cast):
        time = time.this
    if not isinstance(node, exp.LTE | exp.GT) or not isinstance(time, exp.Literal) or not time.is_string:
        return node
    if (found := _FRACTION.fullmatch(str(time.this))) is None:
        return node
    whole = node.copy()
    for literal in whole.expression.find_all(exp.Literal):
        literal.set("this", found[1] + (found[2] or ""))
    return whole


def _interval(rows: RowReader, node: exp.Expr) -> tuple[int, Fraction]:
    """The months and the seconds of an interval."""
    only(rows.text, node, "this", "unit")
    unit, amount = node.args.get("unit"), node.this
    while isinstance(amount, exp.Paren):
        amount = amount.this
    sign = -1 if isinstance(amount, exp.Neg) else 1
    amount = amount.this if sign < 0 else amount
    written = str(amount.this) if isinstance(amount, exp.Literal) else ""
    written += f" {unit.name}" if isinstance(unit, exp.Var) else ""
    months, seconds, at = Fraction(0), Fraction(0), 0
    while at < len(written):
        found = _AMOUNTS.match(written, at)
        word = "" if found is None else found[2].lower().removesuffix("s")
        if found is None or word not in {**SECONDS, **MONTHS} or len(found[1]) > 20:
            raise rows.text.bad(node, BAD_INTERVAL)
        months += Fraction(found[1]) * MONTHS.get(word, 0)
        seconds += Fraction(found[1]) * SECONDS.get(word, 0)
        at = found.end()
    if not written or months.denominator != 1 or abs(months) > 120_000:
        raise rows.text.bad(node, BAD_INTERVAL)
    return sign * int(months), sign * seconds


READERS: dict[type[exp.Expr], Callable[[RowReader, Any], Expression]] = {
    exp.Extract: extracted,
    exp.DateTrunc: truncated,
    exp.TimestampTrunc: truncated,
    exp.ToChar: to_char,
    exp.AtTimeZone: in_utc,
    exp.CurrentDate: today,
    **dict.fromkeys(NOW, now),
    exp.Date: lambda rows, node: build.cast(in_days(rows, rows.this(node)), "date"),
    exp.Dayname: lambda rows, node: day_name(in_days(rows, rows.this(node))),
    exp.Monthname: lambda rows, node: month_name(in_days(rows, rows.this(node))),
}
NAMED: dict[str, tuple[int, Callable[..., Expression]]] = {
    "NOW": (0, now),
    "TO_DATE": (2, to_date),
    "TO_TIMESTAMP": (2, to_date),
    "DATE_PART": (2, lambda rows, node, name, of: part(rows, node, name.name, of)),
}
