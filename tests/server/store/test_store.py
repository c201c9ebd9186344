"""The store: what is set is read by everybody at once, what contradicts is refused, acts are only ever appended."""

import os
import pickle
import sqlite3
import threading
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from tacit import Budget
from tacit.core.errors import BadParameter
from tacit.server.policy import OWNERS, Policy, Price
from tacit.server.store import DataSet, Store, TableSource
from tacit.server.store.database import StoreConflict, StoreUnavailable
from tacit.server.store.layout import FORMAT, STORE

PEOPLE = DataSet(
    "people",
    (TableSource("/d/p.csv", "/d/p.toml"), TableSource(None, "/d/q.toml")),
    "/d/p.ledger",
    Budget(epsilon=1, delta="1e-9"),
    (("countries", "/d/c.csv"),),
    "duckdb",
    Fraction(1, 3),
    Fraction(5),
)
POLICY = Policy(Price.read({"error": 50}), Fraction(1, 10), Budget(epsilon="0.5", delta="1e-10"), fresh=True)


def test_what_is_set_is_read_elsewhere_at_once(store, place):
    with Store.open(place, create=False) as other:
        bob, ann = other.person("bob"), other.person("Ann")
        assert other.datasets() == [] and other.effective("people", ann) is None
        store.add_dataset(PEOPLE, by="Ann")
        assert other.datasets() == [PEOPLE] and other.dataset("people") == PEOPLE
        assert other.effective("people", bob) is None and other.effective("people", ann) == OWNERS
        store.set_policy("people", "role:analyst", POLICY, by="Ann")
        assert other.effective("people", bob) == POLICY and other.policies("people") == {"role:analyst": POLICY}
        store.set_policy("people", "person:BOB", Policy(), by="Ann")
        assert other.effective("people", bob) == Policy()
        store.remove_policy("people", "person:bob", by="Ann")
        assert other.effective("people", bob) == POLICY
        store.remove_dataset("people", by="Ann")
        assert other.effective("people", bob) is None is other.dataset("people") and other.policies("people") == {}


def test_a_data_set_that_is_added_again_has_no_earlier_policy(store):
    store.add_dataset(PEOPLE, by="Ann")
    store.set_policy("people", "role:analyst", POLICY, by="Ann")
    store.remove_dataset("people", by="Ann")
    store.add_dataset(PEOPLE, by="Ann")
    assert store.policies("people") == {}


def test_contradictions_are_refused_and_change_nothing(store):
    store.add_dataset(PEOPLE, by="Ann")
    before = store.acts()
    attempts = {
        "There is already a data set called 'people'": lambda: store.add_dataset(PEOPLE, by="Ann"),
        "This ledger already belongs to the data set 'people'": lambda: store.add_dataset(
            DataSet("other", PEOPLE.tables, PEOPLE.ledger), by="Ann"
        ),
        "There is no data set called 'x'": lambda: store.set_policy("x", "role:analyst", POLICY, by="Ann"),
        "no policy for role:owner on 'people'": lambda: store.remove_policy("people", "role:owner", by="Ann"),
        "There is no token with this number": lambda: store.revoke_token("0" * 16, by="Ann"),
        "There is no such approval": lambda: store.decide("0" * 16, by="Ann", approved=True),
        "There is no such job": lambda: store.cancel_job("0" * 16),
    }
    for sentence, attempt in attempts.items():
        with pytest.raises(StoreConflict, match=sentence):
            attempt()
    assert store.acts() == before


@pytest.mark.parametrize("name", ["", "People", "1a", "a" * 64, "a-b", "a/b", "../a", "a\n", "ä", "a b", "a\x00"])
def test_a_data_set_has_a_plain_name(store, name):
    with pytest.raises(BadParameter, match="name must be 1 to 63 small letters"):
        store.add_dataset(DataSet(name, PEOPLE.tables, "/x"), by="Ann")


