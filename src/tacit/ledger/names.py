"""Analysts' names: which are taken, and which are one.

Two names are one analyst if their skeletons agree: compatibility forms are undone (NFKC: full-width letters),
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

_LONGEST = 200
_ALPHABETS = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "LISU", "DESERET", "GOTHIC"}
_ALIKE = str.maketrans(
    # Cyrillic, Greek, Armenian and stray Latin letters, lower case, above the letters that they pass for
    "авеіјкӏмнорсԛѕтѵԝхуԁһ" + "αβεζηικμνορτυχϲϳ" + "օսհոզց" + "ıɑɡɩ",  # noqa: RUF001
    "abeijklmhopcqstvwxydh" + "abezhikmnoptyxcj" + "ouhnqg" + "iagi",
)
_SEEN = re.compile(f"[^{UNSEEN}]*")


@lru_cache(maxsize=1024)
def skeleton(name: str) -> str:
    """What a name is compared by."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(unicodedata.normalize("NFKD", folded).translate(_ALIKE).split())


def analyst_name(given: str) -> str:
    """The name of an analyst, without spaces at its ends."""
    if not isinstance(given, str):
        raise BadParameter("analyst", type(given).__name__, "a text")
    return _checked(given)


@lru_cache(maxsize=1024)
def _checked(given: str) -> str:
    if not 0 < len(given) <= _LONGEST or not given.isprintable() or not _SEEN.fullmatch(given) or not skeleton(given):
        raise BadParameter("analyst", given, f"a name of 1 to {_LONGEST} characters that can be seen")
    for word in unicodedata.normalize("NFKC", given).split():
        used = {unicodedata.name(c, "").partition(" ")[0] for c in word if c.isalpha()} & _ALPHABETS
        if len(used) > 1:
            alphabets = " and ".join(sorted(each.capitalize() for each in used))
            allowed = "a name of which each word is written in one alphabet"
            raise BadParameter(
                "analyst", given, allowed, says=f"analyst must be {allowed}; {given!r} mixes {alphabets}"
            )
    return " ".join(given.split())


def alike(accounts: Iterable[str]) -> dict[str, list[str]]:
    """Accounts by their skeletons, except those that are called by theirs alone: only old accounts are not."""
    found: dict[str, list[str]] = {}
    for account in sorted(accounts):
        found.setdefault(skeleton(account), []).append(account)
    return {name: several for name, several in found.items() if several != [name]}
