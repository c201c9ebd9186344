"""What the scripts that run another's method on marginals share: the file they read, and how they are judged.

NumPy alone, for their interpreters need not have tacit.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Answer = Callable[[tuple[int, ...]], np.ndarray]  # the counts of a marginal, by the numbers of its attributes


def read(path: str) -> tuple[np.ndarray, tuple[int, ...], float, float]:
    """Codes, a row for each record; the number of values of each attribute; epsilon; delta."""
    with np.load(path) as kept:
        return kept["codes"], tuple(map(int, kept["sizes"])), float(kept["epsilon"]), float(kept["delta"])


def counted(codes: np.ndarray, sizes: tuple[int, ...], attributes: tuple[int, ...]) -> np.ndarray:
    """A marginal of records."""
    shape = tuple(sizes[a] for a in attributes)
    cells = np.ravel_multi_index(tuple(codes[:, a] for a in attributes), shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def errors(
    codes: np.ndarray, sizes: tuple[int, ...], answer: Answer, ways: tuple[int, ...] = (1, 2, 3)
) -> Iterator[float]:
    """The mean over all marginals of so many attributes of the sum of |error|, over the number of records."""
    for k in ways:
        each = itertools.combinations(range(len(sizes)), k)
        yield float(np.mean([np.abs(answer(m) - counted(codes, sizes, m)).sum() for m in each]) / len(codes))


def tell(name: str, path: str, release: Callable[[], Answer]) -> None:
    """Runs a release and prints its CPU seconds, its errors and the largest memory so far, in MB."""
    codes, sizes, *_ = read(path)
    start = time.process_time()
    answer = release()
    found: dict[str, Any] = {"name": name, "seconds": time.process_time() - start}
    found["memory"] = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps(found | {"errors": list(errors(codes, sizes, answer))}), flush=True)
