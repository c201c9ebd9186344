"""The cookie of a browser's session: no script reads it, and no other site has it sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..config import Settings
from ..store import Issued

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

COOKIE = "tacit_session"
_HOME = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><a href="/">Go on</a>'


def cookie(text: str, *, secure: bool) -> str:
    """What sets the cookie; an empty text ends it."""
    ends = "" if text else "; Max-Age=0"
    return f"{COOKIE}={text}; Path=/{ends}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"


def session_of(headers: str) -> str | None:
    """The session that a Cookie header shows."""
    found = None
    for part in headers.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            found = value
    return found


def until(settings: Settings) -> datetime:
    """When a session that begins now ends."""
    return datetime.now(UTC) + timedelta(hours=settings.service.session_hours)


def welcome(settings: Settings) -> Callable[[Request, Issued], Response]:
    """What answers who came from an OpenID provider: a page of ours that leads home.

    A browser sends a strict cookie only with what our own pages ask for, so the answer is no redirection.
    """
    from starlette.responses import HTMLResponse

    from .door import SECURITY

    def answer(_: Request, issued: Issued) -> Response:
        secure = settings.address.startswith("https:")
        return HTMLResponse(_HOME, headers={**SECURITY, "Set-Cookie": cookie(issued.text, secure=secure)})

    return answer
