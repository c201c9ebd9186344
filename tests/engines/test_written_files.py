"""One table as the world writes it: delimiters, encodings, compressed files, folders; engines read the same rows."""

import datetime
import gzip
from collections import Counter

import pandas
import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.core.errors import BadData, BadSchema
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.rows.reference import Reference
from tacit.engines.rows.sources import DataSource
from tacit.query.python.table import Table
from tacit.query.schema.schema import Schema
from tacit.testing.engines import engine

KEY = "0123456789abcdef" * 2
COLUMNS = {
    "city": {"type": "category", "values": ["Köln", "Łódź", "München"]},
    "cost": {"type": "real", "lower": 0, "upper": 100, "grid": "0.25"},
    "paid": {"type": "boolean", "true": ["J"], "false": ["N"]},
    "day": {"type": "date", "format": "%d.%m.%Y"},
}
CITIES = ("Köln", "München", "k.A.")
LINES = [
    (f"p{i % 7}" if i % 5 else "NA", CITIES[i % 3], f"{i % 90},5", "JN"[i % 2], f"{1 + i % 28}.2.2024")
    for i in range(200)
]


def schema(**table):
    facts = {"name": "t", "unit": "who", "rows": 40, "missing": ["NA", "k.A."], "decimal": ",", **table}
    return Schema.load({"table": facts, "columns": COLUMNS})


def text(delimiter=";", ending="\r\n"):
    cells = [("who", *COLUMNS), *LINES]
    return "".join(delimiter.join(f'"{c}"' if delimiter in c else c for c in line) + ending for line in cells)


def held(factory, path, asked):
    """The rows that an engine has, and how often."""
    with engine(factory, [Table(path, asked)], KEY) as tested:
        if isinstance(tested, Reference):
            rows = [(unit, *row.values()) for unit, row in tested._tables["t"][0]]
        else:
            rows = tested._database.execute(f"FROM {tested._tables['t'].source.sql()}").fetchall()
        return Counter((str(row[0]), *row[1:]) for row in rows)


def expected():
    """The rows, by hand."""
    labels = COLUMNS["city"]["values"]
    epoch = datetime.date(1970, 1, 1)
    return Counter(
        (
            who,
            labels.index(city) if city in labels else None,
            int(float(cost.replace(",", ".")) * 4),
            int(paid == "J"),
            (datetime.date(2024, 2, int(day.split(".")[0])) - epoch).days,
        )
        for who, city, cost, paid, day in LINES
        if who != "NA"
    )


def write(path, content):
    path.write_bytes(content)
    return path