@pytest.mark.parametrize("subject", ["", "analyst", "role:", "role:king", "person:", "person:a\nb", "people:bob"])
def test_a_policy_is_for_a_role_or_a_person(store, subject):
    store.add_dataset(PEOPLE, by="Ann")
    with pytest.raises(BadParameter):
        store.set_policy("people", subject, POLICY, by="Ann")


def test_approvals(store, place):
    one = store.request_approval("people", "bob", "SELECT 1", "aa")
    assert store.request_approval("people", "bob", "SELECT 1", "aa") == one and one.state == "pending"
    two = store.request_approval("people", "bob", "SELECT 2", "bb")
    assert store.use(one.id) is False
    with Store.open(place) as other:
        assert other.approvals(state="pending") == sorted([one, two], key=lambda each: (each.asked, each.id))
        assert other.decide(one.id, by="Ann", approved=True).state == "approved"
        assert other.decide(two.id, by="Ann", approved=False).state == "denied"
    with pytest.raises(StoreConflict, match="was approved by Ann, and stays so"):
        store.decide(one.id, by="Ann", approved=False)
    assert store.request_approval("people", "bob", "SELECT 1", "aa").state == "approved"
    assert [store.use(one.id), store.use(one.id), store.use(two.id), store.use("0")] == [True, False, False, False]
    assert store.approval(one.id).state == "used" and store.approval("0") is None
    again = store.request_approval("people", "bob", "SELECT 1", "aa")
    assert again.id != one.id and again.state == "pending"
    assert store.approvals("people", "BOB", "denied") == [store.approval(two.id)]
    assert store.approvals("other") == store.approvals(person="Ann") == []


def test_a_person_cannot_pile_up_requests(store, monkeypatch):
    monkeypatch.setattr("tacit.server.store.approvals._MAX_PENDING", 2)
    for digest in ("aa", "bb", "aa"):
        store.request_approval("people", "bob", "", digest)
    with pytest.raises(StoreConflict, match="2 purchases of yours wait for approval"):
        store.request_approval("people", "bob", "", "cc")


def test_jobs(store, clock):
    one = store.add_job("people", "bob", "answers", "{}")
    clock(timedelta(seconds=1))
    two = store.add_job("people", "bob", "synthetic", "{}")
    assert store.claim_job("w1").id == one.id and store.claim_job("w2").id == two.id and store.claim_job("w1") is None
    assert store.update_job(one.id, worker="w1", share=0.25).share == 0.25
    with pytest.raises(StoreConflict, match="another process runs it now"):
        store.update_job(one.id, worker="w2", share=0.5)
    done = store.update_job(one.id, worker="w1", share=1, state="done", result="abc")
    assert done.over and (done.state, done.result, done.share) == ("done", "abc", 1)
    with pytest.raises(StoreConflict, match="This job is over"):
        store.update_job(one.id, worker="w1", state="failed")
    assert store.cancel_job(one.id) == done == store.job(one.id)
    assert [job.id for job in store.jobs()] == [two.id, one.id]
    assert [job.id for job in store.jobs(state="running")] == [two.id] and store.jobs(person="Ann") == []


def test_a_job_is_cancelled_by_its_worker_or_while_it_waits(store):
    one, two = (store.add_job("people", "bob", "answers", "{}") for _ in range(2))
    running = store.claim_job("w1")
    waiting = one if running.id == two.id else two
    assert store.cancel_job(waiting.id).state == "cancelled"
    assert store.cancel_job(running.id).state == "cancelling" == store.update_job(running.id, worker="w1").state
    assert store.update_job(running.id, worker="w1", state="cancelled").state == "cancelled"
    assert store.claim_job("w1") is None


def test_the_job_of_a_dead_worker_is_taken_over(store, clock):
    job, cancelled = (store.add_job("people", "bob", "answers", "{}") for _ in range(2))
    first = store.claim_job("w1")
    second = store.claim_job("w1")
    assert {first.id, second.id} == {job.id, cancelled.id}
    store.cancel_job(second.id)
    clock(timedelta(seconds=60))
    assert store.claim_job("w2") is None
    clock(timedelta(seconds=1))
    assert store.claim_job("w2").id == first.id and store.claim_job("w2") is None
    assert store.job(second.id).state == "cancelled"
    with pytest.raises(StoreConflict):
        store.update_job(first.id, worker="w1", share=0.5)


