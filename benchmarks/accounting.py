"""How tight and how fast epsilon is at delta = 10^-6, next to dp_accounting, autodp and prv_accountant.

    python benchmarks/accounting.py [--quick]

Every cell holds an epsilon and, below it, CPU time: after one call that warms all caches, the best of three rounds in
which the rivals take turns; a rival that takes more than two seconds runs once.  Each call builds its mechanisms anew.
All run in one process.  MB is the peak of tacit's call by tracemalloc.  `--quick` leaves out rivals known to take more
than five seconds.  Where a rival is not installed, or has nothing for a row, its column holds a dash.  On a machine
that others use too, set OPENBLAS_NUM_THREADS=1: threads that wait for one another spend CPU time.

A rival is tight if it is at most 0.1 % above the truth, and not below it.  Times are compared with the fastest tight
rival: "default" among those as they come; "any" adds dp_accounting on a grid so coarse that it is only just tight,
which one finds by knowing the truth.  prv_accountant has no default error: it is given a twentieth of a per cent of the
truth, and its upper bound is shown.  autodp adds Gaussians exactly and all else by Renyi divergences, as its Fourier
accountant, with the SciPy of today, returns negative epsilons.

dp_accounting's distributions count randomized response only once inside a SelfComposedDpEvent, and a ComposedDpEvent of
10^4 takes minutes, so its distribution is composed with itself directly, which gives what ComposedDpEvent gives.  With
Laplace noise of k = 10^6 its default grid needs some 30 GB: not run.  The 1000 distinct mechanisms are Laplace,
Gaussian and pure in turn, of sizes (100 + i) / 26000; the truth is unknown, and what stands there is a certified lower
bound of tacit's, so that an excess is at most what is shown.  The other truths are golden (Laplace, k = 10^2 and 10^3),
exact (randomized response, Gaussian) or contour integrals.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from _timing import seconds
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tacit.core.accounting.accountants import PLD
from tacit.core.accounting.atoms import GaussianNoise, LaplaceNoise
from tacit.core.accounting.loss import Loss, Pure
from tacit.core.accounting.sampled import Sampled

try:
    import dp_accounting as dpa
    from dp_accounting.pld import common as dpa_common
    from dp_accounting.pld import privacy_loss_distribution as plds
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
    from dp_accounting.rdp import RdpAccountant
except ImportError:
    dpa = None
try:
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo as transformers
except ImportError:
    zoo = None
try:
    import prv_accountant as prvs
except ImportError:
    prvs = None

DELTA = 1e-6
TIGHT = 1e-3  # an excess over the truth, as a share of it
FASTER = 10  # than the fastest tight rival
ONCE = 2.0  # seconds: what takes longer is timed by one call
GRID = 1e-4  # dp_accounting's default

Epsilon = Callable[[], float]
RIVALS = {
    "pld": "dp_accounting\nPLD, default",
    "coarse": "dp_accounting\nPLD, coarse",
    "rdp": "dp_accounting\nRDP",
    "autodp": "autodp",
    "prv": "prv_accountant",
}


@dataclass(frozen=True)
class Task:
    """A composition, its true epsilon if known, and those who account for it."""

    name: str
    loss: Callable[[], Loss]
    truth: float | None
    rivals: dict[str, Epsilon]
    slow: frozenset[str] = field(default_factory=frozenset)  # rivals that take more than five seconds
    within: float | None = None  # CPU seconds aimed at
    below: float | None = None  # megabytes aimed at


@dataclass(frozen=True)
class Result:
    """An epsilon and the CPU seconds that it took."""

    epsilon: float
    seconds: float

    def tight(self, truth: float) -> bool:
        return truth * (1 - 1e-6) <= self.epsilon <= truth * (1 + TIGHT)  # truths are good to six digits

    def __str__(self) -> str:
        return f"{self.epsilon:,.5f}\n{clock(self.seconds)}"


def clock(s: float) -> str:
    return f"{s:.1f} s" if s >= 10 else f"{s:.2f} s" if s >= 1 else f"{1e3 * s:.2f} ms"


def pld(event: Callable[[], Any], grid: float = GRID) -> float:
    accountant = PLDAccountant(value_discretization_interval=grid)
    return accountant.compose(event()).get_epsilon(DELTA)


def rdp(event: Callable[[], Any], relation: str = "ADD_OR_REMOVE_ONE") -> float:
    return RdpAccountant(neighboring_relation=dpa.NeighboringRelation[relation]).compose(event()).get_epsilon(DELTA)


def autodp(mechanisms: Callable[[], Sequence[Any]], count: int = 1, compose: str = "Composition") -> float:
    found = mechanisms()
    return float(getattr(transformers, compose)()(found, [count] * len(found)).get_approxDP(DELTA))


def prv(mechanisms: Callable[[], Sequence[Any]], count: int, error: float) -> float:
    found = mechanisms()
    counts = [count] * len(found)
    accountant = prvs.PRVAccountant(found, error, DELTA / 1000, max_self_compositions=counts)
    return accountant.compute_epsilon(DELTA, counts)[2]


def task(name: str, loss: Callable[[], Loss], truth: float | None, *slow: str, **more: Any) -> Task:
    """Without those rivals that are not installed; named in `more`, as are the targets of this row."""
    absent = {name for name in RIVALS if {"autodp": zoo, "prv": prvs}.get(name, dpa) is None}
    rivals = {name: more.pop(name) for name in RIVALS if name in more}
    kept = {name: call for name, call in rivals.items() if name not in absent}
    return Task(name, loss, truth, kept, frozenset(slow), **more)


def laplace() -> Iterator[Task]:
    truths = {10**2: 4.692667414680, 10**3: 18.950287367540, 10**4: 94.235865, 10**5: 630.509533, 10**6: 5303.584653}
    for k, truth in truths.items():

        def event(k: int = k) -> Any:
            return dpa.SelfComposedDpEvent(dpa.LaplaceDpEvent(10), k)

        at_default = {"pld": partial(pld, event)} if k < 10**6 else {}
        yield task(
            f"Laplace 0.1\nk = 10^{len(str(k)) - 1}",
            partial(lambda k: k * Loss({LaplaceNoise(Fraction(1, 10)): 1}), k),
            truth,
            *(("pld", "prv") if k >= 10**5 else ("prv",) if k == 10**4 else ()),
            **at_default,
            coarse=partial(pld, event, 0.05 if k == 10**2 else 0.02),
            rdp=partial(rdp, event),
            autodp=partial(autodp, lambda: [zoo.LaplaceMechanism(b=10)], k),
            prv=partial(prv, lambda: [prvs.LaplaceMechanism(0.1)], k, TIGHT / 2 * truth),
            within=0.1 if k == 10**6 else None,
            below=256 if k == 10**6 else None,
        )


def response() -> Iterator[Task]:
    for k, truth in {10**3: 19.344671448, 10**4: 96.571840033}.items():
        flip = 1 / (1 + math.exp(0.1))  # the peers' noise parameter of two buckets is twice this

        def composed(grid: float, k: int = k, p: float = 2 * flip) -> float:
            one = plds.from_randomized_response(p, 2, value_discretization_interval=grid)
            return one.self_compose(k).get_epsilon_for_delta(DELTA)

        def event(k: int = k, p: float = 2 * flip) -> Any:  # in Renyi accounting it is counted
            return dpa.SelfComposedDpEvent(dpa.RandomizedResponseDpEvent(p, 2), k)

        yield task(
            f"randomized response 0.1\nk = 10^{len(str(k)) - 1}",
            partial(lambda k: k * Loss({Pure(Fraction(1, 10)): 1}), k),
            truth,
            pld=partial(composed, GRID),
            rdp=partial(rdp, event, "REPLACE_ONE"),
            autodp=partial(autodp, partial(lambda p: [zoo.RandresponseMechanism(p=p)], 1 - flip), k),
            prv=partial(prv, lambda: [prvs.PureDPMechanism(0.1)], k, TIGHT / 2 * truth),
        )


def gaussian() -> Iterator[Task]:
    truth, k, sigma = 0.882744594143, 1000, 150

    def event() -> Any:
        return dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(sigma), k)

    yield task(
        f"Gaussian\nsigma {sigma}, k = 10^3",
        lambda: k * Loss({GaussianNoise(Fraction(1, sigma**2)): 1}),
        truth,
        pld=partial(pld, event),
        coarse=partial(pld, event, 0.01),
        rdp=partial(rdp, event),
        autodp=partial(autodp, lambda: [zoo.ExactGaussianMechanism(sigma)], k, "ComposeGaussian"),
        prv=partial(prv, lambda: [prvs.GaussianMechanism(sigma)], k, TIGHT / 2 * truth),
    )


def sampled() -> Iterator[Task]:
    truth, k, rate = 6.90738, 10**4, Fraction(1, 100)

    def event() -> Any:
        return dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(float(rate), dpa.GaussianDpEvent(1)), k)

    def amplified() -> list[Any]:
        return [transformers.AmplificationBySampling()(zoo.GaussianMechanism(1), float(rate), improved_bound_flag=True)]

    yield task(
        "sampled Gaussian\nq 0.01, sigma 1, k = 10^4",
        lambda: k * Loss({Sampled(rate, GaussianNoise(Fraction(1))): 1}),
        truth,
        "prv",
        pld=partial(pld, event),
        coarse=partial(pld, event, 1e-3),
        rdp=partial(rdp, event),
        autodp=partial(autodp, amplified, k),
        prv=partial(prv, lambda: [prvs.PoissonSubsampledGaussianMechanism(float(rate), 1.0)], k, TIGHT / 2 * truth),
    )


def mixed() -> Iterator[Task]:
    """No grid that is coarser than the default is tight; prv_accountant, if it were tight, would need 13 GB."""
    sizes = [Fraction(100 + i, 26_000) for i in range(1000)]

    def each(*kinds: Callable[[Any], Any]) -> list[Any]:
        return [kinds[i % 3](x if kinds[0] is LaplaceNoise else float(x)) for i, x in enumerate(sizes)]

    def loss() -> Loss:
        return Loss(dict.fromkeys(each(LaplaceNoise, lambda x: GaussianNoise(x * x), Pure), 1))

    def composed() -> float:
        noises = (
            lambda x: plds.from_laplace_mechanism(1 / x),
            lambda x: plds.from_gaussian_mechanism(1 / x),
            lambda x: plds.from_privacy_parameters(dpa_common.DifferentialPrivacyParameters(x, 0)),
        )
        return reduce(lambda a, b: a.compose(b), each(*noises)).get_epsilon_for_delta(DELTA)

    def event() -> Any:  # it knows pure mechanisms only as concentrated ones
        noises = (lambda x: dpa.LaplaceDpEvent(1 / x), lambda x: dpa.GaussianDpEvent(1 / x))
        return dpa.ComposedDpEvent(each(*noises, lambda x: dpa.ZCDpEvent(x * x / 2)))

    def from_zoo() -> list[Any]:
        noises = (lambda x: zoo.LaplaceMechanism(1 / x), lambda x: zoo.GaussianMechanism(1 / x))
        return each(*noises, lambda x: zoo.RandresponseMechanism(1 / (1 + math.exp(-x))))

    yield task(
        "1000 distinct\nLaplace, Gaussian, pure",
        loss,
        None,
        "prv",
        pld=composed,
        rdp=partial(rdp, event),
        autodp=partial(autodp, from_zoo),
        prv=partial(
            prv,
            lambda: each(prvs.LaplaceMechanism, lambda x: prvs.GaussianMechanism(1 / x), prvs.PureDPMechanism),
            1,
            0.1,
        ),
        within=1,
    )


def megabytes(call: Epsilon) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def once(call: Epsilon) -> Result:
    start = time.process_time()
    return Result(call(), time.process_time() - start)


def measured(ours: dict[str, Epsilon], rivals: dict[str, Epsilon]) -> dict[str, Result | None]:
    """One call each to warm up, then three rounds in turns for those that are fast; None for a rival that fails."""
    first: dict[str, Result | None] = {name: once(call) for name, call in ours.items()}
    for name, call in rivals.items():
        try:
            first[name] = once(call)
        except Exception:
            first[name] = None
    calls = {**ours, **rivals}
    again = {name: result for name, result in first.items() if result and result.seconds < ONCE}
    best = seconds([(calls[name], 1) for name in again], 3)
    return first | {name: Result(again[name].epsilon, s) for name, s in zip(again, best, strict=True) if s}


def judged(row: Task, own: Result, peak: float, truth: float, ratios: dict[str, float | None]) -> str:
    """What was aimed at and missed."""
    missed = [f"{name} x{FASTER}" for name, ratio in ratios.items() if ratio is not None and ratio < FASTER]
    if own.epsilon > truth * (1 + TIGHT):
        missed.append("excess")
    if row.within is not None and own.seconds > row.within:
        missed.append(f"{row.within:g} s")
    if row.below is not None and peak > row.below:
        missed.append(f"{row.below:g} MB")
    verdict = "NO:\n" + "\n".join(missed) if missed else "yes"
    return verdict if ratios["any"] is not None else f"{verdict}\n(no tight rival)"


def cells(row: Task, quick: bool) -> tuple[str, ...]:
    rivals = {name: call for name, call in row.rivals.items() if not (quick and name in row.slow)}
    ours: dict[str, Epsilon] = {
        "all": lambda: row.loss().epsilon(DELTA),
        "view": lambda: PLD().epsilon(row.loss(), DELTA),
    }
    results = measured(ours, rivals)
    own, view = results.pop("all"), results.pop("view")
    assert own is not None
    peak = megabytes(ours["all"])
    truth = row.truth or max(total.lower_epsilon(DELTA) for total in PLD().sums(row.loss()))
    tight = {name: result.seconds / own.seconds for name, result in results.items() if result and result.tight(truth)}
    any_ratio = min(tight.values(), default=None)
    tight.pop("coarse", None)
    ratios = {"default": min(tight.values(), default=None), "any": any_ratio}
    return (
        row.name,
        f"{'' if row.truth else '>= '}{truth:,.5f}",
        str(own),
        str(view),
        f"{100 * (own.epsilon / truth - 1):.4f} %",
        f"{peak:.1f}",
        *(str(results[name] or "fails") if name in results else "-" for name in RIVALS),
        *("-" if ratio is None else f"{ratio:,.1f}" for ratio in ratios.values()),
        judged(row, own, peak, truth, ratios),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="without the rivals that take more than five seconds")
    args = parser.parse_args()
    console = Console()
    console.width = max(console.width, 220)
    title = (
        f"Epsilon at delta = {DELTA:g} and CPU time, caches warm; targets: excess <= {TIGHT:.1%}, {FASTER} times "
        "faster than the fastest tight rival; Laplace of 10^6 in 0.1 s and 256 MB; 1000 distinct in 1 s"
    )
    table = Table(title=title, box=SIMPLE, padding=(0, 1, 0, 0))
    headings = ("composition", "truth", "tacit,\nall views", "tacit,\nPLD view", "excess", "MB")
    for heading in (*headings, *RIVALS.values(), "times faster,\ndefault", "times faster,\nany", "reached"):
        left = heading in ("composition", "reached")
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    rows = [*laplace(), *response(), *gaussian(), *sampled(), *mixed()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in track(rows, "Measuring", console=console, transient=True):
            table.add_row(*cells(row, args.quick))
    console.print(table)


if __name__ == "__main__":
    main()
