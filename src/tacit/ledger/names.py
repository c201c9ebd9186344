"""Analysts' names: which names are accepted, and which are the same analyst.

Two names are the same analyst if their skeletons agree: compatibility forms are undone (NFKC: full-width letters),
case is folded, spaces are collapsed, and letters that look alike across alphabets count as one.  What cannot be seen
(controls, zero-width and other ignorable characters) is refused, and so is a word that mixes alphabets that look alike.

References.  Unicode Technical Standard 39 (confusables, mixed scripts); Unicode Standard Annex 15 (NFKC).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ..core.errors import BadParameter
from ..core.safe_text import UNSEEN

MAX_LENGTH = 200  # characters of a name
_ALPHABETS = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "LISU", "DESERET", "GOTHIC"}
_ALIKE = str.maketrans(
    # Cyrillic, Greek, Armenian and stray Latin letters, lower case, above the letters that they pass for
    "авеіјкӏмнорсԛѕтѵԝхуԁһ" + "αβεζηικμνορτυχϲϳ" + "օսհոզց" + "ıɑɡɩ",  # noqa: RUF001
    "abeijklmhopcqstvwxydh" + "abezhikmnoptyxcj" + "ouhnqg" + "iagi",
)
_SEEN = re.compile(f"[^{UNSEEN}]*")


@lru_cache(maxsize=1024)
def skeleton(name: str) -> str:
    """The form by which names are compared."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(unicodedata.normalize("NFKD", folded).translate(_ALIKE).split())


def analyst_name(name: str) -> str:
    """The checked name of an analyst, with single spaces and none at its ends."""
    if not isinstance(name, str):
        raise BadParameter("analyst", type(name).__name__, "text")
    return _checked(name)


@lru_cache(maxsize=1024)
def _checked(given: str) -> str:
    if not 0 < len(given) <= MAX_LENGTH or not given.isprintable() or not _SEEN.fullmatch(given) or not skeleton(given):
        raise BadParameter("analyst", given, f"a name of 1 to {MAX_LENGTH} visible characters")
    for word in unicodedata.normalize("NFKC", given).split():
        used = {unicodedata.name(c, "").partition(" ")[0] for c in word if c.isalpha()} & _ALPHABETS
        if len(used) > 1:
            alphabets = " and ".join(sorted(each.capitalize() for each in used))
            mixed = f"Each word of an analyst's name must be written in one alphabet; {given!r} mixes {alphabets}."
            raise BadParameter("analyst", given, "a name of which each word is in one alphabet", says=mixed)
    return " ".join(given.split())


def alike(accounts: Iterable[str]) -> dict[str, list[str]]:
    """Accounts by their skeletons, except accounts that are called by their skeleton: only old accounts are not."""
    spellings: dict[str, list[str]] = {}
    for account in sorted(accounts):
        spellings.setdefault(skeleton(account), []).append(account)
    return {name: several for name, several in spellings.items() if several != [name]}
