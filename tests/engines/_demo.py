"""The questions of the demonstration as closed plans, and engines that are asked all of them."""

from tacit.core.errors import BadQuestion
from tacit.demo.purchases import SCHEMA
from tacit.demo.story import QUESTIONS
from tacit.engines.rows.reference import Reference
from tacit.query.plan.compiler import compiled
from tacit.query.python.table import Table
from tacit.query.sql import parser
from tacit.testing.engines import engine, same

KEY = "fedcba9876543210" * 2
ROWS, PEOPLE = 3000, 100  # most of them have more than 20 purchases, of which 20 are used


def plans():
    """Of each question that can be answered, before it is priced."""
    table = Table([], SCHEMA)
    out = []
    for _, text, _ in QUESTIONS:
        try:
            query = parser.parse(text, {"purchases": table}, {}).query
        except BadQuestion:
            assert "person, spend" in text  # that asks for somebody's purchases
            continue
        out.append(compiled(query, {"purchases": table.schema}).plan)
    assert len(out) == len(QUESTIONS) - 1
    return out


def the_same(file, *others):
    """Whether each of these engines, with its table, has the integers of the reference, before any noise."""
    with engine(Reference, [Table(file, SCHEMA)], KEY) as reference:
        expected = [reference.answer(plan) for plan in plans()]
    assert any(cells.any() for answer in expected for cells in answer.cells)
    for factory, table in others:
        with engine(factory, [table], KEY) as tested:
            for answer, plan in zip(expected, plans(), strict=True):
                same(answer, tested.answer(plan), 0, plan)
