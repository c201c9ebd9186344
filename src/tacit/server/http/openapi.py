"""The description of the service by OpenAPI 3.1, made from the routing table."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from importlib import metadata
from typing import Any

import msgspec

from ..access import NOBODY
from .call import JSON
from .errors import ErrorBody
from .routes import Route

_REF = "#/components/schemas/{name}"
_HEADER = {"schema": {"type": "string"}}
_SCHEMES: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer"},
    "session": {"type": "apiKey", "in": "cookie", "name": "tacit_session"},
}
_PATHS: dict[str, dict[str, Any]] = {
    "dataset": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,62}$"},
    "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}


def description(routes: Sequence[Route]) -> bytes:
    """The whole description, as JSON."""
    types = [ErrorBody, *(route.body for route in routes if route.body is not None)]
    types += [
        kind for route in routes for kind in route.answers.values() if isinstance(kind, type) and kind is not dict
    ]
    unique = list(dict.fromkeys(types))
    _, components = msgspec.json.schema_components(unique, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "tacit", "version": metadata.version("tacit")},
            "paths": paths,
            "components": {"schemas": components, "securitySchemes": _SCHEMES},
        }
    )


def _operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": route.summary,
        "operationId": f"{route.method.lower()} {route.path}",
        "parameters": _parameters(route),
        "responses": {str(status): _response(route, status) for status in sorted(route.statuses)},
        "security": [*([{}] if route.action.open_to(NOBODY) else []), {"token": []}, {"session": []}],
    }
    if route.body is not None:
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": _schema(route.body)}}}
    return found


def _parameters(route: Route) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": _PATHS.get(name, {"type": "string", "minLength": 1})}
        for name in route.parameters
    ]
    after = [{"name": name, "in": "query", "required": False, "schema": _query(name)} for name in route.query]
    key = {"name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200}}
    return [*in_path, *after, *([key] if route.keyed else [])]


def _query(name: str) -> dict[str, Any]:
    return {"type": "string"} if name == "format" else {"type": "integer", "minimum": 0}


def _schema(kind: type[Any]) -> dict[str, Any]:
    if kind is dict:
        return {"type": "object"}
    (found,), _ = msgspec.json.schema_components([kind], ref_template=_REF)
    return found


def _response(route: Route, status: int) -> dict[str, Any]:
    kind = route.answers.get(status, ErrorBody)
    if isinstance(kind, tuple):
        content: dict[str, Any] = {media: {} for media in kind}
    else:
        content = {JSON: {"schema": _schema(kind)}}
        content |= {media: {} for media in (route.media if status == 200 else ())}
    headers = {"Tacit-Request-Id": _HEADER} | ({"Retry-After": _HEADER} if status in (429, 503) else {})
    return {"description": HTTPStatus(status).phrase, "headers": headers, "content": content}
