"""Offers and answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from msgspec import Raw

from .... import storage
from ....core.accounting.currency import Amount
from ....query.plan.offer import Offer
from ....query.select.outputs import ReleasedColumn
from ...numbers import write_number
from ...service import questions
from ..answers import ColumnType, ErrorOf, OfferAnswer
from ..bodies import Price, Purchase, Question
from ..call import Answer, Call
from .formats import released
from .sets import left_of

_KINDS = {"count": "integer", "units": "integer", "sum": "number", "top": "text"}


def terms_of(price: Price) -> dict[str, Any]:
    """The terms that were given."""
    return {name: value for name in price.__struct_fields__ if (value := getattr(price, name)) is not None}


def offer(call: Call) -> Answer:
    """What a question costs."""
    body: Question = call.body
    asked = questions.question_of(body.sql, body.query)
    found = questions.offer(call.service, call.access, asked, terms_of(body.terms))
    offered, limit = found.offer, found.offer.budget.limit
    share, left = float(Fraction(offered.price) / limit), float(Fraction(found.left) / limit)
    size = offered.size
    return Answer(
        OfferAnswer(
            price=exact(offered.price),
            share=share,
            budget=str(offered.budget),
            left=left_of(found.curator),
            left_after=max(0.0, left - share),
            covered=found.covered,
            needs_approval=found.needs_approval,
            refusal=found.refusal or None,
            free=None,
            confidence=float(1 - offered.beta),
            promised=offered.promised,
            remarks=offered.remarks,
            errors=[
                ErrorOf(
                    e.name, finite(e.error), finite(e.error / size if e.error and size else None), e.text, e.theorem
                )
                for e in offered.errors
            ],
            schema=_columns(offered),
            equivalents=equivalents(call, body.sql, found.terms),
            stored=Raw(stored_offer(offered)),
        )
    )


def ask(call: Call) -> Answer:
    """Buy an answer."""
    body: Purchase = call.body
    asked = questions.question_of(body.sql, body.query)
    sold = questions.ask(call.service, call.access, asked, terms_of(body.terms), fresh=body.fresh)
    alike = equivalents(call, body.sql, sold.terms)
    return released(call, sold.release, free=sold.free, alike=alike, limit=sold.curator.budget.limit)


def exact(amount: Amount) -> str:
    """An amount as text."""
    return write_number(Fraction(amount)) if amount < math.inf else "infinity"


def finite(x: float | None) -> float | None:
    """A number for JSON."""
    return x if x is not None and math.isfinite(x) else None


def _columns(offered: Offer) -> list[ColumnType]:
    """The columns that the answer will have."""
    recipes, keys = dict(offered.recipes), {key.name: key.domain.kind for key in offered.query.keys}
    found = []
    for name, output in offered.query.outputs:
        kind = "number"
        if isinstance(output, ReleasedColumn):
            recipe = recipes.get(output.name)
            kind = _KINDS.get(recipe.kind, "number") if recipe is not None else keys.get(output.name, "number")
        found.append(ColumnType(name, kind))
    return found


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
