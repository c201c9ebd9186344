"""Linear queries on the command line: `tacit compare` and `tacit plan`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import BadParameter, TacitError
from ._say import console, fail, refuse
from .tables import Asking

if TYPE_CHECKING:
    from ..workloads import Domain, Workload

Words = Annotated[str, typer.Option(help="marginals K (all K-way), prefixes or ranges (of the first attribute).")]
Plot = Annotated[Path | None, typer.Option(help="Draw it: a .png, .svg or .html.")]


def compare(
    domain: Annotated[str, typer.Argument(help="How many values each attribute has, as 2x2x10.")] = "2x2x2x2x2x2",
    *,
    workload: Words = "marginals 2",
    n: Annotated[str, typer.Option(help="Numbers of records, with commas between.")] = "1000,10000,100000",
    epsilon: Annotated[str, typer.Option(help="Prices, with commas between.")] = "1",
    delta: Annotated[str | None, typer.Option(help="Spend them at this delta.")] = None,
    plot: Plot = None,
) -> None:
    """Every way to answer linear queries, predicted and measured on generated data, as n and the price vary."""
    from ..workloads import Domain, Price
    from ..workloads.comparison import compare as compared
    from ..workloads.textbook import textbook

    try:
        place = None if plot is None else _target(plot)
        sizes = [_whole("domain", size) for size in domain.split("x")]
        public = Domain.of({f"a{i}": size for i, size in enumerate(sizes, 1)})
        asked = _workload(public, workload)
        ns, prices = [_whole("n", text) for text in n.split(",")], epsilon.split(",")
        console.print(_lines(textbook(asked.queries, public.size, ns[-1], prices[-1])))
        with console.status("measuring"):
            rows = compared(asked, ns, [Price.of(epsilon=price, delta=delta) for price in prices])
        console.print(_table(rows))
        if place is not None:
            from .. import plots

            console.print(f"drawn: {escape(str(plots.save(plots.methods(rows), place)))}")
    except (TacitError, OSError) as error:
        fail(error)


def plan(
    data: Annotated[str, typer.Argument(help="The table.")],
    attributes: Annotated[list[str], typer.Argument(help="Columns with public values.")],
    *,
    workload: Words = "marginals 2",
    epsilon: Annotated[str | None, typer.Option(help="The price, pure, or at --delta.")] = None,
    rho: Annotated[str | None, typer.Option(help="The price, in zCDP.")] = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon: spent as zCDP at this delta.")] = None,
    budget: Annotated[str, typer.Option(help="Opens a ledger.")] = "",
    buy: Annotated[bool, typer.Option("--buy", help="Buy the answers by the best method.")] = False,
    method: Annotated[str, typer.Option(help="With --buy: by this method.")] = "auto",
    synthetic: Annotated[int, typer.Option(help="With --buy: write so many synthetic rows as CSV.")] = 0,
) -> None:
    """Every way to answer linear queries about a table, best first; with --buy, the answers."""
    try:
        with Asking(data, "", budget=budget).curator() as curator:
            domain = curator.table.domain(*attributes)
            asked, price = _workload(domain, workload), dict[str, Any](epsilon=epsilon, rho=rho, delta=delta)
            if not buy:
                console.print(escape(str(curator.plan(asked, **price))), soft_wrap=True)
                return
            released = curator.answer(asked, method=method, **price)
            if synthetic:
                writer = csv.writer(sys.stdout, lineterminator="\n")
                writer.writerow(domain.names)
                writer.writerows(row.values() for row in released.synthetic(synthetic).to_pylist())
                return
            errors = [None] * asked.queries if released.errors is None else released.errors.tolist()
            table = Table("query", "count", "within", title=escape(f"by {released.method}"))
            for i, (answer, error) in enumerate(zip(released.answers.tolist(), errors, strict=True)):
                table.add_row(escape(asked.label(i)), f"{answer:.6g}", "unknown" if error is None else f"{error:.6g}")
            console.print(table)
    except (TacitError, OSError) as error:
        refuse(error)


def _workload(domain: Domain, words: str) -> Workload:
    from ..workloads import marginals, prefixes, ranges

    kind, _, rest = words.partition(" ")
    match kind:
        case "marginals":
            return marginals(domain, k=_whole("workload", rest or "2"))
        case "prefixes":
            return prefixes(domain, domain.names[0])
        case "ranges":
            return ranges(domain, domain.names[0])
    raise BadParameter("workload", words, "marginals K, prefixes or ranges")


def _whole(name: str, text: str) -> int:
    if not text.strip().isdecimal():
        raise BadParameter(name, text, "whole numbers")
    return int(text)


def _target(plot: Path) -> Path:
    from .. import plots

    return plots.target(plot)


def _lines(lines: Any) -> Table:
    table = Table("in the textbooks", "largest error / n", "with these numbers", "operations a query")
    for line in lines:
        table.add_row(line.method, escape(line.formula), f"{line.error:.3g}", f"{line.operations:,}")
    return table


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(*rows[0], title="errors divided by n")
    for row in rows:
        table.add_row(
            *("-" if v is None else f"{v:.3g}" if isinstance(v, float) else escape(str(v)) for v in row.values())
        )
    return table
