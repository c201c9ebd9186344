"""Methods side by side: what is compared is named in every row, so that no two settings are taken for one."""

import pytest

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter
from tacit.core.distance import Distance
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Price, Stack, marginals, prefixes, ranges
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


def test_the_local_model_is_compared_where_units_are_substituted():
    rows = compare(marginals(CUBE, k=1), [500], [Price.of(epsilon=2)], methods=[method("local"), method("queries")])
    found = {row["method"]: row for row in rows}
    assert found.keys() == {"local", "queries"}
    assert found["local"]["measured mean"] <= found["local"]["predicted max"]


def test_means_are_by_weight():
    """The same draw: of prefixes, which are sums of many noises, and of cells, which have one each."""
    means = []
    for weights in ([1e6, 1e-6], [1e-6, 1e6]):
        asked = Stack([prefixes(CUBE, "a"), marginals(CUBE, k=3)], weights=weights)
        (row,) = compare(asked, [1000], [Price.of(rho="0.01")], methods=[method("histogram")], source=Seeded(1))
        means.append(row["measured mean"])
    assert means[0] > 1.3 * means[1]


def test_a_method_that_cannot_be_run_leaves_the_others(monkeypatch):
    def refuses(*_, **__):
        raise BadParameter("the scale of the noise", 0, "one that can be drawn")

    monkeypatch.setattr(type(method("histogram")), "run", refuses)
    rows = compare(marginals(CUBE, k=1), [100], [Price.of(rho=1)], methods=[method("histogram"), method("queries")])
    found = {row["method"]: row["measured mean"] for row in rows}
    assert found.keys() == {"histogram", "queries"} and found["histogram"] is None and found["queries"] is not None


def test_a_unit_that_is_substituted_is_as_large_as_before():
    """Ten records of a person are ten, also where the local model, which takes one report of each, is shown."""
    for unit in (Distance(10, 100, 10, 10, ADD_REMOVE), Distance(20, 200, 10, 20, SUBSTITUTE)):
        price = Price.of(epsilon=1, unit=unit)
        rows = compare(marginals(CUBE, k=1), [500], [price], methods=[method("local"), method("queries")])
        assert [row["method"] for row in rows] == ["queries"]
