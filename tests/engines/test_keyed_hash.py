"""The keyed hash: by hand, on each engine, and fair."""

import itertools
import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from sqlglot import exp

from tacit.engines.duckdb.dialect import DuckDBDialect
from tacit.engines.keyed_hash import P, Q, coefficients, keyed_hash, order
from tacit.engines.keyed_hash import digit as reference_digit
from tacit.engines.keyed_hash import unit_digit as reference_unit
from tacit.engines.rows.keyed_hash import BITS, digits, hashed
from tacit.engines.rows.row_cap import kept_rows
from tacit.engines.sql.dialect import TEXT as WORDS
from tacit.engines.sql.dialect import Typed
from tacit.engines.sql.keyed_hash import KeyedHash, unit_digit
from tacit.query.schema.schema import Schema
from tacit.query.values.domain import TEXT, WIDEST, number

KEY = "0" * 32
DATABASE = duckdb.connect()
FALSE_ALARM = 1e-9
UNITS = ["0", "7", "-7", "-0", "+7", "07", " 7", "7 ", "7.0", "1e3", "0x1f", "1_000", "", "ann", "ß", "\U0001f600", "|"]
UNITS += [str(n) for n in (2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**18, 10**19, 10**37, Q, -Q, P, Q + 7)]
DOMAINS = [number(-3, 3), number(0, 2**30 - 2), number(0, 2**30 - 1), number(-WIDEST, WIDEST)]


def values(domain):
    """Any value of a domain."""
    if domain == TEXT:
        return st.none() | st.text(max_size=5).filter(lambda text: "\0" not in text)
    return st.none() | st.sampled_from([domain.lower, domain.upper]) | st.integers(domain.lower, domain.upper)


rows = st.lists(st.sampled_from([*DOMAINS, TEXT]), max_size=7).flatmap(
    lambda domains: st.tuples(st.just(domains), st.sampled_from(UNITS), st.tuples(*map(values, domains)))
)


def test_by_hand():
    """The first coefficient is SHA-256 of 00...0|rows|a0, modulo p - 1, and one more; and so on."""
    c = coefficients(KEY, "rows", 2)
    assert c.linear == (391138512, 206232062, 2083075929)
    assert c.cubic == (718965861, 1856671231, 1573686853, 1512484285)
    y = 901514929  # 391138512 (q + 7) + 206232062 (30 - 18 + 1) + 2083075929 (0x085e2a2 + 1), where MD5 is 085e2a2...
    assert y == (391138512 * 536870916 + 206232062 * 13 + 2083075929 * 8774307) % P
    assert sum(k * y**i for i, k in enumerate(c.cubic)) % P == 260691687
    assert keyed_hash(KEY, "rows", "7", [30, "ab"], [number(18, 120), TEXT]) == 260691687
    assert order(KEY, "rows", "7", [30, None], [number(18, 120), TEXT])[1] == ((True, 30), (False, None))


def test_choices_and_keys_have_coefficients_of_their_own():
    drawn = [coefficients(key, choice, 3) for key in (KEY, "1" * 32) for choice in ("rows", "groups", "part")]
    flat = [a for c in drawn for a in (*c.linear, *c.cubic)]
    assert len(set(flat)) == len(flat) == 6 * 8 and all(0 < a < P for a in flat)


@pytest.mark.parametrize(
    ("value", "domain", "expected"),
    [
        (None, number(-3, 3), 0),
        (-3, number(-3, 3), 1),
        (2**30 - 2, number(0, 2**30 - 2), 2**30 - 1),
        (2**30 - 1, number(0, 2**30 - 1), Q + 5),  # of one value too many, 2 q + 5
        (-1, number(-WIDEST, WIDEST), Q - 1),
        (-WIDEST, number(-WIDEST, WIDEST), Q - 2**62 % Q),
        (None, TEXT, 0),
    ],
)
def test_digits(value, domain, expected):
    assert reference_digit(KEY, value, domain) == expected


@given(rows)
def test_a_digit_is_small_and_tells_what_is_missing(row):
    domains, unit, cells = row
    found = [reference_unit(KEY, unit), *(reference_digit(KEY, x, d) for x, d in zip(cells, domains, strict=True))]
    assert all(0 <= x < 2**30 for x in found)
    assert [x == 0 for x in found] == [False, *(cell is None for cell in cells)]
    assert 4 * (P - 1) * (2**30 - 1) + P < 2**63  # so nothing overflows


