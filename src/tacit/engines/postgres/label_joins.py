"""Categories in PostgreSQL whose labels are in a list that is joined, and so found by their hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from ...query.schema.schema import Schema
from ...query.values.column_types import ColumnType
from ..sql.cells import Raw
from ..sql.dialect import constant
from .dialect import PostgresDialect

_MANY = 3  # labels: so many are compared one by one
_D = PostgresDialect()


def listed(column: ColumnType, raw: Raw) -> bool:
    """Whether there are so many labels that nothing is faster than a join."""
    domain = column.domain
    return domain.kind == "category" and raw.kind in ("integer", "text") and len(domain.labels) > _MANY


def joins(schema: Schema, raw: dict[str, Raw]) -> Iterator[exp.Join]:
    """The joins that these columns need, which are canonical after them.

    A list is grouped, so that PostgreSQL sees that no row is found twice, and leaves out a join that is not needed.
    """
    for i, (name, column) in enumerate(schema.columns):
        if name in raw and listed(column, raw[name]):
            labels = column.domain.labels
            kind = _D.integers[_D.bits(0, len(labels))]
            rows = f"UNNEST(CAST({_D.render(constant(_array(labels)))} AS TEXT[])) WITH ORDINALITY AS v(t, p)"
            found = f"(SELECT t, CAST(MIN(p) - 1 AS {kind}) AS p FROM {rows} GROUP BY t) AS l{i}"
            same = exp.EQ(this=_D.text(raw[name].sql), expression=exp.column("t", f"l{i}"))
            yield exp.Join(this=exp.Var(this=found), side="LEFT", on=same)
            raw[name] = Raw("canonical", exp.column("p", f"l{i}"))


def _array(texts: Sequence[str]) -> str:
    """An array as PostgreSQL writes it; one constant is read faster than many."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
