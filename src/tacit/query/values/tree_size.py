"""How large a tree is when it is written out, and how deep: a part that it holds more than once is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Tree = TypeVar("Tree")


def extents(trees: Iterable[Tree], parts: Callable[[Tree], list[Tree]]) -> Iterator[tuple[Tree, int, int]]:
    """Each part of some trees, after those that it is made of, with its size written out and its depth."""
    known: dict[int, tuple[int, int]] = {}
    waiting = list(trees)
    while waiting:
        if id(waiting[-1]) in known:
            waiting.pop()
            continue
        made_of = parts(waiting[-1])
        unknown = [part for part in made_of if id(part) not in known]
        if unknown:
            waiting += unknown
            continue
        size = 1 + sum(known[id(part)][0] for part in made_of)
        depth = 1 + max((known[id(part)][1] for part in made_of), default=0)
        known[id(waiting[-1])] = size, depth
        yield waiting.pop(), size, depth
