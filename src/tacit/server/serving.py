"""Running the service: one process, or several over the same store and ledgers, until a signal ends them."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import log
from .config import Settings
from .processes import Processes
from .store import Store

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.applications import Starlette

    from .http.door import Door

GRACE = 30  # seconds that requests under way are given when the service ends
_IDLE = 15  # seconds after which a connection that asks for nothing is closed
_LATER = ("tacit.workloads", "tacit.engines.duckdb.engine", "duckdb")  # loaded once the service listens
_GARBAGE = (700, 10, 10)  # as Python sets it: the command line, which is short, lets garbage pile up


def run(settings: Settings, ready: Callable[[Settings], None]) -> None:
    """Serve until a signal ends it; `ready` is told once it listens, with the port that it has by then."""
    log.start()
    import_module("tacit.server.http.app")  # once, for all processes
    listening, port = _listen(settings, settings.service.port), settings.postgres.port
    second = None if port is None else SecondDoor(_listen(settings, port))
    settings = replace(settings, service=replace(settings.service, port=listening.getsockname()[1]))
    if second is not None:
        settings = replace(settings, postgres=replace(settings.postgres, port=second.listening.getsockname()[1]))
    ready(settings)
    gc.set_threshold(*_GARBAGE)
    gc.freeze()  # what was loaded is no garbage, and stays shared between the processes
    try:
        if settings.service.workers == 1:
            _serve(settings, listening, second)
            return
        Processes(settings.service.workers, lambda: _serve(settings, listening, second)).run(2 * GRACE)
    finally:
        if second is not None:
            second.cluster.close()


def _listen(settings: Settings, port: int) -> socket.socket:
    host = settings.service.host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host.strip("[]"), port), family=family, backlog=1024)


class SecondDoor:
    """PostgreSQL's protocol at a socket, and the shadow of all processes that answer there."""

    def __init__(self, listening: socket.socket) -> None:
        from .postgres import Cluster

        self.listening, self.cluster = listening, Cluster()

    def of(self, door: Door) -> AbstractAsyncContextManager[None]:
        """This door beside another one, in one process."""
        from .postgres import Door as Postgres

        return Postgres(door, door.service.settings, self.cluster).listening(self.listening)


def application(settings: Settings, second: SecondDoor | None = None) -> Starlette:
    """The application of one process: its own store, curators and threads."""
    from .http import application as over
    from .http.cookies import welcome
    from .oidc import routes as oidc_routes
    from .page import routes as page_routes
    from .page.learn import TOPICS
    from .service import Service

    store = Store.open(settings.service.store, create=False)
    pages = [*oidc_routes(store, settings, welcome(settings)), *page_routes(oidc=settings.oidc.issuer is not None)]
    return over(Service(store, settings), pages, TOPICS, *([] if second is None else [second.of]))


def _serve(settings: Settings, listening: socket.socket, second: SecondDoor | None) -> None:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(application(settings, second), **_options(settings)))
    threading.Thread(target=_load_the_rest, daemon=True).start()
    server.run(sockets=[listening])


def _load_the_rest() -> None:
    for name in _LATER:
        import_module(name)
    gc.freeze()


def _options(settings: Settings) -> dict[str, Any]:
    """The settings as uvicorn takes them."""
    service = settings.service
    tls = {"ssl_certfile": service.certificate, "ssl_keyfile": service.private_key} if service.certificate else {}
    return {
        "http": "tacit.server.http.protocol:Protocol",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "lifespan": "on",
        "proxy_headers": bool(service.proxies),
        "forwarded_allow_ips": list(service.proxies),
        "timeout_keep_alive": _IDLE,
        "timeout_graceful_shutdown": GRACE,
        "h11_max_incomplete_event_size": 16 * 1024,
        **tls,
    }
