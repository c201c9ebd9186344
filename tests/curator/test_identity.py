"""What was bought is known by all that its law and its rows depend on; and parts are those of people who stayed."""

from dataclasses import replace

import pytest

import tacit
from curator.test_curator import COUNT, ROWS, SCHEMA, curator
from curator.test_linear import opened
from tacit.core.errors import BadQuestion, EngineError
from tacit.curator import Curator
from tacit.engines.duckdb.engine import DuckDB
from tacit.query.relation.relation import Derive, PerUnit, Where, fold
from tacit.query.values.domain import number
from tacit.query.values.nodes import Column, Compare
from tacit.workloads import marginals

PEOPLE = [{"person": i, "year": "2023", "age": 1, "cost": 1, "note": "a"} for i in range(20)]
MOVED = [{**row, "year": "2024" if row["person"] % 2 else "2023"} for row in PEOPLE]
PART = "SELECT COUNT(*) AS n FROM visits WHERE year = '2023'"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "visits.ledger"


class Swapped(DuckDB):
    """Tables that change after they were looked at and before they are asked."""

    swap = None

    def _answer(self, plan, content):
        if self.swap is not None:
            swap, self.swap = self.swap, None
            swap()
        return super()._answer(plan, content)


@pytest.mark.parametrize("workload", [False, True])
def test_people_who_move_between_the_look_and_the_answer_are_not_asked_by_parts(place, workload):
    with Swapped() as engine:
        c, other = (
            Curator(tacit.Table(rows, SCHEMA), ledger=place, budget=tacit.Budget(rho=1), engine=engine)
            for rows in (PEOPLE, MOVED)
        )
        ages = marginals(c.table.where(lambda rows: rows.year == "2023").domain("age"), k=1)
        engine.swap = other.read_tables
        with pytest.raises(EngineError):
            c.answer(ages, rho="0.5", method="queries") if workload else c.ask(PART, rho="0.5")
        assert c.history()[-1].parts == {"year=2023"}


def test_bounds_say_twice_the_noise_of_what_lies_beyond(place):
    """Where a noisy count is not above t, the count is below 2 t."""
    unbounded = SCHEMA.replace("lower = 0\nupper = 64\n", "")
    with Curator(tacit.Table(ROWS, unbounded), ledger=place, budget=tacit.Budget(epsilon=6)) as c:
        found, again = (c.bounds("cost", epsilon=e, beta="1e-9") for e in (5, "0.001"))
        assert found.lower is not None and again.lower is None
        assert found.beyond * 5 == pytest.approx(again.beyond * 0.001, rel=0.2)


def test_the_beta_that_a_law_reads_is_part_of_what_is_bought(place):
    c, domain = opened(place)
    with c:
        left = [
            c.answer(marginals(domain, k=1), rho=1, method="adaptive", n=500, beta=b) and c.remaining
            for b in ("0.05", "0.01", "0.05")
        ]
        assert left[0] > left[1] == left[2]


def test_answers_are_not_taken_from_a_release_about_other_rows(place):
    c, _ = opened(place)
    with c:
        part, whole = (rows.domain("age") for rows in (c.table.where(lambda rows: rows.year == "2023"), c.table))
        c.answer(marginals(part, k=1), rho=1, method="residual")
        assert len(c.query(marginals(part, k=1)).answers) == 100
        with pytest.raises(tacit.BadQuestion, match="Nothing was released on this domain"):
            c.query(marginals(whole, k=1))


def test_a_ledger_is_of_the_table_it_was_opened_for(place):
    others = tacit.Table(PEOPLE, SCHEMA.replace('"visits"', '"others"'))
    with tacit.Ledger.open(place, tacit.Budget(epsilon=1), "visits") as ledger:  # noqa: SIM117
        with pytest.raises(tacit.BadParameter, match=r"^This ledger belongs to the table 'visits', not 'others'\.$"):
            Curator(others, ledger=ledger)


def test_bounds_at_another_price_are_bought_anew(place):
    """Else noise of the first draw, which is wider than the second price says, is taken for values."""
    with curator(place, tacit.Budget(epsilon=6)) as c:
        c.bounds("age", epsilon="0.5")
        c.bounds("age", epsilon=5)
        assert c.remaining == 0.5


@pytest.mark.parametrize("kind", ["above_threshold", "numeric_sparse"])
def test_a_stream_that_may_tell_more_is_another_life(place, kind):
    """Else answers paid for by the noise of two would go on after them, under noise for ten."""
    with curator(place, tacit.Budget(epsilon=100)) as c:
        few, more = (getattr(c, kind)(10, epsilon=20, count=count) for count in (2, 10))
        assert c.remaining == 60 and more.ask(COUNT) and (few.left, more.left) == (2, 9)


@pytest.mark.parametrize(
    "life",
    [
        lambda c: c.above_threshold(10, epsilon=20, count=2),
        lambda c: c.online(
            c.table.where(lambda rows: rows.age >= 0).domain("year"), epsilon=20, n=500, queries=10, updates=4
        ),
    ],
)
def test_a_life_of_another_schema_is_another(place, life):
    """Else a threshold with noise for one row of each unit would be compared with counts that a unit moves by three."""
    for rows, left in ((1, 80), (3, 60)):
        schema = SCHEMA.replace("rows = 3", f"rows = {rows}")
        with Curator(tacit.Table(ROWS, schema), ledger=place, budget=tacit.Budget(epsilon=100)) as c:
            life(c)
            assert c.remaining == left


def test_a_column_has_the_domain_of_its_table_however_deep_it_lies(place):
    bit = number(0, 1)
    with curator(place) as c:
        honest = c.table.sum("age").query
        (name, total), rows = honest.aggregates[0], honest.relation
        lying, z = Derive(rows, (("z", Column(bit, "age")),)), Column(bit, "z")
        joined = c.table.join(c.table).count().query.relation
        summed = fold("sum", rows.rows, z)
        for relation, e in (
            (Where(lying, Compare("<=", z, z)), z),
            (Derive(lying, (("z", z),)), z),
            (PerUnit(lying, (), (("z", summed),)), Column(summed.domain, "z")),
            (replace(joined, left=lying), z),
            (replace(joined, right=lying), z),
        ):
            asked = replace(total, expression=e)
            with pytest.raises(BadQuestion, match="is not a column of these rows"):
                c.ask(replace(honest, relation=relation, aggregates=((name, asked),)), epsilon="0.1")
        assert c.remaining == 1


@pytest.mark.parametrize("other", [{"n": 400}, {"queries": 50}, {"updates": 20}, {"grid": "0.5"}], ids=str)
def test_an_online_life_of_other_terms_is_another(place, other):
    """Its noise is for so many updates, of questions in such steps: else it would go on under other noise."""
    terms = {"rho": 8, "n": 500, "queries": 100, "updates": 10}
    c, domain = opened(place, tacit.Budget(rho=20))
    with c:
        left = [c.online(domain, **each) and c.remaining for each in (terms, terms | other, terms)]
    assert left[0] > left[1] + 7 and left[1] == left[2]
