"""What the commands about the service share: its configuration, its store, and who acts."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from ..output import console, print_json, reporting_errors

if TYPE_CHECKING:
    from ...server.config import Settings
    from ...server.store import Store

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="The configuration of the service; by default the file that TACIT_CONFIG names, or service.toml here.",
    ),
]


@contextmanager
def opened(config: Path | None, create: bool = False) -> Iterator[tuple[Settings, Store]]:
    """The configuration and the store of the service."""
    from ...server.config import Settings
    from ...server.store import Store

    with reporting_errors():
        settings = Settings.load(config)
        with Store.open(settings.service.store, create) as store:
            yield settings, store


def actor() -> str:
    """Who acts, as the log of acts has it: whoever can write the store needs no token."""
    from ...server.person import OPERATOR

    return f"{OPERATOR} {getpass.getuser()}"


def say(text: str) -> None:
    """Print a sentence as it is."""
    console.print(escape(text), soft_wrap=True)


def print_rows(rows: list[dict[str, Any]], as_json: bool, none: str) -> None:
    """Records as a table or as JSON; `none` is the sentence for no records."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        say(none)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, overflow="fold", no_wrap=name == "number")  # a number is copied whole
    for row in rows:
        table.add_row(*("-" if value in (None, "") else escape(str(value)) for value in row.values()))
    console.print(table)
