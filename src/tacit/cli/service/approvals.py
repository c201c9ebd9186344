"""Purchases that wait for an owner: `tacit approval list | approve | deny`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..output import Json
from .options import Config, actor, opened, print_rows, say

app = typer.Typer(no_args_is_help=True, help="Purchases that need an owner's approval.")
Number = Annotated[str, typer.Argument(help="Its number, as `tacit approval list` shows it.")]


@app.command("list")
def list_(
    dataset: Annotated[str | None, typer.Option(help="Only those on this data set.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List the purchases that wait for approval."""
    with opened(config) as (_, store):
        rows = [
            {
                "number": each.id,
                "data set": each.dataset,
                "person": each.person,
                "asked": each.asked,
                "state": each.state,
                "by": each.decider,
                "request": each.request,
            }
            for each in store.approvals(dataset, state=None if everything else "pending")
        ]
        print_rows(rows, as_json, "Nothing waits for approval.")


@app.command()
def approve(number: Number, config: Config = None) -> None:
    """Approve a purchase; its analyst buys it by asking again."""
    _decide(number, config, approved=True)


@app.command()
def deny(number: Number, config: Config = None) -> None:
    """Deny a purchase."""
    _decide(number, config, approved=False)


def _decide(number: str, config: Path | None, *, approved: bool) -> None:
    with opened(config) as (_, store):
        decided = store.decide(number, by=actor(), approved=approved)
        say(f"The purchase {decided.id} of {decided.person} on {decided.dataset} is {decided.state}.")
