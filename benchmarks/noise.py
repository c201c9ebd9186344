"""How fast noise is drawn, next to numpy, whose noise is not secure, and to OpenDP.

    python benchmarks/noise.py [--quick] [--memory]

Each number is the best of several repetitions in CPU time, in one process, the rivals taking turns.  A choice among
n candidates counts as n samples.  OpenDP draws some 10^5 additive noises a second, so it is given vectors of 10^4;
its other vectors are as long as those of tacit.  Where it is not installed its columns hold dashes.  `--memory` adds
what 10^8 draws need beyond their output.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from _timing import Rival, Row, show

from tacit.mechanisms.additive.gaussian import Gaussian
from tacit.mechanisms.additive.laplace import Laplace
from tacit.mechanisms.local.randomized_response import RandomizedResponse
from tacit.mechanisms.selection.noisy_max import NoisyMax
from tacit.mechanisms.selection.permute_and_flip import PermuteAndFlip
from tacit.mechanisms.sparse_vector.above_threshold import AboveThreshold

try:
    import opendp.prelude as dp

    dp.enable_features("contrib")
except ImportError:
    dp = None

FEW = 10_000  # additive noises that OpenDP is asked for at once
STEP = -20  # reals go on a grid of 2^STEP
FLIP = 1 / (1 + math.e)  # how often a bit is flipped at epsilon = 1
RNG = np.random.default_rng()


def on(x: Any, release: Callable[[Any], Any]) -> Rival:
    """A release of x, one sample for each element."""
    return partial(release, x), np.size(x)


def opendp(x: Any, make: str, norm: str, **options: Any) -> Rival | None:
    """OpenDP's release of x: a number or a vector, of integers or of reals."""
    if dp is None:
        return None
    real = np.asarray(x).dtype.kind == "f"
    atom = dp.atom_domain(T=float, nan=False) if real else dp.atom_domain(T="i64")
    domain = dp.vector_domain(atom, size=np.size(x)) if np.ndim(x) else atom
    metric = getattr(dp, f"{norm}_distance")(T=float if real else "i64")
    return on(x, getattr(dp.m, make)(domain, metric, **options))


def additive(n: int) -> Iterator[Row]:
    """Noise on integers, and on reals put on a grid."""
    x, y = np.zeros(n, np.int64), np.zeros(n)
    few, few_reals = x[:FEW], y[:FEW]
    numpy: Rival
    for scale in (1.0, 200.0, 1e6):
        numpy = partial(RNG.laplace, 0, scale, n), n
        peer = opendp(few, "make_laplace", "l1", scale=scale)
        name = f"Laplace on integers, scale {scale:,.0f}"
        yield Row(name, on(x, Laplace(scale=scale).release), numpy, peer, "laplace", over_numpy=1, over_opendp=400)
    for sigma in (1.0, 200.0, 1e4):
        numpy = partial(lambda s: np.rint(RNG.normal(0, s, n)), sigma), n
        peer = opendp(few, "make_gaussian", "l2", scale=sigma)
        name = f"Gaussian on integers, sigma {sigma:,.0f}"
        ours = on(x, Gaussian(sigma=sigma).release)
        yield Row(name, ours, numpy, peer, "rint(normal)", over_numpy=0.4, over_opendp=250)
    numpy = partial(RNG.laplace, 0, 1, n), n
    peer = opendp(few_reals, "make_laplace", "l1", scale=1.0, k=STEP)
    ours = on(y, Laplace(scale=1, grid=2.0**STEP).release)
    yield Row("Laplace on a grid, scale 1", ours, numpy, peer, "laplace", over_numpy=0.5)
    peer = opendp(few_reals, "make_gaussian", "l2", scale=1.0, k=STEP)
    ours = on(y, Gaussian(sigma=1, grid=2.0**STEP).release)
    yield Row("Gaussian on a grid, sigma 1", ours, numpy, peer, "laplace", over_numpy=0.5)


def bits_and_thresholds(n: int) -> Iterator[Row]:
    bits, peer = RNG.random(n) < 0.3, None
    if dp is not None:  # it flips a bit with probability f / 2
        flip = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), 2 * FLIP)
        peer = partial(flip, np.packbits(bits).tobytes()), n
    numpy: Rival = (lambda: bits ^ (RNG.random(n) < FLIP)), n
    ours = on(bits, RandomizedResponse(epsilon=1).release)
    yield Row("randomized response on bits", ours, numpy, peer, "bits ^ (random < p)", over_numpy=5)
    ours = on(np.zeros(n, np.int64), AboveThreshold(threshold=10_000, epsilon=1).release)
    numpy = partial(RNG.laplace, 0, 1, n), n
    yield Row("above threshold, all below", ours, numpy, bar="laplace", over_numpy=0.5)


