"""What owners do, and signing in and out."""

from __future__ import annotations

import msgspec

from ....core.parameters import rational
from ...errors import BadRequest, Unauthenticated
from ...numbers import read_budget
from ...policy import Policy, read_policy, subject, write_policy
from ...service import custody, questions
from ...store import DataSet, TableSource, TokenInfo
from ..answers import Approval, Approvals, Done, SignedIn
from ..bodies import Decision, Login, NewDataSet, NewPerson, NewToken, PolicyOf, WhatIf
from ..call import Answer, Call
from ..cookies import cookie, until
from ..owner_answers import (
    ActAnswer,
    Acts,
    IssuedAnswer,
    People,
    PersonAnswer,
    Policies,
    PolicyAnswer,
    TokenAnswer,
    WhatIfAnswer,
)
from .questions import finite, terms_of


def _facts(body: msgspec.Struct) -> dict[str, object]:
    """The members that were given."""
    return {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not None}


def policies(call: Call) -> Answer:
    """The policies on a data set."""
    found = custody.policies(call.service, call.access)
    return Answer(Policies([PolicyAnswer(whom, write_policy(each)) for whom, each in found.items()]))


def policy(call: Call) -> Answer:
    """One policy."""
    whom = call.path["subject"]
    return Answer(PolicyAnswer(subject(whom), write_policy(custody.policy(call.service, call.access, whom))))


def policy_of(body: PolicyOf) -> Policy:
    """The policy that a body describes."""
    facts = _facts(body)
    for name in ("price", "allowance"):
        if name in facts:
            facts[name] = _facts(facts[name])  # type: ignore[arg-type]
    return read_policy(facts)


def set_policy(call: Call) -> Answer:
    """Set a policy."""
    whom, new = call.path["subject"], policy_of(call.body)
    custody.set_policy(call.service, call.access, whom, new)
    return Answer(PolicyAnswer(subject(whom), write_policy(new)))


def remove_policy(call: Call) -> Answer:
    """Remove a policy."""
    custody.remove_policy(call.service, call.access, call.path["subject"])
    return Answer(Done())


def what_if(call: Call) -> Answer:
    """How many questions a policy would allow."""
    body: WhatIf = call.body
    tried = call.access.rules if body.policy is None else policy_of(body.policy)
    asked, terms = questions.question_of(call.service, body.sql, body.query), terms_of(body.terms)
    allows = custody.what_if(call.service, call.access, tried, asked, terms=terms, analyst=body.analyst)
    errors = [each.error for each in allows.offer.errors if each.error]
    share = float(allows.offer.price / allows.offer.budget.limit)
    return Answer(WhatIfAnswer(allows.questions, finite(max(errors, default=None)), share, allows.text))


def people(call: Call) -> Answer:
    """Everybody, and their tokens."""
    store = call.service.store
    persons = [PersonAnswer(each.name, each.role, each.added, each.revoked) for each in store.people()]
    return Answer(People(persons, [_token(each) for each in store.tokens()]))


def _token(info: TokenInfo) -> TokenAnswer:
    return TokenAnswer(**{name: getattr(info, name) for name in TokenAnswer.__struct_fields__})


def add_person(call: Call) -> Answer:
    """Add a person."""
    body: NewPerson = call.body
    added = call.service.store.add_person(body.name, body.role, by=call.access.name)
    return Answer(PersonAnswer(added.name, added.role, added.added, added.revoked), 201)


def issue(call: Call) -> Answer:
    """Issue a token or a login link."""
    body: NewToken = call.body
    terms = {"kind": body.kind, "label": body.label, "days": body.days}
    issued = custody.issue(call.service, call.access, call.path["person"], **terms)  # type: ignore[arg-type]
    return Answer(IssuedAnswer(issued.text, _token(issued.info)), 201)


def revoke(call: Call) -> Answer:
    """Shut a person out."""
    custody.revoke(call.service, call.access, call.path["person"])
    return Answer(Done())


def revoke_token(call: Call) -> Answer:
    """End a token."""
    custody.revoke_token(call.service, call.access, call.path["token"])
    return Answer(Done())


def add_dataset(call: Call) -> Answer:
    """Serve a data set."""
    body: NewDataSet = call.body
    tables = tuple(TableSource(each.data, each.schema or _beside(each.data)) for each in body.tables)
    budget = None if body.budget is None else read_budget(_facts(body.budget))  # type: ignore[arg-type]
    grid = None if body.time_grid is None else rational("time_grid", body.time_grid)
    public = tuple(sorted(body.public.items()))
    given = DataSet(body.name, tables, body.ledger or "", budget, public, body.engine, grid)
    added = custody.add_dataset(call.service, call.access, given)
    return Answer(Done(), 201, headers={"Location": f"/v1/datasets/{added.name}"})


def _beside(data: str) -> str:
    """The schema beside a file."""
    stem, stop, _ = data.rpartition(".")
    if not stop or "://" in data:
        raise BadRequest("Give the schema of each table that is no file.")
    return f"{stem}.toml"


def remove_dataset(call: Call) -> Answer:
    """Serve a data set no longer."""
    custody.remove_dataset(call.service, call.access)
    return Answer(Done())


def approvals(call: Call) -> Answer:
    """Requests for approval."""
    return Answer(Approvals([Approval.of(each) for each in custody.approvals(call.service, call.access)]))


def decide(call: Call) -> Answer:
    """Approve of a purchase, or deny it."""
    body: Decision = call.body
    return Answer(Approval.of(custody.decide(call.service, call.access, call.path["approval"], approved=body.approved)))


def acts(call: Call) -> Answer:
    """The log of administrative acts."""
    found = call.service.store.acts()
    return Answer(Acts([ActAnswer(each.seq, each.time, each.actor, each.act, each.subject) for each in found[-1000:]]))


def sign_in(call: Call) -> Answer:
    """Open a session of a browser by a login link, which is used up, or by a token."""
    body: Login = call.body
    if (body.link is None) == (body.token is None):
        raise BadRequest("Give a `link` or a `token`, and not both.")
    store, ends = call.service.store, until(call.service.settings)
    if body.link is not None:
        issued = store.redeem_link(body.link, ends)
    else:
        login = store.authenticate(body.token or "")
        name = "" if login is None else login.person.name
        issued = (
            None if login is None else store.issue_token(name, "session", expires=ends, by=name, parent=login.token.id)
        )
    if issued is None:
        raise Unauthenticated
    person = store.person(issued.info.person)
    assert person is not None
    headers = {"Set-Cookie": cookie(issued.text, secure=call.secure)}
    return Answer(SignedIn(person.name, person.role, issued.info.expires), headers=headers)


def sign_out(call: Call) -> Answer:
    """End the session of a browser."""
    if call.login is not None and call.login.token.kind == "session":
        call.service.store.revoke_token(call.login.token.id, by=call.login.person.name)
    return Answer(Done(), headers={"Set-Cookie": cookie("", secure=call.secure)})
