"""The addresses of the page: shells without data, and the files they load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ..http.door import SECURITY
from .vega import vega

FOLDER = Path(__file__).parent / "static"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
REVALIDATE = {
    **SECURITY,
    "Cache-Control": "no-cache",
}  # asked for each time, and answered by 304 while the file is the same

# Address, module, title, and a sentence under the title.
PAGES = (
    ("/", "home.js", "Data sets", ""),
    ("/login", "login.js", "Log in", ""),
    ("/d/{name}", "ask.js", "Ask", ""),
    ("/d/{name}/history", "history.js", "History", ""),
    (
        "/d/{name}/tables",
        "tables.js",
        "Cross-tables",
        "Buy one model; read any cross-table of its attributes for nothing.",
    ),
    ("/r/{hash}", "release.js", "A release", ""),
    ("/custody", "custody.js", "Custody", "What is held, who may ask what, and what was sold."),
    ("/learn", "learn.js", "Learn", "What the noise is, what it costs, and what it protects from."),
)


def routes(*, oidc: bool = False) -> list[Route]:
    """All routes of the page; `oidc` says that people may log in through their organisation, at /login/oidc."""
    return [*_downloads(), *_shells(oidc), Route("/static/vega.js", _vega), Route("/static/{file}", _file)]


def _shells(oidc: bool) -> Iterator[Route]:
    for path, script, title, lead in PAGES:
        name = "login.html" if path == "/login" else "page.html"
        html = _template(name, script=f"/static/{script}", title=title, lead=lead, oidc=oidc)

        async def shell(request: Request, html: str = html) -> Response:
            return HTMLResponse(html, headers=SECURITY)

        yield Route(path, shell)


def _downloads() -> Iterator[Route]:
    """The data of a page in another format: its address with a suffix leads to the API, which knows who asks."""
    for page, api in (("/d/{name}/history", "/v1/datasets/{name}/history"), ("/r/{hash}", "/v1/releases/{hash}")):
        for suffix in ("csv", "json"):

            async def download(request: Request, api: str = api, suffix: str = suffix) -> Response:
                path = api.format(**{key: quote(part, safe="") for key, part in request.path_params.items()})
                return RedirectResponse(f"{path}?format={suffix}", 307, SECURITY)

            yield Route(f"{page}.{suffix}", download)


def _template(name: str, **values: str | bool) -> str:
    """A shell: rendered once, as it is the same for everybody."""
    loader = PackageLoader(__package__)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template(name).render(values)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Every static file by its name: its bytes and its type.  No path is ever made from a request."""
    return {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in FOLDER.iterdir() if path.suffix in TYPES}


async def _file(request: Request) -> Response:
    if (found := _files().get(request.path_params["file"])) is None:
        return Response("There is no such file.", 404, SECURITY, "text/plain")
    return _tagged(request, *found)


async def _vega(request: Request) -> Response:
    if (bundle := await run_in_threadpool(vega)) is None:
        return Response("Charts need vl-convert. Run pip install 'tacit[plots]'.", 404, SECURITY, "text/plain")
    return _tagged(request, bundle, TYPES[".js"])


def _tagged(request: Request, content: bytes, media_type: str) -> Response:
    """The content, or 304 if the browser has it."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**REVALIDATE, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)
