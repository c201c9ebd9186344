"""Bytes that no client sends: cut off, too long, out of order, slow, half-open.  The door stays, and tells nothing."""

import os
import random
import socket
import struct
import threading
import time
from contextlib import closing, suppress

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.server.postgres import codec, door, values
from tacit.server.postgres.codec import ProtocolError
from tacit.server.postgres.errors import SqlError
from tacit.server.postgres.parameters import Parameters
from tacit.server.postgres.statements import split

QUESTION = "SELECT COUNT(*) AS n FROM people WHERE age < 12"


def message(kind, content=b""):
    return kind + struct.pack("!i", len(content) + 4) + content


def startup(**parameters):
    content = b"".join(name.encode() + b"\0" + value.encode() + b"\0" for name, value in parameters.items())
    return struct.pack("!ii", len(content) + 9, 3 << 16) + content + b"\0"


def greeting(world):
    a = world.address
    return startup(user=a["user"], database=a["dbname"]), message(b"p", a["password"].encode() + b"\0")


def opened(world):
    return socket.create_connection(("127.0.0.1", world.port), timeout=20)


def until_closed(connection):
    """All that arrives until the door ends the connection; it does not wait for ever."""
    found = b""
    with suppress(ConnectionError):
        while part := connection.recv(65536):
            found += part
    return found


def logged_in(world):
    connection = opened(world)
    for part in greeting(world):
        connection.sendall(part)
    found = b""
    while not found.endswith(message(b"Z", b"I")):
        found += connection.recv(65536)
    return connection


def well(world):
    """Whether somebody else is still served."""
    with psycopg.connect(**world.address) as connection:
        return connection.execute(QUESTION).fetchone()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\0",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!ii", 1 << 30, 3 << 16),
        struct.pack("!ii", -5, 3 << 16),
        struct.pack("!ii", 8, 2 << 16),
        struct.pack("!ii", 8, 80877104) * 9,
        struct.pack("!ii", 8, 80877103) + b"\x16\x03\x01",
        struct.pack("!iiii", 16, 80877102, 1, 1),
        struct.pack("!iii", 12, 80877102, 1),
        startup(user="ana")[:-1],
        startup(user="ana") + message(b"Q", b"SELECT 1\0"),
        startup(user="ana") + b"p" + struct.pack("!i", 1 << 30),
        startup(user="ana", replication="database"),
        startup(user="\ud83d".encode("utf-16", "surrogatepass").hex() * 3000),
    ],
)
def test_strange_beginnings_are_shown_out(world, sent):
    with closing(opened(world)) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert b"people" not in until_closed(connection)
    assert well(world)


@pytest.mark.parametrize(
    "sent",
    [
        b"Q" + struct.pack("!i", 1 << 30),
        b"Q" + struct.pack("!i", 3),
        b"Q" + struct.pack("!i", -1),
        message(b"Q", b"SELECT 1"),
        message(b"Q", b"SELECT \xff\0"),
        message(b"Q", b"SELECT 1\0\0"),
        message(b"P", b"\0SELECT 1\0\x00\x05"),
        message(b"B", b"\0\0\x00\x00\x00\x01\x7f\xff\xff\xff"),
        message(b"B", b"\0\0\x00\x01\x00\x07\x00\x00\x00\x00"),
        message(b"D", b"X\0"),
        message(b"E", b"\0"),
        message(b"p", b"again\0"),
        message(b"F", b""),
        message(b"\x00", b""),
        message(b"\xff", b"x"),
    ],
)
def test_broken_messages_end_their_connection_alone(world, sent):
    with closing(logged_in(world)) as connection:
        connection.sendall(sent)
        assert b"C08P01\0" in until_closed(connection)
    assert well(world)


def test_messages_out_of_order_are_refused_and_skipped_until_sync(world):
    with closing(logged_in(world)) as connection:
        wrong = [message(b"E", b"\0\0\0\0\0"), message(b"D", b"Pnone\0"), message(b"B", b"\0none\0" + bytes(6))]
        for each in wrong:
            connection.sendall(each + message(b"P", b"\0SELECT 1\0\0\0") + message(b"S"))
            found = b""
            while not found.endswith(message(b"Z", b"I")):
                found += connection.recv(65536)
            assert found[:1] == b"E" and b"1\0\0\0\4" not in found  # the Parse behind it was skipped
        connection.sendall(message(b"d", b"x") + message(b"c") + message(b"Q", b"SELECT 1\0"))
        assert connection.recv(5)[:1] == b"T"