def test_one_unit_has_one_digit_whatever_its_type():
    d, db = DuckDBDialect(), duckdb.connect()
    db.register("t", pa.table({"x": UNITS}))
    text = d.render(unit_digit(KEY, Typed(exp.column("x"), WORDS), d))
    assert dict(db.execute(f"SELECT x, {text} FROM t").fetchall()) == {x: reference_unit(KEY, x) for x in UNITS}
    whole = [int(x) for x in UNITS if x.strip("-").isdigit() and str(int(x)) == x and -(2**63) <= int(x) < 2**63]
    db.register("n", pa.table({"x": pa.array(whole, pa.int64())}))
    number_ = d.render(unit_digit(KEY, Typed(exp.column("x"), 64), d))
    found = dict(db.execute(f"SELECT x, {number_} FROM n").fetchall())
    assert len(whole) > 9 and found == {x: reference_unit(KEY, str(x)) for x in whole}


@given(rows)
def test_it_is_the_same_in_sql_and_in_arrays(row):
    domains, unit, cells = row
    kinds = [pa.string() if domain == TEXT else pa.int64() for domain in domains]
    columns = [pa.array([None, cell, cell], kind)[1:] for cell, kind in zip(cells, kinds, strict=True)]
    names = [f"c{i}" for i in range(len(domains))]
    expected = keyed_hash(KEY, "groups", unit, cells, domains)

    def texts(column):
        return np.array([reference_digit(KEY, text, TEXT) for text in column.to_pylist()])

    held = [digits(c, domain, np.array([1]), texts) for c, domain in zip(columns, domains, strict=True)]
    of_unit = np.array([reference_unit(KEY, unit)])
    words, above = np.zeros(1, np.uint64), np.array([5], np.uint64)
    hashed([of_unit.__getitem__, *held], above.__getitem__, coefficients(KEY, "groups", len(domains)), words)
    assert words.tolist() == [5 << BITS | expected]
    d = DuckDBDialect()
    widths = [WORDS if domain == TEXT else 64 for domain in domains]
    typed = [Typed(exp.column(name), width) for name, width in zip(names, widths, strict=True)]
    by = KeyedHash(KEY, "groups", Typed(exp.column("u"), WORDS), list(zip(typed, domains, strict=True)), d)
    DATABASE.register("t", pa.table([pa.array([unit] * 2), *columns], ["u", *names]))
    query = f"SELECT {d.render(by.cubic(exp.column('y')))} FROM (SELECT {d.render(by.linear())} AS y FROM t)"
    assert DATABASE.execute(query).fetchall() == [(expected,)] * 2


def fair(counts, keys, chance):
    """Whether each of some counts is binomial; were they, one of them would not seem so once in 10^9 runs."""
    tail = FALSE_ALARM / (2 * len(counts))
    low, high = binom.ppf(tail, keys, chance), binom.isf(tail, keys, chance)
    return all(low <= count <= high for count in counts)


FEW = [number(0, 11), TEXT, number(-WIDEST, WIDEST)]
OWN = {
    "in order": [(i, None, 0) for i in range(12)],
    "text": [(0, f"note {i}", 0) for i in range(12)],
    "far apart": [(None, None, (i - 6) * 2**58) for i in range(12)],
}


@pytest.mark.parametrize("name", OWN)
def test_over_keys_each_row_and_each_pair_is_kept_equally_often(name):
    keys, most, own = 3000, 5, OWN[name]
    singles, pairs = np.zeros(12, int), np.zeros((12, 12), int)
    for i in range(keys):
        key = f"{i:032x}"
        least = sorted(range(12), key=lambda at: order(key, "rows", "ann", own[at], FEW))[:most]
        singles[least] += 1
        pairs[np.ix_(least, least)] += 1
    assert singles.sum() == keys * most and fair(singles, keys, most / 12)
    assert fair([pairs[a, b] for a, b in itertools.combinations(range(12), 2)], keys, math.comb(most, 2) / 66)


@pytest.mark.parametrize("step", [1, 1000, 2**40])
def test_under_one_key_units_choose_apart(step):
    """All units have the same rows; whoever they are, each row is kept equally often, and so is each pair."""
    units, most = 4000, 5
    schema = Schema.load(
        {
            "table": {"name": "t", "unit": "u", "rows": most},
            "columns": {"x": {"type": "integer", "lower": 0, "upper": 11}},
        }
    )
    table = pa.table({"u": np.repeat(np.arange(units) * step, 12), "c0": np.tile(np.arange(12, dtype=np.int8), units)})
    kept = kept_rows(table, schema, "7" * 32, None, None).reshape(units, 12).astype(int)
    assert (kept.sum(axis=1) == most).all() and fair(kept.sum(axis=0), units, most / 12)
    together = kept.T @ kept
    assert fair([together[a, b] for a, b in itertools.combinations(range(12), 2)], units, math.comb(most, 2) / 66)


def test_an_unfair_choice_is_seen():
    assert not fair([3000 * 5 // 12 + 200], 3000, 5 / 12) and fair([1250], 3000, 5 / 12)
