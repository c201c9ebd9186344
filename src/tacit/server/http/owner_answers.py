"""The bodies of answers about ledgers, policies and people."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


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


class PublishedAnswer(Struct, frozen=True):
    """A release that anybody may read."""

    hash: str
    dataset: str
    published: str
