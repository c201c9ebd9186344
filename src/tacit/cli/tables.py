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
from .output import Json, console, error_console, print_json, print_surcharge, reporting_errors, save_plot
from .receipt import PendingReceipt, cost
from .table_options import Epsilon, Rho, SchemaOptions, Share, TableOptions, parse_budget, table_command

if TYPE_CHECKING:
    from ..query.plan.offer import Offer
    from ..query.python.table import Table
    from ..query.schema.public_table import PublicTable

_TERMS = ("epsilon", "delta", "share", "rho", "error", "relative", "beta")


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(TableOptions):
    """The options of `offer`, `explain` and `ask`: a question about a table, and its price or its error."""

    question: Annotated[
        str, typer.Argument(help='The question: "SELECT region, COUNT(*) FROM people GROUP BY region".')
    ]
    epsilon: Epsilon = None
    delta: Annotated[
        str | None,
        typer.Option(
            help="With --epsilon, the delta of that guarantee; otherwise the delta with which private keys may fail."
        ),
    ] = None
    share: Share = None
    rho: Rho = None
    error: Annotated[
        str | None, typer.Option(help="Instead of a price: the error wanted of counts and sums, or of means alone.")
    ] = None
    relative: Annotated[
        str | None,
        typer.Option(
            help="Instead of a price: the error wanted as a share of the public size; for a sum, of its largest value."
        ),
    ] = None
    beta: Annotated[str, typer.Option(help="The probability with which an error bound may fail.")] = "0.05"
    public: Annotated[
        list[Path] | None, typer.Option(help="A public table, named after its file; can be given repeatedly.")
    ] = None
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Another private table of the same units, with its schema beside it; can be given repeatedly. Give the"
            " same ones each time: a question belongs to all tables that are given."
        ),
    ] = None

    @property
    def terms(self) -> dict[str, Any]:
        """The price or the error that was asked for."""
        return {name: getattr(self, name) for name in _TERMS}

    def own_tables(self) -> list[Table]:
        others = (SchemaOptions(data=place, engine=self.engine) for place in self.also or ())
        return [self.own_table(), *(other.own_table() for other in others)]

    @property
    def remote(self) -> bool:
        if super().remote and self.also:
            says = "A service has the tables of its data set. Leave out --also."
            raise BadParameter("also", self.also, "left out where a service has the data", says=says)
        return super().remote

    def lookups(self) -> dict[str, PublicTable]:
        from ..query.schema.public_table import PublicTable

        return {path.stem: PublicTable(path) for path in self.public or ()}

    def offer(self) -> PricedOffer:
        """The offer under the ledger, or under --budget where there is no ledger yet."""
        from ..curator import parse_question
        from ..curator.questions import tables_by_name
        from ..query.plan.offer import offer

        if not self.remote and self.budget and self.opens_ledger:
            tables, public = tables_by_name(self.own_tables(), self.lookups().values())
            for table in tables.values():
                table.check()
            query, terms = parse_question(self.question, tables, public, self.terms)
            schemas, least = {name: table.schema for name, table in tables.items()}, self.new_least_share
            offered = offer(query, parse_budget(self.budget), schemas=schemas, least_share=least, **terms)
            return PricedOffer(offered, offered.price <= offered.budget.limit)
        with self.curator() as curator:
            offered = curator.offer(self.question, **self.terms)
            _, *allowances = curator.accounts(offered.query.relation)
            prices = [(curator.analyst, account[0], cost(account, offered.loss)) for account in allowances]
            return PricedOffer(offered, curator.covers(offered), *prices)


class PricedOffer(NamedTuple):
    """An offer, whether what is left pays for it, and what it costs of an allowance, if there is one."""

    offer: Offer
    covered: bool
    allowance: tuple[str, Budget, Amount] | None = None  # the analyst, their allowance, and the price

    def __str__(self) -> str:
        price = f"costs {float(self.offer.price):g} of {self.offer.budget}"
        return price if self.allowance is None else f"{price} and {self.price_of_allowance}"

    @property
    def price_of_allowance(self) -> str:
        """What the offer costs of an allowance, in words."""
        if self.allowance is None:
            return "nothing of an allowance"
        analyst, budget, price = self.allowance
        amount = "more than all" if price == math.inf else f"{float(price):g}"
        return f"{amount} of {budget.allowance_of(analyst)}"


def init(
    file: Annotated[Path, typer.Argument(help="The table: a .parquet, .csv, .arrow or .feather file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; by default the .toml file beside the data."),
    ] = None,
    look: Annotated[
        bool,
        typer.Option(
            "--look",
            help="READ THE VALUES of the file to propose types, labels, bounds, spellings of missing values, the "
            "delimiter, decimal commas and forms of dates; every line is then for you to check.",
        ),
    ] = False,
) -> None:
    """Write a schema with the names and types of a file, for you to complete; no value is read without --look."""
    from ..query.schema.data import TABLES, beside, regular
    from ..query.schema.draft import describe

    with reporting_errors():
        proposal = None
        if look:
            from ..engines.duckdb.proposals import propose

            with console.status("looking"):
                proposal = propose(regular("data", file, TABLES))
        text = describe(file, proposal)
        target = output or beside(file, ".toml") or file.with_suffix(".toml")
        if target.exists():
            says = f"{target} already exists. Remove it, or pass another file as --output."
            raise BadParameter("output", str(target), "a file that does not exist yet", says=says)
        with target.open("x", encoding="utf-8") as out:
            out.write(text)
    if look:
        console.print("The values of the file were read: bounds and labels are proposals, for you to check or replace.")
    console.print(f"Wrote {escape(str(target))}. Now declare in it whom to protect, and what is public.")


