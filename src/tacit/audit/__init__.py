"""Audits: claims checked against exact laws, against samples, and against attackers.

exact       the true epsilon(delta) between two inputs, beside the claim
estimate    lower bounds on epsilon from samples of any callable
estimate_mu lower bounds on mu, for Gaussian noise
check       a claim in, a verdict out, on the worst of several pairs of inputs (`worst_pair`, `neighbours`)
one_run     a lower bound on epsilon from a single run
package     every mechanism of this package, both ways
attacks     how many guesses of an attacker are right, against a naive system and against one that withstands
"""

from . import attacks, plots
from .bounds import one_run_epsilon
from .catalogue import Finding, package
from .claims import Verdict, check
from .estimation import Estimate, estimate
from .gaussian import GaussianEstimate, estimate_mu
from .one_run import OneRun, one_run
from .pair_search import neighbours, worst_pair
from .verification import Exact, exact

__all__ = [
    "Estimate",
    "Exact",
    "Finding",
    "GaussianEstimate",
    "OneRun",
    "Verdict",
    "attacks",
    "check",
    "estimate",
    "estimate_mu",
    "exact",
    "neighbours",
    "one_run",
    "one_run_epsilon",
    "package",
    "plots",
    "worst_pair",
]
