"""A holdout set in use: one rule, one set of records, one session."""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NoReturn

import numpy as np

from .. import storage
from ..core.accounting.loss import Loss
from ..core.errors import BadData, BadParameter, LedgerConflict, Refused, reading
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM, Source
from ..core.session import answer_once
from . import records
from .keeper import THIS_PROCESS, Keeper, Memory
from .questions import HoldoutQuestion, Pairs, arrays, fingerprint, from_0_to_1, shaped, values_in_steps
from .rules.rule import UNPROTECTED, Rule, State, Statement, Unanswered

_OTHERS = "These are not the records that the holdout was opened with: the fingerprints differ."


def _parts(data: Any) -> tuple[Any, ...]:
    """The arguments of a statistic; data frames stay data frames."""
    return data if isinstance(data, tuple) else (data,)


def _protected(part: Any) -> Any:
    """The records for a statistic to read: an array that cannot be written to, or a copy of a data frame."""
    if not isinstance(part, np.ndarray | list | tuple):
        return (
            part.clone() if hasattr(part, "clone") else copy.deepcopy(part)
        )  # polars copies nothing that is unchanged
    view = np.asarray(part).view()
    view.flags.writeable = False
    return view


def _key(keeper: Keeper, content: str) -> str:
    """The key of a session, keyed by a secret: otherwise whoever knows all records but one could guess that one."""
    if isinstance(keeper, Memory):  # stores no names
        return content
    return hmac.new(records.secret(keeper), content.encode(), "sha256").hexdigest()


def _described(rule: Rule) -> str:
    """A rule as text: what its state has of one that is not stored, and had of any before stored names."""
    if not storage.is_stored(rule):
        return repr(rule)
    members = ((name, value) for name, value in storage.members(rule).items() if value is not None)
    return f"{storage.stored_name(type(rule))}({', '.join(f'{name}={value}' for name, value in members)})"


