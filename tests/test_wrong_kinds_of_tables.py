"""Whatever is given to a public entry, it is read or refused in tacit's own words, before anything is charged."""

import datetime
import inspect

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import workloads
from tacit.core.errors import TacitError
from tacit.curator.bounds import BoundsTerms, buy_bounds
from tacit.curator.stream import Stream, StreamTerms
from tacit.ledger import Ledger
from tacit.query.plan.offer import Paid
from tacit.release import consistent

SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 2
[columns]
age = {type = "integer", lower = 0, upper = 99}
region = {type = "category", values = ["north", "south"]}
day = {type = "date", lower = 2020-01-01, upper = 2021-12-31}
city = {type = "text"}
"""
ROWS = [{"person": i, "age": i, "region": "north", "day": datetime.date(2020, 5, 1), "city": "a"} for i in range(20)]
BUDGET = tacit.Budget(epsilon=1000, delta=1e-6)
COUNT = "SELECT COUNT(*) AS n FROM people"
people = tacit.Table(ROWS, SCHEMA)
zones = tacit.PublicTable([{"region": "north", "zone": "x"}], "zones")
q = people.group_by("region").count()
WRONG = [
    *("x", "", "\0", "\ud800", b"x", None, True, object(), type, lambda *_: None),
    *(-1, 0, 1.5, 1j, 10**25, 10**400, float("nan"), float("inf"), np.float64("nan"), np.int64(-1), np.array([1, 2])),
    *([], [None], [[]], (), {}, {"a": 1}, {1, 2}, datetime.date(2020, 1, 1), pd.NaT),
    *(people, people.age, zones, q, q["count"], tacit.count()),
]
MADE = [
    lambda x: tacit.Table(x, SCHEMA),
    lambda x: tacit.Table(ROWS, x),
    lambda x: tacit.Table(ROWS, SCHEMA, unit=x),
    lambda x: tacit.Table(ROWS, SCHEMA, name=x),
    lambda x: tacit.Table(ROWS, SCHEMA, engine=x),
    lambda x: tacit.PublicTable(x, "zones").columns,
    lambda x: tacit.PublicTable([x], "zones").columns,
    lambda x: tacit.PublicTable([{"a": x}], "zones").columns,
    lambda x: tacit.PublicTable(ROWS, x),
    lambda x: zones.mapping(x, "zone"),
    lambda x: zones.mapping("region", x),
    people.aggregate,
    lambda x: people.aggregate(n=x),
    people.histogram,
    lambda x: people.histogram("age", bins=x),
    lambda x: people.histogram("age", edges=x),
    lambda x: people.histogram("age", edges=[x, 50]),
    lambda x: people.quantile("age", x),
    lambda x: people.top("region", x),
    people.count,
    people.where,
    lambda x: people.derive(x=x),
    people.per_unit,
    lambda x: people.per_unit(n=x),
    people.join,
    lambda x: people.lookup(x, "region", ["zone"]),
    lambda x: people.lookup(zones, x, ["zone"]),
    lambda x: people.lookup(zones, "region", x),
    lambda x: people.lookup(zones, "region", [x]),
    lambda x: people.lookup(zones, "region", ["zone"], key=x),
    people.group_by,
    lambda x: people.group_by("city", private=x),
    lambda x: people.group_by("region", groups=x),
    people.domain,
    lambda x: people[x],
    lambda x: q[x],
    q.select,
    lambda x: q.select(x=x).query,
    lambda x: q.having(x).query,
    lambda x: q.having(q["region"] == x).query,
    lambda x: q.order_by(x).query,
    q.limit,
    lambda x: q.select(x=q["count"].round(x)).query,
    lambda x: q.select(x=q["count"].where(x)).query,
    people.age.round,
    people.age.is_in,
    people.age.bin,
    people.age.cast,
    people.age.lookup,
    people.region.like,
    people.day.part,
    people.day.trunc,
    tacit.case,
    lambda x: tacit.case((x, 1)),
    lambda x: tacit.case((people.age > 1, x)),
]
ASKED = [
    lambda c, x: c.offer(x, epsilon=1),
    lambda c, x: c.offer(COUNT, epsilon=x),
    lambda c, x: c.offer(COUNT, epsilon=1, beta=x),
    lambda c, x: c.offer(COUNT, epsilon=1, analyst=x),
    lambda c, x: c.ask(x, epsilon=1),
    lambda c, x: c.ask(COUNT, epsilon=1, fresh=x),
    lambda c, x: c.ask(COUNT, epsilon=1, analyst=x, fresh=True),
    lambda c, x: c.remaining_for(COUNT, analyst=x),
    lambda c, x: c.covers(x),
    lambda c, x: c.covers(c.offer(COUNT, epsilon=1), analyst=x),
    lambda c, x: c.above_threshold(x, epsilon=1),
    lambda c, x: c.above_threshold(10, epsilon=1, name=x),
    lambda c, x: c.above_threshold(10, epsilon=1, analyst=x),
    lambda c, x: c.bounds(x, epsilon=1),
    lambda c, x: c.bounds("age", epsilon=1, analyst=x),
    lambda c, x: c.ledger.remaining(x),
    lambda c, x: c.ledger.spent(x),
    lambda c, x: c.ledger.allow(x, tacit.Budget(epsilon=1)),
    lambda c, x: c.ledger.allow("ann", x),
    lambda c, x: c.ask(q, epsilon=1).revise(x, "so").columns,
    lambda c, x: c.ask(q, epsilon=1).revise({"count": x}, "so").columns,
    lambda c, x: consistent(x, c.ask(COUNT, epsilon=1), "n"),
    lambda c, x: consistent(c.ask(q, epsilon=1), x, "n"),
    lambda c, x: consistent(c.ask(q, epsilon=1), c.ask(COUNT, epsilon=1), x),
]
OPENED = [
    lambda place, x: tacit.Curator(x, ledger=place, budget=BUDGET),
    lambda _, x: tacit.Curator(people, ledger=x, budget=BUDGET),
    lambda place, x: tacit.Curator(people, ledger=place, budget=x),
    lambda place, x: tacit.Curator(people, ledger=place, budget=BUDGET, public=x),
    lambda place, x: tacit.Curator(people, ledger=place, budget=BUDGET, public=[x]),
    lambda place, x: tacit.Curator(people, ledger=place, budget=BUDGET, analyst=x),
    lambda place, x: tacit.Curator(people, ledger=place, budget=BUDGET, engine=x),
    lambda place, x: Ledger.open(place, BUDGET, x),
]


def refused(entry, *given):
    """How many of the wrong values are refused; anything but tacit's own errors is raised."""
    found = 0
    for wrong in WRONG:
        try:
            entry(*given, wrong)
        except TacitError:
            found += 1
    return found


