r"""How many updates private multiplicative weights may make, and above which gap: three ways to choose.

proven      the c for which the promise of `pmw.py`, T + a for all k questions, is the narrowest
practical   any c, and T at twice the scale of the noise of a comparison: what is promised holds while updates last
classical   the constants of the textbook, refused where they promise nothing

The textbook's constants.  With c = 4 ln|X| / alpha^2 updates over k questions, NumericSparse on 2 k comparisons errs by
at most

    pure     9 c (ln 2k + ln(4 c / beta)) / (epsilon n)
    approx   (1 + 16 sqrt 2) sqrt(c ln(2 / delta)) (ln 2k + ln(4 c / beta)) / (epsilon n)

The threshold is twice that.  Where it is at most 2 alpha, each update is of a gap of alpha at least, there are no more
than c, and every answer is within 3 alpha.  So alpha solves alpha = error(c(alpha)): the left side grows and the right
side falls.

References.  Dwork and Roth (2014), algorithm 6, theorems 3.28 and 4.11 to 4.15, where 36 stands printed as 32 and, for
delta > 0, the power of alpha in c was lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ....core.errors import BadParameter, BadQuestion
from ....core.parameters import Number, instance, probability, whole
from ....core.search import least_positive
from ...models.multiplicative_weights import least_gap
from ...price import Price
from ...queries.domain import Domain
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
    """The mechanism with the number of updates for which its error bound for all questions is the smallest.

    `rounds` means that the questions are asked again after each update, (c + 1) times in all.
    """

    def with_updates(c: int) -> PrivateMultiplicativeWeights:
        asked = whole("questions", questions) * (c + 1 if rounds else 1)
        draft = PrivateMultiplicativeWeights(
            domain, n, price, updates=c, threshold=0, questions=asked, beta=beta, grid=grid
        )
        (a, w), unit = draft.noise_bounds, draft.grid / draft.n
        gap = max(math.ceil(n * least_gap(domain.size, c) / float(draft.grid) + 0.5), w + 1)  # of a rounded guess
        return replace(draft, threshold=(a + gap) * unit, least=(gap - Fraction(1, 2)) * unit, margin=w * unit)

    def narrowest(best: PrivateMultiplicativeWeights, counts: Iterable[int]) -> PrivateMultiplicativeWeights:
        for c in counts:
            try:
                best = min(best, with_updates(c), key=lambda m: m.error())
            except BadParameter:  # noise grows with c, until it cannot be drawn
                break
        return best

    rough = narrowest(with_updates(1), (1 << i for i in range(2, 25, 2)))
    return narrowest(rough, [max(1, round(rough.updates * 2**j)) for j in (-1, -0.5, 0.5, 1)])


def practical(
    domain: Domain, n: int, price: Price, *, updates: int = 400, questions: int = 10_000, grid: Number = 1
) -> PrivateMultiplicativeWeights:
    """The mechanism with so many updates, and a threshold of twice the scale of the noise of a comparison."""
    draft = PrivateMultiplicativeWeights(domain, n, price, updates=updates, threshold=0, questions=questions, grid=grid)
    return replace(draft, threshold=2 * draft.comparisons.scales[1] * draft.grid / draft.n)


def classical(
    domain: Domain, n: int, price: Price, *, questions: int = 10_000, beta: Number = "0.05", grid: Number = 1
) -> PrivateMultiplicativeWeights:
    """The mechanism with the constants of the textbook; BadQuestion where they promise nothing."""
    size, asked = instance("domain", domain, Domain).size, whole("questions", questions)
    instance("price", price, Price)
    if price.epsilon is None:
        raise BadParameter("price", str(price), "pure epsilon, which the classical constants are for")
    e, b = float(price.epsilon / moves(price)), float(probability("beta", beta))

    def alpha(records: int) -> float:
        return consistent_alpha(size, asked, epsilon=e, n=records, beta=b)

    need = whole("n", n)
    while (least := alpha(need)) >= 1 / 3:
        need *= 2
    if need > n:
        raise BadQuestion(
            f"The classical constants bound errors by {3 * alpha(n):.2g} n, which promises nothing. They need about"
            f" {need} records; `proven` and `practical` need fewer."
        )
    return PrivateMultiplicativeWeights(
        domain,
        n,
        price,
        updates=math.ceil(classical_updates(size, least)),
        threshold=Fraction(2 * least),
        least=Fraction(least),
        questions=asked,
        beta=b,
        grid=grid,
    )


def classical_updates(cells: int, alpha: float) -> float:
    """c = 4 ln|X| / alpha^2."""
    return 4 * math.log(cells) / alpha**2


def classical_threshold(
    cells: int, questions: int, alpha: float, *, epsilon: float, n: int, beta: float, delta: float = 0.0
) -> float:
    """T, twice the error of NumericSparse, as a share of n."""
    c = classical_updates(cells, alpha)
    logs = math.log(2 * questions) + math.log(4 * c) - math.log(beta)
    if delta:
        return (2 + 32 * math.sqrt(2)) * math.sqrt(c * math.log(2 / delta)) * logs / (epsilon * n)
    return 18 * c * logs / (epsilon * n)


def consistent_alpha(cells: int, questions: int, *, epsilon: float, n: int, beta: float, delta: float = 0.0) -> float:
    """The least alpha whose threshold is at most 2 alpha."""

    def good(alpha: float) -> bool:
        return classical_threshold(cells, questions, alpha, epsilon=epsilon, n=n, beta=beta, delta=delta) <= 2 * alpha

    return least_positive(good, floor=2.0**-40, precision=2.0**-45)
