"""`tacit publish`: a plan of questions, bought together, as a folder for a web server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from .output import console, reporting_errors

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The folder; by default one named after the plan, beside it.")
]


def publish(
    plan: Annotated[Path, typer.Argument(help="The plan, a .toml file: questions with errors or weights, a budget.")],
    *,
    dry: Annotated[
        bool, typer.Option("--dry", help="Only show the errors; reads no data and charges nothing.")
    ] = False,
    output: Output = None,
) -> None:
    """Buy all answers of a plan by one charge, and write a folder with a report; run again it is free."""
    from ..ledger import Charge
    from ..publish import ReleasePlan, dry_run, price_of
    from ..publish import publish as published

    with reporting_errors(buys=not dry):
        read = ReleasePlan.load(plan)
        if dry:
            items, allocation = dry_run(read)
            if isinstance(allocation, Charge):
                console.print(escape(f"{read.title}: bought by entry {allocation.seq}, so it is free."), soft_wrap=True)
                return
            budget = read.budget if read.budget is not None else "the budget"
            title = f"{read.title}: {float(allocation.price):.6g} of {budget}; nothing was charged"
            grid = Grid("answer", "column", f"error, with probability {float(1 - read.beta):g}", title=escape(title))
            for item, chosen in zip(items, allocation.chosen, strict=True):
                for error in chosen.errors:
                    grid.add_row(*map(escape, (item.name, error.column, error.text)))
            console.print(grid)
            return
        with console.status("publishing"):
            done = published(read, output or plan.with_suffix(""))
        paid = (
            f"Paid {float(price_of(done.charge)):.6g} by entry {done.charge.seq}"
            if done.new
            else "Free: it was bought before"
        )
        console.print(escape(f"{done.folder}: {len(done.answers)} answers. {paid}."), soft_wrap=True)
