"""Adaptive data analysis: a holdout set that stays valid under many questions, each chosen after the last answer.

    rule = ReusableHoldout(n=10_000, questions=1000, exceptions=20)    its guarantee is known before it sees data
    holdout = rule.open(records, train=training_records)
    holdout.ask(statistic); holdout.statement; holdout.left

`transfer` has the theorems, `planning` compares them, `monitor` simulates the proof behind them, and `experiment` shows
how an unprotected holdout set misleads.
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
