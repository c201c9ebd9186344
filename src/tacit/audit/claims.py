"""A claim goes in, a verdict comes out: what samples say about the privacy that a program is said to have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from ..core.exact import from_below
from ..core.parameters import Number, exactly_one, failure, positive
from .estimation import Estimate, estimate
from .gaussian import GaussianEstimate, estimate_mu
from .pair_search import Pair, pairs_of, worst_pair

CONFIDENCE = "0.999999999"  # of a verdict: a true claim is called false once in 10^9 audits
_BITS = (
    "The last bits of floating-point noise gave the input away. Leave them out (last_bits=False, --no-last-bits) to see"
    " what the algorithm itself reveals."
)


@dataclass(frozen=True)
class Verdict:
    """What samples say about a claim; `holds` means that they do not refute the claim, and proves nothing."""

    claim: str
    holds: bool
    pair: Pair
    estimate: Estimate | GaussianEstimate

    def __str__(self) -> str:
        if not self.holds:
            by_bits = f" {_BITS}" if self.estimate.event.startswith(("bits", "lowest bit")) else ""
            return f"The claim {self.claim} is FALSE: {self.estimate}.{by_bits}"
        found = self.estimate
        what, proved = ("mu", found.mu) if isinstance(found, GaussianEstimate) else ("epsilon", found.epsilon)
        return (
            f"The claim {self.claim} is not refuted: {found.trials} runs on each input prove only that {what} is at"
            f" least {from_below(proved, 4)}. Another pair of inputs, or more runs, may prove more."
        )


def check(
    run: Callable[..., Any],
    pairs: Iterable[Pair],
    *,
    epsilon: Number | None = None,
    delta: Number = 0,
    mu: Number | None = None,
    samples: int = 100_000,
    confidence: Number = CONFIDENCE,
    batch: bool = False,
    last_bits: bool = True,
) -> Verdict:
    """Hold a claim, of epsilon and delta or of mu, against runs on the worst of these pairs of neighbours.

    With several pairs, as many runs again go to the search in each round.
    """
    notion, claim = exactly_one(epsilon=epsilon, mu=mu)
    claimed, allowed = positive(notion, cast(Number, claim)), failure("delta", delta)
    how: dict[str, Any] = {"batch": batch, "last_bits": last_bits}
    chosen = pairs_of(pairs)
    x, y = worst_pair(run, chosen, samples, delta=delta, **how) if len(chosen) > 1 else chosen[0]
    text = f"{notion} = {float(claimed):g}" + (f", delta = {float(allowed):g}" if allowed else "")
    found: Estimate | GaussianEstimate
    if notion == "mu":
        found = estimate_mu(run, x, y, samples, confidence=confidence, **how)
    else:
        found = estimate(run, x, y, samples, delta=delta, confidence=confidence, **how)
    return Verdict(text, not found.refutes(claimed), (x, y), found)
