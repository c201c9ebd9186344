"""How the cells of a column are written, where that is not the plain way: facts of a schema.

    missing = ["NA", ""]              spellings of a missing value: of text to the letter, of integers in digits, of
                                      doubles and decimals as the number that they spell
    true = ["Y"], false = ["N"]       the words of a boolean, to the letter; no others are words then
    decimal = ","                     the decimal mark of numbers in text; a point is no part of a number then
    format = "%d.%m.%Y"               the form of dates in text: %Y, %m, %d, perhaps %H, %M, %S, each once, with marks
                                      or letters between them; a month, day, ... has one or two digits, or two where
                                      it touches another part

A cell that is written so means what the plainly written cell would mean (`cells`); text of another form is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ...core.errors import BadSchema

MOST_SPELLINGS, LONGEST_SPELLING, LONGEST_FORM = 1000, 128, 64
_SPECIFIERS = re.compile(r"%(.?)", re.DOTALL)
_BETWEEN = re.compile(r"[A-Za-z ,./:;_-]*")  # all but the dot mean themselves in the patterns of every engine
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TIMES = "HMS"


@dataclass(frozen=True)
class Reading:
    """The facts above; `form` is empty where dates are as in ISO 8601."""

    missing: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    decimal: str = "."
    form: str = ""

    @property
    def facts(self) -> dict[str, object]:
        """The facts as a schema states them, without those that say nothing."""
        facts: dict[str, object] = {"missing": list(self.missing), "true": list(self.true), "false": list(self.false)}
        facts |= {"decimal": "" if self.decimal == "." else self.decimal, "format": self.form}
        return {key: value for key, value in facts.items() if value}


PLAIN = Reading()


@dataclass(frozen=True)
class DateForm:
    """A form of dates as a regular expression, whose groups are the parts in this order."""

    pattern: str
    parts: str
    longest: int  # characters

    def plain(self, text: str) -> str | None:
        """A text of this form as YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS if the form has a time; else missing."""
        found = re.fullmatch(self.pattern, text)
        if found is None:
            return None
        part = dict(zip(self.parts, found.groups(), strict=True))
        day = f"{part['Y']}-{part['m']:0>2}-{part['d']:0>2}"
        return day + (" " + ":".join(f"{part.get(name, '0'):0>2}" for name in _TIMES) if "H" in part else "")


@lru_cache(maxsize=256)
def date_form(form: str) -> DateForm:
    """The form that a text such as %d.%m.%Y describes; BadSchema if it describes none."""
    between, parts = _SPECIFIERS.split(form)[::2], "".join(_SPECIFIERS.findall(form))
    times = "".join(part for part in parts if part in _TIMES)
    others = sorted(part for part in parts if part not in _TIMES)
    if len(form) > LONGEST_FORM or others != ["Y", "d", "m"] or sorted(times) != sorted(_TIMES[: len(times)]):
        what = "%Y, %m and %d once each, and perhaps %H, %H and %M, or %H, %M and %S, such as %d.%m.%Y"
        raise BadSchema("format", form, f"made of {what}; years have four digits")
    if not all(map(_BETWEEN.fullmatch, between)):
        raise BadSchema("format", form, "of parts with spaces, letters and , . / : ; _ - between them")
    pattern = _literal(between[0])
    for i, part in enumerate(parts):
        touching = (i > 0 and not between[i]) or (i + 1 < len(parts) and not between[i + 1])
        tens = "" if touching else "?"  # of a part that touches no other, the first of two digits may be left out
        digits = {"Y": "[0-9]{4}", "H": f"[01]{tens}[0-9]|2[0-3]"}.get(
            part, f"[0-{5 if part in 'MS' else 9}]{tens}[0-9]"
        )
        pattern += f"({digits}){_literal(between[i + 1])}"
    return DateForm(pattern, parts, sum(map(len, between)) + 2 * len(parts) + 2)


def _literal(text: str) -> str:
    """A pattern of exactly this text."""
    return text.replace(".", "[.]")


def spellings(where: str, key: str, given: object) -> tuple[str, ...]:
    """A list of spellings, or a single one, in order and without repetition."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or len(listed) > MOST_SPELLINGS:
        raise BadSchema(f"{where}.{key}", given, f"a list of at most {MOST_SPELLINGS} texts in quotes, such as NA")
    for text in listed:
        if not isinstance(text, str) or len(text) > LONGEST_SPELLING or _CONTROL.search(text):
            allowed = f"text of at most {LONGEST_SPELLING} characters without control characters, in quotes"
            raise BadSchema(f"{where}.{key}", text, allowed)
    return tuple(sorted(set(listed)))


def read_reading(where: str, given: Mapping[str, object], otherwise: Reading = PLAIN) -> Reading:
    """The reading that a TOML table states; what it leaves out is as in `otherwise`."""
    missing, true, false = (
        spellings(where, key, given[key]) if key in given else getattr(otherwise, key)
        for key in ("missing", "true", "false")
    )
    decimal, form = given.get("decimal", otherwise.decimal), given.get("format", otherwise.form)
    if bool(true) != bool(false):
        says = f"{where} must have both `true` and `false`, or neither, so that every word has a meaning."
        raise BadSchema(where, "one of them", "given both true and false", says=says)
    both = ("true", "false", {*true} & {*false}), ("missing", "true or false", {*missing} & {*true, *false})
    for one, other, words in both:
        if words:
            says = f"{where}: {min(words)!r} cannot be both {one} and {other}. Leave it out of one of the lists."
            raise BadSchema(where, min(words), "a word of one meaning", says=says)
    if decimal not in (".", ","):
        raise BadSchema(f"{where}.decimal", decimal, '"." or ","')
    if not isinstance(form, str):
        raise BadSchema(f"{where}.format", form, 'text such as "%d.%m.%Y"')
    if form:
        try:
            date_form(form)
        except BadSchema as error:
            raise BadSchema(f"{where}.format", form, error.allowed) from None
    return Reading(missing, true, false, str(decimal), form)