def test_a_release_is_published_once(store, place):
    first = store.publish("ab" * 32, "people", by="Ann")
    with Store.open(place) as other:
        assert other.publish("ab" * 32, "people", by="Cat") == first == other.published("ab" * 32)
        assert other.published("cd" * 32) is None


def test_the_first_request_under_a_key_is_remembered(store, place):
    with Store.open(place) as other:
        assert store.first_use("people", "bob", "k", "aa") == "aa"
        assert other.first_use("people", "BOB", "k", "bb") == "aa"
        assert other.first_use("people", "Ann", "k", "bb") == "bb"
        assert other.first_use("more", "bob", "k", "cc") == "cc"
    for key in ("", "x" * 201, "a\nb", "é"):
        with pytest.raises(BadParameter, match="key must be"):
            store.first_use("people", "bob", key, "aa")


def test_acts_are_only_ever_appended(store):
    acts = store.acts()
    assert [act.seq for act in acts] == list(range(1, len(acts) + 1))
    assert [(act.actor, act.act, act.subject) for act in acts[:2]] == [
        ("tacit", "made the store", f"format {FORMAT}"),
        ("test", "added the owner", "Ann"),
    ]
    assert store.acts(after=len(acts) - 1) == acts[-1:]
    for statement in (
        "DELETE FROM entries",
        "UPDATE entries SET act = 'x'",
        "INSERT INTO entries VALUES (9, '', '', '', '')",
    ):
        with pytest.raises(StoreUnavailable), store.writing() as connection:
            connection.execute(statement)
    assert store.acts() == acts


def test_what_raises_is_undone(store):
    people, acts = store.people(), store.acts()

    class Stop(Exception):
        pass

    original = store._log

    def log(*given):
        original(*given)
        raise Stop

    store._log = log
    for attempt in (
        lambda: store.add_person("Cat", "owner", by="Ann"),
        lambda: store.revoke_person("bob", by="Ann"),
        lambda: store.issue_token("bob", "token", by="Ann"),
        lambda: store.add_dataset(PEOPLE, by="Ann"),
    ):
        with pytest.raises(Stop):
            attempt()
    assert (store.people(), store.acts(), store.tokens(), store.datasets()) == (people, acts, [], [])


def test_a_store_of_a_newer_version_is_refused(fresh):
    place = fresh()
    Store.open(place).close()
    with sqlite3.connect(place) as raw:
        raw.execute("DROP TRIGGER no_update")
        raw.execute("UPDATE entries SET subject = ?", (f"format {FORMAT + 1}",))
    raw.close()
    newer = r"a newer version of tacit wrote it \(format 2; this version reads 1\); update tacit"
    with pytest.raises(StoreUnavailable, match=newer):
        Store.open(place)
    with sqlite3.connect(place) as raw:
        raw.execute("CREATE TABLE more (x)")
    raw.close()
    with pytest.raises(StoreUnavailable, match=r"a newer version of tacit wrote it \(format 2; this version reads 1\)"):
        Store.open(place)


