"""Rows of least hash, where hashes agree in their first bits, and units that are no small numbers."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tacit.engines.bounding import _codes, _least

WORDS = st.sampled_from([0, 1, 2, 3, 1 << 62, (1 << 62) + 1, (1 << 64) - 2, (1 << 64) - 1])
ROWS = st.lists(st.tuples(st.integers(0, 4), WORDS, WORDS), max_size=40)


@given(ROWS, st.integers(1, 5))
def test_the_whole_hash_decides(rows, most):
    units = np.array([unit for unit, _, _ in rows], np.int64)
    high, low = (np.array([row[i] for row in rows], np.uint64) for i in (1, 2))
    kept = _least(units, most, lambda heavy: (high[heavy], low[heavy]))
    for unit in range(5):
        own = sorted(row for row in rows if row[0] == unit)
        assert sorted(row for row, k in zip(rows, kept, strict=True) if k and row[0] == unit) == own[:most]


@given(
    st.lists(st.lists(st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1])), max_size=6), max_size=3)
)
def test_codes_are_equal_where_units_are(chunks):
    values = [value for chunk in chunks for value in chunk]
    for kind, cells in ((pa.int64(), chunks), (pa.string(), [[str(value) for value in chunk] for chunk in chunks])):
        codes = _codes(pa.chunked_array(cells, kind)).tolist()
        assert len(codes) == len(values) and len(set(codes)) == len(set(values)) == len(
            set(zip(codes, values, strict=True))
        )
        assert all(0 <= code <= 4 * len(values) for code in codes)
