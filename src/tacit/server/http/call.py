"""A request on its way to the service, and what goes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..jobs import Jobs
from ..service import Access, Service
from ..store import Login

JSON = "application/json"


@dataclass(frozen=True)
class Call:
    """A request that was let in: who asks for what, and the body as its type."""

    service: Service
    jobs: Jobs
    access: Access
    login: Login | None
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    digest: str  # of the body as it was sent
    secure: bool  # whether it came by TLS


@dataclass(frozen=True)
class Answer:
    """What goes back: a struct that becomes JSON, or bytes or an open file of a media type."""

    body: Any
    status: int = 200
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
