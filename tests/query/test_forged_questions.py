"""Questions whose parts were changed by hand: each is refused, or its claim still holds on neighbouring tables.

A claim is checked as that of an honest question is: the reference engine answers the plan on tables that differ by one
unit, whose rows are the most extreme there are, and no measure may move farther than the plan says.
"""

import copy
import pickle
import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core.errors import BadParameter, BadQuestion, Refused
from tacit.curator import Curator
from tacit.engines.base import Engine
from tacit.engines.rows.reference import Reference
from tacit.query.plan.plan import QueryPlan
from tacit.query.python.table import Table
from tacit.query.relation import build
from tacit.query.relation.relation import Derive, Fold, Relation, Where
from tacit.query.schema.schema import Schema
from tacit.query.select.outputs import Output, ReleasedColumn
from tacit.query.select.query import Aggregate, Key, Query
from tacit.query.soundness.copying import NODES
from tacit.query.soundness.value_ranges import RULES
from tacit.query.sql.parser import parse
from tacit.query.values.coercion import whole_constant
from tacit.query.values.domain import BOOLEAN, TEXT, ValueDomain, category, number
from tacit.query.values.nodes import Add, Column, Constant, Expression, Multiply
from tacit.testing.engines import stable

from .test_sql import ACCEPTED, PEOPLE, REGIONS, VISITS

SCHEMA = Schema.load(PEOPLE.dumps().replace("rows = 10", "rows = 2"))
CALLS = Schema.load(VISITS.dumps().replace("rows = 5", "rows = 2"))
KEY = "0" * 32


def row(person: int, **cells: Any) -> dict[str, Any]:
    usual = {
        "age": 40,
        "spend": 20.5,
        "region": "north",
        "joined": "2020-02-29",
        "note": "a",
        "member": True,
        "free": 3,
    }
    return {"person_id": person, **usual, **cells}


LARGEST = {"age": 999, "spend": 1e9, "region": "south", "joined": "2025-12-31", "free": 2**62, "note": "z"}
LEAST = {"age": -5, "spend": -1.0, "joined": "2015-01-01", "member": False, "free": -(2**62), "note": ""}
MISSING = dict.fromkeys(("age", "spend", "region", "joined", "note", "member", "free"))
USUAL = [row(1), row(2, age=17, member=False), row(3, region="south", age=None)]
EXTREMES = [
    [row(9, **LARGEST), row(9, **{**LARGEST, "member": None})],
    [row(9, **LEAST), row(9, **{**LEAST, "age": 1})],
    [row(9, **LARGEST), row(9, **MISSING)],
]


def calls(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"person_id": r["person_id"], "cost": r["free"], "age": r["age"]} for r in rows]


def reference(rows: list[dict[str, Any]]) -> Engine:
    engine = Reference()
    engine.register(Table(rows, SCHEMA), KEY)
    engine.register(Table(calls(rows), CALLS), KEY)
    return engine


@pytest.fixture(scope="module")
def engines() -> tuple[Engine, list[Engine]]:
    return reference(USUAL), [reference([*USUAL, *more]) for more in EXTREMES]


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    tables = Table(USUAL, SCHEMA), Table(calls(USUAL), CALLS)
    place, budget = tmp_path_factory.mktemp("forged") / "l.ledger", tacit.Budget(epsilon=10**6, delta="1e-6")
    with Curator(*tables, ledger=place, budget=budget, least_share=0, public=[REGIONS], engine=Reference()) as c:
        yield c


