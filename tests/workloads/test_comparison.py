"""Methods side by side: what is compared is named in every row, so that no two settings are taken for one."""

import pytest

from tacit import BadParameter
from tacit.workloads import Domain, Price, marginals, prefixes, ranges
from tacit.workloads.comparison import compare
from tacit.workloads.planner import method

CUBE = Domain.of({"a": 3, "b": 3, "c": 3})
QUICK = {"methods": [method("histogram")], "measured": False}


def test_workloads_of_equal_size_are_told_apart():
    asked = [marginals(CUBE, k=2), marginals(CUBE, k=3)]
    assert asked[0].queries == asked[1].queries and repr(asked[0]) == repr(asked[1])
    named = compare(asked, [100], [Price.of(epsilon=1)], names=["pairs", "triples"], **QUICK)
    assert [(row["workload"], row["domain"]) for row in named] == [("pairs", "3x3x3"), ("triples", "3x3x3")]
    shown = [row["workload"] for row in compare(asked, [100], [Price.of(epsilon=1)], **QUICK)]
    assert shown == [f"{asked[0]!r}, 1", f"{asked[0]!r}, 2"]


def test_each_is_called_as_it_shows_itself_unless_told():
    asked = [prefixes(CUBE, "a"), ranges(CUBE, "a")]
    rows = compare(asked, [10, 100], [Price.of(epsilon=1)], **QUICK)
    assert [row["workload"] for row in rows] == [repr(asked[0])] * 2 + [repr(asked[1])] * 2
    assert {row["workload"] for row in compare(asked[0], [10], [Price.of(rho=1)], **QUICK)} == {repr(asked[0])}
    with pytest.raises(BadParameter, match="one for each of 2 workloads"):
        compare(asked, [10], [Price.of(epsilon=1)], names=["prefixes"], **QUICK)