def test_what_is_no_store_is_refused(fresh, tmp_path, server):
    place = fresh()
    with pytest.raises(StoreUnavailable, match=r"There is no store at .* To make it, add its first owner"):
        Store.open(place, create=False)
    assert not Path(place).exists()
    Path(place).touch(0o600)
    with pytest.raises(StoreUnavailable, match="There is no store at"):
        Store.open(place, create=False)
    from tacit.ledger import Ledger

    Ledger.open(tmp_path / "people.ledger", Budget(epsilon=1)).close()
    with pytest.raises(StoreUnavailable, match="there is a database, but not a store"):
        Store.open(tmp_path / "people.ledger")
    (tmp_path / "text").write_text("no database" * 1000)
    os.chmod(tmp_path / "text", 0o600)
    with pytest.raises(StoreUnavailable, match="not a database"):
        Store.open(tmp_path / "text")
    os.chmod(place, 0o644)
    with pytest.raises(
        StoreUnavailable, match="other users may read or write the file; chmod 600 it, if it is a store"
    ):
        Store.open(place)
    with pytest.raises(BadParameter, match="The store must be a path, or a URL of sqlite, postgresql; got 'mysql'"):
        Store.open("mysql://h/d")
    secret = server.url().replace("postgres@", "postgres:hunter2@")
    with pytest.raises(StoreUnavailable) as refused:
        Store.open(secret.replace("/postgres?", "/nowhere?"))
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "harm",
    [
        "DROP TRIGGER no_delete",
        "CREATE TRIGGER back AFTER UPDATE ON tokens BEGIN UPDATE tokens SET revoked = NULL; END",
        "DROP INDEX one_digest",
        "CREATE TABLE more (x)",
    ],
)
def test_a_store_whose_tables_were_altered_is_refused_while_it_is_open_and_later(fresh, harm):
    place = fresh()
    with Store.open(place) as store:
        store.add_person("Ann", "owner", by="test")
        with sqlite3.connect(place) as raw:
            raw.execute(harm)
        raw.close()
        with pytest.raises(StoreUnavailable, match="not those that it was made with"):
            store.add_person("bob", "analyst", by="Ann")
    with pytest.raises(StoreUnavailable):
        Store.open(place)


def test_a_store_of_the_first_format_is_read_for_good(tmp_path):
    """The fixture is never written again: later versions must read it, with all that was in it."""
    fixture = Path(__file__).parent / "format_1.sql"
    place = tmp_path / "service.store"
    place.touch(0o600)
    with sqlite3.connect(place) as raw:
        raw.executescript(fixture.read_text("utf-8"))
    raw.close()
    with Store.open(place, create=False) as store:
        store.check()
        assert [(person.name, person.role, bool(person.revoked)) for person in store.people()] == [
            ("Ann", "owner", False),
            ("bob", "analyst", False),
            ("eve", "analyst", True),
        ]
        assert store.dataset("people") == PEOPLE and store.policies("people") == {"role:analyst": POLICY}
        assert [job.state for job in store.jobs()] == ["queued"]
        assert [each.state for each in store.approvals()] == ["approved"]
        assert store.published("ab" * 32) and store.first_use("people", "bob", "k", "bb") == "aa"
        assert len(store.tokens()) == 2 and not any(token.revoked for token in store.tokens())
        store.add_person("Cat", "owner", by="Ann")


def test_a_store_cannot_be_pickled(store):
    with pytest.raises(TypeError, match="A store cannot be copied or pickled"):
        pickle.dumps(store)


def test_the_tables_of_a_store_are_read_from_their_statements():
    assert set(STORE.tables) >= {"entries", "people", "tokens", "datasets", "policies", "approvals", "jobs", "releases"}
    assert STORE.tables["tokens"].columns["digest"] == ("TEXT", True)
    assert STORE.tables["tokens"].columns["parent"] == ("TEXT", False)
    assert STORE.indexes == {"one_digest": "digest"}


def test_threads_share_a_store(store):
    """Some log in while others change who may; nobody is let in by a token once it was revoked."""
    problems, stop = [], threading.Event()
    tokens = [store.issue_token("bob", "token", by="Ann") for _ in range(10)]
    revoked = set()

    def ask():
        while not stop.is_set():
            for text, info in tokens:
                gone = info.id in revoked
                login = store.authenticate(text)
                if (gone and login is not None) or (login is not None and login.token.id != info.id):
                    problems.append(info.id)

    def change():
        for _, info in tokens:
            store.revoke_token(info.id, by="Ann")
            revoked.add(info.id)

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for thread in askers:
        thread.start()
    change()
    stop.set()
    for thread in askers:
        thread.join()
    assert problems == [] and not any(store.authenticate(text) for text, _ in tokens)
