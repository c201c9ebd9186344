"""MST and AIM, with the inference of mbi, by an interpreter of its own:

    python -m venv peer && peer/bin/pip install mbi==1.1.0
    python benchmarks/release.py --mbi peer/bin/python

The package infers a distribution from noisy marginals; which marginals are measured is written here after the papers,
MST of McKenna, Miklau and Sheldon (2021) and AIM of McKenna, Mullins, Sheldon and Miklau (2022), with a workload of
all marginals of `k` attributes and models of 4 MB.  The marginals are those of the fitted model, without the error of
records drawn from it.
"""

from __future__ import annotations

import itertools
import math
import os
import string
import sys
from dataclasses import dataclass
from functools import reduce

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import mbi
import networkx as nx
import numpy as np
import opt_einsum  # which comes with mbi
from _release_peer import Answer, counted, read, tell
from mbi import LinearMeasurement, estimation, junction_tree

MST_ITERATIONS = 5000
AIM_ITERATIONS = 1000
MODEL_SIZE = 4.0  # MB
ALPHA = 0.9  # of AIM's budget, the share of measurements
RNG = np.random.default_rng()
Pair = tuple[int, ...]


def zcdp(epsilon: float, delta: float) -> float:
    """The largest rho whose zCDP is (epsilon, delta)-DP, by the conversion of Canonne, Kamath and Steinke (2020)."""
    alphas = 1 + np.geomspace(1e-3, 1e5, 20_000)
    low, high = 0.0, epsilon
    for _ in range(100):
        rho = (low + high) / 2
        logs = (alphas - 1) * (alphas * rho - epsilon) + alphas * np.log1p(-1 / alphas) - np.log(alphas - 1)
        low, high = (rho, high) if logs.min() <= math.log(delta) else (low, rho)
    return low


def chosen(scores: np.ndarray, epsilon: float, sensitivity: float) -> int:
    """The exponential mechanism."""
    return int(np.argmax(epsilon / (2 * sensitivity) * scores + RNG.gumbel(size=scores.size)))


@dataclass(frozen=True)
class Data:
    """Records as mbi knows them: attributes are named by their numbers."""

    codes: np.ndarray
    sizes: tuple[int, ...]

    @property
    def domain(self) -> mbi.Domain:
        return mbi.Domain(tuple(map(str, range(len(self.sizes)))), self.sizes)

    def counts(self, attributes: Pair) -> np.ndarray:
        return counted(self.codes, self.sizes, attributes).ravel().astype(float)

    def measured(self, attributes: Pair, sigma: float) -> LinearMeasurement:
        counts = self.counts(attributes)
        return LinearMeasurement(counts + RNG.normal(0, sigma, counts.size), tuple(map(str, attributes)), sigma)


def projected(model: mbi.MarkovRandomField, attributes: Pair) -> np.ndarray:
    return np.asarray(model.project(tuple(map(str, attributes))).datavector(), dtype=float)


def marginal(model: mbi.MarkovRandomField, attributes: Pair) -> np.ndarray:
    """Any marginal of the model, in doubles; attributes are summed out two tables at a time."""
    letters, tables, seen = string.ascii_letters, [], set()
    for factor in model.potentials.arrays.values():
        values = np.asarray(factor.values, dtype=float)
        axes = [int(a) for a in factor.domain.attributes]
        seen.update(axes)
        tables += [np.exp(values - values.max()), axes]
    for a in set(attributes) - seen:
        tables += [np.ones(model.domain[str(a)]), [a]]
    terms = ",".join("".join(letters[a] for a in axes) for axes in tables[1::2])
    found = opt_einsum.contract(f"{terms}->{''.join(letters[a] for a in attributes)}", *tables[::2], optimize="auto-hq")
    return found * float(model.total) / found.sum()


