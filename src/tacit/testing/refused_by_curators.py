"""What a curator of `people` refuses from public facts, each as something to be done with the curator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..workloads import marginals, prefixes

Act = Callable[[Any], object]
_COUNT = "SELECT COUNT(*) AS n FROM people"

_TEXTS = (
    "SELECT * FROM people",
    "SELECT age FROM people",
    "SELECT COUNT(*) FROM peple",
    "SELECT COUNT(*) FROM people WHERE aeg > 3",
    "SELECT COUNT(*) FROM people WHERE region = 'East'",
    "SELECT COUNT(*) FROM people WHERE age = 'many'",
    "SELECT COUNT(*) FROM people WHERE",
    "SELECT SUM(town) FROM people",
    "DROP TABLE people",
    "SELECT COUNT(*) AS n, COUNT(*) AS n FROM people",
    "",
)
_PRICES: tuple[dict[str, Any], ...] = (
    {},
    {"epsilon": 0},
    {"epsilon": -1},
    {"epsilon": "much"},
    {"epsilon": 1, "share": "0.1"},
    {"share": 2},
    {"share": "0.00001"},
    {"epsilon": "0.00001"},
    {"rho": "0.1"},
    {"error": -5},
    {"relative": 0},
    {"epsilon": "0.1", "beta": 2},
    {"epsilon": "0.1", "gamma": 1},
)


def _asked(text: str) -> Act:
    return lambda curator: curator.ask(text, epsilon="0.1")


def _offered(text: str) -> Act:
    return lambda curator: curator.offer(text, epsilon="0.1")


def _priced(terms: dict[str, Any]) -> Act:
    return lambda curator: curator.ask(_COUNT, **terms)


REFUSED: tuple[Act, ...] = (
    *map(_asked, _TEXTS),
    *map(_offered, _TEXTS),
    *map(_priced, _PRICES),
    lambda curator: curator.ask(5, epsilon=1),
    lambda curator: curator.ask(_COUNT, epsilon=2),
    lambda curator: curator.ask(_COUNT, epsilon="0.1", fresh=3),
    lambda curator: curator.ask(_COUNT, epsilon="0.1", fresh=""),
    lambda curator: curator.ask(f"{_COUNT} WITH (epsilon = 0.2)", epsilon="0.1"),
    lambda curator: curator.ask(curator.table.group_by("town").count(), epsilon="0.1"),
    lambda curator: curator.ask(curator.table.group_by("region"), epsilon="0.1"),
    lambda curator: curator.covers("an offer"),
    lambda curator: curator.bounds("height", epsilon="0.1"),
    lambda curator: curator.bounds("town", epsilon="0.1"),
    lambda curator: curator.bounds("age"),
    lambda curator: curator.bounds("age", epsilon="0.1", gamma=1),
    lambda curator: curator.bounds("age", epsilon="0.1", beta=0),
    lambda curator: curator.bounds("age", epsilon=2),
    lambda curator: curator.plan("queries", epsilon="0.1"),
    lambda curator: curator.plan(marginals(curator.table.domain("region"), k=1)),
    lambda curator: curator.answer(marginals(curator.table.domain("region"), k=1), epsilon=2),
    lambda curator: curator.answer(marginals(curator.table.domain("region"), k=1), epsilon="0.1", method="magic"),
    lambda curator: curator.answer(prefixes(curator.table.domain("age"), "age"), epsilon="0.1", n=0),
    lambda curator: curator.query(marginals(curator.table.domain("region"), k=1)),
    lambda curator: curator.above_threshold(10),
    lambda curator: curator.above_threshold("0.5", epsilon="0.1"),
    lambda curator: curator.above_threshold(10, epsilon="0.1", count=0),
    lambda curator: curator.above_threshold(10, epsilon=2),
    lambda curator: curator.online(curator.table.domain("region"), epsilon="0.1", grid=3),
    lambda curator: curator.online(curator.table.domain("region"), epsilon="0.0005", queries=10),
    lambda curator: curator.online("region", epsilon="0.1"),
    lambda curator: curator.release_of("0" * 64),
    lambda curator: curator.verify("a release"),
    lambda curator: curator.rehearse(_COUNT, epsilon="0.1", rows=0),
)
