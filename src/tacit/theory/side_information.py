"""Side information: what differential privacy guarantees against an attacker who knows more, and what it does not.

Guarantee.  Let an attacker know anything at all, even every record but one, and believe with probability p that this
record is present (or that it has a property).  Any output of an eps-DP mechanism changes their odds by a factor of at
most e^eps either way (`posterior_bounds`).  This is Bayes' rule: odds are multiplied by the ratio of two probabilities
of the output, which the definition bounds.  No computation on the output can change this (post-processing), whatever
else the attacker knows or learns later.

No guarantee.
    For a group.  k records that the attacker knows to be alike move together: the bound is e^(k eps).
    For facts about everybody.  If a table shows that most smokers fall ill, then anyone known to smoke is believed to
    be at risk, whether or not their record is in the table (`population_posterior`).  The record of one person did not
    matter for this conclusion, and that is all that privacy guarantees.

References.  Dwork & Naor 2010, on what no mechanism can guarantee; Kasiviswanathan & Smith 2014, on odds; DR14 section
2.3.1, Dwork & Roth 2014.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from ..core.errors import BadParameter
from ..core.parameters import Number
from . import _validate as check


def posterior(prior: Number, likely: Number, unlikely: Number) -> float:
    """Bayes' rule: the belief in a hypothesis after an output that has these probabilities if it is true and if not."""
    p = check.probability(prior=prior)
    yes, no = check.share(likely=likely), check.share(unlikely=unlikely)
    if not yes and not no:
        raise BadParameter(
            "likely",
            likely,
            "above 0 if unlikely is 0",
            says="likely and unlikely are both 0, so the output never happens. One of them must be above 0.",
        )
    return p * yes / (p * yes + (1 - p) * no)


def posterior_bounds(prior: Number, epsilon: Number, size: int = 1) -> tuple[float, float]:
    """The interval of any attacker's belief after an eps-DP release, for a group of `size` records that are alike.

    The odds p / (1 - p) are multiplied by at least e^(-size eps) and at most e^(size eps).
    """
    p = check.probability(prior=prior)
    loss = check.positive(epsilon=epsilon) * check.count(size=size)
    odds = math.log(p) - math.log1p(-p)
    return _logistic(odds - loss), _logistic(odds + loss)


def population_posterior(rare: Number, common: Number, n: int, epsilon: Number) -> float:
    """The mean belief about somebody who is in no table, after a private count of n others.

    A share `rare` or `common` of all people has a property; both are held equally likely, so the prior belief about
    anyone is their mean.  The true share is `common`, and a count with discrete Laplace noise of scale 1/eps is
    released.
    """
    low, high = check.probability(rare=rare), check.probability(common=common)
    n = check.count(n=n)
    e = check.positive(epsilon=epsilon)
    if low >= high:
        raise BadParameter("rare", rare, f"below common ({common})")
    far = math.ceil(46 / e)  # a mass below 1e-20 lies beyond
    noise = np.exp(-e * np.abs(np.arange(-far, far + 1.0))) * math.tanh(e / 2)
    seldom, often = (np.convolve(binom.pmf(np.arange(n + 1), n, share), noise) for share in (low, high))
    posteriors = often / np.maximum(often + seldom, 1e-300)
    return float(often @ (low + (high - low) * posteriors) / often.sum())


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0
