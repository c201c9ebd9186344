"""What one process finds of Spark: CPU seconds of each question by tacit, by hand and on what tacit keeps; its memory.

    python benchmarks/_spark.py FILE TURNS QUESTIONS        prints JSON, for engines.py

CPU seconds are those of the Java machine and of our own process: of registration and of the first question the least
of several, in turns, and then, when Java is warm, of one turn.  Memory is the most that our own process held, which
sees nothing but public cells.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil  # type: ignore[import-untyped]
from tables import COLUMNS, KEY, peak, plans
from tables import SQL as KEPT

from tacit.engines.spark.engine import Spark
from tacit.engines.spark.session import opened
from tacit.query.python.table import Table

_RAW = "user, age, region, product, spend"
_BOUNDED = (
    f"SELECT {_RAW} FROM (SELECT {_RAW}, ROW_NUMBER() OVER (PARTITION BY user ORDER BY {{}}) AS place FROM purchases)"
    " AS q WHERE place <= 10"
)
MD5 = f"MD5(CONCAT_WS('', '{KEY}|', user, '|', age, ',', region, ',', product, ',', spend))"
ITS_OWN = f"XXHASH64('{KEY}', {_RAW})"


def measure(path: str, turns: int, questions: dict[str, str]) -> dict[str, Any]:
    """Each of the questions, whose least SQL is given."""
    session = opened("local[2]")
    java = psutil.Process(session.sparkContext._gateway.proc.pid)

    def least(*calls: Callable[[], Any], turns: int = 1) -> list[float]:
        best = [float("inf")] * len(calls)
        for _ in range(turns):
            for i, call in enumerate(calls):
                start = sum(java.cpu_times()[:2]) + time.process_time()
                call()
                best[i] = min(best[i], sum(java.cpu_times()[:2]) + time.process_time() - start)
        return best

    session.read.parquet(path).createOrReplaceTempView("purchases")
    table = Table(path, {"table": {"name": "t", "unit": "user", "rows": 10}, "columns": COLUMNS}, engine="spark")
    found: dict[str, Any] = {}
    with Spark(session) as engine:
        (found["registration"],) = least(lambda: engine.register(table, KEY), turns=turns)
        name = engine._tables["t"].bounded.source.sql()
        for question, plan in plans(table).items():
            if question in questions:
                kept = KEPT[question][0].format(name)
                bare = f"WITH b AS ({_BOUNDED.format(MD5)}) {questions[question]}"
                found[question] = least(
                    lambda plan=plan: engine.answer(plan),  # type: ignore[misc]
                    lambda bare=bare: session.sql(bare).toArrow(),  # type: ignore[misc]
                    lambda kept=kept: engine._own.sql(kept).toArrow(),  # type: ignore[misc]
                    turns=turns if question == "count" else 1,
                )
        other = f"WITH b AS ({_BOUNDED.format(ITS_OWN)}) {questions['count']}"
        (found["bare count by a hash of Spark's own"],) = least(lambda: session.sql(other).toArrow())
        frame = Table(session.table("purchases"), table.schema)
        (found["registration of a frame"],) = least(lambda: engine.register(frame, KEY))
    return {**found, "memory": peak()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))))
