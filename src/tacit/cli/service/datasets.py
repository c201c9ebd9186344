"""The data sets of the service: `tacit dataset add | list | remove`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import BadParameter
from ...core.parameters import rational
from ..output import Json
from ..table_options import Engine, parse_budget
from .options import Config, actor, opened, print_rows, say

app = typer.Typer(no_args_is_help=True, help="The data sets of the service.")
Name = Annotated[str, typer.Argument(help="The name of the data set: small letters, digits and underscores.")]


@app.command()
def add(
    name: Name,
    data: Annotated[
        list[str],
        typer.Argument(help="The tables: files, URLs of databases, or schemas (.toml) that name their source."),
    ],
    *,
    schema: Annotated[
        list[str] | None,
        typer.Option(help="The schema of each table, in their order; by default the .toml file beside the data."),
    ] = None,
    ledger: Annotated[
        str, typer.Option(help="The ledger, a file or a URL; by default a file in the folder service.ledgers.")
    ] = "",
    budget: Annotated[
        str, typer.Option(help='Makes the ledger with this budget, which never changes: "epsilon=1 delta=1e-9".')
    ] = "",
    public: Annotated[list[str] | None, typer.Option(help="A public table, as NAME=FILE; any number of times.")] = None,
    engine: Engine = None,
    time_grid: Annotated[
        str | None, typer.Option(help="Seconds; answers leave at whole multiples, which hides how long they took.")
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(help="Seconds after which a question fails, with a time grid; by default ten of it.")
    ] = None,
    config: Config = None,
) -> None:
    """Serve a data set.  Nobody but owners sees it until a policy says so."""
    from ...server.registration import register
    from ...server.store import DataSet, TableSource

    with opened(config) as (settings, store):
        schemas = schema or [_beside(each) for each in data]
        if len(schemas) != len(data):
            raise BadParameter("schema", f"{len(schemas)} of them", f"{len(data)}, one for each table")
        tables = tuple(
            TableSource(None if each.lower().endswith(".toml") else each, own)
            for each, own in zip(data, schemas, strict=True)
        )
        seconds = [
            None if given is None else rational(what, given)
            for what, given in (("time_grid", time_grid), ("deadline", deadline))
        ]
        pairs = tuple(sorted(_public(each) for each in public or ()))
        wanted = parse_budget(budget) if budget else None
        added = register(store, settings, DataSet(name, tables, ledger, wanted, pairs, engine, *seconds), by=actor())
        say(f"{added.name} is served with {added.budget}, in the ledger {_shown(added.ledger)}.")
        say(f"To let analysts ask it, run: tacit policy set {added.name} role:analyst --relative 0.01")


def _beside(data: str) -> str:
    if "://" in data:
        says = "The data are in a database, so no schema stands beside them. Pass --schema."
        raise BadParameter("schema", "nothing", "given as --schema", says=says)
    return str(Path(data).with_suffix(".toml"))


def _public(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise BadParameter("public", text, "NAME=FILE")
    return name, path


def _shown(place: str) -> str:
    """A place without passwords."""
    from ...ledger.stores.address import Address

    return str(Address.read(place)) if "://" in place else place


@app.command("list")
def list_(as_json: Json = False, config: Config = None) -> None:
    """List all data sets, with what is left of their budgets."""
    from ...core.errors import TacitError
    from ...ledger import Ledger

    with opened(config) as (_, store):
        rows = []
        for each in store.datasets():
            try:
                with Ledger.open(each.ledger) as ledger:
                    left = f"{float(ledger.remaining()):g}"
            except TacitError:
                left = "its ledger cannot be opened; run tacit serve --check"
            policies = ", ".join(store.policies(each.name))
            rows.append({"name": each.name, "budget": str(each.budget), "left": left, "policies": policies})
        print_rows(rows, as_json, "There are no data sets. Run: tacit dataset add NAME DATA --budget ...")


@app.command()
def remove(name: Name, config: Config = None) -> None:
    """Serve a data set no longer; its files and its ledger stay where they are."""
    with opened(config) as (_, store):
        store.remove_dataset(name, by=actor())
        say(f"{name} is served no longer. Its ledger still holds what was spent: add it again with the same ledger.")
