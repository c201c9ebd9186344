"""DuckDB as an engine: formats, locks, copies, threads, forks, interrupts."""

import csv
import multiprocessing
import os
import random
import stat
import threading
import time
import traceback
import tracemalloc

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tacit.core.errors import BadData, BadParameter, EngineError
from tacit.engines.base import SparseMatrix
from tacit.engines.duckdb import engine as module
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.select.query import Key
from tacit.testing.engines import engine, key_of, same
from tacit.testing.hostile import TEXTS
from tacit.testing.typed import typed
from tacit.testing.worlds import World

KEY = "0123456789abcdef" * 2
SCHEMA = {
    "table": {"name": "t", "unit": "who", "rows": 2},
    "columns": {"age": {"type": "integer", "lower": 0, "upper": 120}, "note": {"type": "text"}},
}
ROWS = [{"who": i % 7, "age": 3 * i % 130, "note": TEXTS[i % len(TEXTS)]} for i in range(60)]


def plan(schema, *, groups=None):
    scan = schema.scan()
    age = build.column(scan, "age")
    key = Key("decade", build.bin_to(age, 10), tuple(range(13)))
    return QueryPlan(scan, (key,), (RowCount(), UnitCount(), Total(age), BinCounts(age, (0, 18, 65, 120))), groups)


def equal(table, copies=None):
    with engine(Reference, [table], KEY) as reference, DuckDB(copies) as tested:
        tested.register(table, KEY)
        for groups in (None, 1):
            asked = plan(table.schema, groups=groups)
            same(reference.answer(asked), tested.answer(asked), 0, asked)


@pytest.mark.parametrize("seed", range(30))
def test_a_file_means_what_the_reference_says(tmp_path, seed):
    world = World(random.Random(seed))
    schema, key = world.schema(), key_of(world)
    data = typed(world, schema, plain=True)
    path = tmp_path / f"it's [x] *{'.parquet' if seed % 3 == 0 else '.arrow' if seed % 3 == 1 else '.csv'}"
    if path.suffix == ".parquet":
        parquet.write_table(data, path)
    elif path.suffix == ".arrow":
        feather.write_feather(data, path, compression="uncompressed")
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(data.column_names)
            lines.writerows(zip(*(["" if v is None else v for v in c.to_pylist()] for c in data.columns), strict=True))
    table = Table(path, schema)
    with engine(Reference, [table], key) as reference, engine(DuckDB, [table], key) as tested:
        for _ in range(3):
            asked = world.plan(schema.scan())
            same(reference.answer(asked), tested.answer(asked), seed, asked)
        assert reference.fingerprint() == tested.fingerprint()


@pytest.mark.parametrize("kind", [DuckDB, Reference])
def test_a_fingerprint_is_the_same_in_every_version(kind):
    """Stored releases are found by it."""
    tables = [Table([{"who": 1, "age": age, "note": "x"}], _named(name)) for name, age in [("b", 30), ("a", 40)]]
    with engine(kind, tables, KEY) as tested:
        assert tested.fingerprint() == "a169d74ec061d00ce4e8dd6ec7e82547748df25e48aa376b0b2208a02ad56ed9"


def _named(name):
    return {**SCHEMA, "table": {"name": name, "unit": "who", "rows": 2}}


def test_rows_arrow_and_streams_are_one_table():
    arrow = pa.Table.from_pylist(ROWS)
    equal(Table(ROWS, SCHEMA))
    equal(Table(arrow, SCHEMA))
    equal(Table(arrow.to_batches()[0], SCHEMA))


def test_malformed_lines_of_a_csv_raise_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(
        b'who,age,note\r\n1,30,x\r\n2\r\n3,4,5,6\r\n4,"7",\xff\xfe\r\n5,50,"a ""b""\r\nc"\r\n6,1e2,"open\r\n'
    )
    schema = Table(ROWS, SCHEMA).schema
    with DuckDB() as tested:
        tested.register(Table(path, SCHEMA), KEY)
        assert tested.answer(QueryPlan(schema.scan(), (), (RowCount(),))).cells[0][0] >= 2


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\x00" * 100, b"PAR1" + b"secret" * 50 + b"PAR1"])
@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv"])
def test_a_broken_file_is_named_and_not_quoted(tmp_path, content, ending):
    path = tmp_path / f"t{ending}"
    path.write_bytes(content)
    with DuckDB() as tested, pytest.raises(BadData) as error:
        tested.register(Table(path, SCHEMA), KEY)
    assert "secret" not in "".join(traceback.format_exception(error.value))


def test_a_column_that_is_not_there_is_named(tmp_path):
    with DuckDB() as tested, pytest.raises(BadData, match="note"):
        tested.register(Table(pa.table({"who": [1], "age": [2]}), SCHEMA), KEY)


