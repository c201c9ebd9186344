"""The options that commands about a table share: each field of `TableOptions` is an argument or an option of theirs.

The schema stands beside the data, people.toml beside people.parquet, and so does the ledger, people.ledger.  Where the
schema names its source, the schema can be given instead of the data.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..core.accounting.budget import LEAST_SHARE, Budget
from ..core.errors import BadParameter, LedgerUnavailable
from ..core.parameters import rational
from ..query.schema.data import beside, located, table_file
from .output import reporting_errors

if TYPE_CHECKING:
    from ..client import RemoteCurator
    from ..curator import Curator
    from ..query.python.table import DeclaredTable, Table
    from ..query.schema.public_table import PublicTable

Epsilon = Annotated[
    str | None,
    typer.Option(
        help="What the release alone guarantees: epsilon-differential privacy, or (epsilon, delta) with --delta. "
        "What it takes of the budget is shown too."
    ),
]
Share = Annotated[
    str | None, typer.Option(help="How much of the budget it may take, as a fraction: 0.1 is a tenth of it.")
]
Rho = Annotated[str | None, typer.Option(help="What the release alone guarantees, in zCDP.")]
Engine = Annotated[
    str | None,
    typer.Option(help="The engine that reads the table: duckdb, postgres or spark; by default the one for such data."),
]


def token(file: Path | None) -> str:
    """The token for a service, from a file or from the environment."""
    text = os.environ.get("TACIT_TOKEN", "") if file is None else file.read_text("utf-8")
    if not text.strip():
        says = "A service asks for a token. Pass --token-file, or set TACIT_TOKEN."
        raise BadParameter("token", "nothing", "given in a file or in TACIT_TOKEN", says=says)
    return text.strip()


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """A table and its schema."""

    data: Annotated[
        str,
        typer.Argument(
            help="The table: a .parquet, .csv, .tsv, .arrow or .feather file (.csv.gz, .csv.zst), a folder or a "
            "pattern of such files ('visits/*.csv'); a database's URL; with --engine postgres or "
            "spark, a table's name there; or a schema (.toml) that names its source."
        ),
    ]
    schema: Annotated[Path | None, typer.Option(help="The schema; by default the .toml file beside the data.")] = None
    engine: Engine = None

    def own_table(self) -> Table:
        """The table on this machine, with its schema."""
        from ..query.python.table import Table

        data = None if self.data.lower().endswith(".toml") else self.data
        if data is not None and "://" not in data and table_file(data):
            located(data)  # reported before its schema, which would be missing too
        return Table(data, self.schema_file, engine=self.engine)

    @property
    def schema_file(self) -> Path:
        """The file of the schema."""
        return self.schema or self._beside(".toml", "schema")

    def _beside(self, suffix: str, name: str) -> Path:
        """The file beside the data with this suffix."""
        if "://" in self.data:
            says = f"The data are in a database, so no {name} file stands beside them. Pass --{name}."
            raise BadParameter(name, "nothing", f"given as --{name}", says=says)
        place = beside(self.data[:-5] if self.data.lower().endswith(".toml") else self.data, suffix)
        if place is None:
            says = f"No {name} file belongs to the files of {self.data}. Pass --{name}."
            raise BadParameter(name, "nothing", f"given as --{name}", says=says)
        return place


@dataclass(frozen=True, kw_only=True)
class TableOptions(SchemaOptions):
    """A table, its schema, its ledger, and who asks."""

    ledger: Annotated[
        str | None, typer.Option(help="The ledger, a file or a URL; by default the .ledger file beside the data.")
    ] = None
    budget: Annotated[
        str, typer.Option(help='Opens a new ledger with this budget: "epsilon=1 delta=1e-9", "rho=0.1", "epsilon=1".')
    ] = ""
    least_share: Annotated[
        str | None,
        typer.Option(help="With --budget: the smallest share of it that a question takes; by default 0.0001."),
    ] = None
    analyst: Annotated[str, typer.Option(help="Who asks.")] = "analyst"
    url: Annotated[
        str | None,
        typer.Option(envvar="TACIT_URL", help="A service, which holds the data; DATA is then the name of a data set."),
    ] = None
    token_file: Annotated[
        Path | None, typer.Option(help="With --url: a file with the token; by default the token is in TACIT_TOKEN.")
    ] = None

    @property
    def remote(self) -> bool:
        """Whether the data are behind a service: DATA is no file and no database, and there is an address."""
        local = "://" in self.data or table_file(self.data) or self.data.lower().endswith(".toml")
        return self.url is not None and not local

    def _connected(self) -> RemoteCurator:
        """The curator of a data set behind a service."""
        from ..client import connect

        return connect(self.url or "", token(self.token_file), self.data)

    def table(self) -> DeclaredTable:
        """The table with its schema."""
        if self.remote:
            with self._connected() as curator:
                return curator.table
        return self.own_table()

    def own_tables(self) -> list[Table]:
        """The private tables on this machine, of which the first has the ledger."""
        return [self.own_table()]

    def lookups(self) -> dict[str, PublicTable]:
        """Public tables that a question in SQL can join, by name."""
        return {}

    @property
    def opens_ledger(self) -> bool:
        """Whether no ledger file exists yet; False for a ledger in a database, where only opening it can tell."""
        return "://" not in (self.ledger or "") and not Path(self.ledger or self._beside(".ledger", "ledger")).exists()

    @property
    def ledger_place(self) -> str:
        """The ledger's file or URL; without a ledger there must be a budget to open one."""
        place = self.ledger or str(self._beside(".ledger", "ledger"))
        if not self.budget and self.opens_ledger:
            says = f'There is no ledger at {place}. To open one, pass a budget: --budget "epsilon=1 delta=1e-9".'
            raise LedgerUnavailable(place, "there is none", says=says)
        return place

    @property
    def new_least_share(self) -> Fraction:
        """The smallest share of the budget that a question takes, in a ledger that is not opened yet."""
        return LEAST_SHARE if self.least_share is None else rational("least_share", self.least_share)

    def curator(self) -> Curator | RemoteCurator:
        """A curator of the table, with its ledger."""
        from ..curator import Curator

        if self.remote:
            return self._connected()
        tables, public = self.own_tables(), self.lookups()
        budget = parse_budget(self.budget) if self.budget else None
        more: dict[str, Any] = {"public": public.values(), "analyst": self.analyst, "least_share": self.least_share}
        return Curator(*tables, ledger=self.ledger_place, budget=budget, **more)


def table_command(act: Callable[..., None], buys: bool = False) -> Callable[..., None]:
    """The command whose options are the fields of the first parameter of `act`, followed by its other parameters."""
    hints = get_type_hints(act, include_extras=True)
    first, *own = inspect.signature(act).parameters.values()
    options = hints.pop(first.name)
    fields = inspect.signature(options).parameters

    def command(**values: Any) -> None:
        with reporting_errors(buys):
            act(options(**{name: values.pop(name) for name in fields}), **values)

    hints |= get_type_hints(options, include_extras=True)
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in (*fields.values(), *own)
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__name__, command.__doc__ = act.__name__, act.__doc__
    return command


def parse_budget(text: str) -> Budget:
    """The budget that a text such as "epsilon=1 delta=1e-9" describes."""
    parts = [part.partition("=")[::2] for part in text.replace(",", " ").split()]
    values, names = dict(parts), ("epsilon", "delta", "rho", "slack", "renyi_order")
    if len(values) < len(parts) or not values.keys() <= {*names}:
        raise BadParameter("budget", text, f"made of NAME=NUMBER, each name once, of {', '.join(names)}")
    return Budget(**values)
