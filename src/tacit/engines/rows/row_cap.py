"""The row cap in memory: of each unit, the rows of smallest keyed hash (`engines.keyed_hash`).

Rows are an Arrow table of a unit u and columns c0, c1, ...; only the rows of units that have too many are hashed.
Hashes are counted in buckets, and only the bucket in which a unit reaches its cap is sorted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...query.schema.schema import Schema
from ...query.values.domain import ValueDomain
from ..keyed_hash import HashPurpose, P, coefficients
from .keyed_hash import BITS, HashWords, Integers, RowDigits, TextDigits, blocks, buffers, digits, hashed, taken
from .unit_codes import Mask, UnitCodes, encode_units, put, where

_BUCKETS = 16  # for the hashes of one unit


def kept_rows(rows: Any, schema: Schema, key: str, names: TextDigits, texts: TextDigits) -> Mask:
    """The mask of rows that count: in the part of smallest hash of their unit, and there among the `rows` smallest.

    `names` computes the digits of units that are text, and `texts` those of columns of text.
    """
    units = encode_units(rows["u"], names)
    domains = {f"c{i}": column.domain for i, (_, column) in enumerate(schema.columns)}
    if schema.partition is None:
        return _Hashing(rows, units, key, texts).smallest_rows(domains, schema.rows)
    part = next(f"c{i}" for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
    chosen = _Hashing(rows, units, key, texts).smallest_part(part, domains[part])
    some = _Hashing(where(rows, chosen), units.of(chosen), key, texts)
    chosen[chosen] = some.smallest_rows(domains, schema.rows)
    return chosen


@dataclass(frozen=True)
class _Hashing:
    """Rows with their units and the key, and the masks of those with the smallest hashes."""

    rows: Any
    units: UnitCodes
    key: str
    texts: TextDigits

    def words(self, many: Mask, heavy: Mask, columns: Mapping[str, ValueDomain], purpose: HashPurpose) -> HashWords:
        """One word for each row of the units `many`: the unit's number in the high bits, the hash in the low bits."""
        c = coefficients(self.key, purpose, len(columns))
        of_unit, numbers = self.units.digits(many), np.cumsum(many, dtype=np.min_scalar_type(len(many))) - 1
        words = np.empty(np.count_nonzero(heavy), np.uint64)
        start = end = 0
        for batch in self.rows.to_batches():
            if len(at := np.flatnonzero(heavy[start : start + len(batch)])):
                own = self.units.codes[start : start + len(batch)][at]
                values = [digits(batch.column(name), domain, at, self.texts) for name, domain in columns.items()]
                unit, number = _of(of_unit, own), _of(partial(taken, numbers), own)
                hashed([unit, *values], number, c, words[end : end + len(at)])
            start, end = start + len(batch), end + len(at)
        return words

    def smallest_part(self, name: str, domain: ValueDomain) -> Mask:
        """The mask of rows in their unit's part of smallest hash; of parts with equal hashes, the smallest."""
        many = self.units.counts() > 1
        heavy = self.units.marked(many)
        chosen = ~heavy
        if not many.any():
            return chosen
        words = self.words(many, heavy, {name: domain}, "part")
        parts = where(self.rows, heavy)[name].combine_chunks()
        places = digits(parts, domain, np.arange(len(parts)), self.texts)(slice(None))
        own, both = words >> BITS, (words & P) << BITS | places.view(np.uint64)
        first = np.full(np.count_nonzero(many), np.iinfo(np.uint64).max, np.uint64)
        np.minimum.at(first, own, both)
        put(chosen, heavy, both == first[own])
        return chosen

    def smallest_rows(self, columns: Mapping[str, ValueDomain], most: int) -> Mask:
        """The mask of the `most` rows of each unit with the smallest hashes; of equal hashes, the smallest rows."""
        counts = self.units.counts()
        many = counts > most
        heavy = self.units.marked(many)
        chosen = ~heavy
        if many.any():

            def rows(some: Integers) -> Any:
                mask = np.zeros(len(heavy), bool)
                mask[np.flatnonzero(heavy)[some]] = True
                return where(self.rows.select(list(columns)), mask)  # `take` would copy the whole table first

            put(chosen, heavy, among_smallest(self.words(many, heavy, columns, "rows"), counts[many], most, rows))
        return chosen


