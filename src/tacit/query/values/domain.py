"""The public domain of a value: its kind, its range in whole steps of a grid, and its labels.

Every value that a question can see is a whole number of steps, or missing: a real is its nearest multiple of the grid,
a date a number of days, a category the place of its label, a boolean 0 or 1.  Only text of no fixed list stays text.
So everything computed from a table is computed in integers whose range is known before any of them is read.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from ...storage import stored

ValueKind = Literal["number", "boolean", "category", "date", "timestamp", "text"]
Label = str | int | bool | float | datetime.date | datetime.datetime

WIDEST = 1 << 62  # steps: what is added to or compared with them stays within 64 bits
EPOCH = datetime.date(1970, 1, 1)
DAYS = (datetime.date.min - EPOCH).days, (datetime.date.max - EPOCH).days  # the first and the last of the calendar
DAY = 86400  # seconds


def _written(time: datetime.date) -> tuple[str]:
    return (time.isoformat(),)


def _day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def _timestamp(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


stored("date", ("text",), members=_written, make=_day)(datetime.date)
stored("timestamp", ("text",), members=_written, make=_timestamp)(datetime.datetime)


@stored("Domain", ("kind", "lower", "upper", "grid", "labels", "declared"), omit=("rounded",), keep=True)
@dataclass(frozen=True)
class ValueDomain:
    """The values from `lower` to `upper` steps; `declared` is false where these are only the limits of the type.

    Of a column of reals values are `rounded` to the grid as they are read, halves upward.  So is a constant that they
    are compared with, if a step is no larger than its last digit: rounding then keeps all decimals of so many digits
    apart and in order, and 9.99 in the data is 9.99.  A finer constant, such as 4.2 beside halves, is left as it is.
    """

    kind: ValueKind
    lower: int = 0
    upper: int = 0
    grid: Fraction = Fraction(1)
    labels: tuple[str, ...] = ()
    declared: bool = True
    rounded: bool = field(default=False, compare=False, repr=False)

    def nearest(self, value: Fraction) -> Fraction:
        """A constant in steps: rounded as the values of a column are where its digits allow that, else exact."""
        steps, last = value / self.grid, _last_digit(value)
        coarse = self.rounded and last is not None and self.grid <= last
        return Fraction(math.floor(steps + Fraction(1, 2))) if coarse else steps

    @property
    def size(self) -> int | None:
        """How many values there are, if that is public."""
        return None if self.kind == "text" or not self.declared else self.upper - self.lower + 1

    def label(self, step: int) -> Label:
        """A step as a person would write it."""
        match self.kind:
            case "category":
                return self.labels[step]
            case "boolean":
                return bool(step)
            case "date":
                return EPOCH + datetime.timedelta(days=step)
            case "timestamp":
                return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=step)
        value = step * self.grid
        return int(value) if self.grid.denominator == 1 else float(value)

    def within(self, lower: int, upper: int) -> ValueDomain:
        """This domain with other, declared bounds."""
        return replace(self, lower=lower, upper=upper, declared=True)


BOOLEAN = ValueDomain("boolean", 0, 1)
TEXT = ValueDomain("text")


def category(*labels: str) -> ValueDomain:
    """The domain of these labels."""
    return ValueDomain("category", 0, len(labels) - 1, labels=labels)


def number(lower: int, upper: int, grid: Fraction = Fraction(1), declared: bool = True) -> ValueDomain:
    """Numbers between two bounds, both in steps of the grid."""
    return ValueDomain("number", lower, upper, grid, declared=declared)


def _last_digit(value: Fraction) -> Fraction | None:
    """The place value of the last decimal digit (1/100 for 9.99), or None if the value has no finite decimal form."""
    rest, digits = value.denominator, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest, times = rest // prime, times + 1
        digits = max(digits, times)
    return Fraction(1, 10**digits) if rest == 1 else None
