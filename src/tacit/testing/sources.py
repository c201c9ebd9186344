"""Sources of randomness for tests: one that is seeded, and one that takes every branch.

Neither is fit for a release, and nothing outside `tacit.testing` can make one.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ..core.exact import Real
from ..core.randomness import Source, Words

T = TypeVar("T", bound=Hashable)


class Seeded(Source):
    """A keystream that depends on a seed alone."""

    def __init__(self, seed: int, width: int = 64) -> None:
        self.width = width
        key = hashlib.sha256(f"tacit.testing {seed}".encode()).digest()
        self._cipher = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        self._pool: list[int] = []

    def words(self, n: int) -> Words:
        return np.frombuffer(self._cipher.update(bytes(8 * n)), np.uint64) >> np.uint64(64 - self.width)

    def word(self) -> int:
        if not self._pool:
            self._pool = self.words(256).tolist()
        return self._pool.pop()


class _Fork(Exception):
    """A choice beyond the end of the path, with the probability of each branch."""

    def __init__(self, branches: Sequence[Fraction]) -> None:
        self.branches = branches


class Branches(Source):
    """A source that follows a path of choices, and raises `_Fork` where the path ends.

    `layered` takes uniform integers and comparisons with a real as single choices of the right probability: the
    layer below is certified by itself.  Otherwise the only choices are words.
    """

    def __init__(self, path: Sequence[int], width: int, layered: bool) -> None:
        self.width, self._path, self._layered = width, iter(path), layered

    def _choose(self, branches: Sequence[Fraction]) -> int:
        choice = next(self._path, None)
        if choice is None:
            raise _Fork(branches)
        return choice

    def word(self) -> int:
        return self._choose([Fraction(1, 1 << self.width)] * (1 << self.width))

    def words(self, n: int) -> Words:
        return np.array([self.word() for _ in range(n)], np.uint64)

    def integer(self, n: int, spare: int = 0) -> int:
        return self._choose([Fraction(1, n)] * n) if self._layered else super().integer(n, spare)

    def below(self, real: Real, prefix: int = 0, bits: int = 0) -> bool:
        if not self._layered:
            return super().below(real, prefix, bits)
        low, high = real(bits + 256)
        p = min(max(Fraction(low + high, 1 << 257) - prefix, Fraction(0)), Fraction(1))
        return self._choose([p, 1 - p]) == 0


def enumerate_draws(
    draw: Callable[[Source], T], width: int, *, layered: bool = True, least: Fraction = Fraction(1, 1 << 80)
) -> tuple[dict[T, Fraction], Fraction]:
    """The exact mass of every outcome of `draw`, and the mass left on paths less likely than `least`."""
    masses: defaultdict[T, Fraction] = defaultdict(Fraction)
    unresolved = Fraction(0)
    open_paths: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while open_paths:
        path, mass = open_paths.pop()
        if mass < least:
            unresolved += mass
            continue
        try:
            masses[draw(Branches(path, width, layered))] += mass
        except _Fork as fork:
            open_paths += [((*path, i), mass * p) for i, p in enumerate(fork.branches) if p]
    return dict(masses), unresolved
