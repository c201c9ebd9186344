"""A gallery of wrong ledgers.  The suite must refute every one, by the check named beside it.

Each is a right ledger with one mistake, made on purpose; the class says which.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ...core.accounting.loss import zero
from ...core.errors import BadParameter, BudgetExceeded
from ...ledger import Ledger
from ...ledger.session import LedgerSession
from .. import ledger_sessions, ledgers


class RoundsPrices(Ledger):
    """A very small price is none."""

    refuted_by = ledgers.tenths_fill_one_exactly

    def charge(self, **request: Any) -> Any:
        tiny = request["loss"].terms and request["loss"].epsilon() < 1e-9
        return super().charge(**{**request, "loss": zero} if tiny else request)


class TakesTheLast(Ledger):
    """Whoever stores a release gets it back, though another was stored first."""

    refuted_by = ledgers.a_question_is_paid_once

    def store(self, charge: Any, data: bytes, form: str = "release") -> bytes:
        super().store(charge, data, form)
        return data


class CompletesAtAnyPrice(Ledger):
    """An open charge is completed at a price that was not paid."""

    refuted_by = ledgers.an_open_charge_is_completed_as_it_was_paid

    def charge(self, **request: Any) -> Any:
        return self.find(request["key"]) or super().charge(**request)


class FreshIsFree(Ledger):
    """A fresh draw is not paid again."""

    refuted_by = ledgers.a_fresh_draw_is_paid_again

    def charge(self, **request: Any) -> Any:
        return super().charge(**{**request, "fresh": False})


class OneByOne(Ledger):
    """Of a batch that is refused, some is charged."""

    refuted_by = ledgers.a_batch_is_all_or_nothing

    def charge_many(self, requests: Any) -> Any:
        return [super(OneByOne, self).charge_many([request])[0] for request in requests]


class ForgetsAllowances(Ledger):
    """An allowance is not written down."""

    refuted_by = ledgers.allowances_hold_within_the_budget

    def allow(self, analyst: str, budget: Any) -> None:
        pass


class AlwaysOpen(Ledger):
    """A ledger that sells to everyone."""

    refuted_by = ledgers.a_closed_ledger_asks_for_an_allowance

    @classmethod
    def open(cls, *place: Any, **terms: Any) -> Any:
        return super().open(*place, **{**terms, "only_allowed": False})


class AddsParts(Ledger):
    """What is asked of one part is paid by all."""

    refuted_by = ledgers.parts_are_paid_side_by_side

    def charge(self, **request: Any) -> Any:
        return super().charge(**{**request, "parts": None})


class AllIsAPart(Ledger):
    """What is asked of all is paid by a part of its own."""

    refuted_by = ledgers.a_charge_on_all_is_paid_on_the_worst_part

    def charge(self, **request: Any) -> Any:
        return super().charge(**{**request, "parts": request.get("parts") or ["all"]})


class MixesCurrencies(Ledger):
    """A charge on several parts is admitted though they keep no currency in common."""

    refuted_by = ledgers.each_part_keeps_a_currency_of_its_own

    def charge(self, **request: Any) -> Any:
        several = len(request.get("parts") or ()) > 1
        return super().charge(**{**request, "loss": zero} if several else request)


class FailuresAreFree(Ledger):
    """What fails with some probability is admitted at no price."""

    refuted_by = ledgers.failures_are_paid_too

    def charge(self, **request: Any) -> Any:
        fails = any(atom.failure() for atom in request["loss"].terms)
        return super().charge(**{**request, "loss": zero} if fails else request)


class ForgetsRelations(Ledger):
    """Losses under any relation are added up."""

    refuted_by = ledgers.relations_do_not_mix

    def charge(self, **request: Any) -> Any:
        return super().charge(**{**request, "loss": replace(request["loss"], relation=None)})


class PartsOfAnything(Ledger):
    """A part is taken for all where parts are refused."""

    refuted_by = ledgers.substituted_units_have_no_parts

    def charge(self, **request: Any) -> Any:
        try:
            return super().charge(**request)
        except BadParameter:
            return super().charge(**{**request, "parts": None})


class ForgetsItsDataset(Ledger):
    """The name of the data set is not written down."""

    refuted_by = ledgers.it_opens_as_it_was_made

    @classmethod
    def open(cls, *place: Any, **terms: Any) -> Any:
        return super().open(*place, **{name: value for name, value in terms.items() if name != "dataset"})


class TrustsAnchors(Ledger):
    """An anchor is not compared with the history."""

    refuted_by = ledgers.an_anchor_is_of_this_history

    def verify(self, *anchor: Any) -> Any:
        return super().verify()


class AnyAnalyst(Ledger):
    """The text of anything is the name of an analyst."""

    refuted_by = ledgers.bad_names_are_refused

    def charge(self, **request: Any) -> Any:
        return super().charge(**{**request, "analyst": str(request["analyst"])})


class Generous(Ledger):
    """What the budget does not cover is admitted, and nothing is written down."""

    refuted_by = ledgers.threads_race_for_the_last_unit

    def charge(self, **request: Any) -> Any:
        known = self.find(request["key"])
        try:
            return super().charge(**request)
        except BudgetExceeded:
            return known


class _FreeSteps(LedgerSession):
    def step(self, after: int, key: str, state: bytes, answer: bytes, loss: Any = None) -> bytes:
        return super().step(after, key, state, answer)


class _Redrawn(LedgerSession):
    def step(self, after: int, key: str, state: bytes, answer: bytes, loss: Any = None) -> bytes:
        super().step(after, key, state, answer, loss)
        return answer


class _Overhears(LedgerSession):
    def find(self, key: str) -> bytes | None:
        others = (c for c in self._ledger.history() if c.seq != self.charge.seq)
        return super().find(key) or next((f for c in others if (f := LedgerSession(self._ledger, c).find(key))), None)


class AnswersTwice(Ledger):
    """Whoever takes a step gets the new answer, though another was stored first."""

    refuted_by = ledger_sessions.a_session_takes_each_step_once

    def start(self, **request: Any) -> Any:
        return _Redrawn(self, super().start(**request).charge)


class StepsAreFree(Ledger):
    """A step costs nothing, whatever its price."""

    refuted_by = ledger_sessions.a_step_may_cost_more

    def start(self, **request: Any) -> Any:
        return _FreeSteps(self, super().start(**request).charge)


class ShowsStates(Ledger):
    """An export holds a private state."""

    refuted_by = ledger_sessions.states_stay_where_they_are

    def export(self, target: Any) -> None:
        super().export(target)
        target.write(json.dumps({"hash": self.head().hash, "data": "PRIVATE1"}) + "\n")


class Overhears(Ledger):
    """A session finds the answers of others."""

    refuted_by = ledger_sessions.sessions_do_not_hear_one_another

    def start(self, **request: Any) -> Any:
        return _Overhears(self, super().start(**request).charge)


ALL: tuple[Any, ...] = (
    RoundsPrices, TakesTheLast, CompletesAtAnyPrice, FreshIsFree, OneByOne, ForgetsAllowances, AlwaysOpen, AddsParts,
    AllIsAPart, MixesCurrencies, FailuresAreFree, ForgetsRelations, PartsOfAnything, ForgetsItsDataset, TrustsAnchors,
    AnyAnalyst, Generous, AnswersTwice, StepsAreFree, ShowsStates, Overhears,
)  # fmt: skip
