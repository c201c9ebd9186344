"""Linear queries one after the other by private multiplicative weights, and SmallDB, next to plain NumPy of the same.

    python benchmarks/online.py

Errors are divided by n; CPU seconds.  The stream is 2,000 counts on six columns of Adult, 7,560 cells, each on three of
them, at epsilon = 1 and delta = 1e-9 with 400 updates; Adult is read from ../shared/data where it is there, else
generated.  Plain, it has Laplace noise on a bar and on gaps, a new bar after each update, and Gaussian noise on what is
measured, at the same price.  SmallDB chooses among all tables of 8 records on 16 points by 50 random queries, for 1,000
records at epsilon = 1; plain, all of them are laid out and weighed.  "stated" is what others found on tables like these
on another day.  Reached is an error at most theirs, in three digits, in at most a tenth of their time.  At 2^20 cells a
question goes through a curator and its ledger, while updates last and when they are used up.
"""

from __future__ import annotations

import itertools
import math
import os
import tempfile
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from release import adult
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Shown

from tacit import Budget, Curator, Table
from tacit.workloads import Domain, Histogram, Price, Rows, from_matrix
from tacit.workloads.methods.weights.pmw_plans import practical
from tacit.workloads.methods.weights.small_db import SmallDB
from tacit.workloads.models.multiplicative_weights import LinearQuery

QUESTIONS, UPDATES, STREAMS = 2000, 400, 5
PRICE = Price.of(epsilon=1, delta="1e-9")
NUMBERS = 0.4  # of the price of a plain stream
POINTS, SIZE, RECORDS, TABLES = 16, 8, 1000, 10
STREAM_STATED, TABLE_STATED = (0.0073, 0.067, 0.9), (0.06, None, 1.3)
MOST = 10.0  # ms for a question at 2^20 cells
RNG = np.random.default_rng(3)


