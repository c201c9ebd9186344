"""The error of many statistics within one budget: bought together by a plan, and bought one after the other.

    python benchmarks/publish.py [--statistics 100]

Each statistic is a count of rows; all have equal shares of (1, 1e-6).  Separate questions are bought by share, which
gives the smallest errors (`tacit docs tables`).  A plan is declared in advance, so its privacy losses are composed
exactly, and its charge is one.  The best possible is Gaussian noise for (1, 1e-6) by its exact profile.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction

from rich.console import Console
from rich.table import Table as Grid
from scipy.special import ndtri

from tacit import Budget, Schema
from tacit.composition import mu_for
from tacit.core.accounting.loss import zero
from tacit.curator.ask import Asked
from tacit.curator.batch import allocate
from tacit.curator.items import QuestionItem
from tacit.curator.purse import Purse
from tacit.query.plan.compiler import compiled
from tacit.query.plan.offer import offer
from tacit.query.sql import parser

EPSILON, DELTA, BETA = 1, Fraction(1, 10**6), Fraction(1, 20)
SCHEMA = Schema.load(
    '[table]\nname = "t"\nunit = "row"\nsize = 100000\n[columns.x]\ntype = "integer"\nlower = 0\nupper = 999\n'
)
SEPARATE, TOGETHER = Budget(epsilon=EPSILON, delta=DELTA), Budget(epsilon=EPSILON, delta=DELTA, slack=0)


def item(name: str, sql: str) -> QuestionItem:
    query = parser.parse(sql, {"t": SCHEMA}, {}).query
    asked = Asked(query, compiled(query, {"t": SCHEMA}), {"beta": BETA}, sql)
    return QuestionItem(name=name, asked=asked, schemas={"t": SCHEMA})


def compared(questions: list[str]) -> list[tuple[str, float, float]]:
    """Each question with its error bought separately, and by a plan."""
    items = [item(f"q{i}", sql) for i, sql in enumerate(questions)]
    share = Fraction(1, len(items))
    apart = [offer(each.asked.query, SEPARATE, schemas=each.schemas, share=share).errors for each in items]
    plan = allocate(items, Purse([(TOGETHER, [zero])]), Fraction(1))
    pairs = zip(questions, apart, plan.chosen, strict=True)
    return [(sql, alone[0].error or math.nan, chosen.errors[0].error or math.nan) for sql, alone, chosen in pairs]


def main() -> None:
    parser_of_words = argparse.ArgumentParser(description=__doc__)
    parser_of_words.add_argument("--statistics", type=int, default=100)
    count, console = parser_of_words.parse_args().statistics, Console()
    begun = time.perf_counter()
    rows = compared([f"SELECT COUNT(*) AS n FROM t WHERE x < {i + 1}" for i in range(count)])
    taken = time.perf_counter() - begun
    _, separate, together = rows[0]
    best = float(ndtri(1 - float(BETA) / 2)) * math.sqrt(count) / mu_for(EPSILON, DELTA)
    grid = Grid("of", "error (+-)", "of the separate error", title=f"{count} counts within (1, 1e-6)")
    for name, error in (("separate questions", separate), ("a plan", together), ("best possible", best)):
        grid.add_row(name, f"{error:.4g}", f"{error / separate:.3f}")
    console.print(grid, f"allocated in {taken:.2f} s")


if __name__ == "__main__":
    main()
