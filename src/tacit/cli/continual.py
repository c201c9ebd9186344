"""Continual counts on the command line: `tacit continual`."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from ..core.errors import BadParameter
from .output import Json, console, error_console, print_json
from .receipt import PendingReceipt
from .table_options import Epsilon, Rho, Share, TableOptions, table_command


@partial(table_command, buys=True)
def continual(
    options: TableOptions,
    question: Annotated[
        str,
        typer.Argument(
            help="A count, grouped by its periods: \"SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n "
            'FROM visits GROUP BY month".'
        ),
    ],
    *,
    through: Annotated[
        str | None,
        typer.Option(help="Close the periods up to this one, such as 2026-11, and print the totals; the first pays."),
    ] = None,
    window: Annotated[int | None, typer.Option(help="Print sums over the last so many periods instead.")] = None,
    method: Annotated[str, typer.Option(help="toeplitz, tree or independent; by default the best.")] = "auto",
    epsilon: Epsilon = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon, the delta of that guarantee.")] = None,
    share: Share = None,
    rho: Rho = None,
    beta: Annotated[str, typer.Option(help="The probability with which an error bound may fail.")] = "0.05",
    name: Annotated[str, typer.Option(help="Distinguishes several counts of one question.")] = "counts",
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
) -> None:
    """Running totals over growing data, at one price for all periods; without --through, the error of each method."""
    from ..client import RemoteCurator
    from ..curator.purse import TakesMore

    if as_json and as_csv:
        raise BadParameter("output", "both", "one of them", says="Choose one of --json and --csv.")
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "share": share, "rho": rho}
    with options.curator() as curator:
        if isinstance(curator, RemoteCurator):
            says = "A service sells no continual counts. Run this command where the table and its ledger are."
            raise BadParameter("data", options.data, "a table on this machine", says=says)
        counts = curator.continual_counts(question, method=method, beta=beta, name=name, **price)
        if through is None and window is None:
            _print_ways(counts, as_json)
            return
        receipt = None
        if through is not None:
            pending = PendingReceipt(curator, counts.plan.relation)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TakesMore)  # the receipt says so
                counts.advance(through)
            receipt = pending.receipt(epsilon=epsilon, rho=rho)
        totals = counts.totals(window)
    if as_json:
        print_json([{key: _plain(value) for key, value in row.items()} for row in totals.rows()])
    elif as_csv:
        sys.stdout.write(totals.to_csv())
    else:
        console.print(escape(str(totals)), soft_wrap=True)
    if receipt is not None and not as_json:
        (error_console if as_csv else console).print(escape(str(receipt)), soft_wrap=True)


def _plain(value: object) -> object:
    return value if isinstance(value, int | float) else str(value)


def _print_ways(counts: Any, as_json: bool) -> None:
    """The error of the best way of each method."""
    if as_json:
        ways = [{"method": way.method, "error": way.error, "mechanism": str(way.mechanism)} for way in counts.ways]
        print_json({"periods": len(counts.periods), "confidence": float(1 - counts.beta), "ways": ways})
        return
    confidence = f"with probability {float(1 - counts.beta):g} each"
    title = f"{len(counts.periods)} periods, {counts.periods[0]} to {counts.periods[-1]}; nothing was charged"
    table = Table("way", "largest error of a running total", title=escape(title), box=SIMPLE_HEAD, caption=confidence)
    for way in counts.ways:
        words, _, _ = str(way).partition(":")
        table.add_row(words, f"{way.error:.4g}")
    console.print(table)
