"""What a question costs where the data is: PostgreSQL against the same question by hand, and DuckDB as tables grow.

    python benchmarks/engines.py [--quick] [--large]

PostgreSQL has 10^6 purchases by skewed users, of whom at most 10 rows are used: `bare` bounds the rows by a hash too,
and then asks on raw columns, in the least SQL; `unbounded` asks without any bound.  Where the unit is a row there is
nothing to bound, `bare` is the raw question, and no target is set.  Times are CPU seconds of the server's processes
and of our own, the least of several, in turns.  DuckDB grows from 10^6 rows to 10^7, and with --large to 10^8.
"""

from __future__ import annotations

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
from tables import COLUMNS, KEY, apart, make, plans

from tacit.engines.postgres import Postgres
from tacit.tables.table import Table
from tacit.testing.postgres import Server

MOST = 1.2  # times bare
_RAW = '"user", age, region, product, spend'
_BOUNDED = (
    f"SELECT {_RAW} FROM (SELECT {_RAW}, ROW_NUMBER() OVER (PARTITION BY \"user\" ORDER BY MD5(CONCAT('{KEY}|',"
    " \"user\", '|', age, ',', region, ',', product, ',', spend))) AS place FROM purchases) AS q WHERE place <= 10"
)
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


def least(server: Server, calls: list[Callable[[], Any]], turns: int) -> list[float]:
    """The least CPU seconds of each call; each has a connection of its own, which is over when it returns."""
    best = [float("inf")] * len(calls)
    for _ in range(turns):
        for i, call in enumerate(calls):
            start = cpu(server)
            call()
            time.sleep(0.1)  # until the server has seen the last of it
            best[i] = min(best[i], cpu(server) - start)
    return best


def bare(server: Server, statement: str, rows: str) -> Callable[[], Any]:
    def ask() -> Any:
        with psycopg.connect(server.url()) as connection:
            return connection.execute(f"WITH b AS ({rows}) {statement}").fetchall()

    return ask


def postgres(console: Console, rows: int, turns: int) -> None:
    """Each question, by tacit and by hand."""
    with tempfile.TemporaryDirectory() as folder, Server(max_parallel_workers_per_gather=0) as server:
        path = Path(folder) / "purchases.parquet"
        make(rows, path)
        filled(server, path)
        for unit in ("user", "row"):
            facts = {"name": "t", "unit": unit, "rows": 10 if unit == "user" else 1}
            table = Table(server.url(table="purchases"), {"table": facts, "columns": COLUMNS})
            shown = Shown(title=f"PostgreSQL, {rows:,} rows, the unit is a {unit}: CPU milliseconds", box=SIMPLE)
            for heading in ("question", "tacit", "bare", "unbounded", "tacit/bare", f"<= {MOST}"):
                shown.add_column(heading, justify="left" if heading == "question" else "right")
            with Postgres() as engine:
                engine.register(table, KEY)
                for name, plan in plans(table).items():
                    if name not in SQL:
                        continue
                    calls = [lambda plan=plan: engine.answer(plan)]  # type: ignore[misc]
                    calls += [bare(server, SQL[name], text) for text in (_BOUNDED, f"SELECT {_RAW} FROM purchases")]
                    own, bounded, raw = least(server, calls, turns)
                    bar = bounded if unit == "user" else raw
                    times = [f"{1e3 * own:.0f}", f"{1e3 * bar:.0f}", f"{1e3 * raw:.0f}"]
                    shown.add_row(
                        name, *times, f"{own / bar:.2f}", "-" if unit == "row" else "yes" if own <= MOST * bar else "NO"
                    )
                (seconds,) = least(server, [engine.fingerprint], 1)
            console.print(shown)
            console.print(f"fingerprint, when the table has changed: {seconds:.2f} CPU seconds\n")


def growth(console: Console, sizes: list[int]) -> None:
    """What grows with the table, and how."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            path = Path(folder) / f"{rows}.parquet"
            make(rows, path)
            found[rows] = apart(path, "user", "tacit")
            path.unlink()
    shown = Shown(title="DuckDB as the table grows: CPU milliseconds, and how many times those before", box=SIMPLE)
    shown.add_column("question")
    for rows in sizes:
        shown.add_column(f"{rows:,} rows", justify="right")
    for name in found[sizes[0]]:
        if name.startswith("bare") or name == "memory":
            continue
        cells = [f"{1e3 * found[sizes[0]][name]:,.1f}"]
        for small, large in pairwise(sizes):
            times = found[large][name] / found[small][name]
            cells.append(f"{1e3 * found[large][name]:,.1f} ({times:.1f}x)")
        shown.add_row("registration" if name == "first" else name, *cells)
    shown.add_row("memory, MB", *(f"{found[rows]['memory']:,.0f}" for rows in sizes))
    console.print(shown)


def main() -> None:
    quick = "--quick" in sys.argv
    console = Console()
    console.width = max(console.width, 120)
    postgres(console, 10**5 if quick else 10**6, 3)
    growth(console, [10**5, 10**6] if quick else [10**6, 10**7, *([10**8] if "--large" in sys.argv else [])])


if __name__ == "__main__":
    main()
