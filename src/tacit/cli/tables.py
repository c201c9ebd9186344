"""Questions about a table on the command line: `tacit init`, `offer`, `explain` and `ask`.

The schema stands beside the data, people.toml beside people.parquet, and so does the ledger, people.ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from ..core.budget import Budget
from ..core.errors import BadParameter, LedgerUnavailable, TacitError
from ._say import console, fail, refuse

if TYPE_CHECKING:
    from ..curator import Curator
    from ..tables.price import Offer
    from ..tables.table import PublicTable, Table

Data = Annotated[Path, typer.Argument(help="The table: a .parquet, .csv, .arrow or .feather file.")]
Question = Annotated[
    str, typer.Argument(help='The question, as "SELECT region, COUNT(*) FROM people GROUP BY region".')
]
Schema = Annotated[Path | None, typer.Option(help="The schema; beside the data unless told.")]
Book = Annotated[Path | None, typer.Option("--ledger", help="The ledger; beside the data unless told.")]
Money = Annotated[str, typer.Option("--budget", help='Opens a ledger: "epsilon=1 delta=1e-9", "rho=0.1", "epsilon=1".')]
Epsilon = Annotated[str | None, typer.Option(help="The price, in epsilon.")]
Rho = Annotated[str | None, typer.Option(help="The price, in zCDP.")]
Delta = Annotated[str | None, typer.Option(help="The price in delta, where keys are chosen privately.")]
Error = Annotated[str | None, typer.Option(help="Instead of a price: the error that every count and sum may have.")]
Relative = Annotated[str | None, typer.Option(help="The same as a share of the table's public size.")]
Beta = Annotated[str, typer.Option(help="The probability with which an error bound may fail.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Who = Annotated[str, typer.Option(help="Who asks.")]
Public = Annotated[list[Path] | None, typer.Option(help="A public table, called as its file; may be repeated.")]


def demo(
    plot: Annotated[Path, typer.Option(help="Where to draw the answers: a .png, .svg or .html.")] = Path(
        "tacit-demo.html"
    ),
) -> None:
    """A shop's purchases, a budget, and a dozen questions from easy to refused."""
    from ..demo import run

    try:
        for part in run(plot):
            console.print(part, soft_wrap=True)
    except (TacitError, OSError) as problem:
        refuse(problem)


def init(
    file: Annotated[Path, typer.Argument(help="The table: a .parquet, .csv, .arrow or .feather file.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write; beside the data.")] = None,
) -> None:
    """Write a schema with the names and types of a file, for you to complete; no value is read."""
    from ..tables.init import describe

    target = output or file.with_suffix(".toml")
    try:
        text = describe(file)
        with target.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        fail(BadParameter("output", str(target), "a file that is not there yet"))
    except (TacitError, OSError) as error:
        fail(error)
    console.print(f"written: {escape(str(target))}; now say in it who is to be protected, and what is public")


def offer(
    data: Data,
    question: Question,
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    error: Error = None,
    relative: Relative = None,
    beta: Beta = "0.05",
    schema: Schema = None,
    ledger: Book = None,
    budget: Money = "",
    public: Public = None,
    as_json: Json = False,
) -> None:
    """What a question costs and how accurate its answer would be; reads no data and charges nothing."""
    terms: dict[str, Any] = {
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "error": error,
        "relative": relative,
        "beta": beta,
    }
    with _priced(_Place(data, schema, ledger, budget, public), question, terms) as made:
        if as_json:
            console.print_json(json.dumps(_facts(made)))
        else:
            console.print(_shown(made))


def explain(
    data: Data,
    question: Question,
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    error: Error = None,
    relative: Relative = None,
    beta: Beta = "0.05",
    schema: Schema = None,
    ledger: Book = None,
    budget: Money = "",
    public: Public = None,
) -> None:
    """How a question would be answered: mechanisms, what else was considered, and the theorems behind the errors."""
    terms: dict[str, Any] = {
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "error": error,
        "relative": relative,
        "beta": beta,
    }
    with _priced(_Place(data, schema, ledger, budget, public), question, terms) as made:
        console.print(escape(made.explain()), soft_wrap=True)


