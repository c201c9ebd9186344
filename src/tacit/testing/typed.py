"""Random Arrow tables: columns of one type each, with values out to the ends of the type."""

from __future__ import annotations

import decimal
from typing import Any

from ..query.schema.schema import Schema
from .hostile import NUMBERS, REALS, TEXTS
from .worlds import World

DAYS = [0, -1, 19782, -719162, 2932896, -719163, 2932897, 2**31 - 1, -(2**31) + 2]
TICKS = [0, -1, 1, 1_700_000_000, -999_999, 1_700_000_000_500_000, 2**62, -(2**62), 2**63 - 1, -(2**63) + 2]


def typed(world: World, schema: Schema, plain: bool = False) -> Any:
    """A random Arrow table for a schema; `plain` keeps to types that every file format can hold."""
    import pyarrow as pa

    n = world.any([0, 1, 7, 20, 40])
    columns = {name: column(world, n, plain) for name, _ in schema.columns}
    if schema.unit is not None:
        kinds = [pa.int64(), pa.string(), pa.float64(), pa.uint64(), pa.int8()]
        kinds += [pa.decimal128(20, 2), pa.decimal128(38, 10)]
        columns[schema.unit] = _units(world, n, world.any(kinds[:3] if plain else kinds))
    return pa.table(columns or {"none": pa.nulls(n, pa.int8())})


def _units(world: World, n: int, kind: Any) -> Any:
    import pyarrow as pa

    names: list[Any] = [*range(6), 1, 1, 2, None]
    values = [world.any(names) for _ in range(n)]
    if kind == pa.string():
        values = [None if v is None else f"{v:02}" for v in values]
    elif pa.types.is_decimal(kind):
        pool = world.r.sample(_pool(kind, False), 6)
        values = [None if v is None else pool[v] for v in values]
    elif pa.types.is_floating(kind):
        values = [None if v is None else v / 2 if v > 4 else float(v) for v in values]
    return pa.array(values, kind)


def column(world: World, n: int, plain: bool) -> Any:
    """A random column of one type, a tenth of whose cells are missing."""
    import pyarrow as pa

    kinds = [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.decimal128(12, 2)]
    if not plain:
        kinds += [
            pa.int8(),
            pa.uint8(),
            pa.uint64(),
            pa.int32(),
            pa.float32(),
            pa.decimal128(38, 9),
            pa.decimal128(38, 0),
        ]
        kinds += [pa.timestamp("s"), pa.timestamp("ms", "Asia/Tokyo"), pa.timestamp("ns"), pa.date64(), pa.binary()]
        kinds += [
            pa.time64("us"),
            pa.large_string(),
            pa.dictionary(pa.int8(), pa.string()),
            pa.float16(),
            pa.decimal256(50, 3),
        ]
        kinds += [pa.list_(pa.int8()), pa.null(), pa.duration("s")]
    kind = world.any(kinds)
    pool = _pool(kind, plain)
    if len(pool) > 3 and world.likely(0.5):  # so few that one unit may have all of some kind
        pool = world.r.sample(pool, 3)
    values = [None if world.likely(0.1) or not pool else world.any(pool) for _ in range(n)]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        raw = pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64())
        return raw.view(kind)
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def _pool(kind: Any, plain: bool) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_integer(kind):
        low, high = (
            (0, 2**kind.bit_width - 1)
            if str(kind).startswith("u")
            else (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
        )
        return [v for v in (*NUMBERS, high, low) if low <= v <= high]
    if pa.types.is_floating(kind):
        import numpy as np

        with np.errstate(over="ignore"):
            return [{16: np.float16, 32: np.float32, 64: np.float64}[kind.bit_width](v) for v in REALS]
    if pa.types.is_decimal(kind):
        with decimal.localcontext() as context:
            context.prec = 80
            last = decimal.Decimal(1).scaleb(-kind.scale)
            end = 10 ** (kind.precision - kind.scale) - last
            half = decimal.Decimal("0.5") if kind.scale else last
            pool = [*map(decimal.Decimal, NUMBERS), end // 1, -(end // 1), half, last, end, half - end, -end]
            return [v for v in pool if abs(v) <= end]
    if pa.types.is_boolean(kind):
        return [True, False]
    if pa.types.is_date(kind):
        days = DAYS[:5] if plain else DAYS
        return days if kind.bit_width == 32 else [day * 86_400_000 for day in DAYS[:5]]
    if pa.types.is_temporal(kind):
        return TICKS[:6] if plain or not pa.types.is_timestamp(kind) else TICKS
    if kind == pa.binary():
        return [b"", b"\xff"]
    if pa.types.is_list(kind):
        return [[], [1]]
    return [] if pa.types.is_null(kind) else TEXTS
