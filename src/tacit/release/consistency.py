"""Counts of groups and their total, made to agree: post-processing, and so free.

Let y_1, ..., y_k be noisy counts of disjoint groups with noise of variance s, and t the noisy count of all of them,
with variance v.  The best linear estimate of the total is (k s t + v sum y) / (k s + v), and what is missing from
sum y is shared out equally among the groups (Hay, Rastogi, Miklau, Suciu, VLDB 2010).  Whole numbers stay whole: the
total is rounded, and what cannot be shared equally goes to the first groups.

All this rests on every row being in a group.  A row without its key is in none, so keys that may be missing are
refused, by what the question says and whatever the data hold.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ..core.errors import BadParameter
from ..core.mechanism import Mechanism
from ..mechanisms import Gaussian, KeySelection, Laplace
from ..query.relation import build
from ..query.relation.nullability import present, surely
from ..query.select.query import Query
from .release import Release


def consistent(groups: Release, total: Release, name: str) -> tuple[Release, Release]:
    """Both releases with counts called `name` that add up; every row must be in exactly one of the groups."""
    for what, release in (("groups", groups), ("total", total)):
        if not isinstance(release, Release):
            raise BadParameter(what, release, "a release")
    if not isinstance(name, str):
        raise BadParameter("name", name, "text")
    asked = [dict(release.query.aggregates).get(name) for release in (groups, total)]
    same = groups.query.relation == total.query.relation and asked[0] == asked[1] and asked[0] is not None
    if not same or asked[0] is None or asked[0].kind != "count":
        raise BadParameter("name", name, "a count that both releases have, of the same rows")
    if groups.query.groups is not None or groups.keys is not None or total.query.keys or not groups.query.keys:
        raise BadParameter("groups", "others", "all groups of the rows, with public keys, none of them left out")
    _check_keys(groups.query)
    parts, whole = _counts(groups, name), _counts(total, name)[0]
    s, v = _variance(groups, name), _variance(total, name)
    k, found = len(parts), sum(parts)
    best = math.floor((k * s * whole + v * found) / (k * s + v) + Fraction(1, 2))
    share, left = divmod(best - found, k)
    revised = [y + share + (i < left) for i, y in enumerate(parts)]
    return groups.revise({name: revised}, "adds up"), total.revise({name: [best]}, "adds up")


def _check_keys(query: Query) -> None:
    known = present(query.relation)
    for key in query.keys:
        if not surely(key.expression, known):
            remedy = f"group by COALESCE({key.name}, ...), or ask both WHERE {key.name} IS NOT NULL"
            raise BadParameter("groups", key.name, f"by keys that no row can be without: {remedy}")
        if not set(build.keys(key.expression, query.relation)) <= set(key.values or ()):
            raise BadParameter("groups", key.name, "by all values that the key can have")


def _counts(release: Release, name: str) -> list[int]:
    place = dict(release.recipes)[name].parts[0]
    return [int(y) for y in release.noisy[place]]


def _variance(release: Release, name: str) -> Fraction:
    """Nearly that of the noise; nothing but the weights depends on it."""
    m: Mechanism[Any, Any] = release.mechanisms[dict(release.recipes)[name].parts[0]]
    if isinstance(m, KeySelection):
        m = m.noise
    return 2 * m.scale**2 if isinstance(m, Laplace) else m.sigma2 if isinstance(m, Gaussian) else Fraction(1)
