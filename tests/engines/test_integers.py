"""What leaves an engine are integers, by type and within their width; whatever fails on the way is one silent error."""

import traceback
from decimal import Decimal

import numpy as np
import pytest

from tacit.core.errors import EngineError
from tacit.engines.base import EngineAnswer
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.engines.sql.results import exact_answer
from tacit.query.plan.compiler import compiled
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.select.query import Key
from tacit.query.sql import parser
from tacit.testing.engines import engine, same, stable

KEY = "e" * 32
SHIFT = 2_000_000_000_000_000_100
WIDE = f"+ {SHIFT} - {SHIFT} + {SHIFT} - {SHIFT} + {SHIFT}"  # one value, computed in 128 bits
COLUMNS = {
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "hiv": {"type": "boolean"},
    "name": {"type": "text"},
    "city": {"type": "category", "values": ["x", "y"]},
}


def people(rows=1, alice=True, most=1):
    """Thirty people; Alice has so many rows, or none."""
    facts = {"table": {"name": "people", "unit": "person", "rows": most}, "columns": COLUMNS}
    cells = [{"person": i, "age": i, "hiv": i % 2 == 0, "name": f"p{i}", "city": "x"} for i in range(30)]
    its = {"person": 99, "hiv": True, "name": "alice", "city": "y"}
    return Table([*cells, *({**its, "age": i % 121} for i in range(rows if alice else 0))], facts)


def planned(text, table):
    return compiled(parser.parse(text, {"people": table}, {}).query, {"people": table.schema}).plan


@pytest.mark.parametrize(
    ("select", "group"),
    [
        (f"age DIV 20 {WIDE} AS k, COUNT(*)", " GROUP BY k"),
        (f"age DIV 20 {WIDE} AS k, COUNT(DISTINCT person)", " GROUP BY k"),
        (f"CASE WHEN age > 60 THEN age {WIDE} ELSE 0 END AS k, COUNT(*)", " GROUP BY k"),
        (f"MEDIAN(age {WIDE})", ""),
        (f"city, QUANTILE(age {WIDE}, 0.3)", " GROUP BY city"),
        (f"SUM(age {WIDE}), COUNT(age {WIDE}), AVG(age {WIDE})", ""),
        (f"MOD(age {WIDE}, 7) AS k, COUNT(*)", " GROUP BY k"),
    ],
)
def test_one_person_is_not_told_by_numbers_of_128_bits(select, group):
    """A driver gave such numbers as doubles: rows came into wrong cells, or the question failed, if there was a row."""
    text = f"SELECT {select} FROM people WHERE name = 'alice' AND hiv{group}"
    for there in (True, False):
        table = people(alice=there)
        plan = planned(text, table)
        with engine(Reference, [table], KEY) as reference, engine(DuckDB, [table], KEY) as tested:
            same(reference.answer(plan), tested.answer(plan), 0, plan)


def test_a_person_of_a_hundred_rows_moves_what_the_claim_says():
    """All rows of a unit came into one cell, or two: 100 times as far as its distance, squared."""
    answers = []
    for there in (True, False):
        table = people(100, there, most=100)
        plan = planned(f"SELECT age {WIDE} AS k, COUNT(DISTINCT person), COUNT(*) FROM people GROUP BY k", table)
        with engine(DuckDB, [table], KEY) as tested:
            answers.append(tested.answer(plan))
    assert plan.distance(UnitCount()).l2_squared == 100
    stable(plan, *answers, 0)
    assert int(sum((a - b) ** 2 for a, b in zip(*(answer.cells[0] for answer in answers), strict=True))) == 100


