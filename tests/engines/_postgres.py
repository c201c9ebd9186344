"""Tables that are put into PostgreSQL as they are, to be asked about there."""

import itertools

import psycopg
import pyarrow as pa
from psycopg import sql

from tacit.engines.postgres.engine import Postgres
from tacit.query.python.table import Table
from tacit.query.values.cells import steps, unit_text

_numbers = itertools.count()
_TYPES = {
    "int8": "int2",
    "uint8": "int2",
    "int16": "int2",
    "int32": "int4",
    "int64": "int8",
    "uint64": "numeric",
    "float": "float4",
    "halffloat": "float4",
    "double": "float8",
    "bool": "bool",
    "string": "text",
    "large_string": "varchar",
    "date32[day]": "date",
    "binary": "bytea",
    "time64[us]": "time",
    "duration[s]": "interval",
    "list<item: int8>": "int4[]",
}
_FIRST, _LAST = -210_866_803_200_000_000, 9_224_318_016_000_000_000 - 1  # microseconds: the years that it knows
_PER = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Loaded(Postgres):
    """PostgreSQL, with whatever is registered put there first."""

    def __init__(self, server):
        super().__init__()
        self.server, self.made = server, []

    def register(self, table, key):
        name = f'loaded "{next(_numbers)}'
        quoted = '"' + name.replace('"', '""') + '"'
        put(self.server, name, table)
        self.made.append(name)
        super().register(Table(self.server.url(table=quoted), table.schema), key)

    def close(self):
        super().close()
        with psycopg.connect(self.server.url()) as connection:
            for name in self.made:
                connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))


def put(server, name, table):
    """The columns that the schema names, in the types that come nearest."""
    schema = table.schema
    columns = (
        _mixed(table) if isinstance(table.data, list) else dict(map(_typed, table.data.schema, table.data.columns))
    )
    names = [n for n in (schema.unit, *(n for n, _ in schema.columns)) if n is not None]
    fields = [sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(columns[n][0])) for n in names]
    with psycopg.connect(server.url()) as connection:
        place = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(place, sql.SQL(", ").join(fields)))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
            count = len(table.data) if names else 0
            for row in zip(*(columns[n][1] for n in names), strict=True) if names else [()] * count:
                copy.write_row(row)


def _mixed(table):
    """Cells of mixed types have no place there; such as mean the same do."""
    columns = {}
    if table.schema.unit is not None:
        columns[table.schema.unit] = "text", [unit_text(row.get(table.schema.unit)) for row in table.data]
    for name, kind in table.schema.columns:
        values = [steps(row.get(name), kind) for row in table.data]
        d = kind.domain
        if d.kind == "number":
            values = [None if v is None else float(v * d.grid) if d.grid < 1 else int(v * d.grid) for v in values]
            columns[name] = "float8" if d.grid < 1 else "int8", values
        elif d.kind == "text":
            columns[name] = "text", values
        else:
            columns[name] = "text", [None if v is None else str(d.label(v)) for v in values]
    return columns


def _typed(field, column):
    kind = field.type
    if pa.types.is_dictionary(kind):
        return field.name, ("text", column.to_pylist())
    if pa.types.is_decimal(kind):
        return field.name, (f"numeric({kind.precision}, {kind.scale})", column.to_pylist())
    if pa.types.is_timestamp(kind):
        return field.name, _moments(kind, column.cast(pa.int64()).to_pylist())
    if pa.types.is_date(kind):
        days = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
        per = 1 if kind.bit_width == 32 else 86_400_000
        ends = -2_440_588, 2_145_042_541
        written = [None if d is None else _end(d // per, *ends) or f"J{d // per + 2_440_588}" for d in days]
        return field.name, ("date", written)
    if pa.types.is_time(kind) or pa.types.is_duration(kind):  # of which Python does not know all
        return field.name, (_TYPES[str(kind)], ["00:01" if valid else None for valid in column.is_valid().to_pylist()])
    if pa.types.is_null(kind):
        return field.name, ("text", column.to_pylist())
    return field.name, (_TYPES[str(kind)], column.to_pylist())


def _end(value, first, last):
    return "-infinity" if value < first else "infinity" if value > last else None


def _moments(kind, ticks):
    """Moments beyond all that PostgreSQL knows are infinite there; it has no nanoseconds."""
    out = []
    for tick in ticks:
        micros = None if tick is None else tick * 10**6 // _PER[kind.unit]
        days, rest = divmod(micros or 0, 86_400 * 10**6)
        clock = f"{rest // 3_600_000_000:02}:{rest // 60_000_000 % 60:02}:{rest // 10**6 % 60:02}.{rest % 10**6:06}"
        zone = "+00" if kind.tz else ""
        out.append(None if tick is None else _end(micros, _FIRST, _LAST) or f"J{days + 2_440_588} {clock}{zone}")
    return ("timestamptz" if kind.tz else "timestamp"), out
