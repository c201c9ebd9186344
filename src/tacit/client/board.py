"""A leaderboard behind a service, with the methods of one in this process; who asks acts for their own team alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ..core.errors import Refused
from ..core.parameters import instance
from ..holdout.board.standings import Row, Submission
from .connection import Connection


class RemoteBoard:
    """A leaderboard behind a service."""

    def __init__(self, connection: Connection, name: str = "board") -> None:
        self._connection, self.name = connection, instance("name", name, str)
        facts = self._ask("GET")
        self.metric, self.team = str(facts["metric"]), facts["team"]
        self.statement, self.final_statement = str(facts["statement"]), str(facts["final_statement"])

    def _ask(self, method: str, place: str = "", body: Mapping[str, Any] | None = None) -> Any:
        """What the service answers; whatever is asked here may be sent again, and counts once."""
        return self._connection.request(method, f"/v1/boards/{quote(self.name, safe='')}{place}", body).json()

    def _own(self, team: str) -> None:
        if team != self.team:
            raise Refused(f"You are of team {self.team!r} here, not {team!r}." if self.team else "You are of no team.")

    @property
    def closed(self) -> bool:
        """Whether the final part was looked at."""
        return self._ask("GET")["final"] is not None

    def submit(self, team: str, predictions: Mapping[Any, object]) -> Submission:
        """Score predictions by id.  The same predictions again are the same submission, and free."""
        self._own(team)
        written = {str(key): str(value) for key, value in predictions.items()}
        return Submission(**self._ask("POST", "/submissions", {"predictions": written}))

    def choose(self, team: str, number: int) -> None:
        """Have this submission judged in the end, instead of the one that set the team's score."""
        self._own(team)
        self._ask("PUT", "/choice", {"number": number})

    def scores(self, team: str) -> list[Row]:
        """What the team may know of its own submissions."""
        self._own(team)
        return list(self._ask("GET", "/submissions")["submissions"])

    def ranking(self) -> list[Row]:
        """All teams that submitted, the best first."""
        return list(self._ask("GET")["ranking"])

    def final_ranking(self) -> list[Row]:
        """The ranking by the final part, of a board that is closed."""
        final = self._ask("GET")["final"]
        if final is None:
            raise Refused("This leaderboard is not closed yet.")
        return list(final)

    def close(self) -> list[Row]:
        """Look at the final part, once, and rank the teams by it; only an owner may."""
        return list(self._ask("POST", "/close")["final"])

    def __repr__(self) -> str:
        return f"RemoteBoard {self.name!r}, by {self.metric}.  {self.statement}"
