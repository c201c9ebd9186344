"""Every type of expression node is drawn by the random worlds; an engine that is wrong on one of them is refuted."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlglot import exp

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql.dialect import Typed
from tacit.engines.sql.expressions import Translator
from tacit.query.plan.plan import QueryPlan
from tacit.query.relation.relation import Cohort, Derive, Fold, Join, PerUnit, Relation, Where
from tacit.query.soundness.copying import NODES
from tacit.query.values import nodes
from tacit.query.values.coercion import parts_of
from tacit.query.values.domain import number
from tacit.query.values.nodes import Expression, node_types, tree_sizes
from tacit.testing.engines import CHECKS, agrees_on_every_node
from tacit.testing.mechanisms import Refuted
from tacit.testing.nodes import DRAWN
from tacit.testing.worlds import World


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def expressions(plan: QueryPlan) -> Iterator[Expression]:
    yield from computed(plan.relation)
    yield from (key.expression for key in plan.keys)
    yield from (m.expression for m in plan.measures if m.expression is not None)


def computed(relation: Relation) -> Iterator[Expression]:
    match relation:
        case Where(source=source, condition=condition):
            yield condition
            yield from computed(source)
        case Derive(source=source, derived=derived):
            yield from (e for _, e in derived)
            yield from computed(source)
        case PerUnit(source=source, keys=keys, folds=folds):
            yield from (e for _, e in (*keys, *folds))
            yield from computed(source)
        case Join(left=left, right=right) | Cohort(source=left, members=right):
            yield from computed(left)
            yield from computed(right)


def test_every_subclass_of_an_expression_is_a_node_that_worlds_draw():
    known = {kind for kind in subclasses(Expression) if kind.__module__.startswith("tacit.")}
    assert known == {*node_types(), Fold} <= NODES
    assert set(DRAWN) == set(node_types())


def test_random_plans_hold_every_node_and_every_fold():
    drawn, folds = set[type](), set[str]()
    for seed in range(150):
        world = World(random.Random(seed))
        plan = world.plan(world.schema().scan())
        for e, _, _ in tree_sizes(expressions(plan), parts_of):
            drawn.add(type(e))
            if isinstance(e, Fold):
                folds.add(e.how)
    assert drawn == {*node_types(), Fold} and folds == {"count", "sum", "min", "max"}


def test_the_check_is_part_of_the_public_suite():
    assert agrees_on_every_node in CHECKS


@dataclass(frozen=True)
class Length(Expression):
    """How many characters a text has."""

    a: Expression

    def meaning(self, row):
        a = self.a.meaning(row)
        return None if a is None else len(a)


def drawn_length(world, x, _):
    return Length(number(0, 1 << 20), world.column_of(x, "text"))


def translated(monkeypatch, wrong):
    """DuckDB, taught a new node."""
    value = Translator.value

    def taught(self, e):
        if not isinstance(e, Length):
            return value(self, e)
        length = exp.Length(this=self.value(e.a).sql)
        return Typed(exp.Coalesce(this=length, expressions=[exp.Literal.number(0)]) if wrong else length, 64)

    monkeypatch.setattr(Translator, "value", taught)


@pytest.fixture
def length(monkeypatch):
    monkeypatch.setattr(nodes, "Length", Length, raising=False)


def test_a_node_that_no_world_draws_refutes_every_engine(length):
    with pytest.raises(Refuted, match="no world draws Length"):
        agrees_on_every_node(DuckDB, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_is_wrong_on_missing_values_in_one_engine_is_found_at_once(length, monkeypatch, seed):
    monkeypatch.setitem(DRAWN, Length, drawn_length)
    translated(monkeypatch, wrong=True)
    with pytest.raises(Refuted, match="Length"):
        agrees_on_every_node(DuckDB, seed)


def test_a_node_that_is_right_is_not_refuted(length, monkeypatch):
    monkeypatch.setitem(DRAWN, Length, drawn_length)
    translated(monkeypatch, wrong=False)
    assert sum(agrees_on_every_node(DuckDB, seed) for seed in range(5)) >= 5
