"""What is given to us, read or refused: numbers exactly as they are written, and all else by its kind.

Each reader takes the name that a refusal tells, and the value; of what may be data it tells the type alone.
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
_DIGITS = 400  # of a number's text, its exponent, and 3.3 bits each of an integer


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
                if len(text) <= _DIGITS and abs(int(exponent)) <= _DIGITS:
                    return Fraction(text)
            case numbers.Real():
                return Fraction(str(given))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise BadParameter(name, value, "a finite number") from None
    raise BadParameter(name, value, "a number of moderate size: int, float, Fraction, Decimal or decimal text")


def _moderate(x: Fraction) -> bool:
    return max(abs(x.numerator), x.denominator).bit_length() < 10 * _DIGITS


def positive(name: str, value: Number, within: Fraction | None = None) -> Fraction:
    """A rational above zero; `within` bounds it from both sides, at 1/within and within."""
    x = rational(name, value)
    if x <= 0:
        raise BadParameter(name, value, "positive")
    if within is not None and not 1 / within <= x <= within:
        raise BadParameter(name, value, f"between {float(1 / within):g} and {float(within):g}")
    return x


def probability(name: str, value: Number) -> Fraction:
    """A rational strictly between 0 and 1, and at least 10^-300: what it is divided by stays a float."""
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
    known, given = tuple(words), cast(object, value)
    if not isinstance(given, str) or given not in known:
        raise BadParameter(name, value, f"one of {', '.join(known)}")
    return value


def exactly_one(**given: Given | None) -> tuple[str, Given]:
    """The one of several that was given, and is not None, with its name."""
    found = [(name, value) for name, value in given.items() if value is not None]
    if len(found) != 1:
        *others, last = given
        ways, got = f"one of {', '.join(others)} or {last}", " and ".join(name for name, _ in found) or "none"
        raise BadParameter(others[0], got, ways, says=f"give exactly {ways}; got {got}")
    return found[0]


def flag(name: str, value: bool) -> bool:
    """True or False, given as such."""
    if not isinstance(value, bool | np.bool_):
        raise BadParameter(name, value, "True or False")
    return bool(value)


def reals(name: str, values: object) -> Floats:
    """Public numbers as an array of finite floats, of our own: what was given may change after it was looked at."""
    try:
        array = np.array(values, np.float64)
    except (ValueError, TypeError, OverflowError):
        array = np.array(math.nan)
    if not np.isfinite(array).all():
        raise BadParameter(name, type(values).__name__, "finite numbers")
    return array


def instance(name: str, value: Given, kind: type) -> Given:
    """What is of this kind; of anything else the type is told, and never the value."""
    if not isinstance(value, kind):
        raise BadParameter(name, kind_of(value), f"a {kind.__name__}")
    return value


def kind_of(value: object) -> str:
    """Its type, as it is told; a class, given by mistake for one of its objects, by its own name."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def instances(name: str, values: Iterable[Given], kind: type) -> tuple[Given, ...]:
    """Several of them, read once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadParameter(name, type(values).__name__, f"a list, of which each is a {kind.__name__}")
    return tuple(instance(name, value, kind) for value in values)


def function(name: str, value: Given, allowed: str) -> Given:
    """What can be called, and is no class."""
    if not callable(value) or isinstance(value, type):
        raise BadParameter(name, kind_of(value), allowed)
    return value


def several(name: str, values: Iterable[Given], read: Callable[[str, Given], Read]) -> tuple[Read, ...]:
    """Numbers, each of them read by `read`."""
    alone = isinstance(values, np.ndarray) and not values.ndim
    if alone or isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise BadParameter(name, values, "a list of numbers")
    return tuple(read(name, value) for value in values)
