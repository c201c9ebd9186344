"""Random SQL text about hostile tables, held against the reference engine and the claims of its plans."""

import random

import numpy as np
import pytest
from running_time import quick
from sqlglot import exp

from tacit.engines.base import EngineAnswer
from tacit.engines.duckdb.engine import DuckDB
from tacit.query.schema.schema import Schema
from tacit.query.sql import parser, row_expressions
from tacit.testing.fuzz import fuzz
from tacit.testing.mechanisms import Refuted
from tacit.testing.questions import undrawn


@pytest.mark.parametrize("part", quick(range(4), most=1))
def test_what_can_be_typed_moves_nothing_farther_than_its_claim(part):
    counts = fuzz(DuckDB, range(part * 1000, part * 1000 + 40))
    assert counts.questions > 300 and counts.measures > 600 and counts.bought > 40 and counts.slowest < 2


@pytest.mark.slow
def test_what_can_be_typed_at_length():
    start = random.SystemRandom().getrandbits(48)
    counts = fuzz(DuckDB, range(start, start + 10_000), asks=8)
    assert counts.questions > 80_000


def test_every_function_that_is_understood_is_drawn():
    assert undrawn() == set()


def test_a_function_that_no_question_draws_is_named(monkeypatch):
    monkeypatch.setitem(row_expressions.UNARY, exp.Soundex, lambda a: a)
    monkeypatch.setitem(row_expressions.NAMED, "SOUNDS_LIKE", (2, lambda *_: None))
    assert undrawn(range(60)) >= {"Soundex", "SOUNDS_LIKE"}


class Moved(DuckDB):
    """An engine that puts rows of the last cell into the first."""

    def _answer(self, plan, content):
        answer = super()._answer(plan, content)
        return EngineAnswer(
            tuple(np.roll(np.asarray(cells), 1, axis=0) for cells in answer.cells), answer.keys, answer.units
        )


class Failing(DuckDB):
    """An engine that fails where a count is odd."""

    def _answer(self, plan, content):
        answer = super()._answer(plan, content)
        if any(int(np.asarray(cells).sum()) % 2 for cells in answer.cells):
            raise IndexError
        return answer


@pytest.mark.parametrize("wrong", [Moved, Failing])
def test_an_engine_that_is_wrong_is_refuted(wrong):
    with pytest.raises(Refuted, match="SELECT"):
        fuzz(wrong, range(20))


def test_a_remainder_by_a_computed_constant():
    schema = Schema.load(
        {"table": {"name": "t", "unit": "row"}, "columns": {"a": {"type": "integer", "lower": 0, "upper": 9}}}
    )
    for text in ("a % CAST(2 > 1 AS INTEGER)", "7 % CAST(1 = 1 AS INTEGER)"):
        (_, asked), *_ = parser.parse(f"SELECT SUM({text}) FROM t", {"t": schema}).query.aggregates
        assert (asked.expression.domain.lower, asked.expression.domain.upper) == (0, 0)
