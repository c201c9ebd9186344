"""The command `tacit tour`: mechanisms on worked examples, each with its privacy loss and its error bound."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.table import Table
from rich.text import Text

from . import mechanisms as m
from .core.accounting.loss import Loss, zero
from .core.distance import ADD_REMOVE
from .core.randomness import SYSTEM
from .core.samplers import integers
from .theory.worked_examples import posted_price


def parts() -> Iterator[Table | Text]:
    """The examples, one after the other, and their total privacy loss."""
    total = zero
    for example in (counts, eye_colour, price, election, alarms, survey, salaries):
        table, loss = example()
        total += loss
        yield table
    yield Text("\nThe total for a person who is in all of these tables, at delta = 1e-6, by every accountant:\n")
    yield Text(total.explain("1e-6"), no_wrap=True, overflow="ellipsis")


def _figures(title: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(title=title, show_header=False, title_justify="left", title_style="bold", min_width=100)
    for row in rows:
        table.add_row(*row)
    return table


def counts() -> tuple[Table, Loss]:
    """100 counting queries with a total epsilon of 0.5."""
    truth = integers(10_000, SYSTEM, 100)
    laplace = m.Laplace(epsilon="0.5", sensitivity=ADD_REMOVE.counts(100))
    released = laplace.release(truth)
    rows = [
        ("each query", f"epsilon 0.005, noise of scale {float(laplace.scale):g}"),
        ("promise", f"all 100 errors are at most {laplace.error(beta=0.05, size=100):g} with probability 95 %"),
        ("classical bound", f"{laplace.classical_error(0.05, size=100):.0f}"),
        ("largest error of this release", f"{np.abs(released - truth).max()}"),
        ("first five, true", str(truth[:5].tolist())),
        ("first five, released", str(released[:5].tolist())),
    ]
    return _figures("100 counting queries, total epsilon 0.5", rows), laplace.loss()


def eye_colour() -> tuple[Table, Loss]:
    """The most common eye colour, by the exponential mechanism and by permute-and-flip."""
    colours, scores = ("brown", "blue", "green"), [10, 7, 3]
    flip = m.PermuteAndFlip(epsilon=1, monotone=True)
    softmax = m.Exponential(epsilon=1, monotone=True)
    table = Table("colour", "people", "exponential", "permute-and-flip", title="Most common eye colour, epsilon 1")
    table.title_justify, table.title_style = "left", "bold"
    for i, colour in enumerate(colours):
        chances = (f"{mechanism.law(scores).mass(i):.4f}" for mechanism in (softmax, flip))
        table.add_row(colour, str(scores[i]), *chances)
    table.add_row("released", "", "", colours[flip.release(scores)])
    return table, flip.loss()


def price() -> tuple[Table, Loss]:
    """A posted price, and why noise on the price itself fails."""
    valuations, prices = [1.0, 2.0, 2.5, 3.0, 4.0] * 10, [0.5 * i for i in range(1, 9)]
    sale, mechanism = posted_price(valuations, prices, 1.0), m.PostedPrice(prices=prices, epsilon=1)
    law = mechanism.law(valuations)
    expected = sum(law.mass(p) * p * sum(v >= p for v in valuations) for p in prices)
    rows = [
        ("best price and revenue", f"{sale.best_price:g}, {sale.best_revenue:g}"),
        ("exponential mechanism", f"expected revenue {expected:.1f}"),
        ("Laplace noise on the price", f"expected revenue {sale.noisy_price_revenue:.1f}"),
        ("promise", f"within {mechanism.error():.1f} of the best revenue with probability 95 %"),
        ("released price", f"{mechanism.release(valuations):g}"),
    ]
    return _figures("A posted price from 50 buyers' valuations, epsilon 1", rows), mechanism.loss()


def election() -> tuple[Table, Loss]:
    """Approval votes: a histogram of all candidates, or only the winner."""
    votes = np.array([300, 280, 50, 90, 120])
    histogram = m.Laplace(epsilon="0.5", sensitivity=ADD_REMOVE.counts(5))
    winner = m.PermuteAndFlip(epsilon="0.5", monotone=True, candidates=5)
    rows = [
        ("votes", str(votes.tolist())),
        ("histogram: each voter moves 5 counts", f"noise of scale {float(histogram.scale):g}"),
        ("histogram, released", str(histogram.release(votes).tolist())),
        ("winner only", f"at most {winner.error(beta=0.05):.1f} votes short of the most, with probability 95 %"),
        ("winner, released", f"candidate {winner.release(votes)}"),
    ]
    return _figures("Approval voting, epsilon 0.5 for each", rows), histogram.loss() + winner.loss()


def alarms() -> tuple[Table, Loss]:
    """A thousand queries of which few are above the threshold: only those few cost privacy."""
    stream = integers(400, SYSTEM, 1000)
    stream[[200, 500, 900]] = 3000
    sparse = m.Sparse(threshold=1500, epsilon=1, count=3, queries=1000)
    rows = [
        ("stream", "1000 values; those at 200, 500 and 900 are 3000, the others below 400"),
        ("promise", f"right for all that are over {sparse.error(beta=0.05):.0f} away from 1500, with probability 95 %"),
        ("reported above 1500", str(sparse.release(stream))),
        ("1000 Laplace answers instead", f"error {m.Laplace(scale=1000).error(beta=0.05, size=1000):g}"),
    ]
    return _figures("Sparse vector: three alarms in a thousand queries, epsilon 1", rows), sparse.loss()


def survey() -> tuple[Table, Loss]:
    """Randomized response: nobody but the respondent ever sees the true answer."""
    answers = integers(10, SYSTEM, 100_000) < 3
    response = m.RandomizedResponse(epsilon=1)
    reports = response.release(answers)
    low, high = (float(bound[1]) for bound in response.interval(reports))
    rows = [
        ("truth", f"{answers.mean():.4f} of 100,000 people say yes"),
        ("reports that say yes", f"{np.mean(reports):.4f}"),
        ("estimate", f"between {low:.4f} and {high:.4f} with probability 95 %"),
        ("people needed for 0.01", f"{response.sample_size('0.01'):,}"),
    ]
    return _figures("Randomized response, epsilon 1 for each person", rows), response.loss()


def salaries() -> tuple[Table, Loss]:
    """Quartiles over a public grid of salaries."""
    histogram = np.bincount(integers(60, SYSTEM, 5000) + integers(60, SYSTEM, 5000), minlength=200)
    quantiles = m.Quantiles(epsilon=1, cells=200)
    cumulative = np.cumsum(histogram)  # records in each cell and below
    rows = [
        ("true quartiles", str([int(cumulative.searchsorted(q * 5000)) for q in (0.25, 0.5, 0.75)])),
        ("released cells", str(list(quantiles.release(histogram)))),
        ("promise", f"at most {quantiles.error():.0f} records away from their ranks, with probability 95 %"),
    ]
    return _figures("Quartiles of 5000 salaries over 200 public cells, epsilon 1", rows), quantiles.loss()
