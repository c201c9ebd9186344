"""`tacit compose`: the total loss of a mix of mechanisms, by every accountant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..core.accounting.loss import Loss
from ..core.exact import from_above
from ..core.parameters import rational
from ..mix import USAGE, mix
from .output import console, reporting_errors, save_plot


def compose(
    text: Annotated[str, typer.Argument(metavar="MIX", help=escape(f"COUNT x NAME KEY=NUMBER, ...; names: {USAGE}."))],
    delta: Annotated[str, typer.Option(help="The delta at which to state the price.")] = "1e-6",
    plot: Annotated[
        Path | None, typer.Option(help="Plot epsilon against repetitions: a .png, .svg or .html file.")
    ] = None,
) -> None:
    """What a mix costs, by every accountant: tacit compose "100 x laplace eps=0.1, 5 x gaussian rho=0.01"."""
    with reporting_errors():
        loss = mix(text)
        console.print(Text(loss.explain(delta)), soft_wrap=True)
        console.print(_price_table(loss, delta))
        if plot is not None:
            from .. import plots

            save_plot(plots.composition(text, delta), plot)


def _price_table(loss: Loss, delta: str) -> Table:
    table = Table("at delta", "epsilon", "for a group of 2")
    deltas = {rational("delta", at): at for at in ("0", "1e-12", "1e-9", "1e-6", "1e-3", delta)}
    for _, at in sorted(deltas.items()):
        table.add_row(at, from_above(loss.epsilon(at)), from_above(loss.group(2).epsilon(at)))
    return table
