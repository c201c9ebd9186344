"""All routes of the service."""

from __future__ import annotations

from ..access import Action
from . import answers, bodies
from .call import Answer, Call
from .door import Door
from .handlers import questions, sets
from .handlers.formats import FORMATS
from .routes import Route

MEDIA = tuple(FORMATS.values())


def table(door: Door) -> list[Route]:
    """The routes; those that are asked most stand first."""
    return [*_questions(), *_state(door), *_sets()]


def _questions() -> list[Route]:
    base = "/v1/datasets/{dataset}"
    return [
        Route(
            "POST",
            f"{base}/offers",
            Action.OFFER,
            questions.offer,
            "What a question costs, and how accurate its answer will be",
            bodies.Question,
            {200: answers.OfferAnswer},
        ),
        Route(
            "POST",
            f"{base}/asks",
            Action.BUY,
            questions.ask,
            "Buy the answer to a question; asked again, it is free",
            bodies.Purchase,
            {200: answers.ReleaseAnswer, 202: answers.ApprovalAnswer},
            media=MEDIA,
            refuses=(409,),
            query=("format",),
        ),
    ]


def _sets() -> list[Route]:
    return [
        Route("GET", "/v1/me", Action.SELF, sets.me, "Who asks", answers={200: answers.Me}),
        Route(
            "GET",
            "/v1/datasets",
            Action.LIST,
            sets.listed,
            "The data sets that one may see",
            answers={200: answers.DataSets},
        ),
        Route(
            "GET",
            "/v1/datasets/{dataset}",
            Action.SCHEMA,
            sets.described,
            "The public facts of a data set, and what one may buy",
            answers={200: answers.DataSetAnswer},
        ),
    ]


def _state(door: Door) -> list[Route]:
    def health(_: Call) -> Answer:
        return Answer(answers.Health("well"))

    def metrics(_: Call) -> Answer:
        return Answer(door.metrics.text(door.limits.running).encode(), media="text/plain; version=0.0.4")

    return [
        Route(
            "GET", "/health", Action.SERVICE_STATE, health, "Whether the service is well", answers={200: answers.Health}
        ),
        Route(
            "GET",
            "/metrics",
            Action.SERVICE_STATE,
            metrics,
            "How many requests there were, and how long they took",
            answers={200: ("text/plain",)},
        ),
    ]
