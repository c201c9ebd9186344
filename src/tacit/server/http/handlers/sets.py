"""Data sets and their public facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from importlib import metadata
from typing import Any

from ....core.accounting.currency import Amount
from ....core.errors import TacitError
from ....core.exact import from_above
from ....curator import Curator
from ....query.schema.public_table import PublicTable
from ....query.schema.schema import Schema
from ....query.values.column_types import facts_of
from ...numbers import write_budget, write_number
from ...policy import SWITCHES, Policy, write_policy
from ...service import Access
from ..answers import (
    ColumnFacts,
    DataSetAnswer,
    DataSetBrief,
    DataSets,
    Left,
    May,
    Me,
    QuestionsLeft,
    TableFacts,
)
from ..call import Answer, Call


def me(call: Call) -> Answer:
    """Who asks."""
    person = call.access.person
    assert person is not None
    return Answer(Me(person.name, person.role, metadata.version("tacit")))


def listed(call: Call) -> Answer:
    """The data sets that one may see."""
    person = call.access.person
    assert person is not None
    found = []
    for dataset, policy in call.service.visible(person):
        access = replace(call.access, dataset=dataset, policy=policy)
        try:
            found.append(_brief(access, call.service.curator(access).seen_by(person.name)))
        except TacitError:  # one that cannot be opened hides no other
            continue
    return Answer(DataSets(found))


def described(call: Call) -> Answer:
    """The public facts of a data set."""
    access = call.access
    curator = call.service.curator(access).seen_by(access.name)
    brief = _brief(access, curator)
    tables = [*map(_table, curator.tables.values()), *map(_public_table, curator.public.values())]
    return Answer(
        DataSetAnswer(
            **{name: getattr(brief, name) for name in brief.__struct_fields__},
            limits=write_budget(curator.budget),
            least_share=write_number(curator.ledger.least_share),
            policy=write_policy(access.rules),
            tables=tables,
            schemas={name: table.schema.dumps() for name, table in curator.tables.items()},
        )
    )


def _brief(access: Access, curator: Curator) -> DataSetBrief:
    policy = access.rules
    return DataSetBrief(
        name=access.about.name,
        unit=curator.table.schema.unit or "row",
        budget=str(curator.budget),
        remaining=left_of(curator),
        questions_left=_questions_left(curator, policy),
        may=May(**{name: getattr(policy, name) for name in SWITCHES}),
    )


def left_of(curator: Curator, remaining: Amount | None = None) -> Left:
    """What is left to who asks."""
    left, limit = Fraction(curator.remaining if remaining is None else remaining), curator.budget.limit
    return Left(write_number(left), float(left / limit), f"{float(left):.6g} of {curator.budget}")


def _questions_left(curator: Curator, policy: Policy) -> QuestionsLeft | None:
    """How many counts of the first table may still be bought at the price that the policy sets."""
    if policy.price is None:
        return None
    try:
        terms: dict[str, Any] = {**policy.price.terms}
        offered = curator.offer(f"SELECT COUNT(*) FROM {curator.table.schema.name}", **terms)
        number = curator.questions_left(offered)
    except TacitError:  # a price at which a count is not sold
        return None
    error = max((each.error or 0.0 for each in offered.errors), default=0.0)
    return QuestionsLeft(number, f"+-{from_above(error)}")


def remaining(call: Call) -> Answer:
    """What is left to who asks."""
    return Answer(left_of(call.service.curator(call.access).seen_by(call.access.name)))


def _table(table: Any) -> TableFacts:
    schema: Schema = table.schema
    return TableFacts(
        name=schema.name,
        public=False,
        columns=[ColumnFacts(name, **_plain(facts_of(column))) for name, column in schema.columns],
        unit=schema.unit or "row",
        rows=schema.rows,
        groups=schema.groups,
        size=schema.size,
        partition=schema.partition,
        version=schema.version,
    )


def _public_table(table: PublicTable) -> TableFacts:
    return TableFacts(table.name, True, [ColumnFacts(name, "public") for name in table.columns])


def _plain(facts: dict[str, object]) -> dict[str, Any]:
    """The facts of a column for JSON."""

    def plain(value: object) -> Any:
        if isinstance(value, Fraction):
            return int(value) if value.denominator == 1 else float(value)
        if isinstance(value, list):
            return [plain(each) for each in value]
        return value.isoformat() if isinstance(value, date) else value

    return {name: plain(value) for name, value in facts.items() if value is not None}
