"""The ledger on the command line: `tacit ledger open | show | allow | verify | export`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import TacitError
from ._say import console, refuse
from .tables import budget_of

app = typer.Typer(no_args_is_help=True, help="What was paid for, what is left, and whether the account is sound.")
Place = Annotated[Path, typer.Argument(help="The ledger's file.")]
Money = Annotated[str, typer.Argument(help='As "epsilon=1 delta=1e-9", "rho=0.1" or "epsilon=1".')]


@app.command("open")
def open_(place: Place, budget: Money, dataset: Annotated[str, typer.Option(help="What the data are called.")]) -> None:
    """Open a ledger with a budget, which never changes."""
    from ..ledger import Ledger

    try:
        with Ledger.open(place, budget_of(budget), dataset) as ledger:
            console.print(escape(f"{ledger!r}"))
    except (TacitError, OSError) as error:
        refuse(error)


@app.command()
def allow(place: Place, analyst: str, budget: Money) -> None:
    """Give an analyst an allowance within the budget."""
    from ..ledger import Ledger

    try:
        with Ledger.open(place) as ledger:
            ledger.allow(analyst, budget_of(budget))
    except (TacitError, OSError) as error:
        refuse(error)


@app.command()
def show(place: Place, as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False) -> None:
    """Every charge, and what is left."""
    from ..ledger import Ledger

    try:
        with Ledger.open(place) as ledger:
            budget, charges, left = ledger.budget, ledger.history(), float(ledger.remaining())
    except (TacitError, OSError) as error:
        refuse(error)
    priced = [(charge, float(budget.price(charge.loss))) for charge in charges if charge.loss.terms]
    if as_json:
        rows = [
            {"entry": c.seq, "time": c.time, "analyst": c.analyst, "price": price, "key": c.key, "released": _done(c)}
            for c, price in priced
        ]
        console.print_json(json.dumps({"budget": str(budget), "left": left, "charges": rows}))
        return
    table = Table("entry", "time", "analyst", "price", "question", "released", title=escape(str(budget)))
    for c, price in priced:
        table.add_row(str(c.seq), c.time[:19], escape(c.analyst), f"{price:g}", c.key[:12], _done(c))
    console.print(table)
    console.print(f"{left:g} is left")


def _done(charge: object) -> str:
    if getattr(charge, "session", False):
        return "session"
    return "yes" if getattr(charge, "release", None) is not None else "not yet"


@app.command()
def verify(
    place: Place,
    anchor: Annotated[str, typer.Option(help="An earlier head, as SEQ:HASH; finds what was rolled back since.")] = "",
) -> None:
    """Recompute the chain and every sum; says the head, to be kept elsewhere as an anchor."""
    from ..ledger import Head, Ledger

    try:
        with Ledger.open(place) as ledger:
            seq, _, digest = anchor.partition(":")
            head = ledger.verify(Head(int(seq), digest)) if anchor else ledger.verify()
            console.print(f"sound; head {head.seq}:{head.hash}", soft_wrap=True)
    except ValueError as error:
        refuse(error)
    except (TacitError, OSError) as error:
        refuse(error)


@app.command()
def export(place: Place, output: Annotated[Path | None, typer.Option("--output", "-o")] = None) -> None:
    """All entries as JSON lines; private states stay in the ledger."""
    from ..ledger import Ledger

    try:
        with Ledger.open(place) as ledger:
            ledger.export(output or sys.stdout)
    except (TacitError, OSError) as error:
        refuse(error)
