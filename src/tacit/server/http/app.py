"""The application: the routing table behind one door, as an ASGI application of Starlette."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache
from types import MappingProxyType
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Mounted

from ..errors import BadRequest, NotFound
from ..service import Service
from ..store.database import number
from .call import JSON
from .door import SECURITY, Door, encoded, mistake
from .errors import answer_of
from .hosts import OwnNames
from .openapi import description
from .routes import Route
from .table import ROUTES, learning, state

_NAME = "The service is not known by this name. Its operator sets service.origin to the address that people type."


class Endpoint:
    """A route as an ASGI application."""

    def __init__(self, route: Route, door: Door) -> None:
        self.route, self.door = route, door

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.door.serve(self.route, scope, receive, send)


def application(
    service: Service,
    pages: Sequence[BaseRoute] = (),
    topics: Mapping[str, Callable[[], Any]] = MappingProxyType({}),
    beside: Callable[[Door], AbstractAsyncContextManager[object]] = nullcontext,
) -> Starlette:
    """The application that serves a service.

    `pages` are routes of a page, which hold no data of their own; `topics` are figures of public theory; `beside` is
    another door, open as long as this one, with the same limits and threads.
    """
    door = Door(service)
    routes = all_routes(door, topics)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with beside(door):
            yield
        await asyncio.to_thread(door.close)

    app = Starlette(
        routes=[*(Mounted(each.path, Endpoint(each, door), methods=[each.method]) for each in routes), *pages],
        lifespan=lifespan,
        middleware=[Middleware(OwnNames, service.settings, _misdirected)],
        exception_handlers={HTTPException: _elsewhere, Exception: _mistake},
    )
    app.state.door = door
    app.router.redirect_slashes = False
    return app


def all_routes(door: Door, topics: Mapping[str, Callable[[], Any]]) -> tuple[Route, ...]:
    """The routing table, with the routes that tell of the service itself."""
    described = cache(lambda: description(routes))
    about = state(lambda: door.metrics.text(door.limits.running), described)
    routes = (*ROUTES, *about, *learning(topics))
    return routes


async def _elsewhere(_: Request, error: Exception) -> Response:
    """The answer where there is no route, or none for this method."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    other = BadRequest("This method is not known here.", 405)
    allow = {"Allow": error.headers["Allow"]} if isinstance(error, HTTPException) and error.headers else {}
    return _response(NotFound("page") if status == 404 else other, allow)


async def _misdirected(scope: Any, receive: Any, send: Any) -> None:
    await _response(BadRequest(_NAME, 421), {})(scope, receive, send)


async def _mistake(_: Request, error: Exception) -> Response:
    request_id = number()
    mistake(error, request_id, "page")
    return _response(error, {}, request_id)


def _response(error: Exception, more: dict[str, str], request_id: str = "") -> Response:
    request_id = request_id or number()
    answer = encoded(answer_of(error, request_id))
    headers = {**SECURITY, **answer.headers, **more, "Tacit-Request-Id": request_id}
    return Response(answer.body, answer.status, headers, JSON)
