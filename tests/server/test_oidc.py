"""Logging in through an OpenID provider: a fake one on loopback, and everything that it may do wrong."""

import asyncio
import base64
import hashlib
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from starlette.applications import Starlette
from starlette.responses import RedirectResponse

from tacit.server.config import Oidc, Service, Settings
from tacit.server.oidc import LoginRefused, named, routes
from tacit.server.store import Store

ORIGIN = "https://tacit.example.org"
CALLBACK = f"{ORIGIN}/login/oidc/callback"


@cache
def rsa(_="own"):
    """A key, which takes a while to find."""
    return RSAKey.generate_key(2048, {"kid": "1"})


class Fake:
    """A provider that does what it should, but for what a test changes: `claims`, `header`, `facts`, `key`."""

    def __init__(self):
        self.key = rsa()
        self.signs_with, self.algorithm = self.key, "RS256"
        self.claims, self.facts, self.codes = {}, {}, {}
        self.asked = []

    def discovery(self):
        endpoints = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
        return {"issuer": self.issuer} | {name: self.issuer + path for name, path in endpoints.items()} | self.facts

    def authorize(self, url):
        """The user logs in there; what the browser brings back."""
        given = dict(parse_qsl(urlsplit(url).query))
        assert given["response_type"] == "code" and given["code_challenge_method"] == "S256"
        assert given["redirect_uri"] == CALLBACK and "openid" in given["scope"].split()
        code = f"code{len(self.codes)}"
        self.codes[code] = given
        return {"code": code, "state": given["state"]}

    def token(self, body, authorization):
        form = {name: values[0] for name, values in parse_qs(body).items()}
        asked = self.codes.pop(form.get("code"), None)
        self.asked.append((form, authorization))
        digest = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if asked is None or digest.decode().rstrip("=") != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": "tacit", "sub": "7", "iat": now, "exp": now + 60, "nonce": asked["nonce"]}
        claims |= {"email": "ann@example.org", "email_verified": True} | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        signed = jwt.encode({"alg": self.algorithm, "kid": "1"}, claims, self.signs_with, algorithms=[self.algorithm])
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": signed}


@pytest.fixture
def fake():
    provider = Fake()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status, facts):
            body = json.dumps(facts).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            keys = {"keys": [provider.key.as_dict(private=False)]}
            pages = {"/.well-known/openid-configuration": provider.discovery(), "/keys": keys}
            self.answer(200 if self.path in pages else 404, pages.get(self.path, {}))

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(*provider.token(body, self.headers.get("Authorization")))

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield provider
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(fake, tmp_path):
    oidc = Oidc(fake.issuer, "tacit", "hunter2", people={"ann@example.org": "Ann"})
    return Settings(Service(str(tmp_path / "service.store"), origin=ORIGIN), oidc=oidc)


@pytest.fixture
def store(settings):
    with Store.open(settings.service.store) as store:
        store.add_person("Ann", "owner", by="test")
        store.add_person("bob", "analyst", by="test")
        yield store


class Client:
    """A browser that does one thing at a time, and goes nowhere by itself."""

    def __init__(self, browser, runner):
        self._browser, self._runner = browser, runner

    def get(self, path, **more):
        return self._runner.run(self._browser.get(path, **more))

    @property
    def cookies(self):
        return self._browser.cookies


@contextmanager
def browser(store, settings):
    def welcome(_, issued):
        response = RedirectResponse("/", 303)
        response.set_cookie("tacit_session", issued.text)
        return response

    app = httpx2.ASGITransport(Starlette(routes=routes(store, settings, welcome)))
    with asyncio.Runner() as runner:
        browser = httpx2.AsyncClient(transport=app, base_url=ORIGIN)
        yield Client(browser, runner)
        runner.run(browser.aclose())


def log_in(client, fake, **changes):
    """Go there and come back."""
    begun = client.get("/login/oidc")
    assert begun.status_code == 303, begun.text
    return client.get("/login/oidc/callback", params=fake.authorize(begun.headers["location"]) | changes)


def test_a_verified_claim_logs_in_the_person_it_stands_for(store, settings, fake):
    with browser(store, settings) as client:
        done = log_in(client, fake)
        assert done.status_code == 303
        login = store.authenticate(done.cookies["tacit_session"], ("session",))
        assert (login.person.name, login.token.kind) == ("Ann", "session")
        assert not any("oidc" in name for name in client.cookies)  # an attempt is made once
    form, authorization = fake.asked[0]
    assert form["redirect_uri"] == CALLBACK and authorization.startswith("Basic ")


def test_the_attempt_is_kept_by_the_browser_alone(store, settings, fake):
    with browser(store, settings) as client:
        begun = client.get("/login/oidc")
        cookie = begun.headers["set-cookie"]
        for part in ("__Host-tacit_oidc=", "HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"):
            assert part in cookie
        assert "hunter2" not in cookie + begun.headers["location"]
    with browser(store, settings) as other:
        back = other.get("/login/oidc/callback", params=fake.authorize(begun.headers["location"]))
        assert (back.status_code, back.text) == (
            403,
            "This browser has no login under way, or it took too long. Go back to the login page and try again.",
        )


