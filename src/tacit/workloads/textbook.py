"""The textbooks' table of ways to release k linear queries, with the reader's own numbers in it.

                                    error of a normalised query                       operations
    noise on the queries            k ln(k/beta) / (n epsilon)                        n a query
    noise on the histogram          sqrt(8 |X| ln(2k/beta)) / (n epsilon)             |X| a query
    SmallDB                         ((16 ln|X| ln k + 4 ln(1/beta)) / (n epsilon))^(1/3)  |X|^(4 ln k / alpha^2), once
    multiplicative weights          3 a, a^3 = 36 ln|X| ln(32 k ln|X| / (beta a^2)) / (n epsilon)  max(|X|, n) a query
    randomized response             (1 + |X| / (e^epsilon - 1)) sqrt(ln(2k/beta) / (2 n))  n a query

where a is what solves its equation, and randomized response, which needs no curator, is private where people are
substituted and not where they are added or removed.  A delta adds Gaussian noise on the queries, for the rho that
epsilon and delta allow (`rho_for`).  Where it helps, the queries have sqrt(8 k ln(1/delta)) in place of k then, and
multiplicative weights a^2 in place of a^3.  Every formula, with b for beta, e for epsilon and d for delta, has exactly
the value beside it.  An error above 1 says nothing, since every answer is in [0, 1].

References.  Dwork and Roth (2014), chapters 3 and 4.  The constants are those of `sample_complexity.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..composition import rho_for
from ..core.parameters import Number, failure, probability, whole
from . import sample_complexity as closed
from .methods.weights.small_db import classical_rate, classical_size


@dataclass(frozen=True)
class TextbookRow:
    """One way to release queries: its error with probability 1 - beta, and the operations of one query, or of all."""

    method: str
    formula: str
    error: float
    operations: str


def textbook(
    queries: int, cells: int, n: int, epsilon: Number, beta: Number = 0.05, *, delta: Number = 0
) -> tuple[TextbookRow, ...]:
    """The table for so many queries, cells and records; where two bounds hold at a delta, the smaller one."""
    size = max(whole("cells", cells), 2)
    small = classical_rate(size, queries, n=n, epsilon=epsilon, beta=beta)
    basic, advanced = (closed.laplace_on_queries(queries, n, epsilon, beta, delta=d) for d in (0, delta))
    pure, approximate = (closed.multiplicative_weights(size, queries, n, epsilon, beta, delta=d) for d in (0, delta))
    x, many = "|X|" if size == cells else "2", "k" if basic <= advanced else "sqrt(8 k ln(1/d))"
    power, factor = (3, f"36 ln({x})") if pure <= approximate else (2, f"(2 + 32 sqrt(2)) sqrt(ln({x}) ln(2/d))")
    histogram = closed.laplace_on_histogram(cells, queries, n, epsilon, beta)
    full = cells >= 2 * (math.log(2 * queries) - math.log(probability("beta", beta)))
    lines = [
        TextbookRow("noise on the queries", f"{many} ln(k/b) / (n e)", advanced, f"{n:,} a query"),
        TextbookRow(
            "noise on the histogram",
            "sqrt(8 |X| ln(2k/b)) / (n e)" if full else "4 ln(2k/b) / (n e)",
            histogram,
            f"{cells:,} a query",
        ),
        TextbookRow(
            "SmallDB",
            f"((16 ln({x}) ln(k) + 4 ln(1/b)) / (n e))^(1/3)",
            small,
            f"{size:,}^{max(1, classical_size(queries, small / 2)):,}, once",
        ),
        TextbookRow(
            "multiplicative weights",
            f"3 a, a^{power} = {factor} ln(32 k ln({x}) / (b a^2)) / (n e)",
            approximate,
            f"{max(cells, n):,} a query",
        ),
    ]
    if failure("delta", delta):
        rho = rho_for(epsilon, delta)
        gaussian = closed.gaussian_on_queries(queries, n, rho, beta)
        lines.insert(
            1, TextbookRow("Gaussian on the queries", "sqrt(k ln(2k/b) / rho) / n", gaussian, f"{n:,} a query")
        )
    response = closed.randomized_response(queries, n, epsilon, beta, cells=size)
    formula = f"(1 + {x} / (exp(e) - 1)) sqrt(ln(2k/b) / (2n))"
    return (*lines, TextbookRow("randomized response", formula, response, f"{n:,} a query"))
