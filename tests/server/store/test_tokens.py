"""Tokens: shown once, kept as a digest, expiring, revocable at once; links are redeemed once."""

import base64
import hashlib
import sqlite3
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tacit.core.errors import BadParameter
from tacit.server.store import Store, people
from tacit.server.store.database import StoreConflict

SESSION = ("session",)


def bytes_of(store):
    """Everything that the store holds, as text."""
    with store.reading() as connection:
        names = ("entries", "people", "tokens")
        return repr([connection.execute(f"SELECT * FROM {name}").fetchall() for name in names])


def test_a_token_is_256_bits_and_only_its_digest_is_kept(store):
    issued = [store.issue_token("bob", "token", by="Ann") for _ in range(20)]
    for text, info in issued:
        bits = base64.urlsafe_b64decode(text.removeprefix("tacit_") + "=")
        assert len(bits) == 32 and len(text) == 49
        login = store.authenticate(text)
        assert (login.person.name, login.person.role, login.token.id) == ("bob", "analyst", info.id)
        kept = bytes_of(store)
        assert text not in kept and text.removeprefix("tacit_") not in kept
        assert hashlib.sha256(text.encode()).hexdigest() in kept
    assert len({text for text, _ in issued}) == len({info.id for _, info in issued}) == 20


@pytest.mark.parametrize(
    "wrong", ["", "tacit_", "x" * 49, "tacit_" + "A" * 43, "tacit_" + "é" * 43, "tacit_" + "A" * 10**6]
)
def test_what_is_no_token_lets_nobody_in(store, wrong):
    store.issue_token("bob", "token", by="Ann")
    assert store.authenticate(wrong) is None and store.redeem_link(wrong) is None


def test_a_token_that_differs_in_one_character_lets_nobody_in(store):
    text, _ = store.issue_token("bob", "token", by="Ann")
    for i in range(6, len(text)):
        assert store.authenticate(text[:i] + ("A" if text[i] != "A" else "B") + text[i + 1 :]) is None


def test_a_token_ends_when_it_expires(store, clock):
    text, info = store.issue_token("bob", "token", by="Ann")
    assert info.expires > info.created and store.authenticate(text)
    clock(people.LIFETIME["token"] - timedelta(seconds=1))
    assert store.authenticate(text)  # from memory
    clock(timedelta(seconds=1))
    assert store.authenticate(text) is None


@pytest.mark.parametrize("offset", [timedelta(0), timedelta(days=-1), timedelta(days=367)])
def test_a_token_expires_within_a_year(store, offset):
    with pytest.raises(BadParameter, match="expires must be a time in the future"):
        store.issue_token("bob", "token", "", datetime.now(UTC) + offset, by="Ann")
    with pytest.raises(BadParameter, match="with a zone"):
        store.issue_token("bob", "token", "", datetime(2999, 1, 1), by="Ann")


def test_a_token_is_good_only_for_what_it_is(store):
    token, link = (store.issue_token("bob", kind, by="Ann").text for kind in ("token", "link"))
    session, _ = store.issue_token("bob", "session", by="Ann")
    assert store.authenticate(token) and store.authenticate(session, SESSION)
    assert not store.authenticate(token, SESSION) and not store.authenticate(session)
    assert not store.authenticate(link) and not store.authenticate(link, SESSION)
    assert store.redeem_link(token) is None and store.redeem_link(session) is None


def test_a_link_is_redeemed_once(store):
    link, info = store.issue_token("bob", "link", by="Ann")
    session = store.redeem_link(link)
    assert store.redeem_link(link) is None
    assert store.authenticate(session.text, SESSION).person.name == "bob"
    assert next(each for each in store.tokens("bob") if each.id == info.id).revoked


def test_a_link_expires(store, clock):
    link, _ = store.issue_token("bob", "link", by="Ann")
    clock(people.LIFETIME["link"])
    assert store.redeem_link(link) is None


def test_revocation_is_seen_at_once_by_another_connection(store, place):
    with Store.open(place, create=False) as other:
        for _ in range(20):
            text, info = store.issue_token("bob", "token", by="Ann")
            assert other.authenticate(text) and other.authenticate(text)  # and remembered
            store.revoke_token(info.id, by="Ann")
            assert other.authenticate(text) is None


def test_who_revokes_a_token_ends_its_sessions(store):
    text, info = store.issue_token("bob", "token", by="Ann")
    session, _ = store.issue_token("bob", "session", by="bob", parent=info.id)
    link, link_info = store.issue_token("bob", "link", by="Ann")
    opened = store.redeem_link(link)
    store.revoke_token(info.id, by="Ann")
    assert not store.authenticate(text) and not store.authenticate(session, SESSION)
    assert store.authenticate(opened.text, SESSION)
    store.revoke_token(link_info.id, by="Ann")
    assert not store.authenticate(opened.text, SESSION)


def test_who_is_revoked_is_shut_out_with_every_token_and_comes_back_with_none(store, place):
    texts = [store.issue_token("bob", kind, by="Ann").text for kind in ("token", "session")]
    link, _ = store.issue_token("bob", "link", by="Ann")
    with Store.open(place) as other:
        assert other.authenticate(texts[0])
        store.revoke_person("BOB", by="Ann")
        for known in (store, other):
            assert known.person("bob") is None and known.redeem_link(link) is None
            assert not any(known.authenticate(text, ("token", "session")) for text in texts)
        with pytest.raises(StoreConflict, match="There is no person called 'bob'"):
            store.issue_token("bob", "token", by="Ann")
        store.add_person("bob", "analyst", by="Ann")
        assert other.person("bob") and not other.authenticate(texts[0]) and not other.redeem_link(link)


