"""Rows of least hash in memory: those of the reference, whatever units are, and whatever columns hold."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engines import keyed_hash
from tacit.engines.keyed_hash import Coefficients, P, digit, unit_digit
from tacit.engines.rows import row_cap
from tacit.engines.rows.keyed_hash import BITS
from tacit.engines.rows.reference import bounded as reference
from tacit.engines.rows.row_cap import among_smallest, kept_rows
from tacit.engines.rows.unit_codes import encode_units
from tacit.query.schema.schema import Schema
from tacit.query.values.domain import TEXT

KEY = "0123456789abcdef" * 2
COLUMNS = {
    "n": {"type": "integer", "lower": -3, "upper": 3},
    "w": {"type": "integer", "lower": -(2**40), "upper": 2**40},
    "p": {"type": "category", "values": ["a", "b", "c"]},
    "t": {"type": "text"},
}
UNITS = [st.integers(0, 3), st.sampled_from([-(2**63), 2**63 - 1, 0, 7]), st.sampled_from(["", "7", "007", "ß"])]
CELLS = (
    st.sampled_from([None, -3, 0, 3]),
    st.sampled_from([None, -(2**40), -1, 0, 2**40, 2**29 - 3]),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, "", "x", "é", "\U0001f600", "\uffff"]),
)
ROWS = st.sampled_from(UNITS).flatmap(lambda unit: st.lists(st.tuples(unit, *CELLS), max_size=30))


def schema(rows, *, parts):
    table = {"name": "t", "unit": "who", "rows": rows} | ({"partition": "p"} if parts else {})
    return Schema.load({"table": table, "columns": COLUMNS})


def kept(rows, known, key=KEY, chunk=7):
    """The rows that are kept, sorted, of a table in chunks."""
    kinds = [pa.string() if rows and isinstance(rows[0][0], str) else pa.int64()]
    kinds += [pa.int8(), pa.int64(), pa.int8(), pa.string()]
    names = ["u", *(f"c{i}" for i in range(len(COLUMNS)))]
    columns = {
        name: pa.chunked_array([[row[i] for row in rows[at : at + chunk]] for at in range(0, len(rows), chunk)], kind)
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }
    of_units, of_texts = (
        lambda column, one=one: np.array([one(x) for x in column.to_pylist()], np.int64)
        for one in (lambda x: unit_digit(key, x), lambda x: digit(key, x, TEXT))
    )
    mask = kept_rows(pa.table(columns), known, key, of_units, of_texts)
    return sorted((row for row, k in zip(rows, mask.tolist(), strict=True) if k), key=repr)


def expected(rows, known, key=KEY):
    names = list(COLUMNS)
    own = [(str(unit), dict(zip(names, cells, strict=True))) for unit, *cells in rows]
    back = {str(unit): unit for unit, *_ in rows}
    return sorted(((back[unit], *row.values()) for unit, row in reference(own, known, key)), key=repr)


@given(ROWS, st.integers(1, 4), st.booleans())
def test_they_are_those_of_the_reference(rows, most, parts):
    known = schema(most, parts=parts)
    assert kept(rows, known) == expected(rows, known)


@given(ROWS, st.integers(1, 4), st.booleans(), st.sampled_from([0, 1, 5]))
def test_content_decides_where_hashes_are_equal(rows, most, parts, slope):
    """All rows have one hash, or those of one column do."""

    def few(key, choice, columns):
        return Coefficients((0, slope, *[0] * (columns - 1)), (5, 1, 0, 0))

    known = schema(most, parts=parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed_hash, "coefficients", few)
        patch.setattr(row_cap, "coefficients", few)
        assert kept(rows, known) == expected(rows, known)


@given(ROWS, ROWS, st.integers(1, 3))
def test_a_choice_does_not_depend_on_other_units_or_on_order(rows, others, most):
    """Other units may make all of them text, or be too far away for all to be their own codes."""
    known, own = schema(most, parts=False), {str(row[0]) for row in rows}
    everyone = rows + [row for row in others if str(row[0]) not in own]
    if any(isinstance(row[0], str) for row in everyone):
        everyone = [(str(unit), *cells) for unit, *cells in everyone]
    together = kept(random.Random(7).sample(everyone, len(everyone)), known)
    for name in own:
        alone = kept([row for row in rows if str(row[0]) == name], known)
        assert [row[1:] for row in together if str(row[0]) == name] == [row[1:] for row in alone]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 2, 3, 9, 2**31 - 2]), st.integers(0, 2)), max_size=40),
    st.sampled_from([1, 2, 16]),
)
def test_the_least_words_are_chosen(rows, parts):
    """In however many parts their hashes are counted."""
    most = 3
    counts = np.bincount([unit for unit, _, _ in rows], minlength=5)
    rows = [row for row in rows if counts[row[0]] > most]
    units = sorted({unit for unit, _, _ in rows})
    words = np.array([units.index(unit) << BITS | h for unit, h, _ in rows], np.uint64)
    cells = pa.table({"x": pa.array([x for _, _, x in rows], pa.int64())})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_cap, "_BUCKETS", parts)
        mask = among_smallest(words, counts[counts > most], most, lambda at: cells.take(pa.array(at)))
    for unit in units:
        own = sorted(row for row in rows if row[0] == unit)
        assert sorted(row for row, k in zip(rows, mask, strict=True) if k and row[0] == unit) == own[:most]


@pytest.mark.parametrize("most", [1, 7, 10, 100])
def test_the_least_of_many(most):
    """Units of all sizes, of even hashes and of uneven ones: what a sort finds is what counting finds."""
    r = np.random.default_rng(most)
    sizes = np.concatenate([np.arange(most + 1, most + 200), [5000, 100_000]])
    own = r.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.uint64)
    for low, high in ((0, P), (0, 2**10), (P - 2**10, P)):
        words = own << np.uint64(BITS) | r.integers(low, high, len(own)).astype(np.uint64)
        places = pa.table({"x": pa.array(np.arange(len(own)))})
        ranks = np.empty(len(own), np.int64)
        ranks[np.argsort(words, kind="stable")] = np.arange(len(own))
        expected = ranks - (np.cumsum(sizes) - sizes)[own.astype(int)] < most
        assert (among_smallest(words, sizes, most, lambda at, t=places: t.take(pa.array(at))) == expected).all()


@pytest.mark.parametrize("units", [255, 256, 300])
def test_more_rows_than_a_block(units):
    """They are those of the reference, whichever type the numbers of units need."""
    r = np.random.default_rng(units)
    own = r.permutation(np.concatenate([np.repeat(np.arange(units), 2), np.zeros(2**15, int), [units - 1] * 5]))
    rows = [(int(unit), None, i, i % 3, "x") for i, unit in enumerate(own)]
    known = schema(1, parts=False)
    assert kept(rows, known, chunk=50_000) == expected(rows, known)


@given(
    st.lists(st.lists(st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1])), max_size=6), max_size=3)
)
def test_codes_are_equal_where_units_are(chunks):
    values = [value for chunk in chunks for value in chunk]
    for kind, cells in ((pa.int64(), chunks), (pa.string(), [[str(value) for value in chunk] for chunk in chunks])):
        units = encode_units(pa.chunked_array(cells, kind), None)
        codes = units.codes.tolist()
        assert len(codes) == len(values) and len(set(codes)) == len(set(values)) == len(
            set(zip(codes, values, strict=True))
        )
        assert all(0 <= code < units.size <= 4 * max(len(values), 1) for code in codes)
        assert units.counts().tolist() == np.bincount(codes, minlength=units.size).tolist() if codes else True
