"""Linear queries on the command line: `tacit compare` and `tacit plan`."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from ..core.errors import BadParameter
from ..core.exact import from_above
from ..core.safe_text import cell
from .output import (
    Json,
    Plot,
    console,
    error_console,
    print_json,
    print_surcharge,
    progress_bars,
    reporting_errors,
    save_plot,
)
from .receipt import PendingReceipt, Receipt
from .table_options import Epsilon, Rho, Share, TableOptions, parse_budget, table_command

if TYPE_CHECKING:
    from ..query.python.table import DeclaredTable as Private
    from ..release.purchased_answers import Bought
    from ..workloads import Domain, Plan, Workload

MAX_ROWS = 10**7  # so that they fit in memory
_MAX_DIGITS = 20
_KINDS = (
    "marginals K (all K-way marginals; by default of pairs, or of a single attribute), "
    "prefixes or ranges (of the first attribute)"
)


def compare(
    domain: Annotated[
        str, typer.Argument(help="How many values each attribute has, as 2x2x10; several, separated by commas.")
    ] = "2x2x2x2x2x2",
    *,
    workload: Annotated[str, typer.Option(help=f"{_KINDS}; several, separated by commas.")] = "marginals",
    n: Annotated[str, typer.Option(help="Numbers of records, separated by commas.")] = "1000,10000,100000",
    epsilon: Annotated[str, typer.Option(help="Epsilons, separated by commas.")] = "1",
    delta: Annotated[str | None, typer.Option(help="The delta of each guarantee.")] = None,
    plot: Plot = None,
) -> None:
    """Compare every method for linear queries: its predicted and its measured error on generated data."""
    from ..workloads import Domain, Price
    from ..workloads.comparison import compare as compared
    from ..workloads.queries.domain import CELLS
    from ..workloads.textbook import textbook

    with reporting_errors():
        place = None if plot is None else _target(plot)
        shapes = [[_whole("domain", size, CELLS) for size in text.split("x")] for text in domain.split(",")]
        domains = [Domain.of({f"a{i}": size for i, size in enumerate(sizes, 1)}) for sizes in shapes]
        kinds = dict.fromkeys(text.strip() for text in workload.split(","))
        workloads = [(kind, _workload(each, kind)) for each in domains for kind in kinds]
        ns = [_whole("n", text, MAX_ROWS) for text in n.split(",")]
        prices = [text.strip() for text in epsilon.split(",")]
        guarantees = [Price.of(epsilon=price, delta=delta) for price in prices]
        (name, last), several = workloads[-1], len(workloads) * len(ns) * len(prices) > 1
        setting = f"{name} on {'x'.join(map(str, shapes[-1]))}, n = {ns[-1]}, {guarantees[-1]}"
        lines = textbook(last.queries, last.domain.size, ns[-1], prices[-1], delta=delta or 0)
        console.print(_textbook_table(lines, f"for the last setting alone: {setting}" if several else f"for {setting}"))
        with progress_bars():
            names, asked = zip(*workloads, strict=True)
            rows = compared(list(asked), ns, guarantees, names=list(names))
        for table in _comparison_tables(rows):
            console.print(table)
        if place is not None:
            from .. import plots

            save_plot(plots.methods(rows), place)


@table_command
def plan(
    options: TableOptions,
    attributes: Annotated[list[str], typer.Argument(help="Columns with public values.")],
    *,
    workload: Annotated[str, typer.Option(help=f"{_KINDS}.")] = "marginals",
    epsilon: Epsilon = None,
    delta: Annotated[
        str | None, typer.Option(help="With --epsilon, the delta of that guarantee, used where it helps.")
    ] = None,
    share: Share = None,
    rho: Rho = None,
    n: Annotated[int | None, typer.Option(help="The exact number of records, if that number is public.")] = None,
    buy: Annotated[bool, typer.Option("--buy", help="Buy the answers by the best method.")] = False,
    method: Annotated[str, typer.Option(help="With --buy: the method.")] = "auto",
    synthetic: Annotated[int, typer.Option(help="With --buy: write this many synthetic rows as CSV.")] = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """List every method for linear queries about a table, best first; with --buy, buy the answers.

    With --ledger or --budget, also shows what the best method takes of the budget.
    """
    if as_json and synthetic:
        raise BadParameter("output", "both", "one of them", says="Choose one of --json and --synthetic.")
    if synthetic and not buy:
        says = "Pass --buy too: synthetic rows are drawn from bought answers."
        raise BadParameter("synthetic", synthetic, "given with --buy", says=says)
    if method != "auto" and not buy:
        says = "Pass --buy too: without it, every method that applies is shown."
        raise BadParameter("method", method, "given with --buy", says=says)
    place = None if plot is None else _target(plot)
    table = options.table()
    domain = table.domain(*attributes)
    asked, price = _workload(domain, workload), dict[str, Any](epsilon=epsilon, delta=delta, share=share, rho=rho)
    planned = _planned(options, table, asked, n, price, bought=method if buy else None)
    if place is not None:
        from .. import plots

        save_plot(plots.planned(planned), place, error_console)
    if not buy and as_json:
        facts: dict[str, Any] = {"workload": repr(asked), "n": n, "price": str(planned.price), "why": planned.why}
        facts |= {"remarks": list(planned.remarks), "surcharge": planned.surcharge}
        print_json({**facts, "methods": [{k: _finite(v) for k, v in row.items()} for row in planned.records()]})
        return
    if not buy:
        console.print(escape(str(planned)), soft_wrap=True)
        return
    if synthetic:
        _try_without_data(planned, method, synthetic)
    print_surcharge(planned.surcharge)
    with reporting_errors(buys=True), options.curator() as curator, progress_bars():
        pending = PendingReceipt(curator, domain.relation)
        released = curator.answer(asked, method=method, n=n, **price)
        receipt = pending.receipt(released.provenance.entry, epsilon=epsilon, rho=rho)
    _print_bought(released, receipt, synthetic=synthetic, as_json=as_json)


def _planned(
    options: TableOptions, table: Private, asked: Workload, n: int | None, price: dict[str, Any], *, bought: str | None
) -> Plan:
    """The plan, with what the method to be bought takes of the ledger's budget, or of --budget without a ledger."""
    from ..core.accounting.loss import zero
    from ..curator.purse import Purse
    from ..curator.workloads import plan as planning
    from ..query.plan.offer import BETA

    tables, method = {table.schema.name: table}, bought or "auto"
    if not options.remote and options.budget and options.opens_ledger:
        purse = Purse([(parse_budget(options.budget), [zero])], options.new_least_share)
        return planning(tables, asked, n, BETA, lambda _: purse, method=method, **price)
    if options.remote or bought or options.ledger or options.budget or price["share"]:
        with options.curator() as curator:
            return planning(tables, asked, n, BETA, lambda rows: curator.purse(rows, None), method=method, **price)
    return planning(tables, asked, n, BETA, **price)