def test_slow_and_half_open_connections(world, monkeypatch):
    """Who says nothing, or half of something, is shown out in time, and keeps nobody waiting."""
    monkeypatch.setattr(door, "START_SECONDS", 0.5)
    monkeypatch.setattr("tacit.server.postgres.connection.MESSAGE_SECONDS", 0.5)
    silent, dripping = opened(world), opened(world)
    first = greeting(world)[0]
    half = logged_in(world)
    half.sendall(b"Q\0\0")
    begun = time.monotonic()
    with suppress(ConnectionError):
        for byte in first:
            dripping.sendall(bytes([byte]))
            time.sleep(0.05)
    assert well(world)
    for connection in (silent, dripping, half):
        until_closed(connection)
        connection.close()
    assert time.monotonic() < begun + 10
    monkeypatch.undo()
    vanished = [logged_in(world) for _ in range(5)]
    for connection in vanished:
        connection.sendall(message(b"Q", QUESTION.encode() + b"\0"))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()  # by a reset
    assert well(world)


def test_noise_crashes_nothing_and_memory_stays(world):
    """Mutations of a real conversation, thousands of them, on a server that answers others meanwhile."""
    chance, first = random.Random(7), greeting(world)
    whole = b"".join(
        [
            message(b"P", b"a\0" + QUESTION.encode() + b"\0\0\0"),
            message(b"B", b"\0a\0" + bytes(6)),
            message(b"D", b"P\0"),
            message(b"E", b"\0\0\0\0\0"),
            message(b"S"),
            message(b"Q", b"SHOW server_version\0"),
            message(b"C", b"Sa\0"),
            message(b"X"),
        ]
    )

    answered = []

    def round_of(count):
        for _ in range(count):
            sent = bytearray(whole)
            for _ in range(chance.randrange(4)):
                sent[chance.randrange(len(sent))] = chance.randrange(256)
            if chance.random() < 0.3:
                sent = sent[: chance.randrange(len(sent))]
            with closing(opened(world)) as connection, suppress(ConnectionError):
                connection.sendall(b"".join(first) + sent)
                connection.shutdown(socket.SHUT_WR)
                found = until_closed(connection)
                assert b"CXX000\0" not in found
                answered.append(b"SELECT 1\0" in found)

    round_of(150)
    before, threads = _memory(), threading.active_count()
    round_of(250)
    assert _memory() < before + (16 << 20) and threading.active_count() <= threads + 2
    assert sum(answered) > 40  # some noise does not matter, so the rest was read as well
    assert well(world)


def _memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_connections_do_not_share_anything(world):
    with psycopg.connect(**world.address, autocommit=True) as one, psycopg.connect(**world.address) as two:
        one.execute("SET application_name = 'one'")
        one.execute("SET tacit.epsilon = 7")
        one.execute("SELECT 1", prepare=True)
        assert two.execute("SHOW application_name").fetchone() == ("",)
        assert two.execute("SHOW tacit.epsilon").fetchone() == ("",)
        with pytest.raises(psycopg.Error):
            two.execute("DEALLOCATE _pg3_0")


@given(st.binary(max_size=200))
def test_the_codec_reads_or_refuses(data):
    for read in (codec.startup, codec.text, codec.parse, codec.bind, codec.named, codec.execute):
        with suppress(ProtocolError):
            read(data)


OIDS = [*values.SIZES, values.INT2, values.INT4, values.OID, values.FLOAT4, values.NUMERIC, values.VARCHAR, 1009]


@given(st.binary(max_size=24) | st.text(max_size=24).map(str.encode), st.sampled_from(OIDS), st.sampled_from((0, 1)))
def test_a_parameter_is_one_literal_or_refused(data, oid, form):
    """Within a statement, a parameter is one value: no quote, comment or sign of it takes part in the SQL."""
    try:
        written = values.literal(data, oid, form)
    except SqlError:
        return
    text = "SELECT COUNT(*) FROM people WHERE x = $1 AND y = $2"
    filled = Parameters(text, {}).fill([written, "5"]).text
    tokens = [token.text for token in codec_tokens(filled)]
    assert tokens[-4:] == ["AND", "y", "=", "5"] and len(split(filled, {"people"})) == 1
    middle = tokens[10:-4]
    assert len(middle) <= 2 or middle[0] == "(", middle


def codec_tokens(text):
    from tacit.query.sql.lexer import _Dialect

    return _Dialect().tokenize(text)


def test_positions_are_found_again():
    text = "SELECT COUNT(*)\nFROM people WHERE age < $1::BIGINT AND region = $2::VARCHAR(10) AND z = $1"
    parameters = Parameters(text, {"age": values.INT8})
    assert parameters.types(()) == (values.INT8, values.VARCHAR)
    filled = parameters.fill(["(-123456)", "'a''b'"])
    assert filled.text == "SELECT COUNT(*)\nFROM people WHERE age < (-123456) AND region = 'a''b' AND z = (-123456)"
    for word in ("region", "z =", "people"):
        line, column = filled.text[: filled.text.index(word)].count("\n") + 1, 0
        column = filled.text.index(word) - filled.text.rfind("\n", 0, filled.text.index(word))
        assert filled.origin((line, column)) == text.index(word) + 1
