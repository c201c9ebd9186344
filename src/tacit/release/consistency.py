"""Noisy counts of groups and of their total, adjusted to add up: post-processing, and so free of charge.

Let y_1, ..., y_k be noisy counts of disjoint groups with noise of variance s, and t the noisy count of all of them,
with variance v.  The best linear unbiased estimate of the total is (k s t + v sum y) / (k s + v), and its difference
from sum y is divided equally among the groups (Hay, Rastogi, Miklau, Suciu, VLDB 2010).  Counts stay integers: the
total is rounded, and the remainder of the division goes to the first groups.

This requires that every row is in a group.  A row whose key is missing is in none, so keys that may be missing are
refused; the query alone decides this, not the data.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..core.errors import BadParameter
from ..mechanisms import Gaussian, Laplace
from ..query.relation import build
from ..query.relation.nullability import present, surely
from ..query.select.query import Query
from .release import Release


def consistent(groups: Release, total: Release, name: str) -> tuple[Release, Release]:
    """Both releases, with their counts called `name` adjusted to add up; every row must be in exactly one group."""
    for parameter, release in (("groups", groups), ("total", total)):
        if not isinstance(release, Release):
            raise BadParameter(parameter, release, "a release")
    if not isinstance(name, str):
        raise BadParameter("name", name, "text")
    of_group, of_all = (dict(release.query.aggregates).get(name) for release in (groups, total))
    same = groups.query.relation == total.query.relation and of_group == of_all
    if not same or of_group is None or of_group.kind != "count":
        raise BadParameter(
            "name",
            name,
            "a count that both releases have, of the same rows",
            says=f"Both releases must have a count named {name!r}, of the same rows.",
        )
    if groups.query.groups is not None or groups.keys is not None or total.query.keys or not groups.query.keys:
        raise BadParameter(
            "groups",
            "others",
            "all groups of the rows, by public keys",
            says="The groups must be all groups of the rows, by public keys and without a group cap, and the total "
            "must have no GROUP BY.",
        )
    _check_keys(groups.query)
    parts, whole = _counts(groups, name), _counts(total, name)[0]
    s, v = _variance(groups, name), _variance(total, name)
    k, summed = len(parts), sum(parts)
    best = math.floor((k * s * whole + v * summed) / (k * s + v) + Fraction(1, 2))
    share, remainder = divmod(best - summed, k)
    revised = [y + share + (i < remainder) for i, y in enumerate(parts)]
    return groups.revise({name: revised}, "adjusted to add up"), total.revise({name: [best]}, "adjusted to add up")


def _check_keys(query: Query) -> None:
    never_missing = present(query.relation)
    for key in query.keys:
        if not surely(key.expression, never_missing):
            raise BadParameter(
                "groups",
                key.name,
                "by keys that no row can be without",
                says=f"A row may have no {key.name}, and would be in no group. Group by COALESCE({key.name}, ...), or "
                f"ask both questions WHERE {key.name} IS NOT NULL.",
            )
        if not set(build.keys(key.expression, query.relation)) <= set(key.values or ()):
            raise BadParameter(
                "groups",
                key.name,
                "by all values that the key can have",
                says=f"The groups must include every value that {key.name} can have.",
            )


def _counts(release: Release, name: str) -> list[int]:
    place = dict(release.recipes)[name].parts[0]
    return [int(y) for y in release.noisy[place]]


def _variance(release: Release, name: str) -> Fraction:
    """The variance of the noise, nearly; only the weights depend on it."""
    noise = release.mechanisms[dict(release.recipes)[name].parts[0]].added_noise
    return noise.variance_bound if isinstance(noise, Laplace | Gaussian) else Fraction(1)
