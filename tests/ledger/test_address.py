"""Where a ledger is: what a URL says, as a driver is told it, and as errors show it."""

import sys
import traceback
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import BadParameter, Budget
from tacit.core.errors import LedgerUnavailable, Missing
from tacit.ledger import Ledger
from tacit.ledger.stores.address import Address

ONE = Budget(epsilon=1)
parts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@pytest.mark.parametrize("path", ["people.ledger", "/a b/50% #1?", "C:\\x", "user:secret@host", "a/b:c"])
def test_a_path_is_a_file_of_sqlite(path):
    assert Address.read(path) == Address("sqlite", path)


@pytest.mark.parametrize(
    ("url", "database"),
    [("sqlite:///x", "x"), ("sqlite:////a/x", "/a/x"), ("sqlite:///50%25 x", "50%25 x"), ("sqlite://", "")],
)
def test_the_path_in_a_url_is_taken_as_it_is(url, database):
    assert Address.read(url) == Address("sqlite", database)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql://", Address("postgresql", "")),
        ("postgresql+psycopg://h/d", Address("postgresql", "d", host="h")),
        ("postgresql://h:1/d", Address("postgresql", "d", host="h", port="1")),
        ("postgresql://u@[::1]:1/d", Address("postgresql", "d", "u", host="[::1]", port="1")),
        ("postgresql://u:a/b?c#d@h/d", Address("postgresql", "d", "u", "a/b?c#d", "h")),
        ("postgresql://u@%2Ftmp/d", Address("postgresql", "d", "u", host="/tmp")),
        (
            "postgresql:///d?schema=a%20%22b%26&host=/x",
            Address("postgresql", "d", query=(("schema", 'a "b&'), ("host", "/x"))),
        ),
    ],
)
def test_urls(url, address):
    assert Address.read(url) == address


def test_a_driver_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Missing, match=r"tacit\[postgres\]"):
        Ledger.open("postgresql://h/d", ONE)


@given(parts, parts, parts)
def test_whatever_is_quoted_is_what_was_meant(user, password, schema):
    url = f"postgresql://{quote(user, '')}:{quote(password, '')}@host:5/d?schema={quote(schema, '')}"
    address = Address.read(url)
    assert (address.user, address.password) == (user, password)
    assert (address.host, address.port, address.database) == ("host", "5", "d")
    assert dict(address.query) == {"schema": schema}
    shown = Address.read(str(address))
    assert (shown.user, shown.password, dict(shown.query)) == (user, "***", {"schema": schema})


def test_an_at_sign_that_may_be_of_the_password_is_refused():
    with pytest.raises(BadParameter, match="written %40"):
        Address.read("postgresql://u:pa@ss@host/d")
    assert Address.read("postgresql://u@corp@host/d").user == "u@corp"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s%65cret@127.0.0.1:1/x",
        "postgresql://u:se/c?ret=secret@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?user=u&password=secret",
        "postgresql://127.0.0.1:1/x?sslp%61ssword=secret",
        "postgresql://127.0.0.1:1/x?scram_client_key=secret",
        "postgresql://u:pa@secret@127.0.0.1:1/x",
        "postgresql://u:pa@ss/secret@127.0.0.1:1/x",
        "postgresql://u:pa@ss?secret=@127.0.0.1:1/x",
        "postgresql://u:secret@127.0.0.1:1/x?nonsense=1",
        "postgresql://u:secret@127.0.0.1:1/x?autocommit=0",
        "postgresql://u:secret@127.0.0.1:1/x?schema=a&schema=b",
        "postgresql://u:secret@127.0.0.1:port/x",
        "mysql://u:secret@127.0.0.1/x",
        "sqlite://u:secret@127.0.0.1/x",
        "no scheme://u:secret@127.0.0.1/x",
    ],
)
def test_no_error_shows_a_password(url):
    with pytest.raises((LedgerUnavailable, BadParameter)) as raised:
        Ledger.open(url, ONE)
    error = raised.value
    for told in (repr(error), str(error), "".join(traceback.format_exception(error)), repr(vars(error))):
        assert "secret" not in told and "s%65cret" not in told