@pytest.mark.parametrize("entry", MADE, ids=range(len(MADE)))
def test_what_makes_a_question_reads_or_refuses(entry):
    assert refused(entry)


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with tacit.Curator(people, ledger=tmp_path_factory.mktemp("wrong") / "ledger", budget=BUDGET) as c:
        yield c


@pytest.mark.parametrize("entry", ASKED, ids=range(len(ASKED)))
def test_what_asks_reads_or_refuses(curator, entry):
    assert refused(entry, curator)


PAIRS = workloads.marginals(people.domain("region"), k=1)


TERMED = [
    lambda c, **terms: c.offer(COUNT, **terms),
    lambda c, **terms: c.ask(COUNT, **terms),
    lambda c, **terms: c.above_threshold(10, **terms),
    lambda c, **terms: c.numeric_sparse(10, **terms),
    lambda c, **terms: c.plan(PAIRS, **terms),
    lambda c, **terms: c.answer(PAIRS, **terms),
    lambda c, **terms: c.online(PAIRS.domain, n=20, **terms),
    lambda c, **terms: c.bounds("age", **terms),
]


@pytest.mark.parametrize("entry", TERMED, ids=range(len(TERMED)))
def test_a_term_of_another_name_is_refused(curator, entry):
    before = curator.remaining
    with pytest.raises(tacit.BadParameter, match="epsilom"):
        entry(curator, epsilon=1, epsilom=1)
    assert curator.remaining == before


def test_the_terms_that_are_typed_are_those_that_are_read():
    for read, typed in ((Stream.__init__, StreamTerms), (buy_bounds, BoundsTerms), (workloads.Price.of, Paid)):
        named = {name for name, p in inspect.signature(read).parameters.items() if p.kind is p.KEYWORD_ONLY}
        of_a_budget = {"share"} if read == workloads.Price.of else set()
        assert named - {"threshold", "unit"} == typed.__annotations__.keys() - of_a_budget
    for name, method in inspect.getmembers(tacit.Curator, inspect.isfunction):
        if not name.startswith("_"):
            assert all(p.annotation != "Any" for p in inspect.signature(method).parameters.values()), name


@pytest.mark.parametrize("entry", OPENED, ids=range(len(OPENED)))
def test_what_opens_reads_or_refuses(tmp_path, monkeypatch, entry):
    monkeypatch.chdir(tmp_path)
    places = iter(range(len(WRONG)))
    assert refused(lambda wrong: entry(tmp_path / f"ledger{next(places)}", wrong))


def test_what_said_nothing_is_refused():
    for asked in (
        lambda: people.where(None),
        lambda: people.where(lambda _: None),
        lambda: people.quantile("age", None),
        lambda: people.group_by("city", private=1),
        lambda: tacit.Table(ROWS, SCHEMA, name=float("nan")),
    ):
        with pytest.raises(TacitError):
            asked()


def test_public_tables_have_different_names(tmp_path):
    wrong = r"^Two tables are called '\w+'\. The tables of a curator must have different names\.$"
    with pytest.raises(TacitError, match=wrong):
        tacit.Curator(people, ledger=tmp_path / "l", budget=BUDGET, public=[zones, zones])