def ask(
    data: Data,
    question: Question,
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    error: Error = None,
    relative: Relative = None,
    beta: Beta = "0.05",
    schema: Schema = None,
    ledger: Book = None,
    budget: Money = "",
    public: Public = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Buy another draw of a question that was asked.")] = False,
    analyst: Who = "analyst",
    as_json: Json = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the answer with its errors: a .png, .svg or .html.")] = None,
) -> None:
    """Buy an answer.  The same question again is free."""
    terms: dict[str, Any] = {
        "epsilon": epsilon,
        "rho": rho,
        "delta": delta,
        "error": error,
        "relative": relative,
        "beta": beta,
    }
    try:
        with _Place(data, schema, ledger, budget, public).curator() as curator:
            if console.is_terminal and not as_json:
                with console.status("asking"):
                    release = curator.ask(question, fresh=fresh, analyst=analyst, **terms)
            else:
                release = curator.ask(question, fresh=fresh, analyst=analyst, **terms)
            console.print_json(release.to_json().decode()) if as_json else console.print(
                escape(str(release)), soft_wrap=True
            )
            if plot is not None:
                from .. import plots

                console.print(f"drawn: {escape(str(plots.save(release.plot(), plot)))}")
    except (TacitError, OSError) as problem:
        refuse(problem)


@dataclass(frozen=True)
class _Place:
    """Where the data, what is public about it, and the account are."""

    data: Path
    schema: Path | None
    ledger: Path | None
    budget: str
    public: list[Path] | None

    def tables(self) -> tuple[Table, dict[str, PublicTable]]:
        from ..tables.table import PublicTable, Table

        table = Table(self.data, self.schema or self.data.with_suffix(".toml"))
        return table, {path.stem: PublicTable(path, path.stem) for path in self.public or ()}

    @property
    def book(self) -> Path:
        place = self.ledger or self.data.with_suffix(".ledger")
        if not self.budget and not place.exists():
            raise LedgerUnavailable(place, 'there is none; say what may be spent, as --budget "epsilon=1 delta=1e-9"')
        return place

    def curator(self) -> Curator:
        from ..curator import Curator

        table, public = self.tables()
        money = budget_of(self.budget) if self.budget else None
        return Curator(table, ledger=self.book, budget=money, public=public.values())

    def offer(self, question: str, terms: dict[str, Any]) -> Offer:
        """The offer of the ledger, or of the budget where there is none yet."""
        from ..curator import asked
        from ..ledger import Ledger
        from ..tables.price import offer

        table, public = self.tables()
        if self.budget:
            money = budget_of(self.budget)
        else:
            with Ledger.open(self.book) as book:
                money = book.budget
        name = table.schema.name
        query, said = asked(question, {name: table}, public, terms)
        return offer(query, money, schemas={name: table.schema}, **said)


@contextmanager
def _priced(place: _Place, question: str, terms: dict[str, Any]) -> Iterator[Offer]:
    try:
        yield place.offer(question, terms)
    except (TacitError, OSError) as problem:
        refuse(problem)


def budget_of(text: str) -> Budget:
    """A budget from NAME=NUMBER texts."""
    given = dict(part.partition("=")[::2] for part in text.replace(",", " ").split())
    known = ("epsilon", "delta", "rho", "slack", "renyi_order")
    for name in given:
        if name not in known:
            raise BadParameter("budget", text, f"made of NAME=NUMBER, with names {', '.join(known)}")
    return Budget(**given)


def _facts(made: Offer) -> dict[str, Any]:
    errors = [{"column": e.name, "error": str(e), "theorem": e.theorem} for e in made.errors]
    price = {"price": float(made.price), "budget": str(made.budget), "confidence": float(1 - made.beta)}
    return {**price, "errors": errors, "mechanisms": [str(step.mechanism) for step in made.steps]}


def _shown(made: Offer) -> Grid:
    grid = Grid("column", f"error, with probability {float(1 - made.beta):g}", "by", title=escape(_price(made)))
    for error in made.errors:
        grid.add_row(escape(error.name), escape(str(error)), escape(error.theorem))
    return grid


def _price(made: Offer) -> str:
    return f"costs {float(made.price):g} of {made.budget}"
