"""`tacit whatif`: what a schema, some questions and a budget would give; no data are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from .output import Json, Plot, console, print_json, reporting_errors, save_plot
from .table_options import parse_budget


def whatif(
    schema: Annotated[Path, typer.Argument(help="The schema, a .toml file.")],
    questions: Annotated[list[str] | None, typer.Argument(help="Questions in SQL.")] = None,
    *,
    budget: Annotated[str, typer.Option(help='The budget: "epsilon=1 delta=1e-9", "rho=0.1", "epsilon=1".')],
    file: Annotated[Path | None, typer.Option(help="A file of questions in SQL, with semicolons between them.")] = None,
    share: Annotated[
        str | None, typer.Option(help="The share of the budget of each question; by default all shares are equal.")
    ] = None,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Errors, questions left, what narrower bounds would gain, what an attacker gains.  No data are read."""
    from .. import plots
    from ..query.schema.schema import Schema
    from ..whatif import what_if

    with reporting_errors():
        place = None if plot is None else plots.target(plot)
        listed = [text.strip() for text in file.read_text("utf-8").split(";")] if file is not None else []
        asked = [*(questions or ()), *(text for text in listed if text)]
        found = what_if(Schema.load(schema), asked, parse_budget(budget), share)
        with console.status("computing"):
            errors, gains, attackers = found.errors, found.gains, found.attackers()
        if as_json:
            facts: dict[str, Sequence[Any]] = {"errors": errors, "gains": gains, "attackers": attackers}
            print_json({"left": found.left, **{name: [asdict(e) for e in each] for name, each in facts.items()}})
        else:
            title = f"each at {float(found.share):g} of {found.budget}; {found.left} more questions could be asked"
            console.print(
                _grid(title, ("question", "output", "error"), [(e.question, e.output, e.text) for e in errors])
            )
            better = [(g.change, g.output, f"{g.ratio:.2f} of the error") for g in gains]
            if better:
                console.print(_grid("what a change of the schema would leave", ("change", "output", "leaves"), better))
            shares = [(a.budget, *(f"{x:.3f}" for x in (a.limit, a.membership, a.reconstruction))) for a in attackers]
            heads = ("budget", "any attacker, at most", "membership", "reconstruction")
            console.print(_grid("guesses of an attacker that are right (a coin gets 0.5)", heads, shares))
        if place is not None:
            save_plot(found.plot(attackers), place)


def _grid(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Grid:
    grid = Grid(*heads, title=escape(title))
    for row in rows:
        grid.add_row(*map(escape, row))
    return grid
