"""Questions that public facts answer: free, without a price, and without a look at the data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.core.errors import BadParameter, BadQuestion

SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 2
[columns]
region = {type = "category", values = ["north", "south"]}
age = {type = "integer", lower = 0, upper = 3}
spend = {type = "real", lower = 0, upper = 8}
joined = {type = "date", lower = 2020-01-01, upper = 2020-12-31}
note = {type = "text"}
"""


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[tacit.Curator]:
    """A curator of a table whose rows cannot be read: whatever reads them fails."""
    people = tacit.Table([{"person": object()}], schema=SCHEMA)
    budget = tacit.Budget(epsilon=1, delta="1e-9")
    with tacit.Curator(people, ledger=tmp_path / "people.ledger", budget=budget) as held:

        def unread() -> None:
            raise AssertionError("the data were read")

        held._registration.read_tables = unread  # type: ignore[method-assign]
        yield held


FREE: list[tuple[str, dict[str, list[Any]]]] = [
    ("SELECT 1", {"column_1": [1]}),
    ("SELECT 'a' AS x, 2.5 AS y", {"x": ["a"], "y": [2.5]}),
    ("SELECT DISTINCT region FROM people", {"region": ["north", "south"]}),
    ("SELECT region FROM people GROUP BY region ORDER BY region DESC LIMIT 1", {"region": ["south"]}),
    ("SELECT DISTINCT age FROM public.people WHERE age > 1 OFFSET 1", {"age": [3]}),
    ("SELECT DISTINCT UPPER(region) AS r FROM people", {"r": ["NORTH", "SOUTH"]}),
    ("SELECT * FROM people LIMIT 0", {name: [] for name in ("person", "region", "age", "spend", "joined", "note")}),
    ("SELECT region, COUNT(*) AS n FROM people WHERE 1 = 0 GROUP BY region", {"region": [], "n": []}),
    ("SELECT COUNT(*) AS n, AVG(age) AS a, SUM(spend) AS s FROM people WHERE FALSE", {"n": [0], "a": [None], "s": [0]}),
    ("SELECT COUNT(*) AS n FROM people WHERE FALSE HAVING COUNT(*) > 3", {"n": []}),
]


@pytest.mark.parametrize(("text", "expected"), FREE)
def test_public_facts_are_free_and_read_nothing(curator: Any, text: str, expected: dict[str, list[Any]]) -> None:
    offer, before = curator.offer(text), curator.newest
    release = curator.ask(text)
    assert {name: release[name].tolist() for name in release.names} == expected
    assert offer.free and offer.price == 0 and offer.schema and curator.covers(offer)
    assert tuple(name for name, _ in offer.schema) == release.names
    assert release.price == 0 and curator.remaining == curator.budget.limit and curator.newest == before
    assert curator.bought(text) is None and not curator.history()
    assert "public facts alone" in str(release) and release.card()["accounting"]["entry"] is None
    assert release.to_arrow().num_rows == len(next(iter(expected.values())))
    assert tacit.Release.from_json(release.to_json()).columns.keys() == expected.keys()
    rehearsed = curator.rehearse(text)
    assert {name: rehearsed[name].tolist() for name in rehearsed.names} == expected
    assert not rehearsed.provenance.rehearsal


def test_the_columns_of_an_answer_have_its_types(curator: Any) -> None:
    asked = "SELECT region, joined, note, COUNT(*) AS n, AVG(age) AS a, MAX(joined) AS j, BOOL_OR(age > 1) AS b"
    kinds = dict(curator.offer(f"{asked}, SUM(spend) / 2 AS s FROM people GROUP BY 1, 2, 3 LIMIT 0").schema)
    assert kinds == {
        **{"region": "text", "joined": "date", "note": "text", "n": "integer"},
        **{"a": "real", "j": "date", "b": "boolean", "s": "real"},
    }
    (bought,) = (curator.offer(f"{asked} FROM people GROUP BY 1, 2, 3", share="0.1").schema,)
    assert {name: kinds[name] for name, _ in bought} == dict(bought)


PAID = [
    "SELECT DISTINCT note FROM people",
    "SELECT COUNT(*) FROM people",
    "SELECT region, SUM(age) FROM people GROUP BY 1",
]


@pytest.mark.parametrize("text", PAID)
def test_what_the_data_answer_has_a_price(curator: Any, text: str) -> None:
    assert not curator.offer(text, share="0.1").free
    with pytest.raises(BadParameter):
        curator.offer(text)
    with pytest.raises(AssertionError, match="were read"):
        curator.ask(text, share="0.1")


@pytest.mark.parametrize("text", ["SELECT 1 FROM people", "SELECT COUNT(*)", "SELECT age FROM people", "SELECT person"])
def test_rows_are_no_public_fact(curator: Any, text: str) -> None:
    with pytest.raises(BadQuestion):
        curator.ask(text, share="0.1")
