"""The bodies of requests: every member is named here, and others are refused.

Numbers that a price is made of are text or whole numbers ("0.1", 2), never floats, so that they mean what is written.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Text = Annotated[str, Meta(min_length=1, max_length=200)]
Sql = Annotated[str, Meta(max_length=1 << 20)]  # `limits.sql` may be less
Exact = Annotated[str, Meta(max_length=300, pattern=r"^[0-9+\-./eE]+$")] | Annotated[int, Meta(ge=-(2**53), le=2**53)]
Count = Annotated[int, Meta(ge=1, le=2**53)]
Names = Annotated[list[Text], Meta(min_length=1, max_length=64)]


class Body(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """A body of JSON."""


class Price(Body, frozen=True, kw_only=True):
    """What something may cost, or, by `error` and `relative`, how good it must be; without any, what a policy sets."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    share: Exact | None = None
    rho: Exact | None = None
    error: Exact | None = None
    relative: Exact | None = None
    beta: Exact | None = None


class Question(Body, frozen=True, kw_only=True):
    """A question in SQL, or as tacit stores one, and its terms."""

    sql: Sql | None = None
    query: dict[str, Any] | None = None
    terms: Price = Price()


class Purchase(Question, frozen=True, kw_only=True):
    """A question to be bought; `fresh` buys another draw of one that was bought before, and a text names that draw."""

    fresh: bool | Text = False


class About(Body, frozen=True, kw_only=True):
    """The rows that a question is about; without one, all rows."""

    query: dict[str, Any] | None = None


class Rehearsal(Question, frozen=True, kw_only=True):
    """A question to be answered on made-up rows."""

    rows: Annotated[int, Meta(ge=1, le=100_000)] = 1000


class BoundsOf(Body, frozen=True, kw_only=True):
    """The column whose bounds are bought."""

    column: Text
    terms: Price = Price()
    fresh: bool | Text = False


class Tables(Body, frozen=True, kw_only=True):
    """Linear queries: all k-way cross-tables, or ranges, of some attributes; or a workload as tacit stores one."""

    attributes: Names | None = None
    kind: Literal["marginals", "prefixes", "ranges"] = "marginals"
    k: Annotated[int, Meta(ge=1, le=64)] | None = None
    workload: dict[str, Any] | None = None


class Planned(Tables, frozen=True, kw_only=True):
    """Linear queries to be planned; n is the exact number of records, if that is public."""

    n: Count | None = None
    terms: Price = Price()


class Answers(Planned, frozen=True, kw_only=True):
    """Linear queries to be bought."""

    method: Text = "auto"
    fresh: bool | Text = False


class Synthetic(Answers, frozen=True, kw_only=True):
    """Linear queries to be bought, and rows to be drawn that agree with their answers."""

    rows: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000


class Queries(Tables, frozen=True, kw_only=True):
    """Linear queries to be answered from what was bought before; `release` is the hash of its entry."""

    release: Text | None = None


class StreamOf(Body, frozen=True, kw_only=True):
    """A stream of counts to be opened."""

    threshold: Annotated[int, Meta(ge=-(2**53), le=2**53)]
    kind: Literal["above_threshold", "numeric_sparse"] = "above_threshold"
    count: Count = 1
    queries: Count = 1000
    name: Text = "stream"
    terms: Price = Price()


class StreamQuestion(Body, frozen=True, kw_only=True):
    """A count to be asked of a stream."""

    sql: Sql | None = None
    query: dict[str, Any] | None = None


class OnlineOf(Body, frozen=True, kw_only=True):
    """A session of online linear queries to be opened."""

    attributes: Names | None = None
    domain: dict[str, Any] | None = None
    queries: Count = 10_000
    updates: Count | None = None
    grid: Exact = 1
    n: Count | None = None
    name: Text = "online"
    terms: Price = Price()


class OnlineQuestion(Body, frozen=True, kw_only=True):
    """A linear query: a condition on each of some attributes, or a query as tacit stores one."""

    where: dict[str, str | int | bool | list[str | int | bool]] | None = None
    query: dict[str, Any] | None = None


class SyntheticRows(Body, frozen=True, kw_only=True):
    """Rows to be drawn from the model of an online session."""

    rows: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000


class Login(Body, frozen=True, kw_only=True):
    """A login link's secret, or a token."""

    link: Annotated[str, Meta(max_length=200)] | None = None
    token: Annotated[str, Meta(max_length=200)] | None = None


class Amount(Body, frozen=True, kw_only=True):
    """A budget: epsilon (alone or with delta), or rho (alone or with delta)."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None
    slack: Exact | None = None
    renyi_order: Exact | None = None


class PolicyOf(Body, frozen=True, kw_only=True):
    """What a role or a person may buy."""

    price: Price | None = None
    most: Exact | None = None
    allowance: Amount | None = None
    fresh: bool = False
    streams: bool = False
    workloads: bool = False
    synthetic: bool = False
    approval: Exact | None = None


class WhatIf(Question, frozen=True, kw_only=True):
    """A policy to be tried, and the question of which it is asked how many there may be."""

    policy: PolicyOf | None = None
    analyst: Text | None = None


class NewPerson(Body, frozen=True, kw_only=True):
    """A person to be added."""

    name: Text
    role: Literal["analyst", "owner"] = "analyst"


class NewToken(Body, frozen=True, kw_only=True):
    """A token, or a one-time login link, to be issued."""

    kind: Literal["token", "link"] = "token"
    label: Annotated[str, Meta(max_length=200)] = ""
    days: Annotated[int, Meta(ge=1, le=3660)] | None = None


class TableOf(Body, frozen=True, kw_only=True):
    """Where a table is, and its schema."""

    data: Text
    schema: Text | None = None


class NewDataSet(Body, frozen=True, kw_only=True):
    """A data set to be added; paths lie under the roots of the service."""

    name: Text
    tables: Annotated[list[TableOf], Meta(min_length=1, max_length=64)]
    public: dict[Text, Text] = {}
    ledger: Text | None = None
    budget: Amount | None = None
    engine: Text | None = None
    time_grid: Exact | None = None


class Decision(Body, frozen=True, kw_only=True):
    """Whether a purchase is approved."""

    approved: bool


class Predictions(Body, frozen=True, kw_only=True):
    """A submission to a leaderboard: the prediction for each id."""

    predictions: dict[Text, Annotated[str, Meta(max_length=200)] | float]


class Choice(Body, frozen=True, kw_only=True):
    """The submission of a team that is judged in the end."""

    number: Count