@table_command
def offer(options: QuestionOptions, *, as_json: Json = False) -> None:
    """What a question costs and how accurate its answer would be; reads no data and charges nothing."""
    priced = options.offer()
    if as_json:
        print_json(_facts(priced))
        return
    console.print(_error_table(priced))
    for remark in priced.offer.remarks:
        console.print(escape(f"{remark[0].upper()}{remark[1:]}"), soft_wrap=True)
    _warn_if_too_dear(priced)


@table_command
def explain(options: QuestionOptions) -> None:
    """How a question would be answered: mechanisms, what else was considered, and the theorems behind the errors."""
    priced = options.offer()
    console.print(escape(priced.offer.explain()), soft_wrap=True)
    if priced.allowance is not None:
        console.print(escape(f"and costs {priced.price_of_allowance}"), soft_wrap=True)
    _warn_if_too_dear(priced)


@partial(table_command, buys=True)
def ask(
    options: QuestionOptions,
    *,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Buy another draw of a question that was asked before.")
    ] = False,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the answer with its errors: a .png, .svg or .html file.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="With --plot: the column to plot; by default the first column of numbers.")
    ] = None,
) -> None:
    """Buy an answer.  The same question again is free."""
    if as_json and as_csv:
        raise BadParameter("output", "both", "one of them", says="Choose one of --json and --csv.")
    place = None
    if plot is not None:
        from .. import plots
        from ..release.plots import drawable

        place = plots.target(plot)  # a plot that cannot be written is refused before anything is charged
    with options.curator() as curator, nullcontext() if as_json or as_csv else console.status("asking"):
        query, _ = curator.read(options.question, options.terms)
        columns = [] if place is None else drawable(query)
        if column is not None and column not in columns:
            says = "" if columns else "Pass --plot too: --column chooses the column to plot."
            raise BadParameter("column", column, f"one of {', '.join(columns)}", says=says)
        pending = PendingReceipt(curator, query.relation, reads=not query.public)
        if len(curator.budget.sums) > 1:  # in a single currency a guarantee is its own price
            with suppress(TacitError):  # a question that would be refused now may have been bought before
                print_surcharge(curator.offer(options.question, **options.terms).surcharge)
        release = curator.ask(options.question, fresh=fresh, **options.terms)
        receipt = pending.receipt(release.provenance.entry, epsilon=options.epsilon, rho=options.rho)
        bill = "Free, for everybody and always." if query.public else str(receipt)
    if as_json:
        print_json({**json.loads(release.to_json()), "card": release.card(), "bill": receipt.facts()})
    elif as_csv:
        sys.stdout.write(release.to_csv())
        error_console.print(escape(bill), soft_wrap=True)
    else:
        console.print(escape(str(release)), soft_wrap=True)
        console.print(escape(bill), soft_wrap=True)
    if place is not None:
        save_plot(release.plot(column), place, error_console if as_json or as_csv else console)


@partial(table_command, buys=True)
def bounds(
    options: TableOptions,
    column: Annotated[str, typer.Argument(help="A column of numbers, dates or timestamps.")],
    *,
    epsilon: Epsilon = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon, the delta of that guarantee.")] = None,
    share: Share = None,
    rho: Rho = None,
    beta: Annotated[str, typer.Option(help="The probability with which the bounds may be wrong.")] = "0.01",
    fresh: Annotated[bool, typer.Option("--fresh", help="Buy another draw of bounds that were bought before.")] = False,
) -> None:
    """Buy bounds of a column: prints lines for its schema, and the receipt on standard error."""
    from ..curator.bounds import surcharge
    from ..curator.purse import TakesMore

    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "share": share, "rho": rho, "beta": beta}
    with options.curator() as curator:
        pending = PendingReceipt(curator, curator.table.relation)
        print_surcharge(surcharge(curator, column, **price))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TakesMore)  # just printed
            bought = curator.bounds(column, fresh=fresh, **price)
        (error_console if bought.lower is None else console).print(escape(str(bought)), soft_wrap=True)
        error_console.print(escape(str(pending.receipt(epsilon=epsilon, rho=rho))), soft_wrap=True)


def _facts(priced: PricedOffer) -> dict[str, Any]:
    """An offer as JSON values."""
    offered = priced.offer
    errors = [{"column": e.name, "error": str(e), "within": e.error, "theorem": e.theorem} for e in offered.errors]
    facts: dict[str, Any] = {"price": float(offered.price), "budget": str(offered.budget)}
    facts |= {"alone": offered.promised, "remarks": offered.remarks, "confidence": float(1 - offered.beta)}
    if priced.allowance is not None:
        analyst, budget, price = priced.allowance
        amount = None if price == math.inf else float(price)
        facts["allowance"] = {"analyst": analyst, "budget": str(budget), "price": amount}
    mechanisms = [str(step.mechanism) for step in offered.steps]
    return {**facts, "errors": errors, "mechanisms": mechanisms, "covered": priced.covered}


def _error_table(priced: PricedOffer) -> Grid:
    confidence = f"error, with probability {float(1 - priced.offer.beta):g}"
    grid = Grid("column", confidence, "by", title=escape(str(priced)))
    for error in priced.offer.errors:
        grid.add_row(escape(error.name), escape(str(error)), escape(error.theorem))
    return grid


def _warn_if_too_dear(priced: PricedOffer) -> None:
    if not priced.covered:
        console.print(
            "What is left does not cover this; unless it was asked before, it will be refused.", soft_wrap=True
        )
