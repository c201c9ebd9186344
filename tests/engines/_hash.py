"""What an engine must get right about the keyed hash, which random tables seldom ask for."""

import pyarrow as pa
import pytest

from tacit.engines import keyed_hash
from tacit.engines.keyed_hash import Coefficients, P, Q
from tacit.engines.rows import row_cap
from tacit.engines.rows.reference import Reference
from tacit.engines.sql import keyed_hash as sql_hash
from tacit.query.plan.plan import Plan, Rows
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.select.query import Key
from tacit.testing.engines import CHECKS, engine, same

NUMBERS = [0, 7, -7, 2**63 - 1, -(2**63), 10**18, Q, -Q, P, Q + 7]
NAMES = ["-0", "+7", "07", " 7", "7 ", "7.0", "1e3", "0x1f", "1_000", "", "ann", "ß", "\U0001f600", "|"]
NAMES += [str(n) for n in (*NUMBERS, 2**63, -(2**63) - 1, 10**19, 10**37)]
SCHEMA = {
    "table": {"name": "t", "unit": "who", "rows": 3, "partition": "p"},
    "columns": {
        "x": {"type": "integer", "lower": 0, "upper": 7},
        "w": {"type": "integer", "lower": -(2**61), "upper": 2**61},
        "p": {"type": "category", "values": ["a", "b"]},
        "t": {"type": "text"},
    },
}


def units_are_named_alike(factory):
    """Numbers, and text that may be one, each with more rows and more groups than are kept; wide numbers and text."""
    for names in (NUMBERS, NAMES):
        cells = [(who, i, (i - 4) * 2**58, "ab"[i % 2], f"note {i}" if i else None) for who in names for i in range(8)]
        data = pa.table(list(map(list, zip(*cells, strict=True))), ["who", "x", "w", "p", "t"])
        table = Table(data, SCHEMA)
        scan = table.schema.scan()
        x, w, t = (build.column(scan, name) for name in ("x", "w", "t"))
        keys = Key("x", x, tuple(range(8))), Key("w", w, tuple((i - 4) * 2**58 for i in range(8))), Key("t", t, None)
        for secret in ("0" * 32, "fedcba9876543210" * 2):
            with engine(Reference, [table], secret) as reference, engine(factory, [table], secret) as tested:
                for plan in (*(Plan(scan, (key,), (Rows(),), 2) for key in keys), Plan(scan, keys, (Rows(),), 1)):
                    same(reference.answer(plan), tested.answer(plan), 0, plan)


def content_decides_where_hashes_are_equal(factory, seeds):
    """All that a unit has has one hash."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (keyed_hash, sql_hash, row_cap):
            patch.setattr(module, "coefficients", lambda _, __, n: Coefficients((1,) + (0,) * n, (5, 1, 1, 1)))
        for seed in seeds:
            CHECKS[0](factory, seed)