def test_an_answer_is_good_once_and_for_one_attempt(store, settings, fake):
    with browser(store, settings) as client:
        first = client.get("/login/oidc").headers["location"]
        client.get("/login/oidc")  # a second attempt of the same browser
        crossed = client.get("/login/oidc/callback", params=fake.authorize(first))
        assert crossed.status_code == 403 and "does not belong to the login" in crossed.text
        answer = fake.authorize(client.get("/login/oidc").headers["location"])
        assert client.get("/login/oidc/callback", params=answer).status_code == 303
        assert client.get("/login/oidc/callback", params=answer).status_code == 403
        for changes in ({"state": "x"}, {"code": ""}, {"code": "other"}, {"iss": "https://e.org"}, {"error": "denied"}):
            refused = log_in(client, fake, **changes)
            assert refused.status_code == 403 and "tacit_session" not in refused.cookies, changes


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example.org"},
        {"iss": None},
        {"aud": "other"},
        {"aud": ["other", "more"]},
        {"aud": None},
        {"exp": 1},
        {"exp": None},
        {"iat": None},
        {"nonce": "other"},
        {"nonce": None},
        {"azp": "other"},
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_with_other_claims_lets_nobody_in(store, settings, fake, claims):
    fake.claims = claims
    with browser(store, settings) as client:
        refused = log_in(client, fake)
    assert (refused.status_code, "could not be verified" in refused.text) == (403, True)
    assert [token for token in store.tokens() if token.kind == "session"] == []


@pytest.mark.parametrize("how", ["other key", "shared secret", "public key as secret", "none"])
def test_a_token_that_the_provider_did_not_sign_lets_nobody_in(store, settings, fake, how):
    match how:
        case "other key":
            fake.signs_with = rsa("other")
        case "shared secret":
            fake.signs_with, fake.algorithm = OctKey.import_key("hunter2" * 8, {"kid": "1"}), "HS256"
        case "public key as secret":
            pem = fake.key.as_pem(private=False)
            fake.signs_with, fake.algorithm = OctKey.import_key(base64.b64encode(pem).decode(), {"kid": "1"}), "HS256"
        case "none":
            plain = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
                     for part in ({"alg": "none"}, {"sub": "7", "email": "ann@example.org"})]  # fmt: skip
            fake.token = lambda *_: (
                200,
                {"access_token": "a", "token_type": "Bearer", "id_token": ".".join([*plain, ""])},
            )
    fake.facts = {"id_token_signing_alg_values_supported": ["none", "HS256", "RS256"]}
    with browser(store, settings) as client:
        assert log_in(client, fake).status_code == 403


def test_other_signatures_of_the_list_are_taken(store, settings, fake):
    fake.key = fake.signs_with = ECKey.generate_key("P-256", {"kid": "1"})
    fake.algorithm = "ES256"
    with browser(store, settings) as client:
        assert log_in(client, fake).status_code == 303


@pytest.mark.parametrize(
    "claims",
    [
        {"email_verified": False},
        {"email_verified": None},
        {"email_verified": "true"},
        {"email": "bob"},
        {"email": "eve@example.org"},
        {"email": "ANN@example.org"},
        {"email": None},
        {"email": ["ann@example.org"]},
    ],
    ids=str,
)
def test_an_account_that_stands_for_nobody_lets_nobody_in(store, settings, fake, claims):
    fake.claims = claims
    with browser(store, settings) as client:
        refused = log_in(client, fake)
    assert (refused.status_code, refused.text) == (
        403,
        "Nobody here is known by this account. Ask an owner to add you.",
    )


def test_who_was_revoked_is_not_let_in_again(store, settings, fake):
    store.add_person("Cat", "owner", by="test")
    store.revoke_person("Ann", by="Cat")
    with browser(store, settings) as client:
        assert log_in(client, fake).status_code == 403


def by_name(settings, **changes):
    return replace(settings, oidc=replace(settings.oidc, claim="preferred_username", people={}, **changes))


def test_without_a_table_a_claim_is_the_very_name_of_a_person(store, settings):
    plain = by_name(settings)
    assert named(store, plain, {"preferred_username": "Ann"}).role == "owner"
    for name in ("ann", "ANN", " Ann", "\uff21nn", "\u0410nn", "eve", ""):  # some look like Ann, and are another's
        with pytest.raises(LoginRefused):
            named(store, plain, {"preferred_username": name})


def test_a_stranger_becomes_an_analyst_only_where_it_is_configured(store, settings):
    create = by_name(settings, create=True)
    assert named(store, create, {"preferred_username": "eve"}).role == "analyst"
    assert [act.actor for act in store.acts()][-1] == f"the provider {settings.oidc.issuer}"
    for name in ("ann", "BOB", "role:owner", "the operator", "a\nb"):  # for Ann and bob, or no names at all
        with pytest.raises(LoginRefused):
            named(store, create, {"preferred_username": name})
    store.revoke_person("eve", by="Ann")
    with pytest.raises(LoginRefused):
        named(store, create, {"preferred_username": "eve"})


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"issuer": "https://evil.example.org"}, "calls itself by another name"),
        ({"authorization_endpoint": "http://evil.example.org/a"}, "no encrypted address"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no encrypted address"),
    ],
)
def test_a_provider_that_is_another_is_not_used(store, settings, fake, facts, sentence):
    fake.facts = facts
    with browser(store, settings) as client:
        refused = client.get("/login/oidc")
    assert refused.status_code == 503 and sentence in refused.text


def test_a_provider_that_is_down(store, settings):
    down = replace(settings, oidc=replace(settings.oidc, issuer="http://127.0.0.1:9"))
    with browser(store, down) as client:
        assert client.get("/login/oidc").text == "The provider cannot be reached now. Try again later."


def test_without_a_provider_there_are_no_routes(store, settings):
    assert routes(store, replace(settings, oidc=Oidc()), lambda *_: None) == []
