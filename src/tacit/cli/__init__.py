"""The command line, a thin layer: everything it does, the library does in one call."""

from __future__ import annotations

import gc
from importlib import metadata
from typing import Annotated

import typer

from . import (
    audit,
    board,
    check,
    compose,
    continual,
    demonstrations,
    docs,
    history,
    holdout,
    ledger,
    linear,
    lint,
    mcp,
    publish,
    serve,
    tables,
    theory,
    verify,
    whatif,
)
from .output import console
from .service import approvals, datasets, policies, upkeep, users

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)
app.add_typer(ledger.app, name="ledger")
app.add_typer(holdout.app, name="holdout")
app.add_typer(board.app, name="board")
app.add_typer(audit.attack, name="attack")
app.add_typer(users.app, name="user")
app.add_typer(datasets.app, name="dataset")
app.add_typer(policies.app, name="policy")
app.add_typer(approvals.app, name="approval")
app.add_typer(upkeep.app, name="service")
for command in (
    demonstrations.demo,
    tables.init,
    check.check,
    lint.lint,
    lint.schema,
    whatif.whatif,
    tables.offer,
    tables.explain,
    tables.ask,
    tables.bounds,
    continual.continual,
    publish.publish,
    history.history,
    verify.verify,
    linear.plan,
    linear.compare,
    demonstrations.tour,
    theory.theory,
    compose.compose,
    audit.audit,
    serve.serve,
    mcp.mcp,
    docs.docs,
):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"tacit {metadata.version('tacit')}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Differential privacy, exactly: what a question costs, how accurate its answer is, and the answer."""
    gc.set_threshold(250_000)  # a command is short, and most of its objects are modules, which are not garbage