def timed(call: Callable[[], tuple[float, float]], runs: int) -> tuple[float, float, float]:
    """Mean error, largest error and seconds, each the mean of some runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        mean, largest = call()
        found.append((mean, largest, time.process_time() - start))
    return tuple(np.mean(found, axis=0))


def streams() -> tuple[Rows, list[LinearQuery], np.ndarray]:
    """Records, the questions about them, and the true counts."""
    _, some, _ = adult()
    codes, sizes = np.delete(some.codes, 1, axis=1), (*some.sizes[:1], *some.sizes[2:])
    domain = Domain.of({f"a{i}": size for i, size in enumerate(sizes)})
    asked = []
    for _ in range(QUESTIONS):
        axes = np.sort(RNG.choice(len(sizes), 3, replace=False))
        asked.append(LinearQuery(tuple(((int(a),), tuple(RNG.integers(0, 2, sizes[a]).tolist())) for a in axes)))
    data = Rows(domain, codes)
    return data, asked, np.array([question.exactly(data) for question in asked])


def ours(data: Rows, asked: list[LinearQuery], truth: np.ndarray) -> tuple[float, float]:
    n = int(data.marginal(()))
    life = practical(data.domain, n, PRICE.shared, updates=UPDATES, questions=QUESTIONS).start()
    told = np.array([life.ask((question, int(x))).value for question, x in zip(asked, truth, strict=True)])
    off = np.abs(told - truth) / n
    return float(off.mean()), float(off.max())


def plain(data: Rows, asked: list[LinearQuery], truth: np.ndarray) -> tuple[float, float]:
    n, rho, shape = int(data.marginal(())), float(PRICE.amount), data.domain.shape
    each = math.sqrt(2 * (1 - NUMBERS) * rho / UPDATES)  # epsilon of one AboveThreshold, at epsilon^2 / 2
    sigma = math.sqrt(UPDATES / (2 * NUMBERS * rho))
    model, left, off = np.full(shape, n / math.prod(shape)), UPDATES, []
    bar = 8 / each + RNG.laplace(0, 2 / each)
    for question, x in zip(asked, truth, strict=True):
        f = np.ones((1,) * len(shape))
        for ((axis,), _), vector in zip(question.factors, question.vectors, strict=True):
            f = f * vector.reshape([-1 if a == axis else 1 for a in range(len(shape))])
        guess = told = float((model * f).sum())
        if left and abs(x - guess) + RNG.laplace(0, 4 / each) >= bar:
            told, left, bar = x + RNG.normal(0, sigma), left - 1, 8 / each + RNG.laplace(0, 2 / each)
            model = model * np.exp(f * (told - guess) / (2 * n))
            model *= n / model.sum()
        off.append(abs(told - x) / n)
    return float(np.mean(off)), float(np.max(off))


def chosen(queries: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    released = SmallDB(size=SIZE).release(
        from_matrix(Domain.of({"x": POINTS}), queries),
        Histogram(Domain.of({"x": POINTS}), counts),
        Price.of(epsilon=1),
        n=RECORDS,
    )
    off = np.abs(released.answers - queries @ counts) / RECORDS
    return float(off.mean()), float(off.max())


def plainly_chosen(queries: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    members = np.array(list(itertools.combinations_with_replacement(range(POINTS), SIZE)))
    each = np.zeros((len(members), POINTS))
    for i in range(SIZE):
        each[np.arange(len(members)), members[:, i]] += 1 / SIZE
    off = np.abs(each @ queries.T - queries @ counts / RECORDS)
    found = off[np.argmax(-off.max(axis=1) * RECORDS / 2 + RNG.gumbel(size=len(members)))]
    return float(found.mean()), float(found.max())


def large() -> tuple[float, float]:
    """Milliseconds of a question at 2^20 cells, while updates last and afterwards; the medians."""
    bits = {f"b{i}": {"type": "category", "values": ["0", "1"]} for i in range(20)}
    rows = RNG.integers(0, 2, (20_000, 20)) & RNG.integers(0, 2, (20_000, 1))
    facts = {"table": {"name": "t", "unit": "row", "size": len(rows)}, "columns": bits}
    table = Table([dict(zip(bits, map(str, row), strict=True)) for row in rows.tolist()], facts)
    with (
        tempfile.TemporaryDirectory() as folder,
        Curator(table, ledger=f"{folder}/t.ledger", budget=Budget(rho=1)) as curator,
    ):
        online, spent = curator.online(table.domain(*bits), rho="0.5", updates=40, queries=1000), ([], [])
        for _ in range(200):
            some = {name: str(RNG.integers(0, 2)) for name in RNG.choice(list(bits), 3, replace=False)}
            left, start = online.left, time.process_time()
            online.ask(some)
            spent[left == 0].append(1e3 * (time.process_time() - start))
    return tuple(float(np.median(ms)) if ms else math.nan for ms in spent)


def main() -> None:
    console = Console()
    shown = Shown("", "by", "mean error", "largest", "seconds", "tacit reaches it", box=SIMPLE)
    given, random = streams(), np.random.default_rng(11)
    queries, counts = (
        random.integers(0, 2, (50, POINTS)),
        random.multinomial(RECORDS, random.dirichlet(np.ones(POINTS))),
    )
    for name, runs, stated, tacit, other in (
        ("a stream", STREAMS, STREAM_STATED, lambda: ours(*given), lambda: plain(*given)),
        ("a table", TABLES, TABLE_STATED, lambda: chosen(queries, counts), lambda: plainly_chosen(queries, counts)),
    ):
        rival, own = timed(other, runs), timed(tacit, runs)
        shown.add_row(name, "tacit", *(f"{x:.4f}" for x in own), "")
        for who, found in (("plain", rival), ("stated", stated)):
            reached = round(own[0], 3) <= round(found[0], 3) and own[2] <= found[2] / 10
            shown.add_row("", who, *("-" if x is None else f"{x:.4f}" for x in found), "yes" if reached else "NO")
    console.print(shown)
    lasting, used_up = large()
    reached = "yes" if max(lasting, used_up) <= MOST else "NO"
    console.print(
        f"a question at 2^20 cells: {lasting:.1f} ms while updates last, {used_up:.1f} afterwards"
        f" (at most {MOST:g}): {reached}"
    )


if __name__ == "__main__":
    main()
