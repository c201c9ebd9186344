"""Upkeep of the service: `tacit service check | acts | jobs | cancel | publish | backup`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..output import Json
from .options import Config, actor, opened, print_rows, say

app = typer.Typer(
    no_args_is_help=True, help="Checks, the log, the jobs, published releases and the backup of the service."
)


@app.command()
def check(config: Config = None) -> None:
    """Look at all that the service needs, as `tacit serve --check` does; the exit code is 1 if anything is wrong."""
    from ...server.check import findings

    found = findings(config)
    for each in found:
        say(f"{'WRONG  ' if each.wrong else 'ok     '}{each.what}: {each.says}")
    if any(each.wrong for each in found):
        raise typer.Exit(1)


@app.command()
def acts(
    after: Annotated[int, typer.Option(help="Only acts after this number.")] = 0,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Show who did what to the service: an append-only log of administrative acts."""
    with opened(config) as (_, store):
        print_rows([asdict(each) for each in store.acts(after)], as_json, "There are no such acts.")


@app.command()
def jobs(as_json: Json = False, config: Config = None) -> None:
    """List background jobs, newest first."""
    with opened(config) as (_, store):
        rows = [
            {
                "number": each.id,
                "data set": each.dataset,
                "person": each.person,
                "kind": each.kind,
                "state": each.state,
                "done": f"{each.share:.0%}",
                "created": each.created,
                "error": each.error,
            }
            for each in store.jobs()
        ]
        print_rows(rows, as_json, "There are no jobs.")


@app.command()
def cancel(
    number: Annotated[str, typer.Argument(help="Its number, as `tacit service jobs` shows it.")], config: Config = None
) -> None:
    """Cancel a background job; what it was charged for is completed when it is asked again."""
    with opened(config) as (_, store):
        say(f"The job {number} is {store.cancel_job(number).state}.")


@app.command()
def publish(
    dataset: Annotated[str, typer.Argument(help="The data set.")],
    entry: Annotated[str, typer.Argument(help="The hash of the release's entry in the ledger.")],
    config: Config = None,
) -> None:
    """Let anybody who knows its address read a release, for good."""
    from ...server.custody import publish as publish_release

    with opened(config) as (settings, store):
        publish_release(store, dataset, entry, by=actor())
        say(f"{settings.address}/r/{entry} is public now.")


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="A folder that does not exist yet.")], config: Config = None
) -> None:
    """Copy the store, the ledgers of all data sets and that of leaderboards, while they are in use, to a new folder."""
    from ...server.backup import backup as copy

    with opened(config) as (settings, store):
        made = copy(store, folder, settings.service.boards)
        for name, head in made.heads.items():
            say(f"{name}: its ledger is copied and sound; head {head.seq}:{head.hash}")
        say(
            f"{folder} is as private as the data: it holds the keys of the ledgers. Keep it where nobody else reads it."
        )
        if made.elsewhere:
            say(f"PostgreSQL keeps {' and '.join(made.elsewhere)}. Back that up with pg_dump at the same time.")
            raise typer.Exit(1)
