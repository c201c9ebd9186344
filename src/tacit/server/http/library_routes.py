"""The routes of clients that are tacit itself (`tacit.connect`), beside those of everybody."""

from __future__ import annotations

from ..access import Action
from . import bodies
from . import library_answers as answers
from .handlers import library
from .handlers.formats import ARROW
from .routes import Route

_SET = "/v1/datasets/{dataset}"
LIBRARY = (
    Route(
        "POST",
        f"{_SET}/accounts",
        Action.OFFER,
        library.accounts,
        "What a purchase is paid from, for clients that are tacit itself",
        bodies.About,
        {200: answers.AccountsAnswer},
    ),
    Route(
        "POST",
        f"{_SET}/bought",
        Action.OFFER,
        library.bought,
        "The charge by which a question was bought before",
        bodies.Purchase,
        {200: answers.ChargeAnswer},
        refuses=(409,),
    ),
    Route(
        "GET",
        f"{_SET}/charges",
        Action.HISTORY,
        library.charges,
        "What was bought, as a ledger writes it: one's own purchases, or for an owner everybody's",
        answers={200: answers.ChargesAnswer},
        refuses=(400,),
        query=("before", "count"),
    ),
    Route(
        "GET",
        f"{_SET}/public/{{table}}",
        Action.SCHEMA,
        library.public_table,
        "The rows of a public table",
        answers={200: (ARROW,)},
    ),
    Route(
        "GET",
        f"{_SET}/streams/{{session}}",
        Action.BUY,
        library.stream,
        "How much of a stream is left",
        answers={200: answers.SessionAnswer},
        refuses=(409, 422),
    ),
    Route(
        "GET",
        f"{_SET}/online/{{session}}",
        Action.BUY,
        library.online,
        "How much of an online session is left, and its model",
        answers={200: answers.SessionAnswer},
        refuses=(409, 422),
    ),
)
