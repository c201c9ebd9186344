"""What a client that is tacit itself asks beside the rest: public facts, written as a ledger writes them.

With them `tacit.connect` computes what is left, plans and receipts by the same code as a curator in its own process.
"""

from __future__ import annotations

from msgspec import Raw

from ....ledger import Charge
from ....ledger.encoding import write_amounts, write_budget, write_loss
from ....ledger.names import skeleton
from ....query.schema.public_table import arrow
from ....storage import canonical
from ...errors import NotFound
from ...person import ANOTHER
from ...service import questions, records, sessions
from ...service.admission import priced
from ..bodies import About, Purchase
from ..call import Answer, Call
from ..library_answers import AccountOf, AccountsAnswer, ChargeAnswer, ChargeOf, ChargesAnswer, SessionAnswer
from .formats import ARROW, arrow_file
from .questions import terms_of
from .records import MAX_PAGE, number


def accounts(call: Call) -> Answer:
    """What a purchase about some rows is paid from, and what is spent of it on each part that it touches."""
    body: About = call.body
    curator, parts = call.service.curator(call.access), None
    if body.query is not None:
        query, _ = curator.read(questions.question_of(call.service, None, body.query), {})
        parts = curator.parts(query.relation)
    ledger, who = curator.ledger, call.access.name
    found = [
        AccountOf(write_budget(budget), [*map(write_amounts, spent)]) for budget, spent in ledger.accounts(who, parts)
    ]
    return Answer(AccountsAnswer(ledger.sells_to(who), found))


def bought(call: Call) -> Answer:
    """The charge by which a question was bought before."""
    body: Purchase = call.body
    asked = questions.question_of(call.service, body.sql, body.query)
    curator = call.service.curator(call.access).seen_by(call.access.name)
    terms = priced(call.access, terms_of(body.terms), lambda: curator.read(asked, {})[1])
    charge = curator.bought(asked, fresh=body.fresh, **terms)
    return Answer(ChargeAnswer(None if charge is None else _charge(call, charge)))


def charges(call: Call) -> Answer:
    """One's own purchases, or for an owner everybody's."""
    count, before = min(number(call, "count", MAX_PAGE), MAX_PAGE), number(call, "before", 0)
    found = [r.charge for r in records.history(call.service, call.access, before=before or None, count=count)]
    more = found[-1].seq if found and len(found) == count else None
    return Answer(ChargesAnswer([_charge(call, charge) for charge in found], more))


def _charge(call: Call, charge: Charge) -> ChargeOf:
    mine = call.access.owner or skeleton(charge.analyst) == skeleton(call.access.name)
    purpose = {"kind": charge.purpose.kind, "description": charge.purpose.description if mine else "", "terms": None}
    return ChargeOf(
        seq=charge.seq,
        draw=charge.draw,
        analyst=charge.analyst if mine else ANOTHER,
        loss=write_loss(charge.loss),
        parts=None if charge.parts is None else sorted(charge.parts),
        purpose=purpose,
        time=charge.time,
        session=charge.session,
        hash=charge.hash,
        failed=charge.failed,
    )


def public_table(call: Call) -> Answer:
    """The rows of a public table, as an Arrow stream."""
    table = call.service.curator(call.access).public.get(call.path["table"])
    if table is None:
        raise NotFound("public table")
    return Answer(arrow_file(arrow(table.data), ARROW), media=ARROW)


def stream(call: Call) -> Answer:
    """How much of a stream is left."""
    return Answer(SessionAnswer(sessions.stream_left(call.service, call.access, call.path["session"])))


def online(call: Call) -> Answer:
    """How much of an online session is left, and its model."""
    left, model = sessions.online_model(call.service, call.access, call.path["session"])
    return Answer(SessionAnswer(left, Raw(canonical(model).encode())))
