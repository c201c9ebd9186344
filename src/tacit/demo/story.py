"""The demonstration: each question with its offer, its price and its answer; then the ledger, and plots."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from ..core.accounting.budget import Budget
from ..core.errors import Missing, TacitError
from ..curator import Curator
from ..query.python.table import Table
from ..release import Release
from .purchases import SCHEMA, put, write

if TYPE_CHECKING:
    from ..ledger.entries import Charge

_MAX_QUESTION = 90  # characters of a question in the table of the ledger
QUESTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("How many purchases?", "SELECT COUNT(*) AS purchases FROM purchases", {"epsilon": "0.05"}),
    (
        "Who buys, by region?",
        "SELECT region, COUNT(DISTINCT person) AS people FROM purchases GROUP BY region ORDER BY people DESC",
        {"share": "0.05"},
    ),
    (
        "What sells? Counts within 1500, whatever that costs.",
        "SELECT product, COUNT(*) AS sold FROM purchases GROUP BY product ORDER BY sold DESC",
        {"error": "1500"},
    ),
    ("The same question again", "select product, count(*) as n from purchases group by product", {"error": "1500"}),
    ("The average purchase", "SELECT AVG(spend) AS mean, STDDEV(spend) AS spread FROM purchases", {"share": "0.1"}),
    (
        "Turnover by quarter",
        "SELECT QUARTER(day) AS quarter, SUM(spend) AS turnover FROM purchases GROUP BY quarter",
        {"share": "0.1"},
    ),
    (
        "Ages of buyers with a card",
        "SELECT QUANTILE(age, 0.25) AS young, MEDIAN(age) AS middle, QUANTILE(age, 0.75) AS old "
        "FROM purchases WHERE card",
        {"share": "0.1"},
    ),
    ("The most popular product", "SELECT MODE(product) AS favourite FROM purchases", {"share": "0.05"}),
    (
        "What one person spends in a year",
        "SELECT AVG(total) AS mean FROM (SELECT person, SUM(spend) AS total FROM purchases GROUP BY person) AS each",
        {"share": "0.1"},
    ),
    (
        "Notes, whose values nobody has listed: only those that enough people have are shown",
        "SELECT note, COUNT(*) AS n FROM purchases GROUP BY note",
        {"share": "0.1"},
    ),
    (
        "How much of what older people buy is wine or sweets?",
        "SELECT CASE WHEN age < 70 THEN 'sixties' WHEN age < 80 THEN 'seventies' ELSE 'older' END AS band, "
        "SUM(CASE WHEN product IN ('wine', 'sweets') THEN 1 ELSE 0 END) AS treats, COUNT(*) AS n, treats / n AS share "
        "FROM purchases WHERE age >= 60 GROUP BY band",
        {"share": "0.15"},
    ),
    ("Somebody's purchases", "SELECT person, spend FROM purchases WHERE age = 97", {"share": "0.1"}),
    ("More than is left", "SELECT day, COUNT(*) FROM purchases GROUP BY day", {"share": "0.9"}),
)


def run(picture: Path, engine: str = "duckdb", server: str | None = None) -> Iterator[RenderableType]:
    """The demonstration, part by part; the plots are saved at the end, to `picture`.

    For PostgreSQL, `server` is the address of a server that has no table of purchases yet.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder) / "purchases.parquet")
        data = file if server is None else put(file, server)
        table, budget = Table(data, SCHEMA, engine=engine), Budget(epsilon=1, delta="1e-9")
        with Curator(table, ledger=Path(folder) / "shop.ledger", budget=budget) as curator:
            yield Text("A shop has 400,000 purchases by 60,000 people.  This is public about the table:\n")
            yield Text(SCHEMA, style="dim")
            releases: list[Release] = []
            for title, text, price in QUESTIONS:
                yield Text(f"\n{title}", style="bold")
                yield Text(text, style="cyan")
                yield from _asked(curator, text, price, releases)
            yield from _account(curator)
        yield _plots(releases, picture)


def _asked(curator: Curator, text: str, price: dict[str, Any], releases: list[Release]) -> Iterator[RenderableType]:
    try:
        yield Text(f"offer:  {curator.offer(text, **price)}", style="green")
        before = curator.remaining_for(text)
        release = curator.ask(text, **price)
    except TacitError as refusal:
        yield Text(f"refused: {refusal}", style="red")
        return
    paid = float(before - curator.remaining_for(text))
    yield Text(f"paid {paid:.4g}, {float(curator.remaining):.4g} is left", style="green" if paid else "magenta")
    yield Text(str(release))
    if paid:
        releases.append(release)


def _account(curator: Curator) -> Iterator[RenderableType]:
    title = f"The ledger, with a budget of {curator.budget}"
    grid = Grid("entry", "analyst", "price", "question", title=title, title_justify="left")
    for charge in curator.history():
        if charge.loss.terms:
            price = float(curator.budget.price(charge.loss))
            grid.add_row(str(charge.seq), charge.analyst, f"{price:.4g}", _question(charge))
    yield grid
    head = curator.ledger.verify()
    yield Text(f"{float(curator.remaining):.4g} is left.  The chain of {head.seq} entries is intact: {head.hash}")


def _question(charge: Charge) -> str:
    """The question of a charge, in one line."""
    text = charge.purpose.description
    return f"{text[:_MAX_QUESTION]}..." if len(text) > _MAX_QUESTION else text


def _plots(releases: list[Release], picture: Path) -> Text:
    from .. import plots

    try:
        page = plots.page([release.plot() for release in releases if len(release.query.keys)], columns=1)
        return Text(f"\nPlots of the answers with their errors: {plots.save(page, picture)}")
    except Missing as missing:
        return Text(f"\nNo plots: {missing}")
