"""`tacit lint`: what a custodian would regret about a schema; and `tacit schema`, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.panel import Panel

from ..core.errors import BadParameter
from ..query.schema.data import Files
from .check import WARNING
from .output import console, print_json
from .table_options import SchemaOptions, parse_budget, table_command


@table_command
def lint(
    options: SchemaOptions,
    *,
    budget: Annotated[str, typer.Option(help='The budget: "epsilon=1 delta=1e-9", "rho=0.1", "epsilon=1".')],
    look: Annotated[
        bool, typer.Option("--look", help="READ THE DATA too, for bounds and rows that are wider than they need be.")
    ] = False,
) -> None:
    """What you would regret about a schema and a budget, and what it costs in noise; reads no data without --look."""
    from ..lint import lint as remarks
    from ..lint import lint_data
    from ..query.schema.schema import Schema

    if not look:
        found = list(remarks(Schema.load(options.schema_file), parse_budget(budget)))
    else:
        from ..engines.duckdb.inspection import inspect, spans
        from ..engines.rows.sources import DataSource

        table = options.own_table()
        if not isinstance(table.data, Path | Files):
            raise BadParameter("data", str(table.data), "a file, a folder or a pattern of files, to look at")
        console.print(Panel(WARNING, style="bold red"))
        source, schema = DataSource(table.data, table.schema), table.schema
        units = inspect(source, schema).units
        most = units.largest[0][1] if units is not None and units.largest else None
        found = [*remarks(schema, parse_budget(budget)), *lint_data(schema, spans(source, schema), most)]
    for remark in found:
        console.print(escape(f"- {remark}"), soft_wrap=True)
    if not found:
        console.print("Nothing to remark.")


def schema() -> None:
    """Print the JSON Schema of a schema's TOML file, by which editors complete and check it."""
    from ..query.schema.json_schema import json_schema

    print_json(json_schema())
