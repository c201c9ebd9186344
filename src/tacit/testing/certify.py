"""Certificates: samplers run through every branch, layer by layer, and compared exactly with their laws.

The layers of an alias table are the lookup (every word), the dealing of undecided units (every unit and coin), and the
place within a block (every word).  Each layer takes the one below it, certified by itself, as a single exact choice.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np

from ..core.alias_table import UNDECIDED, AliasTable
from .sources import enumerate_draws


def block_masses(table: AliasTable) -> tuple[dict[int | None, Fraction], Fraction]:
    """The mass with which one try gives each block (None: start over), and the mass left unresolved."""
    words = np.arange(1 << table.width, dtype=np.uint64)
    blocks = np.empty(words.size, np.int64)
    table.lookup(words, blocks)
    values, counts = np.unique(blocks, return_counts=True)
    unit = Fraction(1, words.size)
    masses: defaultdict[int | None, Fraction] = defaultdict(Fraction)
    masses.update({int(v): int(n) * unit for v, n in zip(values, counts, strict=True)})
    undecided = masses.pop(UNDECIDED)
    dealt, unresolved = enumerate_draws(table.deal, table.width)
    for value, mass in dealt.items():
        masses[value] += undecided * mass
    return dict(masses), undecided * unresolved


def place_masses(table: AliasTable, value: int) -> tuple[dict[int | None, Fraction], Fraction]:
    """The mass with which one try gives each integer of a block."""
    return enumerate_draws(lambda source: table.place(value, source), table.width)