def zstd(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


FORMS = {
    "Excel": ("t.csv", lambda: b"\xef\xbb\xbf" + text().encode(), {"delimiter": ";"}),
    "Windows": ("t.csv", lambda: text().encode("cp1252"), {"delimiter": ";", "encoding": "cp1252"}),
    "UTF-16": ("t.csv", lambda: text("\t").encode("utf-16"), {"delimiter": "\t", "encoding": "utf-16"}),
    "tabs": ("t.tsv", lambda: text("\t", "\n").encode(), {}),
    "bars": ("t.csv", lambda: text("|").encode(), {"delimiter": "|"}),
    "quoted commas": ("t.csv", lambda: text(",").encode(), {}),
    "gzip": ("t.csv.gz", lambda: gzip.compress(text().encode()), {"delimiter": ";"}),
    "gzip in two": (
        "t.csv.gz",
        lambda: gzip.compress(text()[:99].encode()) + gzip.compress(text()[99:].encode()),
        {"delimiter": ";"},
    ),
    "zstd and Windows": ("t.tsv.zst", lambda: zstd(text("\t").encode("cp1252")), {"encoding": "cp1252"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_means_the_same_in_every_form(tmp_path, form):
    name, content, facts = FORMS[form]
    path = write(tmp_path / name, content())
    asked = schema(**facts)
    assert held(DuckDB, path, asked) == held(Reference, path, asked) == expected()
    assert len({DataSource(path, each).fingerprint for each in (asked, schema(delimiter="|", encoding="latin-1"))}) == 2


def test_a_byte_that_an_encoding_lacks_makes_its_own_cell_missing(tmp_path):
    path = write(tmp_path / "t.csv", text().encode("cp1252").replace(b"M\xfcnchen", b"M\x81nchen", 1))
    asked = schema(delimiter=";", encoding="cp1252")
    rows = held(DuckDB, path, asked)
    assert rows == held(Reference, path, asked) and rows.total() == expected().total()
    assert (rows - expected()).total() == 1 and next(iter(rows - expected()))[1] is None


def test_a_folder_and_a_pattern_are_one_table(tmp_path):
    (tmp_path / "v").mkdir()
    head, *lines = text().splitlines(keepends=True)
    for i, part in enumerate((lines[:50], lines[50:51], lines[51:])):
        write(
            tmp_path / "v" / f"{i}.csv{'.gz' * (i == 1)}",
            gzip.compress("".join((head, *part)).encode()) if i == 1 else "".join((head, *part)).encode(),
        )
    write(tmp_path / "v" / "_SUCCESS", b"")
    asked = schema(delimiter=";")
    for data in (tmp_path / "v", f"{tmp_path}/v/*.csv*"):
        assert held(DuckDB, data, asked) == held(Reference, data, asked) == expected()
    first = DataSource(Table(tmp_path / "v", asked).data, asked)
    write(tmp_path / "v" / "0.csv", head.encode())
    assert not first.unchanged()
    with engine(
        DuckDB, [Table(tmp_path / "v", Schema.load({"table": {"name": "t", "unit": "row", "delimiter": ";"}}))], KEY
    ) as rows:
        assert rows._database.execute("SELECT COUNT(*) FROM t0").fetchone() == (150,)  # fmt: skip


def test_files_of_different_types_are_one_table(tmp_path):
    (tmp_path / "v").mkdir()
    asked = Schema.load(
        {
            "table": {"name": "t", "unit": "who", "rows": 9},
            "columns": {"x": {"type": "integer", "lower": 0, "upper": 9}},
        }
    )
    for i, kinds in enumerate(((pa.int64(), pa.int8()), (pa.string(), pa.string()), (pa.float64(), pa.float64()))):
        own = [pa.array(["1", "2", "7"]).cast(kind) for kind in kinds]
        parquet.write_table(pa.table(own, ["who", "x"]), tmp_path / "v" / f"{i}.parquet")
    rows = held(DuckDB, tmp_path / "v", asked)
    assert rows == held(Reference, tmp_path / "v", asked) == Counter({(n, int(n)): 3 for n in "127"})


def test_objects_of_pandas_are_read_once():
    cells = {
        "who": [1, "NA", 2.0],
        "city": ["Köln", "k.A.", 3],
        "cost": ["1,5", 2.25, "NA"],
        "paid": ["J", True, 1],
        "day": ["1.2.2024", datetime.date(2024, 2, 2), "x"],
    }
    frame = pandas.DataFrame(cells, dtype=object)
    rows = held(DuckDB, frame, schema())
    assert rows == held(Reference, frame, schema())
    assert rows == Counter({("1", 0, 6, 1, 19754): 1, ("2", None, None, None, None): 1})


@pytest.mark.parametrize("content", [b"\x1f\x8b\x08", gzip.compress(text().encode())[:-40], b"plain"])
def test_a_broken_file_is_refused_without_its_content(tmp_path, content):
    path = write(tmp_path / "t.csv.gz", content)
    with pytest.raises(BadData, match="cannot be unpacked"), DuckDB() as tested:
        tested.register(Table(path, schema(delimiter=";")), KEY)


def test_folders_that_cannot_be_meant_are_refused(tmp_path):
    for name in ("empty", "nested/deep", "mixed"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("a.csv", "b.parquet"):
        write(tmp_path / "mixed" / name, b"")
    for data, says in (
        ("empty", "it has 0"),
        ("nested", "write a pattern"),
        ("mixed", "files of one kind"),
        ("no*.csv", "it has 0"),
    ):
        with pytest.raises(BadSchema, match=says):
            Table(f"{tmp_path}/{data}", schema())  # fmt: skip
