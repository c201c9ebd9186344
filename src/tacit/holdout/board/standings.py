"""How the teams of a leaderboard stand: what changes with a submission, what a team sees, and ranks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors import reading

Row = dict[str, Any]


@dataclass(frozen=True)
class Submission:
    """What a team sees of a submission: the team's score after it, in the metric's unit, and whether it rose."""

    team: str
    number: int
    score: float
    improved: bool
    left: int

    def __str__(self) -> str:
        told = "raises the team's score to" if self.improved else "is not clearly better; the team's score stays"
        return f"Submission {self.number} of {self.team} {told} {self.score:.4g}. {self.left} are left."


@dataclass(frozen=True)
class Team:
    """How a team stands: its record in rungs, the submission that set it, and the digests of all submissions."""

    quota: int
    record: int = 0
    best: int = 0
    chosen: int = 0
    digests: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """What changes: teams in the order of their first submission, and the final totals once the board is closed."""

    teams: dict[str, Team]
    final: dict[str, int] | None = None

    def write(self) -> bytes:
        """As JSON."""
        teams = {name: vars(team) for name, team in self.teams.items()}
        return json.dumps({"teams": teams, "final": self.final}).encode()

    @classmethod
    def read(cls, state: bytes) -> State:
        """From JSON."""
        with reading("the state of this leaderboard"):
            facts = json.loads(state)
        teams = {name: Team(**{**team, "digests": tuple(team["digests"])}) for name, team in facts["teams"].items()}
        return cls(teams, facts["final"])


def ranked(results: Mapping[str, int], shown: Callable[[int], Row]) -> list[Row]:
    """Ranks by results, the largest first; equal results share a rank, and stand in the order of their teams."""
    ordered = sorted(results.items(), key=lambda item: -item[1])
    ranks = {result: 1 + sum(other > result for other in results.values()) for result in results.values()}
    return [{"rank": ranks[result], "team": name, **shown(result)} for name, result in ordered]
