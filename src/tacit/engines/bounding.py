"""At most so many rows of each unit, those of least hash, in SQL: `engines.reference.bounded`.

Only the rows of units that have too many are hashed; the others stay as they are.  From the table `canonical`, of a
unit u and columns c0, c1, ..., comes the table `bounded`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tables.schema import Schema
from .dialect import TEXT, Dialect, Typed, constant
from .relations import column
from .sql import canonical_text


def bounding(schema: Schema, key: str, d: Dialect, target: str) -> list[str]:
    """The statements, one after the other, that leave the bounded rows in the table `target`."""
    widths = [TEXT if c.domain.kind == "text" else 64 for _, c in schema.columns]
    names = ", ".join(["u", *(f"c{i}" for i in range(len(widths)))])
    out: list[str] = []
    source = "canonical"
    if schema.partition is not None:
        at = next(i for i, (name, _) in enumerate(schema.columns) if name == schema.partition)
        part = f"c{at}"
        hashed = _hash(key, "|p|", [at], widths, d)
        out += [
            f"CREATE TEMP TABLE several AS SELECT u FROM canonical GROUP BY u"
            f" HAVING COUNT(DISTINCT {part}) + COUNT(DISTINCT CASE WHEN {part} IS NULL THEN 1 END) > 1",
            f"CREATE TEMP TABLE chosen AS SELECT u, {part} FROM (SELECT u, {part}, ROW_NUMBER() OVER"
            f" (PARTITION BY u ORDER BY {hashed}) AS place FROM (SELECT DISTINCT u, {part} FROM canonical"
            f" WHERE u IN (FROM several)) AS q) AS q WHERE place = 1",
            f"CREATE TEMP TABLE parted AS SELECT {names} FROM canonical WHERE u NOT IN (FROM several) UNION ALL"
            f" SELECT {_of('a', names)} FROM canonical AS a JOIN chosen AS b"
            f" ON a.u = b.u AND a.{part} IS NOT DISTINCT FROM b.{part}",
            "DROP TABLE canonical",
        ]
        source = "parted"
    hashed = _hash(key, "|", range(len(widths)), widths, d)
    order = ", ".join(map(d.render, d.by_hash(column("h"))))
    out += [
        f"CREATE TEMP TABLE heavy AS SELECT u FROM {source} GROUP BY u HAVING COUNT(*) > {schema.rows}",
        f"CREATE TABLE {target} AS SELECT {names} FROM {source} WHERE u NOT IN (FROM heavy) UNION ALL"
        f" SELECT {names} FROM (SELECT {names}, ROW_NUMBER() OVER (PARTITION BY u ORDER BY {order})"
        f" AS place FROM (SELECT {names}, {hashed} AS h FROM {source} WHERE u IN (FROM heavy)) AS q) AS q"
        f" WHERE place <= {schema.rows}",
        f"DROP TABLE {source}",
    ]
    return out


def _hash(key: str, middle: str, columns: Sequence[int], widths: Sequence[int], d: Dialect) -> str:
    row = canonical_text([Typed(column(f"c{i}"), widths[i]) for i in columns], d)
    return d.render(d.md5(d.joined([constant(f"{key}|"), d.text(column("u")), constant(middle), *row])))


def _of(table: str, names: str) -> str:
    return ", ".join(f"{table}.{name}" for name in names.split(", "))
