"""One update of multiplicative weights at 10^6 cells, in passes over the table.

    python benchmarks/weights.py

A pass is `values *= number`, which reads and writes every cell once.  Where the table fits in the processor's cache, as
it mostly does here, such a pass takes a fraction of one over memory: the last column counts in passes over a table that
does not.  Both are timed in turns with the update, so that whatever else the machine does is done to all of them.  CPU
seconds, the least of many.  The update knows the answer it moves, as private multiplicative weights do; what it takes
to answer stands beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tacit.workloads import Domain
from tacit.workloads.models.multiplicative_weights import LinearQuery, Weights

SHAPES = ((2,) * 20, (10,) * 6, (1000, 1000), (1000, 10, 100), (250_000, 4), (10**6,))
TURNS = 100
RNG = np.random.default_rng(0)


def _ints(values: np.ndarray) -> tuple[int, ...]:
    return tuple(values.astype(int).tolist())


def questions(domain: Domain) -> Iterator[tuple[str, LinearQuery]]:
    shape, some = domain.shape, range(min(3, len(domain.shape)))
    yield "interval of one axis", LinearQuery((((0,), _ints(np.arange(shape[0]) < shape[0] // 2)),))
    yield "scattered values of one axis", LinearQuery((((0,), _ints(np.arange(shape[0]) % 2)),))
    if len(shape) > 1:
        yield "box", LinearQuery(tuple(((a,), _ints(np.arange(shape[a]) < (shape[a] + 1) // 2)) for a in some))
        yield (
            "product of scattered values",
            LinearQuery(tuple(((a,), _ints(RNG.integers(0, 2, shape[a]))) for a in some)),
        )
        yield "any coefficients on one axis", LinearQuery.on_cells(Domain.of({"x": shape[0]}), RNG.random(shape[0]))
    yield "scattered cells", LinearQuery.on_cells(domain, RNG.integers(0, 2, domain.size))
    yield "any coefficients on the cells", LinearQuery.on_cells(domain, RNG.random(domain.size))


def least(*calls: Callable[[], object]) -> list[float]:
    """The least CPU seconds of each, in turns; each is called twice, so that its data are where they will be."""
    best = [float("inf")] * len(calls)
    for _ in range(TURNS):
        for i, call in enumerate(calls):
            call()
            start = time.thread_time()
            call()
            best[i] = min(best[i], time.thread_time() - start)
    return best


def passes(weights: Weights, question: LinearQuery, large: np.ndarray) -> tuple[str, ...]:
    """Of an answer and an update."""
    cells, known = np.ones(weights.values.size), weights.answer(question)
    memory, one, answer, update = least(
        lambda: np.multiply(large, 1.0, out=large),
        lambda: np.multiply(cells, 1.0, out=cells),
        lambda: weights.answer(question),
        lambda: weights.move(question, 1e-6, known),
    )
    return f"{answer / one:.2f}", f"{update / one:.2f}", f"{update / (memory * cells.size / large.size):.2f}"


def main() -> None:
    large = np.ones(1 << 24)
    table = Table("shape", "query", "answer", "update", "update, over memory", box=SIMPLE, title="passes")
    for shape in SHAPES:
        domain = Domain.of({f"x{i}": size for i, size in enumerate(shape)})
        weights, shown = Weights(domain, 1e6), " x ".join(map(str, shape)) if len(shape) < 7 else "2^20"
        for name, question in questions(domain):
            table.add_row(shown, name, *passes(weights, question, large))
    console = Console()
    console.width = max(console.width, 110)
    console.print(table)


if __name__ == "__main__":
    main()
