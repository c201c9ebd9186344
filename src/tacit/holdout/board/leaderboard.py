"""A leaderboard, kept in a ledger: teams submit predictions, see their scores and a ranking, and once a final ranking.

    board = Leaderboard.open(ledger, labels, teams=10, quota=20)
    board.submit("ada", predictions)      -> a Submission, with the team's score
    board.ranking()
    board.close()                         -> the final ranking, by rows that nobody was told anything about

The rows are in two parts.  The public part answers submissions by a ladder for each team (`ladder.py`), with a promise
for all scores of all teams at once.  The final part is looked at once, when the board is closed, for one submission of
each team.  The solution, the submissions and the records are private states of the ledger, so any process that has the
ledger serves the same board: a submission is one step of its session, and counts once, also if it is sent again.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadData, BadParameter, Refused, reading
from ...core.parameters import Number, probability, whole
from ...core.purpose import Purpose
from ...core.randomness import SYSTEM
from ...core.session import Session, answer_once, free_session, private_value
from ..keeper import THIS_PROCESS, Keeper
from ..records import enter, row_marks, secret, unknown
from ..rules.rule import Statement
from .ladder import UNIT, TeamLadder, final_statement
from .metrics import Metric
from .standings import Row, State, Submission, Team, ranked

MAX_NAME = 100


class Leaderboard:
    """A board that is open in a ledger.  Threads and processes may share it; a team is an analyst's name."""

    def __init__(self, keeper: Keeper | None = None, name: str = "board") -> None:
        """The board of this name in a ledger; `open` makes one."""
        self._keeper: Keeper = THIS_PROCESS if keeper is None else keeper
        self.name = _name("name", name)
        stored = _solution(self._keeper, self.name).read()[1]
        if not stored:
            raise Refused(f"There is no leaderboard {self.name!r} here. Open one, with a solution.")
        with reading("this leaderboard"):
            facts = json.loads(zlib.decompress(stored))
        self._facts = facts
        self.metric = Metric(*facts["metric"])
        n, teams, submissions, beta, rungs = facts["ladder"]
        self.ladder = TeamLadder(n, teams, submissions, Fraction(beta), rungs)
        self._session = free_session(
            self._keeper,
            key=_digest("board", self.name),
            first=State({team: Team(quota) for team, quota in facts["teams"].items()}).write(),
            analyst="leaderboard",
            purpose=Purpose("holdout", f"leaderboard {self.name}"),
        )

    @classmethod
    def open(
        cls,
        keeper: Keeper | None,
        labels: Mapping[str, object],
        final: Mapping[str, bool] | Number = "0.5",
        *,
        teams: int | Sequence[str] | Mapping[str, int],
        quota: int = 20,
        metric: str = "accuracy",
        bounds: Sequence[Any] | None = None,
        beta: Number = "0.05",
        name: str = "board",
        members: Mapping[str, str] | None = None,
    ) -> Leaderboard:
        """Open a board on these labels by id.

        `final` says which ids are in the final part, or how large a share of them is.  `teams` is the largest number of
        teams, or their names, or their names with a quota for each; other teams have `quota` submissions.  `bounds` are
        the least and the largest label, for mae and rmse.  `members` are the teams of people by their names, where a
        service holds the board; without them a person is the team of that name.
        """
        kept: Keeper = THIS_PROCESS if keeper is None else keeper
        ids = [str(key).strip() for key in labels]
        if len(set(ids)) != len(ids):
            raise BadData("labels", "an id twice", "each id once")
        scale = Metric.read(metric, bounds)
        true = scale.labels(list(labels.values()))
        last = _final_part(kept, ids, labels, final)
        quotas, most, questions = _quotas(teams, quota)
        n, final_n = (scale.size(true[np.array(last) == part]) for part in (False, True))
        if min(n, final_n) < 2:
            allowed = f"some of {len(ids)} rows, and not all of them, at least 2 in each part, by auc of each label"
            raise BadParameter("final", sum(last), allowed)
        share = probability("beta", beta)
        ladder = TeamLadder.best(n, most, questions, share)
        if ladder.promise.width >= 0.5:
            rows = f"{n} public rows{' of the rarer label' * (scale.name == 'auc')}"
            raise BadParameter(
                "labels",
                n,
                "more rows",
                says=f"{rows} are too few for {questions} submissions of {most} teams: scores would be within"
                f" {ladder.promise.width:.2g} of the truth. Use more rows, fewer teams or smaller quotas.",
            )
        board = _name("name", name)
        facts = {
            "ids": ids,
            "labels": [str(value).strip() for value in labels.values()],
            "final": last,
            "metric": [scale.name, scale.lower, scale.upper],
            "ladder": [n, most, questions, str(share), ladder.rungs],
            "teams": quotas,
            "quota": whole("quota", quota),
        }
        if members:
            facts["members"] = {_name("member", who): _member_of(team, quotas) for who, team in members.items()}
        key = _digest("board", board)
        sketch = unknown(kept, key, np.array(ids), ids=np.array(ids))
        written = zlib.compress(json.dumps(facts).encode())

        def begin(state: bytes) -> tuple[bytes, bytes]:
            if state and state != written:
                raise Refused(f"There is a leaderboard {board!r} already, with another solution or other terms.")
            return written, b""

        answer_once(_solution(kept, board), _digest("opened", board, hashlib.sha256(written).hexdigest()), begin)
        if sketch is not None:
            enter(kept, key, sketch)
        return cls(kept, board)

    @property
    def statement(self) -> Statement:
        """The guarantee of all scores of all teams on the public part."""
        return self.ladder.promise

    @property
    def closed(self) -> bool:
        """Whether the final part was looked at."""
        return self._now.final is not None

    @property
    def _now(self) -> State:
        return State.read(self._session.read()[1])

    @cached_property
    def _parts(self) -> tuple[list[str], NDArray[Any], NDArray[np.bool_]]:
        """All ids, their labels, and which are final."""
        ids = self._facts["ids"]
        return ids, self.metric.labels(self._facts["labels"]), np.array(self._facts["final"], np.bool_)

    def team_of(self, person: str) -> str | None:
        """The team that a person of a service submits for, or None."""
        members, teams = self._facts.get("members"), self._facts["teams"]
        team = person if members is None else members.get(person)
        return team if not teams or team in teams else None

    def submit(self, team: str, predictions: Mapping[Any, object]) -> Submission:
        """Score a team's predictions by id.  The same predictions again are the same submission, and free."""
        who, values = _name("team", team), self._predictions(predictions)
        written = zlib.compress(json.dumps(values.tolist()).encode())
        digest = _digest(self.name, who, hashlib.sha256(written).hexdigest())
        _, labels, final = self._parts

        def step(state: bytes) -> tuple[bytes, bytes]:
            now = State.read(state)
            before = self._admitted(now, who)
            number = len(before.digests) + 1
            record = self.ladder.climb(before.record, self.metric.total(values[~final], labels[~final]))
            best = number if record > before.record else before.best
            after = replace(before, record=record, best=best, digests=(*before.digests, digest))
            answer = {"number": number, "record": record, "improved": record > before.record}
            return State({**now.teams, who: after}, now.final).write(), json.dumps(answer).encode()

        if self._session.find(digest) is None:
            self._admitted(self._now, who)  # before anything is stored
            self._value(digest, written)
        told, mine = json.loads(answer_once(self._session, digest, step)), self._now.teams[who]
        left = mine.quota - len(mine.digests)
        return Submission(who, told["number"], self._shown(told["record"]), told["improved"], left)

    def _admitted(self, now: State, who: str) -> Team:
        """How a team stands that may submit now; others are refused."""
        team = self._team(now, who)
        if now.final is not None:
            raise Refused("This leaderboard is closed.")
        if len(team.digests) >= team.quota:
            raise Refused(f"{who} has made all of its {team.quota} submissions.")
        return team

    def _team(self, now: State, who: str) -> Team:
        """How a team stands; a new team is entered if there is room."""
        if who in now.teams:
            return now.teams[who]
        if self._facts["teams"] or len(now.teams) >= self.ladder.teams:
            why = (
                "the name is not on its list"
                if self._facts["teams"]
                else f"would be one more than its {self.ladder.teams} teams"
            )
            raise Refused(f"{who!r} is no team of this leaderboard: it {why}.")
        return Team(self._facts["quota"])

    def _predictions(self, predictions: Mapping[Any, object]) -> NDArray[Any]:
        """Predictions in the order of the ids, or what is wrong with them; ids are public, and so are predictions."""
        if not isinstance(predictions, Mapping):
            raise BadParameter("predictions", type(predictions).__name__, "a mapping from ids to predictions")
        given = {str(key).strip(): value for key, value in predictions.items()}
        ids, _, _ = self._parts
        missing, strange = [i for i in ids if i not in given], sorted(set(given) - set(ids))
        for some, what in ((strange, "Ids that this leaderboard does not have"), (missing, "Ids without a prediction")):
            if some:
                text = f"{what}: {', '.join(repr(each[:40]) for each in some[:3])}{', ...' * (len(some) > 3)}"
                text = f"{text} ({len(some)} in all). Give one prediction for each id."
                raise BadParameter("predictions", len(some), "one for each id", says=text)
        return self.metric.predictions([given[i] for i in ids], ids)

    def choose(self, team: str, number: int) -> None:
        """Have this submission of a team judged in the end, instead of the one that set its record."""
        who = _name("team", team)

        def change(now: State) -> State:
            before = self._team(now, who)
            if now.final is not None:
                raise Refused("This leaderboard is closed.")
            if not 1 <= whole("number", number) <= len(before.digests):
                raise BadParameter("number", number, f"one of the {len(before.digests)} submissions of {who}")
            return replace(now, teams={**now.teams, who: replace(before, chosen=number)})

        self._change(change)

    def _change(self, change: Callable[[State], State]) -> None:
        def step(state: bytes) -> tuple[bytes, bytes]:
            return change(State.read(state)).write(), b""

        answer_once(self._session, f"{SYSTEM.integer(1 << 256):064x}", step)

    def scores(self, team: str) -> list[Row]:
        """What a team may know of its own submissions."""
        who = _name("team", team)
        mine, rows = self._team(self._now, who), []
        for number, digest in enumerate(mine.digests, 1):
            told = json.loads(self._session.find(digest) or b"{}")
            rows.append({"submission": number, "score": self._shown(told["record"]), "improved": told["improved"]})
        return rows

    def ranking(self) -> list[Row]:
        """All teams that submitted, the best first, with the interval of their best true score; ties share a rank."""
        active = {name: team for name, team in self._now.teams.items() if team.digests}
        records = {name: team.record for name, team in active.items()}
        rows = ranked(records, lambda record: self._interval(record / self.ladder.rungs, self.statement))
        used = {name: {"submissions": len(team.digests), "of": team.quota} for name, team in active.items()}
        return [{**row, **used[row["team"]]} for row in rows]

    def close(self) -> list[Row]:
        """Look at the final part, once, and rank the teams by it; closed again, the board gives the same ranking."""
        ids, labels, final = self._parts

        def change(now: State) -> State:
            if now.final is not None:
                return now
            totals = {}
            for name, team in now.teams.items():
                if team.digests:
                    stored = self._value(team.digests[(team.chosen or team.best or 1) - 1], b"")
                    values = self.metric.predictions(json.loads(zlib.decompress(stored)), ids)
                    totals[name] = self.metric.total(values[final], labels[final])
            return replace(now, final=totals)

        if not self.closed:
            self._change(change)
        return self.final_ranking()

    def final_ranking(self) -> list[Row]:
        """The ranking by the final part, of a board that is closed."""
        totals = self._now.final
        if totals is None:
            raise Refused("This leaderboard is not closed yet.")
        whole = self._final_size * UNIT
        return ranked(totals, lambda total: self._interval(total / whole, self.final_statement))

    @property
    def final_statement(self) -> Statement:
        """The guarantee of all final scores."""
        return final_statement(self._final_size, self.ladder.teams, self.ladder.beta)

    @property
    def _final_size(self) -> int:
        _, labels, final = self._parts
        return self.metric.size(labels[final])

    def _interval(self, score: float, statement: Statement) -> Row:
        """A score and the interval of the true one, in the unit of the metric."""
        low, high = sorted(map(self.metric.shown, statement.interval(score)))
        return {"score": self.metric.shown(score), "truth from": low, "to": high}

    def _shown(self, record: int) -> float:
        return self.metric.shown(record / self.ladder.rungs)

    def _value(self, key: str, first: bytes) -> bytes:
        """What the ledger has under a key of this board; the first writer decides."""
        name = f"submission to leaderboard {self.name}"
        return private_value(self._keeper, key=_digest("value", key), first=first, analyst="leaderboard", name=name)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"Leaderboard {self.name!r}, by {self.metric.name}, {state}.  {self.statement}"


