"""Proof that the promises hold, on the command line: `tacit holdout`, `tacit audit` and `tacit attack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ._say import console, in_words

if TYPE_CHECKING:
    from altair import TopLevelMixin

holdout = typer.Typer(no_args_is_help=True, help="Adaptive data analysis: how often a holdout set can be used again.")
attack = typer.Typer(no_args_is_help=True, help="What an attacker gains, from a naive system and from this one.")
Plot = Annotated[Path | None, typer.Option(help="Draw it: a .png, .svg or .html.")]


@holdout.command("demo")
def overfitting(
    n: Annotated[int, typer.Option(help="Records in each of the two sets.")] = 10_000,
    d: Annotated[int, typer.Option(help="Variables to choose from.")] = 10_000,
    plot: Plot = None,
) -> None:
    """Choose variables by asking a holdout set: a plain one reports accuracy that is not there; a rule keeps what it
    promises, which is little where records are few.
    """
    from ..holdout import overfit, plots

    with in_words():
        with console.status("choosing variables"):
            found = overfit(n, d)
        console.print(escape(str(found)), soft_wrap=True)
        if plot is not None:
            _draw(plots.overfitting(found), plot)


@holdout.command("plan")
def plan(
    n: Annotated[int, typer.Argument(help="Records in the holdout set.")],
    questions: Annotated[list[int], typer.Argument(help="How many adaptive questions.")],
    beta: Annotated[str, typer.Option(help="Probability with which a promise may fail.")] = "0.05",
    plot: Plot = None,
) -> None:
    """How wide the answers to adaptive questions are, if each is answered from the holdout set; by every theorem.

    Rules that answer by the training set as long as that is right, such as ReusableHoldout, promise more.
    """
    from ..holdout import compare, plots
    from ..holdout.planning import table

    with in_words():
        console.print(escape(table(compare(n, questions, beta))), soft_wrap=True)
        if plot is not None:
            _draw(plots.widths(n, beta), plot)


@holdout.command("monitor")
def monitored(runs: Annotated[int, typer.Option(help="How many times.")] = 2000) -> None:
    """The argument that privacy generalises, as a simulation, with and without privacy."""
    from ..holdout import simulate_monitor

    with in_words():
        for found in simulate_monitor(runs):
            console.print(escape(str(found)), soft_wrap=True)


def audit(
    mechanisms: Annotated[list[str] | None, typer.Argument(help="Those of these names; all, unless told.")] = None,
    *,
    samples: Annotated[int, typer.Option(help="Draws from each input; 0 is exact only.")] = 1000,
    delta: Annotated[str, typer.Option(help="At which delta.")] = "1e-6",
) -> None:
    """Every mechanism on its hardest neighbours: what it claims, what is true, and what samples prove."""
    from ..audit import package
    from ..mechanisms import ALL
    from .theory import kind_named

    with in_words(), console.status("auditing"):
        findings = package(list(map(kind_named, mechanisms or ())) or ALL, samples=samples, delta=delta)
    console.print(_table([finding.row() for finding in findings]))
    wrong = sum(finding.verdict != "holds" for finding in findings)
    console.print(f"{len(findings)} pairs of neighbours; {f'{wrong} do NOT hold' if wrong else 'all hold'}")
    if wrong:
        raise typer.Exit(1)


@attack.command("all")
def every() -> None:
    """Every attack on a naive system, which it breaks, and on a curator of tacit with a ledger, as the control."""
    from ..testing import attacks

    with in_words():
        with console.status("attacking"):
            rows = attacks.table()
        console.print(_table(rows))


@attack.command()
def reconstruct(
    n: Annotated[int, typer.Option(help="Secret bits.")] = 128,
    repeats: Annotated[int, typer.Option(help="Averaged over so many runs.")] = 3,
    plot: Plot = None,
) -> None:
    """Recover a secret column from random sums of it, answered exactly and under five defences."""
    from ..audit import attacks, plots
    from ..testing.attacks import curator

    with in_words():
        with console.status("solving linear programs"):
            rows = attacks.compare(n, repeats=repeats, system=curator)
        console.print(_table(rows))
        if plot is not None:
            _draw(plots.comparison(rows), plot)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(*rows[0])
    for row in rows:
        cells = ("-" if v is None else f"{v:.4g}" if isinstance(v, float) else escape(str(v)) for v in row.values())
        table.add_row(*cells)
    return table


def _draw(chart: TopLevelMixin, place: Path) -> None:
    from .. import plots

    console.print(f"drawn: {escape(str(plots.save(chart, place)))}")
