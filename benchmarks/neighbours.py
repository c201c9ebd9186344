"""Does the time of one question tell whether a person is in the table?  Run me: python benchmarks/neighbours.py

Two curators hold tables that differ by one person, and a third one the same table as the first: that is the control.
Each question is bought afresh on one of two of them, in the order of a fair coin, and timed by the wall and by the
processor.  What is printed is the chance that the answer of the table with the person takes longer (the area under the
ROC curve): 0.5 says nothing, 1 everything.  Two curators differ a little by where they lie in memory, also with the
same table; so all are opened several times, and the areas averaged.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tacit
from tacit.audit.attacks import timing

SCHEMA = """
[table]
name = "people"
unit = "person"
rows = {rows}
[columns.v]
type = "integer"
lower = 0
upper = 1000
"""
HEAVY = " + ".join(f"((v * {i % 7 + 2} + {i}) % 101)" for i in range(30))
PAIRS = "SELECT COUNT(*) FROM people a JOIN (SELECT person, v AS w FROM people) b ON a.person = b.person"
QUESTIONS = {
    "one row of a table of one row each": ("SELECT COUNT(*) FROM people", 1),
    "a filter that one person passes": ("SELECT v, COUNT(*) FROM people WHERE v = 777 GROUP BY v", 1),
    "210 operations behind that filter": (f"SELECT COUNT(*) FROM people WHERE v = 777 AND {HEAVY} > 5", 1),
    "a self-join of 10,000 pairs": (PAIRS, 100),
}
Opened = tuple[tacit.Curator, tacit.Curator, tacit.Curator]


@contextmanager
def curators(rows: int, others: int = 2000, time_grid: str | None = None) -> Iterator[Opened]:
    """Without the person, with all of their rows, and without once more."""
    with tempfile.TemporaryDirectory() as folder:
        opened = []
        for i, own in enumerate((0, rows, 0)):
            people, v = np.arange(others), np.arange(others) % 50
            data = pa.table({"person": np.append(people, [others] * own), "v": np.append(v, [777] * own)})
            table, place = tacit.Table(data, SCHEMA.format(rows=rows)), Path(folder) / f"{i}.ledger"
            budget = tacit.Budget(epsilon=1)
            opened.append(tacit.Curator(table, ledger=place, budget=budget, time_grid=time_grid))
        yield opened[0], opened[1], opened[2]
        for curator in opened:
            curator.close()


def area(question: str, x: tacit.Curator, y: tacit.Curator, calls: int, clock: Callable[[], int]) -> float:
    """The chance that y takes longer."""

    def ask(curator: tacit.Curator) -> None:
        curator.ask(question, epsilon="1e-9", fresh=True)

    return timing(ask, x, y, calls, clock=clock).area


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--openings", type=int, default=5)
    parser.add_argument("--time-grid", default="0.05")
    given = parser.parse_args()
    console, clocks = Console(), {"wall": time.perf_counter_ns, "CPU": time.process_time_ns}
    console.width = max(console.width, 130)
    calls = f"{given.openings} times {given.calls} calls each"
    title = f"The chance that the table with the person takes longer ({calls})"
    shown = Table(title=title, box=SIMPLE)
    for heading in ("question", "time_grid", *(f"{name}{of}" for of in ("", ", control") for name in clocks)):
        shown.add_column(heading, no_wrap=True)
    for grid in (None, given.time_grid):
        for name, (question, rows) in track(QUESTIONS.items(), "Asking", console=console, transient=True):
            found = np.zeros((given.openings, 2 * len(clocks)))
            for i in range(given.openings):
                with curators(rows, time_grid=grid) as (without, within, again):
                    pairs = [(other, clock) for other in (within, again) for clock in clocks.values()]
                    found[i] = [area(question, without, other, given.calls, clock) for other, clock in pairs]
            shown.add_row(name, grid or "off", *(f"{a:.3f}" for a in found.mean(axis=0)))
    console.print(shown)


if __name__ == "__main__":
    main()
