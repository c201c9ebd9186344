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
from ._bill import Bill, Till
from ._say import aside, console, in_words, say_json, say_surcharge, watching
from ._source import Epsilon, Rho, Share, Source, budget_of, told
from .tables import Json

if TYPE_CHECKING:
    from ..query.python.table import Table as Private
    from ..release.purchased_answers import Bought
    from ..workloads import Domain, Plan, Workload

MOST = 10**7  # rows, so that they fit in memory
_DIGITS = 20
Words = Annotated[
    str,
    typer.Option(
        help="marginals K (all K-way; of pairs unless told, or of a single attribute), "
        "prefixes or ranges (of the first attribute). For compare, several with commas between."
    ),
]
Plot = Annotated[Path | None, typer.Option(help="Draw it: a .png, .svg or .html.")]


def compare(
    domain: Annotated[
        str, typer.Argument(help="How many values each attribute has, as 2x2x10; several with commas between.")
    ] = "2x2x2x2x2x2",
    *,
    workload: Words = "marginals",
    n: Annotated[str, typer.Option(help="Numbers of records, with commas between.")] = "1000,10000,100000",
    epsilon: Annotated[str, typer.Option(help="Prices, with commas between.")] = "1",
    delta: Annotated[str | None, typer.Option(help="Spend them at this delta.")] = None,
    plot: Plot = None,
) -> None:
    """Every way to answer linear queries, predicted and measured on generated data, as any of these varies."""
    from ..workloads import Domain, Price
    from ..workloads.comparison import compare as compared
    from ..workloads.queries.domain import CELLS
    from ..workloads.textbook import textbook

    with in_words():
        place = None if plot is None else _target(plot)
        shapes = [[_whole("domain", size, CELLS) for size in text.split("x")] for text in domain.split(",")]
        domains = [Domain.of({f"a{i}": size for i, size in enumerate(sizes, 1)}) for sizes in shapes]
        words = dict.fromkeys(text.strip() for text in workload.split(","))
        asked = [(text, _workload(public, text)) for public in domains for text in words]
        ns, prices = [_whole("n", text, MOST) for text in n.split(",")], [text.strip() for text in epsilon.split(",")]
        paid = [Price.of(epsilon=price, delta=delta) for price in prices]
        (name, last), several = asked[-1], len(asked) * len(ns) * len(prices) > 1
        about = f"{name} on {'x'.join(map(str, shapes[-1]))}, n = {ns[-1]}, {paid[-1]}"
        lines = textbook(last.queries, last.domain.size, ns[-1], prices[-1], delta=delta or 0)
        console.print(_lines(lines, f"for the last setting alone: {about}" if several else f"for {about}"))
        with watching():
            rows = compared([each for _, each in asked], ns, paid, names=[text for text, _ in asked])
        for table in _tables(rows):
            console.print(table)
        if place is not None:
            from .. import plots

            console.print(f"drawn: {escape(str(plots.save(plots.methods(rows), place)))}")


