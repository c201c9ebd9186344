"""The time of one question between neighbouring tables, measured; the rest is tested by counting (`test_pace`).

Each area has a deviation of 0.0082 where time says nothing (2,500 calls each), whatever else the machine does: so a
false alarm at 0.55 is 6 deviations, below 1e-9.
"""

import importlib.util
import time
from pathlib import Path

import pytest

_PLACE = Path(__file__).parents[2] / "benchmarks" / "neighbours.py"
_SPEC = importlib.util.spec_from_file_location("neighbours", _PLACE)
neighbours = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(neighbours)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(neighbours.QUESTIONS))
def test_with_a_time_grid_one_question_does_not_tell_neighbours_apart(name):
    question, rows = neighbours.QUESTIONS[name]
    with neighbours.curators(rows, time_grid="0.02") as (without, within, _):
        area = neighbours.area(question, without, within, 5000, time.perf_counter_ns)
    assert abs(area - 0.5) < 0.05
