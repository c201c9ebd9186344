"""The bodies of answers to clients that are tacit itself."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class AccountOf(Struct, frozen=True):
    """A budget, and what is spent of it on each part of the data, as a ledger writes them."""

    budget: Any
    spent: list[Any]


class AccountsAnswer(Struct, frozen=True):
    """The budgets that a purchase is paid from, and whether anything is sold to who asks."""

    sells: bool
    accounts: list[AccountOf]


class ChargeOf(Struct, frozen=True):
    """A charge as a ledger writes it; the name of another analyst is not told."""

    seq: int
    draw: int
    analyst: str
    loss: Any
    parts: list[str] | None
    purpose: Any
    time: str
    session: bool
    hash: str
    failed: bool


class ChargeAnswer(Struct, frozen=True):
    """The charge by which something was bought, if it was."""

    charge: ChargeOf | None


class ChargesAnswer(Struct, frozen=True):
    """Charges, newest first; `before` asks for the next page."""

    charges: list[ChargeOf]
    before: int | None


class SessionAnswer(Struct, frozen=True):
    """How much of a session is left; of an online session also its public model, as tacit stores it."""

    left: int
    stored: Raw | None = None
