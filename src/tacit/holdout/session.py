"""A holdout set in use: one rule, one set of records, one session."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from threading import Lock
from typing import Any, NoReturn

import numpy as np

from ..core.accounting.loss import Loss
from ..core.errors import BadData, BadParameter, LedgerConflict, Refused
from ..core.purpose import Purpose
from ..core.randomness import SYSTEM, Source
from ..core.session import answer_once, open_session, private_value
from .keeper import THIS_PROCESS, Keeper, Memory
from .questions import Question, arrays, fingerprint, shaped, values_in_steps
from .rules.rule import Rule, State, Statement

_OTHERS = "these are not the records that the holdout was opened with; their fingerprints differ"


def _parts(data: Any) -> tuple[Any, ...]:
    """What a statistic is given: data frames stay data frames."""
    return data if isinstance(data, tuple) else (data,)


def _key(keeper: Keeper, content: str) -> str:
    """The key of a session, under a secret: else whoever knows all records but one could try that one."""
    if isinstance(keeper, Memory):  # which writes no names down
        return content
    drawn = SYSTEM.words(4).tobytes()
    name = hashlib.sha256(b"the secret of holdouts").hexdigest()
    secret = private_value(keeper, key=name, first=drawn, analyst="holdout", name="the secret of holdouts")
    return hmac.new(secret, content.encode(), "sha256").hexdigest()


class Holdout:
    """Answers questions about one holdout set, as its rule allows.

    A question is a statistic, a function from arrays of records to one value in [0, 1] for each; or the pair of a
    guess, say the value on the training set, and the holdout records' values; or these values alone, where a rule
    needs no guess.

    A question may be given a name.  Asked again by its name, it is answered as before and costs nothing.  Questions are
    not distinguished by their values: that two statistics agree on every record is private, too.
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
        source: Source = SYSTEM,
    ) -> None:
        kept = THIS_PROCESS if keeper is None else keeper
        if not callable(getattr(kept, "start", None)):
            raise BadParameter("keeper", keeper, "a ledger that is open, as `tacit.Ledger.open(place)` gives, or None")
        self.rule, records = rule, len(arrays("data", data)[0])
        self._data, self._train = _parts(data), None if train is None else _parts(train)
        self._train_records = 0 if train is None else len(arrays("train", train)[0])
        if records != rule.n:
            raise BadData("data", f"{records} records", f"{rule.n} records, for which the rule was made")
        self.fingerprint = fingerprint(data)
        if known_as not in (None, self.fingerprint):
            raise Refused(_OTHERS)
        if self._train is not None and fingerprint(train) == self.fingerprint:
            raise Refused("the training set is the holdout set; hold out records that nothing was fitted to")
        self._source, self._lock = source, Lock()
        price = Loss() if unprotected else rule.loss()
        first = self._write(rule.begin(source))
        try:
            key, purpose = _key(kept, self.fingerprint), Purpose("holdout", repr(rule))
            self._session = open_session(kept, key=key, loss=price, state=first, analyst=analyst, purpose=purpose)
        except LedgerConflict:  # it was paid for at another price
            raise Refused("this holdout set has already begun to answer by another rule; go on with that one") from None
        self._state(self._session.read()[1])

    def _write(self, state: State) -> bytes:
        return json.dumps({"rule": repr(self.rule), "state": asdict(state)}).encode()

    def _state(self, kept: bytes) -> State:
        known = json.loads(kept)
        if known["rule"] != repr(self.rule):
            raise Refused(f"this holdout set has already begun to answer by {known['rule']}; go on with that rule")
        return State(**known["state"])

    def ask(self, question: Callable[..., Any] | tuple[Any, Any] | Any, name: str | None = None) -> float:
        """The answer: near the true value in the population, as `statement` says."""
        asked = self._question(question)
        key = f"{SYSTEM.integer(1 << 256):064x}" if name is None else asked.key(name)

        def step(kept: bytes) -> tuple[bytes, bytes]:
            then, answer = self.rule.step(self._state(kept), asked, self._source)
            return self._write(then), repr(answer).encode()

        with self._lock:
            return float(answer_once(self._session, key, step))

    def _question(self, question: Any) -> Question:
        rule, guess = self.rule, None
        if callable(question):
            values = shaped(question(*self._data), rule.n)
            if self._train is not None:
                seen = shaped(question(*self._train), self._train_records).astype(float)
                guess = float(np.mean(np.clip(np.nan_to_num(seen), 0, 1)))
        elif isinstance(question, tuple) and len(question) == 2:
            guess, values = question
        else:
            values = question
        if rule.guesses and guess is None:
            allowed = "a statistic, if a training set was given, or the pair of a guess and the records' values"
            raise BadParameter("question", type(question).__name__, allowed)
        at = None if guess is None else rule.guess_in_steps(guess)
        return Question(at, values_in_steps(values, rule.n, rule.grid))

    @property
    def _now(self) -> State:
        return self._state(self._session.read()[1])

    def check(self, data: object) -> None:
        """Refuse records other than those this was opened with."""
        if fingerprint(data) != self.fingerprint:
            raise Refused(_OTHERS)

    @property
    def state(self) -> State:
        """How often it was asked, and how often the holdout set itself spoke; what nobody may see is left out."""
        return replace(self._now, mark=0, values="")

    @property
    def spent(self) -> Loss:
        """The price of the whole session, paid on opening."""
        return self.rule.loss()

    @property
    def left(self) -> str:
        """How much may still be asked."""
        return self.rule.left(self._now)

    @property
    def statement(self) -> Statement:
        """What is true of all answers so far, also when there will be no more."""
        return self.rule.statement(self._now)

    def __repr__(self) -> str:
        return f"Holdout of {self.rule!r}.  {self.statement}  {self.left}"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a holdout cannot be copied or pickled: two sessions would reveal twice as much; use a ledger")
