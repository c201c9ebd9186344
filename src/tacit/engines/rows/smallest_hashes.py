"""The rows of smallest hash in each unit: hashes are counted by buckets, and the bucket at the limit is sorted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..keyed_hash import P
from .keyed_hash_arrays import BITS, Integers, Words, blocks, held, taken

Mask = NDArray[np.bool_]

_PARTS = 16  # of the hashes of a unit


def least(words: Words, sizes: Integers, most: int, rows: Callable[[Integers], Any]) -> Mask:
    """Which are among the `most` least of their unit; `sizes`, by the number of a unit, are all above that.

    The hashes of each unit are counted by parts, of which the first few should hold enough of them, as hashes are
    even.  Of the part in which the last is that is kept, the words are sorted, and where they are the same, the rows:
    `rows` is a table of them, for increasing places.
    """
    enough = most + 4 * math.sqrt(most) + 2
    fine = np.maximum(sizes * ((_PARTS - 1) / enough), 1).astype(np.int64)  # parts of a unit, if all were told apart
    parts, counts = np.empty(len(words), np.uint8), np.zeros(len(sizes) * _PARTS, sizes.dtype)
    one = sizes.dtype.type(1)
    for some in blocks(len(words)):
        own, part = _units(words[some]), (words[some] & P).view(np.int64)
        part *= taken(fine, own)
        part >>= BITS
        parts[some] = np.minimum(part, _PARTS - 1, out=part)
        own *= _PARTS
        own += part
        np.add.at(counts, own, one)
    sums = np.cumsum(counts.reshape(-1, _PARTS), axis=1, dtype=sizes.dtype)
    edge = np.count_nonzero(sums < most, axis=1)[:, None]
    counted = np.take_along_axis(counts.reshape(-1, _PARTS), edge, 1).ravel()
    room = most - (np.take_along_axis(sums, edge, 1).ravel() - counted)
    kept, found, edges = np.empty(len(words), bool), [np.empty(0, np.int64)], edge.ravel().astype(np.uint8)
    for some in blocks(len(words)):
        last = taken(edges, _units(words[some]))
        np.less(parts[some], last, out=kept[some])
        found.append(some.start + np.flatnonzero(parts[some] == last))
    at = np.concatenate(found)
    kept[at] = _first(words[at], counted, room, lambda some: rows(at[some]))
    return kept


def _first(words: Words, sizes: Integers, room: Integers, rows: Callable[[Integers], Any]) -> Mask:
    """Which are the least of their unit, `room` for each, where sizes are at least that."""
    ordered = np.sort(words)
    starts = np.cumsum(sizes) - sizes
    last, after = ordered[starts + room - 1], np.minimum(starts + room, len(words) - 1)
    torn = (room < sizes) & (ordered[after] == last)
    own = _units(words)
    limit = taken(last, own)
    kept: Mask = words <= limit
    at = np.flatnonzero((words == limit) & taken(torn, own))
    if len(at):
        at = at[_in_order(words[at], rows(at))]
        own = _units(words[at])
        left = starts + room - np.searchsorted(ordered, last)
        kept[at] = np.arange(len(at)) - np.searchsorted(own, own) < left[own]
    return kept


def _units(words: Words) -> Integers:
    """Their numbers, of the type that NumPy finds places by without a copy."""
    return (words >> BITS).view(np.int64)


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
