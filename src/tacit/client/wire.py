"""Questions and terms as they are sent, and what comes back as the library's own values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import storage
from ..core.accounting.budget import Amounts, Budget
from ..core.errors import reading
from ..core.parameters import rational
from ..curator.ask import Asked
from ..ledger import Charge
from ..ledger.encoding import read_amounts, read_budget, read_loss
from ..ledger.entries import FAILED
from ..query.plan.calibration import Step
from ..query.plan.offer import Offer
from ..query.relation.relation import Relation
from ..query.select.outputs import ReleasedColumn
from ..query.select.query import Aggregate, Query

Accounts = list[tuple[Budget, list[Amounts]]]
_MAX_WHOLE = 1 << 53  # of integers that are sent as such
_MAX_TEXT = 300  # characters of a number


def question(asked: Asked) -> dict[str, Any]:
    """A question as a body: the text of SQL, or what a question in Python means."""
    return {"sql": asked.text} if asked.text else {"query": storage.write(asked.query)}


def priced(asked: Asked, given: Mapping[str, Any]) -> dict[str, Any]:
    """A question and its terms as a body."""
    return {**question(asked), "terms": terms(given)}


def terms(given: Mapping[str, Any]) -> dict[str, str | int]:
    """Numbers as they were given, if they are whole or text; any other exactly, as text."""
    return {name: _number(name, value) for name, value in given.items() if value is not None}


def _number(name: str, value: Any) -> str | int:
    exact = rational(name, value)
    if type(value) is int and abs(value) <= _MAX_WHOLE:
        return value
    text = str(value).strip()
    return text if len(text) <= _MAX_TEXT and text.isascii() else str(exact)


def counting(relation: Relation) -> dict[str, Any]:
    """A question about these rows, whatever is asked of them: their count."""
    counted = Query(relation, (), (("count", Aggregate("count")),), (("count", ReleasedColumn("count")),))
    written: dict[str, Any] = storage.write(counted)
    return written


def offer_of(asked: Asked, budget: Budget, told: Mapping[str, Any]) -> Offer:
    """The offer that a service made for a question that was compiled here."""
    plan, recipes = asked.compiled.plan, asked.compiled.recipes
    with reading("this offer"):
        facts = {name: storage.read(value) for name, value in told["stored"].items() if name != "query"}
    measures, beta = (*plan.measures, *([None] if plan.chosen else [])), facts["beta"]
    steps = tuple(Step(measure, tried, beta) for measure, tried in zip(measures, facts["mechanisms"], strict=True))
    more: dict[str, Any] = {name: facts[name] for name in ("size", "typed", "delta", "raised")}
    more["bought"] = None if told["free"] is None else told["free"]["time"]
    return Offer(asked.query, plan, recipes, steps, facts["loss"], facts["price"], budget, beta, **more)


def accounts_of(told: Mapping[str, Any]) -> Accounts:
    """The budgets that a purchase is paid from, each with what is spent of it on each part."""
    return [(read_budget(each["budget"]), [*map(read_amounts, each["spent"])]) for each in told["accounts"]]


def charge_of(told: Mapping[str, Any]) -> Charge:
    """A charge; its key and its release stay with the service."""
    return Charge(
        seq=told["seq"],
        key="",
        draw=told["draw"],
        analyst=told["analyst"],
        loss=read_loss(told["loss"]),
        parts=None if told["parts"] is None else frozenset(told["parts"]),
        written_purpose=told["purpose"],
        time=told["time"],
        session=told["session"],
        hash=told["hash"],
        release=FAILED if told["failed"] else None,
    )
