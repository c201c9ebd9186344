"""A generated table of people and their purchases, as a shop with loyalty cards has it, and its public schema."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.randomness import SYSTEM
from ..core.samplers import integers

REGIONS = ("north", "east", "south", "west", "centre", "islands")
PRODUCTS = ("bread", "milk", "fruit", "vegetables", "meat", "fish", "coffee", "tea", "sweets", "wine", "books", "toys")
FIRST_DAY, DAYS = 20089, 365  # 2025-01-01, and a year of purchases

SCHEMA = f"""\
# What is public about the table of purchases; nothing here was read from it.
[table]
name = "purchases"
unit = "person"          # whom to protect: the person, with all of their purchases
rows = 20                # at most this many purchases of one person are used
size = 400000            # roughly how many rows there are

[columns.region]
type = "category"
values = {list(REGIONS)}

[columns.age]
type = "integer"
lower = 0
upper = 110

[columns.product]
type = "category"
values = {list(PRODUCTS)}

[columns.spend]
type = "real"
lower = 0
upper = 100
total = [0, 300]         # the contribution of one person to a sum is clamped to this

[columns.day]
type = "date"
lower = 2025-01-01
upper = 2025-12-31

[columns.card]
type = "boolean"

[columns.note]
type = "text"
"""


def _uniform(n: int) -> NDArray[np.float64]:
    """Random numbers strictly between 0 and 1."""
    return np.asarray((integers(1 << 40, SYSTEM, n) + 0.5) / 2.0**40, np.float64)


def _among(weights: list[float], n: int) -> NDArray[np.intp]:
    """Random indices with these weights."""
    return np.searchsorted(np.cumsum(weights) / sum(weights), _uniform(n))


def write(path: Path, rows: int = 400_000, people: int = 60_000) -> Path:
    """Write a Parquet file of purchases; some people buy much more often than others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    person = (people * _uniform(rows) ** 1.8).astype(np.int64)
    ages = np.clip(18 + 75 * _uniform(people) ** 1.3 + 4 * (_uniform(people) - 0.5), 0, 110).astype(np.int16)
    regions = _among([30, 22, 18, 14, 12, 4], people)
    cards = _uniform(people) < 0.62
    product = _among([18, 16, 12, 11, 9, 5, 9, 4, 6, 5, 3, 2], rows)
    typical = np.array([3, 2, 5, 4, 12, 14, 7, 4, 3, 11, 18, 21])[product]
    spend = np.round(typical * np.exp(0.8 * (_uniform(rows) + _uniform(rows) + _uniform(rows) - 1.5)), 2)
    notes = np.array(["", "gift", "online", "returned", "discount"])[_among([80, 6, 9, 2, 3], rows)]
    table = pa.table(
        {
            "person": person,
            "region": pa.array(np.array(REGIONS)[regions[person]]),
            "age": ages[person],
            "product": pa.array(np.array(PRODUCTS)[product]),
            "spend": spend,
            "day": pa.array((FIRST_DAY + integers(DAYS, SYSTEM, rows)).astype("datetime64[D]")),
            "card": cards[person],
            "note": pa.array(notes),
        }
    )
    pq.write_table(table, path)
    return path


def put(path: Path, server: str) -> str:
    """Copy the purchases of a file into a new table of a PostgreSQL server; returns the address of that table."""
    import psycopg
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    rows = pa.BufferOutputStream()
    pa.csv.write_csv(pq.read_table(path), rows)
    columns = "person int8, region text, age int2, product text, spend float8, day date, card bool, note text"
    with psycopg.connect(server) as connection:
        connection.execute(f"CREATE TABLE purchases ({columns})")
        with connection.cursor().copy("COPY purchases FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(rows.getvalue())
    return f"{server}{'&' if '?' in server else '?'}table=purchases"
