"""Logging in to the page through an OpenID provider: the authorization code flow with PKCE (extra `oidc`).

    GET /login/oidc             -> the provider, with state, nonce and a challenge that only this browser can answer
    GET /login/oidc/callback    -> code for ID token; its verified claims name a person of the store; a session begins

Whom a claim names is said by `oidc.people` in the configuration, or else by the very name of a person.  Nobody becomes
a person by logging in unless `oidc.create` says so, and then an analyst, who sees what policies show to analysts.

References.  OpenID Connect Core 1.0, section 3.1; RFC 7636 (PKCE); RFC 9207 (the issuer in the response).
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.errors import BadParameter, Missing, Refused
from ..core.randomness import SYSTEM
from ..ledger.names import skeleton
from .config import Settings, loopback
from .person import PROVIDER, Person
from .store import Issued, Store
from .store.database import now

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/login/oidc"
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")  # by which ID tokens are signed; never by a shared secret, or not
_COOKIE, _MINUTES = "tacit_oidc", 10
_SECONDS = 10.0  # to wait for the provider
_LEEWAY = 60  # seconds by which clocks may differ
_AGAIN = "Go back to the login page and try again."


class LoginRefused(Refused):
    """A login through the provider that lets nobody in."""


@dataclass(frozen=True)
class Attempt:
    """What a browser keeps while its user is at the provider."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Attempt:
        return cls(*(base64.urlsafe_b64encode(SYSTEM.words(4).tobytes()).decode().rstrip("=") for _ in range(3)))

    def write(self) -> str:
        """The attempt as the value of a cookie."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @classmethod
    def read(cls, cookie: str | None) -> Attempt:
        try:
            return cls(**json.loads(base64.urlsafe_b64decode(cookie or "")))
        except (TypeError, ValueError):
            raise LoginRefused(f"This browser has no login under way, or it took too long. {_AGAIN}") from None


class Provider:
    """The provider of the configuration, found by its discovery document."""

    def __init__(self, settings: Settings) -> None:
        try:
            import authlib.integrations.httpx_client
            import httpx2
        except ModuleNotFoundError:
            raise Missing("Logging in by OpenID needs authlib. Run: pip install 'tacit[oidc]'") from None
        self._http, self._oauth = httpx2, authlib.integrations.httpx_client.OAuth2Client
        self._oidc, self.redirect = settings.oidc, f"{settings.address}{PATH}/callback"
        self.issuer = settings.oidc.issuer or ""
        self._facts: dict[str, Any] | None = None

    def begin(self, attempt: Attempt) -> str:
        """The address at the provider to which the browser goes."""
        with self._client() as client:
            endpoint = self._endpoint("authorization_endpoint")
            more = {"nonce": attempt.nonce, "code_verifier": attempt.verifier}
            url, _ = client.create_authorization_url(endpoint, state=attempt.state, **more)
            return str(url)

    def finish(self, attempt: Attempt, given: Mapping[str, str]) -> dict[str, Any]:
        """The verified claims of who came back with these parameters."""
        if not hmac.compare_digest(given.get("state", "").encode(), attempt.state.encode()):
            raise LoginRefused(f"This answer does not belong to the login that this browser began. {_AGAIN}")
        if given.get("iss", self.issuer) != self.issuer or "error" in given or not given.get("code"):
            raise LoginRefused(f"The provider did not log you in. {_AGAIN}")
        from authlib.integrations.base_client import OAuthError

        try:
            with self._client() as client:
                token = client.fetch_token(
                    self._endpoint("token_endpoint"), code=given["code"], code_verifier=attempt.verifier
                )
        except (OAuthError, self._http.HTTPError, ValueError):
            raise LoginRefused(f"The provider did not accept its own code. {_AGAIN}") from None
        return self._verified(token, attempt.nonce)

    def _client(self) -> Any:
        secret = self._oidc.client_secret
        return self._oauth(
            self._oidc.client_id,
            secret,
            scope="openid email profile",
            redirect_uri=self.redirect,
            code_challenge_method="S256",
            token_endpoint_auth_method="none" if secret is None else "client_secret_basic",
            timeout=_SECONDS,
        )

    def _verified(self, token: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """The claims of an ID token, whose signature, issuer, audience, times and nonce are what they must be."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        options = {"iss": {"essential": True, "value": self.issuer}}
        given = {"nonce": nonce, "client_id": self._oidc.client_id, "access_token": token.get("access_token")}
        try:
            keys = KeySet.import_key_set(self._get(self._endpoint("jwks_uri")))
            signed = jwt.decode(str(token.get("id_token", "")), keys, algorithms=[*ALGORITHMS])
            claims = CodeIDToken(signed.claims, signed.header, options, given)
            claims.validate(leeway=_LEEWAY)
        except (JoseError, AttributeError, KeyError, TypeError, ValueError):
            raise LoginRefused(f"The provider's token could not be verified. {_AGAIN}") from None
        return dict(claims)

    def _endpoint(self, name: str) -> str:
        """An endpoint of the discovery document, which must be the issuer's own and encrypted as the issuer is."""
        if self._facts is None:
            facts = self._get(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
            if not isinstance(facts, dict) or facts.get("issuer") != self.issuer:
                raise LoginRefused("The provider calls itself by another name than oidc.issuer. Ask the operator.")
            self._facts = facts
        address = str(self._facts.get(name, ""))
        parts = urlsplit(address)
        if parts.scheme != "https" and not (parts.scheme == "http" and loopback(parts.hostname or "")):
            raise LoginRefused("The provider has no encrypted address for this. Ask the operator.")
        return address

    def _get(self, address: str) -> Any:
        try:
            return self._http.get(address, timeout=_SECONDS).raise_for_status().json()
        except (self._http.HTTPError, ValueError):
            raise LoginRefused("The provider cannot be reached now. Try again later.") from None


def named(store: Store, settings: Settings, claims: Mapping[str, Any]) -> Person:
    """The person whom verified claims name, by the very text of the claim: a name that looks alike is another's."""
    oidc = settings.oidc
    value = claims.get(oidc.claim)
    stranger = LoginRefused("Nobody here is known by this account. Ask an owner to add you.")
    if not isinstance(value, str) or not value or (oidc.claim == "email" and claims.get("email_verified") is not True):
        raise stranger
    name = oidc.people.get(value) if oidc.people else value
    if name is None:
        raise stranger
    person = next((each for each in store.people() if each.name == name), None)
    if person is not None and not person.revoked:
        return person
    if person is None and oidc.create and all(skeleton(each.name) != skeleton(name) for each in store.people()):
        with suppress(BadParameter):  # a claim that is no name
            return store.add_person(name, "analyst", by=f"{PROVIDER} {oidc.issuer}")
    raise stranger


def routes(store: Store, settings: Settings, welcome: Callable[[Request, Issued], Response]) -> list[Route]:
    """The two routes to mount; none where the configuration names no provider.

    `welcome` answers who is let in: it sets the cookie of the session and leads to the page.
    """
    if settings.oidc.issuer is None:
        return []
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import PlainTextResponse, RedirectResponse
    from starlette.routing import Route

    provider, secure = Provider(settings), settings.address.startswith("https:")
    cookie = f"__Host-{_COOKIE}" if secure else _COOKIE
    kept: dict[str, Any] = {"path": "/", "secure": secure, "httponly": True, "samesite": "lax"}

    def let_in(attempt: Attempt, given: Mapping[str, str]) -> Issued:
        person = named(store, settings, provider.finish(attempt, given))
        until = now() + timedelta(hours=settings.service.session_hours)
        return store.issue_token(person.name, "session", "by OpenID", until, by=person.name)

    async def begin(_: Request) -> Response:
        attempt = Attempt.new()
        try:
            response: Response = RedirectResponse(await run_in_threadpool(provider.begin, attempt), 303)
        except LoginRefused as refused:
            return PlainTextResponse(str(refused), 503)
        response.set_cookie(cookie, attempt.write(), max_age=60 * _MINUTES, **kept)
        return response

    async def callback(request: Request) -> Response:
        try:
            attempt = Attempt.read(request.cookies.get(cookie))
            response = welcome(request, await run_in_threadpool(let_in, attempt, dict(request.query_params)))
        except LoginRefused as refused:
            response = PlainTextResponse(str(refused), 403)
        response.delete_cookie(cookie, **kept)  # an attempt is made once
        return response

    return [Route(PATH, begin), Route(f"{PATH}/callback", callback)]
