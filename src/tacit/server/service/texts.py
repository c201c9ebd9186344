"""What an error may say to whoever asked: tacit's own words, public names, and numbers.

Errors of the library quote what they were given, which helps at a prompt.  Through a door they would repeat a request
to whoever sent it, and perhaps to whoever made them send it.  So each word of a message is shown only if it is a word
of tacit's own texts, a number, or part of a public name of the data set, and within quotation marks only if it is part
of a public name; any other is shown as dots.  The position of a mistake in a question is shown beside the message.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)")
_NUMBER = re.compile(r"[0-9]{1,20}(e[0-9]{0,3})?")  # or as much of one as stands before a point or a sign
_LONGEST = 1000  # characters of a message
_PACKAGE = Path(__file__).parents[2]
_APART = ("testing", "demo", "theory", "audit")  # they raise nothing here, and hold made-up names


@cache
def own_words() -> frozenset[str]:
    """Every word that stands in the source of tacit."""
    files = (path for path in _PACKAGE.rglob("*.py") if path.relative_to(_PACKAGE).parts[0] not in _APART)
    return frozenset(word for path in files for word in _words(path.read_text("utf-8")))


def _words(text: str) -> Collection[str]:
    return {word.lower() for word in _WORD.findall(text)}


def public_words(names: Collection[str]) -> frozenset[str]:
    """The words of public names and labels."""
    return frozenset(word for name in names for word in _words(name))


def shown(message: str, public: Collection[str] = frozenset()) -> str:
    """The message, with dots for every word that is neither tacit's own nor public."""
    own = own_words()

    def known(word: str, *, quoted: bool) -> bool:
        own_or_number = word.lower() in own or _NUMBER.fullmatch(word) is not None
        return word.lower() in public or (own_or_number and not quoted)

    def cleared(text: str, *, quoted: bool) -> str:
        return _WORD.sub(lambda found: found[0] if known(found[0], quoted=quoted) else "...", text)

    parts, at = [], 0
    for quote in _QUOTED.finditer(message[:_LONGEST]):
        parts += [cleared(message[at : quote.start()], quoted=False), cleared(quote[0], quoted=True)]
        at = quote.end()
    return "".join([*parts, cleared(message[at:_LONGEST], quoted=False)])
