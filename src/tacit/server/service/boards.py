"""Leaderboards of the service, in one ledger that the configuration names.

A person submits for their team.  A board whose teams are named does not exist for whoever is in none of them; owners
see every board, but submit for no team that they are not in.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ...core.errors import BadParameter, Refused
from ...holdout.board.leaderboard import Leaderboard, solution_key
from ...ledger import Ledger
from ..config import Settings
from ..errors import NotFound

if TYPE_CHECKING:
    from .service import Access, Service


class Boards:
    """The boards of a process by their names; each is read from the ledger once, as its terms never change."""

    def __init__(self, settings: Settings) -> None:
        self._place, self._lock = settings.service.boards, threading.Lock()
        self._ledger: Ledger | None = None
        self._open: dict[str, Leaderboard] = {}

    def of(self, name: str) -> Leaderboard | None:
        """The board of this name, or None; a name that is not known leaves no trace in the ledger."""
        if (known := self._open.get(name)) is not None or self._place is None:
            return known
        with self._lock:
            if self._ledger is None:
                self._ledger = Ledger.open(self._place)
            try:
                if self._ledger.find(solution_key(name)) is None:
                    return None
                return self._open.setdefault(name, Leaderboard(self._ledger, name))
            except (BadParameter, Refused):  # no name of a board, or one that was never opened
                return None

    def close(self) -> None:
        """Let go of the ledger."""
        if self._ledger is not None:
            self._ledger.close()


def board_of(service: Service, access: Access, name: str) -> Leaderboard:
    """The board of this name, if it exists for who asks."""
    board = service.boards.of(name)
    if board is None or not (access.owner or board.team_of(access.name)):
        raise NotFound("leaderboard")
    return board


def team_of(access: Access, board: Leaderboard) -> str:
    """The team of who asks; an owner may be in none."""
    team = board.team_of(access.name)
    if team is None:
        raise NotFound("team")
    return team
