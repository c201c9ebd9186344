"""Attacks, one file each, and for each a control: the same questions put to a system that is to withstand them.

Adding an attack is a file and a line in ALL.  `tacit.testing.attacks` runs all of them against the curator.
"""

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
from .system import Ask, People, System
from .timing import TIMING, Timing, timing

ALL = (
    RECONSTRUCTION,
    DIFFERENCING,
    AVERAGING,
    MEMBERSHIP,
    FLOATING_POINT,
    TIMING,
)

__all__ = [
    "ALL",
    "AVERAGING",
    "DIFFERENCING",
    "FLOATING_POINT",
    "MEMBERSHIP",
    "RECONSTRUCTION",
    "TIMING",
    "Ask",
    "Attack",
    "Outcome",
    "People",
    "System",
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


def table(system: System, source: Source = SYSTEM) -> list[dict[str, Any]]:
    """Every attack on the naive system that it breaks, and on this one: the share of right guesses, and its proof."""
    rows = []
    for attack in ALL:
        naive, control = attack.on_naive(source), attack.on_system(system, source)
        for against, outcome in ((attack.breaks, naive), (attack.control, control)):
            row = {"attack": attack.name, "against": against, "right": outcome.share, "proves": outcome.epsilon()}
            rows.append(row)
    return rows
