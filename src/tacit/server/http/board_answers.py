"""The bodies of answers about leaderboards.  Rows are as `Leaderboard` gives them: rank, team, score, interval."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Rows = list[dict[str, Any]]


class BoardAnswer(Struct, frozen=True):
    """A leaderboard: its ranking, once it is closed the final one, and the team of who asks."""

    name: str
    metric: str
    statement: str
    final_statement: str
    ranking: Rows
    final: Rows | None
    team: str | None


class SubmissionsAnswer(Struct, frozen=True):
    """The submissions of one's own team."""

    team: str
    submissions: Rows


class SubmissionAnswer(Struct, frozen=True):
    """What a team sees of a submission: its score after it, whether that rose, and how many submissions are left."""

    team: str
    number: int
    score: float
    improved: bool
    left: int


class FinalAnswer(Struct, frozen=True):
    """The final ranking."""

    final: Rows
