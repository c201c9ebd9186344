"""The leaderboard: teams, quotas, files, metrics, a final part that is used once, and attacks on it."""

import itertools
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

from tacit import Budget, Refused
from tacit.cli import app
from tacit.core.errors import BadData, BadParameter
from tacit.holdout import Leaderboard, Memory, Submission, histories, metrics
from tacit.holdout.board import attack
from tacit.holdout.board.files import read_predictions, read_solution
from tacit.holdout.board.ladder import UNIT, TeamLadder, final_statement
from tacit.holdout.board.metrics import NAMES, Metric, canonical
from tacit.ledger import Ledger
from tacit.testing.sources import Seeded

N = 4000
RNG = np.random.default_rng(5)
LABELS = {str(i): int(label) for i, label in enumerate(RNG.integers(0, 2, N))}
FINAL = {key: i % 2 == 1 for i, key in enumerate(LABELS)}


def right(share, seed=1):
    """Predictions of which about this share is right."""
    wrong = np.random.default_rng(seed).random(N) >= share
    return {key: label ^ bool(flip) for (key, label), flip in zip(LABELS.items(), wrong, strict=True)}


def opened(keeper=None, **terms):
    return Leaderboard.open(keeper or Memory(), LABELS, FINAL, **{"teams": 5, "quota": 4, **terms})


def accuracy(predictions, final):
    return float(np.mean([predictions[key] == LABELS[key] for key in LABELS if FINAL[key] is final]))


def test_submissions_scores_and_ranks():
    board = opened()
    first = board.submit("ada", right(0.7))
    assert isinstance(first, Submission) and first.improved and first.left == 3
    assert abs(first.score - accuracy(right(0.7), False)) <= 0.5 / board.ladder.rungs
    better, worse = board.submit("ada", right(0.9)), board.submit("ada", right(0.8, seed=2))
    assert better.improved and better.score > first.score
    assert not worse.improved and worse.score == better.score and "not clearly better" in str(worse)
    board.submit("bob", right(0.9))
    rows = board.ranking()
    assert [(row["rank"], row["team"], row["submissions"], row["of"]) for row in rows] == [
        (1, "ada", 3, 4),
        (1, "bob", 1, 4),
    ]
    assert rows[0]["truth from"] < 0.9 < rows[0]["to"] < rows[0]["score"] + board.statement.width + 1e-9
    assert [row["improved"] for row in board.scores("ada")] == [True, True, False] and board.scores("eve") == []


def test_the_same_submission_is_free():
    board = opened()
    first = board.submit("ada", right(0.7))
    assert board.submit("ada", right(0.7)) == first
    assert board.submit("ada", {int(k): float(v) for k, v in right(0.7).items()}) == first
    assert board.ranking()[0]["submissions"] == 1


def test_quotas_and_teams_are_kept():
    board = opened(teams={"ada": 1, "bob": 2})
    board.submit("ada", right(0.7))
    with pytest.raises(Refused, match="all of its 1 submissions"):
        board.submit("ada", right(0.8))
    with pytest.raises(Refused, match="'eve' is no team"):
        board.submit("eve", right(0.8))
    assert board.ladder.submissions == 3 and board.ladder.teams == 2
    few = opened(teams=2)
    for team in ("ada", "bob"):
        few.submit(team, right(0.7))
    with pytest.raises(Refused, match="one more than its 2 teams"):
        few.submit("eve", right(0.7))
    for teams in (0, "ada", [], ["", "bob"], {"ada": 0}):
        with pytest.raises(BadParameter):
            opened(teams=teams)


