"""Reading arguments: each function checks one argument and returns it, or raises `BadParameter`.

Numbers are read exactly as they are written.  Each function takes the name of the argument, for the message, and its
value; a message shows only the type of a value that may be data.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar, cast

import numpy as np

from .errors import BadParameter
from .exact import Floats

Given = TypeVar("Given")
Read = TypeVar("Read")
Word = TypeVar("Word", bound=str)
Number = int | float | str | Decimal | Fraction

LEAST_PROBABILITY = Fraction(1, 10**300)

_TEXT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[0-9]+/[0-9]+")
_MAX_DIGITS = 400  # of a number's text and of its exponent; an integer may have ten bits for each


def rational(name: str, value: Number) -> Fraction:
    """Read a number exactly as it is written: the float 0.1 is one tenth, as its shortest decimal text says."""
    if type(value) is Fraction and _moderate(value):
        return value
    given: object = value
    try:
        match given:
            case bool() | np.bool_():
                pass
            case numbers.Rational():
                x = Fraction(int(given.numerator), int(given.denominator))
                if _moderate(x):
                    return x
            case Decimal() | str():
                text = str(given).strip()
                exponent = text.lower().partition("e")[2] or "0"
                if not _TEXT.fullmatch(text):
                    raise ValueError
                if len(text) <= _MAX_DIGITS and abs(int(exponent)) <= _MAX_DIGITS:
                    return Fraction(text)
            case numbers.Real():
                return Fraction(str(given))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise BadParameter(name, value, "a finite number") from None
    raise BadParameter(name, value, "a number of moderate size: int, float, Fraction, Decimal or decimal text")


def _moderate(x: Fraction) -> bool:
    return max(abs(x.numerator), x.denominator).bit_length() < 10 * _MAX_DIGITS


def positive(name: str, value: Number, within: Fraction | None = None) -> Fraction:
    """A rational above zero; `within` bounds the number from both sides, at 1/within and within."""
    x = rational(name, value)
    if x <= 0:
        raise BadParameter(name, value, "positive")
    if within is not None and not 1 / within <= x <= within:
        raise BadParameter(name, value, f"between {float(1 / within):g} and {float(within):g}")
    return x


def probability(name: str, value: Number) -> Fraction:
    """A rational strictly between 0 and 1, and at least 10^-300, so that its reciprocal is a finite float."""
    x = rational(name, value)
    if not (LEAST_PROBABILITY <= x < 1 and float(x) < 1):
        raise BadParameter(name, value, "strictly between 0 and 1, also as a float, and at least 1e-300")
    return x


def failure(name: str, value: Number) -> Fraction:
    """A delta: a rational below 1 that may be 0."""
    x = rational(name, value)
    if not 0 <= x < 1:
        raise BadParameter(name, value, "at least 0 and below 1")
    return x


def whole(name: str, value: int, at_least: int = 1) -> int:
    """An integer, given as an integer."""
    given: object = value
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and at_least <= given <= 1 << 62:
        return int(given)
    raise BadParameter(name, value, f"a whole number, at least {at_least} and at most 2^62")


def natural(name: str, value: int, at_least: int = 1) -> int:
    """An integer of any size: a number of candidates or cells of which only the logarithm enters."""
    given: object = value
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= at_least:
        return int(given)
    raise BadParameter(name, value, f"a whole number, at least {at_least}")


def one_of(name: str, value: Word, words: Iterable[str]) -> Word:
    """One of these words."""
    allowed, given = tuple(words), cast(object, value)
    if not isinstance(given, str) or given not in allowed:
        raise BadParameter(name, value, f"one of {', '.join(allowed)}")
    return value


def exactly_one(**arguments: Given | None) -> tuple[str, Given]:
    """Name and value of the one argument that is not None."""
    present = [(name, value) for name, value in arguments.items() if value is not None]
    if len(present) != 1:
        *others, last = arguments
        ways, got = f"one of {', '.join(others)} or {last}", " and ".join(name for name, _ in present) or "none"
        raise BadParameter(others[0], got, ways, says=f"Give exactly {ways}; got {got}.")
    return present[0]


def flag(name: str, value: bool) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise BadParameter(name, value, "True or False")
    return bool(value)


def reals(name: str, values: object) -> Floats:
    """Public numbers as an array of finite floats: a copy, since the caller may change the original later."""
    try:
        array = np.array(values, np.float64)
    except (ValueError, TypeError, OverflowError):
        array = np.array(math.nan)
    if not np.isfinite(array).all():
        raise BadParameter(name, type(values).__name__, "finite numbers")
    return array


def instance(name: str, value: Given, kind: type) -> Given:
    """The value, if it is of this kind; a refusal shows the type of the value and never the value."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__.startswith(tuple("AEIOU")) else "a"
        raise BadParameter(name, kind_of(value), f"{article} {kind.__name__}")
    return value


def kind_of(value: object) -> str:
    """The name of the type of a value, for a message; a class, passed by mistake for an object, by its own name."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def instances(name: str, values: Iterable[Given], kind: type) -> tuple[Given, ...]:
    """The values as a tuple, each of this kind; an iterator is read once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadParameter(name, type(values).__name__, f"a list of {kind.__name__} objects")
    return tuple(instance(name, value, kind) for value in values)


def function(name: str, value: Given, allowed: str) -> Given:
    """The value, if it is a callable other than a class."""
    if not callable(value) or isinstance(value, type):
        raise BadParameter(name, kind_of(value), allowed)
    return value


def several(name: str, values: Iterable[Given], read: Callable[[str, Given], Read]) -> tuple[Read, ...]:
    """A list of numbers, each read by `read`."""
    alone = isinstance(values, np.ndarray) and not values.ndim
    if alone or isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise BadParameter(name, values, "a list of numbers")
    return tuple(read(name, value) for value in values)
