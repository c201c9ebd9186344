"""The names there are, for somebody who gave another: all of few, and of many the nearest and some."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_FEW, _NEAR = 12, 3
_LONGEST = 128  # characters of a name


def offered(given: str, known: Iterable[str]) -> str:
    """A list of names in words."""
    names = list(dict.fromkeys(known))
    if len(names) <= _FEW:
        return ", ".join(names)
    near = get_close_matches(given[:_LONGEST], names, _NEAR)
    shown = list(dict.fromkeys([*near, *names]))[:_FEW]
    return f"{', '.join(shown)} and {len(names) - _FEW} more"
