"""Offers and answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from msgspec import Raw

from .... import storage
from ....core.accounting.currency import Amount
from ....query.plan.accuracy import Accuracy
from ....query.plan.offer import Offer
from ....query.select.selections import Lineage
from ...errors import BadRequest
from ...numbers import write_number
from ...service import idempotency, questions
from ..answers import Bought, BoundsAnswer, ColumnType, ErrorOf, OfferAnswer
from ..bodies import BoundsOf, Price, Purchase, Question, Rehearsal
from ..call import Answer, Call
from .formats import released
from .sets import left_of

MAX_KEY = 200  # characters of an Idempotency-Key


def terms_of(price: Price) -> dict[str, Any]:
    """The terms that were given."""
    return {name: value for name in price.__struct_fields__ if (value := getattr(price, name)) is not None}


def offer(call: Call) -> Answer:
    """What a question costs."""
    body: Question = call.body
    asked = questions.question_of(call.service, body.sql, body.query)
    found = questions.offer(call.service, call.access, asked, terms_of(body.terms))
    offered, limit = found.offer, found.offer.budget.limit
    share, after = float(Fraction(offered.price) / limit), float(Fraction(found.left_after) / limit)
    return Answer(
        OfferAnswer(
            price=exact(offered.price),
            share=share,
            budget=str(offered.budget),
            left=left_of(found.curator, found.left),
            left_after=after,
            covered=found.covered,
            needs_approval=found.needs_approval,
            refusal=found.refusal or None,
            free=None if found.bought is None else Bought(found.bought.seq, found.bought.time, found.bought.hash),
            confidence=float(1 - offered.beta),
            promised=offered.promised,
            remarks=offered.remarks,
            errors=[
                ErrorOf(e.name, finite(e.error), finite(_relative(offered, e)), e.text, e.theorem)
                for e in offered.errors
            ],
            schema=[ColumnType(name, kind) for name, kind in offered.schema],
            equivalents=equivalents(call, body.sql, found.terms),
            stored=Raw(stored_offer(offered)),
        )
    )


def _relative(offered: Offer, error: Accuracy) -> float | None:
    """The error of a count of rows as a share of all rows; of other numbers that share would say nothing."""
    column = Lineage.of(offered.query).columns[error.name].column
    recipe = dict(offered.recipes).get(column or "")
    counts = recipe is not None and recipe.kind == "count"
    return error.error / offered.size if counts and error.error and offered.size else None


def ask(call: Call) -> Answer:
    """Buy an answer."""
    body: Purchase = call.body
    asked = questions.question_of(call.service, body.sql, body.query)
    fresh = draw_name(call, body.fresh)
    sold = questions.ask(call.service, call.access, asked, terms_of(body.terms), fresh=fresh)
    alike = equivalents(call, body.sql, sold.terms)
    return released(call, sold.release, free=sold.free, alike=alike, limit=sold.curator.budget.limit)


def rehearse(call: Call) -> Answer:
    """Answer a question on made-up rows."""
    body: Rehearsal = call.body
    asked = questions.question_of(call.service, body.sql, body.query)
    made_up = questions.rehearse(call.service, call.access, asked, terms_of(body.terms), body.rows)
    alike, limit = equivalents(call, body.sql, made_up.terms), made_up.curator.budget.limit
    return released(call, made_up.release, free=True, alike=alike, limit=limit, rehearsal=True)


def bounds(call: Call) -> Answer:
    """Buy bounds of a column."""
    body: BoundsOf = call.body
    fresh = draw_name(call, body.fresh)
    bought, free = questions.bounds(call.service, call.access, body.column, terms_of(body.terms), fresh=fresh)
    lower, upper = (end.isoformat() if isinstance(end, date) else end for end in (bought.lower, bought.upper))
    stored = storage.canonical((bought.column, bought.lower, bought.upper, bought.beta, bought.beyond))
    return Answer(
        BoundsAnswer(
            column=bought.column,
            lower=lower,
            upper=upper,
            confidence=float(1 - bought.beta),
            beyond=bought.beyond,
            free=free,
            text=str(bought),
            stored=Raw(stored.encode()),
        )
    )


def draw_name(call: Call, fresh: bool | str) -> bool | str:
    """What a fresh draw is called: by the key that a client repeats a request under, so that it is bought once."""
    key = call.headers.get("idempotency-key")
    if key is None:
        return fresh
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise BadRequest(f"An Idempotency-Key must be 1 to {MAX_KEY} printable characters of ASCII.")
    idempotency.check(call.service.store, call.access, key, call.digest)
    return key if fresh is True else fresh


def exact(amount: Amount) -> str:
    """An amount as text."""
    return write_number(Fraction(amount)) if amount < math.inf else "infinity"


def finite(x: float | None) -> float | None:
    """A number for JSON."""
    return x if x is not None and math.isfinite(x) else None


def equivalents(call: Call, sql: str | None, terms: Mapping[str, Any]) -> dict[str, str]:
    """The same question elsewhere; one that was asked in Python is known there already."""
    if sql is None:
        return {}
    options = {name: str(value) for name, value in terms.items()}
    arguments = ", ".join(
        [json.dumps(sql, ensure_ascii=False), *(f'{name}="{text}"' for name, text in options.items())]
    )
    flags = " ".join(f"--{name} {text}" for name, text in options.items())
    quoted = "'" + sql.replace("'", "'\\''") + "'"
    return {
        "python": f"curator.ask({arguments})",
        "sql": sql,
        "cli": f"tacit ask {call.access.about.name} {quoted} {flags}".rstrip(),
    }


def stored_offer(offered: Offer) -> bytes:
    """What a client needs to make the same offer: its question, its mechanisms, its loss and its terms."""
    members = {
        "query": offered.query,
        "mechanisms": tuple(step.tried for step in offered.steps),
        "loss": offered.loss,
        "price": offered.price,
        "beta": offered.beta,
        "size": offered.size,
        "typed": offered.typed,
        "delta": offered.delta,
        "raised": offered.raised,
    }
    return ("{" + ",".join(f'"{name}":{storage.canonical(value)}' for name, value in members.items()) + "}").encode()
