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


class Done(Struct, frozen=True):
    """Something was done."""

    done: bool = True


class Card(Struct, frozen=True):
    """The card of a release."""

    card: dict[str, Any]


class SignedIn(Struct, frozen=True):
    """Who signed in, and until when."""

    name: str
    role: str
    expires: str
