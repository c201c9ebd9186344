"""Dates as text and text as dates, by the format words of PostgreSQL: TO_CHAR(d, 'YYYY-MM'), TO_DATE(t, 'DD.MM.YYYY').

A date as text is a public table over the periods between the bounds of the dates: over months if the format has years
and months alone, over days if it has days.  So a question grouped by it has a cell for each text, and no engine formats
anything.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from ...core.errors import BadQuestion
from .arithmetic import modulo, quotient
from .coercion import LONGEST_TABLE, absent, constant, folded, kind_of, shaped
from .dates import date_part, date_trunc
from .domain import DAY, category, number
from .lookups import of_labels
from .nodes import Expression, Lookup

MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LONGEST = 64  # characters of a format
_EPOCH = datetime.datetime(1970, 1, 1)
Written = Callable[[datetime.datetime], str]
WORDS: dict[str, tuple[str, int, Written]] = {  # the period that decides each, its width, and its text without padding
    "YYYY": ("year", 4, lambda t: str(t.year)),
    "YY": ("year", 2, lambda t: str(t.year % 100)),
    "Q": ("quarter", 1, lambda t: str((t.month + 2) // 3)),
    "MONTH": ("month", 9, lambda t: MONTHS[t.month - 1]),
    "MON": ("month", 3, lambda t: MONTHS[t.month - 1][:3]),
    "MM": ("month", 2, lambda t: str(t.month)),
    "IYYY": ("week", 4, lambda t: str(t.isocalendar().year)),
    "IW": ("week", 2, lambda t: str(t.isocalendar().week)),
    "DDD": ("day", 3, lambda t: str(t.timetuple().tm_yday)),
    "DD": ("day", 2, lambda t: str(t.day)),
    "DAY": ("day", 9, lambda t: DAYS[t.weekday()]),
    "DY": ("day", 3, lambda t: DAYS[t.weekday()][:3]),
    "ID": ("day", 1, lambda t: str(t.isoweekday())),
    "D": ("day", 1, lambda t: str(t.isoweekday() % 7 + 1)),
    "HH24": ("hour", 2, lambda t: str(t.hour)),
    "HH12": ("hour", 2, lambda t: str((t.hour - 1) % 12 + 1)),
    "MI": ("minute", 2, lambda t: str(t.minute)),
    "SS": ("second", 2, lambda t: str(t.second)),
}
_PARTS = re.compile(rf'(FM)?({"|".join(WORDS)})|"([^"]*)"|([^A-Za-z"]+)', re.IGNORECASE)
COARSE = ("year", "quarter", "month", "day", "hour", "minute", "second")  # each decides those before it
SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_READ = {"YYYY": r"[0-9]{4}", "US": r"[0-9]{1,6}", "MS": r"[0-9]{1,3}"}
_READ |= dict.fromkeys(("MM", "DD", "HH24", "MI", "SS"), "[0-9]{1,2}")
_READABLE = re.compile(rf"(FM)?({'|'.join(_READ)})|([^A-Za-z]|T|Z)", re.IGNORECASE)


def formatted(a: Expression, form: str) -> Expression:
    """A date or a timestamp as text."""
    if a.domain.kind not in ("date", "timestamp"):
        raise BadQuestion(f"TO_CHAR needs a date or a timestamp; {kind_of(a)}. Use CAST(... AS TEXT) for numbers.")
    if absent(a):
        return a
    periods, write = _format(form)
    clock = [unit for unit in COARSE if unit in periods and unit in SECONDS]
    if clock and a.domain.kind == "date":
        raise BadQuestion("A date has no time of day. Use TO_CHAR without HH24, MI and SS, or a timestamp.")
    if not a.domain.declared:
        raise BadQuestion("TO_CHAR needs bounds: declare lower and upper for the dates in the schema.")
    period, moments = _periods(a, periods, clock)
    if len(moments) > LONGEST_TABLE:
        raise BadQuestion(
            f"TO_CHAR allows at most {LONGEST_TABLE} periods, not {len(moments)}. Declare narrower bounds, or use a"
            " coarser form."
        )
    texts = [write(_EPOCH + datetime.timedelta(seconds=second)) for second in moments.values()]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return folded(Lookup(category(*places), period, tuple(moments), tuple(places[text] for text in texts)))


def _periods(a: Expression, periods: set[str], clock: list[str]) -> tuple[Expression, dict[int, int]]:
    """The number of the period that decides a text, and a second of each such period."""
    if clock:  # of the day, or since the first one
        each, steps = SECONDS[clock[-1]], shaped(a, number(a.domain.lower, a.domain.upper))
        start = quotient(steps if periods - {*SECONDS} else modulo(steps, constant(DAY)), each, number(0, 0))
        return start, {step: step * each for step in _range(start)}
    week = {"week": "week" if periods == {"week"} else "day"} if "week" in periods else {}
    start = date_trunc(week.get("week") or max(periods, key=COARSE.index, default="year"), a)
    if isinstance(start, Lookup):
        return start.a, {int(step): day * DAY for step, day in zip(start.keys, start.values, strict=True)}
    return start, {step: step * DAY for step in _range(start)}


def _range(e: Expression) -> range:
    return range(e.domain.lower, min(e.domain.upper, e.domain.lower + LONGEST_TABLE) + 1)


def _format(form: str) -> tuple[set[str], Written]:
    """The periods that a format names, and how it writes a moment."""
    at, parts, periods = 0, list[Written](), set[str]()
    if len(form) > LONGEST:
        raise BadQuestion(f"A format may have at most {LONGEST} characters.")
    while at < len(form):
        found = _PARTS.match(form, at)
        if found is None:
            raise BadQuestion(
                f"The format {form!r} is not understood at {form[at : at + 9]!r}; its words are {', '.join(WORDS)}."
            )
        plain, word, quoted, other = found.groups()
        if word:
            period, width, text = WORDS[word.upper()]
            periods.add(period)
            parts.append(_padded(word, 0 if plain else width, text))
        else:
            parts.append(lambda _, literal=quoted or other or "": literal)  # type: ignore[misc]
        at = found.end()
    return periods, lambda moment: "".join(part(moment) for part in parts)


def _padded(word: str, width: int, text: Written) -> Written:
    """A word as its letters are: names in capitals, small or with a first capital; numbers with zeros before them."""
    case = str.upper if word.isupper() else str.lower if word.islower() else str.title
    return lambda t: case(x).ljust(width) if (x := text(t)).isalpha() else x.zfill(width)


def day_name(a: Expression) -> Expression:
    """The English name of the day of the week."""
    return _named(a, "weekday", DAYS)


def month_name(a: Expression) -> Expression:
    """The English name of the month."""
    return _named(a, "month", MONTHS)


def _named(a: Expression, part: str, names: tuple[str, ...]) -> Expression:
    number_of = date_part(part, a)
    numbers = range(number_of.domain.lower, number_of.domain.upper + 1)
    labels = category(*(names[i - 1] for i in numbers))
    return folded(Lookup(labels, number_of, tuple(numbers), tuple(range(len(numbers)))))


def read_date(a: Expression, form: str, timestamp: bool) -> Expression:
    """The date or the timestamp that a constant text, or each label of a category, spells; missing if it is none."""
    read = _reader(form)

    def value(label: str) -> datetime.date | None:
        moment = read(label)
        return moment if timestamp or moment is None else moment.date()

    day = of_labels(a, value, "TO_DATE and TO_TIMESTAMP need a text or")
    if absent(day) and not absent(a):
        raise BadQuestion(f"No text here is of the form {form!r}, such as '2020-12-31' for 'YYYY-MM-DD'.")
    return day


def _reader(form: str) -> Callable[[str], datetime.datetime | None]:
    at, pattern, words = 0, "", list[str]()
    while at < len(form):
        found = _READABLE.match(form, at)
        if found is None or len(form) > LONGEST or (found[2] or "").upper() in words:
            raise BadQuestion(f"The format {form[:40]!r} is not understood; it may have {', '.join(_READ)}, each once.")
        if found[2]:
            words.append(found[2].upper())
            pattern += f"({_READ[words[-1]]})"
        else:
            pattern += re.escape(found[3])
        at = found.end()
    if "YYYY" not in words:
        raise BadQuestion(f"The format {form[:40]!r} must have YYYY.")
    compiled = re.compile(pattern)

    def moment(text: str) -> datetime.datetime | None:
        matched = compiled.fullmatch(text)
        if matched is None:
            return None
        part = dict(zip(words, matched.groups(), strict=True))
        year, month, day = (int(part.get(word, 1)) for word in ("YYYY", "MM", "DD"))
        hour, minute, second = (int(part.get(word, 0)) for word in ("HH24", "MI", "SS"))
        try:
            return datetime.datetime(year, month, day, hour, minute, second)
        except ValueError:
            return None

    return moment
