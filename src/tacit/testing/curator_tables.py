"""The tables that the suite for curators asks about."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..query.python.table import Table
from ..query.schema.public_table import PublicTable

_PEOPLE = """
[table]
name = "people"
unit = "person"
rows = 1
size = 1000
partition = "region"

[columns.region]
type = "category"
values = ["north", "south", "west"]
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.spend]
type = "real"
lower = 0
upper = 50
[columns.town]
type = "text"
[columns.born]
type = "date"
lower = 1920-01-01
upper = 2019-12-31
"""
_VISITS = """
[table]
name = "visits"
unit = "person"
rows = 3

[columns.kind]
type = "category"
values = ["shop", "park"]
[columns.cost]
type = "integer"
lower = 0
upper = 20
"""


def people() -> Table:
    """A thousand people, in three regions."""
    i = np.arange(1000)
    regions = np.array(["north", "south", "west"])[i % 3]
    towns = np.array(["Ash", "Elm", "Oak", "Yew"])[i % 4]
    columns = {"person": i, "region": regions, "age": i % 90, "spend": (i % 97) / 2, "town": towns}
    born = (i * 30).astype("datetime64[D]")
    return Table(pa.table({**columns, "born": born}), _PEOPLE)


def visits() -> Table:
    """What they did, of which at most three rows of each person are used."""
    i = np.arange(2500)
    kinds = np.array(["shop", "park"])[i % 2]
    return Table(pa.table({"person": i % 1000, "kind": kinds, "cost": i % 21}), _VISITS)


def regions() -> PublicTable:
    """Public facts about the regions."""
    return PublicTable(pa.table({"region": ["north", "south", "west"], "coast": ["yes", "no", "yes"]}), "regions")
