"""kill -9 at any point: no charge that was told is lost, no question has two answers, nothing is overspent."""

import json
import subprocess
import sys
from pathlib import Path

KILLS = 500


def test_what_was_told_survives_being_killed(memory):
    command = [sys.executable, "-m", "tests.ledger.killing", str(memory / "ledger"), str(KILLS), "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["faults"] == []
    assert found["charges"] == KILLS  # the budget was filled, exactly
    assert found["cut"] > KILLS / 50 and found["told"] > KILLS / 4