def _of(lookup: Callable[[Integers], Integers], own: Integers) -> RowDigits:
    """Look up a value for the unit of each row, by the codes of the units."""
    return lambda some: lookup(own[some])


def among_smallest(words: HashWords, sizes: Integers, most: int, rows: Callable[[Integers], Any]) -> Mask:
    """The mask of the `most` smallest words of each unit; `sizes` are the units' numbers of rows, all above `most`.

    The hashes of each unit are counted in buckets, of which the first few should hold enough, as hashes are uniform.
    Only the words in the bucket of the last row that counts are sorted, and, where words are equal, the rows: `rows`
    gives a table of the rows at increasing positions.
    """
    enough = most + 4 * math.sqrt(most) + 2
    # The number of buckets that each unit would need; all from the last one on are counted as one.
    fine = np.maximum(sizes * ((_BUCKETS - 1) / enough), 1).astype(np.int64)
    buckets, counts = np.empty(len(words), np.uint8), np.zeros(len(sizes) * _BUCKETS, sizes.dtype)
    one = sizes.dtype.type(1)
    for some in blocks(len(words)):
        own, bucket = _units(words[some]), (words[some] & P).view(np.int64)
        bucket *= taken(fine, own)
        bucket >>= BITS
        buckets[some] = np.minimum(bucket, _BUCKETS - 1, out=bucket)
        own *= _BUCKETS
        own += bucket
        np.add.at(counts, own, one)
    sums = np.cumsum(counts.reshape(-1, _BUCKETS), axis=1, dtype=sizes.dtype)
    edge = np.count_nonzero(sums < most, axis=1)[:, None]
    counted = np.take_along_axis(counts.reshape(-1, _BUCKETS), edge, 1).ravel()
    room = most - (np.take_along_axis(sums, edge, 1).ravel() - counted)
    kept, positions, edges = np.empty(len(words), bool), [np.empty(0, np.int64)], edge.ravel().astype(np.uint8)
    for some in blocks(len(words)):
        last = taken(edges, _units(words[some]))
        np.less(buckets[some], last, out=kept[some])
        positions.append(some.start + np.flatnonzero(buckets[some] == last))
    at = np.concatenate(positions)
    kept[at] = _first(words[at], counted, room, lambda some: rows(at[some]))
    return kept


def _first(words: HashWords, sizes: Integers, room: Integers, rows: Callable[[Integers], Any]) -> Mask:
    """The mask of the `room` smallest words of each unit, which has at least so many."""
    ordered = np.sort(words)
    starts = np.cumsum(sizes) - sizes
    last, after = ordered[starts + room - 1], np.minimum(starts + room, len(words) - 1)
    tied = (room < sizes) & (ordered[after] == last)
    own = _units(words)
    limit = taken(last, own)
    kept: Mask = words <= limit
    at = np.flatnonzero((words == limit) & taken(tied, own))
    if len(at):
        at = at[_in_order(words[at], rows(at))]
        own = _units(words[at])
        left = starts + room - np.searchsorted(ordered, last)
        kept[at] = np.arange(len(at)) - np.searchsorted(own, own) < left[own]
    return kept


def _units(words: HashWords) -> Integers:
    """The numbers of the units of some words, in the type that NumPy indexes by without a copy."""
    return (words >> BITS).view(np.int64)


def _in_order(words: HashWords, rows: Any) -> Integers:
    """The order of rows by word, and then by content."""
    ranks = [_ranks(column.combine_chunks().dictionary_encode()) for column in rows.columns]
    return np.lexsort((*reversed(ranks), words))


def _ranks(column: Any) -> Integers:
    """The rank of each cell among the values of a column; missing cells come first."""
    values = column.dictionary.to_pylist()
    ranks = np.zeros(len(values) + 1, np.int64)  # one more, in case the column has no value
    ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values)) + 1
    codes, there = buffers(column.indices)
    return ranks[codes] if there is None else ranks[codes * there] * there
