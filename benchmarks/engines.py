"""What a question costs where the data is, against the same question by hand, and how that grows with the table.

    python benchmarks/engines.py [--quick] [--large] [--tumult PYTHON] [postgres] [spark] [duckdb]

Purchases by skewed users, of whom at most 10 rows are used.  `bare` bounds the rows by MD5, and then asks on raw
columns, in the least SQL; `its own` does so with a hash of the database's own in the place of MD5, which is cheaper and
which no other engine knows.  Times are CPU seconds of the database's processes and of our own, the least of several, in
turns; each call connects anew.

- PostgreSQL, 10^6 rows: `unbounded` asks without any bound; where the unit is a row there is nothing to bound, `bare`
  is the raw question, and `clamped` is bare with numbers that are clamped to their bounds, as ours are.
- Spark with two threads, 10^6 and 10^7 rows in a Parquet file: tacit bounds the rows once (registration), and `with
  registration` is what the first question costs that way; `kept` is bare SQL on the bounded table that tacit keeps.
  With an interpreter that has it (see tables_tumult.py), Tumult Analytics is asked some of them, of the larger table.
- DuckDB, 10^6 and 10^7 rows, and with --large 10^8.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import psycopg
from pyarrow import parquet
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Shown
from tables import COLUMNS, KEY, apart, make, peer, plans

from tacit.engines.postgres.engine import Postgres
from tacit.query.python.table import Table
from tacit.testing.postgres import Server

MOST = {"PostgreSQL": 1.2, "Spark": 1.3}  # times bare
MOST_MEMORY = 1.1  # times that of a tenth of the rows
OVER_TUMULT = 5
ASKED_OF_TUMULT = ("count", "count by region", "sum, mean of spend by region")  # each takes minutes
ITS = "bare count by a hash of Spark's own"
_RAW = '"user", age, region, product, spend'
_BOUNDED = (
    f'SELECT {_RAW} FROM (SELECT {_RAW}, ROW_NUMBER() OVER (PARTITION BY "user" ORDER BY {{}}) AS place FROM purchases)'
    " AS q WHERE place <= 10"
)
_CLAMPED = (
    'SELECT "user", LEAST(GREATEST(age, 0), 120) AS age, region, product,'
    " LEAST(GREATEST(spend, CAST(0 AS FLOAT8)), CAST(500 AS FLOAT8)) AS spend FROM purchases"
)
MD5 = f"MD5(CONCAT('{KEY}|', \"user\", '|', age, ',', region, ',', product, ',', spend))"
ITS_OWN = f"HASH_RECORD_EXTENDED(ROW({_RAW}), 12345678901)"
SQL = {
    "count": "SELECT COUNT(*) FROM b",
    "count by region": "SELECT region, COUNT(*) FROM b GROUP BY 1",
    "count by product": "SELECT product, COUNT(*) FROM b GROUP BY 1",
    "sum, mean of spend by region": "SELECT region, COUNT(spend), SUM(spend) FROM b GROUP BY 1",
    "quartiles of age": "SELECT age, COUNT(*) FROM b GROUP BY 1",
    "quartiles of age by region": "SELECT region, age, COUNT(*) FROM b GROUP BY 1, 2",
    "users by region": 'SELECT region, COUNT(*) FROM (SELECT DISTINCT "user", region FROM b) AS q GROUP BY 1',
}


def filled(server: Server, path: Path) -> None:
    """The purchases, in a table of the server's."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute('CREATE TABLE purchases ("user" int8, age int4, region text, product text, spend float8)')
        with connection.cursor().copy("COPY purchases FROM STDIN") as copy:
            for batch in parquet.ParquetFile(path).iter_batches():
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
        connection.execute("VACUUM ANALYZE purchases")


def cpu(server: Server) -> float:
    """CPU seconds of the server's processes that have ended, and of ours."""
    ended = psutil.Process(server.pid).cpu_times()
    return float(ended.children_user + ended.children_system) + time.process_time()


def least(server: Server, calls: list[Callable[[], Any]], turns: int, times: int) -> list[float]:
    """The least CPU seconds of each call; each has a connection of its own, which is over when it returns.

    The system tells them in hundredths of a second, so a call is made so many times.
    """
    best = [float("inf")] * len(calls)
    for _ in range(turns):
        for i, call in enumerate(calls):
            start = cpu(server)
            for _ in range(times):
                call()
            time.sleep(0.1)  # until the server has seen the last of it
            best[i] = min(best[i], (cpu(server) - start) / times)
    return best


def bare(server: Server, statement: str, rows: str) -> Callable[[], Any]:
    def ask() -> Any:
        with psycopg.connect(server.url()) as connection:
            return connection.execute(f"WITH b AS ({rows}) {statement}").fetchall()

    return ask