def test_tokens_that_expired_long_ago_are_forgotten(store, clock):
    _, old = store.issue_token("bob", "link", by="Ann")
    clock(people.LIFETIME["link"] + people.FORGOTTEN)
    _, new = store.issue_token("bob", "link", by="Ann")
    assert {each.id for each in store.tokens()} == {old.id, new.id}
    clock(timedelta(seconds=1))
    store.issue_token("Ann", "link", by="Ann")
    assert [each.id for each in store.tokens("bob")] == [new.id]
    assert any(old.id in act.subject for act in store.acts())


def test_the_last_owner_stays(store):
    with pytest.raises(StoreConflict, match=r"'Ann' is the last owner\. Add another owner first\."):
        store.revoke_person("Ann", by="Ann")
    store.add_person("Cat", "owner", by="Ann")
    store.revoke_person("Ann", by="Cat")
    assert [person.name for person in store.people() if not person.revoked] == ["bob", "Cat"]


@pytest.mark.parametrize("name", ["Bob", "BOB", " bob ", "\uff42\uff4f\uff42"])
def test_a_name_that_looks_like_another_is_the_same_person(store, name):
    assert store.person(name).name == "bob"
    with pytest.raises(StoreConflict, match="already a person called 'bob'"):
        store.add_person(name, "owner", by="Ann")


@pytest.mark.parametrize("name", ["", "a\nb", "a\u200bb", "x" * 201, "\u0431ob"])
def test_a_name_is_one_that_a_ledger_takes(store, name):
    with pytest.raises(BadParameter):
        store.add_person(name, "analyst", by="Ann")


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "-x",
        "role:owner",
        "person:bob",
        "a/b",
        "a\\b",
        "another",
        "Another",
        "\uff21nother",
        "nobody",
        "tacit",
        "the operator",
        "the operator root",
        "The Provider https",
    ],
)
def test_a_name_stands_for_nobody_else(store, name):
    with pytest.raises(BadParameter):
        store.add_person(name, "analyst", by="Ann")


@pytest.mark.parametrize(
    "name", ["O'Neill", "ana@example.org", "auth0|7", "the opera", "another one", "7", "\u5f20\u4f1f"]
)
def test_a_name_may_be_of_any_other_form(store, name):
    assert store.add_person(name, "analyst", by="Ann").name == name


def test_the_day_of_the_last_use_is_kept_and_is_no_act(store, clock):
    text, _ = store.issue_token("bob", "token", by="Ann")
    acts = len(store.acts())
    assert store.tokens("bob")[0].used is None
    today = store.authenticate(text).token.used
    assert store.tokens("bob")[0].used == today and len(today) == 10
    clock(timedelta(days=1))
    assert store.authenticate(text).token.used > today
    assert len(store.acts()) == acts


class Secret(str):
    """The text of a token, which may be measured and hashed, and must not be compared."""

    def __eq__(self, other):
        raise AssertionError("the text of a token is compared")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = startswith = endswith = find = index = __eq__
    __hash__ = str.__hash__


def calls(do, *given):
    """The names of all functions, of Python and of C, that are entered while something is done, in their order."""
    found = []

    def note(frame, event, what):
        if event in ("call", "c_call"):
            found.append(frame.f_code.co_qualname if event == "call" else what.__name__)

    sys.setprofile(note)
    try:
        do(*given)
    finally:
        sys.setprofile(None)
    return found


def test_a_refused_token_costs_the_same_whatever_is_wrong_with_it(tmp_path):
    """By construction: whatever is wrong, the same functions are called in the same order, and none compares the text.

    All that is looked for is a SHA-256, by an index.  How far it agrees with one that is kept tells nothing of a token.
    """
    with Store.open(tmp_path / "service.store") as store:
        store.add_person("Ann", "owner", by="test")
        revoked, expired, good = (store.issue_token("Ann", "token", by="test") for _ in range(3))
        store.revoke_token(revoked.info.id, by="test")
        with sqlite3.connect(tmp_path / "service.store") as raw:
            raw.execute("UPDATE tokens SET expires = '2000-01-01T00:00:00Z' WHERE id = ?", (expired.info.id,))
        raw.close()
        texts = ["tacit_" + "A" * 43, revoked.text, expired.text, good.text[:-1] + "!", good.text[:-2] + "!!"]
        assert store.authenticate(Secret(good.text)).person.name == "Ann"
        made = [calls(store.authenticate, Secret(text)) for text in texts]
        assert all(store.authenticate(text) is None for text in texts)
        assert len(made[0]) > 20 and "openssl_sha256" in made[0] and "compare_digest" in made[0]
        assert all(each == made[0] for each in made)
        short = calls(store.authenticate, Secret("x"))  # whose length alone says that it is no token
        assert short == [name for name in made[0] if name != "isascii"]


class Noting:
    """A connection that notes its statements."""

    def __init__(self, connection):
        self._connection, self.statements = connection, []

    def execute(self, statement, *given):
        self.statements.append(statement)
        return self._connection.execute(statement, *given)

    def __getattr__(self, name):
        return getattr(self._connection, name)


def test_refused_tokens_run_the_same_statements(store):
    """The statements of a refusal do not depend on what is wrong with the token."""
    revoked = store.issue_token("bob", "token", by="Ann")
    store.revoke_token(revoked.info.id, by="Ann")
    run = []
    for text in ("tacit_" + "A" * 43, revoked.text, "x" * 1000):
        store._reader._connection = noting = Noting(store._reader._connection)
        assert store.authenticate(text) is None
        store._reader._connection = noting._connection
        run.append(noting.statements)
    assert run[0] == run[1] == run[2] != []
