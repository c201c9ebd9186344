"""The errors of all methods, predicted and measured, as domain, queries, number of records or price vary.

Errors are measured on generated data: records fall into cells whose weights decay from attribute to attribute, so that
some cells are crowded and most are empty, as in real tables.  The number of records is public here.  So a method that
cannot be used where units are added or removed, such as the local model, is shown under substitution.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ..core.distance import SUBSTITUTE, Distance, Substitute
from ..core.errors import BadParameter, BadQuestion
from ..core.parameters import Number, flag, instance, instances, several, whole
from ..core.progress import with_progress
from ..core.randomness import SYSTEM, Source
from ..core.samplers import integers
from .method import Method
from .planner import plan
from .price import Price
from .queries.data import Rows
from .queries.domain import Domain
from .queries.workload import Workload
from .registry import METHODS

_DECAY = 0.7


def generated(domain: Domain, n: int, source: Source = SYSTEM) -> Rows:
    """n random records; the values of each attribute decay in frequency and depend on the attribute before it."""
    codes = np.empty((whole("n", n), len(instance("domain", domain, Domain).shape)), np.int64)
    for axis, size in enumerate(domain.shape):
        weights = np.cumsum(_DECAY ** np.arange(size))
        drawn = np.searchsorted(weights / weights[-1], (integers(1 << 40, source, n) + 0.5) / 2.0**40)
        shift = codes[:, axis - 1] if axis else 0
        codes[:, axis] = (drawn + shift) % size
    return Rows(domain, codes)


def compare(
    workloads: Workload | Sequence[Workload],
    ns: Sequence[int],
    prices: Sequence[Price],
    *,
    names: Sequence[str] | None = None,
    methods: Sequence[Method] = METHODS,
    measured: bool = True,
    beta: Number = 0.05,
    source: Source = SYSTEM,
) -> list[dict[str, Any]]:
    """A row for each workload, n, price and usable method: normalised errors, as predicted and in one release.

    Means are weighted by the weights of the queries.  `names` are the names of the workloads in the rows; one name may
    stand for the same queries on several domains.
    """
    asked = instances("workloads", [workloads] if isinstance(workloads, Workload) else workloads, Workload)
    named = _names(asked) if names is None else instances("names", names, str)
    if len(named) != len(asked):
        raise BadParameter("names", f"{len(named)} of them", f"one for each of {len(asked)} workloads")
    rows, tables = [], list(product(zip(named, asked, strict=True), several("ns", ns, whole)))
    paid = instances("prices", prices, Price)
    for (name, workload), n in with_progress("comparing", tables, len(tables)):
        data = generated(workload.domain, n, source) if flag("measured", measured) else None
        truth = None if data is None else workload.answer(data)
        about: dict[str, Any] = {"workload": name, "domain": "x".join(map(str, workload.domain.shape))}
        about |= {"cells": workload.domain.size, "queries": workload.queries, "n": n}
        for price in paid:
            other = _substituted(price)
            for first in plan(workload, n, price, methods, beta).rows:
                row = first if first.prediction else plan(workload, n, other, [first.method], beta).rows[0]
                if (p := row.prediction) is None:
                    continue
                entry: dict[str, Any] = {**about, "price": str(price), "method": row.method.name, "kind": p.kind}
                entry |= {"predicted mean": p.mean / n, "predicted max": p.worst / n}
                if data is not None and truth is not None:
                    entry |= _measured(row.method, workload, data, truth, price=row.price, n=n, source=source)
                rows.append(entry)
    return rows


def _substituted(price: Price) -> Price:
    """The price under substitution, where a unit is replaced by another that is as large."""
    d = price.unit
    if isinstance(d.relation, Substitute):
        return price
    both = Distance(2 * d.l1, 2 * d.l2_squared, d.linf, None if d.l0 is None else 2 * d.l0, SUBSTITUTE)
    return replace(price, unit=both)


def _names(workloads: Sequence[Workload]) -> list[str]:
    """The repr of each workload, with a number where several are equal."""
    shown = [repr(workload) for workload in workloads]
    return [f"{name}, {shown[:i].count(name) + 1}" if shown.count(name) > 1 else name for i, name in enumerate(shown)]


def _measured(
    method: Method, workload: Workload, data: Rows, truth: Any, *, price: Price, n: int, source: Source
) -> dict[str, Any]:
    table = copy(data)
    table.distance = price.unit
    try:
        released = method.release(workload, table, price, source, n=n)
    except (BadParameter, BadQuestion):  # such as noise that cannot be drawn
        return {"measured mean": None, "measured max": None}
    off = np.abs(released.answers - truth) / n
    return {"measured mean": workload.mean(off), "measured max": float(off.max())}
