"""Linear queries whose parts were changed by hand: each is refused, or is sold as its honest copy is."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from curator.test_curator import curator

import tacit
from tacit import storage
from tacit.core.distance import Distance
from tacit.core.errors import BadParameter, BadQuestion, TacitError
from tacit.query.python.table_domain import TableDomain
from tacit.query.select.query import Key
from tacit.workloads import Workload, from_matrix, marginals, predicates, prefixes, ranges
from tacit.workloads.models.multiplicative_weights import LinearQuery
from tacit.workloads.queries.copying import remade

TINY: Distance = Distance(Fraction(1, 100), Fraction(1, 10_000), Fraction(1, 100), 1)


@pytest.fixture
def c(tmp_path) -> Iterator[tacit.Curator]:
    with curator(tmp_path / "visits.ledger", tacit.Budget(epsilon=100)) as made:
        yield made


def domain(c):
    return c.table.where(lambda rows: rows.age >= 0).domain("year")


def workloads(d) -> list[Workload]:
    size = d.size
    made = [marginals(d, k=1), marginals(d, k=1, weights=[3]), prefixes(d, "year"), ranges(d, "year")]
    made += [predicates(d, [{"year": d.attributes[0][1][0]}, {"year": np.linspace(0, 1, size)}])]
    made += [from_matrix(d, np.eye(size)), from_matrix(d, np.full((2, size), 0.25), weights=[1, 2])]
    return [*made, marginals(d, k=1).parts[0], made[0] + made[2], made[1] + made[5]]


def subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("tacit.workloads."):
            yield each
            yield from subclasses(each)


def test_a_copy_is_the_same_workload_and_every_kind_is_copied(c):
    d = domain(c)
    honest = workloads(d)
    assert {type(w) for w in honest} == set(subclasses(Workload))
    for workload in honest:
        again = remade(workload, d)
        assert again is not workload and storage.canonical(again) == storage.canonical(workload)


def test_what_a_workload_remembers_or_overrides_is_not_believed(c):
    for workload in workloads(domain(c)):
        losses = c.plan(workload, epsilon=1).rows[0].prediction
        forged = copy.copy(workload)
        if "row" not in dir(type(workload)) or not isinstance(getattr(type(workload), "row", None), property):
            vars(forged)["row"] = TINY
            assert forged.row == TINY
            assert c.plan(forged, epsilon=1).rows[0].prediction == losses
        lying = copy.copy(workload)
        lying.__class__ = type(type(workload).__name__, (type(workload),), {"row": TINY})
        with pytest.raises(BadParameter):
            c.plan(lying, epsilon=1)


@pytest.mark.parametrize("entry", [100.0, -1.0, np.nan])
def test_coefficients_that_were_written_later_are_refused(c, entry):
    d = domain(c)
    matrix, asked = from_matrix(d, np.eye(d.size)), predicates(d, [{"year": np.ones(d.size)}])
    assert matrix.row.linf == asked.row.linf == 1
    matrix.rows.data[0] = entry
    asked.factors[0][0][0] = entry
    for workload in (matrix, asked, matrix + asked):
        with pytest.raises(BadParameter):
            c.answer(workload, epsilon=1, method="queries")
    assert c.remaining == 100


def test_ranges_beyond_the_domain_and_axes_twice_are_refused(c):
    d = domain(c)
    boxes, whole = ranges(d, "year"), marginals(d, k=1)
    boxes.high[0] = 10**6
    boxes2 = ranges(d, "year")
    boxes2.axes = (0, 0)
    whole.subsets = ((0, 0),)
    for workload in (boxes, boxes2, whole):
        with pytest.raises(TacitError):
            c.answer(workload, epsilon=1)
    assert c.remaining == 100


def test_a_domain_states_what_its_table_does(c):
    d = domain(c)
    key = d.keys[0]

    class Lying(TableDomain):
        distance = TINY

    forged = [
        replace(d, keys=(replace(key, values=key.values * 2),)),
        replace(d, keys=(replace(key, values=key.values[::-1]),)),
        replace(d, keys=(replace(key, values=None),)),
        replace(d, keys=()),
        replace(d, keys=(Key("year", key.expression, (0, 99)),)),
        replace(d, attributes=(("year", ("a",)),)),
        replace(d, relation=replace(c.table.relation, rows=1)),
        Lying(d.attributes, relation=d.relation, keys=d.keys),
    ]
    for each in forged:
        with pytest.raises((BadParameter, BadQuestion)):
            c.answer(marginals(each, k=1), epsilon=1)
        with pytest.raises((BadParameter, BadQuestion)):
            c.online(each, epsilon=20, n=500, queries=10, updates=4)
    assert c.remaining == 100


def test_a_question_of_a_life_is_made_anew(c):
    d = domain(c)
    life = c.online(d, epsilon=20, n=500, queries=10, updates=4)
    honest = LinearQuery.where(d, {"year": d.attributes[0][1][0]})
    forged = copy.copy(honest)
    heavy = copy.copy(honest)
    object.__setattr__(heavy, "factors", (((0,), (1000,) * d.size),))
    vars(forged)["coarsest"] = heavy
    assert life.ask(forged) == life.ask(honest)
    with pytest.raises(BadParameter):
        life.ask(heavy)
