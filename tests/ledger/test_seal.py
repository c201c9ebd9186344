"""Private states are sealed under a key that the ledger's file does not hold."""

import multiprocessing
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from tacit import Budget
from tacit.core.errors import LedgerCorrupt, LedgerUnavailable
from tacit.ledger import Ledger, seal
from tacit.testing._ledger import TENTH, key

ONE = Budget(epsilon=1)
SECRET = b"noisy threshold 17.25"


def started(ledger, name="stream", state=SECRET):
    return ledger.start(key=key(name), loss=TENTH, state=state, analyst="ann")


def key_of(path):
    return Path(f"{path}.key")


def test_whoever_reads_the_files_of_a_ledger_sees_no_state(path):
    with Ledger.open(path, ONE) as ledger:
        session = started(ledger)
        for i in range(3):
            session.step(i, key(i), SECRET + b"%d" % i, b"below")
            for file in (path, Path(f"{path}-wal")):
                assert SECRET not in file.read_bytes()
        assert session.read() == (3, SECRET + b"2")
        ledger.verify()
    assert SECRET not in path.read_bytes()
    assert stat.S_IMODE(key_of(path).stat().st_mode) == 0o600
    assert {f.name for f in path.parent.iterdir()} == {path.name, f"{path.name}.key", f"{path.name}.head"}


def test_a_ledger_without_its_key_still_verifies_and_finds(path):
    with Ledger.open(path, ONE) as ledger:
        session = started(ledger)
        session.step(0, key(0), SECRET, b"below")
        ledger.store(ledger.charge(key=key("q"), loss=TENTH, analyst="ann"), b"42")
    key_of(path).unlink()
    with Ledger.open(path) as ledger:
        assert ledger.verify() == ledger.head() and ledger.find(key("q")).release == b"42"
        assert len(ledger.history()) == 2 and ledger.spent() == 2 * TENTH
        ledger.charge(key=key("r"), loss=TENTH, analyst="ann")
        session = started(ledger)
        assert session.find(key(0)) == b"below"
        for do in (session.read, lambda: session.step(1, key(1), SECRET, b"x"), lambda: started(ledger, "another")):
            with pytest.raises(LedgerUnavailable, match=r"the key file .* is not there; put it back"):
                do()
        ledger.verify()
        assert not key_of(path).exists()


def test_another_key_is_told_as_such(path):
    with Ledger.open(path, ONE) as ledger:
        started(ledger)
    kept = key_of(path).read_bytes()
    key_of(path).unlink()
    seal.create_key(key_of(path))
    with Ledger.open(path) as ledger, pytest.raises(LedgerUnavailable, match="not the one"):
        started(ledger).read()
    key_of(path).unlink()
    elsewhere = path.with_name("elsewhere")
    elsewhere.touch(0o600)
    elsewhere.write_bytes(kept)
    with Ledger.open(path, key=elsewhere) as ledger:
        assert started(ledger).read() == (0, SECRET)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda p: p.chmod(0o644), "chmod 600"),
        (lambda p: p.write_text("x"), "there is no key in it"),
        (lambda p: (p.rename(p.with_name("k")), p.symlink_to(p.with_name("k"))), "cannot be used"),
    ],
)
def test_a_key_file_that_cannot_be_trusted_is_not_used(path, spoil, told):
    with Ledger.open(path, ONE) as ledger:
        started(ledger)
    spoil(key_of(path))
    with Ledger.open(path) as ledger, pytest.raises(LedgerUnavailable, match=told):
        started(ledger).read()


def edited(path, statement, given=()):
    raw = sqlite3.connect(path)
    raw.execute(statement, given)
    raw.commit()
    raw.close()