def test_the_final_part_is_used_once_and_ends_the_board():
    board = opened()
    for team, share in (("ada", 0.7), ("bob", 0.8), ("eve", 0.6)):
        board.submit(team, right(share))
    board.submit("ada", right(0.9))
    board.submit("bob", right(0.5, seed=3))
    board.choose("bob", 2)
    with pytest.raises(BadParameter, match="one of the 2"):
        board.choose("bob", 3)
    with pytest.raises(Refused, match="not closed"):
        board.final_ranking()
    final = board.close()
    assert [row["team"] for row in final] == ["ada", "eve", "bob"] and board.closed
    assert [row["score"] for row in final] == [accuracy(p, True) for p in (right(0.9), right(0.6), right(0.5, seed=3))]
    assert board.close() == board.final_ranking() == final
    for late in (lambda: board.submit("ada", right(0.95)), lambda: board.choose("ada", 1)):
        with pytest.raises(Refused, match="closed"):
            late()
    assert board.final_statement.width < 0.05


def test_a_ledger_keeps_the_board(tmp_path):
    with Ledger.open(tmp_path / "ledger", Budget(epsilon=1)) as ledger:
        with pytest.raises(Refused, match="no leaderboard"):
            Leaderboard(ledger)
        opened(ledger).submit("ada", right(0.7))
        assert opened(ledger).ranking()[0]["submissions"] == 1  # the same terms again are the same board
        with pytest.raises(Refused, match="already, with another"):
            opened(ledger, quota=5)
        with pytest.raises(Refused, match="another session"):
            opened(ledger, name="a second look")
    with Ledger.open(tmp_path / "ledger") as ledger:
        board = Leaderboard(ledger)
        board.submit("ada", right(0.8))
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda team: Leaderboard(ledger).submit(team, right(0.6)), ["bob", "eve", "dan", "bob"]))
        assert {row["team"]: row["submissions"] for row in board.ranking()} == {"ada": 2, "bob": 1, "eve": 1, "dan": 1}
        ledger.verify()
    assert b'"labels"' not in (tmp_path / "ledger").read_bytes()  # sealed


def test_the_final_part_is_a_function_of_what_is_kept(tmp_path):
    parts = []
    for place in ("one", "one", "two"):
        with Ledger.open(tmp_path / place, Budget(epsilon=1)) as ledger:
            board = Leaderboard.open(ledger, LABELS, "0.25", teams=2, quota=3)
            parts.append(board._facts["final"])
    assert parts[0] == parts[1] != parts[2] and sum(parts[0]) == N // 4


def test_what_is_wrong_with_predictions_is_said_and_costs_nothing():
    board = opened()
    good = right(0.7)
    for wrong, said in [
        ({**good, "x9": 1}, r"does not have: 'x9' \(1 in all\)"),
        ({key: good[key] for key in list(good)[5:]}, r"'2', \.\.\. \(5 in all\)"),
        ({**good, "7": ""}, "no prediction for id '7'"),
        ({**good, "7": math.nan}, "no prediction for id '7'"),
        ([1, 2], "a mapping from ids"),
    ]:
        with pytest.raises(BadParameter, match=said):
            board.submit("ada", wrong)
    with pytest.raises(BadParameter, match="team"):
        board.submit("a\x00b", good)
    assert board.ranking() == []
    assert not board.submit("ada", dict.fromkeys(good, "a cat")).improved  # no such label: wrong, and no error
    probabilities = opened(metric="brier")
    for odd in ("0.5.1", "nan", 1.2, -0.1, "inf", None):
        with pytest.raises(BadParameter, match="id '7' must be a probability"):
            probabilities.submit("ada", {**good, "7": odd})


def test_labels_are_never_shown():
    for labels, terms in [
        ({**LABELS, "7": "4711"}, {"metric": "brier"}),
        ({**LABELS, "7": "4711"}, {"metric": "mae", "bounds": (0, 1)}),
        ({**LABELS, "7": "nan"}, {}),
    ]:
        with pytest.raises(BadData, match="row 8 of the solution") as refusal:
            Leaderboard.open(Memory(), labels, teams=2, **terms)
        assert "4711" not in str(refusal.value)
    board = opened()
    assert "label" not in repr(board) and not any(key in repr(board) for key in ("'17'",))
    with pytest.raises(BadData, match="an id twice"):
        Leaderboard.open(Memory(), {"1": 0, " 1": 1, "2": 0, "3": 1}, teams=2)


