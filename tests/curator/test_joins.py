"""Joins are bounded by the product of public row caps before they are run: refused by that alone, and uncharged."""

from dataclasses import replace

import pytest

import tacit
from tacit.core.errors import BadQuestion
from tacit.curator import Curator
from tacit.query.relation import build
from tacit.query.relation.build import MOST_JOINED
from tacit.query.relation.relation import joins
from tacit.workloads import marginals

SCHEMA = """
[table]
name = "visits"
unit = "person"
rows = {rows}
size = 100
[columns.age]
type = "integer"
lower = 0
upper = 9
"""
THREE = """
SELECT COUNT(*) FROM visits a JOIN (SELECT person, age AS b FROM visits) b ON a.person = b.person
JOIN (SELECT person, age AS c FROM visits) c ON a.person = c.person
"""
TWO = "SELECT COUNT(*) FROM visits a JOIN (SELECT person, age AS b FROM visits) b ON a.person = b.person"
FOLDED = """
SELECT COUNT(*) FROM visits a JOIN (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) b ON a.person = b.person
"""
REFUSED = "could make {:,} rows of one unit.*At most 10,000 are allowed.*lower `rows`"


def opened(tmp_path, rows, name="visits.ledger"):
    data = [{"person": i // 5, "age": i % 10} for i in range(100)]
    table = tacit.Table(data, SCHEMA.format(rows=rows))
    return Curator(table, ledger=tmp_path / name, budget=tacit.Budget(epsilon=10))


def test_a_self_join_of_three_is_refused_from_public_facts_before_anything_is_charged(tmp_path, monkeypatch):
    with opened(tmp_path, 100) as c:
        monkeypatch.setattr(c._registration.engine, "answer", None)  # no data are read
        for ask in (c.offer, c.ask):
            with pytest.raises(BadQuestion, match=REFUSED.format(1_010_000)):
                ask(THREE, epsilon="1e-12")
        assert not c.history() and c.remaining == 10


def test_joins_up_to_the_limit_are_answered(tmp_path):
    assert MOST_JOINED == 10_000
    with opened(tmp_path, 100) as c:
        assert c.ask(TWO, epsilon=1)["count"].values.size == 1
        with pytest.raises(BadQuestion, match=REFUSED.format(1_010_000)):
            c.ask(THREE, epsilon=1)
    with opened(tmp_path, 101, "more.ledger") as c, pytest.raises(BadQuestion, match=REFUSED.format(10_201)):
        c.ask(TWO, epsilon=1)


def test_a_join_that_makes_no_more_rows_than_the_table_holds_is_answered(tmp_path):
    """Of 50,000 rows of a unit there are 50,000 pairs with its one count."""
    with opened(tmp_path, 50_000) as c:
        assert c.ask(FOLDED, epsilon=1)["count"].values.size == 1
        with pytest.raises(BadQuestion, match="could give one unit 2,500,000,000 rows"):
            c.ask(TWO, epsilon=1)


def test_all_joins_of_a_question_count_together(tmp_path):
    """Each of these makes 10,000 pairs, and gathers them: alone it is answered, and twice it is not."""
    with opened(tmp_path, 100) as c:
        t = c.table

        def pairs(name):
            other = t.derive(**{f"{name}_age": t.age})
            return t.join(other).per_unit(**{name: tacit.count()})

        one, both = pairs("x"), pairs("x").join(pairs("y"))
        assert [join.rows for join in joins(both.relation)] == [10_000, 10_000, 1]
        assert c.ask(one.count(), epsilon=1)
        with pytest.raises(BadQuestion, match=REFUSED.format(20_001)):
            c.ask(both.count(), epsilon=1)


def test_no_door_runs_a_join_that_is_too_large(tmp_path, monkeypatch):
    with opened(tmp_path, 101) as c:
        stream = c.above_threshold(5, epsilon=1)
        t = c.table
        pairs = t.join(t.derive(other=t.age))
        domain = pairs.domain("age", "other")
        left = c.remaining
        monkeypatch.setattr(c._registration.engine, "answer", None)
        question = c.table.count()
        by_hand = replace(question.query, relation=pairs.relation)
        for ask in (
            lambda: c.ask(pairs.count(), epsilon=1),
            lambda: c.ask(by_hand, epsilon=1),
            lambda: c.offer(by_hand, epsilon=1),
            lambda: c.plan(marginals(domain, k=1), epsilon=1),
            lambda: c.answer(marginals(domain, k=1), epsilon=1),
            lambda: c.online(domain, epsilon=5, n=1000, updates=1),
        ):
            with pytest.raises(BadQuestion, match=REFUSED.format(10_201)):
                ask()
        with pytest.raises(BadQuestion):  # a stream is asked of rows, and not of pairs, anyway
            stream.ask(pairs.count())
        assert c.remaining == left


def test_what_was_bought_before_stays_free(tmp_path, monkeypatch):
    """A ledger may hold answers of larger joins: they are given again; but such a join is not run."""
    with opened(tmp_path, 200) as c:
        t = c.table
        workload = marginals(t.join(t.derive(other=t.age)).domain("age"), k=1)
        monkeypatch.setattr(build, "MOST_JOINED", 10**6)
        bought, answers = c.ask(TWO, epsilon=1), c.answer(workload, epsilon=1)
        real = c._registration.engine.answer
        monkeypatch.setattr(c._registration.engine, "answer", lambda *_: 1 / 0)
        with pytest.raises(tacit.TacitError):
            c.ask(TWO, epsilon=2)  # charged, and not completed
        monkeypatch.undo()
        left = c.remaining
        assert c.ask(TWO, epsilon=1)["count"].values == bought["count"].values
        assert c.answer(workload, epsilon=1).answers.tolist() == answers.answers.tolist()
        assert c.remaining == left and c._registration.engine.answer == real
        with pytest.raises(BadQuestion, match=REFUSED.format(40_000)):
            c.ask(TWO, epsilon=2)