@told
def plan(
    source: Source,
    attributes: Annotated[list[str], typer.Argument(help="Columns with public values.")],
    *,
    workload: Words = "marginals",
    epsilon: Epsilon = None,
    delta: Annotated[
        str | None, typer.Option(help="With --epsilon, the delta of that guarantee; spent or not, as is best.")
    ] = None,
    share: Share = None,
    rho: Rho = None,
    n: Annotated[int | None, typer.Option(help="The exact number of records, if that is public.")] = None,
    buy: Annotated[bool, typer.Option("--buy", help="Buy the answers by the best method.")] = False,
    method: Annotated[str, typer.Option(help="With --buy: by this method.")] = "auto",
    synthetic: Annotated[int, typer.Option(help="With --buy: write so many synthetic rows as CSV.")] = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Every way to answer linear queries about a table, best first; with --buy, the answers.

    With --ledger or --budget it is said what the best takes of the budget.
    """
    if as_json and synthetic:
        raise BadParameter("output", "both", "one of them", says="choose one of --json and --synthetic")
    if synthetic and not buy:
        raise BadParameter("synthetic", synthetic, "given with --buy, as rows are drawn from what was bought")
    if method != "auto" and not buy:
        raise BadParameter("method", method, "given with --buy; a plan shows all that can be used")
    place = None if plot is None else _target(plot)
    table = source.table()
    domain = table.domain(*attributes)
    asked, price = _workload(domain, workload), dict[str, Any](epsilon=epsilon, delta=delta, share=share, rho=rho)
    planned = _planned(source, table, asked, n, price, bought=method if buy else None)
    if place is not None:
        from .. import plots

        aside.print(f"drawn: {escape(str(plots.save(plots.planned(planned), place)))}")
    if not buy and as_json:
        about: dict[str, Any] = {"workload": repr(asked), "n": n, "price": str(planned.price), "why": planned.why}
        about |= {"remarks": list(planned.remarks), "surcharge": planned.surcharge}
        say_json({**about, "methods": [{k: _known(v) for k, v in row.items()} for row in planned.records()]})
        return
    if not buy:
        console.print(escape(str(planned)), soft_wrap=True)
        return
    if synthetic:
        _rehearse(planned, method, synthetic)
    say_surcharge(planned.surcharge)
    with in_words(buys=True), source.curator() as curator, watching():
        till = Till(curator, domain.relation)
        released = curator.answer(asked, method=method, n=n, **price)
        paid = till.bill(released.provenance.entry, epsilon=epsilon, rho=rho)
    _tell(released, paid, synthetic=synthetic, as_json=as_json)


def _planned(
    source: Source, table: Private, asked: Workload, n: int | None, price: dict[str, Any], *, bought: str | None
) -> Plan:
    """The plan, with what the method to be bought takes of the ledger's budget, or of one that is not opened yet."""
    from ..core.accounting.loss import zero
    from ..curator.purse import Purse
    from ..curator.workloads import plan as planning
    from ..query.plan.offer import BETA

    tables, method = {table.schema.name: table}, bought or "auto"
    if source.budget and source.new:
        purse = Purse([(budget_of(source.budget), [zero])], source.least)
        return planning(tables, asked, n, BETA, lambda _: purse, method=method, **price)
    if bought or source.ledger or source.budget or price["share"]:
        with source.curator() as curator:
            return planning(tables, asked, n, BETA, lambda rows: curator.purse(rows, None), method=method, **price)
    return planning(tables, asked, n, BETA, **price)


def _tell(released: Bought, paid: Bill, *, synthetic: int, as_json: bool) -> None:
    """What was bought: rows drawn from it, or its answers."""
    asked = released.workload
    if synthetic:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(map(cell, asked.domain.names))
        for batch in released.synthetic(synthetic).to_batches(1 << 16):
            writer.writerows([cell(v) if isinstance(v, str) else v for v in row.values()] for row in batch.to_pylist())
        aside.print(escape(str(paid)), soft_wrap=True)
        return
    errors = [None] * asked.queries if released.errors is None else released.errors.tolist()
    if as_json:
        answers = zip(map(asked.label, range(asked.queries)), released.answers.tolist(), errors, strict=True)
        rows = [{"query": query, "count": _known(count), "within": _known(error)} for query, count, error in answers]
        facts = {"method": released.method, "answers": rows, "paid": paid.paid, "left": paid.left}
        say_json({**facts, "confidence": 1 - released.beta, "notes": released.notes, "card": released.card()})
        return
    within = f"within, with probability {1 - released.beta:g} each"
    shown = Table("query", "count", within, title=escape(f"by {released.method}"))
    for i, (answer, error) in enumerate(zip(released.answers.tolist(), errors, strict=True)):
        shown.add_row(escape(asked.label(i)), f"{answer:.6g}", "unknown" if error is None else from_above(error))
    console.print(shown)
    for line in (*released.notes, paid):
        console.print(escape(str(line)), soft_wrap=True)


def _known(value: Any) -> Any:
    """For JSON, which has no infinite numbers, and none that are no numbers."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rehearse(planned: Plan, method: str, synthetic: int) -> None:
    """Draw a row from a release about nobody, so that what would fail is refused before it is paid for."""
    import numpy as np

    from ..workloads import Rows

    if not 0 < synthetic <= MOST:
        raise BadParameter("synthetic", synthetic, f"from 1 to {MOST} rows")
    asked, chosen = planned.workload, planned.row(method)
    nobody = Rows(asked.domain, np.zeros((0, len(asked.domain.shape)), np.int64), planned.price.unit)
    chosen.method.release(asked, nobody, chosen.price, n=planned.n).synthetic(1)


def _workload(domain: Domain, words: str) -> Workload:
    from ..workloads import marginals, prefixes, ranges

    kind, _, rest = words.partition(" ")
    match kind:
        case "marginals":
            return marginals(domain, k=_whole("workload", rest) if rest else min(2, len(domain.names)))
        case "prefixes":
            return prefixes(domain, domain.names[0])
        case "ranges":
            return ranges(domain, domain.names[0])
    raise BadParameter("workload", words, "marginals K, prefixes or ranges")


def _whole(name: str, text: str, most: int = MOST) -> int:
    if not text.strip().isdecimal() or len(text) > _DIGITS or int(text) > most:
        raise BadParameter(name, text, f"whole numbers of at most {most}")
    return int(text)


def _target(plot: Path) -> Path:
    from .. import plots

    return plots.target(plot)


def _lines(lines: Any, title: str) -> Table:
    headings = "in the textbooks", "largest error / n", "with these numbers", "operations"
    table = Table(*headings, title=escape(title))
    for line in lines:
        table.add_row(line.method, escape(line.formula), f"{line.error:.3g}", line.operations)
    return table


def _tables(rows: list[dict[str, Any]]) -> Iterator[Table]:
    """One for each domain, workload, number of records and price."""
    about = "workload", "domain", "cells", "queries", "n", "price"
    for (workload, domain, cells, queries, n, price), some in groupby(rows, itemgetter(*about)):
        shown = [{name: v for name, v in row.items() if name not in about} for row in some]
        title = f"{workload} on {domain}: errors divided by n\n{cells} cells, {queries} queries, n = {n}, {price}"
        table = Table(*(name.replace(" ", "\n") for name in shown[0]), title=escape(title), box=SIMPLE_HEAD)
        for row in shown:
            table.add_row(
                *("-" if v is None else f"{v:.3g}" if isinstance(v, float) else escape(str(v)) for v in row.values())
            )
        yield table
