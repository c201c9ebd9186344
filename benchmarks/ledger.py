"""How long a charge takes, next to a commit of SQLite alone, and how fast a ledger is filled and verified.

    python benchmarks/ledger.py [--quick]

Every charge is one durable commit, so it takes at least as long as the disk needs for a sync: the baseline is one row
inserted by the same SQLite with the same settings, in turn with the charges.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tacit import Budget, Laplace
from tacit.ledger import Ledger, Request
from tacit.testing._ledger import key

LOSS = Laplace(epsilon="0.001").loss()


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def single(ledger: Ledger, path: Path, count: int) -> tuple[list[float], list[float]]:
    """Charges, and bare commits, that take turns."""
    bare = sqlite3.connect(path, isolation_level=None)
    bare.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE facts (body TEXT)")
    charges, commits = [], []
    for i in range(count):
        charges.append(seconds(lambda i=i: ledger.charge(key=key("one", i), loss=LOSS, analyst="ann")))  # type: ignore[misc]
        commits.append(seconds(lambda: bare.execute("INSERT INTO facts VALUES (?)", ("x" * 600,))))
    bare.close()
    return charges, commits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of it")
    scale = 5 if parser.parse_args().quick else 1
    table = Table("task", "ledger", "target", "bare commit", "ratio", "reached", title="Ledger", box=SIMPLE)
    with tempfile.TemporaryDirectory() as name, Ledger.open(Path(name) / "l", Budget(epsilon=10**6)) as ledger:
        charges, commits = single(ledger, Path(name) / "bare", 2000 // scale)
        for percent, target in ((50, 5.0), (99, None)):
            ours, bare = (quantiles(times, n=100)[percent - 1] * 1e3 for times in (charges, commits))
            aim, reached = (f"< {target:g} ms", "yes" if ours < target else "NO") if target else ("-", "-")
            table.add_row(
                f"one charge, p{percent}", f"{ours:.2f} ms", aim, f"{bare:.2f} ms", f"{ours / bare:.1f}", reached
            )
        size, total = 1000 // scale, 10_000 // scale
        taken = 0.0
        while (start := ledger.head().seq) < total:
            batch = [Request(key("batch", start, i), LOSS, "ann") for i in range(min(size, total - start))]
            taken += seconds(lambda batch=batch: ledger.charge_many(batch))  # type: ignore[misc]
        rate = (total - len(charges)) / taken
        table.add_row(
            f"charges in batches of {size}", f"{rate:,.0f}/s", "> 1,000/s", "-", "-", "yes" if rate > 1000 else "NO"
        )
        table.add_row(f"verify {total:,} entries", f"{seconds(ledger.verify):.2f} s", "-", "-", "-", "-")
        table.add_row("what is spent, first read", f"{seconds(ledger.spent):.2f} s", "-", "-", "-", "-")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
