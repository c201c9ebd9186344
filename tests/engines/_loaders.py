"""One logical table in every form that a loader reads, and questions that show each cell of each row."""

import csv
import datetime
import re
import struct

import duckdb
import pandas
import polars
import pyarrow as pa
from pyarrow import feather, parquet

from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.relation import build
from tacit.query.schema.schema import Schema
from tacit.query.select.query import Key

KEY = "0123456789abcdef" * 2
NAN, INF = float("nan"), float("inf")
LABELS = ["red", "green", "blue"]
EPOCH = datetime.datetime(1970, 1, 1)
SCHEMA = Schema.load(
    {
        "table": {"name": "t", "unit": "who", "rows": 2},
        "columns": {
            "i": {"type": "integer", "lower": -50, "upper": 1000},
            "n": {"type": "integer", "lower": 0, "upper": 9},
            "r": {"type": "real", "lower": -1000, "upper": 1000, "grid": "0.5"},
            "f": {"type": "real", "lower": 0, "upper": 100, "grid": "1"},
            "b": {"type": "boolean"},
            "c": {"type": "category", "values": LABELS},
            "d": {"type": "date", "lower": datetime.date(2000, 1, 1), "upper": datetime.date(2030, 1, 1)},
            "m": {"type": "timestamp", "lower": EPOCH, "upper": datetime.datetime(2030, 1, 1)},
            "s": {"type": "text"},
        },
    }
)
TYPES = pa.schema(
    [
        ("who", pa.int64()),
        ("i", pa.int64()),
        ("n", pa.int32()),
        ("r", pa.float64()),
        ("f", pa.float32()),
        ("b", pa.bool_()),
        ("c", pa.string()),
        ("d", pa.date32()),
        ("m", pa.timestamp("us")),
        ("s", pa.string()),
    ]
)


def _day(i):
    return datetime.date(2020, 1, 1) + datetime.timedelta(days=i)


def _row(who, i):
    """A row whose cells are all within their bounds, and whose text is its own."""
    at = datetime.datetime(2020, 1, 1, i % 24)
    cells = [i, i % 10, i / 2, float(i), i % 3 == 0, LABELS[i % 3], _day(i), at, f"s{i:02}"]
    return dict(zip(TYPES.names, [who, *cells], strict=True))


CELLS = TYPES.names[1:-1]  # of a row, but for the text by which it is known
PLAIN = [_row(i * 7 % 25, i) for i in range(40)]  # some have one row, others two
BASES = {
    "plain": PLAIN,
    "with NaN": [row | ({"r": NAN, "f": NAN} if row["i"] % 2 else {}) for row in PLAIN],
    "nothing but NaN": [row | {"r": NAN, "f": NAN} for row in PLAIN],
    "with missing cells": [row | {n: None for n in CELLS if (row["i"] + ord(n)) % 3 == 0} for row in PLAIN],
    "at the bounds": [row | {"i": 1000, "n": 0, "r": -0.0, "f": 100.0, "c": "blue"} for row in PLAIN],
    "of one row": PLAIN[:1],
}
HOSTILE = {  # the cells of one more person, by kinds: what others' cells mean is not to change
    "missing": dict.fromkeys(CELLS),
    "NaN": {"r": NAN, "f": NAN, "c": "NaN"},
    "infinite": {"r": INF, "f": INF, "c": "inf"},
    "minus infinity": {"r": -INF, "f": -INF},
    "minus zero": {"r": -0.0, "f": -0.0},
    "above": {"i": 1001, "n": 10, "r": 1000.5, "f": 101.0, "c": "zz", "d": datetime.date(2030, 1, 2)},
    "below": {"i": -51, "n": -1, "r": -1000.5, "f": -1.0, "c": "a", "d": datetime.date(1999, 12, 31)},
    "huge": {"i": 2**63 - 1, "n": 2**31 - 1, "r": 1.7e308, "f": 3.4e38, "c": "z" * 3000},
    "hugely negative": {"i": -(2**63) + 1, "n": -(2**31), "r": -1.7e308, "f": -3.4e38, "d": datetime.date(1, 1, 1)},
    "subnormal": {"r": 5e-324, "f": 1e-45},
    "of no label": {"c": "it's\" %_\\"},
    "far in time": {"m": datetime.datetime(9999, 12, 31, 23, 59, 59), "d": datetime.date(9999, 12, 31)},
    "long ago": {"m": datetime.datetime(1, 1, 1), "d": datetime.date(1, 1, 1)},
}


def neighbours(kind):
    """Rows of one person more."""
    return [_row(99, 7) | HOSTILE[kind] | {"s": f"new{i}"} for i in range(2)]


def arrow(rows):
    return pa.Table.from_pylist(rows, TYPES)


def plans():
    """What every row holds, one by one, as its text is its own; and what all of them hold together."""
    scan = SCHEMA.scan()
    x = {name: build.column(scan, name) for name, _ in SCHEMA.columns}
    since = build.subtract(x["m"], build.constant(EPOCH))
    days = build.subtract(x["d"], build.constant(datetime.date(2000, 1, 1)))
    places = build.lookup(x["c"], dict(zip(LABELS, (1, 5, 7), strict=True)))
    yes = build.case([(x["b"], build.constant(1))], build.constant(0))
    numbers = [x["i"], x["n"], x["r"], x["f"], places, yes, days, since]
    each = *map(RowCount, [*x.values()]), *map(Total, numbers)
    whole = (*each, UnitCount(x["r"]), BinCounts(x["r"], (-2000, 0, 1, 2000)), Total(x["f"], (0, 50)))
    key = Key("c", x["c"], tuple(range(len(LABELS)))), Key("b", x["b"], (0, 1))
    return [
        QueryPlan(scan, (Key("s", x["s"], None),), each),
        QueryPlan(scan, (), whole),
        QueryPlan(scan, key, whole, 1),
    ]


