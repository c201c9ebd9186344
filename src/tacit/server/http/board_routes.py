"""The routes of leaderboards."""

from __future__ import annotations

from ..access import Action
from . import answers, bodies
from . import board_answers as board
from .handlers import boards
from .routes import Route

_BOARD = "/v1/boards/{board}"
BOARDS = (
    Route(
        "GET",
        _BOARD,
        Action.BOARD,
        boards.show,
        "A leaderboard: its ranking, and once it is closed the final one",
        answers={200: board.BoardAnswer},
    ),
    Route(
        "GET",
        f"{_BOARD}/submissions",
        Action.BOARD,
        boards.submissions,
        "The submissions of one's own team",
        answers={200: board.SubmissionsAnswer},
    ),
    Route(
        "POST",
        f"{_BOARD}/submissions",
        Action.BOARD,
        boards.submit,
        "Submit predictions for one's own team; the same predictions again are free",
        bodies.Predictions,
        {200: board.SubmissionAnswer},
    ),
    Route(
        "PUT",
        f"{_BOARD}/choice",
        Action.BOARD,
        boards.choose,
        "Choose the submission of one's own team that is judged in the end",
        bodies.Choice,
        {200: answers.Done},
    ),
    Route(
        "POST",
        f"{_BOARD}/close",
        Action.CLOSE_BOARD,
        boards.close,
        "Close a leaderboard: look at the final part, once",
        answers={200: board.FinalAnswer},
    ),
)
