"""Too much, too fast and too slow: each is refused, says when to come back, and harms nobody else."""

import asyncio
import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from tacit.server.config import Limits as Caps
from tacit.server.errors import Overloaded
from tacit.server.http import protocol
from tacit.server.http.limits import QUEUE, Limits
from tacit.server.http.threads import Threads

from .conftest import COUNT


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_requests_a_minute_fill_evenly():
    clock = Clock()
    limits = Limits(Caps(requests=60), clock)
    for _ in range(60):
        limits.enter("a", question=False)()
    with pytest.raises(Overloaded, match="60 requests a minute") as refused:
        limits.enter("a", question=False)
    assert (refused.value.status, refused.value.after) == (429, 2)
    limits.enter("b", question=False)()  # another asker has a minute of their own
    clock.now += 1
    limits.enter("a", question=False)()
    with pytest.raises(Overloaded):
        limits.enter("a", question=False)


def test_questions_of_one_and_requests_of_all():
    limits = Limits(Caps(questions=2, running=1))
    first, _ = limits.enter("a", question=True), limits.enter("a", question=True)
    with pytest.raises(Overloaded, match="2 questions at a time") as refused:
        limits.enter("a", question=True)
    assert refused.value.status == 429
    for _ in range(QUEUE - 2):
        limits.enter("a", question=False)
    with pytest.raises(Overloaded, match="too much to do") as refused:
        limits.enter("b", question=False)
    assert refused.value.status == 503
    first()
    limits.enter("b", question=True)


def test_askers_are_forgotten_but_not_those_who_wait(monkeypatch):
    monkeypatch.setattr("tacit.server.http.limits._REMEMBERED", 3)
    limits = Limits(Caps(questions=1))
    limits.enter("patient", question=True)
    for i in range(10):
        limits.enter(f"passing {i}", question=True)()
    with pytest.raises(Overloaded):
        limits.enter("patient", question=True)
    assert len(limits._askers) == 3


def test_threads_return_and_raise_and_can_be_abandoned():
    threads, stuck = Threads(2), threading.Event()

    async def asked():
        assert await threads.run(lambda: 7) == 7
        with pytest.raises(KeyError):
            await threads.run(lambda: {}["a"])
        threads.run(stuck.wait)
        await asyncio.sleep(0)

    asyncio.run(asked())
    assert not threads.close(0.1)
    stuck.set()


@pytest.fixture
def slow(world, monkeypatch):
    """The address of the service, whose patience is short."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr("tacit.server.http.door._BODY_SECONDS", 0.3)
    place = urlsplit(world.server.url)
    return place.hostname, place.port


def read_all(connection: socket.socket) -> bytes:
    connection.settimeout(10)
    parts = b""
    try:
        while part := connection.recv(4096):
            parts += part
    except ConnectionResetError:
        pass
    return parts


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"], ids=["nothing", "half a head"])
def test_a_head_that_does_not_come_is_not_waited_for(slow, sent):
    with socket.create_connection(slow) as connection:
        connection.sendall(sent)
        assert read_all(connection) == b""


def test_nor_is_the_second_head(slow):
    with socket.create_connection(slow) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /hea")
        assert b"HTTP" not in read_all(connection)


def test_a_body_that_does_not_come_is_not_waited_for(world, slow):
    head = f"POST {world.on('/asks')} HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    with socket.create_connection(slow) as connection:
        connection.sendall(head.encode() + b'{"sql"')
        reply = read_all(connection)
    assert reply.startswith(b"HTTP/1.1 408") and b"did not arrive in time" in reply


def test_too_many_connections_are_not_accepted(world, slow, monkeypatch):
    open_now = len(world.server._server.server_state.connections)
    monkeypatch.setattr(protocol, "CONNECTIONS", open_now + 1)
    with socket.create_connection(slow) as first, socket.create_connection(slow) as second:
        time.sleep(0.1)
        second.settimeout(5)
        assert read_all(second) == b""
        first.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert first.recv(4096).startswith(b"HTTP/1.1 200")


def test_that_all_is_well_is_said_whatever_is_under_way(world, monkeypatch):
    door = world.server._server.config.app.state.door
    monkeypatch.setattr(door.limits, "running", QUEUE * 1000)
    assert world.ask("GET", "/v1/openapi.json").status == 503
    assert world.ask("GET", "/health").json() == {"status": "well"}
    monkeypatch.setattr(door.threads, "run", None)
    assert world.ask("GET", "/health", "ana").status == 200


def test_what_is_free_is_not_without_end(world, monkeypatch):
    assert world.ask("POST", world.on("/rehearsals"), "ana", COUNT).status == 200
    monkeypatch.setattr("tacit.server.service.questions.MAX_REHEARSED", 1)
    reply = world.ask("POST", world.on("/rehearsals"), "ana", COUNT)
    assert (reply.status, reply.code) == (400, "bad_request") and "1 groups" in reply.content.decode()


def test_a_question_that_takes_too_long_is_answered_so_and_still_counts(world, monkeypatch):
    door = world.server._server.config.app.state.door
    monkeypatch.setattr(door, "caps", Caps(seconds=1, questions=1))
    monkeypatch.setattr(door.limits, "_caps", Caps(questions=1))
    held, entered = threading.Event(), threading.Event()

    def slowly(*_, **__):
        entered.set()
        held.wait(20)
        raise Overloaded("done", after=1)

    monkeypatch.setattr("tacit.server.service.questions.ask", slowly)
    token = world.store.issue_token("ana", "token", by="tests").text
    world.ask("GET", "/v1/me", token)
    late = world.ask("POST", world.on("/asks"), token, COUNT)
    assert (late.status, late.code, late.headers["Retry-After"]) == (503, "overloaded", "5")
    assert "charge is kept" in late.json()["error"]["remedy"]
    again = world.ask("POST", world.on("/offers"), token, COUNT)
    assert (again.status, again.code, again.headers["Retry-After"]) == (429, "overloaded", "1")
    held.set()
    until = time.monotonic() + 10
    while world.ask("POST", world.on("/offers"), token, COUNT).status == 429:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_many_clients_are_answered_or_told_when_to_come_back(world):
    """Each on a connection that is kept, all at once: no answer is lost, and none is of another's question."""
    place, wrong = urlsplit(world.server.url).netloc, []

    def client(i: int) -> None:
        connection = http.client.HTTPConnection(place, timeout=60)
        sent = {"Authorization": f"Bearer {world.tokens['ana']}", "Content-Type": "application/json"}
        for j in range(5):
            name = f"c{i}_{j}"
            body = json.dumps({"sql": f"SELECT COUNT(*) AS {name} FROM people", "terms": {"epsilon": "0.5"}})
            connection.request("POST", world.on("/offers"), body, sent)
            reply = connection.getresponse()
            answer = json.loads(reply.read())
            if reply.status != 200 or answer["errors"][0]["column"] != name:
                wrong.append((reply.status, answer))
        connection.close()

    threads = [threading.Thread(target=client, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
