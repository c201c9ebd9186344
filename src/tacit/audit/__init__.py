"""Audits: claims checked against exact laws, against samples, and against attackers.

exact       the true epsilon(delta) between two inputs, beside the claim
estimate    lower bounds on epsilon from samples of any callable
one_run     a lower bound on epsilon from a single run
package     every mechanism of this package, both ways
attacks     how many guesses of an attacker are right, against a naive system and against one that withstands
"""

from . import attacks, plots
from .bounds import one_run_epsilon
from .catalogue import Finding, package
from .estimation import Estimate, estimate
from .one_run import OneRun, one_run
from .verification import Exact, exact

__all__ = [
    "Estimate",
    "Exact",
    "Finding",
    "OneRun",
    "attacks",
    "estimate",
    "exact",
    "one_run",
    "one_run_epsilon",
    "package",
    "plots",
]
