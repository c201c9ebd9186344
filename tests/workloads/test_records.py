"""Answers beside what they count."""

import sys

import pytest

from tacit.core.errors import Missing
from tacit.testing.sources import Seeded
from tacit.workloads import Domain, Histogram, Price, marginals, method, predicates

DOMAIN = Domain.of({"sex": ["f", "m"], "age": range(3)})
DATA, PRICE = Histogram(DOMAIN, [5, 4, 3, 2, 1, 0]), Price.of(epsilon=1)


def test_each_answer_stands_beside_its_query():
    release = method("histogram").release(marginals(DOMAIN, k=1), DATA, PRICE, Seeded(1))
    table = release.to_arrow()
    assert table.column_names == ["query", "count", "within"]
    assert table["query"].to_pylist() == ["sex = f", "sex = m", "age = 0", "age = 1", "age = 2"]
    assert table["count"].to_pylist() == release.answers.tolist()
    assert table["within"].to_pylist() == release.errors.tolist()


def test_a_data_frame_is_the_same():
    pytest.importorskip("pandas")
    release = method("histogram").release(marginals(DOMAIN, k=1), DATA, PRICE, Seeded(1))
    assert release.to_pandas().to_dict("list") == release.to_arrow().to_pydict()


def test_a_frame_of_polars_is_the_same():
    pytest.importorskip("polars")
    release = method("histogram").release(marginals(DOMAIN, k=1), DATA, PRICE, Seeded(1))
    assert release.to_polars().to_dict(as_series=False) == release.to_arrow().to_pydict()


def test_answers_are_told_in_words():
    release = method("histogram").release(marginals(DOMAIN, k=1), DATA, PRICE, Seeded(1))
    first, second = str(release.query(predicates(DOMAIN, [{"sex": "f"}, {"age": [0, 1]}]))).splitlines()
    assert first.startswith("2 answers; errors within ") and second.startswith("each error is within")


def test_what_is_not_known_of_an_error_is_left_out():
    asked = predicates(DOMAIN, [{"sex": "f", "age": [0, 1]}])
    more = method("mwem").release(marginals(DOMAIN, k=1), DATA, PRICE, Seeded(1), n=15).query(asked)
    assert str(more).splitlines()[0] == "1 answer"
    assert more.to_arrow()["within"].to_pylist() == [None]
    assert more.to_arrow()["query"].to_pylist() == [asked.label(0)]


def test_without_pandas_it_says_so(monkeypatch):
    release = method("histogram").release(marginals(DOMAIN, k=1), DATA, PRICE, Seeded(1))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Missing, match="to_pandas needs pandas"):
        release.to_pandas()