def postgres(console: Console, rows: int) -> None:
    """Each question, by tacit and by hand."""
    with tempfile.TemporaryDirectory() as folder, Server(max_parallel_workers_per_gather=0) as server:
        path = Path(folder) / "purchases.parquet"
        make(rows, path)
        filled(server, path)
        for unit, turns in (("user", 3), ("row", 6)):
            facts = {"name": "t", "unit": unit, "rows": 10 if unit == "user" else 1}
            table = Table(server.url(table="purchases"), {"table": facts, "columns": COLUMNS})
            plain = f"SELECT {_RAW} FROM purchases"
            ways = {"bare": plain, "clamped": _CLAMPED}
            if unit == "user":
                ways = {"bare": _BOUNDED.format(MD5), "its own": _BOUNDED.format(ITS_OWN), "unbounded": plain}
            shown = Shown(title=f"PostgreSQL, {rows:,} rows, the unit is a {unit}: CPU milliseconds", box=SIMPLE)
            most = f"<= {MOST['PostgreSQL']}"
            for heading in ("question", "tacit", *ways, *(f"tacit/{way}" for way in ways if way != "unbounded"), most):
                shown.add_column(heading, justify="left" if heading == "question" else "right")
            with Postgres() as engine:
                engine.register(table, KEY)
                for name, plan in plans(table).items():
                    if name not in SQL:
                        continue
                    calls = [lambda plan=plan: engine.answer(plan)]  # type: ignore[misc]
                    calls += [bare(server, SQL[name], text) for text in ways.values()]
                    own, *others = least(server, calls, turns, 1 if unit == "user" else 5)
                    times = dict(zip(ways, others, strict=True))
                    ratios = [f"{own / t:.2f}" for way, t in times.items() if way != "unbounded"]
                    told = "yes" if own <= MOST["PostgreSQL"] * times["bare"] else "NO"
                    shown.add_row(name, *(f"{1e3 * t:.0f}" for t in (own, *others)), *ratios, told)
                (seconds,) = least(server, [engine.fingerprint], 1, 1)
            console.print(shown)
            console.print(f"fingerprint, when the table has changed: {seconds:.2f} CPU seconds\n")


def spark(console: Console, sizes: list[int], turns: int) -> None:
    """Each question, by tacit and by hand; one size after the other, since a Java machine takes all there is."""
    found, tumult = {}, {}
    asked = json.dumps({name: text.replace('"user"', "user") for name, text in SQL.items()})
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "purchases.parquet"
            make(rows, path)
            command = [sys.executable, str(Path(__file__).with_name("_spark.py")), str(path), str(turns), asked]
            quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "env": {**os.environ, "PYTHONWARNINGS": "ignore"}}
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, **quiet)
            found[rows] = json.loads(done.stdout.splitlines()[-1])
            if rows == sizes[-1]:
                tumult = peer("Tumult", path, *ASKED_OF_TUMULT)
        shown = Shown(title=f"Spark, {rows:,} rows, the unit is a user: CPU seconds", box=SIMPLE)
        headings = ["question", "tacit", "kept", "bare", "tacit/bare", "with registration", f"<= {MOST['Spark']}"]
        for heading in (*headings, *(["Tumult", "Tumult/tacit", f">= {OVER_TUMULT}"] if tumult else [])):
            shown.add_column(heading, justify="left" if heading == "question" else "right")
        first = found[rows]["registration"]
        for name in SQL:
            own, bar, kept = found[rows][name]
            cells = [f"{own:.2f}", f"{kept:.2f}", f"{bar:.2f}", f"{own / bar:.2f}", f"{(first + own) / bar:.2f}"]
            cells.append("yes" if first + own <= MOST["Spark"] * bar else "NO")
            if name in tumult:
                times, with_first = tumult[name] / own, tumult[name] / (first + own)
                cells += [f"{tumult[name]:.2f}", f"{times:.0f} ({with_first:.1f} with registration)"]
                cells.append("yes" if with_first >= OVER_TUMULT else "NO")
            shown.add_row(name, *cells)
        console.print(shown)
        told = [f"{name} {found[rows][name]:.2f} s" for name in ("registration", "registration of a frame", ITS)]
        console.print(f"{', '.join(told)}\n")
    ours = {rows: {name: t[0] if isinstance(t, list) else t for name, t in found[rows].items()} for rows in sizes}
    grown(console, "Spark", ours)
    for small, large in pairwise(sizes):
        times = found[large]["memory"] / found[small]["memory"]
        verdict = "yes" if times <= MOST_MEMORY else "NO"
        console.print(f"memory of our own process: {times:.2f} times, <= {MOST_MEMORY}: {verdict}\n")


def duckdb(console: Console, sizes: list[int]) -> None:
    """What grows with the table, and how."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            path = Path(folder) / f"{rows}.parquet"
            make(rows, path)
            found[rows] = {name: t for name, t in apart(path, "user", "tacit").items() if not name.startswith("bare")}
            found[rows]["registration"] = found[rows].pop("first")
            path.unlink()
    grown(console, "DuckDB", found)


def grown(console: Console, engine: str, found: dict[int, dict[str, float]]) -> None:
    """Each figure as the table grows."""
    sizes = list(found)
    shown = Shown(title=f"{engine} as the table grows: CPU milliseconds, and how many times those before", box=SIMPLE)
    shown.add_column("question")
    for rows in sizes:
        shown.add_column(f"{rows:,} rows", justify="right")
    for name in (name for name in found[sizes[0]] if name != "memory"):
        cells = [f"{1e3 * found[sizes[0]][name]:,.1f}"]
        for small, large in pairwise(sizes):
            cells.append(f"{1e3 * found[large][name]:,.1f} ({found[large][name] / found[small][name]:.1f}x)")
        shown.add_row(name, *cells)
    shown.add_row("memory, MB", *(f"{found[rows]['memory']:,.0f}" for rows in sizes))
    console.print(shown)


def main() -> None:
    quick, large = "--quick" in sys.argv, "--large" in sys.argv
    wanted = {"postgres", "spark", "duckdb"} & set(sys.argv) or {"postgres", "spark", "duckdb"}
    sizes = [10**5, 10**6] if quick else [10**6, 10**7]
    console = Console()
    console.width = max(console.width, 140)
    if "postgres" in wanted:
        postgres(console, sizes[0])
    if "duckdb" in wanted:
        duckdb(console, [*sizes, *([10**8] if large else [])])
    if "spark" in wanted:
        spark(console, sizes, 2)


if __name__ == "__main__":
    main()
