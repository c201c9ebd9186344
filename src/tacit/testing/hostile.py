"""Values that break tables and questions.

Cells that are missing, NaN, infinite, at the ends of integer types and of the calendar; text that looks like numbers,
quotes, other alphabets; names of columns; constants that take sums beyond a type; and plain values among them.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

NAMES = ["a", "Ünïcode", 'quo"te', "it's", "select", "c0", "u", "a b", "x;--", "名前", "[0]", "%s", "{x}", "k0"]
TEXTS = [
    "",
    "n",
    "north",
    "It's",
    'q"',
    "a%b_c",
    "a\\b",
    "7",
    " 7 ",
    "1e3",
    "-0.5",
    "NaN",
    "inf",
    "1_000",
    "0x10",
    "é" * 3,
]
TEXTS += ["true", " NO ", "f", "2024-02-29", "2023-02-29", "0001-01-01", "0000-01-01", "9999-12-31T23:59:59.9Z", "名"]
TEXTS += [
    "2024-02-29 23:59",
    "2024-02-29T23:59-05:30",
    "1970-01-01 00:00:07.5+0100",
    "0001-01-01T00:00+02",
    "1" + " " * 15_000,
    "1969-12-31T23:59:59",
    "2024-1-1",
    "1e400",
    "-1e-400",
    "9" * 25,
    "\t3.",
    ".5",
    "+.e1",
    "😀",
    "!",
]
NUMBERS = [
    0,
    1,
    2,
    3,
    5,
    7,
    12,
    40,
    99,
    -1,
    -3,
    127,
    -128,
    255,
    32767,
    2**31 - 1,
    -(2**31),
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
]
REALS = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 3.25, 100.0, 1e-9, 5e-324, 1e15, 2.0**53, 1e308, -1e308]
REALS += [math.nan, math.inf, -math.inf, 0.1, 7.000000001]
DATES = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)]
DATES += [datetime.date(2015, 1, 1), datetime.date(2020, 6, 30), datetime.date(1970, 1, 1)]
MOMENTS = [
    datetime.datetime(d.year, d.month, d.day, h, 59, 59, us) for d in DATES[2:] for h, us in ((0, 0), (23, 500_000))
]
DECIMALS = [Decimal(x) for x in ("0", "1", "-0.5", "2.50", "123456789012.25", "0.01", "7")]
OTHERS = [b"\x00\xff", [1], {"a": 1}, datetime.time(1), 10**40, -(10**39), True, False]


SHIFTS = [100, 30_000, 2**31, 2**40, 2_000_000_000_000_000_100, 2**61, -(2**61), 2**62 - 2**41]


# Cells for columns that say how their cells are written: commas, words, dates of other forms, codes for missing values.
SPELLINGS = [*TEXTS, "NA", "na", " NA", "-999", "99", "99.0", "2.5", "Y", "y", "N", "1", "2", "a", "yes"]
SPELLINGS += ["1,5", "-2,25", ",5", "7,", "1,5e2", "1.234,5", "1,2,3", "1;5", "9" * 14_998 + ",5", "9" * 20_000 + ",5"]
SPELLINGS += ["31.12.2024", "1.2.2024", "31.02.2024", "29.02.2023", "01.01.0000", "1.1.99", "31-12-2024", "31x12x2024"]
SPELLINGS += ["20240229", "20230229", "2024022", "202402290", "20240229 ", "12/31/2024 5:07", "2/29/2024 23:59"]
SPELLINGS += ["12/31/2024 24:00", "12/31/2024 05:7", "12/31/2024", "13/31/2024 5:07", "1/1/2024 1:1\n", "\u0661.1.2024"]
CODES = [0, 1, 2, 7, 99, -999, 100, -1, 3, -1000, 5]
