"""The bodies of answers.  Amounts are exact texts ("0.1", "1/3"); beside them stand numbers to be shown."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class Health(Struct, frozen=True):
    """Whether the service is well."""

    status: str


class Me(Struct, frozen=True):
    """Who asks."""

    name: str
    role: str
    version: str


class Left(Struct, frozen=True):
    """What is left: exactly, as a share of the budget, and in words."""

    amount: str
    share: float
    text: str


class QuestionsLeft(Struct, frozen=True):
    """How many questions of one kind may still be bought; `at` is their accuracy or their price."""

    number: int
    at: str


class May(Struct, frozen=True):
    """What may be bought beside questions."""

    fresh: bool
    streams: bool
    workloads: bool
    synthetic: bool


class ColumnFacts(Struct, frozen=True):
    """What is public about a column."""

    name: str
    type: str
    lower: Any = None
    upper: Any = None
    grid: Any = None
    total: Any = None
    values: list[str] | None = None


class TableFacts(Struct, frozen=True):
    """What is public about a table; a public table has no unit."""

    name: str
    public: bool
    columns: list[ColumnFacts]
    unit: str | None = None
    rows: int | None = None
    groups: int | None = None
    size: int | None = None
    partition: str | None = None
    version: str | None = None


class DataSetBrief(Struct, frozen=True):
    """A data set in a list."""

    name: str
    unit: str
    budget: str
    remaining: Left
    questions_left: QuestionsLeft | None
    may: May


class DataSets(Struct, frozen=True):
    """The data sets that one may see."""

    datasets: list[DataSetBrief]


class DataSetAnswer(DataSetBrief, frozen=True):
    """A data set, and what one may buy from it."""

    limits: dict[str, str]
    least_share: str
    policy: dict[str, Any]
    tables: list[TableFacts]
    schemas: dict[str, str]


class ErrorOf(Struct, frozen=True):
    """How far a column may be off."""

    column: str
    error: float | None
    relative: float | None
    text: str
    theorem: str


class Bought(Struct, frozen=True):
    """What was bought before."""

    entry: int
    time: str
    hash: str


class ColumnType(Struct, frozen=True):
    """A column of an answer."""

    name: str
    type: str


class OfferAnswer(Struct, frozen=True):
    """What a question costs, and how good its answer will be."""

    price: str
    share: float
    budget: str
    left: Left
    left_after: float
    covered: bool
    needs_approval: bool
    refusal: str | None
    free: Bought | None
    confidence: float
    promised: str
    remarks: list[str]
    errors: list[ErrorOf]
    schema: list[ColumnType]
    equivalents: dict[str, str]
    stored: Raw


class AnswerColumn(Struct, frozen=True):
    """A column of an answer, with the ends of its intervals if it is one of numbers."""

    name: str
    kind: str
    noisy: bool
    values: list[Any]
    lower: list[float | None] | None = None
    upper: list[float | None] | None = None
    rank_error: float | None = None


class ReleaseAnswer(Struct, frozen=True):
    """An answer."""

    hash: str | None
    entry: int | None
    time: str
    question: str
    price: str
    share: float
    free: bool
    rehearsal: bool
    confidence: float
    rows: int
    columns: list[AnswerColumn]
    sentence: str
    equivalents: dict[str, str]
    release: Raw


class Approval(Struct, frozen=True):
    """A purchase that waits for an owner."""

    id: str
    dataset: str
    person: str
    request: str
    state: str
    asked: str
    decided: str | None
    decider: str | None

    @classmethod
    def of(cls, approval: Any) -> Approval:
        """What is told of a request for approval."""
        return cls(**{name: getattr(approval, name) for name in cls.__struct_fields__})


class ApprovalAnswer(Struct, frozen=True):
    """A purchase that waits for an owner, and what to do."""

    approval: Approval
    message: str


class Approvals(Struct, frozen=True):
    """Requests for approval, oldest first."""

    approvals: list[Approval]


class BoundsAnswer(Struct, frozen=True):
    """Bounds that were bought; both are null if too few values lie together for the price."""

    column: str
    lower: Any
    upper: Any
    confidence: float
    beyond: float
    free: bool
    text: str
    stored: Raw


class MethodRow(Struct, frozen=True):
    """A method for linear queries, with its predicted errors, or why it cannot be used."""

    rank: int
    method: str
    theorem: str
    mean: float | None
    rms: float | None
    worst: float | None
    kind: str | None
    seconds: float | None
    reason: str


class PlanAnswer(Struct, frozen=True):
    """Every method for linear queries, the best first."""

    workload: str
    queries: int
    price: str
    why: str
    remarks: list[str]
    surcharge: str
    methods: list[MethodRow]
    stored: Raw


class JobAnswer(Struct, frozen=True):
    """A job; `result` is where its result is, once it is done."""

    id: str
    dataset: str
    person: str
    kind: str
    state: str
    share: float
    code: str | None
    error: str | None
    entry: str | None
    result: str | None
    created: str
    changed: str


class JobList(Struct, frozen=True):
    """Jobs, newest first."""

    jobs: list[JobAnswer]


class Cell(Struct, frozen=True):
    """The answer to one linear query: its labels, or its text where it is no cell of a table."""

    labels: list[Any]
    value: float | None
    error: float | None


class AnswersAnswer(Struct, frozen=True):
    """Answers to linear queries; `attributes` name the labels if all are cells of one table, `domain` has all."""

    hash: str | None
    entry: int | None
    method: str | None
    price: str | None
    share: float | None
    confidence: float | None
    attributes: list[str] | None
    domain: list[str]
    queries: int
    cells: list[Cell]
    total: float | None
    statement: str
    notes: list[str]
    stored: Raw


class StreamAnswer(Struct, frozen=True):
    """A stream that is open: `id` is what it is asked by."""

    id: str
    mechanism: str
    free: bool
    left: int
    error: float
    stored: Raw


class StreamStep(Struct, frozen=True):
    """An answer of a stream: whether a count reaches the threshold, or about how much it is, else null."""

    answer: bool | int | float | None
    left: int


class OnlineOpened(Struct, frozen=True):
    """An online session that is open: `id` is what it is asked by."""

    id: str
    mechanism: str
    attributes: list[str]
    free: bool
    left: int
    error: float | None
    stored: Raw


class OnlineStep(Struct, frozen=True):
    """An answer of an online session, what it comes from, and how far it may be off."""

    value: float
    by: str
    error: float | None
    left: int


class PurchaseLine(Struct, frozen=True):
    """A line of the history."""

    entry: int
    hash: str
    time: str
    analyst: str
    kind: str
    what: str
    price: str
    share: float
    released: bool


class History(Struct, frozen=True):
    """Purchases, newest first; `before` asks for the next page."""

    entries: list[PurchaseLine]
    before: int | None


class HeadOf(Struct, frozen=True):
    """The last entry of a ledger."""

    seq: int
    hash: str


class LedgerPage(Struct, frozen=True):
    """Entries of a ledger, oldest first; `after` asks for the next page."""

    entries: list[dict[str, Any]]
    head: HeadOf
    after: int | None


class VerdictAnswer(Struct, frozen=True):
    """Whether a ledger is what was written, and, asked of a release, whether the ledger keeps it."""

    intact: bool
    entries: int
    head: HeadOf
    reason: str | None


class PolicyAnswer(Struct, frozen=True):
    """A policy, and whom it is for."""

    subject: str
    policy: dict[str, Any]


class Policies(Struct, frozen=True):
    """The policies on a data set."""

    policies: list[PolicyAnswer]


class PersonAnswer(Struct, frozen=True):
    """A person."""

    name: str
    role: str
    added: str
    revoked: str | None


class TokenAnswer(Struct, frozen=True):
    """A token, a login link or a session, without its text."""

    id: str
    person: str
    kind: str
    label: str
    created: str
    expires: str
    used: str | None
    revoked: str | None


class People(Struct, frozen=True):
    """Everybody, and their tokens."""

    people: list[PersonAnswer]
    tokens: list[TokenAnswer]


class IssuedAnswer(Struct, frozen=True):
    """A new token: its text is shown this once.  That of a link is opened as /login#TEXT."""

    text: str
    token: TokenAnswer


class WhatIfAnswer(Struct, frozen=True):
    """How many such questions a policy allows."""

    questions: int
    error: float | None
    share: float
    text: str


class ActAnswer(Struct, frozen=True):
    """An administrative act."""

    seq: int
    time: str
    actor: str
    act: str
    subject: str


class Acts(Struct, frozen=True):
    """Administrative acts, oldest first."""

    acts: list[ActAnswer]


class Done(Struct, frozen=True):
    """Something was done."""

    done: bool = True


class Card(Struct, frozen=True):
    """The card of a release."""

    card: dict[str, Any]


class PublishedAnswer(Struct, frozen=True):
    """A release that anybody may read."""

    hash: str
    dataset: str
    published: str


class SignedIn(Struct, frozen=True):
    """Who signed in, and until when."""

    name: str
    role: str
    expires: str