def test_a_file_that_is_swapped_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    load = module.load

    def swapping(*given):
        load(*given)
        parquet.write_table(pa.Table.from_pylist(ROWS[:5]), path)

    monkeypatch.setattr(module, "load", swapping)
    with DuckDB() as tested:
        with pytest.raises(BadData, match="changed"):
            tested.register(Table(path, SCHEMA), KEY)
        monkeypatch.setattr(module, "load", load)
        tested.register(Table(path, SCHEMA), KEY)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO '/tmp/out.csv'",
        "ATTACH '/tmp/other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "CREATE SECRET s (TYPE s3)",
        "FROM somebody",
    ],
)
def test_the_database_is_locked(statement):
    somebody = pa.table({"a": [1]})
    with DuckDB() as tested, pytest.raises(duckdb.Error):
        tested._database.execute(statement)
    assert len(somebody) == 1


def test_an_error_of_the_engine_says_nothing(monkeypatch):
    with engine(DuckDB, [Table(ROWS, SCHEMA)], KEY) as tested:
        monkeypatch.setattr(tested, "_translated", lambda _: [(None, "SELECT CAST(note AS INT) FROM t0", {})])
        with pytest.raises(EngineError) as error:
            tested.answer(plan(Table(ROWS, SCHEMA).schema))
    assert error.value.__context__ is None and error.value.__cause__ is None
    assert str(error.value) == "The engine failed. The charge is kept; ask again to complete it."


def test_copies_are_private_whole_and_used_again(tmp_path, monkeypatch):
    path, folder = tmp_path / "t.parquet", tmp_path / "copies"
    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    table = Table(path, SCHEMA)
    equal(table, folder)
    (own,) = folder.iterdir()
    (copy,) = own.iterdir()
    assert {stat.S_IMODE(place.stat().st_mode) for place in (folder, own)} == {0o700}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    made = []
    load = module.load
    monkeypatch.setattr(module, "load", lambda *given: (made.append(1), load(*given)))
    equal(table, folder)
    assert not made
    copy.write_bytes(copy.read_bytes()[:-100])
    equal(table, folder)
    (again,) = own.iterdir()
    assert made and again.name[:64] == copy.name[:64]
    with DuckDB(folder) as tested:
        tested.register(table, KEY[::-1])
        assert len(list(own.iterdir())) == 2
        tested.forget("t")
    assert list(own.iterdir()) == [again]


def test_copies_of_what_a_table_was_are_deleted(tmp_path):
    path, own = tmp_path / "t.parquet", tmp_path / "copies" / "t"
    for n in (10, 20):
        parquet.write_table(pa.Table.from_pylist(ROWS[:n]), path)
        with DuckDB(tmp_path / "copies") as tested:
            tested.register(Table(path, SCHEMA), KEY)
            (copy,) = own.iterdir()
        (own / "draft-of-the-dead").mkdir()
    with DuckDB(tmp_path / "copies") as tested:
        tested.register(Table(path, SCHEMA), KEY)
    assert list(own.iterdir()) == [copy]


def test_a_file_that_is_swapped_and_put_back_leaves_no_copy(tmp_path, monkeypatch):
    path, folder = tmp_path / "t.parquet", tmp_path / "copies"
    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    first, load = path.read_bytes(), module.load

    def swapping(*given):
        parquet.write_table(pa.Table.from_pylist(ROWS[:5]), path)
        load(*given)

    monkeypatch.setattr(module, "load", swapping)
    with DuckDB(folder) as tested, pytest.raises(BadData, match="changed"):
        tested.register(Table(path, SCHEMA), KEY)
    monkeypatch.setattr(module, "load", load)
    path.write_bytes(first)
    assert list((folder / "t").iterdir()) == []
    equal(Table(path, SCHEMA), folder)


@pytest.mark.parametrize("kept", [False, True])
def test_a_table_that_is_registered_again_is_read_again(tmp_path, kept):
    path = tmp_path / "t.parquet"
    with DuckDB(tmp_path / "copies" if kept else None) as tested:
        for n in (10, 10, 20):
            parquet.write_table(pa.Table.from_pylist([{"who": i, "age": 1, "note": ""} for i in range(n)]), path)
            table = Table(path, SCHEMA)
            tested.register(table, KEY)
            assert tested.answer(QueryPlan(table.schema.scan(), (), (RowCount(),))).cells[0].tolist() == [n]


