"""What questions about a table cost: tacit's engine against bare DuckDB, on the raw file and on the bounded table.

    python benchmarks/tables.py [--large] [--opendp PYTHON] [--tumult PYTHON] [--pipelinedp PYTHON]

A table of purchases by skewed users is made at 10^6 and 10^7 rows, and with --large at 10^8; at most 10 rows of a user
are used.  CPU seconds are the least of several runs; registration is reading, canonical values, bounding.  Each engine
runs in a process of its own, whose largest resident memory is told.  `raw` reads the Parquet file and bounds nothing;
`bare` asks the same of a bounded table that DuckDB holds in memory, with the columns of the file.  `ask` is all of a
question that was never asked before, from its text to the release that is stored, with a ledger in SQLite, whose part
stands beside it; that the disk takes time to sync is told by ledger.py.  `again` is the same question at a new price,
when its text was read and translated before.  `engine` is the part of tacit's engine, and `least` the least SQL for the
numbers that it finds, on the table that tacit made, where categories are small numbers: less than any bare query gets
by with, and told for what it says of the engine.  The first question is held against the
fastest right query over the raw file that bounds on the way, and a whole `tacit ask` is timed at 10^6 rows.  With
interpreters that have them (see tables_opendp.py and the like), others are asked the same at 10^6 rows, where the unit
is a user; what they take to start is not counted.
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Shown

from tacit import Budget, Curator
from tacit.engines.duckdb.engine import DuckDB
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.select.query import Key

REGIONS = [f"region {i:02}" for i in range(50)]
PRODUCTS = [f"product {i:04}" for i in range(1000)]
COLUMNS = {
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "region": {"type": "category", "values": REGIONS},
    "product": {"type": "category", "values": PRODUCTS},
    "spend": {"type": "real", "lower": 0, "upper": 500, "grid": "0.0078125"},
}
KEY = "0123456789abcdef" * 2
SMALL = 10**6
MOST_OVER_BARE = 1.25
MOST_OVER_RAW = 1.1  # where the unit is a row
BLOCK = 10**7
PEERS = ("OpenDP", "Tumult", "PipelineDP")
OVER_PEERS = 20
FIRST = 1.5  # seconds
QUARTILES = ", ".join(f"QUANTILE(age, {q})" for q in (0.25, 0.5, 0.75))
QUESTIONS = {
    "count": "SELECT COUNT(*) FROM t",
    "count by region": "SELECT region, COUNT(*) FROM t GROUP BY region",
    "count by product": "SELECT product, COUNT(*) FROM t GROUP BY product",
    "sum, mean of spend by region": "SELECT region, SUM(spend), AVG(spend) FROM t GROUP BY region",
    "quartiles of age": f"SELECT {QUARTILES} FROM t",
    "quartiles of age by region": f"SELECT region, {QUARTILES} FROM t GROUP BY region",
    "users by region": 'SELECT region, COUNT(DISTINCT "user") FROM t GROUP BY region',
    "at most 3 regions a user": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 3)"
    " region, COUNT(*) FROM t GROUP BY region",
}

SQL = {
    "count": ("SELECT COUNT(*) FROM {}", "COUNT(*)", ""),
    "count by region": ("SELECT c1, COUNT(*) FROM {} GROUP BY 1", "region, COUNT(*)", " GROUP BY 1"),
    "count by product": ("SELECT c2, COUNT(*) FROM {} GROUP BY 1", "product, COUNT(*)", " GROUP BY 1"),
    "sum, mean of spend by region": (
        "SELECT c1, COUNT(c3), SUM(c3) FROM {} GROUP BY 1",
        "region, SUM(spend), AVG(spend)",
        " GROUP BY 1",
    ),
    "quartiles of age": ("SELECT c0, COUNT(*) FROM {} GROUP BY 1", "QUANTILE_CONT(age, [0.25, 0.5, 0.75])", ""),
    "quartiles of age by region": (
        "SELECT c1, c0, COUNT(*) FROM {} GROUP BY 1, 2",
        "region, QUANTILE_CONT(age, [0.25, 0.5, 0.75])",
        " GROUP BY 1",
    ),
    "users by region": (
        "SELECT c1, COUNT(*) FROM (SELECT DISTINCT u, c1 FROM {}) GROUP BY 1",
        "region, COUNT(DISTINCT user)",
        " GROUP BY 1",
    ),
    "at most 3 regions a user": (None, "region, COUNT(*)", " GROUP BY 1"),
}
NTH = {
    "user": "SELECT *, ROW_NUMBER() OVER (PARTITION BY user ORDER BY HASH(age, region, product, spend)) AS nth",
    "row": "SELECT *, 1 AS nth",
}
# Bounds on the way, without a choice of rows: counts of a unit are cut at 10, or all its rows weigh less.
_CUT = "SELECT {0}SUM(LEAST(c, 10)) FROM (SELECT user, {0}COUNT(*) AS c FROM {1} GROUP BY ALL) GROUP BY ALL"
_WEIGHED = (
    "SELECT {0}SUM(w) FROM {1} JOIN (SELECT user, LEAST(1.0, 10.0 / COUNT(*)) AS w FROM {1} GROUP BY ALL) USING (user)"
    " GROUP BY ALL"
)
BOUNDED = {
    "count": (_CUT, ""),
    "count by region": (_WEIGHED, "region, "),
    "count by product": (_WEIGHED, "product, "),
    "quartiles of age": (_CUT, "age, "),
}


def make(rows: int, path: Path) -> None:
    """Purchases: few users have many, and a few regions have most."""
    r = np.random.default_rng(7)
    users = rows // 10
    cdf = np.cumsum(np.arange(1, users + 1) ** -0.6)
    names = r.permutation(users)
    writer = None
    for start in range(0, rows, BLOCK):
        n = min(BLOCK, rows - start)
        who = names[np.minimum(np.searchsorted(cdf, r.random(n) * cdf[-1]), users - 1)]
        block = pa.table(
            {
                "user": who,
                "age": r.integers(0, 100, n).astype(np.int32),
                "region": pa.array(REGIONS).take(pa.array(r.zipf(1.3, n) % 50)),
                "product": pa.array(PRODUCTS).take(pa.array(r.integers(0, 1000, n))),
                "spend": np.round(r.gamma(2, 30, n), 2),
            }
        )
        writer = writer or parquet.ParquetWriter(path, block.schema)
        writer.write_table(block)
    assert writer is not None
    writer.close()


def plans(table: Table) -> dict[str, QueryPlan]:
    """The closed plans of the questions."""
    scan = table.schema.scan()
    age, region, product, spend = (build.column(scan, name) for name in COLUMNS)
    by_region, by_product = Key("r", region, tuple(range(50))), Key("p", product, tuple(range(1000)))
    ages = BinCounts(age, tuple(range(122)))
    found = {
        "count": QueryPlan(scan, (), (RowCount(),)),
        "count by region": QueryPlan(scan, (by_region,), (RowCount(),)),
        "count by product": QueryPlan(scan, (by_product,), (RowCount(),)),
        "sum, mean of spend by region": QueryPlan(scan, (by_region,), (RowCount(spend), Total(spend))),
        "quartiles of age": QueryPlan(scan, (), (ages,)),
        "quartiles of age by region": QueryPlan(scan, (by_region,), (ages,)),
    }
    if table.schema.unit is not None:
        found["users by region"] = QueryPlan(scan, (by_region,), (UnitCount(),))
        found["at most 3 regions a user"] = QueryPlan(scan, (by_region,), (RowCount(),), 3)
    return found


def least(call: Callable[[], Any], budget: float = 1.0) -> float:
    """The least CPU seconds of a call, over a second or three calls."""
    best, begun, calls = float("inf"), time.process_time(), 0
    while calls < 3 or (time.process_time() - begun < budget and calls < 30):
        start = time.process_time()
        call()
        best, calls = min(best, time.process_time() - start), calls + 1
    return best


def measure(path: str, unit: str, who: str) -> dict[str, Any]:
    """What one process finds: its CPU seconds for each question, and its memory."""
    table = Table(path, {"table": {"name": "t", "unit": unit, "rows": 10 if unit != "row" else 1}, "columns": COLUMNS})
    asked = plans(table)
    found: dict[str, Any] = {}
    if who != "tacit":
        database, place = duckdb.connect(), f"'{path}'" if who == "raw" else "kept"
        if who == "bare":
            parts = -(-parquet.read_metadata(path).num_rows // BLOCK)  # as many users at a time as there is memory for
            for part in range(parts):
                into = "INSERT INTO kept" if part else "CREATE TABLE kept AS"
                some = f"{NTH[unit]} FROM '{path}' WHERE HASH(user) % {parts} = {part}"
                database.execute(f"{into} SELECT * EXCLUDE (nth) FROM ({some}) WHERE nth <= 10")
        for name in asked:
            select, group = SQL[name][1:]
            text = f"SELECT {select} FROM {place}{group}"
            found[name] = least(lambda text=text: database.execute(text).fetchall())  # type: ignore[misc]
        for name, (form, keys) in BOUNDED.items() if (who, unit) == ("raw", "user") else ():
            text = form.format(keys, f"'{path}'")
            found[f"bounded {name}"] = least(lambda text=text: database.execute(text).fetchall())  # type: ignore[misc]
    else:
        prices = (f"1.{i:06}" for i in itertools.count())  # so that no question was asked before
        with (
            tempfile.TemporaryDirectory() as folder,
            DuckDB() as engine,
            Curator(
                table, ledger=f"{folder}/t.ledger", budget=Budget(epsilon=10**6), engine=engine, least_share=0
            ) as curator,
        ):
            start = time.process_time()
            curator._registration.engine  # noqa: B018 - reads the table
            found["first"] = time.process_time() - start
            parts = "find", "charge", "store"  # all that a question asks of a ledger in pure epsilon
            ledger = timed(curator.ledger, *parts)
            for name, plan in asked.items():
                found[name] = least(lambda plan=plan: engine.answer(plan))  # type: ignore[misc]
                question = QUESTIONS[name]

                def again(question: str = question) -> None:
                    curator.ask(question, epsilon=next(prices))

                def ask(again: Callable[[], None] = again) -> None:
                    for kept in (curator._parse, curator._compiled):
                        kept.cache_clear()  # type: ignore[attr-defined]
                    engine._statements.clear()
                    again()

                ledger.clear()
                found[f"ask {name}"], found[f"again {name}"] = least(ask), least(again)
                found[f"ledger {name}"] = min(map(sum, zip(*[iter(ledger)] * len(parts), strict=True)))
                if text := SQL[name][0]:
                    text = text.format("t0")
                    found[f"least {name}"] = least(lambda text=text: engine._database.execute(text).fetchnumpy())  # type: ignore[misc]
    found["memory"] = peak()
    if who == "tacit":
        found["first"] = min(found["first"], registration(table))
    return found


def registration(table: Table) -> float:
    """The CPU seconds of reading a table, with all that must be imported for it there."""
    with DuckDB() as engine:
        start = time.process_time()
        engine.register(table, KEY)
        return time.process_time() - start


def timed(owner: object, *methods: str) -> list[float]:
    """The CPU seconds of each call of these methods from now on, as they come."""
    spent: list[float] = []

    def clocked(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return call(*given, **named)
        finally:
            spent.append(time.process_time() - start)

    for method in methods:
        setattr(owner, method, partial(clocked, getattr(owner, method)))
    return spent


def peak() -> float:
    """The largest resident memory of this process, in MB; what getrusage says is at least that of its parent."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024


