"""The textbooks' table of ways to release k linear queries, with the reader's own numbers in it.

                                    error of a normalised query             operations for each query
    noise on the queries            k ln(k/beta) / (n epsilon)              n
    noise on the histogram          sqrt(8 |X| ln(2k/beta)) / (n epsilon)   |X|
    multiplicative weights          (ln|X| ln(k/beta) / (n epsilon))^(1/3)  max(|X|, n)

with randomized response beside them where |X| = 2.  At a delta the queries have sqrt(8 k ln(1/delta)) in place of k,
and multiplicative weights a square root in place of the cube root.  An error above 1 says nothing, since every answer
is in [0, 1].

References.  Dwork and Roth (2014), chapters 3 and 4.  The constants are those of `sample_complexity.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.parameters import Number, failure
from . import sample_complexity as closed


@dataclass(frozen=True)
class Line:
    """One way: its error with probability 1 - beta, and the operations that one query takes."""

    method: str
    formula: str
    n: int
    error: float
    operations: int


def textbook(
    queries: int, cells: int, n: int, epsilon: Number, beta: Number = 0.05, *, delta: Number = 0
) -> tuple[Line, ...]:
    """The table for so many queries, cells and records; with delta, by advanced composition where that has a say."""
    many, power = "k", "(ln|X| ln(k/b) / (n e))^(1/3)"
    if failure("delta", delta):
        many, power = "sqrt(8 k ln(1/d))", "(sqrt(ln|X| ln(1/d)) ln(k/b) / (n e))^(1/2)"
    lines = (
        Line(
            "noise on the queries",
            f"{many} ln(k/b) / (n e)",
            n,
            closed.laplace_on_queries(queries, n, epsilon, beta, delta=delta),
            n,
        ),
        Line(
            "noise on the histogram",
            "sqrt(8 |X| ln(2k/b)) / (n e)",
            n,
            closed.laplace_on_histogram(cells, queries, n, epsilon, beta),
            cells,
        ),
        Line(
            "multiplicative weights",
            f"~ {power}",
            n,
            closed.multiplicative_weights(max(cells, 2), queries, n, epsilon, beta, delta=delta),
            max(cells, n),
        ),
    )
    if cells != 2:
        return lines
    error = closed.randomized_response(queries, n, epsilon, beta)
    return (*lines, Line("randomized response", "coth(e/2) sqrt(ln(2k/b) / (2n))", n, error, n))


def curves(queries: int, cells: int, ns: Iterable[int], epsilon: Number, beta: Number = 0.05) -> list[Line]:
    """The same for several n: the rows of a picture."""
    return [line for n in ns for line in textbook(queries, cells, n, epsilon, beta)]


def table(lines: Iterable[Line]) -> str:
    """The lines as text."""
    shown = [("method", "error", "", "operations a query")]
    shown += [(x.method, f"{x.error:.3g}", x.formula, f"{x.operations:.3g}") for x in lines]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    rows = ("  ".join(f"{v:<{w}}" for v, w in zip(row, widths, strict=True)).rstrip() for row in shown)
    return "\n".join(rows)