# Writers of Parquet, and other forms: each a function of a table of Arrow and of a path without its ending.

_DELTA = dict.fromkeys(("who", "i", "n", "d"), "DELTA_BINARY_PACKED") | dict.fromkeys("rf", "BYTE_STREAM_SPLIT")
_DELTA |= {"c": "DELTA_LENGTH_BYTE_ARRAY", "s": "DELTA_BYTE_ARRAY"}
_ARROW = {
    "as it is": {},
    "without statistics": {"write_statistics": False},
    "in row groups": {"row_group_size": 7},
    "in row groups without statistics": {"row_group_size": 7, "write_statistics": False},
    "without dictionaries": {"use_dictionary": False, "row_group_size": 9},
    "in deltas": {"use_dictionary": False, "column_encoding": _DELTA, "row_group_size": 11},
    "in other pages": {"data_page_version": "2.0", "compression": "zstd", "row_group_size": 13},
    "with indexed pages": {"write_page_index": True, "max_rows_per_page": 3, "row_group_size": 20},
    "of old": {"version": "1.0", "store_schema": False},
    "with filters": {"bloom_filter_options": dict.fromkeys(("who", "i", "c", "s"), True)},
}
_POLARS = {"as it is": {}, "without statistics": {"statistics": False}}
_POLARS |= {"with all": {"statistics": "full", "row_group_size": 8}}
_DUCKDB = {"as it is": "", "in row groups": ", ROW_GROUP_SIZE 2048", "of its own": ", PARQUET_VERSION v2"}


def _by_arrow(options):
    return lambda table, path: parquet.write_table(table, path, **options)


def _by_polars(options):
    return lambda table, path: polars.from_arrow(table).write_parquet(path, **options)


def _by_duckdb(options):
    def write(table, path):
        with duckdb.connect() as database:
            database.register("given", table)
            database.execute(f"COPY given TO '{path}' (FORMAT parquet{options})")

    return write


PARQUET = {f"pyarrow {name}": _by_arrow(options) for name, options in _ARROW.items()}
PARQUET |= {f"Polars {name}": _by_polars(options) for name, options in _POLARS.items()}
PARQUET |= {f"DuckDB {name}": _by_duckdb(options) for name, options in _DUCKDB.items()}


def _written(table, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(table.column_names)
        lines.writerows([map(_cell, row.values()) for row in table.to_pylist()])


def _cell(cell):
    """Text that means the same; infinity is no number there, but what is too large is."""
    return {None: "", INF: "1e999", -INF: "-1e999"}.get(cell, cell)


FILES = {form: (write, "parquet") for form, write in PARQUET.items()}
FILES |= {
    "Feather": (lambda table, path: feather.write_feather(table, path, chunksize=7), "feather"),
    "Feather as it is": (lambda table, path: feather.write_feather(table, path, compression="uncompressed"), "arrow"),
    "CSV": (_written, "csv"),
}
MEMORY = {
    "Arrow": lambda table: table,
    "chunks of Arrow": lambda table: pa.concat_tables([table[:3], table[3:]]),
    "dictionaries of Arrow": lambda table: table.set_column(6, "c", table["c"].dictionary_encode()),
    "pandas": lambda table: table.to_pandas(),
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pandas.ArrowDtype),
    "Polars": polars.from_arrow,
    "a list": lambda table: table.to_pylist(),
}
FORMS = [*FILES, *MEMORY]


def stored(form, rows, folder):
    """The rows in this form: a file, or a table in memory."""
    table = arrow(rows)
    if form in MEMORY:
        return MEMORY[form](table)
    write, ending = FILES[form]
    path = folder / f"t.{ending}"
    write(table, path)
    return path


# Footers that lie.

_PACKED = {"i": "<q", "n": "<i", "r": "<d", "f": "<f", "d": "<i"}
_NULLS = re.compile(rb"\x16[\x00-\x7e]\x28")  # i64 null_count, the field after min; then max_value


def lying(path, ends, nulls=None):
    """Make the footer of a file of pyarrow say that numbers are between these ends, and that so many are missing."""
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - size], content[-8 - size : -8]
    for name, *claimed, _ in claims(path):
        for old, new in zip(claimed, ends, strict=True):
            if name in _PACKED and old is not None:
                steps = (old - EPOCH.date()).days if name == "d" else old
                one, two = (struct.pack(_PACKED[name], end) for end in (steps, new))
                length = bytes([len(one)])  # of a text of bytes, before it
                footer = footer.replace(length + one, length + two)
    if nulls is not None:
        footer = _NULLS.sub(b"\x16" + bytes([2 * nulls]) + b"\x28", footer)
    path.write_bytes(body + footer + content[-8:])


def claims(path):
    """What the footer of a file says of the columns of each row group: ends, and how many cells are missing."""
    known = parquet.ParquetFile(path).metadata
    columns = [known.row_group(g).column(i) for g in range(known.num_row_groups) for i in range(known.num_columns)]
    statistics = [(c.path_in_schema, c.statistics) for c in columns]
    return [(name, *((t.min, t.max) if t.has_min_max else (None, None)), t.null_count) for name, t in statistics]