def test_too_few_rows_are_refused():
    few = dict(itertools.islice(LABELS.items(), 100))
    with pytest.raises(BadParameter, match="50 public rows are too few for 100 submissions of 5 teams"):
        Leaderboard.open(Memory(), few, teams=5, quota=20)
    for final in (dict.fromkeys(LABELS, True), dict.fromkeys(LABELS, False), {"1": True}, "0", "1"):
        with pytest.raises(BadParameter):
            Leaderboard.open(Memory(), LABELS, final, teams=2)


def test_metrics_against_their_definitions():
    y, p = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.9, 0.2, 0.001, 1.0])
    known = {
        "brier": np.mean((p - y) ** 2),
        "logloss": np.mean([-math.log(0.9), -math.log(0.8), -math.log(0.01), 0]),
        "mae": np.mean(np.abs(p - y)),
        "rmse": math.sqrt(np.mean((p - y) ** 2)),
    }
    for name, value in known.items():
        metric = Metric.read(name, (0, 1) if name in ("mae", "rmse") else None)
        score = metric.total(metric.predictions(p, list("abcd")), metric.labels(y)) / (4 * UNIT)
        assert metric.shown(score) == pytest.approx(value, abs=2e-3) and metric.shown(1.0) == 0
    wide = Metric.read("mae", ("-10", "10"))
    assert wide.shown(wide.total(np.array([99.0, 5]), np.array([10.0, 0])) / (2 * UNIT)) == pytest.approx(2.5, abs=0.02)
    assert set(NAMES) == {*known, "accuracy", "auc"}
    assert canonical(1) == canonical("1.0") == canonical(" 1 ") != canonical("1a")
    for wrong in (("f1", None), ("auc", (0, 1)), ("mae", None), ("mae", (1, 1)), ("brier", (0, 1)), ("rmse", ("a", 1))):
        with pytest.raises(BadParameter):
            Metric.read(*wrong)


def test_the_area_under_the_curve_is_as_accurate_as_its_rarer_label():
    rng, rare = np.random.default_rng(8), {str(i): int(i % 10 == 0) for i in range(20_000)}
    parts = {key: i >= 10_000 for i, key in enumerate(rare)}
    board = Leaderboard.open(Memory(), rare, parts, teams=2, quota=2, metric="auc")
    assert board.ladder.n == 1000 and board.final_statement.width == final_statement(1000, 2, Fraction(1, 20)).width
    scores = {
        key: label + 1e6 * noise for (key, label), noise in zip(rare.items(), rng.normal(size=20_000), strict=True)
    }
    useless, perfect = board.submit("ada", scores), board.submit("bob", {key: 5 * label for key, label in rare.items()})
    assert abs(useless.score - 0.5) < 0.05 and perfect.score == 1
    assert board.submit("ada", dict.fromkeys(rare, 0)).score == useless.score  # ties are half, and no better
    (first, second), truth = (
        board.close(),
        metrics.auc(*zip(*((rare[k], scores[k]) for k in rare if parts[k]), strict=True)),
    )
    assert (first["team"], first["score"]) == ("bob", 1) and second["score"] == pytest.approx(
        float(truth.mean), abs=1e-6
    )
    for wrong in ("nan", "inf", "good"):
        with pytest.raises(BadParameter, match="finite number"):
            Leaderboard.open(Memory(), rare, teams=2, metric="auc").submit("ada", dict.fromkeys(rare, wrong))
    with pytest.raises(BadParameter, match="at least 2 in each part"):
        Leaderboard.open(Memory(), dict.fromkeys(rare, 1), teams=2, metric="auc")
    with pytest.raises(BadParameter, match="of the rarer label are too few"):
        Leaderboard.open(
            Memory(),
            {str(i): int(i < 8) for i in range(9000)},
            {str(i): i % 2 > 0 for i in range(9000)},
            teams=2,
            metric="auc",
        )


