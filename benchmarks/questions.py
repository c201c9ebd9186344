"""The library's own part of a question: what `ask` and `offer` take beside the engine and the ledger's database.

    python benchmarks/questions.py [--quick]

The table is small, so that a question is all reading, pricing, drawing and storing.  Each row is a median over many
questions, in CPU milliseconds of the thread that asks.  `engine` is the time in `Engine.answer`; `database` is the time
in the transactions of the ledger's SQLite: in `begin` and `commit`, which sync, in every statement between them, and in
the note beside the file that acknowledges an entry.  `own` is what is left, and what has a target: all that the library
does itself, with the entries of the ledger that it reads, checks, hashes and writes.

    new text            a text that was never read, at a price that other texts were asked at
    new text and price  likewise, at a price that was never asked at
    new price           a text that was read before, at such a price
    repeat              a question that was asked before; bought again, it is free
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Shown

from tacit import Budget, Curator, Table
from tacit.engines.duckdb.engine import DuckDB
from tacit.ledger import Ledger

REGIONS = [f"region {i:02}" for i in range(12)]
SCHEMA = {
    "table": {"name": "t", "unit": "user", "rows": 3},
    "columns": {
        "age": {"type": "integer", "lower": 0, "upper": 120},
        "region": {"type": "category", "values": REGIONS},
        "spend": {"type": "real", "lower": 0, "upper": 500, "grid": "0.0078125"},
    },
}
QUESTIONS = {  # each a text that a number makes another text
    "count": "SELECT COUNT(*) FROM t WHERE spend < {}",
    "count by region": "SELECT region, COUNT(*) FROM t WHERE spend < {} GROUP BY region",
    "mean by region": "SELECT region, AVG(spend) AS mean FROM t WHERE age >= 18 AND spend < {} GROUP BY region",
}
BUDGETS = {"epsilon": Budget(epsilon=10**6), "epsilon, delta": Budget(epsilon=10**4, delta="1e-6")}
AIMS = {"new text": 2.0, "new text and price": 2.0, "new price": 1.0, "repeat": 1.0}  # in milliseconds


class Clock:
    """The CPU seconds of a call, and of calls within it that are counted apart, by a name."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._inside = False

    def apart(self, name: str, owner: Any, *methods: str) -> None:
        """Count these methods of an object apart from now on; what one of them calls is counted once."""
        for method in methods:
            setattr(owner, method, partial(self._counted, name, getattr(owner, method)))

    def _counted(self, name: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        if self._inside:
            return call(*given, **named)
        self._inside, start = True, time.thread_time()
        try:
            return call(*given, **named)
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + time.thread_time() - start
            self._inside = False

    def take(self, call: Callable[[], object]) -> dict[str, float]:
        """The milliseconds of a call, with those of its parts, and what is left."""
        self.parts = {}
        start = time.thread_time()
        call()
        whole = time.thread_time() - start
        own = whole - sum(self.parts.values())
        return {name: 1e3 * seconds for name, seconds in ({"engine": 0.0, "database": 0.0} | self.parts).items()} | {
            "all": 1e3 * whole,
            "own": 1e3 * own,
        }


def watch(clock: Clock, curator: Curator, engine: DuckDB) -> None:
    """Count what the engine and the ledger's database take apart from the rest."""
    ledger: Ledger = curator.ledger
    clock.apart("engine", engine, "answer")
    clock.apart("database", ledger.database.dialect, "begin", "commit", "acknowledged")
    with ledger.database.reading() as connection:
        clock.apart("database", connection, "execute", "executemany")


def cases(curator: Curator, text: str, terms: dict[str, str]) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Each case of `ask` and of `offer`, as a call that may be repeated."""
    numbers, prices = itertools.count(1), itertools.count(1)

    def new() -> str:
        return text.format(100 + next(numbers) / 100)

    def price() -> dict[str, Any]:
        return {**terms, "epsilon": f"1.{next(prices):06}"}

    read, paid = new(), price()
    for name, call in (("ask", curator.ask), ("offer", curator.offer)):
        act: Callable[..., object] = call
        yield name, "new text", lambda act=act: act(new(), **paid)  # type: ignore[misc]
        yield name, "new text and price", lambda act=act: act(new(), **price())  # type: ignore[misc]
        yield name, "new price", lambda act=act: act(read, **price())  # type: ignore[misc]
        yield name, "repeat", lambda act=act: act(read, **paid)  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of it")
    repetitions = 200 // (5 if parser.parse_args().quick else 1)
    r = np.random.default_rng(7)
    rows = pa.table(
        {
            "user": r.integers(0, 300, 1000),
            "age": r.integers(0, 100, 1000),
            "region": pa.array(REGIONS).take(pa.array(r.integers(0, 12, 1000))),
            "spend": np.round(r.gamma(2, 30, 1000), 2),
        }
    )
    shown = Shown(title="Questions: CPU milliseconds, medians", box=SIMPLE)
    for heading in ("budget", "question", "call", "case", "all", "engine", "database", "own", "target", "reached"):
        shown.add_column(heading, justify="left" if heading in ("budget", "question", "call", "case") else "right")
    for (kind, budget), (name, text) in itertools.product(BUDGETS.items(), QUESTIONS.items()):
        terms = {"delta": "1e-9"} if budget.delta else {}
        with (
            tempfile.TemporaryDirectory() as folder,
            DuckDB() as engine,
            Curator(
                Table(rows, SCHEMA), ledger=f"{folder}/t.ledger", budget=budget, engine=engine, least_share=0
            ) as curator,
        ):
            clock = Clock()
            curator.read_tables()
            watch(clock, curator, engine)
            for act, case, call in cases(curator, text, terms):
                for _ in range(repetitions // 10):
                    call()
                taken = [clock.take(call) for _ in range(repetitions)]
                medians = {part: median(each[part] for each in taken) for part in taken[0]}
                cells = [f"{medians[part]:.2f}" for part in ("all", "engine", "database", "own")]
                reached = "yes" if medians["own"] <= AIMS[case] else "NO"
                shown.add_row(kind, name, act, case, *cells, f"<= {AIMS[case]:g}", reached)
    Console(width=140).print(shown)


if __name__ == "__main__":
    main()
