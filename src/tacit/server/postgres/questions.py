"""Questions through this door: their columns before they are asked, their answers, and offers.

The price of a question is the one in its text, else the one that the connection set, else the policy's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...core.accounting.currency import Amount
from ...core.exact import from_above
from ...core.safe_text import visible
from ...curator import Curator
from ...query.plan.answer_schema import answer_schema
from ...release import Release
from ..service import Access, Service, questions
from ..service.admission import PRICES
from .codec import Field
from .errors import SqlError
from .results import Result, columns, table
from .session import Session


def fields_of(curator: Curator, text: str) -> tuple[Field, ...]:
    """The columns of the answer to a question; reads no data and needs no price."""
    return columns(curator.answer_schema(text))


def terms_of(curator: Curator, text: str, said: Mapping[str, str]) -> dict[str, str]:
    """The terms that the connection set, unless the text names a price."""
    if not said:
        return {}
    named = curator.read(text, {})[1].keys() & {*PRICES}
    return {} if named else dict(said)


def ask(service: Service, access: Access, text: str, session: Session, formats: Sequence[int]) -> Result:
    """Buy the answer to a question."""
    questions.question_of(service, text, None)
    terms = terms_of(service.curator(access), text, session.terms)
    sold = questions.ask(service, access, text, terms)
    notices = () if session.quiet else (_paid(sold, access), *_errors(sold.release))
    return answer(sold.release, formats, notices)


def answer(release: Release, formats: Sequence[int], notices: tuple[str, ...] = ()) -> Result:
    """A release as rows."""
    kinds, content = answer_schema(release.query, release.recipes), list(release.columns.values())
    for (_, kind), column in zip(kinds, content, strict=True):
        if kind == "integer" and column.kind != "integer":
            says = "A number of this answer is too large for an integer of PostgreSQL."
            raise SqlError("22003", says, "Ask for it times 1.0, which is free now.")
    return table(columns(kinds), [column.tolist() for column in content], formats, notices)


def explain(service: Service, access: Access, text: str, session: Session, formats: Sequence[int]) -> Result:
    """The offer for a question, line by line; nothing is charged."""
    questions.question_of(service, text, None)
    found = questions.offer(service, access, text, terms_of(service.curator(access), text, session.terms))
    offered, limit = found.offer, found.offer.budget.limit
    share = float(Fraction(offered.price) / limit)
    lines = [*offered.explain().split("\n"), f"{_amount(found.left)} of {offered.budget} is left"]
    lines += ["what is left does not pay for it"] if not found.covered else []
    lines += [found.refusal] if found.refusal else []
    lines += ["an owner has to approve of it first"] if found.needs_approval else []
    errors = "; ".join(f"{error.name} {error}" for error in offered.errors)
    price, bought = float(offered.price), offered.bought is not None
    session.offers.appendleft((text, price, share, bought, visible(errors)))
    return table(columns([("QUERY PLAN", "text")]), [[visible(line) for line in lines]], formats)


def _paid(sold: questions.Sold, access: Access) -> str:
    """What was paid, and what is left to who asks."""
    curator = sold.curator
    left = f"{_amount(curator.seen_by(access.name).remaining)} of {curator.budget} is left."
    if sold.free:
        return f"Free, as it was bought before (entry {sold.release.provenance.entry}); {left}"
    return f"Paid {_amount(sold.release.price)} (entry {sold.release.provenance.entry}); {left}"


def _errors(release: Release) -> list[str]:
    """The error of each noisy column."""
    ranks, sure = release.ranks(release.beta), float(1 - release.beta)
    errors = release.error(release.beta)
    notices = []
    for name in release.names:
        error = errors.get(name)
        if name not in release.noisy_names or error is None or math.isnan(error):
            continue
        unit = " rows away from its rank" if name in ranks else ""
        notices.append(visible(f"{name}: +-{from_above(error)}{unit} with probability {sure:g}"))
    return notices


def _amount(amount: Amount) -> str:
    return f"{float(amount):.6g}"
