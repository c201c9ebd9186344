"""What the store holds, as values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

from ...core.accounting.budget import Budget
from ..person import Person

Kind = Literal["token", "link", "session"]
Decision = Literal["pending", "approved", "denied", "used"]
Progress = Literal["queued", "running", "cancelling", "done", "failed", "cancelled"]

KINDS: tuple[Kind, ...] = get_args(Kind)
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True)
class TokenInfo:
    """What is known of a token, a login link or a browser session; its text is known to its bearer alone."""

    id: str
    person: str
    kind: Kind
    label: str
    created: str
    expires: str
    used: str | None = None  # the day on which it was last used
    revoked: str | None = None


class Issued(NamedTuple):
    """A new token: its text, which is shown once, and what is stored of it."""

    text: str
    info: TokenInfo


class Login(NamedTuple):
    """Who bears a token that was accepted, and which token it was."""

    person: Person
    token: TokenInfo


@dataclass(frozen=True)
class TableSource:
    """A private table: a file or the URL of a database, and its schema; the schema may name the data itself."""

    data: str | None
    schema: str


@dataclass(frozen=True)
class DataSet:
    """What a curator is opened with.  `public` are the files of public tables by name."""

    name: str
    tables: tuple[TableSource, ...]
    ledger: str
    budget: Budget | None = None  # None if the ledger exists
    public: tuple[tuple[str, str], ...] = ()
    engine: str | None = None
    time_grid: Fraction | None = None
    deadline: Fraction | None = None


@dataclass(frozen=True)
class Approval:
    """A purchase that waits for an owner, or was decided; once it is approved, its analyst asks again and buys it."""

    id: str
    dataset: str
    person: str
    digest: str
    request: str
    state: Decision
    asked: str
    decided: str | None = None
    decider: str | None = None


@dataclass(frozen=True)
class Job:
    """Work in the background: a workload or synthetic data."""

    id: str
    dataset: str
    person: str
    kind: str
    request: str
    state: Progress
    share: float
    error: str | None
    result: str | None
    worker: str | None
    created: str
    changed: str

    @property
    def over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("done", "failed", "cancelled")


@dataclass(frozen=True)
class Publication:
    """A release that anybody may read."""

    hash: str
    dataset: str
    publisher: str
    published: str


@dataclass(frozen=True)
class Act:
    """An administrative act: when, who, what, and about whom or what; never a value."""

    seq: int
    time: str
    actor: str
    act: str
    subject: str