def mst(data: Data, rho: float) -> Answer:
    """Noisy one-way marginals, whose rare values are merged; then a tree of pairs, chosen by what the former miss."""
    d = len(data.sizes)
    sigma = math.sqrt(3 * d / (2 * rho))  # of a third of rho, for d measurements
    seen = [data.measured((a,), sigma) for a in range(d)]
    kept = [np.flatnonzero(np.asarray(m.noisy_measurement) >= 3 * sigma) for m in seen]
    places, spread, one_way = [], [], []
    for size, often, m in zip(data.sizes, kept, seen, strict=True):
        place = np.full(size, often.size)
        place[often] = np.arange(often.size)
        many = np.bincount(place, minlength=int(place.max()) + 1)
        places.append(place)
        spread.append(1 / many[place])  # those merged are taken to be alike
        weight = 1 / np.sqrt(many)
        merged = np.bincount(place, m.noisy_measurement, many.size) * weight
        one_way.append(LinearMeasurement(merged, m.clique, sigma, lambda f, w=weight: f.datavector() * w))
    totals = np.array([np.sum(m.noisy_measurement) for m in seen])
    total = float(max(1, np.average(totals, weights=1 / np.array(data.sizes))))
    small = Data(
        np.stack([place[data.codes[:, a]] for a, place in enumerate(places)], axis=1),
        tuple(int(place.max()) + 1 for place in places),
    )

    model = estimation.mirror_descent(small.domain, one_way, known_total=total, iters=AIM_ITERATIONS)
    pairs = list(itertools.combinations(range(d), 2))
    misses = np.array([np.abs(small.counts(p) - projected(model, p)).sum() for p in pairs])
    epsilon = math.sqrt(8 * (rho / 3) / (d - 1))
    tree = nx.empty_graph(d)
    for _ in range(d - 1):
        parts = {a: i for i, part in enumerate(nx.connected_components(tree)) for a in part}
        joins = [i for i, (a, b) in enumerate(pairs) if parts[a] != parts[b]]
        tree.add_edge(*pairs[joins[chosen(misses[joins], epsilon, 1)]])

    sigma = math.sqrt(3 * (d - 1) / (2 * rho))
    both = one_way + [small.measured(tuple(sorted(edge)), sigma) for edge in tree.edges]
    model = estimation.mirror_descent(small.domain, both, known_total=total, iters=MST_ITERATIONS)

    def answer(attributes: Pair) -> np.ndarray:
        cells = marginal(model, attributes)[np.ix_(*(places[a] for a in attributes))]
        return cells * reduce(np.multiply.outer, (spread[a] for a in attributes))

    return answer


def aim(data: Data, rho: float, k: int) -> Answer:
    """Rounds that choose the marginal most missed, less the noise it would bring; they grow when little is learnt."""
    d = len(data.sizes)
    workload = [frozenset(w) for w in itertools.combinations(range(d), k)]
    closure = [r for j in range(1, k + 1) for r in itertools.combinations(range(d), j)]
    weights = {r: float(sum(len(w & set(r)) for w in workload)) for r in closure}
    truth = {r: data.counts(r) for r in closure}
    rounds = 16 * d
    sigma, epsilon = math.sqrt(rounds / (2 * ALPHA * rho)), math.sqrt(8 * (1 - ALPHA) * rho / rounds)
    seen = [data.measured((a,), sigma) for a in range(d)]
    used = d / (2 * sigma**2)
    model = estimation.mirror_descent(data.domain, seen, iters=AIM_ITERATIONS)
    last = False
    while not last:
        last = rho - used <= 2 * (1 / (2 * sigma**2) + epsilon**2 / 8)
        if last:
            sigma, epsilon = 1 / math.sqrt(2 * ALPHA * (rho - used)), math.sqrt(8 * (1 - ALPHA) * (rho - used))
        used = rho if last else used + 1 / (2 * sigma**2) + epsilon**2 / 8
        small = [r for r in closure if fits(data.domain, [m.clique for m in seen], r, MODEL_SIZE * used / rho)]
        bias = math.sqrt(2 / math.pi) * sigma
        scores = [weights[r] * (np.abs(truth[r] - projected(model, r)).sum() - bias * truth[r].size) for r in small]
        best = small[chosen(np.array(scores), epsilon, max(weights[r] for r in small))]
        seen.append(data.measured(best, sigma))
        before = projected(model, best)
        cliques = [m.clique for m in seen]
        potentials = model.potentials.expand(mbi.clique_utils.maximal_subset(cliques))
        model = estimation.mirror_descent(data.domain, seen, iters=AIM_ITERATIONS, potentials=potentials)
        if np.abs(projected(model, best) - before).sum() <= bias * before.size:
            sigma, epsilon = sigma / 2, 2 * epsilon
    return lambda attributes: marginal(model, attributes)


def fits(domain: mbi.Domain, cliques: list[tuple[str, ...]], more: Pair, most: float) -> bool:
    """Whether the model stays below so many MB; what is measured already always may be measured again."""
    new = tuple(map(str, more))
    if any(set(new) <= set(c) for c in cliques):
        return True
    return junction_tree.hypothetical_model_size(domain, [*cliques, new]) <= most


def main() -> None:
    path, name, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
    codes, sizes, epsilon, delta = read(path)
    data, rho = Data(codes, sizes), zcdp(epsilon, delta)
    tell(name, path, lambda: mst(data, rho) if name == "MST" else aim(data, rho, k))


if __name__ == "__main__":
    main()
