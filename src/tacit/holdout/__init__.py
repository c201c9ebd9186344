"""Adaptive data analysis: a holdout set that many questions, each chosen after the last answer, do not wear out.

    rule = ReusableHoldout(n=10_000, questions=1000, exceptions=20)    what is promised is known before data is seen
    holdout = rule.open(records, train=training_records)
    holdout.ask(statistic); holdout.statement; holdout.left

`transfer` has the theorems, `planning` compares them, `monitor` runs the argument behind them, `experiment` the classic
demonstration of how a holdout set that is asked plainly deceives.
"""

from ..core.session import Session
from . import planning, transfer
from .experiment import Experiment, overfit
from .keeper import Keeper, Memory
from .monitor import Monitor, Monitored, simulate_monitor
from .planning import compare, max_questions, min_records
from .questions import fingerprint
from .rules.gaussian_answers import GaussianAnswers
from .rules.guess_and_check import GuessAndCheck
from .rules.ladder import Ladder, ParameterFreeLadder
from .rules.reusable import ReusableHoldout
from .rules.rule import Rule, Spent, Statement
from .scoring import OneSplit, scorer
from .session import Holdout

__all__ = [
    "Experiment",
    "GaussianAnswers",
    "GuessAndCheck",
    "Holdout",
    "Keeper",
    "Ladder",
    "Memory",
    "Monitor",
    "Monitored",
    "OneSplit",
    "ParameterFreeLadder",
    "ReusableHoldout",
    "Rule",
    "Session",
    "Spent",
    "Statement",
    "compare",
    "fingerprint",
    "max_questions",
    "min_records",
    "overfit",
    "planning",
    "scorer",
    "simulate_monitor",
    "transfer",
]
