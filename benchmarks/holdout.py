"""What every rule promises at 95 %, for 500 questions, by the number of holdout records.

    python benchmarks/holdout.py

Nothing is timed: these are the widths of `tacit holdout plan`, side by side.  "One by one" is a question at a time,
each of which may depend on all answers before; "10 rounds" are lists of 50 and "one round" is a single list, fixed
before any of its answers is seen.  Rules with guesses are given 10 wrong ones.
"""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tacit.holdout import compare

RECORDS = (2_000, 10_000, 100_000)
QUESTIONS = 500
USES = {"one by one": None, "10 rounds": 10, "one round": 1}


def main() -> None:
    table = Table(box=SIMPLE, title=f"Promise at 95 %, {QUESTIONS} questions")
    table.add_column("rule")
    widths: dict[str, list[str]] = {}
    for n in RECORDS:
        for use, rounds in USES.items():
            table.add_column(f"{n}\n{use}", justify="right")
            for plan in compare(n, QUESTIONS, rounds=rounds):
                widths.setdefault(plan.method, []).append(f"{plan.width:.3f}" if plan.width < 1 else "none")
    for method, row in widths.items():
        table.add_row(method, *row)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
