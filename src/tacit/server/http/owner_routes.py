"""The routes of owners: ledgers, policies, people and data sets."""

from __future__ import annotations

from typing import Any

from ..access import Action
from . import answers, bodies, owner_answers
from .handlers import custody, records
from .routes import Route

_SET = "/v1/datasets/{dataset}"
_DONE: dict[int, type[Any]] = {200: answers.Done}
OWNERS = (
    Route(
        "GET",
        f"{_SET}/ledger",
        Action.LEDGER,
        records.ledger,
        "Entries of the ledger, oldest first",
        answers={200: owner_answers.LedgerPage},
        refuses=(400,),
        query=("after", "count"),
    ),
    Route(
        "POST",
        f"{_SET}/ledger/verify",
        Action.LEDGER,
        records.verify,
        "Whether the ledger is what was written",
        answers={200: owner_answers.VerdictAnswer},
    ),
    Route(
        "GET",
        f"{_SET}/ledger/export",
        Action.LEDGER,
        records.export,
        "All entries of the ledger as JSON lines",
        answers={200: ("application/x-ndjson",)},
    ),
    Route(
        "GET",
        f"{_SET}/policies",
        Action.POLICIES,
        custody.policies,
        "All policies",
        answers={200: owner_answers.Policies},
    ),
    Route(
        "GET",
        f"{_SET}/policies/{{subject}}",
        Action.POLICIES,
        custody.policy,
        "The policy for a role or a person: role:analyst, role:owner, person:NAME",
        answers={200: owner_answers.PolicyAnswer},
        refuses=(422,),
    ),
    Route(
        "PUT",
        f"{_SET}/policies/{{subject}}",
        Action.POLICIES,
        custody.set_policy,
        "Set a policy",
        bodies.PolicyOf,
        {200: owner_answers.PolicyAnswer},
    ),
    Route(
        "DELETE",
        f"{_SET}/policies/{{subject}}",
        Action.POLICIES,
        custody.remove_policy,
        "Remove a policy",
        answers=_DONE,
        refuses=(422,),
    ),
    Route(
        "POST",
        f"{_SET}/whatif",
        Action.POLICIES,
        custody.what_if,
        "How many questions a policy would allow",
        bodies.WhatIf,
        {200: owner_answers.WhatIfAnswer},
    ),
    Route(
        "GET",
        "/v1/users",
        Action.PEOPLE,
        custody.people,
        "Everybody, and their tokens",
        answers={200: owner_answers.People},
    ),
    Route(
        "POST",
        "/v1/users",
        Action.PEOPLE,
        custody.add_person,
        "Add a person",
        bodies.NewPerson,
        {201: owner_answers.PersonAnswer},
        refuses=(409,),
    ),
    Route(
        "POST",
        "/v1/users/{person}/tokens",
        Action.PEOPLE,
        custody.issue,
        "Issue a token or a login link, whose text is shown once",
        bodies.NewToken,
        {201: owner_answers.IssuedAnswer},
    ),
    Route(
        "POST",
        "/v1/users/{person}/revoke",
        Action.PEOPLE,
        custody.revoke,
        "Shut a person out",
        answers=_DONE,
        refuses=(409, 422),
    ),
    Route("DELETE", "/v1/tokens/{token}", Action.PEOPLE, custody.revoke_token, "End a token", answers=_DONE),
    Route(
        "POST",
        "/v1/datasets",
        Action.DATASETS,
        custody.add_dataset,
        "Serve a data set",
        bodies.NewDataSet,
        {201: answers.Done},
        refuses=(409,),
    ),
    Route("DELETE", _SET, Action.DATASETS, custody.remove_dataset, "Serve a data set no longer", answers=_DONE),
    Route("GET", "/v1/acts", Action.PEOPLE, custody.acts, "Administrative acts", answers={200: owner_answers.Acts}),
)
