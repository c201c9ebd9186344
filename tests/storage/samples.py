"""Values of every stored type: what questions, mechanisms, ledgers, workloads, sessions and holdouts are made of."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tacit import holdout, storage
from tacit.core.accounting import atoms
from tacit.core.accounting.batch import Batch
from tacit.core.accounting.grouped import Grouped
from tacit.core.accounting.listed import FinitePair, FixedSizeSample, PoissonSample
from tacit.core.accounting.loss import BoundedRange, Concentrated, Loss, Pure
from tacit.core.accounting.parallel import Worst
from tacit.core.accounting.sampled import Sampled
from tacit.core.distance import ADD_REMOVE, SUBSTITUTE
from tacit.holdout.rules.rule import State as HoldoutState
from tacit.mechanisms import (
    Gaussian,
    HadamardResponse,
    IndependentQuantiles,
    KeySelection,
    Laplace,
    Quantiles,
    RandomizedResponse,
    SubsetSelection,
    ToeplitzCount,
    TopK,
    TreeCount,
)
from tacit.mechanisms.continual._continual_count import CountState
from tacit.mechanisms.sparse_vector._comparisons import ComparisonState as SparseState
from tacit.mechanisms.sparse_vector.gaussian_sparse import Transcripts
from tacit.query.plan.compiler import compiled
from tacit.query.plan.plan import BinCounts, QueryPlan, RowCount, Total, UnitCount, ValueCount
from tacit.query.python.table import Table
from tacit.query.relation import relation
from tacit.query.select import outputs, query
from tacit.query.select.aggregates import sum_
from tacit.query.select.query import Key
from tacit.query.values import nodes
from tacit.query.values.domain import BOOLEAN, ValueDomain
from tacit.release import Release
from tacit.release.provenance import Provenance
from tacit.workloads import METHODS, Price, from_matrix, marginals, predicates, prefixes
from tacit.workloads import Domain as Attributes
from tacit.workloads.methods.weights.pmw import Move, Moves, OnlineAnswer, OnlineState
from tacit.workloads.models.multiplicative_weights import LinearQuery
from tacit.workloads.models.trees.line_model import LineModel

GOLDEN = Path(__file__).parents[1] / "golden"
NUMBER = ValueDomain("number", 0, 99)
AGE = nodes.Column(NUMBER, "age")
FIVE = nodes.Constant(NUMBER, 5)
OLD = nodes.Compare("<=", FIVE, AGE)
HALF, MILLIONTH = Fraction(1, 2), Fraction(1, 10**6)
TABLE = Attributes.of({"a": ["x", "y"], "b": [datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12), 3.5]})


def people() -> Table:
    columns = {
        "age": {"type": "integer", "lower": 0, "upper": 99},
        "day": {"type": "date", "lower": datetime.date(2020, 1, 1), "upper": datetime.date(2020, 1, 9)},
        "note": {"type": "text"},
    }
    return Table([], {"table": {"name": "people", "unit": "id", "rows": 3}, "columns": columns})


def losses() -> Iterator[Loss]:
    every: list[Any] = [
        Pure(HALF),
        BoundedRange(HALF),
        Concentrated(HALF),
        atoms.Approximate(HALF, MILLIONTH),
        atoms.ApproximateConcentrated(HALF, MILLIONTH),
        atoms.RenyiCurve(((2.0, 0.5), (8.0, math.inf))),
        atoms.KaryResponse(HALF, 4),
        atoms.LocalReport(HALF, Fraction(1, 4)),
        atoms.LaplaceNoise(HALF),
        atoms.DiscreteLaplaceNoise(HALF, 3),
        atoms.GaussianNoise(HALF),
        atoms.GaussianPrivacy(HALF),
        atoms.DiscreteGaussianNoise(HALF, 1, Fraction(9)),
        atoms.DiscreteGaussianVector(HALF, Fraction(9), 3),
        Batch(Laplace(epsilon=1).loss(), MILLIONTH),
        FinitePair((0.25, 0.75), (0.5, 0.5)),
        PoissonSample(HALF, Pure(HALF)),
        FixedSizeSample(PoissonSample(HALF, Pure(HALF))),
        Sampled(HALF, atoms.GaussianNoise(HALF)),
        Grouped(Loss({atoms.Approximate(HALF, MILLIONTH): 1}), 3),
        Transcripts(HALF, 9),
    ]
    for relation_ in (None, ADD_REMOVE, SUBSTITUTE):
        yield Loss(dict.fromkeys(every, 2), relation_)
        yield Loss({Worst(frozenset(Loss({atom: 1}, relation_) for atom in every)): 1}, relation_)


def questions() -> Iterator[Any]:
    table = people()
    asked = table.where((table.age >= 18) & table.note.is_in(["x", "y"])).group_by(band=table.age // 10 * 10)
    for question in (asked.mean("age"), table.per_unit(all=sum_("age")).mean("all"), table.join(table).count()):
        yield question.query
        yield compiled(question.query).plan
        yield compiled(question.query).recipes
    yield nodes.Case(NUMBER, nodes.And(OLD, nodes.Not(nodes.IsMissing(AGE))), AGE, FIVE)
    yield nodes.Or(OLD, nodes.Like(nodes.Column(ValueDomain("text"), "note"), ("a", "b")))
    yield nodes.Lookup(NUMBER, AGE, (1, 2), (3, 5)), nodes.DatePart(NUMBER, "year", AGE)
    yield nodes.Add(NUMBER, AGE, FIVE), nodes.Multiply(NUMBER, AGE, FIVE), nodes.Divide(NUMBER, AGE, FIVE)
    shown = outputs.Arithmetic("+", outputs.ReleasedColumn("n"), outputs.OutputValue(HALF))
    yield outputs.CaseOutput(outputs.Logic("and", outputs.Comparison("<", shown, shown), None), shown, shown)
    yield outputs.Function("round", shown, 2)
    yield query.Selection((("n", outputs.Window("sum", shown, (shown,), ((shown, True),), (None, 0))),), distinct=())
    yield relation.Join(relation.Where(table.relation, OLD), relation.Derive(table.relation, (("x", FIVE),)))
    yield relation.Cohort(table.relation, relation.Where(table.relation, OLD), False)
    yield relation.PerUnit(table.relation, (), (("x", relation.Fold(NUMBER, "sum", AGE)),))
    measures = RowCount(OLD), UnitCount(None), Total(AGE, True), ValueCount(AGE), BinCounts(AGE, (0, 10, 20))
    yield QueryPlan(table.relation, (Key("flag", OLD, (0, 1)), Key("age", AGE, None)), measures, 3)
    yield query.Aggregate("quantile", AGE, HALF, None, 1), BOOLEAN
    counted = compiled(table.count().query)
    noisy = (Laplace(epsilon=1),), ((7,),), None, Laplace(epsilon=1).loss(), HALF, MILLIONTH
    yield Release(table.count().query, counted.recipes, *noisy, revised=(("count", "why", (7,)),))
    yield Provenance("SELECT 1", (("people", "id", "ab"),), "Budget", "now", (("tacit", "1"),), 7, "cd", True)


def mechanisms() -> Iterator[Any]:
    yield Laplace(epsilon="0.3", sensitivity=ADD_REMOVE.counts(3), grid=HALF)
    yield Gaussian(epsilon=1, delta="1e-6")
    yield Quantiles(epsilon=1, cells=7)
    yield IndependentQuantiles(epsilon=1, cells=7)
    yield TopK(k=2, epsilon=1, candidates=9)
    yield KeySelection(rho="0.1", delta="1e-6")
    yield RandomizedResponse(epsilon=1, categories=4)
    yield SubsetSelection(epsilon=1, categories=9)
    yield HadamardResponse(epsilon=1, categories=9)


def workloads() -> Iterator[Any]:
    yield from METHODS
    yield Price.of(epsilon=1)
    yield marginals(TABLE, k=1, weights=[1, 2]), prefixes(TABLE, "a", weights=[1, 2])
    yield marginals(TABLE, k=2) + predicates(TABLE, [{"a": "x"}, {"b": np.array([0.5, 0, 1])}], weights=[1, 3])
    yield from_matrix(TABLE, np.eye(6)[:4])
    yield people().domain("age", "day")
    yield LineModel(TABLE, 0, np.array([1.0, 2.0]))
    for entries in json.loads((GOLDEN / "former_workloads.json").read_text()).values():
        yield from (storage.loads(entry["release"]) for entry in entries)


def sessions() -> Iterator[Any]:
    question = LinearQuery((((0,), (1, 0, 1, 1)),))
    moves = Moves([Move(question, 0.25)])
    yield OnlineState(7, 3, moves.then(Move(LinearQuery((((0, 1), (1, 2)),), HALF), -0.5)))
    yield OnlineAnswer(3.0, "data", None), SparseState(7, 3, 1)
    yield ToeplitzCount(periods=12, rho=1), TreeCount(periods=12, epsilon=1), CountState((3, 1), (196608, 163840))
    rules: list[Any] = [
        holdout.ReusableHoldout(n=10**6, questions=9, exceptions=2),
        holdout.GuessAndCheck(n=10**6, width="0.1"),
        holdout.GaussianAnswers(n=10**6, questions=9),
        holdout.Ladder(n=10**6, questions=9),
        holdout.ParameterFreeLadder(n=10**6),
        holdout.GuessAndCheck(n=10**6, width="0.1", questions=9, rounds=3),
        holdout.Ladder(n=10**6, questions=9, rounds=3),
    ]
    yield from rules
    yield HoldoutState(1, 2, 3, "x")
    yield HoldoutState(4, 2, 3, "x", rounds=2)


def plain() -> Iterator[Any]:
    yield None, True, 3, -(1 << 70), 0.1, math.inf, -math.inf, 'text "\u2603\U0001f600\n', Fraction(1, 3), Fraction(-2)
    yield 7**9000, Fraction(7**9000, 5), (7**9000, 1), -(7**9000), (1, True), ()
    yield (1, 2), (0, 1, 2), (5, 3, 1), (3, 3, 3), (0, 2, 5), (0, 1, 2, 4), (-(1 << 70), 0, 1 << 70)
    yield {("a", 1): Fraction(1, 2), "b": {}}, frozenset({1, 2, "x"}), range(3, 90, 7)
    yield np.arange(6).reshape(2, 3), np.array([np.nan, np.inf, -0.0]), np.zeros((0, 3), bool), np.array(3.5)


def samples() -> list[Any]:
    parts = (losses, questions, mechanisms, workloads, sessions, plain)
    return [value for part in parts for value in part()]
