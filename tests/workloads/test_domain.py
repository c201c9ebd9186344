import time

import numpy as np
import pytest

from tacit import BadData, BadParameter
from tacit.core.distance import ADD_REMOVE
from tacit.workloads import Domain, Histogram, Rows


def test_a_domain_is_a_product():
    d = Domain.of({"age": range(20, 30), "sex": ["f", "m"], "bits": 3})
    assert d.names == ("age", "sex", "bits") and d.shape == (10, 2, 3) and d.size == 60
    assert d.axes(["bits", "age"]) == (0, 2) and d.axes("sex") == (1,) and d.axes([]) == ()
    assert d.project(["sex", "age"]).names == ("age", "sex")
    assert d.code("age", 25) == 5 and d.code("sex", "m") == 1
    assert d == Domain.of({"age": range(20, 30), "sex": ["f", "m"], "bits": 3}) and hash(d)


def test_values_are_found_without_a_search():
    """In a range by arithmetic, whatever kind the number is of, and in a list by hash."""
    d = Domain.of({"long": range(-7, 10**9, 7), "listed": [str(i) for i in range(10**5)]})
    start = time.process_time()
    for value in (-7, 700.0, np.int64(7 * 10**7), np.float64(0)):
        assert d.attributes[0][1][d.code("long", value)] == value
    assert [d.code("listed", str(i)) for i in range(90_000, 10**5)] == list(range(90_000, 10**5))
    for value in (1, 0.5, "0", float("inf"), float("nan")):
        with pytest.raises(BadParameter, match="a value of long"):
            d.code("long", value)
    for value in (5, ["5"], None):
        with pytest.raises(BadParameter, match="a value of listed"):
            d.code("listed", value)
    assert time.process_time() - start < 2


def test_a_domain_may_be_larger_than_memory():
    d = Domain.of({f"a{i}": 10 for i in range(100)})
    assert d.size == 10**100 and d.cells((1, 5)) == 100
    with pytest.raises(BadParameter, match="cells"):
        d.laid_out(d.all)


@pytest.mark.parametrize(
    "attributes", [{}, {"a": []}, {"a": 0}, {"a": ["x", "x"]}], ids=["none", "no values", "size 0", "twice"]
)
def test_bad_domains(attributes):
    with pytest.raises(BadParameter):
        Domain.of(attributes)


@pytest.mark.parametrize(
    ("attributes", "word"),
    [({"a": 10**30}, "64 bits"), ({"a": [float("nan"), 1.0]}, "NaN"), ({1: 2}, "texts"), ({"a": 2, None: 3}, "texts")],
    ids=["huge", "NaN", "number", "None"],
)
def test_what_is_wrong_with_a_domain_is_said(attributes, word):
    with pytest.raises(BadParameter, match=word):
        Domain.of(attributes)


def test_what_is_outside_the_domain_is_refused():
    d = Domain.of({"a": 2, "b": ["x", "y"]})
    with pytest.raises(BadParameter, match="among a, b"):
        d.axes(["c"])
    with pytest.raises(BadParameter):
        d.axes(["a", "a"])
    with pytest.raises(BadParameter, match="public values"):
        d.code("b", "z")


def test_rows_and_histogram_agree():
    d = Domain.of({"a": 2, "b": 3, "c": 4})
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, s, 500) for s in d.shape], axis=1)
    rows = Rows(d, codes)
    histogram = Histogram(d, rows.marginal(d.all))
    for axes in ((), (0,), (2,), (0, 2), (1, 2), (0, 1, 2)):
        assert np.array_equal(rows.marginal(axes), histogram.marginal(axes))
        assert rows.marginal(axes).sum() == 500
    assert rows.distance == ADD_REMOVE.histogram()


def test_an_empty_table_is_a_table():
    d = Domain.of({"a": 2, "b": 3})
    assert Rows(d, np.zeros((0, 2), int)).marginal((0, 1)).sum() == 0


@pytest.mark.parametrize("codes", [[[0, 7]], [[-1, 0]], [[0.5, 1.0]], [[0]], [0, 1]])
def test_bad_rows_are_described_without_a_value(codes):
    with pytest.raises(BadData) as error:
        Rows(Domain.of({"a": 2, "b": 3}), codes)
    assert "7" not in str(error.value) and "-1" not in str(error.value)


def test_bad_histograms():
    d = Domain.of({"a": 2})
    for counts in ([1], [-1, 2], [0.5, 1]):
        with pytest.raises(BadData):
            Histogram(d, counts)
