"""Adaptive data analysis: a holdout set that stays valid under many questions, each chosen after the last answer.

    rule = ReusableHoldout(n=10_000, questions=1000, exceptions=20)    its guarantee is known before it sees data
    holdout = rule.open(records, train=training_records)
    holdout.ask(statistic); holdout.statement; holdout.left

`transfer`, `posterior` and `histories` have the theorems, `ranking` compares all rules by them, `metrics` has scores
beyond accuracy, `growing` is for experiments that are looked at while they grow, `monitor` simulates the proof of a
transfer theorem, and `experiment` shows how an unprotected holdout set misleads.
"""

from typing import TYPE_CHECKING, Any

from ..core.session import Session
from . import histories, metrics, planning, posterior, ranking, transfer
from .board.leaderboard import Leaderboard
from .board.standings import Submission
from .experiment import Experiment, overfit
from .growing import Growing
from .keeper import Keeper, Memory
from .monitor import Monitor, Monitored, simulate_monitor
from .planning import max_questions, min_records
from .questions import fingerprint
from .ranking import compare
from .rules.gaussian_answers import GaussianAnswers
from .rules.guess_and_check import GuessAndCheck
from .rules.ladder import Ladder, ParameterFreeLadder
from .rules.reusable import ReusableHoldout
from .rules.rule import Rule, Spent, Statement, Unanswered
from .session import Holdout
from .sklearn.scorer import HoldoutScorer
from .sklearn.split import HoldoutSplit

if TYPE_CHECKING:
    from .sklearn.search import HoldoutSearchCV

__all__ = [
    "Experiment",
    "GaussianAnswers",
    "Growing",
    "GuessAndCheck",
    "Holdout",
    "HoldoutScorer",
    "HoldoutSearchCV",
    "HoldoutSplit",
    "Keeper",
    "Ladder",
    "Leaderboard",
    "Memory",
    "Monitor",
    "Monitored",
    "ParameterFreeLadder",
    "ReusableHoldout",
    "Rule",
    "Session",
    "Spent",
    "Statement",
    "Submission",
    "Unanswered",
    "compare",
    "fingerprint",
    "histories",
    "max_questions",
    "metrics",
    "min_records",
    "overfit",
    "planning",
    "posterior",
    "ranking",
    "simulate_monitor",
    "transfer",
]


def __getattr__(name: str) -> Any:
    """`HoldoutSearchCV` imports scikit-learn, so it is imported when it is first named."""
    if name != "HoldoutSearchCV":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .sklearn.search import HoldoutSearchCV

    return HoldoutSearchCV
