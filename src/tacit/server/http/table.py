"""The routing table: all that is answered, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..access import Action
from ..errors import NotFound
from . import answers, bodies, linear_answers, owner_answers
from .board_routes import BOARDS
from .call import JSON, Answer, Call
from .handlers import custody, interactive, linear, questions, records, sets
from .handlers.formats import FORMATS
from .library_routes import LIBRARY
from .owner_routes import OWNERS
from .routes import Route

_SET = "/v1/datasets/{dataset}"
_MEDIA = tuple(media for media in FORMATS.values() if media != JSON)
_CELLS = tuple(media for media in linear.CELLS.values() if media != JSON)
_ROWS = tuple(media for media in linear.ROWS.values() if media != JSON)
_RELEASE: dict[int, type[Any]] = {200: answers.ReleaseAnswer}
_BOUGHT: dict[int, type[Any]] = {200: answers.ReleaseAnswer, 202: answers.ApprovalAnswer}
_JOB: dict[int, type[Any]] = {202: linear_answers.JobAnswer}
_DONE: dict[int, type[Any]] = {200: answers.Done}

# The routes that are asked most stand first.
QUESTIONS = (
    Route(
        "POST",
        f"{_SET}/asks",
        Action.BUY,
        questions.ask,
        "Buy the answer to a question; asked again, it is free",
        bodies.Purchase,
        _BOUGHT,
        media=_MEDIA,
        refuses=(406, 409),
        query=("format",),
        keyed=True,
    ),
    Route(
        "POST",
        f"{_SET}/offers",
        Action.OFFER,
        questions.offer,
        "What a question costs, and how accurate its answer will be",
        bodies.Question,
        {200: answers.OfferAnswer},
    ),
    Route(
        "POST",
        f"{_SET}/rehearsals",
        Action.OFFER,
        questions.rehearse,
        "Answer a question on made-up rows; free, and no data are read",
        bodies.Rehearsal,
        _RELEASE,
        media=_MEDIA,
        refuses=(406,),
        query=("format",),
    ),
    Route(
        "POST",
        f"{_SET}/bounds",
        Action.BUY,
        questions.bounds,
        "Buy bounds of a column",
        bodies.BoundsOf,
        {200: answers.BoundsAnswer, 202: answers.ApprovalAnswer},
        refuses=(409,),
        keyed=True,
    ),
)
LINEAR = (
    Route(
        "POST",
        f"{_SET}/plans",
        Action.OFFER,
        linear.plan,
        "Every method for linear queries, with its predicted error",
        bodies.Planned,
        {200: linear_answers.PlanAnswer},
    ),
    Route(
        "POST",
        f"{_SET}/answers",
        Action.BUY,
        linear.answers,
        "Buy the answers of linear queries, in the background",
        bodies.Answers,
        _JOB,
        refuses=(409,),
        keyed=True,
    ),
    Route(
        "POST",
        f"{_SET}/synthetic",
        Action.BUY,
        linear.synthetic,
        "Buy synthetic rows, in the background",
        bodies.Synthetic,
        _JOB,
        refuses=(409,),
        keyed=True,
    ),
    Route(
        "POST",
        f"{_SET}/queries",
        Action.HISTORY,
        linear.query,
        "Answer linear queries from what was bought before; free",
        bodies.Queries,
        {200: linear_answers.AnswersAnswer},
        media=_CELLS,
        refuses=(406,),
        query=("format",),
    ),
    Route("GET", "/v1/jobs", Action.JOBS, linear.jobs, "One's own jobs", answers={200: linear_answers.JobList}),
    Route("GET", "/v1/jobs/{job}", Action.JOBS, linear.job, "A job", answers={200: linear_answers.JobAnswer}),
    Route(
        "DELETE", "/v1/jobs/{job}", Action.JOBS, linear.cancel, "Cancel a job", answers={200: linear_answers.JobAnswer}
    ),
    Route(
        "GET",
        "/v1/jobs/{job}/result",
        Action.JOBS,
        linear.result,
        "What a job bought: answers, or synthetic rows",
        answers={200: linear_answers.AnswersAnswer},
        media=(*_CELLS, *_ROWS),
        refuses=(400, 406, 409, 422),
        query=("format",),
    ),
)
INTERACTIVE = (
    Route(
        "POST",
        f"{_SET}/streams",
        Action.BUY,
        interactive.open_stream,
        "Open a stream of counts, or go on with one",
        bodies.StreamOf,
        {200: linear_answers.StreamAnswer, 202: answers.ApprovalAnswer},
        refuses=(409,),
    ),
    Route(
        "POST",
        f"{_SET}/streams/{{session}}/asks",
        Action.BUY,
        interactive.ask_stream,
        "Ask a stream whether a count reaches its threshold",
        bodies.StreamQuestion,
        {200: linear_answers.StreamStep},
        refuses=(409,),
    ),
    Route(
        "POST",
        f"{_SET}/online",
        Action.BUY,
        interactive.open_online,
        "Open a session of online linear queries, or go on with one",
        bodies.OnlineOf,
        {200: linear_answers.OnlineOpened, 202: answers.ApprovalAnswer},
        refuses=(409,),
    ),
    Route(
        "POST",
        f"{_SET}/online/{{session}}/asks",
        Action.BUY,
        interactive.ask_online,
        "Ask an online session a linear query",
        bodies.OnlineQuestion,
        {200: linear_answers.OnlineStep},
        refuses=(409,),
    ),
    Route(
        "POST",
        f"{_SET}/online/{{session}}/synthetic",
        Action.BUY,
        interactive.draw_online,
        "Rows drawn from the model of an online session; free",
        bodies.SyntheticRows,
        {200: dict},
        media=_ROWS,
        refuses=(406, 409),
        query=("format",),
    ),
)
SETS = (
    Route("GET", "/v1/me", Action.SELF, sets.me, "Who asks", answers={200: answers.Me}),
    Route(
        "GET", "/v1/datasets", Action.LIST, sets.listed, "The data sets one may see", answers={200: answers.DataSets}
    ),
    Route(
        "GET",
        _SET,
        Action.SCHEMA,
        sets.described,
        "The public facts of a data set, and what one may buy",
        answers={200: answers.DataSetAnswer},
    ),
    Route("GET", f"{_SET}/remaining", Action.SCHEMA, sets.remaining, "What is left", answers={200: answers.Left}),
    Route(
        "GET",
        f"{_SET}/history",
        Action.HISTORY,
        records.history,
        "What was bought, newest first: one's own purchases, or for an owner everybody's",
        answers={200: answers.History},
        media=("text/csv",),
        refuses=(400, 406),
        query=("before", "count", "format"),
    ),
)
RELEASES = (
    Route(
        "GET",
        "/v1/releases/{hash}",
        Action.PUBLISHED,
        records.release,
        "A release by the hash of its entry; anybody may read one that is published",
        answers=_RELEASE,
        media=_MEDIA,
        refuses=(400, 406),
        query=("format",),
    ),
    Route("GET", "/v1/releases/{hash}/card", Action.PUBLISHED, records.card, "Its card", answers={200: answers.Card}),
    Route(
        "GET",
        "/v1/releases/{hash}/verify",
        Action.PUBLISHED,
        records.verify_release,
        "Whether its ledger keeps it, and is what was written",
        answers={200: owner_answers.VerdictAnswer},
    ),
    Route(
        "POST",
        "/v1/releases/{hash}/publish",
        Action.PUBLISH,
        records.publish,
        "Let anybody read it, for good",
        answers={200: owner_answers.PublishedAnswer},
    ),
)
APPROVALS = (
    Route(
        "GET",
        "/v1/approvals",
        Action.APPROVALS,
        custody.approvals,
        "Requests for approval: one's own, or for an owner everybody's",
        answers={200: answers.Approvals},
    ),
    Route(
        "POST",
        "/v1/approvals/{approval}",
        Action.APPROVE,
        custody.decide,
        "Approve of a purchase, or deny it",
        bodies.Decision,
        {200: answers.Approval},
        refuses=(409,),
    ),
)
SIGNING_IN = (
    Route(
        "POST",
        "/v1/login",
        Action.SIGN_IN,
        custody.sign_in,
        "Open a session of a browser by a login link or a token",
        bodies.Login,
        {200: answers.SignedIn},
        refuses=(401, 403),
    ),
    Route("POST", "/v1/logout", Action.SIGN_IN, custody.sign_out, "End the session", answers=_DONE, refuses=(401, 403)),
)


def state(metrics: Callable[[], str], description: Callable[[], bytes]) -> tuple[Route, ...]:
    """Routes about the service itself."""
    well = Answer(answers.Health("well"))
    return (
        Route("GET", "/health", Action.HEALTH, well, "Whether it is well", answers={200: answers.Health}),
        Route(
            "GET",
            "/metrics",
            Action.METRICS,
            lambda _: Answer(metrics().encode(), media="text/plain; version=0.0.4"),
            "How many requests there were, and how long they took",
            answers={200: ("text/plain",)},
        ),
        Route(
            "GET",
            "/v1/openapi.json",
            Action.DESCRIPTION,
            lambda _: Answer(description()),
            "This description",
            answers={200: dict},
        ),
    )


def learning(topics: Mapping[str, Callable[[], Any]]) -> tuple[Route, ...]:
    """The route of public theory."""

    def topic(call: Call) -> Answer:
        found = topics.get(call.path["topic"])
        if found is None:
            raise NotFound("topic")
        return Answer(found())

    return (Route("GET", "/v1/learn/{topic}", Action.LEARN, topic, "Figures of public theory", answers={200: dict}),)


ROUTES = (*QUESTIONS, *LINEAR, *INTERACTIVE, *LIBRARY, *SETS, *BOARDS, *RELEASES, *OWNERS, *APPROVALS, *SIGNING_IN)
