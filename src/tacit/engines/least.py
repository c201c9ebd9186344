"""Which rows have the least words of their unit, where a word is the number of a unit, and below it a hash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .hash_arrays import BITS, Integers, Words, blocks, held

Mask = NDArray[np.bool_]

_BLOCK = 1 << 16
_DROPPED = 22  # bits of a hash: the others still tell all but a few rows apart


def least(words: Words, sizes: Integers, most: int, rows: Callable[[Integers], Any]) -> Mask:
    """Which are among the `most` least of their unit; `sizes`, by the number of a unit, are all above that.

    Words are sorted in short, if enough of each hash is left.  Where that, or all of it, does not tell words apart of
    which some are to be kept and others are not, the words decide, and then the rows, a table for increasing places.
    """
    dropped = len(sizes).bit_length() + BITS - 32
    short = (words >> dropped).astype(np.uint32) if 0 < dropped <= _DROPPED else words
    ordered = np.sort(short)
    starts = np.cumsum(sizes) - sizes
    last = ordered[starts + most - 1]
    torn = last == ordered[starts + most]
    kept, edges = np.empty(len(words), bool), [np.empty(0, np.int64)]
    for some in blocks(len(words), _BLOCK):
        own, x = words[some] >> BITS, short[some]
        edge = last[own]
        kept[some] = x <= edge
        edges.append(some.start + np.flatnonzero((x == edge) & torn[own]))
    at = np.concatenate(edges)
    if len(at):
        at = at[_in_order(words[at], rows(at))]
        own = words[at] >> BITS
        room = starts + most - np.searchsorted(ordered, last)
        kept[at] = np.arange(len(at)) - np.searchsorted(own, own) < room[own]
    return kept


def _in_order(words: Words, rows: Any) -> Integers:
    """The places of rows by their words, and then by what they hold."""
    ranks = [_ranks(column.combine_chunks().dictionary_encode()) for column in rows.columns]
    return np.lexsort((*reversed(ranks), words))


def _ranks(column: Any) -> Integers:
    """The place of each cell among the values of a column; what is missing is before all."""
    values = column.dictionary.to_pylist()
    ranks = np.zeros(len(values) + 1, np.int64)  # the last is there in case that none is
    ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values)) + 1
    places, there = held(column.indices)
    return ranks[places] if there is None else ranks[places * there] * there
