"""How well and how fast marginals are released, next to others on the same records at the same price.

    python benchmarks/release.py [--quick] [--mbi PYTHON] [--dpmm PYTHON] [--smartnoise PYTHON]

The error is the mean over the marginals of the sum of |error| over their cells, divided by the number of records, at
epsilon = 1 and delta = 1e-9; the time is CPU seconds.  Adult is read from ../shared/data where it is there; else a
table of the same shape is generated.  Short methods of others run here (release_peers.py); with interpreters that have
them (release_mbi.py and the like) the long ones run beside ours, once each, and are "measured".  Without, what was
found on Adult on another day is "stated"; so is AIM's with --quick, for it takes a quarter of an hour.  Of a slice of
2^17 cells what is stated tells only the size, so nothing is claimed against that.  The constants of tree and adaptive
were chosen on Adult itself.  "reached" is an error at most theirs, in four digits, in at most a tenth of their time.
On 2-way and 3-way marginals of Adult AIM is the best of the others; residual and tree are held against their like.
Residual is noise alone, set by the exact profile of Gaussian noise; the noise of tree and adaptive, which also choose,
is set by zCDP.  On few cells Laplace noise of that epsilon is less, as the planner knows.  Of residual the counts are
shrunk and made non-negative afterwards, or consistent, which takes longer.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from release_peers import PLAIN, Peer, Records, apart, here
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tacit.workloads.method import Method, Released
from tacit.workloads.methods.direct.histogram import HistogramNoise
from tacit.workloads.methods.marginals.adaptive import Adaptive
from tacit.workloads.methods.marginals.chow_liu import ChowLiu
from tacit.workloads.methods.marginals.residual import Residual
from tacit.workloads.price import Price
from tacit.workloads.queries.data import Rows
from tacit.workloads.queries.domain import Domain
from tacit.workloads.queries.marginals import Marginals, marginals

DATA = Path(__file__).parents[2] / "shared" / "data"
EPSILON, DELTA = 1, Fraction(1, 10**9)
PRICE = Price.of(epsilon=EPSILON, delta=DELTA)
SIZES = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
SLICE = ("workclass", "education-num", "marital-status", "relationship", "race", "sex", "income>50K")
STATED = {
    "MST (mbi)": Peer("MST (mbi)", {1: 0.0172, 2: 0.103, 3: 0.225}, 153),
    "MST (dpmm)": Peer("MST (dpmm)", {1: 0.0167, 2: 0.116, 3: 0.251}, 259),
    "MST (SmartNoise)": Peer("MST (SmartNoise)", {1: 0.0208, 2: 0.274, 3: 0.587}, 124),
    "AIM (mbi)": Peer("AIM (mbi)", {1: 0.0167, 2: 0.0755, 3: 0.1735}, 1068),
}
PLAIN_ON_MANY = "residual + non-negativity", "Gaussian per marginal", "independent 1-way"
SLICE_STATED = {"AIM (mbi)": Peer("AIM (mbi)", {3: 0.0549}, 401, same=False)}
RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Task:
    """A method on a workload, judged on marginals of `ways`."""

    name: str
    given: Records
    method: Method
    k: int
    ways: tuple[int, ...]
    others: tuple[str, ...]
    stated: dict[str, Peer]  # of those who do not run
    after: Callable[[Released], Released] | None = None
    workload: int | None = None  # of the others, where it is not k
    price: Price = PRICE


def adult() -> tuple[Records, Records, bool]:
    """Adult, and seven of its columns; and whether it is Adult indeed."""
    real = (DATA / "adult.csv").exists()
    if real:
        names = json.loads((DATA / "adult-domain.json").read_text("utf-8"))
        codes, sizes = np.loadtxt(DATA / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64), tuple(names.values())
        some = [list(names).index(name) for name in SLICE]
    else:
        hidden = RNG.integers(0, 12, 48_842)  # classes that make all columns depend on one another
        codes, sizes = np.stack([_column(hidden, n) for n in SIZES], axis=1), SIZES
        some = [1, 3, 4, 6, 7, 8, 13]
    return records(codes, sizes), records(codes[:, some], tuple(sizes[a] for a in some)), real


def records(codes: np.ndarray, sizes: tuple[int, ...]) -> Records:
    return Records(codes, sizes, float(EPSILON), float(DELTA))


def _column(hidden: np.ndarray, n: int) -> np.ndarray:
    """A value for each record, skewed, with a law of its own in each class."""
    laws = RNG.dirichlet(np.full(n, 2.0 / n), 12).cumsum(axis=1)
    return np.minimum((RNG.random(hidden.size)[:, None] > laws[hidden]).sum(axis=1), n - 1)


def tasks() -> Iterator[Task]:
    everyone, some, real = adult()
    bits = records(RNG.integers(0, 2, (48_842, 16)), (2,) * 16)
    known, of_slice = (STATED, SLICE_STATED) if real else ({}, {})
    trees = "MST (mbi)", "MST (dpmm)", "MST (SmartNoise)"
    near, whole = Released.nonnegative, Released.consistent
    for k in (1, 2):
        yield Task(f"Adult, all {k}-way", everyone, Residual(), k, (k,), PLAIN_ON_MANY, known, near)
    yield Task("Adult, all 2-way", everyone, ChowLiu(), 2, (1, 2, 3), trees, known)
    yield Task("Adult, all 2-way", everyone, Residual(), 2, (2,), ("AIM (mbi)",), known, whole)
    yield Task("Adult, all 2-way", everyone, Adaptive(), 2, (1, 2, 3), ("AIM (mbi)",), known)
    yield Task("Adult, all 3-way", everyone, Adaptive(), 3, (3,), ("AIM (mbi)",), known, workload=2)
    for method, after in ((Residual(), whole), (Adaptive(), None)):
        yield Task("Adult, 7 columns of 2^17 cells", some, method, 3, (3,), ("AIM (mbi)",), of_slice, after)
    few = records(np.delete(some.codes, 1, axis=1), (*some.sizes[:1], *some.sizes[2:]))
    on_few = "Laplace on all cells", *PLAIN_ON_MANY[:2]
    for method, price, after in ((HistogramNoise(), PRICE.ways[1], None), (Residual(), PRICE, whole)):
        yield Task("Adult, 6 columns of 7,560 cells", few, method, 3, (3,), on_few, {}, after, price=price)
    for k in (2, 3):
        yield Task(f"16 bits, all {k}-way", bits, Residual(), k, (k,), PLAIN_ON_MANY[:1], {}, near)


def error(workload: Marginals, data: Rows, released: Released) -> float:
    gaps = np.abs(workload.answer(data) - released.query(workload).answers)
    return float(np.add.reduceat(gaps, workload.starts[:-1]).mean() / int(data.marginal(())))


def planned() -> float:
    """CPU seconds to plan all 3-way marginals of a hundred attributes, with every variance."""
    start = time.process_time()
    Residual().predict(marginals(Domain.of({f"a{i}": 10 for i in range(100)}), k=3), None, PRICE)
    return time.process_time() - start


def peers(task: Task, pythons: dict[str, str], runs: int, done: dict[tuple[str, Records, int], Peer]) -> list[Peer]:
    """What the others of a task do; none is run twice on the same."""
    k, found = task.workload or task.k, []
    for name in task.others:
        key = name, task.given, k
        python = pythons.get(name.rstrip(")").partition(" (")[2].lower())
        if name in PLAIN and key not in done:
            done[key] = here(name, task.given, k, runs)
        elif python and key not in done:
            done[key] = apart(name, python, task.given, k)
        if peer := done.get(key, task.stated.get(name)):
            found.append(peer)
    return found


def rows(task: Task, others: list[Peer], runs: int) -> Iterator[tuple[str, ...]]:
    domain = Domain.of({f"a{i}": n for i, n in enumerate(task.given.sizes)})
    data, workload = Rows(domain, task.given.codes), marginals(domain, k=task.k)
    judged = [marginals(domain, k=k) for k in task.ways]
    seconds, errors = [], []
    for _ in range(runs):
        start = time.process_time()
        released = task.method.release(workload, data, task.price)
        if task.after:
            released = task.after(released)
        seconds.append(time.process_time() - start)
        errors.append([error(w, data, released) for w in judged])
    spent, name = float(np.mean(seconds)), task.method.name + (f", {task.after.__name__}" if task.after else "")
    for k, own in zip(task.ways, np.mean(errors, axis=0), strict=True):
        head = (task.name, name, f"{k}-way", f"{own:.4f}", f"{spent:.3f}")
        if not others:
            yield *head, "-", "-", "-", "-", "-"
        for peer in others:
            good = round(own, 4) <= round(peer.errors[k], 4) and spent <= peer.seconds / 10
            verdict = ("yes" if good else "NO") if peer.same else "-"
            yield *head, peer.name, f"{peer.errors[k]:.4f}", f"{peer.seconds:.4g}", peer.how, verdict
            head = ("",) * len(head)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a third of the runs, and no AIM")
    for who in ("mbi", "dpmm", "smartnoise"):
        parser.add_argument(f"--{who}", metavar="PYTHON", help=f"an interpreter that has it; see release_{who}.py")
    told = vars(parser.parse_args())
    quick = told.pop("quick")
    runs = 1 if quick else 3
    console = Console()
    console.width = max(console.width, 150)
    console.print(f"Marginals at {PRICE}, mean of {runs}, of what takes no time {10 * runs}")
    left = ("released", "method", "judged on", "other", "how")
    done: dict[tuple[str, Records, int], Peer] = {}
    for task in tasks():
        table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
        for heading in (*left[:3], "error", "seconds", left[3], "its error", "its seconds", left[4], "reached"):
            table.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
        pythons = {who: at for who, at in told.items() if at and not (quick and "AIM (mbi)" in task.others)}
        many = 10 * runs if task.after is Released.nonnegative else runs
        for row in rows(task, peers(task, pythons, many, done), many):
            table.add_row(*row)
        console.print(table)
    seconds = planned()
    reached = "yes" if seconds <= 10 else "NO"
    console.print(f"All 3-way marginals of 100 attributes planned in {seconds:.1f} s (<= 10): {reached}")


if __name__ == "__main__":
    main()
