"""At most so many rows of each unit, those of least hash (`engines.keyed_hash`), where all rows are in memory.

Rows are a table of Arrow, of a unit u and columns c0, c1, ...; only those of units that have too many are hashed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...query.schema.schema import Schema
from ...query.values.domain import Domain
from ..keyed_hash import Choice, P, coefficients
from .keyed_hash_arrays import (
    BITS,
    Column,
    Integers,
    Texts,
    Words,
    digits,
    hashed,
    taken,
)
from .smallest_hashes import Mask, least
from .unit_codes import Units, coded, put, where


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
