"""CPU time of rivals that take turns, and a table of what they reach."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

Call = Callable[[], Any]
Rival = tuple[Call, int]  # and how many samples one call gives
_BATCH = 0.02  # seconds that a call is repeated for, so that any clock will do


@dataclass(frozen=True)
class Row:
    """One task, and those who do it."""

    name: str
    tacit: Rival
    numpy: Rival | None = None
    opendp: Rival | None = None
    bar: str = "-"  # what numpy does
    over_numpy: float | None = None  # the speeds that are aimed at, as multiples of the rivals'
    over_opendp: float | None = None
    unit: str = "/s"  # "/s" for samples a second, else "us" or "ms" for each
    at_most: float | None = None  # in this unit


def _batch(call: Call) -> float:
    """The CPU seconds of one call, the mean over a batch."""
    calls, start = 0, time.process_time()
    while (elapsed := time.process_time() - start) < _BATCH or not calls:
        call()
        calls += 1
    return elapsed / calls


def seconds(rivals: Iterable[Rival | None], repetitions: int) -> list[float | None]:
    """The least CPU seconds for a sample of each rival; they take turns, so that all meet the same load."""
    present = list(rivals)
    best = [float("inf")] * len(present)
    for _ in range(repetitions):
        for i, rival in enumerate(present):
            if rival is not None:
                best[i] = min(best[i], _batch(rival[0]) / rival[1])
    return [None if rival is None else least for rival, least in zip(present, best, strict=True)]


def _speed(each: float | None, unit: str) -> str:
    if each is None:
        return "-"
    if unit != "/s":
        return f"{each * {'us': 1e6, 'ms': 1e3}[unit]:.1f} {unit}"
    return f"{1e-6 / each:,.1f} M/s" if each < 1e-6 else f"{1e-3 / each:,.0f} k/s"


def _ratio(other: float | None, own: float) -> str:
    return "-" if other is None else f"{other / own:,.0f}" if other > 100 * own else f"{other / own:.2f}"


def _cells(row: Row, repetitions: int) -> tuple[str, ...]:
    own, numpy, opendp = seconds((row.tacit, row.numpy, row.opendp), repetitions)
    assert own is not None
    aims, missed, judged = [], [], False
    for rival, each, aim in (("numpy", numpy, row.over_numpy), ("OpenDP", opendp, row.over_opendp)):
        if aim is not None:
            aims.append(f"{aim:g} x {rival}")
            judged |= each is not None
            if each is not None and each < aim * own:
                missed.append(rival)
    if row.at_most is not None:
        aims.append(f"<= {row.at_most:g} {row.unit}")
        judged = True
        if own > row.at_most * {"us": 1e-6, "ms": 1e-3}[row.unit]:
            missed.append("time")
    reached = f"no ({', '.join(missed)})" if missed else "yes" if judged else "-"
    speeds = (_speed(each, row.unit) for each in (own, numpy, opendp))
    return row.name, *speeds, row.bar, _ratio(numpy, own), _ratio(opendp, own), ", ".join(aims) or "-", reached


def show(title: str, rows: list[Row], repetitions: int) -> None:
    """Measure every row and print the table."""
    console = Console()
    console.width = max(console.width, 140)
    table = Table(title=title)
    table.add_column("task", no_wrap=True)
    for heading in ("tacit", "numpy", "OpenDP"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what numpy does")
    for heading in ("tacit / numpy", "tacit / OpenDP"):
        table.add_column(heading, justify="right", min_width=7)
    table.add_column("target")
    table.add_column("reached")
    for row in track(rows, "Measuring", console=console, transient=True):
        table.add_row(*_cells(row, repetitions))
    console.print(table)
