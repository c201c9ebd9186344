"""The attacks of `tacit.audit.attacks` on tacit itself: a real curator, with a table, a budget and a ledger.

    conform()                 every attack on the curator
    conform(my_system)        every attack on yours

An attack is refuted if it proves, with confidence 1 - 1e-10, an epsilon above the claim of the system.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..audit import attacks
from ..audit.attacks import Ask, Attack, Outcome, People, System
from ..core.accounting.budget import Budget
from ..core.exact import Floats
from ..core.randomness import SYSTEM, Source
from ..curator import Curator
from ..query.python.table import Table
from .mechanisms import Refuted

CONFIDENCE = "0.9999999999"


def table_of(people: People) -> Table:
    """The table of an attack, with a schema of its public facts."""
    columns: dict[str, dict[str, Any]] = {}
    for name, (lower, upper) in people.ranges.items():
        columns[name] = {"type": "integer", "lower": lower, "upper": upper}
        if people.columns[name].dtype.kind == "f":
            columns[name] |= {"type": "real", "grid": people.grid}
    facts = {"name": "people", "unit": people.unit or "row", "rows": people.rows}
    return Table(pa.table(dict(people.columns)), schema={"table": facts, "columns": columns})


@contextmanager
def curator(people: People, epsilon: float, kind: type[Curator] = Curator) -> Iterator[Ask]:
    """tacit as a system under attack: a curator with this budget, whose ledger is in a temporary folder."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kind(table_of(people), budget=Budget(epsilon=epsilon), ledger=Path(folder, "ledger"), least_share=0) as held,
    ):

        def ask(question: str, epsilon: float) -> Floats:
            release = held.ask(question, epsilon=epsilon)
            return np.asarray(release[release.names[-1]].values, np.float64)

        yield ask


def withstands(system: System, attack: Attack, source: Source = SYSTEM) -> Outcome:
    """The outcome of an attack that the system withstands; `Refuted` if the attack proves more than it claims."""
    outcome = attack.on_system(system, source)
    if (proved := outcome.epsilon(CONFIDENCE)) > outcome.claim:
        raise Refuted(f"{attack.name} proves an epsilon of {proved:.3g}, where the system claims {outcome.claim:g}")
    return outcome


def conform(system: System = curator, source: Source = SYSTEM) -> dict[str, Outcome]:
    """Run every attack on a system, by default on the curator of tacit."""
    return {attack.name: withstands(system, attack, source) for attack in attacks.ALL}


def table(source: Source = SYSTEM) -> list[dict[str, Any]]:
    """Every attack on the naive system that it breaks and on the curator: the share of right guesses, and its proof."""
    return attacks.table(curator, source)