def test_people_are_of_teams():
    """Where a service holds the board."""
    assert opened().team_of("anybody") == "anybody"
    assert opened(teams=["ada", "bob"]).team_of("bob") == "bob" and opened(teams=["ada"]).team_of("eve") is None
    board = opened(teams=["red", "blue"], members={"ada": "red", "bob": "red", "eve": "blue"})
    assert [board.team_of(who) for who in ("ada", "bob", "eve", "red", "carl")] == ["red", "red", "blue", None, None]
    for teams, members in ((5, {"ada": "red"}), (["red"], {"ada": "blue"}), (["red"], {"": "red"})):
        with pytest.raises(BadParameter):
            opened(teams=teams, members=members)


@pytest.mark.parametrize(("teams", "rungs", "k"), [(1, 2, 4), (2, 2, 4), (3, 2, 3), (2, 3, 3)])
def test_histories_are_counted(teams, rungs, k):
    """All answers to all adaptive strategies: a fixed order of teams has no more histories than the formula says."""
    for order in itertools.product(range(teams), repeat=k):
        reached, questions = {(0,) * teams: 1}, 0
        for team in order:
            questions += sum(reached.values())
            after = {}
            for records, ways in reached.items():
                for record in range(records[team], rungs + 1):
                    new = (*records[:team], record, *records[team + 1 :])
                    after[new] = after.get(new, 0) + ways
            reached = after
        assert math.log(questions) <= histories.climbing(k, teams * rungs) + 1e-9


def test_the_ladder_climbs_by_whole_rises():
    ladder = TeamLadder(100, 1, 10, Fraction(1, 20), 8)
    for total in range(0, 100 * UNIT + 1, 777):
        for record in range(9):
            after = ladder.climb(record, total)
            share = total / (100 * UNIT)
            assert after == record if share < (record + 1) / 8 else after > record and abs(after / 8 - share) <= 1 / 16
    assert final_statement(10_000, 10, Fraction(1, 20)).width == pytest.approx(0.0178, abs=0.0005)


def test_attacks_climb_a_plain_board_and_not_this_one():
    """The labels are coins, and all draws are seeded."""
    rows = attack.attack(1000, 200, source=Seeded(3))
    for plain, ours in zip(rows[::2], rows[1::2], strict=True):
        assert plain["board"] == "plain" and plain["says"] > 0.55
        assert ours["board"] == "tacit" and ours["says"] <= 0.5 + ours["within"] and ours["says"] < plain["says"]
    assert [row["attack"] for row in rows[::2]] == ["boosting", "majority vote", "pair flips"]


@pytest.mark.slow
def test_colluding_teams_stay_within_the_promise():
    """200 boards of coins; five teams pool what they hear, and flip pairs of the best.  Far fewer than 1 in 20 fail."""
    failed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = dict(enumerate(rng.integers(0, 2, 800).tolist()))
        board = Leaderboard.open(
            Memory(), {str(k): v for k, v in labels.items()}, {str(k): k >= 600 for k in labels}, teams=5, quota=10
        )
        best, record = rng.integers(0, 2, 800), 0.0
        for turn in range(50):
            bits = best.copy()
            bits[rng.integers(0, 800, 200 if turn < 20 else 2)] ^= 1
            score = board.submit(f"team {turn % 5}", {str(k): int(bits[k]) for k in labels}).score
            if score >= record:
                best, record = bits, score
        failed += abs(record - 0.5) > board.statement.width
    assert failed <= 2


