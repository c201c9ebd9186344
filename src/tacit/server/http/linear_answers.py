"""The bodies of answers about linear queries, jobs and interactive sessions."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


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
