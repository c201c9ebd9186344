"""Answers to linear queries from what was released before: free, with what is known of their errors."""

from __future__ import annotations

import math
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BadParameter, BadQuestion, NewerVersion
from ..query.plan.offer import BETA
from ..storage import canonical
from ..workloads import Answered, Released, Workload
from ..workloads.queries.data import Floats
from .workloads import checked_workload, stored_release

if TYPE_CHECKING:
    from .curator import Curator


def query(curator: Curator, workload: Workload) -> Answered:
    """Answers from what was released before on the same domain, by the release that bounds most of their errors best.

    Among equals, a release that was bought for these queries comes first, then one whose tables hold those of the
    queries, then the one with the smallest errors of its own, then the latest.
    """
    workload = checked_workload(curator.tables, workload)
    domain, text = workload.domain, canonical(workload)
    ranked, newer = list[tuple[tuple[int, float, bool, int, float], Answered]](), None
    for entry in curator.ledger.entries():
        if entry.kind == "release" and entry.body["form"] == "workload" and entry.data is not None:
            try:
                released, _ = stored_release(entry.data)
            except NewerVersion as error:
                newer = error
                continue
            except (BadParameter, AttributeError, TypeError, ValueError):  # written by another version
                continue
            if released.workload.domain != domain:
                continue
            failed = np.isnan(released.answers).any()
            bought = canonical(released.workload) == text and not failed
            if bought or released.model is not None:
                answered, tables = _asked(released, workload, bought=bought), [*map(set, released.workload.tables)]
                others = sum(not any(table.issuperset(axes) for table in tables) for axes in workload.tables)
                unsure = _unsure(answered.errors, workload.queries)
                ranked.insert(0, ((*unsure, not bought, others, _unsure(released.errors, 1)[1]), answered))
    if not ranked and newer is not None:
        raise newer
    if not ranked:
        raise BadQuestion(
            "Nothing was released on this domain from which these queries could be answered. Buy answers on it by a"
            " method that keeps a model, or ask an online session, which answers from its own model."
        )
    _, best = min(ranked, key=itemgetter(0))
    return replace(best, statement=f"{best.statement}; the data are those of when it was released")


def _asked(released: Released, workload: Workload, *, bought: bool) -> Answered:
    """What a release answers, with errors at the usual beta so that releases compare, or at its own beta if need be."""
    own = (replace(released, workload=workload) if bought else released).query(workload)
    comparable = bought and (released.errors is None or released.beta == float(BETA))
    if released.model is None or comparable:
        return own
    then, now = released.query(workload), replace(released, beta=float(BETA)).query(workload)
    same = then.errors is not None and now.errors is not None and np.array_equal(then.errors, now.errors)
    return own if same or now.errors is None else now


def _unsure(errors: Floats | None, queries: int) -> tuple[int, float]:
    """How many errors are unknown, and the mean of the others."""
    bounds = np.full(queries, np.inf) if errors is None else errors
    known = np.isfinite(bounds)
    return int((~known).sum()), float(bounds[known].mean()) if known.any() else math.inf
