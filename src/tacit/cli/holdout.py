"""Adaptive data analysis on the command line: `tacit holdout demo | plan | monitor`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from .output import Plot, console, reporting_errors, save_plot

app = typer.Typer(no_args_is_help=True, help="Adaptive data analysis: how often a holdout set can be used again.")


@app.command()
def demo(
    n: Annotated[int, typer.Option(help="Records in each of the two sets.")] = 10_000,
    d: Annotated[int, typer.Option(help="Variables to choose from.")] = 10_000,
    plot: Plot = None,
) -> None:
    """Choose variables by querying a holdout set, with and without a rule that protects it.

    An unprotected set reports accuracy that is not there. A rule keeps its guarantee, which is weak for few records.
    """
    from ..holdout import overfit, plots

    with reporting_errors():
        with console.status("choosing variables"):
            result = overfit(n, d)
        console.print(escape(str(result)), soft_wrap=True)
        if plot is not None:
            save_plot(plots.overfitting(result), plot)


@app.command()
def plan(
    n: Annotated[int, typer.Argument(help="Records in the holdout set.")],
    questions: Annotated[list[int], typer.Argument(help="Numbers of questions.")],
    *,
    beta: Annotated[str, typer.Option(help="Probability with which a guarantee may fail.")] = "0.05",
    rounds: Annotated[
        int | None, typer.Option(help="Lists of questions that are fixed beforehand; by default each is a round.")
    ] = None,
    accuracy: Annotated[str | None, typer.Option(help="The mean that is expected, such as 0.95.")] = None,
    wrong: Annotated[int, typer.Option(help="Guesses that may be wrong.")] = 10,
    validation: Annotated[
        int | None, typer.Option(help="Records that guesses are computed from; by default as many as are held out.")
    ] = None,
    plot: Plot = None,
) -> None:
    """Rank all rules by the error that they guarantee, beside Bonferroni, sample splitting and fresh records.

    The column "needs" says under which condition all questions are answered.
    """
    from ..holdout import compare, plots
    from ..holdout.ranking import table

    use = {"rounds": rounds, "accuracy": accuracy, "wrong": wrong, "validation": validation}
    with reporting_errors():
        console.print(escape(table(compare(n, questions, beta, **use))), soft_wrap=True)  # type: ignore[arg-type]
        if plot is not None:
            save_plot(plots.widths(n, questions, beta, **use), plot)


@app.command()
def monitor(runs: Annotated[int, typer.Option(help="Number of simulated runs.")] = 2000) -> None:
    """Simulate the proof that privacy generalises, with and without privacy."""
    from ..holdout import simulate_monitor

    with reporting_errors():
        for result in simulate_monitor(runs):
            console.print(escape(str(result)), soft_wrap=True)