def test_files(tmp_path):
    def write(text):
        path = tmp_path / "file.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    assert read_predictions(write("\ufeffid,p\n1,0.5\r\n\n 2 , cat \n")) == {"1": "0.5", "2": "cat"}
    assert read_solution(write("id,y\n1,a\n2,b\n")) == ({"1": "a", "2": "b"}, None)
    assert read_solution(write("id,y,Usage\n1,a,Public\n2,b,private\n")) == (
        {"1": "a", "2": "b"},
        {"1": False, "2": True},
    )
    for text, said in [
        ("id,p\n1,2,3\n", "Line 2 has 3 fields"),
        ("id,p\n1\n", "Line 2 has 1 fields"),
        ("id,p\n1,0\n1,1\n", "Line 3: id '1' has a prediction already"),
        (b"id,p\n1,\xff\n", "not a CSV file"),
        ('id,p\n1,"a\n', "not a CSV file"),
    ]:
        with pytest.raises(BadParameter, match=said):
            read_predictions(write(text))
    for text, said in [
        ("id,y\n1,secret\n1,secret\n", "an id twice, in line 3"),
        ("id,y,u\n1,secret,Public\n2,secret,Neither\n", "another word in line 3"),
    ]:
        with pytest.raises(BadData, match=said) as refusal:
            read_solution(write(text))
        assert "secret" not in str(refusal.value)
    with pytest.raises(BadParameter, match="Line 3 has 2 fields"):
        read_solution(write("id,y,u\n1,a,Public\n2,b\n"))


def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in {
        "solution": [(k, v, "Private" if FINAL[k] else "Public") for k, v in LABELS.items()],
        "good": right(0.8).items(),
        "better": right(0.9).items(),
        "short": list(right(0.9).items())[:-1],
    }.items():
        text = "\n".join(",".join(str(int(cell) if isinstance(cell, bool) else cell) for cell in row) for row in rows)
        (tmp_path / f"{name}.csv").write_text(f"id,prediction\n{text}\n")

    def run(*arguments):
        result = CliRunner().invoke(app, ["board", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, " ".join(result.output.split())

    code, output = run("open", "b.ledger", "solution.csv", "--team", "ada", "--team", "bob=2", "--quota", "3")
    assert code == 0 and "4000 rows" in output and "Every team's score is within" in output
    assert "raises the team's score" in run("submit", "b.ledger", "ada", "good.csv")[1]
    code, output = run("submit", "b.ledger", "bob", "better.csv", "--json")
    assert code == 0 and '"left": 1' in output
    code, output = run("submit", "b.ledger", "bob", "short.csv")
    assert code == 2 and "Ids without a prediction: '3999' (1 in all)" in output
    assert run("submit", "b.ledger", "eve", "good.csv")[0] == 3
    code, output = run("show", "b.ledger")
    assert code == 0 and output.index("bob") < output.index("ada")
    assert "True" in run("show", "b.ledger", "--team", "ada")[1]
    assert run("choose", "b.ledger", "ada", "1")[0] == 0
    code, output = run("close", "b.ledger")
    assert code == 0 and "Final ranking" in output
    assert '"final": [' in run("show", "b.ledger", "--json")[1]
    assert run("submit", "b.ledger", "ada", "better.csv")[0] == 3
    for wrong in (("open", "c.ledger", "solution.csv"), ("open", "c.ledger", "no.csv", "--teams", "2"), ("show", "no")):
        assert run(*wrong)[0] == 2
    assert run("open", "c.ledger", "solution.csv", "--team", "ada=x")[0] == 2
    assert run("show", "b.ledger", "--name", "other")[0] == 3
    result = CliRunner().invoke(app, ["attack", "board", "--n", "400", "--submissions", "40"])
    assert result.exit_code == 0 and "pair flips" in result.output


def test_a_submission_is_a_plain_value():
    submission = Submission("ada", 1, 0.5, True, 3)
    assert pickle.loads(pickle.dumps(submission)) == submission
    assert str(submission) == "Submission 1 of ada raises the team's score to 0.5. 3 are left."
