"""Checks of what mechanisms claim: `tacit audit`, and attacks with their controls: `tacit attack`."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import Plot, console, record_table, reporting_errors, save_plot

attack = typer.Typer(no_args_is_help=True, help="What an attacker learns from a naive system, and from tacit.")


def audit(
    mechanisms: Annotated[
        list[str] | None, typer.Argument(help="The mechanisms to check, by name; by default all of them.")
    ] = None,
    *,
    samples: Annotated[int, typer.Option(help="Draws from each input; 0 checks the exact laws alone.")] = 1000,
    delta: Annotated[str, typer.Option(help="The delta at which epsilons are compared.")] = "1e-6",
) -> None:
    """Every mechanism on its hardest neighbours: what it claims, what is true, and what samples prove."""
    from ..audit import package
    from ..mechanisms import ALL
    from .theory import mechanism_named

    with reporting_errors(), console.status("auditing"):
        findings = package(list(map(mechanism_named, mechanisms or ())) or ALL, samples=samples, delta=delta)
    console.print(record_table([finding.row() for finding in findings]))
    wrong = sum(finding.verdict != "holds" for finding in findings)
    console.print(f"{len(findings)} pairs of neighbours; {f'{wrong} do NOT hold' if wrong else 'all hold'}")
    if wrong:
        raise typer.Exit(1)


@attack.command("all")
def every() -> None:
    """Every attack, on a naive system that it breaks and on a real curator with a ledger as the control."""
    from ..testing import attacks

    with reporting_errors():
        with console.status("attacking"):
            rows = attacks.table()
        console.print(record_table(rows))


@attack.command()
def reconstruct(
    n: Annotated[int, typer.Option(help="Secret bits.")] = 128,
    repeats: Annotated[int, typer.Option(help="Number of runs to average.")] = 3,
    plot: Plot = None,
) -> None:
    """Recover a secret column from random sums of it, answered exactly and under five defences."""
    from ..audit import attacks, plots
    from ..testing.attacks import curator

    with reporting_errors():
        with console.status("solving linear programs"):
            rows = attacks.compare(n, repeats=repeats, system=curator)
        console.print(record_table(rows))
        if plot is not None:
            save_plot(plots.comparison(rows), plot)
