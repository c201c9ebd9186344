"""An index of five public lectures: each item with the function, plot and test that implement it, and their errata.

The lectures are UC Santa Barbara 3 and 5, Waterloo CS860 4, Cummings 2, and Sorrell 18.  Each item has its number in the
lecture and a description in our own words.  `tacit theory notes` prints this table, the page `notes` of the
documentation shows it, and a test checks that every name in it exists.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.parameters import one_of
from ._cummings_2 import LECTURE as _CUMMINGS_2
from ._monitor_18 import LECTURE as _SORRELL_18
from ._slips import SLIPS
from ._types import Item, Lecture, Slip
from ._ucsb_3 import LECTURE as _UCSB_3
from ._ucsb_5 import LECTURE as _UCSB_5
from ._waterloo_4 import LECTURE as _WATERLOO_4

__all__ = ["LECTURES", "SLIPS", "Item", "Lecture", "Slip", "items", "page"]

LECTURES: tuple[Lecture, ...] = (_WATERLOO_4, _CUMMINGS_2, _UCSB_3, _UCSB_5, _SORRELL_18)
_KEYS = tuple(lecture.key for lecture in LECTURES)


def items(lecture: str) -> tuple[Item, ...]:
    """The items of a lecture, such as "waterloo-4"."""
    one_of("lecture", lecture, _KEYS)
    return LECTURES[_KEYS.index(lecture)].items


def page() -> str:
    """The text of the page `notes` of the documentation."""
    parts = [_HEAD]
    for lecture in LECTURES:
        parts += [f"## {lecture.name}\n\nNeighbours: {lecture.neighbours}. `tacit theory notes {lecture.key}`\n"]
        rows = (
            (item.number, _cell(item.title), _code((*item.functions, *item.plots)), _tests(item.tests))
            for item in lecture.items
        )
        parts += [_table(("item", "what it says", "in tacit", "tested by"), rows)]
    slips = (
        (str(s.number), *map(_cell, (s.where, s.printed, s.instead)), _code(s.functions), _tests(s.tests))
        for s in SLIPS
    )
    headings = ("", "where", "what is printed", "what tacit does instead", "in tacit", "tested by")
    return "\n".join([*parts, _SLIPS, _table(headings, slips)])


_HEAD = """# The lectures, item by item

Five public lectures on differential privacy: for each definition, theorem, algorithm and example, what implements it in
tacit and which test checks it. Names are below `tacit`, tests below `tests`. `tacit theory notes` prints this table, and
`tacit theory "advanced composition"` finds a topic by its name.

```python
>>> from tacit.theory import notes
>>> [lecture.key for lecture in notes.LECTURES]
['waterloo-4', 'cummings-2', 'ucsb-3', 'ucsb-5', 'sorrell-18']
>>> sum(len(lecture.items) for lecture in notes.LECTURES), len(notes.SLIPS)
(COUNT, 23)
>>> notes.items("waterloo-4")[0].functions
('Distance', 'SUBSTITUTE', 'norms')

```
""".replace("COUNT", str(sum(len(lecture.items) for lecture in LECTURES)))
_SLIPS = """## Slips of the lectures

Statements in the lectures that are wrong, loose or incomplete, and what tacit does instead.
"""


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [headings, ("---",) * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _code(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _tests(tests: tuple[str, ...]) -> str:
    return "<br>".join(f"`{test}`" for test in tests)
