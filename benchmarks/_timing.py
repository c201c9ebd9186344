"""CPU time of rivals that take turns, and a table of what they reach."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

Call = Callable[[], Any]
Rival = tuple[Call, int]  # and how many samples one call gives
UNITS = {"us": 1e-6, "ms": 1e-3}  # in seconds
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


def _speed(each: float | None, row: Row) -> str:
    if each is None:
        return "-"
    if row.unit != "/s":
        return f"{each / UNITS[row.unit]:.1f} {row.unit}"
    return f"{1e-6 / each:,.1f} M/s" if each < 1e-6 else f"{1e-3 / each:,.0f} k/s"


def _cells(row: Row, repetitions: int) -> tuple[str, ...]:
    own, *others = seconds((row.tacit, row.numpy, row.opendp), repetitions)
    assert own is not None
    speeds = [_speed(each, row) for each in (own, *others)]
    ratios, verdicts = [], []
    for each, aim in zip(others, (row.over_numpy, row.over_opendp), strict=True):
        ratio = None if each is None else each / own
        text = "-" if ratio is None else f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}"
        ratios.append(text if aim is None else f"{text} (>= {aim:g})")
        if aim is not None and ratio is not None:
            verdicts.append(ratio >= aim)
    if row.at_most is not None:
        speeds[0] += f" (<= {row.at_most:g})"
        verdicts.append(own <= row.at_most * UNITS[row.unit])
    return row.name, *speeds, row.bar, *ratios, ("yes" if all(verdicts) else "NO") if verdicts else "-"


def show(title: str, rows: list[Row], repetitions: int) -> None:
    """Measure every row and print the table; targets stand in parentheses."""
    console = Console()
    console.width = max(console.width, 140)
    table = Table(title=title, box=SIMPLE, padding=(0, 1, 0, 0))
    headings = ("task", "tacit", "numpy", "OpenDP", "what numpy does", "tacit/numpy", "tacit/OpenDP", "reached")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("task", "what numpy does") else "right", no_wrap=True)
    for row in track(rows, "Measuring", console=console, transient=True):
        table.add_row(*_cells(row, repetitions))
    console.print(table)
