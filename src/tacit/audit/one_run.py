r"""An audit in a single run (Steinke, Nasr, Jagielski, NeurIPS 2023).

Each of m records is put in or left out by a fair coin of its own; the mechanism runs once; each record gets a score
from the output, and the records of highest and lowest score are guessed to be in and out.  `bounds.py` says what the
number of right guesses proves.  This audit suits mechanisms that are too slow to be run 100,000 times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import samplers
from ..core.errors import BadParameter
from ..core.exact import from_below
from ..core.parameters import Number, failure, function, whole
from ..core.randomness import SYSTEM, Source
from .bounds import one_run_epsilon, risk

Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class OneRun:
    """A lower bound on epsilon at delta, which holds with this confidence."""

    epsilon: float
    delta: float
    confidence: float
    right: int
    guesses: int
    records: int

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        return (
            f"epsilon is at least {from_below(self.epsilon, 4)}{at}, with confidence {self.confidence:.12g}:"
            f" {self.right} of {self.guesses} guesses were right, about {self.records} records"
        )


def one_run(
    run: Callable[[Bits], Any],
    scores: Callable[[Any], Any],
    records: int = 1000,
    *,
    guesses: int | None = None,
    delta: Number = 0,
    confidence: Number = "0.999",
    source: Source = SYSTEM,
) -> OneRun:
    """A lower bound on epsilon from one run.

    `run(present)` takes which records are in, and `scores(output)` gives a number for each record, higher if the record
    seems to be in.  `guesses` is by default about one record in ten; fix it before you look at any score.
    """
    m, d, alpha = whole("records", records, at_least=2), float(failure("delta", delta)), risk(confidence)
    function("run", run, "a function from the records that are present to an output")
    function("scores", scores, "a function from that output to a number for each record")
    r = whole("guesses", max(2, m // 10) if guesses is None else guesses)
    if r > m:
        raise BadParameter("guesses", guesses, f"at most the number of records, {m}")
    present = samplers.integers(2, source, m).astype(np.bool_)
    by_record = np.asarray(scores(run(present.copy())), np.float64)
    if by_record.shape != (m,):
        raise BadParameter("scores", by_record.shape, f"a number for each of {m} records")
    shuffled = samplers.permutation(m, source)  # so that records of equal score are guessed in random order
    order = shuffled[np.argsort(by_record[shuffled], kind="stable")]
    out, into = order[: r // 2], order[m - (r - r // 2) :]
    right = int(np.count_nonzero(present[into])) + int(np.count_nonzero(~present[out]))
    epsilon = one_run_epsilon(r, right, records=m, delta=delta, confidence=confidence)
    return OneRun(epsilon, d, 1 - alpha, right, r, m)
