"""Leaderboards."""

from __future__ import annotations

from ...service.boards import board_of, team_of
from ..answers import Done
from ..board_answers import BoardAnswer, FinalAnswer, SubmissionAnswer, SubmissionsAnswer
from ..bodies import Choice, Predictions
from ..call import Answer, Call


def show(call: Call) -> Answer:
    """A leaderboard."""
    board = board_of(call.service, call.access, call.path["board"])
    final = board.final_ranking() if board.closed else None
    facts = (board.name, board.metric.name, str(board.statement), str(board.final_statement))
    return Answer(BoardAnswer(*facts, board.ranking(), final, board.team_of(call.access.name)))


def submissions(call: Call) -> Answer:
    """The submissions of one's own team."""
    board = board_of(call.service, call.access, call.path["board"])
    team = team_of(call.access, board)
    return Answer(SubmissionsAnswer(team, board.scores(team)))


def submit(call: Call) -> Answer:
    """Submit predictions for one's own team."""
    board, body = board_of(call.service, call.access, call.path["board"]), call.body
    assert isinstance(body, Predictions)
    return Answer(SubmissionAnswer(**vars(board.submit(team_of(call.access, board), body.predictions))))


def choose(call: Call) -> Answer:
    """Choose the submission that is judged in the end."""
    board, body = board_of(call.service, call.access, call.path["board"]), call.body
    assert isinstance(body, Choice)
    board.choose(team_of(call.access, board), body.number)
    return Answer(Done())


def close(call: Call) -> Answer:
    """Close a leaderboard."""
    return Answer(FinalAnswer(board_of(call.service, call.access, call.path["board"]).close()))
