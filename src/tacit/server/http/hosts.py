"""Names of the service: on loopback it answers to names of this machine, and to the one of its origin.

A site can have its own name lead to 127.0.0.1 (DNS rebinding), and browsers then take this service for a part of that
site, whose pages read what they get from here.  The Host header tells, since no page chooses it.  A service that
listens elsewhere is reached through TLS or a proxy, which check names themselves.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from ..config import Settings, loopback

App = Callable[[Any, Any, Any], Awaitable[None]]
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:@/\[\]]+)(?::[0-9]*)?", re.IGNORECASE)


class OwnNames:
    """Lets requests in that call the service by a name of its own, and has `refuse` answer others."""

    def __init__(self, app: App, settings: Settings, refuse: App) -> None:
        self._app, self._refuse = app, refuse
        self._anything = not loopback(settings.service.host)
        self._origin = urlsplit(settings.service.origin or "").hostname

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        known = self._anything or scope["type"] != "http" or all(map(self._known, _hosts(scope)))
        await (self._app if known else self._refuse)(scope, receive, send)

    def _known(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        name = "" if found is None else found[1].strip("[]").lower()
        return loopback(name) or (self._origin is not None and name == self._origin)


def _hosts(scope: Any) -> list[str]:
    """The Host headers; browsers send one, and a request without any is none of a browser."""
    return [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
