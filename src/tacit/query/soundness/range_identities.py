"""Ranges that interval arithmetic misses, as it forgets that two operands are computed from one value.

    x - b floor(x / b)                         from 0 to b - 1
    x^(2k)                                     not negative
    d - (the day before the year of d begins)  a day of the year, 1 to 366
    12 year(d) + month(d) - 1, 4 year(d) + quarter(d) - 1      increasing in d
    ceil(p / q)                                at most floor(p / q) + 1

The constructors of `relation.build` use these identities when they state a domain.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable

from ..values.domain import EPOCH
from ..values.nodes import (
    Add,
    Case,
    Compare,
    Constant,
    DatePart,
    Divide,
    Expression,
    Lookup,
    Multiply,
    part,
)
from .value_numbering import Numbers

Range = tuple[int, int] | None  # None where there is no value, or no bound
RangeOf = Callable[[Expression], Range]
PERIODS = {12: "month", 4: "quarter"}


def remainder(e: Add, numbers: Numbers, of: RangeOf) -> Range:
    """x - b floor(x / b)."""
    factor, divided = numbers.multiple(e.b)
    match divided:
        case Divide(a=x, b=Constant(value=int(by))) if by == -factor > 0 and numbers.same(x, e.a):
            ends = of(e.a)
            if ends is None or ends[0] // by < ends[1] // by:
                return 0, by - 1
            return ends[0] % by, ends[1] % by
    return None


def day_of_year(e: Add, numbers: Numbers, of: RangeOf) -> Range:
    """d - (the day before the year of d begins)."""
    factor, start = numbers.multiple(e.b)
    match start:
        case Lookup(a=DatePart(part="year", a=day)) if factor == -1 and numbers.same(day, e.a):
            pairs = zip(start.keys, start.values, strict=True)
            return (1, 366) if all(value + 1 == _new_year(year) for year, value in pairs) else None
    return None


def period(e: Add, numbers: Numbers, of: RangeOf) -> Range:
    """The number of a month or a quarter, from year 0."""
    each, year = numbers.multiple(e.a)
    match year, e.b:
        case DatePart(part="year", a=day), Add(a=DatePart() as inner, b=Constant(value=-1)):
            ends = of(inner.a)
            if PERIODS.get(each) == inner.part and numbers.same(day, inner.a) and ends is not None:
                first, last = (EPOCH + datetime.timedelta(days=end) for end in ends)
                return first.year * each + part(inner.part, first) - 1, last.year * each + part(inner.part, last) - 1
    return None


def even_power(e: Multiply, numbers: Numbers) -> bool:
    """Whether this is x^(2k)."""
    power, rest = 2, e.a
    while not numbers.same(rest, e.b):
        if not isinstance(rest, Multiply) or not numbers.same(rest.b, e.b):
            return False
        power, rest = power + 1, rest.a
    return power % 2 == 0


def toward_zero(compared: Compare, e: Case, numbers: Numbers, of: RangeOf) -> Range:
    """ceil(p / q), taken where floor(p / q) is at most c."""
    (minus, up), down, then, most = numbers.multiple(e.then), compared.a, of(e.then), of(compared.b)
    match up, down:
        case Divide(), Divide() if minus == -1 and then is not None and most is not None and numbers.same(up.b, down.b):
            (p, x), (q, y) = numbers.multiple(up.a), numbers.multiple(down.a)
            if p == -q and (x is y is None or (x is not None and y is not None and numbers.same(x, y))):
                return min(then[0], most[1] + 1), most[1] + 1
    return None


def _new_year(year: int | str) -> int | None:
    """The first day of a year, if there is such a year."""
    return (datetime.date(year, 1, 1) - EPOCH).days if isinstance(year, int) and 1 <= year <= 9999 else None
