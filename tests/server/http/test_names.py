"""By which names the service is called, and from where a browser may be signed in."""

import asyncio

import pytest

from tacit.server.config import Service, Settings
from tacit.server.http.hosts import OwnNames

OWN = ("127.0.0.1", "127.0.0.1:8765", "localhost", "LOCALHOST:8765", "[::1]", "[::1]:8765", "127.9.9.9")
FOREIGN = (
    "evil.example",
    "evil.example:8765",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "me@127.0.0.1",
    "127.0.0.1/evil",
    "[evil]",
    "10.0.0.1",
    "",
)


def let_in(settings, *hosts):
    """Whether a request with these Host headers is let in."""
    reached = []

    def app(name):
        async def called(*_):
            reached.append(name)

        return called

    scope = {"type": "http", "headers": [(b"host", host.encode()) for host in hosts]}
    asyncio.run(OwnNames(app("in"), settings, app("out"))(scope, None, None))
    return reached == ["in"]


@pytest.mark.parametrize("host", OWN)
def test_on_loopback_it_answers_to_names_of_this_machine(host):
    assert let_in(Settings(), host)


@pytest.mark.parametrize("host", FOREIGN)
def test_and_to_no_other_as_a_site_can_have_its_own_name_lead_here(host):
    assert not let_in(Settings(), host)
    assert not let_in(Settings(), "127.0.0.1", host)


def test_it_answers_to_the_name_of_its_origin_and_elsewhere_to_any():
    behind_a_proxy = Settings(Service(origin="https://Curator.example.org"))
    assert let_in(behind_a_proxy, "curator.example.org") and let_in(behind_a_proxy, "localhost:8765")
    assert not let_in(behind_a_proxy, "evil.example")
    assert let_in(Settings(Service(host="0.0.0.0", plain=True)), "10.1.2.3:8765")
    assert let_in(Settings())  # a request without the header is none of a browser


@pytest.mark.parametrize("path", ["/health", "/v1/me", "/v1/login", "/nowhere"])
def test_a_request_to_another_name_is_misdirected(world, path):
    reply = world.ask("GET", path, "ana", Host="evil.example")
    assert (reply.status, reply.code) == (421, "bad_request")
    assert "evil" not in reply.content.decode() and "service.origin" in reply.content.decode()
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "said",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_no_other_site_signs_a_browser_in_or_out(world, said):
    body = {"token": world.tokens["ana"]}
    foreign = world.ask("POST", "/v1/login", None, body, **said)
    assert foreign.status == 403 and foreign.headers["Set-Cookie"] is None
    ours = {"Origin": world.server.url, "Sec-Fetch-Site": "same-origin"}
    cookie = world.ask("POST", "/v1/login", None, body, **ours).headers["Set-Cookie"].partition(";")[0]
    assert world.ask("POST", "/v1/logout", **{"Cookie": cookie, **said}).status in (401, 403)
    assert world.ask("GET", "/v1/me", Cookie=cookie).status == 200