def apart(path: Path, unit: str, who: str) -> dict[str, Any]:
    """The same, in a process of its own."""
    command = [sys.executable, __file__, "--measure", str(path), unit, who]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def peer(who: str, path: Path, *questions: str) -> dict[str, Any]:
    """What another takes, if its interpreter was told; for all questions, unless some are named."""
    option = f"--{who.lower()}"
    if option not in sys.argv:
        return {}
    script = Path(__file__).with_name(f"tables_{who.lower()}.py")
    command = [sys.argv[sys.argv.index(option) + 1], str(script), str(path), *questions]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def show(console: Console, rows: int, unit: str, path: Path) -> None:
    """One table of results."""
    tacit, bare, raw = (apart(path, unit, who) for who in ("tacit", "bare", "raw"))
    others = {who: peer(who, path) for who in PEERS if unit == "user" and rows == SMALL}
    others = {who: found for who, found in others.items() if found}
    shown = Shown(title=f"{rows:,} rows, the unit is a {unit}: CPU milliseconds", box=SIMPLE)
    headings = ["question", "ask", "its ledger", "again", "bare", "raw", "engine", "least"]
    headings += ["engine/least", "again/bare", "ask/bare", "ask/raw", "reached"]
    for heading in (*headings, *(f"{who} (times tacit)" for who in others)):
        shown.add_column(heading, justify="left" if heading == "question" else "right")
    for name in raw:
        if f"ask {name}" not in tacit:
            continue
        own, again, engine, fewest = (tacit.get(f"{part}{name}") for part in ("ask ", "again ", "", "least "))
        like = None if fewest is None else bare[name]  # there is none that caps groups
        told = own, tacit[f"ledger {name}"], again, like, raw[name], engine, fewest
        over = (engine, fewest), (again, like), (own, like), (own, raw[name])
        ratios = [None if below is None else above / below for above, below in over]
        reached = like and ratios[2] <= MOST_OVER_BARE and (unit != "row" or ratios[3] <= MOST_OVER_RAW)
        cells = ["-" if t is None else f"{1e3 * t:.2f}" for t in told]
        cells += ["-" if r is None else f"{r:.2f}" for r in ratios] + [{True: "yes", False: "NO", None: "-"}[reached]]
        for found in others.values():
            cells.append(f"{1e3 * found[name]:,.0f} ({found[name] / own:,.0f})" if name in found else "-")
        shown.add_row(name, *cells)
    console.print(shown)
    console.print(f"registration: {tacit['first']:.2f} CPU seconds")
    for name in BOUNDED if unit != "row" else ():
        first, fastest = tacit["first"] + tacit[f"ask {name}"], raw[f"bounded {name}"]
        console.print(
            f"{name} as the first question: {first:.2f}, {first / fastest:.2f} times the fastest bounded query"
            f" ({fastest:.2f}; aim: {MOST_OVER_BARE})"
        )
    for who, found in others.items():
        first = min(
            found[name] / (tacit["first"] + tacit[f"ask {name}"]) for name in found if name in raw and name != "memory"
        )
        console.print(f"{who}: at least {first:.1f} times what tacit takes with registration (aim: {OVER_PEERS})")
    told = "".join(f", {who} {m['memory']:,.0f} MB" for who, m in {"raw": raw, **others}.items())
    console.print(f"memory: tacit {tacit['memory']:,.0f} MB{told}\n")


