"""The questions of tables.py asked of PipelineDP, in plain Python, by an interpreter of its own:

    python -m venv peer && peer/bin/pip install pipeline-dp pyarrow setuptools
    python benchmarks/tables.py --pipelinedp peer/bin/python

Regions and products are public keys, at most 10 rows of a user are used, and each answer is a release.  The rows are
tuples of Python before the clock starts; times are CPU seconds, of one run, since it is long.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pipeline_dp as dp
from pyarrow import parquet

M = dp.Metrics
REGIONS = [f"region {i:02}" for i in range(50)]
PRODUCTS = [f"product {i:04}" for i in range(1000)]
QUARTILES = [M.PERCENTILE(a) for a in (25, 50, 75)]
USER, AGE, REGION, PRODUCT, SPEND = range(5)

# what is asked, of which column, in which groups, and bounds
QUESTIONS: dict[str, tuple[list[Any], int, Callable[[Any], Any], list[str], dict[str, float]]] = {
    "count": ([M.COUNT], AGE, lambda _: "all", ["all"], {}),
    "count by region": ([M.COUNT], AGE, lambda row: row[REGION], REGIONS, {}),
    "count by product": ([M.COUNT], AGE, lambda row: row[PRODUCT], PRODUCTS, {}),
    "sum, mean of spend by region": (
        [M.SUM, M.MEAN],
        SPEND,
        lambda row: row[REGION],
        REGIONS,
        {"min_value": 0, "max_value": 500},
    ),
    "quartiles of age": (QUARTILES, AGE, lambda _: "all", ["all"], {"min_value": 0, "max_value": 120}),
    "quartiles of age by region": (
        QUARTILES,
        AGE,
        lambda row: row[REGION],
        REGIONS,
        {"min_value": 0, "max_value": 120},
    ),
    "users by region": ([M.PRIVACY_ID_COUNT], AGE, lambda row: row[REGION], REGIONS, {}),
}


def released(rows: list[Any], question: str) -> list[Any]:
    metrics, column, group, keys, bounds = QUESTIONS[question]
    accountant = dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-7)
    engine = dp.DPEngine(accountant, dp.LocalBackend())
    most = {"max_partitions_contributed": min(10, len(keys)), "max_contributions_per_partition": 10}
    if len(keys) > 1:
        most["max_contributions_per_partition"] = 1  # so that it is 10 rows, and no product of two bounds
    asked = dp.AggregateParams(metrics=metrics, noise_kind=dp.NoiseKind.LAPLACE, **most, **bounds)
    extractors = dp.DataExtractors(
        privacy_id_extractor=lambda row: row[USER],
        partition_extractor=group,
        value_extractor=lambda row: row[column],
    )
    answer = engine.aggregate(rows, asked, extractors, public_partitions=keys)
    accountant.compute_budgets()
    return list(answer)


def main() -> None:
    rows = list(zip(*(column.to_pylist() for column in parquet.read_table(sys.argv[1]).columns), strict=True))
    found: dict[str, float] = {}
    for name, (_, _, _, keys, _) in QUESTIONS.items():
        start = time.process_time()
        assert len(released(rows, name)) == len(keys)
        found[name] = time.process_time() - start
    found["memory"] = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
