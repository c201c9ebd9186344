r"""A Ladder for each team: the record of a team rises only if a submission of the team is clearly better.

Definition.  T teams make k submissions in all.  The record of each team is 0 at first, and is a multiple of the rise
1/V.  A submission of sample mean m sets its team's record to m, rounded to such a multiple, if m is at least a rise
above it.  Everybody sees every record.

Utility.  Let M be the best true mean among a team's submissions so far.  Then |record - M| <= promise, for all teams at
all times at once, with probability at least 1 - beta.  On the sample a record is within 1/V of the best mean of its
team: it is some mean rounded, and every mean is less than a rise above it.  Sample means are within t = sqrt(ln(2 N /
beta) / (2 n)) of the truth (`histories.py`), where N counts the histories of answers that lead to a submission.
    A history is given by the b submissions, of the first j, that raised a record, and by the set of the b pairs of
team and new record: as a team's records only rise, and as the history so far says which team submits next, the next
new record is the least of that team's pairs that is left.  There are at most C(j, b) C(T V, b) such histories, and
over all j < k and all b these sum to C(k + T V, k - 1), which is `histories.climbing(k, T V)`.

Privacy.  None: there is no noise.  It protects conclusions, not the people in the table.

References.  Blum and Hardt, ICML 2015, for one record of the whole board.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .. import histories
from ..rules.rule import COUNTED, Counted, Statement

UNIT = 1 << 10  # steps of a value from 0 to 1
MAX_RUNGS = 1 << 12

_ABOUT = "Every team's score is within {width} of the best true score that the team has submitted"
_FINAL = "Every final score is within {width} of its true value in the population"


@dataclass(frozen=True)
class TeamLadder:
    """Records of `teams` teams in `submissions` submissions in all, on n rows; `rungs` is V."""

    n: int
    teams: int
    submissions: int
    beta: Fraction
    rungs: int

    @classmethod
    def best(cls, n: int, teams: int, submissions: int, beta: Fraction) -> TeamLadder:
        """The ladder whose rise makes the promise narrowest."""
        heights = (2**j for j in range(1, MAX_RUNGS.bit_length()))
        return min((cls(n, teams, submissions, beta, v) for v in heights), key=lambda ladder: ladder.promise.width)

    @property
    def promise(self) -> Statement:
        """How far every record is from the truth."""
        nats = histories.climbing(self.submissions, self.teams * self.rungs) - histories.log(self.beta)
        return _statement(1 / self.rungs, self.n, nats, self.beta, _ABOUT)

    def climb(self, record: int, total: int) -> int:
        """The record after a submission of this sum, in steps; in rungs, as the record before."""
        whole = self.n * UNIT
        if total * self.rungs < (record + 1) * whole:
            return record
        return (2 * total * self.rungs + whole) // (2 * whole)


def final_statement(n: int, teams: int, beta: Fraction) -> Statement:
    """The guarantee of final scores: one question for each team, all fixed before the final part was looked at."""
    return _statement(0.0, n, histories.log(teams) - histories.log(beta), beta, _FINAL)


def _statement(off: float, n: int, nats: float, beta: Fraction, about: str) -> Statement:
    """The guarantee for scores within `off` of sample means, among e^nats beta histories; values are rounded, too."""
    near = (off + 1 / (2 * UNIT)) * histories.OUTWARD
    width = (near + histories.deviation(n, nats)) * histories.OUTWARD
    return Statement(width, beta, COUNTED, about, Counted(near, n, nats))
