"""What the commands about a table are told: each field here is an argument or an option of theirs.

The schema stands beside the data, people.toml beside people.parquet, and so does the ledger, people.ledger.  Where the
schema names its source, the schema can be given in the place of the data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..core.accounting.budget import LEAST_SHARE, Budget
from ..core.errors import BadParameter, LedgerUnavailable
from ..core.parameters import rational
from ..query.schema.data import TABLES, regular
from ._say import in_words

if TYPE_CHECKING:
    from ..curator import Curator
    from ..query.python.table import Table
    from ..query.schema.public_table import PublicTable

Epsilon = Annotated[
    str | None,
    typer.Option(
        help="What the release alone guarantees: epsilon-differential privacy, or (epsilon, delta) with --delta. "
        "What it takes of the budget is said beside it."
    ),
]
Share = Annotated[
    str | None, typer.Option(help="How much of the budget it may take, as a fraction: 0.1 is a tenth of it.")
]
Rho = Annotated[str | None, typer.Option(help="What the release alone guarantees, in zCDP.")]
Engine = Annotated[
    str | None,
    typer.Option(help="Who reads the table: duckdb, postgres or spark; unless told, whoever reads such data."),
]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table, its schema, its ledger, and who asks."""

    data: Annotated[
        str,
        typer.Argument(
            help="The table: a .parquet, .csv, .arrow or .feather file; a database's URL; with --engine postgres or "
            "spark a table's name there; or a schema (.toml) that names its source."
        ),
    ]
    schema: Annotated[Path | None, typer.Option(help="The schema; beside the data unless told.")] = None
    ledger: Annotated[str | None, typer.Option(help="The ledger, a file or a URL; beside the data unless told.")] = None
    budget: Annotated[str, typer.Option(help='Opens a ledger: "epsilon=1 delta=1e-9", "rho=0.1", "epsilon=1".')] = ""
    least_share: Annotated[
        str | None,
        typer.Option(help="With --budget: the share of it that a question takes at least; 0.0001 unless told."),
    ] = None
    analyst: Annotated[str, typer.Option(help="Who asks.")] = "analyst"
    engine: Engine = None

    def table(self) -> Table:
        from ..query.python.table import Table

        data = None if self.data.lower().endswith(".toml") else self.data
        if data is not None and "://" not in data and data.lower().endswith(TABLES):
            regular("data", data, TABLES)  # before its schema, which is not there either
        return Table(data, self.schema or self._beside(".toml", "schema"), engine=self.engine)

    def lookups(self) -> dict[str, PublicTable]:
        """Public tables, which a question in words can look into."""
        return {}

    def _beside(self, suffix: str, name: str) -> Path:
        """The file beside the data."""
        if "://" in self.data:
            raise BadParameter(name, "nothing", f"given as --{name} where the data are in a database")
        ending = Path(self.data).suffix
        return Path(f"{self.data.removesuffix(ending) if ending.lower() in (*TABLES, '.toml') else self.data}{suffix}")

    @property
    def new(self) -> bool:
        """Whether there is no ledger yet; one in a database says so itself."""
        return "://" not in (self.ledger or "") and not Path(self.ledger or self._beside(".ledger", "ledger")).exists()

    @property
    def book(self) -> str:
        place = self.ledger or str(self._beside(".ledger", "ledger"))
        if not self.budget and self.new:
            said = f'there is no ledger at {place}; say what may be spent, as --budget "epsilon=1 delta=1e-9"'
            raise LedgerUnavailable(place, "there is none", says=said)
        return place

    def curator(self) -> Curator:
        from ..curator import Curator

        table, public = self.table(), self.lookups()
        money = budget_of(self.budget) if self.budget else None
        asks: dict[str, Any] = {"public": public.values(), "analyst": self.analyst, "least_share": self.least_share}
        return Curator(table, ledger=self.book, budget=money, **asks)

    @property
    def least(self) -> Fraction:
        """The least share of a budget with which no ledger is opened yet."""
        return LEAST_SHARE if self.least_share is None else rational("least_share", self.least_share)


def told(act: Callable[..., None], buys: bool = False) -> Callable[..., None]:
    """The command whose options are the fields of what `act` takes first, and what it takes besides."""
    hints = get_type_hints(act, include_extras=True)
    first, *own = inspect.signature(act).parameters.values()
    source = hints.pop(first.name)
    fields = inspect.signature(source).parameters

    def command(**given: Any) -> None:
        with in_words(buys):
            act(source(**{name: given.pop(name) for name in fields}), **given)

    hints |= get_type_hints(source, include_extras=True)
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in (*fields.values(), *own)
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__name__, command.__doc__ = act.__name__, act.__doc__
    return command


def budget_of(text: str) -> Budget:
    """A budget from NAME=NUMBER texts."""
    parts = [part.partition("=")[::2] for part in text.replace(",", " ").split()]
    given, known = dict(parts), ("epsilon", "delta", "rho", "slack", "renyi_order")
    if len(given) < len(parts) or not given.keys() <= {*known}:
        raise BadParameter("budget", text, f"made of NAME=NUMBER, each name once, of {', '.join(known)}")
    return Budget(**given)