@pytest.mark.parametrize("ends", [(-(2**62), 2**62), (2**62 - 30, 2**62), (-(2**62), -(2**62) + 30)])
def test_bounds_near_the_widest_are_of_use(ends):
    """Also keys at both ends: their difference does not fit 64 bits."""
    facts = {"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "integer"}}}
    facts["columns"]["x"] |= {"lower": ends[0], "upper": ends[1]}
    table = Table([{"x": x} for x in (*ends, ends[0] + 7, ends[1] - 1, 0, None, 2**63 - 1, -(2**63))], facts)
    x = build.column(table.schema.scan(), "x")
    step = (ends[1] - ends[0]) // 6
    edges = ends, (ends[0], ends[0] + 8, ends[1] - 1, ends[1]), tuple(range(ends[0], ends[1] + step, step))
    measures = RowCount(), Total(x), Total(x, (-5, 5)), *(BinCounts(x, e) for e in edges)
    keys = ends, ends[::-1], (ends[0], ends[0] + 7, ends[1]), (ends[1] - 1, ends[1]), None
    with engine(Reference, [table], KEY) as reference, engine(DuckDB, [table], KEY) as tested:
        for values in keys:
            plan = QueryPlan(table.schema.scan(), (Key("x", x, values),), measures)
            same(reference.answer(plan), tested.answer(plan), 0, plan)


class Columns:
    """The columns that a statement of a small plan gives, to be spoilt."""

    def __init__(self, chosen=False):
        table = people()
        scan = table.schema.scan()
        age, name = build.column(scan, "age"), build.column(scan, "name")
        wide = Total(build.multiply(age, build.multiply(age, build.multiply(age, age))))
        key = (Key("age", age, None), Key("name", name, None)) if chosen else (Key("age", age, tuple(range(121))),)
        self.plan = QueryPlan(scan, key, (BinCounts(age, (0, 50, 120)), RowCount(), Total(age), wide))
        with engine(DuckDB, [table], KEY) as tested:
            ((self.statement, text, tables),) = tested._translated(self.plan)
            self.given = dict(tested._run(text, tables))
        self.answer = self.gathered({})

    def gathered(self, other):
        return exact_answer(self.plan, [(self.statement, self.given | other)])


WHOLE = ["k0", "b0", "n", "m1", "m2"]
SPOILT = {
    "doubles": lambda a: a.astype(np.float64),
    "single": lambda a: a.astype(np.float32),
    "unsigned": lambda a: a.astype(np.uint64),
    "booleans": lambda a: a.astype(np.bool_),
    "objects": lambda a: a.astype(object),
    "decimals": lambda a: np.array([Decimal(int(x)) for x in a], dtype=object),
    "text": lambda a: a.astype(str),
    "moments": lambda a: a.astype("datetime64[s]"),
    "complex": lambda a: a.astype(complex),
}


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize("name", WHOLE)
def test_a_column_of_another_type_is_refused(name, spoilt, chosen):
    columns = Columns(chosen)
    with pytest.raises(EngineError):
        columns.gathered({name: SPOILT[spoilt](np.ma.getdata(columns.given[name]))})


@pytest.mark.parametrize("digits", ["1.0", "1e3", "", "x", "-", "٣", " 1", "1" * 40, 1, 1.0, None, Decimal(1), b"1"])
def test_digits_are_digits(digits):
    columns = Columns()
    wide = columns.given["m3"].copy()
    wide[0] = digits
    with pytest.raises(EngineError):
        columns.gathered({"m3": wide})


@pytest.mark.parametrize("text", [1, b"x", None, 1.0])
def test_a_key_that_is_text_is_text(text):
    columns = Columns(chosen=True)
    found = columns.given["k1"].copy()
    found[0] = text
    with pytest.raises(EngineError):
        columns.gathered({"k1": found})


@pytest.mark.parametrize(
    ("name", "value"),
    [("k0", -1), ("k0", 121), ("k0", -(2**63)), ("k0", 2**63 - 1), ("b0", -1), ("b0", 121), ("n", -1), ("m1", -1)],
)
@pytest.mark.parametrize("chosen", [False, True])
def test_a_number_out_of_its_range_is_refused(name, value, chosen):
    """A place below 0 would be one from the end, of somebody else."""
    columns = Columns(chosen)
    spoilt = np.ma.getdata(columns.given[name]).astype(np.int64)
    spoilt[0] = value
    with pytest.raises(EngineError):
        columns.gathered({name: spoilt})


@pytest.mark.parametrize("name", ["k0", "n", "m1", "m2", "m3"])
def test_nothing_but_a_bin_is_missing(name):
    columns = Columns()
    given = np.ma.MaskedArray(columns.given[name])
    given[0] = np.ma.masked
    with pytest.raises(EngineError):
        columns.gathered({name: given})


def test_every_code_leaves_in_64_bits():
    """By the types that DuckDB gives the columns of a statement: no column is wider, whatever it was computed in."""
    table = people(most=5)
    scan = table.schema.scan()
    age = build.column(scan, "age")
    for terms in range(8):
        e = age
        for i in range(terms):
            e = (build.subtract if i % 2 else build.add)(e, build.constant(SHIFT))
        low, high = e.domain.lower, e.domain.upper
        histograms = (
            BinCounts(e, (low, high)),
            BinCounts(e, (low - 5000, low, high)),
            BinCounts(e, tuple(range(low, low + 9000, 3000))),
        )
        for values in (tuple(range(low, high + 1)), (high, low), None):
            plan = QueryPlan(
                scan, (Key("k", e, values),), (*histograms, RowCount(e), UnitCount(e), Total(e), Total(e, (0, 9))), 2
            )
            with engine(DuckDB, [table], KEY) as tested:
                for part, text, _ in tested._translated(plan):
                    kinds = dict(row[:2] for row in tested._database.execute(f"DESCRIBE {text}").fetchall())
                    digits = {name: "VARCHAR" for i in part.wide for name in [f"m{i}"]}
                    assert {name: kinds[name] for name in digits} == digits
                    assert {*kinds.values()} <= {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR"}


class Failing(Reference):
    """Fails in the way that a test sets."""

    error: BaseException

    def _answer(self, plan, content) -> EngineAnswer:
        try:
            raise ValueError("alice is here")
        except ValueError:
            raise self.error from None


@pytest.mark.parametrize(
    "error",
    [
        IndexError("index -100 is out of bounds"),
        OverflowError("alice"),
        RuntimeError("alice"),
        ValueError("alice"),
        ZeroDivisionError(),
        AssertionError("alice"),
        RecursionError(),
        MemoryError("alice"),
        UnicodeDecodeError("utf-8", b"alice", 0, 1, "alice"),
        OSError("alice"),
        StopIteration("alice"),
        Exception("alice"),
        KeyError("alice"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_fails_in_an_engine_is_one_error_that_says_nothing(error):
    table = people()
    with engine(Failing, [table], KEY) as tested:
        tested.error = error
        with pytest.raises(EngineError) as raised:
            tested.answer(QueryPlan(table.schema.scan(), (), (RowCount(),)))
    found = raised.value
    assert type(found) is EngineError and found.__cause__ is None and found.__context__ is None
    assert str(found) == str(EngineError()) and found.__dict__ == {}
    assert "alice" not in "".join(traceback.format_exception(found))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_who_stops_a_question_stops_it(error):
    table = people()
    with engine(Failing, [table], KEY) as tested:
        tested.error = error()
        with pytest.raises(error):
            tested.answer(QueryPlan(table.schema.scan(), (), (RowCount(),)))


@pytest.mark.parametrize("error", [RuntimeError("alice"), TypeError("alice"), MemoryError("alice")])
def test_whatever_duckdb_or_its_driver_raises_is_silent(error, monkeypatch):
    table = people()

    def fail(*_):
        raise error

    with engine(DuckDB, [table], KEY) as tested:
        monkeypatch.setattr(tested, "_run", fail)
        with pytest.raises(EngineError) as raised:
            tested.answer(QueryPlan(table.schema.scan(), (), (RowCount(),)))
    assert raised.value.__context__ is None
