"""Attacks, one file each, and for each a control that shows it fail against tacit.  Adding one is a line in ALL."""

from typing import Any

from ...core.randomness import SYSTEM, Source
from .averaging import AVERAGING, averaging
from .comparison import compare, transition
from .differencing import DIFFERENCING, differencing
from .floating_point import FLOATING_POINT, possible, which
from .membership import MEMBERSHIP, trace
from .outcome import Attack, Outcome
from .reconstruction import (
    RECONSTRUCTION,
    consistent,
    reconstruct,
    secret_column,
    subset_queries,
    wrong_places,
)
from .timing import TIMING, Timing, timing

ALL = (RECONSTRUCTION, DIFFERENCING, AVERAGING, MEMBERSHIP, FLOATING_POINT, TIMING)

__all__ = [
    "ALL",
    "Attack",
    "Outcome",
    "Timing",
    "averaging",
    "compare",
    "consistent",
    "differencing",
    "possible",
    "reconstruct",
    "secret_column",
    "subset_queries",
    "table",
    "timing",
    "trace",
    "transition",
    "which",
    "wrong_places",
]


def table(source: Source = SYSTEM) -> list[dict[str, Any]]:
    """Every attack on the system that it breaks and on its control: the share of right guesses, and what it proves."""
    rows = []
    for attack in ALL:
        for against, run in ((attack.breaks, attack.on_naive), (attack.control, attack.on_tacit)):
            found = run(source)
            rows.append({"attack": attack.name, "against": against, "right": found.share, "proves": found.epsilon()})
    return rows
