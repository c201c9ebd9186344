"""Ranges of one attribute: mean error over ranges, divided by n, and CPU seconds of one release, at epsilon = 1.

Others run here too, on the same counts: noise on the cells, trees of branching 2 and 16 with equal shares and least
squares, and those of ranges_peers.py.  Errors are means over releases, with the standard error of the mean.  "at first"
are the seconds of the first release, with all that is planned for its ranges, and "again" the mean of the next; the
search of HDMM, which sees no data, is timed once and counted in each of its first releases.  In the end the best of
ours on each table is held against the best of the others: reached is an error at most theirs, in three digits, in at
most a tenth of their time.  Public histograms are read from ../shared/data where they are present; tables of other
shapes are generated: even, smooth, a few lumps, steps, a mass at 0 with a tail, and spikes of all sizes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for one another would count as seconds

import numpy as np
from ranges_peers import LARGE, PEERS, optimised
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tacit.core.randomness import SYSTEM
from tacit.workloads import Domain, Histogram, Price, method, ranges
from tacit.workloads.models.trees.tree import heights
from tacit.workloads.models.trees.tree_design import Design

DATA = Path(__file__).parents[2] / "shared" / "data"
RELEASES = 50
PRICE = Price.of(epsilon=1)
BASELINES = ("histogram", "binary tree", "16-ary tree")
OURS = ("hierarchy", "isotonic", "partition", "pruned", "from the root down")


def histograms() -> dict[str, np.ndarray]:
    """1024 bins of each public table, and 2^20 of one."""
    found = {}
    raw = DATA / "adult_numeric_raw.csv"
    if raw.exists():
        table = np.genfromtxt(raw, delimiter=",", names=True)
        found["capital gain"] = np.histogram(table["capitalgain"], 1024, (0, 100_000))[0]
        found["weights, 2^20"] = np.histogram(table["fnlwgt"], 1 << 20, (0, 1.5e6))[0]
    for path in sorted((DATA / "ranges").glob("*.npy")):
        found[path.name.partition(".")[0]] = np.load(path).astype(int).reshape(1024, -1).sum(axis=1)
    random, x = np.random.default_rng(5), np.arange(1024)
    lumps = np.zeros(1024)
    lumps[random.choice(1024, 30, replace=False)] = random.pareto(1.0, 30) + 1
    shapes = {"even": np.ones(1024), "lumps": lumps, "steps": np.repeat(random.dirichlet(np.full(16, 0.5)), 64)}
    shapes["smooth"] = np.exp(-((x - 400) ** 2) / 45_000) + 0.4 * np.exp(-((x - 800) ** 2) / 3200)
    shapes["a mass and a tail"] = 140 * (x == 0) + np.exp(-x / 60)
    other = np.random.default_rng(6)
    shapes["spikes"] = np.where(other.permutation(1024) < 100, other.lognormal(0, 2, 1024), 0.0)
    return found | {name: random.multinomial(50_000, shape / shape.sum()) for name, shape in shapes.items()}


def main() -> None:
    table = Table("table", "n", "method", "mean error / n", "at first", "again", box=SIMPLE, title=f"ranges at {PRICE}")
    headings = ("table", "best of ours", "error", "best of others", "its error", "errors", "at first", "again")
    reached = Table(*headings, box=SIMPLE, title="reached: errors at most theirs, seconds at most a tenth of theirs")
    start = time.process_time()
    optimised(1024)
    search = time.process_time() - start
    random = np.random.default_rng(0)
    for name, counts in histograms().items():
        domain, n = Domain.of({"x": counts.size}), int(counts.sum())
        ends = np.sort(random.integers(0, counts.size, (10_000, 2)), axis=1)
        w, data = ranges(domain, low=ends[:, 0], high=ends[:, 1]), Histogram(domain, counts)
        truth = w.answer(data)
        small = counts.size <= 1024
        found: dict[str, tuple[float, float, float]] = {}
        for way in (*BASELINES, *(PEERS if small else LARGE), *OURS):
            errors, spent = [], []
            for _ in range(RELEASES if small else 5):
                start = time.process_time()
                given = answers(way, w, data, counts)
                spent.append(time.process_time() - start)
                errors.append(np.abs(given - truth).mean() / n)
            spread = np.std(errors, ddof=1) / len(errors) ** 0.5
            first, again = spent[0] + search * way.startswith("HDMM"), float(np.mean(spent[1:]))
            found[way] = float(f"{np.mean(errors):.3g}"), first, again
            table.add_row(name, str(n), way, f"{np.mean(errors):.3g} ± {spread:.1g}", f"{first:.3f}", f"{again:.4f}")
        own, other = min(OURS, key=lambda way: found[way][0]), min(found.keys() - set(OURS), key=lambda w: found[w][0])
        (error, *ours), (their, *theirs) = found[own], found[other]
        good = (error <= their, *(a <= b / 10 for a, b in zip(ours, theirs, strict=True)))
        reached.add_row(name, own, f"{error:g}", other, f"{their:g}", *("yes" if g else "NO" for g in good))
    console = Console()
    console.width = max(console.width, 120)
    console.print(table, reached)
    console.print(f"The search of HDMM took {search:.1f} s.")


def answers(way: str, w, data: Histogram, counts: np.ndarray) -> np.ndarray:
    """One release."""
    if way in PEERS:
        cells = PEERS[way](counts, float(PRICE.amount), w.low[:, 0], w.high[:, 0])
        sums = np.concatenate([[0.0], np.cumsum(cells)])
        return sums[w.high[:, 0] + 1] - sums[w.low[:, 0]]
    if way.endswith("tree"):
        branching = 2 if way.startswith("binary") else 16
        plan = Design(counts.size, branching, (1,) * len(heights(counts.size, branching)))
        noises = plan.noises(w, PRICE)
        tree = plan.tree(noises)
        cells = tree.estimate(
            [n.sample(y, SYSTEM).astype(float) for n, y in zip(noises, tree.counts(counts), strict=True)]
        )
        sums = np.concatenate([[0.0], np.cumsum(cells)])
        return sums[w.high[:, 0] + 1] - sums[w.low[:, 0]]
    if way == "from the root down":
        return method("hierarchy").release(w, data, PRICE).nonnegative().answers
    return method(way).release(w, data, PRICE).answers


if __name__ == "__main__":
    main()
