"""Escaping text for the place where it is shown: names, labels, keys and questions come from analysts and from data.

    visible      one line of a terminal, a log, an error message or Markdown: characters that act or hide are escaped
    lines        several lines, each of them `visible`
    html         the text of an HTML element or attribute
    chart        a label or title in a chart, whose description stands inside <script> in notebooks and HTML files
    script       JSON that stands inside <script>
    json_text    JSON that is written to a terminal
    cell         one cell of a CSV file

Characters that act or hide are controls (C0, DEL, C1), surrogates, unassigned and private characters, line and
paragraph separators, directional marks and overrides, and characters without width.  `cell` keeps joiners and tabs,
which honest text uses and which must survive a round trip; text that a spreadsheet would take for a formula gets an
apostrophe.
"""

from __future__ import annotations

import html as markup
import json
import re
from typing import Any

# Default_Ignorable_Code_Point of Unicode, as far as str.isprintable() lets it through, and the blank braille pattern.
UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # with which a formula begins in a spreadsheet
_IGNORABLE = re.compile(f"[{UNSEEN}]")
_ACTING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)
_OPENS = re.compile("<(?=[A-Za-z/!?])")  # begins a tag or a comment
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _escaped(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode() if not text.isascii() else repr(text)[1:-1]


def visible(text: str) -> str:
    """The text as one line in which every character can be seen and none acts."""
    if text.isascii() and text.isprintable():
        return text
    shown = (c if c.isprintable() and not _IGNORABLE.match(c) else _escaped(c) for c in text)
    return "".join(shown)


def lines(text: str) -> str:
    """The text with each of its lines `visible`."""
    return "\n".join(map(visible, text.split("\n")))


def html(text: str) -> str:
    """The text, escaped for an HTML element or attribute."""
    return markup.escape(visible(text))


def chart(text: str) -> str:
    """A label or title: a "<" that would begin a tag becomes a similar character, as charts are embedded in scripts."""
    return _OPENS.sub("\u2039", lines(text))


class InScript(json.JSONEncoder):
    """Encodes JSON that can stand inside <script>, whatever texts it holds."""

    def encode(self, o: Any) -> str:
        return super().encode(o).translate(_IN_SCRIPT)


def json_text(text: str) -> str:
    """Equivalent JSON without characters that act on a terminal; such characters occur only inside strings."""
    return "".join(c if c == "\n" or (c.isprintable() and not _IGNORABLE.match(c)) else _unit(c) for c in text)


def _unit(c: str) -> str:
    """A character as JSON escapes it, by its UTF-16 units."""
    return json.dumps(c)[1:-1]


def cell(text: str) -> str:
    """A cell of a CSV file: no controls but tabs and line ends, no directional overrides, and no formula (CWE-1236)."""
    escaped = _ACTING.sub(lambda match: _escaped(match[0]), text)
    return f"'{escaped}" if escaped.startswith(FORMULAS) else escaped