MORE = [
    "SELECT SUM(age % 7), SUM(-age % 7), SUM(age * age), SUM(POW(age - 60, 2)), SUM(age DIV 7 - 3) FROM people",
    "SELECT SUM((age - 60) DIV 7), SUM(ABS(age - 60)), SUM(LEAST(age, spend)), SUM(GREATEST(age, 30)) FROM people",
    "SELECT EXTRACT(DOY FROM joined) AS d, COUNT(*) FROM people GROUP BY d",
    "SELECT WEEK(joined) AS w, SUM(EXTRACT(MONTH FROM joined)) FROM people GROUP BY w",
    "SELECT DATE_TRUNC('month', joined) AS m, AVG(age) FROM people WHERE note LIKE 'a%' GROUP BY m HAVING COUNT(*) > 3",
    "SELECT zone, ROUND(SQRT(COUNT(*)), 2) FROM people JOIN regions USING (region) WHERE NOT member OR age IS NULL"
    " GROUP BY zone ORDER BY 2 DESC LIMIT 3",
    "SELECT TOP_K(region, 2), MEDIAN(age), VARIANCE(spend), COUNT(DISTINCT person_id) FROM people WHERE age / free > 1",
    "SELECT SUM(s) FROM (SELECT person_id, SUM(age) AS s, MAX(spend) AS m, MIN(age) AS l, COUNT(*) AS n FROM people"
    " GROUP BY person_id) WHERE m > 3 AND l < 90",
    "SELECT SUM(cost * people.age) FROM people JOIN visits ON people.person_id = visits.person_id",
    "SELECT note, COUNT(*) AS n FROM people GROUP BY note",
    "SELECT SUM(age * age) FROM people WHERE age > 3 AND person_id NOT IN (SELECT person_id FROM visits)",
    "SELECT big, SUM(n) AS s FROM (SELECT age > 50 AS big, COUNT(*) AS n, LAG(COUNT(*)) OVER (ORDER BY big) AS l"
    " FROM people GROUP BY big) WHERE n > 0 GROUP BY big HAVING COUNT(*) > 0 ORDER BY s DESC LIMIT 3",
    "SELECT CASE WHEN COUNT(*) > 3 AND COUNT(*) < 9 THEN 1 ELSE COUNT(*) / 2 END AS x FROM people WHERE member",
]


def honest() -> list[Query]:
    tables = {"people": SCHEMA, "visits": CALLS}
    return [parse(text, tables, {"regions": REGIONS}).query for text in MORE]