def test_states_cannot_be_swapped_or_rolled_back(path):
    with Ledger.open(path, ONE) as ledger:
        one, two = started(ledger, "one", b"1"), started(ledger, "two", b"2")
        raw = sqlite3.connect(path)
        before = raw.execute("SELECT step, salt, state FROM sessions WHERE charge = ?", (one.charge.seq,)).fetchone()
        raw.close()
        one.step(0, key("q"), b"1'", b"a")
        edited(path, "UPDATE sessions SET step = ?, salt = ?, state = ? WHERE charge = ?", (*before, one.charge.seq))
        with pytest.raises(LedgerCorrupt, match="state"):
            one.read()
        copied = (
            "UPDATE sessions SET (salt, state) = (SELECT salt, state FROM sessions WHERE charge = ?) WHERE charge = ?"
        )
        edited(path, copied, (one.charge.seq, two.charge.seq))
        with pytest.raises(LedgerCorrupt, match="state"):
            two.read()
        with ledger.database.reading() as connection:
            (stored,) = connection.execute(f"SELECT state FROM sessions WHERE charge = {one.charge.seq}").fetchone()
        assert ledger.seal.open(stored, one.charge.seq, 0) == b"1"
        for where in ((one.charge.seq, 1), (two.charge.seq, 0)):  # even with the commitment forged
            with pytest.raises(LedgerCorrupt, match="sealed for another session"):
                ledger.seal.open(stored, *where)
        with pytest.raises(LedgerCorrupt, match="sealed for another session"):
            seal.Seal(ledger.seal.path, "another ledger").open(stored, one.charge.seq, 0)


def test_two_first_users_agree_on_one_key(path, monkeypatch):
    Ledger.open(path, ONE).close()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(8)

    def work():
        barrier.wait()
        seal.create_key(key_of(path))
        os._exit(0 if seal.Seal(key_of(path), "")._read() else 1)

    workers = [context.Process(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    kept = None
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
        assert kept in (None, key_of(path).read_bytes())
        kept = key_of(path).read_bytes()
    assert not [f for f in path.parent.iterdir() if f.name.startswith(".")]


@pytest.mark.parametrize("at", ["open", "write", "fsync", "link"])
def test_a_failure_while_the_key_is_made_leaves_a_ledger_that_goes_on(path, monkeypatch, at):
    with Ledger.open(path, ONE) as ledger:
        real = getattr(os, at)

        def fail(*given, **more):
            if at != "open" or ".key" in str(given[0]):
                raise OSError(28, "No space left on device")
            return real(*given, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, at, fail)
            with pytest.raises(LedgerUnavailable):
                started(ledger)
        assert ledger.verify().seq == 1 and not key_of(path).exists()
        assert started(ledger).read() == (0, SECRET)


def test_a_backup_carries_the_key(path):
    copy = path.with_name("copy")
    with Ledger.open(path, ONE) as ledger:
        started(ledger)
        ledger.backup(copy)
    assert stat.S_IMODE(key_of(copy).stat().st_mode) == 0o600
    with Ledger.open(copy) as restored:
        assert started(restored).read() == (0, SECRET)


def test_a_backup_overwrites_no_key(path):
    copy = path.with_name("copy")
    key_of(copy).write_text("precious")
    with Ledger.open(path, ONE) as ledger:
        started(ledger)
        with pytest.raises(ValueError, match="not there yet"):
            ledger.backup(copy)
    assert key_of(copy).read_text() == "precious" and not copy.exists()


def test_the_key_of_a_ledger_in_a_database_is_in_the_users_folder(server, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_KEYS", str(tmp_path / "keys"))
    url = server.url(schema="sealed")
    with Ledger.open(url, ONE) as ledger:
        started(ledger)
        (made,) = (tmp_path / "keys").iterdir()
        assert stat.S_IMODE(made.stat().st_mode) == 0o600 and stat.S_IMODE(made.parent.stat().st_mode) == 0o700
        with ledger.database.reading() as connection:
            assert SECRET not in bytes(connection.execute("SELECT state FROM sessions").fetchone()[0])
        ledger.verify()
    monkeypatch.setenv("TACIT_KEYS", str(tmp_path / "none"))
    with Ledger.open(url) as ledger:
        ledger.verify()
        with pytest.raises(LedgerUnavailable, match="is not there"):
            started(ledger).read()
    with Ledger.open(url, key=made) as ledger:
        assert started(ledger).read() == (0, SECRET)
    monkeypatch.delenv("TACIT_KEYS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert seal.keys_folder() == tmp_path / "config" / "tacit" / "keys"
