"""At most so many rows of each unit, those of least hash (`engines.keyed_hash`), where all rows are in memory.

Rows are a table of Arrow, of a unit u and columns c0, c1, ...; only those of units that have too many are hashed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...query.schema.schema import Schema
from ...query.values.domain import Domain
from ..keyed_hash import Choice, P, coefficients
from .keyed_hash import BITS, Column, Integers, Texts, Words, blocks, digits, hashed, held, taken
from .unit_codes import Mask, Units, coded, put, where

_PARTS = 16  # of the hashes of a unit


def bounded(rows: Any, schema: Schema, key: str, names: Texts, texts: Texts) -> Mask:
    """Which rows are in the part of least hash of their unit, if there are parts, and there among the `rows` least.

    What the digits are of units that are text is known to `names`, and of columns to `texts`.
    """
    units = coded(rows["u"], names)
    domains = {f"c{i}": column.domain for i, (_, column) in enumerate(schema.columns)}
    if schema.partition is None:
        return _Hashing(rows, units, key, texts).least_rows(domains, schema.rows)
    part = next(f"c{i}" for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
    chosen = _Hashing(rows, units, key, texts).least_part(part, domains[part])
    some = _Hashing(where(rows, chosen), units.of(chosen), key, texts)
    chosen[chosen] = some.least_rows(domains, schema.rows)
    return chosen


@dataclass(frozen=True)
class _Hashing:
    rows: Any
    units: Units
    key: str
    texts: Texts

    def words(self, many: Mask, heavy: Mask, columns: Mapping[str, Domain], choice: Choice) -> Words:
        """Of each row of these units a word: its unit's number among them, and below it its hash by these columns."""
        c = coefficients(self.key, choice, len(columns))
        of_unit, numbers = self.units.digits(many), np.cumsum(many, dtype=np.min_scalar_type(len(many))) - 1
        words = np.empty(np.count_nonzero(heavy), np.uint64)
        start = end = 0
        for batch in self.rows.to_batches():
            if len(at := np.flatnonzero(heavy[start : start + len(batch)])):
                own = self.units.codes[start : start + len(batch)][at]
                held = [digits(batch.column(name), domain, at, self.texts) for name, domain in columns.items()]
                unit, number = _of(of_unit, own), _of(partial(taken, numbers), own)
                hashed([unit, *held], number, c, words[end : end + len(at)])
            start, end = start + len(batch), end + len(at)
        return words

    def least_part(self, name: str, domain: Domain) -> Mask:
        """Which rows are in the part of their unit that has the least hash, and of parts of one hash the least."""
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

    def least_rows(self, columns: Mapping[str, Domain], most: int) -> Mask:
        """Which rows are among the `most` of their unit that have the least hash, and of rows of one hash the least."""
        counts = self.units.counts()
        many = counts > most
        heavy = self.units.marked(many)
        chosen = ~heavy
        if many.any():

            def rows(some: Integers) -> Any:
                mask = np.zeros(len(heavy), bool)
                mask[np.flatnonzero(heavy)[some]] = True
                return where(self.rows.select(list(columns)), mask)  # Arrow would copy all of it, to take some

            put(chosen, heavy, least(self.words(many, heavy, columns, "rows"), counts[many], most, rows))
        return chosen


def _of(known: Callable[[Integers], Integers], own: Integers) -> Column:
    """What is known of the units of some rows."""
    return lambda some: known(own[some])


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