def selection(n: int) -> Iterator[Row]:
    """At epsilon 1 the scale is 2.  OpenDP has exponential noise for pure loss, and Gumbel noise for zCDP."""
    votes, laws = RNG.integers(0, 1000, n), ("laplace", "exponential", "gumbel")
    noisy_max: Callable[..., Any] = partial(NoisyMax, epsilon=1)
    for kind, u, grid in (("integers", votes, None), ("on a grid", votes + RNG.random(n), 2.0**STEP)):
        choices = [("permute-and-flip", "exponential", PermuteAndFlip(epsilon=1, grid=grid))]
        choices += [(f"noisy max ({law})", law, noisy_max(grid=grid, noise=law)) for law in laws]
        for name, law, m in choices:
            measure = dp and (dp.zero_concentrated_divergence() if law == "gumbel" else dp.max_divergence())
            yield Row(
                f"{name}, {kind}",
                on(u, m.release),
                (partial(lambda u, draw: np.argmax(u + draw(scale=2, size=n)), u, getattr(RNG, law)), n),
                opendp(u, "make_noisy_max", "linf", output_measure=measure, scale=2.0),
                "argmax(u + noise)",
                over_opendp=1.5 if grid is None else None,
            )


def scalars() -> Iterator[Row]:
    """One release at a time."""
    row = partial(Row, unit="us")
    numpy: Rival
    peer = opendp(42, "make_laplace", "absolute", scale=200.0)
    numpy = partial(RNG.laplace, 0, 200), 1
    yield row("one Laplace on an integer", on(42, Laplace(scale=200).release), numpy, peer, "laplace", at_most=10)
    peer = opendp(42, "make_gaussian", "absolute", scale=200.0)
    numpy = partial(RNG.normal, 0, 200), 1
    yield row("one Gaussian on an integer", on(42, Gaussian(sigma=200).release), numpy, peer, "normal", at_most=10)
    peer = opendp(4.2, "make_laplace", "absolute", scale=1.0, k=STEP)
    numpy = partial(RNG.laplace, 0, 1), 1
    ours = on(4.2, Laplace(scale=1, grid=2.0**STEP).release)
    yield row("one Laplace on a grid", ours, numpy, peer, "laplace", at_most=10)
    peer = None if dp is None else on(True, dp.m.make_randomized_response_bool(1 - FLIP))
    numpy = (lambda: RNG.random() < FLIP), 1
    yield row("one randomized response", on(True, RandomizedResponse(epsilon=1).release), numpy, peer, "random < p")
    ten, measure = np.arange(10), dp and dp.max_divergence()
    found = opendp(ten, "make_noisy_max", "linf", output_measure=measure, scale=2.0)
    ours, peer = (partial(PermuteAndFlip(epsilon=1).release, ten), 1), found and (found[0], 1)
    numpy = (lambda: np.argmax(ten + RNG.exponential(2, 10))), 1
    yield row("one permute-and-flip of 10", ours, numpy, peer, "argmax(u + noise)")


def tables() -> Iterator[Row]:
    """The first release of a mechanism makes its table, here each time for a scale that was not met before."""
    x, fresh = np.zeros(100, np.int64), itertools.count(1)

    def first(name: str, scale: int) -> None:
        new = scale * (1 + Fraction(next(fresh), 10**9))
        (Laplace(scale=new) if name == "Laplace" else Gaussian(sigma=new)).release(x)

    for name, scales in (("Laplace", (1, 200, 10**6)), ("Gaussian", (1, 200, 10**4))):
        for scale in scales:
            yield Row(f"table of {name}, {scale:,}", (partial(first, name, scale), 1), unit="ms")


def memory(n: int) -> str:
    """What n draws need at their peak, beyond the data and the output."""
    x = np.zeros(n, np.int64)
    tracemalloc.start()
    y: Any = Laplace(scale=200).release(x)
    extra = (tracemalloc.get_traced_memory()[1] - y.nbytes) / 1e6
    tracemalloc.stop()
    return f"{n:,} draws of Laplace noise, scale 200: {extra:.0f} MB beyond the output (target: below 256)"


def main() -> None:
    np.empty(31 << 17)  # freed at once: from then on the C library serves large arrays from memory that it keeps
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="vectors of 10^5 and few repetitions; the targets are for the full run"
    )
    parser.add_argument("--memory", action="store_true", help="also measure the memory of 10^8 draws")
    args = parser.parse_args()
    n, repetitions = (10**5, 3) if args.quick else (10**6, 7)
    rows = [*additive(n), *bits_and_thresholds(n), *selection(n), *scalars(), *tables()]
    show(f"Noise, vectors of {n:,} (OpenDP's additive noise: {FEW:,}); targets in parentheses", rows, repetitions)
    if args.memory:
        print(memory(10**8))


if __name__ == "__main__":
    main()
