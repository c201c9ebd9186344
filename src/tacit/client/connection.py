"""Requests to a service: connections are kept alive and shared by threads, and TLS is verified.

A request that changes nothing, or that a ledger makes free when it is repeated, is sent again where a connection was
lost or the service has too much to do.  Any other request is sent once, on a new connection: then a connection that the
service had closed meanwhile is not taken for a request that was lost.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..core.errors import BadParameter
from ..core.parameters import instance
from .errors import ApprovalNeeded, Overloaded, Unreachable
from .refusals import error_of

JSON = "application/json"
_TRIES = 4  # of a request that may be sent again
_MAX_IDLE = 8  # connections that are kept
_LOST = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Reply:
    """What a service answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Connection:
    """A way to a service, for one bearer of a token.  Threads may share it."""

    def __init__(
        self, url: str, token: str, *, timeout: float, authority: str | os.PathLike[str] | None, plain: bool
    ) -> None:
        self.url, self._timeout, self._lock = instance("url", url, str).rstrip("/"), timeout, threading.Lock()
        self._place = _place(self.url, plain=plain)
        secret: object = token
        if not isinstance(secret, str) or not secret.isascii() or not secret.isprintable() or not secret:
            raise BadParameter("token", "something else", "the text of a token, as `tacit user token` shows it once")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": JSON, "User-Agent": "tacit"}
        trusted = None if authority is None else os.fspath(authority)
        self._tls = ssl.create_default_context(cafile=trusted) if self._place.scheme == "https" else None
        self._idle: list[http.client.HTTPConnection] = []
        self._owner = os.getpid()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        again: bool = True,
    ) -> Reply:
        """What the service answers, or the error that it tells of; sent again where need be only if `again`."""
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        sent = {**self._headers, **({} if data is None else {"Content-Type": JSON})}
        for left in range(_TRIES - 1 if again else 0, -1, -1):
            try:
                reply = self._sent(method, f"{self._place.path}{path}", data, sent, anew=not again)
            except _LOST as error:
                if not left or isinstance(error, ssl.SSLCertVerificationError):
                    raise Unreachable(self.url, _said(error)) from None
                continue
            if reply.status in (429, 503) and left and (after := _after(reply)) is not None:
                time.sleep(after)
                continue
            return self._checked(reply)
        raise AssertionError

    def _sent(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], *, anew: bool) -> Reply:
        connection = self._opened() if anew else self._taken()
        try:
            connection.request(method, path, data, dict(headers))
            answer = connection.getresponse()
            reply = Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        except BaseException:
            connection.close()
            raise
        self._given_back(connection)
        return reply

    def _checked(self, reply: Reply) -> Reply:
        """The answer of a service; a reply that no tacit service wrote raises an error that says so."""
        if reply.status < 400 and reply.status != 202:
            return reply
        try:
            told = reply.json()
            if reply.status == 202 and "approval" not in told:
                return reply
            if reply.status == 202:
                raise ApprovalNeeded(told["approval"])
            error = error_of(told)
        except (KeyError, TypeError, ValueError):
            raise Unreachable(self.url, f"it answered {reply.status}, and not as tacit does") from None
        if isinstance(error, Overloaded):
            error.status, error.after = reply.status, int(reply.headers.get("retry-after", "1"))
        raise error

    def _taken(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._owner != os.getpid():  # a forked process must not go on in the connections of its parent
                self._idle, self._owner = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        return self._opened()

    def _opened(self) -> http.client.HTTPConnection:
        host, port = self._place.hostname or "", self._place.port
        if self._tls is not None:
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _given_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _MAX_IDLE and connection.sock is not None:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"


def _place(url: str, *, plain: bool) -> SplitResult:
    """The parts of an address; a token is sent without TLS only within this machine, unless `plain` says otherwise."""
    try:
        place = urlsplit(url)
        valid = place.scheme in ("http", "https") and place.hostname and (place.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or place.query or place.fragment or place.username:
        raise BadParameter("url", url, "the address of a service, such as https://tacit.example.org")
    if place.scheme == "http" and not plain and not _here(place.hostname or ""):
        says = (
            "Over http:// anybody on the way could read the token. Use https://, or pass plain=True in a safe network."
        )
        raise BadParameter("url", url, "https://", says=says)
    return place


def _here(host: str) -> bool:
    """Whether this is a name of this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _after(reply: Reply) -> float | None:
    """The seconds after which a request that was not begun may be sent again; None where it was begun."""
    try:
        begun = reply.json()["error"]["code"] != "overloaded"
        return None if begun else min(float(reply.headers.get("retry-after", "1")), 10.0)
    except (KeyError, TypeError, ValueError):
        return None


def _said(error: Exception) -> str:
    """Why a connection failed, in a few words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return "it took longer than the timeout"
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