def walk(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every part of a question with the way to it; a tuple of plain values is one part."""
    yield path, value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from walk(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, tuple) and any(is_dataclass(v) or isinstance(v, tuple) for v in value):
        for i, each in enumerate(value):
            yield from walk(each, (*path, i))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The question with another part at the end of the way; nothing is checked on the way up."""
    if not path:
        return new
    first, *rest = path
    if isinstance(value, tuple):
        return (*value[:first], put(value[first], tuple(rest), new), *value[first + 1 :])
    other = copy.copy(value)
    vars(other).pop("columns", None)
    vars(other).pop("_canonical", None)
    object.__setattr__(other, first, put(getattr(value, first), tuple(rest), new))
    return other


class Whole(int):
    """An integer that says it is small when it is compared."""

    def __le__(self, other: object) -> bool:
        return True

    def __abs__(self) -> int:
        return 0


DOMAINS = [
    number(0, 1),
    number(-1, 0),
    number(0, 2, Fraction(1, 2)),
    BOOLEAN,
    TEXT,
    category("a"),
    ValueDomain("date", 0, 9),
]


def hostile(value: Any, parts: list[Any]) -> list[Any]:
    """What might stand in the place of a value: of its own type, at its edges, and of others."""
    others: list[Any] = [None, 1.5, float("nan"), np.int64(1), object(), [], "x", ()]
    match value:
        case bool():
            others += [not value, 0]
        case int():
            others += [
                0,
                1,
                -1,
                value - 1,
                value + 1,
                -value,
                1 << 40,
                -(1 << 40),
                1 << 63,
                10**5000,
                True,
                Whole(value),
            ]
        case str():
            others += ["", value * 200, "=", "<", "sum", "units", "number", "year", "age", "people", "\0"]
        case Fraction():
            others += [Fraction(0), -value, value * 2**400, Fraction(1, 10**5000), Fraction(1, 2)]
        case tuple():
            others += [value[1:], value[::-1], value + value, value[:1] * 3, (1 << 50,), (0, 1, 2), ("a", 0)]
        case ValueDomain():
            d = value
            others += [*DOMAINS, replace(d, lower=d.upper), replace(d, upper=d.lower), replace(d, declared=False)]
            others += [replace(d, grid=d.grid * 2), replace(d, labels=("a", "b")), d.within(-(1 << 50), 1 << 50)]
        case Expression() | Relation() | Output() | Key() | Aggregate():
            others += [part for part in parts if type(part).__mro__[-2] is type(value).__mro__[-2]]
            others += [
                subclassed(value),
                Constant(number(0, 0), 7),
                Constant(number(0, 0), "x"),
                Fold(number(0, 1), "count"),
            ]
    return others


def subclassed(value: Any) -> Any:
    """The same fields in a class of another's, which tells less of itself."""
    lying = {
        "domain": number(0, 0),
        "rows": 0,
        "touched": 0,
        "columns": {},
        "__eq__": lambda *_: True,
        "__hash__": lambda _: 0,
    }
    kind = type(type(value).__name__, (type(value),), lying)
    made = object.__new__(kind)
    vars(made).update(vars(value))
    return made


def forgeries(query: Query) -> Iterator[Query]:
    parts = [part for _, part in walk(query) if is_dataclass(part)]
    some = list({repr(part)[:200]: part for part in parts}.values())
    for path, value in walk(query):
        for other in hostile(value, some):
            yield put(query, path, other) if path else other


def holds(query: Any, curator: Curator, engines: tuple[Engine, list[Engine]]) -> bool:
    """Whether a forgery is refused; if not, its claim must hold, and what is bought must not fail after the draw."""
    try:
        offered = curator.offer(query, epsilon=1)
    except (BadQuestion, BadParameter, Refused):
        return True
    one, others = engines
    for two in others:
        stable(offered.plan, one.answer(offered.plan), two.answer(offered.plan), 0)
    return False


def tried(rng: random.Random, count: int, curator: Curator, engines: tuple[Engine, list[Engine]]) -> tuple[int, int]:
    """Some forgeries of every question: how many were refused, and how many held."""
    every = [made for query in honest() for made in forgeries(query)]
    chosen = every if count >= len(every) else rng.sample(every, count)
    refused = [holds(made, curator, engines) for made in chosen]
    return sum(refused), len(refused) - sum(refused)


def test_forged_parts_are_refused_or_their_claims_hold(curator: Curator, engines: tuple[Engine, list[Engine]]) -> None:
    refused, held = tried(random.Random(44), 4000, curator, engines)
    assert refused > 2000 and held > 40


@pytest.mark.slow
def test_every_forgery_is_refused_or_its_claim_holds(curator: Curator, engines: tuple[Engine, list[Engine]]) -> None:
    refused, held = tried(random.Random(0), 10**9, curator, engines)
    assert refused > 20_000 and held > 400


def test_the_questions_that_are_forged_have_every_kind_of_node() -> None:
    met = {type(part) for query in honest() for _, part in walk(query) if is_dataclass(part)}
    assert met == NODES


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("tacit.query."):
            yield each
            yield from subclasses(each)


def test_every_kind_of_node_is_copied_and_every_expression_has_its_range() -> None:
    kinds = {kind for base in (Expression, Relation, Output) for kind in subclasses(base)}
    assert kinds < NODES
    assert set(subclasses(Expression)) - {Fold} == set(RULES)


def test_a_sum_is_not_sold_for_a_domain_that_was_put_in_by_hand(curator: Curator) -> None:
    """Noise for 4, where one unit moves the sum by 39,204."""
    people = curator.tables["people"]
    term = people.age * people.age
    forged = replace(term, expression=replace(term.expression, domain=number(0, 2)))
    with pytest.raises(BadQuestion, match="states values from 0 to 2 steps, but can have values from 0 to 14400"):
        curator.offer(people.sum(forged), epsilon=1)
    assert curator.offer(people.sum(term), epsilon=1).plan


@pytest.mark.parametrize("how", ["setattr", "pickle", "copy", "subclass", "cached"])
def test_a_domain_is_not_forged_in_any_other_way(curator: Curator, how: str) -> None:
    people = curator.tables["people"]
    query = people.derive(x=people.age * 100).sum("x").query
    claim = curator.offer(query, epsilon=1).loss, curator.offer(query, epsilon=1).steps
    (name, total), rows = query.aggregates[0], query.relation
    assert isinstance(rows, Derive) and isinstance(total.expression, Column)
    match how:
        case "setattr":
            e = copy.deepcopy(total.expression)
            object.__setattr__(e, "domain", number(0, 1))
            forged = replace(query, aggregates=((name, replace(total, expression=e)),))
        case "pickle":
            e = pickle.loads(pickle.dumps(total.expression))
            vars(e)["domain"] = number(0, 1)
            forged = replace(query, aggregates=((name, replace(total, expression=e)),))
        case "copy":
            forged = copy.copy(query)
            object.__setattr__(forged, "aggregates", ((name, replace(total, expression=Column(number(0, 1), "x"))),))
        case "subclass":
            forged = replace(query, aggregates=((name, replace(total, expression=subclassed(total.expression))),))
        case _:
            small = Derive(rows.source, rows.derived)
            vars(small)["columns"] = {**rows.columns, "x": number(0, 1)}
            forged = replace(query, relation=small)
            offered = curator.offer(forged, epsilon=1)  # what was remembered for it is not asked
            assert (offered.loss, offered.steps) == claim
            e = Column(number(0, 1), "x")
            forged = replace(forged, aggregates=((name, replace(total, expression=e)),))
    with pytest.raises(BadQuestion):
        curator.offer(forged, epsilon=1)


def test_a_question_that_is_changed_after_it_was_offered_is_looked_at_again(curator: Curator) -> None:
    people = curator.tables["people"]
    query = people.sum(people.age + 1).query
    curator.offer(query, epsilon=1)
    (_, total) = query.aggregates[0]
    assert isinstance(total.expression, Add)
    object.__setattr__(total.expression, "domain", number(0, 1))
    with pytest.raises(BadQuestion):
        curator.ask(query, epsilon=1)


def test_a_plan_an_offer_and_other_things_are_no_questions(curator: Curator) -> None:
    people = curator.tables["people"]
    offered = curator.offer(people.count(), epsilon=1)
    other: Any
    for other in (offered, offered.plan, offered.plan.relation, people, people.age, offered.recipes, QueryPlan):
        with pytest.raises(BadParameter):
            curator.offer(other, epsilon=1)


def test_honest_questions_are_sound() -> None:
    """All that the corpus holds is understood, and none of it is taken for a forgery."""
    from tacit.query.plan.compiler import compiled
    from tacit.query.soundness.copying import remade

    tables = {"people": PEOPLE, "visits": VISITS}
    for text, _ in ACCEPTED:
        query = parse(text, tables, {"regions": REGIONS}).query
        again = remade(query)
        assert again == query and again is not query
        assert compiled(again, tables).plan == compiled(query, tables).plan


def test_a_column_of_other_values_has_another_meaning_whatever_its_name(tmp_path) -> None:
    """A computed date that has the name of a column of the table has a range of its own."""
    schema = """
[table]
name = "t"
unit = "who"
rows = 1
[columns.d]
type = "date"
lower = 2020-01-01
upper = 2020-02-28
[columns.b]
type = "integer"
lower = 0
upper = 1
"""
    scan = Table([], schema).relation
    first = Where(scan, build.compare(">=", build.date_part("year", build.column(scan, "d")), build.constant(2020)))
    later = build.add(build.column(first, "d"), build.multiply(build.column(first, "b"), build.constant(2_900_000)))
    rows = Derive(first, (("d", later),))
    day = build.column(rows, "d")
    year, month, start = build.date_part("year", day), build.date_part("month", day), 2020 * 12
    years = Multiply(number(year.domain.lower * 12, year.domain.upper * 12), year, whole_constant(12))
    forged = Add(number(start, start + 1), years, Add(number(0, 11), month, whole_constant(-1)))
    moved = Add(number(0, 1), forged, whole_constant(-start))
    query = Query(rows, (), (("s", Aggregate("sum", moved)),), (("s", ReleasedColumn("s")),))
    budget = tacit.Budget(epsilon=1)
    with (
        Curator(Table([], schema), ledger=tmp_path / "l", budget=budget, engine=Reference()) as c,
        pytest.raises(BadQuestion, match="states values from 24240 to 24241 steps"),
    ):
        c.offer(query, epsilon="0.1")
