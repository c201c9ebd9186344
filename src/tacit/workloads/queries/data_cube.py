"""Many marginals of one table from few passes over its records: the data cube.

Attributes are put in runs of at most L^(1/k) cells, where k is the largest number of attributes of a marginal.
Marginals that lie in the same runs are then sums of one table of at most L cells, which is counted once.

Reference.  Gray, Bosworth, Layman, Pirahesh, ICDE 1996.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import chain, combinations

import numpy as np

from ._all_marginals import AllMarginals
from .data import Data, Integers
from .domain import Axes, Domain

_CELLS = 1 << 16  # L: summed faster than as many records are counted


def cube(data: Data, sets: Collection[Axes]) -> Iterator[dict[Axes, Integers]]:
    """The marginals on these sets of axes, each once, several at a time."""
    domain = data.domain
    run = _runs(domain, sets)
    by_runs: defaultdict[Axes, list[Axes]] = defaultdict(list)
    for axes in sets:
        by_runs[tuple(sorted({run[a] for a in axes}))].append(axes)
    above: dict[Axes, list[Axes]] = {}  # by runs: the sets that are counted with a table over more runs
    for runs in sorted(by_runs, key=len, reverse=True):
        if runs in above:
            above[runs].extend(by_runs.pop(runs))
        else:
            above.update(
                dict.fromkeys((some for k in range(len(runs)) for some in combinations(runs, k)), by_runs[runs])
            )
    for together in by_runs.values():
        union = tuple(sorted(set(chain.from_iterable(together))))
        if domain.cells(union) <= _CELLS:
            yield _sums(data.marginal(union), union, together)
        else:
            yield from ({axes: data.marginal(axes)} for axes in together)


def _runs(domain: Domain, sets: Collection[Axes]) -> dict[int, int]:
    """The run of each attribute, small ones together; one run if all fit in a table."""
    used = set(chain.from_iterable(sets))
    room = _CELLS if domain.cells(tuple(used)) <= _CELLS else _CELLS ** (1 / max(map(len, sets)))
    runs, run, cells = {}, 0, 1
    for axis in sorted(used, key=domain.shape.__getitem__):
        cells *= domain.shape[axis]
        if cells > room:
            run, cells = run + 1, domain.shape[axis]
        runs[axis] = run
    return runs


def _sums(table: Integers, axes: Axes, sets: Collection[Axes]) -> dict[Axes, Integers]:
    """The marginals on these sets of a table on these axes."""
    place = {axis: i for i, axis in enumerate(axes)}
    within = {tuple(place[a] for a in some): some for some in sets}
    return {within[places]: np.asarray(sums) for places, sums in AllMarginals(within).of(table).items()}
