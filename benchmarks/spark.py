"""What a question costs in Spark: tacit against the least SQL for the same numbers, with the rows bounded too.

    python benchmarks/spark.py [--quick]

Purchases by skewed users, of whom at most 10 rows are used, in a Parquet file; Spark has two threads.  `bare` reads the
file, bounds the rows by a hash, and asks on raw columns; tacit bounds them once (`registration`), and `with
registration` is what the first question costs that way.  `kept` is bare SQL on the bounded table that tacit keeps.
Times are CPU seconds of the Java machine and of our own process, the least of several, in turns; memory is the most
that our own process held, which sees nothing but public cells.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Shown
from tables import COLUMNS, KEY, make, plans
from tables import SQL as KEPT

from tacit.engines.spark import Spark
from tacit.engines.spark_session import opened
from tacit.tables.table import Table

MOST, MOST_MEMORY = 1.3, 1.1  # times bare, and times that of a tenth of the rows
_RAW = "user, age, region, product, spend"
_BOUNDED = (
    f"SELECT {_RAW} FROM (SELECT {_RAW}, ROW_NUMBER() OVER (PARTITION BY user ORDER BY MD5(CONCAT_WS('', '{KEY}|',"
    " user, '|', age, ',', region, ',', product, ',', spend))) AS place FROM purchases) AS q WHERE place <= 10"
)
SQL = {
    "count": "SELECT COUNT(*) FROM b",
    "count by region": "SELECT region, COUNT(*) FROM b GROUP BY 1",
    "count by product": "SELECT product, COUNT(*) FROM b GROUP BY 1",
    "sum, mean of spend by region": "SELECT region, COUNT(spend), SUM(spend) FROM b GROUP BY 1",
    "quartiles of age": "SELECT age, COUNT(*) FROM b GROUP BY 1",
    "quartiles of age by region": "SELECT region, age, COUNT(*) FROM b GROUP BY 1, 2",
    "users by region": "SELECT region, COUNT(*) FROM (SELECT DISTINCT user, region FROM b) AS q GROUP BY 1",
}


def measure(path: str, turns: int) -> dict[str, Any]:
    """What one process finds: CPU seconds of each question by tacit, bare and on what is kept; and its memory."""
    session = opened("local[2]")
    java = psutil.Process(session.sparkContext._gateway.proc.pid)

    def least(*calls: Callable[[], Any]) -> list[float]:
        best = [float("inf")] * len(calls)
        for _ in range(turns):
            for i, call in enumerate(calls):
                start = sum(java.cpu_times()[:2]) + time.process_time()
                call()
                best[i] = min(best[i], sum(java.cpu_times()[:2]) + time.process_time() - start)
        return best

    schema = {"table": {"name": "t", "unit": "user", "rows": 10}, "columns": COLUMNS}
    session.read.parquet(path).createOrReplaceTempView("purchases")
    found: dict[str, Any] = {}
    with Spark(session) as engine:
        for label, data in (("registration", path), ("registration of a frame", session.table("purchases"))):
            table = Table(data, schema)
            (found[label],) = least(lambda table=table: engine.register(table, KEY))  # type: ignore[misc]
        name = engine._tables["t"].place.source.sql()
        for question, plan in plans(table).items():
            if question in SQL:
                kept = KEPT[question][0].format(name)
                found[question] = least(
                    lambda plan=plan: engine.answer(plan),  # type: ignore[misc]
                    lambda question=question: session.sql(f"WITH b AS ({_BOUNDED}) {SQL[question]}").toArrow(),  # type: ignore[misc]
                    lambda kept=kept: engine._own.sql(kept).toArrow(),  # type: ignore[misc]
                )
    return {**found, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def apart(path: Path, turns: int) -> dict[str, Any]:
    """The same, in a process of its own."""
    command = [sys.executable, __file__, "--one", str(path), str(turns)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    if "--one" in sys.argv:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    quick = "--quick" in sys.argv
    console, before = Console(), None
    console.width = max(console.width, 120)
    for rows in (10**5, 10**6) if quick else (10**6, 10**7):
        with tempfile.TemporaryDirectory() as folder:
            make(rows, Path(folder) / "purchases.parquet")
            found = apart(Path(folder) / "purchases.parquet", 2 if quick else 3)
        shown = Shown(title=f"Spark, {rows:,} rows: CPU seconds", box=SIMPLE)
        for heading in ("question", "tacit", "kept", "bare", "tacit/bare", "with registration", f"<= {MOST}"):
            shown.add_column(heading, justify="left" if heading == "question" else "right")
        for name in SQL:
            own, bare, kept = found[name]
            first = (own + found["registration"]) / bare
            verdict = "yes" if first <= MOST else "NO"
            shown.add_row(
                name, f"{own:.2f}", f"{kept:.2f}", f"{bare:.2f}", f"{own / bare:.2f}", f"{first:.2f}", verdict
            )
        console.print(shown)
        console.print(
            f"registration {found['registration']:.2f} s, of a frame {found['registration of a frame']:.2f} s; "
            f"memory {found['memory']:.0f} MB"
            + ("" if before is None else f", {found['memory'] / before:.2f} times the above (<= {MOST_MEMORY})")
        )
        before = found["memory"]


if __name__ == "__main__":
    main()
