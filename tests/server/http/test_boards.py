"""A leaderboard through the service: a person acts for their team, and sees what the team may see."""

import json
from contextlib import ExitStack

import pytest
from typer.testing import CliRunner

from tacit.cli import app
from tacit.client import Connection, Remote
from tacit.client.errors import Forbidden, NotFound
from tacit.core.errors import BadParameter, Refused
from tacit.holdout import Leaderboard
from tacit.ledger import Ledger

from .conftest import CANARY

ROWS = {str(i): str(i % 2) for i in range(600)}
FINAL = {key: i % 4 > 1 for i, key in enumerate(ROWS)}


def guessed(share):
    return {key: label if i % 100 < 100 * share else "2" for i, (key, label) in enumerate(ROWS.items())}


@pytest.fixture(scope="module")
def place(world):
    """A board of two teams, for each test of its own."""
    made = iter(range(1000))

    def opened(**terms):
        name = f"board {next(made)}"
        rows = {f"{name} {key}": label for key, label in ROWS.items()}
        final = {f"{name} {key}": part for key, part in FINAL.items()}
        teams = {"teams": {"red": 3, "blue": 2}, "members": {"ana": "red", "carl": "red", "bob": "blue"}}
        with Ledger.open(world.server.settings.service.boards) as ledger:
            Leaderboard.open(ledger, rows, final, name=name, **(terms or teams))
        return name

    return opened


@pytest.fixture
def seen(world):
    """A board as somebody reaches it."""
    with ExitStack() as opened:

        def board(who, name):
            connection = Connection(world.server.url, world.tokens[who], timeout=60, authority=None, plain=False)
            opened.callback(connection.close)
            return Remote(connection).board(name)

        yield board


def rows(name, share):
    return {f"{name} {key}": value for key, value in guessed(share).items()}


def test_teams_submit_see_and_are_ranked(place, seen):
    name = place()
    ana, carl, bob = (seen(who, name) for who in ("ana", "carl", "bob"))
    assert (ana.team, carl.team, bob.team) == ("red", "red", "blue") and "0." in ana.statement
    first = ana.submit("red", rows(name, 0.6))
    assert carl.submit("red", rows(name, 0.6)) == first and first.left == 2  # one team, one submission
    assert carl.submit("red", rows(name, 0.9)).improved and bob.submit("blue", rows(name, 0.7)).number == 1
    assert [row["improved"] for row in ana.scores("red")] == [True, True] and len(bob.scores("blue")) == 1
    assert [(row["rank"], row["team"]) for row in bob.ranking()] == [(1, "red"), (2, "blue")]
    ana.choose("red", 1)
    with pytest.raises(Refused, match="not closed"):
        bob.final_ranking()
    with pytest.raises(Forbidden):
        ana.close()
    final = seen("owner", name).close()
    assert [(row["team"], row["score"]) for row in final] == [("blue", 0.68), ("red", 0.6)]
    assert bob.closed and bob.final_ranking() == final == seen("owner", name).close()
    with pytest.raises(Refused, match="closed"):
        bob.submit("blue", rows(name, 0.8))


def test_nobody_acts_for_another_team(world, place, seen):
    name = place()
    with pytest.raises(Refused, match="not 'red'"):
        seen("bob", name).submit("red", rows(name, 0.6))
    owner = seen("owner", name)
    with pytest.raises(Refused, match="of no team"):
        owner.submit("red", rows(name, 0.6))
    for method, rest, body in (("GET", "", None), ("POST", "", {"predictions": rows(name, 0.6)})):
        reply = world.ask(method, f"/v1/boards/{name.replace(' ', '%20')}/submissions{rest}", "owner", body)
        assert (reply.status, reply.code) == (404, "not_found")
    for who, other in (("bob", "board"), ("ana", "nothing"), ("owner", "nothing"), ("ana", "\x07" * 300)):
        with pytest.raises(NotFound, match="no such leaderboard"):
            seen(who, other)


def test_a_name_that_is_not_known_leaves_no_trace(world):
    with Ledger.open(world.server.settings.service.boards) as ledger:
        before = ledger.head
        for i in range(3):
            assert world.ask("GET", f"/v1/boards/unknown{i}", "owner").status == 404
        assert ledger.head == before


def test_whoever_comes_is_a_team_of_an_open_board(place, seen):
    name = place(teams=2, quota=1)
    assert seen("bob", name).submit("bob", rows(name, 0.6)).left == 0
    seen("ana", name).submit("ana", rows(name, 0.6))
    with pytest.raises(Refused, match="all of its 1 submissions"):
        seen("bob", name).submit("bob", rows(name, 0.7))
    with pytest.raises(Refused, match="one more than its 2 teams"):
        seen("carl", name).submit("carl", rows(name, 0.6))


def test_what_is_wrong_with_a_submission_is_told_without_labels(world, place, seen):
    name = place()
    board = seen("ana", name)
    for wrong, says in (({}, "Ids without a prediction"), ({"zqother": 1, **rows(name, 1)}, "does not have")):
        with pytest.raises(BadParameter, match=says) as error:
            board.submit("red", wrong)
        assert "zqother" not in str(error.value)
    reply = world.ask("POST", "/v1/boards/board/submissions", "ana", {"predictions": {"row 1": [1]}})
    assert (reply.status, reply.code) == (400, "bad_request") and CANARY not in reply.content.decode()
    assert board.scores("red") == []


def test_the_command_line(world, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, run = place(), CliRunner()
    (tmp_path / "mine.csv").write_text("id,prediction\n" + "".join(f"{k},{v}\n" for k, v in rows(name, 0.6).items()))
    (tmp_path / "token").write_text(world.tokens["bob"])

    def said(*words, who=None, code=0):
        address = ["--url", world.server.url]
        token = {"TACIT_TOKEN": world.tokens[who]} if who else {"TACIT_TOKEN": ""}
        done = run.invoke(app, ["board", *words, *address], env=token)
        assert done.exit_code == code, done.output
        return done.output

    assert "raises the team's score to 0.59" in said("submit", name, "blue", "mine.csv", "--token-file", "token")
    assert "raises" in said("submit", name, "blue", "mine.csv", who="bob")
    assert "will be judged" in said("choose", name, "blue", "1", who="bob")
    assert json.loads(said("show", name, "--json", who="bob"))["rows"][0]["team"] == "blue"
    assert "blue" in said("show", name, who="ana") and "0.59" in said("show", name, "--team", "blue", who="bob")
    assert "Only an owner" in said("close", name, who="bob", code=3)
    assert "Final ranking" in said("close", name, who="owner")
    assert "asks for a token" in said("show", name, code=2)