def command_line(path: Path) -> list[float]:
    """Seconds on the clock of `tacit ask` on a table it has not seen, and of the next question, from start to end."""
    lines = ["[table]", 'name = "t"', 'unit = "user"', "rows = 10"]
    for name, facts in COLUMNS.items():
        lines += [f"[columns.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in facts.items())]
    path.with_suffix(".toml").write_text("\n".join(lines))
    ask = [Path(sys.executable).with_name("tacit"), "ask", path, QUESTIONS["count by region"], "--budget", "epsilon=1"]
    spent = []
    for epsilon in ("0.1", "0.2"):
        start = time.perf_counter()
        subprocess.run([*ask, "--epsilon", epsilon], check=True, capture_output=True)
        spent.append(time.perf_counter() - start)
    return spent


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:5])))
        return
    console = Console()
    console.width = max(console.width, 160)
    console.print("Targets: 1.25 times bare; 1.1 times raw where the unit is a row.\n")
    with tempfile.TemporaryDirectory() as folder:
        for rows in (SMALL, 10**7, *([10**8] if "--large" in sys.argv else [])):
            path = Path(folder) / f"{rows}.parquet"
            make(rows, path)
            for unit in ("user", "row"):
                show(console, rows, unit, path)
            if rows == SMALL:
                first, next_ = command_line(path)
                console.print(f"tacit ask, interpreter included: {first:.2f} s (aim: {FIRST}), then {next_:.2f} s\n")
            path.unlink()


if __name__ == "__main__":
    main()
