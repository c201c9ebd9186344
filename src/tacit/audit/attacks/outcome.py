r"""What an attack is, and what its success proves.

Every attack here ends in guesses at fair coins: whether a bit of a secret column is 1, whether a person is in the
table, which of two neighbours was asked.  Against an epsilon-private system each guess is right with chance at most
e^epsilon / (1 + e^epsilon), and the number of right ones is no larger than a binomial one of that chance, even if all
come from one output (Steinke, Nasr, Jagielski 2023; `bounds.py`).  So right guesses prove a lower bound on epsilon.

An attack is run twice: on a system that it breaks, and as a control on a system that is to withstand it, which is
asked the same questions at a sane budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...core.parameters import Number
from ...core.randomness import Source
from ..bounds import one_run_epsilon
from .system import System


@dataclass(frozen=True)
class Outcome:
    """How many guesses were right, and the epsilon that the system claims; infinity where it claims nothing."""

    right: int
    guesses: int
    claim: float = math.inf

    @property
    def share(self) -> float:
        """The share of right guesses; one half is chance, and is the share where no guess was made."""
        return self.right / self.guesses if self.guesses else 0.5

    @property
    def limit(self) -> float:
        """The largest share that any attacker gets on average if the claim is true."""
        return 1 / (1 + math.exp(-self.claim))

    def epsilon(self, confidence: Number = "0.999") -> float:
        """The lower bound on epsilon that the right guesses prove."""
        return one_run_epsilon(self.guesses, self.right, confidence=confidence) if self.guesses else 0.0


@dataclass(frozen=True)
class Attack:
    """An attack: on a naive system, which it breaks, and as a control on a system that is given."""

    name: str
    breaks: str
    control: str
    on_naive: Callable[[Source], Outcome]
    on_system: Callable[[System, Source], Outcome]
