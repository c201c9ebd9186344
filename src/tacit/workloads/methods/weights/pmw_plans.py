r"""How many updates private multiplicative weights may make, and above which gap: three ways to choose.

proven      the c for which the promise of `pmw.py`, T + a for all k questions, is the narrowest
practical   any c, and T at twice the scale of the noise of a comparison: what is promised holds while updates last
classical   the constants of the textbook (`_pmw_constants.py`), refused where they promise nothing
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ....core.errors import BadParameter, BadQuestion
from ....core.parameters import Number, instance, probability, whole
from ...models.multiplicative_weights import least_gap
from ...price import Price
from ...queries.domain import Domain
from ._pmw_constants import classical_updates, consistent_alpha
from .pmw import PrivateMultiplicativeWeights, moves


def proven(
    domain: Domain,
    n: int,
    price: Price,
    *,
    questions: int = 10_000,
    beta: Number = "0.05",
    grid: Number = 1,
    rounds: bool = False,
) -> PrivateMultiplicativeWeights:
    """With the number of updates for which the promise for all questions is the narrowest.

    `rounds` means that they are asked again after each update, (c + 1) times in all.
    """

    def with_updates(c: int) -> PrivateMultiplicativeWeights:
        asked = whole("questions", questions) * (c + 1 if rounds else 1)
        draft = PrivateMultiplicativeWeights(
            domain, n, price, updates=c, threshold=0, questions=asked, beta=beta, grid=grid
        )
        (a, w), unit = draft.reach, draft.grid / draft.n
        gap = max(math.ceil(n * least_gap(domain.size, c) / float(draft.grid) + 0.5), w + 1)  # of a rounded guess
        return replace(draft, threshold=(a + gap) * unit, least=(gap - Fraction(1, 2)) * unit, margin=w * unit)

    def narrowest(found: PrivateMultiplicativeWeights, counts: Iterable[int]) -> PrivateMultiplicativeWeights:
        for c in counts:
            try:
                found = min(found, with_updates(c), key=lambda m: m.error())
            except BadParameter:  # noise grows with c, until it cannot be drawn
                break
        return found

    found = narrowest(with_updates(1), (1 << i for i in range(2, 25, 2)))
    return narrowest(found, [max(1, round(found.updates * 2**j)) for j in (-1, -0.5, 0.5, 1)])


def practical(
    domain: Domain, n: int, price: Price, *, updates: int = 400, questions: int = 10_000, grid: Number = 1
) -> PrivateMultiplicativeWeights:
    """With so many updates, and a threshold of twice the scale of the noise of a comparison."""
    draft = PrivateMultiplicativeWeights(domain, n, price, updates=updates, threshold=0, questions=questions, grid=grid)
    return replace(draft, threshold=2 * draft.comparisons.scales[1] * draft.grid / draft.n)


def classical(
    domain: Domain, n: int, price: Price, *, questions: int = 10_000, beta: Number = "0.05", grid: Number = 1
) -> PrivateMultiplicativeWeights:
    """With the constants of the textbook; refused where they promise nothing."""
    size, asked = instance("domain", domain, Domain).size, whole("questions", questions)
    instance("price", price, Price)
    if price.epsilon is None:
        raise BadParameter("price", str(price), "pure epsilon, which the classical constants are for")
    e, b = float(price.epsilon / moves(price)), float(probability("beta", beta))

    def alpha(records: int) -> float:
        return consistent_alpha(size, asked, epsilon=e, n=records, beta=b)

    need = whole("n", n)
    while (found := alpha(need)) >= 1 / 3:
        need *= 2
    if need > n:
        raise BadQuestion(
            f"the classical constants promise answers within {3 * alpha(n):.2g} n, which is no promise; they need"
            f" about {need} records; `proven` and `practical` do with fewer"
        )
    return PrivateMultiplicativeWeights(
        domain,
        n,
        price,
        updates=math.ceil(classical_updates(size, found)),
        threshold=Fraction(2 * found),
        least=Fraction(found),
        questions=asked,
        beta=b,
        grid=grid,
    )
