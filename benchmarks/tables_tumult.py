"""The questions of tables.py asked of Tumult Analytics, on Spark, by an interpreter of its own:

    python -m venv peer && peer/bin/pip install tmlt.analytics psutil
    python benchmarks/tables.py --tumult peer/bin/python

Regions and products are public keys, at most 10 rows of a user are used, and each answer is a release.  Times are CPU
seconds of the Java machine, of what it started and of this process, of one run, since it is long, after a first
question that is not counted; it has two threads.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

warnings.simplefilter("ignore")

REGIONS = {"region": [f"region {i:02}" for i in range(50)]}
PRODUCTS = {"product": [f"product {i:04}" for i in range(1000)]}
START = QueryBuilder("t").enforce(MaxRowsPerID(10))
AT = (0.25, 0.5, 0.75)  # one release for each quantile

QUESTIONS: dict[str, Callable[[], list[Any]]] = {
    "count": lambda: [START.count()],
    "count by region": lambda: [START.groupby(KeySet.from_dict(REGIONS)).count()],
    "count by product": lambda: [START.groupby(KeySet.from_dict(PRODUCTS)).count()],
    "sum, mean of spend by region": lambda: [START.groupby(KeySet.from_dict(REGIONS)).average("spend", 0.0, 500.0)],
    "quartiles of age": lambda: [START.quantile("age", a, 0, 120) for a in AT],
    "quartiles of age by region": lambda: [
        START.groupby(KeySet.from_dict(REGIONS)).quantile("age", a, 0, 120) for a in AT
    ],
    "users by region": lambda: [START.groupby(KeySet.from_dict(REGIONS)).count_distinct(["user"])],
}


class Meter(threading.Thread):
    """CPU seconds so far: of Java, of all that it started, which may be gone by now, and of this process."""

    def __init__(self, java: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.java, self.seen = java, dict[int, float]()
        self.start()

    def look(self) -> None:
        for each in (self.java, *self.java.children(recursive=True)):
            with suppress(psutil.Error):
                self.seen[each.pid] = sum(each.cpu_times()[:2])

    def run(self) -> None:
        while True:
            with suppress(psutil.Error):
                self.look()
            time.sleep(0.5)

    def spent(self) -> float:
        self.look()
        return sum(list(self.seen.values())) + time.process_time()


def main() -> None:
    wall = time.time()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the processes that Spark starts
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = (
        builder.config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.showConsoleProgress", "false")
    )
    spark = builder.config("spark.sql.warehouse.dir", tempfile.mkdtemp()).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    meter = Meter(psutil.Process(spark.sparkContext._gateway.proc.pid))
    session = Session.from_dataframe(
        PureDPBudget(float("inf")), "t", spark.read.parquet(sys.argv[1]), protected_change=AddRowsWithID("user")
    )
    found: dict[str, float] = {}
    for name in ("count", *(sys.argv[2:] or QUESTIONS)):
        start = meter.spent()
        for query in QUESTIONS[name]():
            session.evaluate(query, privacy_budget=PureDPBudget(1)).collect()
        found[name] = meter.spent() - start
        found.setdefault("start", time.time() - wall)
    found["memory"] = (meter.java.memory_info().rss + psutil.Process().memory_info().rss) / 2**20
    print(json.dumps(found))


if __name__ == "__main__":
    main()