class Holdout:
    """Answers questions about one holdout set, as its rule allows.

    A question is a statistic, a function from arrays of records to one value in [0, 1] for each; or the pair of a
    guess, such as the value on the training set, and the holdout records' values; or these values alone, where a rule
    needs no guess.

    A question may have a name.  Asked again by its name, it gets the same answer and costs nothing.  Questions are not
    recognised by their values: whether two statistics agree on every record is private, too.
    """

    def __init__(
        self,
        rule: Rule,
        data: object,
        train: object = None,
        *,
        keeper: Keeper | None = None,
        analyst: str = "analyst",
        unprotected: bool = False,
        known_as: str | None = None,
        ids: object = None,
        source: Source = SYSTEM,
    ) -> None:
        kept = THIS_PROCESS if keeper is None else keeper
        if not callable(getattr(kept, "start", None)):
            raise BadParameter("keeper", keeper, "a ledger that is open, as `tacit.Ledger.open(place)` gives, or None")
        self.rule, count = rule, len(arrays("data", data)[0])
        self._data, self._train = _parts(data), None if train is None else _parts(train)
        self._train_records = 0 if train is None else len(arrays("train", train)[0])
        if count != rule.n:
            raise BadData("data", f"{count} records", f"{rule.n} records, as the rule declares")
        self.fingerprint = fingerprint(data)
        if known_as not in (None, self.fingerprint):
            raise Refused(_OTHERS)
        if self._train is not None and fingerprint(train) == self.fingerprint:
            raise Refused("The training set is the holdout set. Hold out records that no model was fitted to.")
        rule.refuse_if_vacuous()
        self._source, self._lock = source, Lock()
        without = rule.loss() == UNPROTECTED
        if without and not unprotected and not isinstance(kept, Memory):
            raise Refused(
                f"{type(rule).__name__} adds no noise, so it promises the people in the holdout set no privacy, and no "
                "budget can pay for it. Pass unprotected=True to declare that they were promised none."
            )
        price = Loss() if unprotected else rule.loss()
        first, key = self._write(rule.begin(source)), _key(kept, self.fingerprint)
        purpose = Purpose("holdout", f"{rule!r}{', without privacy' if without else ''}")
        sketch = records.unknown(kept, key, data, ids)
        try:
            self._session = kept.start(key=key, loss=price, state=first, analyst=analyst, purpose=purpose)
        except LedgerConflict:  # a session with another price
            raise Refused(
                "This holdout set has already begun to answer by another rule. Continue with that rule."
            ) from None
        self._state(self._session.read()[1])
        if sketch is not None:
            records.enter(kept, key, sketch)

    def _write(self, state: State) -> bytes:
        rule = storage.canonical(self.rule if storage.is_stored(self.rule) else repr(self.rule))
        return f'{{"rule":{rule},"state":{storage.canonical_members(state)}}}'.encode()

    def _state(self, kept: bytes) -> State:
        with reading("the state of this holdout"):
            written = json.loads(kept)
            rule = storage.read(written["rule"])
            state: State = storage.read_members(State, written["state"])
        if rule not in (self.rule, _described(self.rule)):
            raise Refused(f"This holdout set has already begun to answer by {rule}. Continue with that rule.")
        return state

    def ask(self, question: Callable[..., Any] | tuple[Any, Any] | Any, name: str | None = None) -> float:
        """Answer a question; `statement` says how near the answer is to the true value in the population."""
        (answer,) = self._round([question], None if name is None else [name])
        if math.isnan(answer):
            raise Unanswered(
                "The holdout set cannot answer this question to the width of its rule: its mean is too far from 0 and "
                "1 for that. Other questions may be answered. See `tacit docs holdout`."
            )
        return answer

    def ask_all(self, questions: Iterable[Any], names: Sequence[str] | None = None) -> list[float]:
        """Answer a round: a list of questions that is fixed before any of its answers is seen.

        The guarantee counts a round once, so one list of many candidates is answered about as accurately as one.  An
        answer is NaN where the holdout set cannot tell, or is exhausted meanwhile.
        """
        asked = list(questions)
        if names is not None and len(names) != len(asked):
            raise BadParameter("names", len(names), f"{len(asked)} names, one for each question")
        return self._round(asked, names) if asked else []

    def _round(self, questions: Sequence[Any], names: Sequence[str] | None) -> list[float]:
        asked = [self._question(question) for question in questions]
        key = f"{SYSTEM.integer(1 << 256):064x}"
        if names is not None:
            keys = [each.key(name) for each, name in zip(asked, names, strict=True)]
            key = keys[0] if len(keys) == 1 else hashlib.sha256(";".join(keys).encode()).hexdigest()

        def step(kept: bytes) -> tuple[bytes, bytes]:
            then, answers = self.rule.answer(self._state(kept), asked, self._source)
            return self._write(then), " ".join(map(repr, answers)).encode()

        with self._lock:
            return [*map(float, answer_once(self._session, key, step).split())]

    def _question(self, question: Any) -> HoldoutQuestion:
        rule, guess = self.rule, None
        if callable(question):
            values: Any = shaped(question(*map(_protected, self._data)), rule.n)
            if self._train is not None:
                seen = shaped(question(*map(_protected, self._train)), self._train_records)
                guess = float(np.mean(from_0_to_1("the statistic's values on the training set", seen, len(seen))))
        elif isinstance(question, tuple) and len(question) == 2:
            guess, values = question
        else:
            values = question
        if rule.guesses and guess is None:
            allowed = "a statistic, if a training set was given, or the pair of a guess and the records' values"
            raise BadParameter("question", type(question).__name__, allowed)
        at = None if guess is None else rule.guess_in_steps(guess)
        if isinstance(values, Pairs):
            return rule.about_pairs(at, values)
        if not callable(question):
            from_0_to_1("values", values, rule.n)
        return HoldoutQuestion(at, values_in_steps(values, rule.n, rule.grid))

    @property
    def _now(self) -> State:
        return self._state(self._session.read()[1])

    def check(self, data: object) -> None:
        """Refuse records other than those that this holdout was opened with."""
        if fingerprint(data) != self.fingerprint:
            raise Refused(_OTHERS)

    @property
    def state(self) -> State:
        """The number of questions and of answers computed from the holdout set; the private parts are left out."""
        return replace(self._now, mark=0, values="")

    @property
    def spent(self) -> Loss:
        """The price of the whole session, charged when it is opened."""
        return self.rule.loss()

    @property
    def left(self) -> str:
        """How many questions are left, as a sentence."""
        return self.rule.left(self._now)

    @property
    def statement(self) -> Statement:
        """The guarantee that holds for all answers so far, also after the session has ended."""
        return self.rule.statement(self._now)

    def interval(self, answer: float) -> tuple[float, float]:
        """Where the truth is for an answer of this holdout, for all answers at once: often narrower than the width."""
        return self.statement.interval(answer)

    def __repr__(self) -> str:
        return f"Holdout of {self.rule!r}.  {self.statement}  {self.left}"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A holdout cannot be copied or pickled: two sessions would reveal twice as much. Use a ledger.")
