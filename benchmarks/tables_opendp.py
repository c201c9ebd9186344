"""The questions of tables.py asked of OpenDP with Polars, by an interpreter of its own:

    python -m venv peer && peer/bin/pip install 'opendp[polars]'
    python benchmarks/tables.py --opendp peer/bin/python

Regions and products are public keys, at most 10 rows of a user are used, and each answer is a release.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")

REGIONS = pl.LazyFrame({"region": [f"region {i:02}" for i in range(50)]})
PRODUCTS = pl.LazyFrame({"product": [f"product {i:04}" for i in range(1000)]})
SPEND = pl.col("spend").fill_null(0.0).fill_nan(0.0)
AGE = pl.col("age").fill_null(0)
QUARTILES = [AGE.dp.quantile(a, list(range(121))).alias(str(a)) for a in (0.25, 0.5, 0.75)]

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "count": lambda q: q.select(dp.len()),
    "count by region": lambda q: q.group_by("region").agg(dp.len()).with_keys(REGIONS),
    "count by product": lambda q: q.group_by("product").agg(dp.len()).with_keys(PRODUCTS),
    "sum, mean of spend by region": lambda q: (
        q.group_by("region").agg(dp.len(), SPEND.dp.sum((0.0, 500.0))).with_keys(REGIONS)
    ),
    "quartiles of age": lambda q: q.select(*QUARTILES),
    "quartiles of age by region": lambda q: q.group_by("region").agg(*QUARTILES).with_keys(REGIONS),
    "users by region": lambda q: q.group_by("region").agg(pl.col("user").dp.n_unique()).with_keys(REGIONS),
}


def released(path: str, question: Callable[[Any], Any]) -> Any:
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=10**9, max_groups=1000)],
    )
    return question(context.query().truncate_per_group(10)).release().collect()


def main() -> None:
    found: dict[str, float] = {}
    for name, question in QUESTIONS.items():
        times = []
        for _ in range(2):
            start = time.process_time()
            released(sys.argv[1], question)
            times.append(time.process_time() - start)
        found[name] = min(times)
    found["memory"] = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