def _quotas(teams: int | Sequence[str] | Mapping[str, int], quota: int) -> tuple[dict[str, int], int, int]:
    """Teams that are named with their quotas, the largest number of teams, and of submissions."""
    each = whole("quota", quota)
    if isinstance(teams, int):
        most = whole("teams", teams)
        return {}, most, most * each
    if isinstance(teams, str) or not teams:
        raise BadParameter("teams", teams, "the number of teams, or a list of their names")
    given = dict(teams) if isinstance(teams, Mapping) else dict.fromkeys(teams, each)
    quotas = {_name("team", team): whole("quota", own) for team, own in given.items()}
    return quotas, len(quotas), sum(quotas.values())


def _member_of(team: str, quotas: Mapping[str, int]) -> str:
    """The team of a member, which must be one that is named."""
    if (checked := _name("team", team)) not in quotas:
        raise BadParameter("members", team, "people and their teams, which must be named by `teams`")
    return checked


def _final_part(keeper: Keeper, ids: list[str], labels: Mapping[str, object], final: Any) -> list[bool]:
    """Whether each id is in the final part: as it is given, or the ids of smallest keyed marks."""
    if isinstance(final, Mapping):
        if {str(key).strip() for key in final} != set(ids):
            raise BadParameter("final", "other ids", "a mapping from the same ids as the labels")
        return [bool(final[key]) for key in labels]
    share = probability("final", final)
    order = np.argsort(row_marks(np.array(ids), secret(keeper)))
    chosen = np.zeros(len(ids), np.bool_)
    chosen[order[: round(len(ids) * share)]] = True
    return [bool(each) for each in chosen]


def _name(what: str, given: str) -> str:
    """A name of visible characters, with single spaces."""
    value: object = given
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not 0 < len(text) <= MAX_NAME or not text.isprintable():
        raise BadParameter(what, given, f"a name of 1 to {MAX_NAME} visible characters")
    return text


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(["leaderboard", *parts]).encode()).hexdigest()


def solution_key(board: str) -> str:
    """The key under which a ledger has the solution of a board."""
    return _digest("solution", _name("name", board))


def _solution(keeper: Keeper, board: str) -> Session:
    """The session that keeps the solution and the terms of a board: one step, from nothing."""
    purpose = Purpose("private value", f"solution of leaderboard {board}")
    return free_session(keeper, key=solution_key(board), first=b"", analyst="leaderboard", purpose=purpose)