def test_a_folder_that_others_can_open_is_refused(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    with pytest.raises(BadParameter, match="owner"):
        DuckDB(tmp_path / "open")


def test_tables_in_memory_are_never_written(tmp_path):
    equal(Table(ROWS, SCHEMA), tmp_path / "copies")
    assert list((tmp_path / "copies").iterdir()) == []


@pytest.mark.parametrize("key", ["", "0" * 31, "0" * 31 + "'", "G" * 32])
def test_a_key_is_hexadecimal(key):
    with DuckDB() as tested, pytest.raises(BadParameter, match="hexadecimal"):
        tested.register(Table(ROWS, SCHEMA), key)


def test_threads_share_an_engine():
    schema, found = Table(ROWS, SCHEMA).schema, []
    with engine(DuckDB, [Table(ROWS, SCHEMA)], KEY) as tested:
        asked = plan(schema, groups=1)
        expected = tested.answer(asked)
        threads = [threading.Thread(target=lambda: found.append(tested.answer(asked))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 8
    for answer in found:
        same(expected, answer, 0, asked)


def _child(tested, asked, queue):
    try:
        tested.answer(asked)
        queue.put("answered")
    except EngineError:
        queue.put("refused")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_does_not_hang():
    context = multiprocessing.get_context("fork")
    with engine(DuckDB, [Table(ROWS, SCHEMA)], KEY) as tested:
        queue = context.Queue()
        child = context.Process(target=_child, args=(tested, plan(Table(ROWS, SCHEMA).schema), queue))
        child.start()
        assert queue.get(timeout=20) == "refused"
        child.join(20)


class _Interrupted:
    """A database in the middle of a question when a key is pressed: DuckDB says so with a RuntimeError."""

    def cursor(self):
        return self

    def execute(self, statement):
        raise RuntimeError("Query interrupted")

    def close(self):
        pass


def test_an_interrupt_leaves_the_engine_as_it_was(monkeypatch):
    schema = Table(ROWS, SCHEMA).schema
    with engine(DuckDB, [Table(ROWS, SCHEMA)], KEY) as tested:
        expected = tested.answer(plan(schema))
        with monkeypatch.context() as patch:
            patch.setattr(tested, "_database", _Interrupted())
            with pytest.raises(KeyboardInterrupt):
                tested.answer(plan(schema))
        same(expected, tested.answer(plan(schema)), 0, plan(schema))


@pytest.mark.parametrize("seed", range(10))
def test_scattered_rows_are_those_of_an_array(seed):
    random = np.random.default_rng(seed)
    shape, count = (7, 5), seed * 4
    places, values = random.integers(0, 35, count), random.integers(1, 9, count)
    dense = np.zeros(35, np.int64)
    np.add.at(dense, places, values)
    rows, at = SparseMatrix(shape, places, values), random.permutation(7)[: seed % 8]
    assert np.array_equal(rows, dense.reshape(shape))
    assert np.array_equal(rows[at], dense.reshape(shape)[at])


def test_memory_does_not_grow_with_keys_that_nobody_will_see():
    """200,000 keys of a thousand bins each: laid out they would be 1.6 GB."""
    facts = {"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "integer", "lower": 0, "upper": 999}}}
    facts["columns"]["note"] = {"type": "text"}
    size = 200_000
    table = Table(pa.table({"x": np.arange(size) % 1000, "note": [f"n{i:06}" for i in range(size)]}), facts)
    note, x = (build.column(table.schema.scan(), name) for name in ("note", "x"))
    asked = QueryPlan(table.schema.scan(), (Key("note", note, None),), (BinCounts(x, tuple(range(1001))),))
    with DuckDB() as tested:
        tested.register(table, KEY)
        tracemalloc.start()
        answer = tested.answer(asked)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 300e6
    assert answer.keys[5] == ("n000005",)
    assert np.flatnonzero(answer.cells[0][np.array([1005])][0]).tolist() == [5]


def test_text_that_is_no_label_takes_no_longer():
    """DuckDB takes forty microseconds to say of one text that it is none of a thousand labels."""
    labels, size = [f"label {i:04}" for i in range(1000)], 100_000
    facts = {"table": {"name": "t", "unit": "row"}, "columns": {"x": {"type": "category", "values": labels}}}
    spent = []
    for word in ("label", "other"):
        table = Table(pa.table({"x": [f"{word} {i % 1000:04}" for i in range(size)]}), facts)
        with DuckDB() as tested:
            start = time.process_time()
            tested.register(table, KEY)
            spent.append(time.process_time() - start)
            counted = tested.answer(
                QueryPlan(table.schema.scan(), (), (RowCount(build.column(table.schema.scan(), "x")),))
            )
            assert counted.cells[0].tolist() == [size if word == "label" else 0]
    assert spent[1] < 5 * spent[0] + 0.5


@pytest.mark.parametrize("keys", [range(0, 97_000, 97), [f"it's {i}" for i in range(1000)]], ids=["numbers", "texts"])
def test_long_lookups_find_what_is_there(keys):
    kind = {"type": "integer", "lower": 0, "upper": 10**5} if isinstance(keys, range) else {"type": "text"}
    given = [{"x": key} for key in (*keys, *keys[:5], 5 if isinstance(keys, range) else "it", None)]
    table = Table(given, {"table": {"name": "t", "unit": "row"}, "columns": {"x": kind}})
    found = build.lookup(build.column(table.schema.scan(), "x"), {key: i % 7 for i, key in enumerate(keys)})
    asked = QueryPlan(table.schema.scan(), (), (RowCount(found), Total(found)))
    with engine(Reference, [table], KEY) as reference, engine(DuckDB, [table], KEY) as tested:
        same(reference.answer(asked), tested.answer(asked), 0, asked)
        assert tested.answer(asked).cells[0].tolist() == [1005]
