"""Many marginals of one table, for which each record is counted a few times only: the data cube.

Attributes are put in runs of at most L^(1/k) cells, where k is the most attributes that a marginal has.  Marginals that
lie in the same runs are then sums of one table of at most L cells, which is counted once.  It is summed axis by axis:
marginals that have kept the same axes so far share the work, and tables of as many cells so far are in one stack.

Reference.  Gray, Bosworth, Layman, Pirahesh, ICDE 1996.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import chain, combinations

import numpy as np

from .data import Data, Integers
from .domain import Axes, Domain

_CELLS = 1 << 16  # L: summed faster than as many records are counted


def cube(data: Data, sets: Collection[Axes]) -> Iterator[dict[Axes, Integers]]:
    """The marginals on these axes, all of them once, some at a time."""
    domain = data.domain
    run = _runs(domain, sets)
    by_runs: defaultdict[Axes, list[Axes]] = defaultdict(list)
    for axes in sets:
        by_runs[tuple(sorted({run[a] for a in axes}))].append(axes)
    above: dict[Axes, list[Axes]] = {}  # those that are counted over more runs, for what lies in some of them
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
            yield sums(data.marginal(union), union, together)
        else:
            yield from ({axes: data.marginal(axes)} for axes in together)


def _runs(domain: Domain, sets: Collection[Axes]) -> dict[int, int]:
    """The run of each attribute, small ones together; one run if all fit in a table."""
    used = set(chain.from_iterable(sets))
    room = _CELLS if domain.cells(tuple(used)) <= _CELLS else _CELLS ** (1 / max(map(len, sets)))
    found, run, cells = {}, 0, 1
    for axis in sorted(used, key=domain.shape.__getitem__):
        cells *= domain.shape[axis]
        if cells > room:
            run, cells = run + 1, domain.shape[axis]
        found[axis] = run
    return found


def sums(table: Integers, axes: Axes, sets: Collection[Axes]) -> dict[Axes, Integers]:
    """The marginals on these sets of a table on these axes; axes of a stack: marginal, cell, rest."""
    wanted = [set(sets)]  # what must have been kept after each axis, the last first
    for axis in reversed(axes):
        wanted.append({s[:-1] if s[-1:] == (axis,) else s for s in wanted[-1]})
    stacks: dict[int, tuple[list[Axes], Integers]] = {1: ([()], table.reshape(1, 1, -1))}
    for axis, n, needed in zip(axes, table.shape, wanted[-2::-1], strict=True):
        parts: defaultdict[int, list[tuple[list[Axes], Integers]]] = defaultdict(list)
        for cells, (kept, stack) in stacks.items():
            if keep := [i for i, s in enumerate(kept) if (*s, axis) in needed]:
                longer = _some(stack, keep).reshape(len(keep), cells * n, -1)
                parts[cells * n].append(([(*kept[i], axis) for i in keep], longer))
            if drop := [i for i, s in enumerate(kept) if s in needed]:
                shorter = _some(stack, drop).reshape(len(drop), cells, n, -1).sum(axis=2)
                parts[cells].append(([kept[i] for i in drop], shorter))
        stacks = {cells: part[0] if len(part) == 1 else _joined(part) for cells, part in parts.items()}
    size = dict(zip(axes, table.shape, strict=True))
    return {
        s: t.reshape([size[a] for a in s]) for kept, stack in stacks.values() for s, t in zip(kept, stack, strict=True)
    }


def _some(stack: Integers, places: list[int]) -> Integers:
    return stack if len(places) == len(stack) else stack[places]


def _joined(parts: list[tuple[list[Axes], Integers]]) -> tuple[list[Axes], Integers]:
    return [s for kept, _ in parts for s in kept], np.concatenate([stack for _, stack in parts])
