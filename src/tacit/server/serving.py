"""Running the service: one process, or several over the same store and ledgers, until a signal ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .config import Settings
from .http import log
from .service import Service
from .store import Store

if TYPE_CHECKING:
    from starlette.applications import Starlette

GRACE = 30  # seconds that requests under way are given when the service ends
_IDLE = 15  # seconds after which a connection that asks for nothing is closed


def open_service(settings: Settings) -> Service:
    """The service over its store, which must exist."""
    return Service(Store.open(settings.service.store, create=False), settings)


def app() -> Starlette:
    """The application of one process, by the configuration in the environment of that process."""
    from .http import application
    from .http.cookies import welcome
    from .oidc import routes as oidc_routes
    from .page import routes as page_routes
    from .page.learn import TOPICS

    log.start()
    settings = Settings.load()
    service = open_service(settings)
    pages = [*oidc_routes(service.store, settings, welcome(settings)), *page_routes()]
    return application(service, pages, TOPICS)


def options(settings: Settings) -> dict[str, Any]:
    """The settings as uvicorn takes them."""
    service = settings.service
    tls = {"ssl_certfile": service.certificate, "ssl_keyfile": service.private_key} if service.certificate else {}
    return {
        "host": service.host,
        "port": service.port,
        "workers": service.workers,
        "http": "tacit.server.http.protocol:Protocol",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "lifespan": "on",
        "proxy_headers": bool(service.proxies),
        "forwarded_allow_ips": list(service.proxies) or None,
        "timeout_keep_alive": _IDLE,
        "timeout_graceful_shutdown": GRACE,
        "h11_max_incomplete_event_size": 16 * 1024,
        **tls,
    }


def run(settings: Settings) -> None:
    """Serve until a signal ends it; each process reads the configuration again, by the environment of this one."""
    import uvicorn

    log.start()
    uvicorn.run("tacit.server.serving:app", factory=True, **options(settings))