def _print_bought(released: Bought, receipt: Receipt, *, synthetic: int, as_json: bool) -> None:
    """Print bought answers, or synthetic rows that are drawn from them, and the receipt."""
    asked = released.workload
    if synthetic:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(map(cell, asked.domain.names))
        for batch in released.synthetic(synthetic).to_batches(1 << 16):
            writer.writerows([cell(v) if isinstance(v, str) else v for v in row.values()] for row in batch.to_pylist())
        error_console.print(escape(str(receipt)), soft_wrap=True)
        return
    errors = [None] * asked.queries if released.errors is None else released.errors.tolist()
    if as_json:
        answers = zip(map(asked.label, range(asked.queries)), released.answers.tolist(), errors, strict=True)
        rows = [{"query": query, "count": _finite(count), "within": _finite(error)} for query, count, error in answers]
        facts = {"method": released.method, "answers": rows, "paid": receipt.paid, "left": receipt.left}
        print_json({**facts, "confidence": 1 - released.beta, "notes": released.notes, "card": released.card()})
        return
    within = f"within, with probability {1 - released.beta:g} each"
    table = Table("query", "count", within, title=escape(f"by {released.method}"))
    for i, (answer, error) in enumerate(zip(released.answers.tolist(), errors, strict=True)):
        table.add_row(escape(asked.label(i)), f"{answer:.6g}", "unknown" if error is None else from_above(error))
    console.print(table)
    for line in (*released.notes, receipt):
        console.print(escape(str(line)), soft_wrap=True)


def _finite(value: Any) -> Any:
    """The value, or None in place of an infinite number or NaN, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _try_without_data(planned: Plan, method: str, synthetic: int) -> None:
    """Draw a synthetic row from a release about no records, so that what would fail is refused before it is charged."""
    import numpy as np

    from ..workloads import Rows

    if not 0 < synthetic <= MAX_ROWS:
        raise BadParameter("synthetic", synthetic, f"from 1 to {MAX_ROWS} rows")
    asked, chosen = planned.workload, planned.row(method)
    nobody = Rows(asked.domain, np.zeros((0, len(asked.domain.shape)), np.int64), planned.price.unit)
    chosen.method.release(asked, nobody, chosen.price, n=planned.n).synthetic(1)


def _workload(domain: Domain, text: str) -> Workload:
    """The workload that a text such as "marginals 2" describes."""
    from ..workloads import marginals, prefixes, ranges

    kind, _, rest = text.partition(" ")
    match kind:
        case "marginals":
            return marginals(domain, k=_whole("workload", rest) if rest else min(2, len(domain.names)))
        case "prefixes":
            return prefixes(domain, domain.names[0])
        case "ranges":
            return ranges(domain, domain.names[0])
    raise BadParameter("workload", text, "marginals K, prefixes or ranges")


def _whole(name: str, text: str, most: int = MAX_ROWS) -> int:
    if not text.strip().isdecimal() or len(text) > _MAX_DIGITS or int(text) > most:
        raise BadParameter(name, text, f"whole numbers of at most {most}")
    return int(text)


def _target(plot: Path) -> Path:
    from .. import plots

    return plots.target(plot)


def _textbook_table(lines: Any, title: str) -> Table:
    headings = "in the textbooks", "largest error / n", "with these numbers", "operations"
    table = Table(*headings, title=escape(title))
    for line in lines:
        table.add_row(line.method, escape(line.formula), f"{line.error:.3g}", line.operations)
    return table


def _comparison_tables(rows: list[dict[str, Any]]) -> Iterator[Table]:
    """One table for each domain, workload, number of records and price."""
    setting = "workload", "domain", "cells", "queries", "n", "price"
    for (workload, domain, cells, queries, n, price), some in groupby(rows, itemgetter(*setting)):
        shown = [{name: v for name, v in row.items() if name not in setting} for row in some]
        title = f"{workload} on {domain}: errors divided by n\n{cells} cells, {queries} queries, n = {n}, {price}"
        table = Table(*(name.replace(" ", "\n") for name in shown[0]), title=escape(title), box=SIMPLE_HEAD)
        for row in shown:
            table.add_row(
                *("-" if v is None else f"{v:.3g}" if isinstance(v, float) else escape(str(v)) for v in row.values())
            )
        yield table
