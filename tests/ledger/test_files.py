"""What a ledger's file must be, and what happens where it cannot be written: a clear error, and nothing released."""

import os
import pickle
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from fractions import Fraction
from pathlib import Path

import pytest

from tacit import BadParameter, Budget
from tacit.core.errors import LedgerCorrupt, LedgerError, LedgerUnavailable
from tacit.ledger import Ledger
from tacit.ledger.stores import sqlite
from tacit.testing._ledger import TENTH, key, pure

ONE = Budget(epsilon=1)
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # later Pythons warn of any other thread


def in_child(do):
    """Run in a forked process; what it returned, as text."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(writer, str(do()).encode())
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def test_it_is_the_owners_alone(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_export_is_the_owners_alone(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.export(path.with_name("lines"))
    assert stat.S_IMODE(path.with_name("lines").stat().st_mode) == 0o600


def test_a_backup_is_a_sound_ledger_of_the_owners_alone(path):
    copy = path.with_name("copy")
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        session = ledger.start(key=key(2), loss=TENTH, state=b"private", analyst="ann")
        head = ledger.backup(copy)
        assert head == ledger.head() and stat.S_IMODE(copy.stat().st_mode) == 0o600
        ledger.charge(key=key(3), loss=TENTH, analyst="ann")  # goes on, and the copy does not
        link, elsewhere = path.with_name("link"), path.with_name("elsewhere")
        link.symlink_to(elsewhere)
        for taken in (copy, path, link):
            with pytest.raises(BadParameter, match="a file that is not there yet"):
                ledger.backup(taken)
        for odd in (path.parent / "nowhere" / "copy", path.with_name("x" * 300), "a\0b"):
            with pytest.raises(BadParameter, match="a place for a new file"):
                ledger.backup(odd)
        with pytest.raises(BadParameter, match="target must be a path"):
            ledger.backup(3)
        assert not elsewhere.exists()
        assert len(list(path.parent.iterdir())) == 8  # with log, index and witness, copy and link, two keys
        assert session.read()[1] == b"private"
    with Ledger.open(copy) as restored:
        assert restored.verify() == head and restored.spent() == 2 * TENTH
        assert restored.start(key=key(2), loss=TENTH, state=b"other", analyst="ann").read()[1] == b"private"


def test_a_backup_that_cannot_be_verified_is_not_left_behind(path, monkeypatch):
    def corrupt(ledger):
        raise LedgerCorrupt(1, "for this test")

    with Ledger.open(path, ONE) as ledger:
        monkeypatch.setattr(Ledger, "verify", corrupt)
        with pytest.raises(LedgerCorrupt):
            ledger.backup(path.with_name("copy"))
    assert not path.with_name("copy").exists()


def test_an_export_overwrites_nothing_least_of_all_the_ledger(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        for target in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            with pytest.raises(BadParameter, match="not there yet"):
                ledger.export(target)
        ledger.export(path.with_name("lines"))
        with pytest.raises(BadParameter, match="not there yet"):
            ledger.export(path.with_name("lines"))
    with Ledger.open(path, ONE) as ledger:
        assert ledger.remaining() == Fraction(9, 10)


def charged_elsewhere(path, i):
    """Another process opens the ledger, charges a tenth, and is gone."""
    script = (
        "import sys; from tacit.ledger import Ledger; from tacit.testing._ledger import TENTH, key\n"
        "with Ledger.open(sys.argv[1]) as ledger:\n"
        "    ledger.charge(key=key(int(sys.argv[2])), loss=TENTH, analyst='ben')"
    )
    subprocess.run([sys.executable, "-c", script, str(path), str(i)], check=True)


def test_whoever_opens_and_closes_the_file_takes_nothing_from_it(path):
    """That drops SQLite's own locks of this process, and another process that ends would take the log away."""
    with Ledger.open(path, ONE) as ledger, Ledger.open(path) as second:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        path.read_bytes()
        charged_elsewhere(path, 2)
        ledger.charge(key=key(3), loss=TENTH, analyst="ann")
        second.close()  # as this does, too
        charged_elsewhere(path, 4)
        assert ledger.remaining() == Fraction(6, 10)
    assert not Path(f"{path}-wal").exists()  # the last to close it leaves one file
    with Ledger.open(path) as ledger:
        assert ledger.remaining() == Fraction(6, 10) and ledger.verify().seq == 5


def test_a_log_that_was_taken_away_is_not_written_to(path, monkeypatch):
    """Where there are no locks but those that whoever opens and closes the file drops."""
    monkeypatch.setattr("tacit.ledger.stores.sqlite._SETLK", None)
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        path.read_bytes()
        charged_elsewhere(path, 2)
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match="its log was taken away"):
                ledger.charge(key=key(3), loss=7 * TENTH, analyst="ann")
    with Ledger.open(path) as ledger:
        assert ledger.remaining() == Fraction(8, 10) and ledger.verify().seq == 3


def test_a_log_that_is_taken_away_during_a_commit_is_seen_before_anything_is_told(path, monkeypatch):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        log, known = Path(f"{path}-wal"), ledger.database.dialect.commit

        def commit(connection):
            log.rename(log.with_name("away"))
            known(connection)

        monkeypatch.setattr(ledger.database.dialect, "commit", commit)
        with pytest.raises(LedgerUnavailable, match="its log was taken away"):
            ledger.charge(key=key(2), loss=TENTH, analyst="ann")


def test_a_refused_opening_drops_no_locks(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        path.chmod(0o644)
        with pytest.raises(LedgerUnavailable, match="chmod 600"):
            Ledger.open(path)
        path.chmod(0o600)
        charged_elsewhere(path, 2)
        ledger.charge(key=key(3), loss=TENTH, analyst="ann")
        assert ledger.remaining() == Fraction(7, 10) and ledger.verify().seq == 4


def test_a_ledger_has_one_name(path):
    other = path.with_name("other")
    with Ledger.open(path, ONE) as ledger:
        os.link(path, other)
        with pytest.raises(LedgerUnavailable, match="a second name"):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    for name in (path, other):
        with pytest.raises(LedgerUnavailable, match="second name"):
            Ledger.open(name)


@pytest.mark.parametrize("name", ["x.ledger", "a b\\c.ledger"])
def test_a_ledger_is_mounted_with_its_directory(path, monkeypatch, name):
    place = path.with_name(name)
    Ledger.open(place, ONE).close()
    told = str(place).replace("\\", "\\134").replace(" ", "\\040")
    mounts = f"36 35 98:0 /mnt /elsewhere rw - ext3 /dev/root rw\n37 35 98:0 /x {told} rw - ext3 /dev/root rw\n"
    monkeypatch.setattr("tacit.ledger.stores.sqlite._MOUNTS", place.with_name("mounts"))
    place.with_name("mounts").write_text(mounts)
    with pytest.raises(LedgerUnavailable, match="mount the directory"):
        Ledger.open(place)
    place.with_name("mounts").unlink()
    Ledger.open(place).close()


def test_entries_are_read_page_by_page(path, monkeypatch):
    monkeypatch.setattr("tacit.ledger.ledger._PAGE", 3)
    with Ledger.open(path, ONE) as ledger:
        for i in range(8):
            ledger.charge(key=key(i), loss=TENTH, analyst="ann")
        assert [entry.seq for entry in ledger.entries()] == list(range(1, 10))
        assert [entry.seq for entry in ledger.entries(after=6)] == [7, 8, 9]
        assert repr(ledger) == f"Ledger({str(path)!r}, dataset='data', budget=Budget(epsilon=1))"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda p: p.symlink_to("elsewhere"), lambda p: p.symlink_to(p)])
def test_only_regular_files(path, make):
    make(path)
    with pytest.raises(LedgerUnavailable, match="regular file"):
        Ledger.open(path, ONE)


def test_a_link_to_a_ledger_is_not_followed(path):
    Ledger.open(path, ONE).close()
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(LedgerUnavailable, match="symbolic"):
        Ledger.open(link)


@pytest.mark.parametrize("away", [Path.unlink, lambda p: p.rename(p.with_name("away"))])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_moved_or_replaced_is_not_written_to(path, away, replaced):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        away(path)
        if replaced:
            path.with_name(f"{path.name}.head").unlink()  # which would refuse another in its place
            Ledger.open(path, ONE).close()
        with pytest.raises(LedgerUnavailable, match="moved or replaced"):
            ledger.charge(key=key(2), loss=TENTH, analyst="ann")
        next(ledger.database.paused())  # a new connection does not make a new file either
        with pytest.raises(LedgerUnavailable):
            ledger.find(key(1))
        assert path.exists() == replaced


def test_a_database_in_its_place_is_left_as_it_was(path):
    other = path.with_name("other")
    sqlite3.connect(other).execute("CREATE TABLE mine (x)").connection.close()
    before = other.read_bytes()
    with Ledger.open(path, ONE) as ledger:
        next(ledger.database.paused())  # the next connection is a new one
        path.unlink()
        path.symlink_to(other)
        with pytest.raises(LedgerUnavailable, match="moved or replaced"):
            ledger.head()
    assert other.read_bytes() == before


@pytest.mark.parametrize("name", ["a b", "50% #1?", "\u00e9", "file:x", "x?mode=memory", "\udcff"])
def test_any_name_will_do(tmp_path, name):
    Ledger.open(tmp_path / name, ONE).close()
    assert (tmp_path / name).stat().st_size > 0 and Ledger.open(tmp_path / name).verify().seq == 1


def test_others_may_not_read_it(path):
    Ledger.open(path, ONE).close()
    path.chmod(0o640)
    with pytest.raises(LedgerUnavailable, match="chmod 600"):
        Ledger.open(path)


def test_no_directory(path):
    with pytest.raises(LedgerUnavailable, match="no such directory"):
        Ledger.open(path / "deeper", ONE)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///x?mode=ro"])
def test_only_on_disk(url):
    with pytest.raises(LedgerUnavailable, match="must be a file"):
        Ledger.open(url, ONE)


@pytest.mark.parametrize("url", ["mysql://somewhere/x", "://"])
def test_unknown_databases(url):
    with pytest.raises(BadParameter, match="path"):
        Ledger.open(url, ONE)


def test_a_url_is_a_path_too(path):
    Ledger.open(f"sqlite:///{path}", ONE).close()
    assert Ledger.open(path).budget == ONE


@pytest.mark.parametrize("budget", [1.0, "epsilon=1", {"epsilon": 1}])
def test_what_is_no_budget_opens_nothing(path, budget):
    with pytest.raises(BadParameter, match=r"budget must be a Budget, such as"):
        Ledger.open(path, budget)
    assert not path.exists()


def test_an_empty_file_is_not_yet_a_ledger(path):
    sqlite.make(path)
    with pytest.raises(LedgerUnavailable, match="give a budget"):
        Ledger.open(path)
    Ledger.open(path, ONE).verify()


def test_other_files_are_left_alone(path):
    path.write_text("not a database, but of some length " * 100)
    path.chmod(0o600)
    with pytest.raises(LedgerCorrupt, match="not a database"):
        Ledger.open(path, ONE)
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE entries (mine)")
    other.close()
    path.chmod(0o600)
    with pytest.raises(LedgerUnavailable, match="not a ledger"):
        Ledger.open(path, ONE)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (3, r"newer version of tacit wrote it \(format 3; this version reads 2\); update tacit"),
        (0, "format 0 is unknown"),
    ],
)
def test_another_format_is_refused(path, monkeypatch, version, said):
    with monkeypatch.context() as then:
        then.setattr("tacit.ledger.ledger.FORMAT", version)
        then.setattr("tacit.ledger.ledger.FORMATS", (version,))
        Ledger.open(path, ONE).close()
    with pytest.raises(LedgerUnavailable, match=said):
        Ledger.open(path)


@pytest.mark.parametrize(("name", "value"), [("SYNCHRONOUS", 9), ("JOURNAL", "nonsense")])
def test_settings_are_read_back(path, monkeypatch, name, value):
    """SQLite ignores a setting that it does not know, and says nothing."""
    Ledger.open(path, ONE).close()
    monkeypatch.setattr(sqlite, name, value)
    with pytest.raises(LedgerUnavailable, match="not durable"):
        Ledger.open(path)


def test_settings_of_the_connection(path):
    with Ledger.open(path, ONE) as ledger, ledger.database.reading() as connection:
        found = [connection.execute(f"PRAGMA {p}").fetchone()[0] for p in ("journal_mode", "synchronous")]
    assert found == ["wal", 2]


def test_a_read_only_file_or_directory():
    """Also for the administrator, whom permissions do not stop: the child becomes nobody."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ledger"
        Ledger.open(path, ONE).close()
        nobody = 65534 if os.geteuid() == 0 else os.geteuid()
        os.chown(path, nobody, -1)
        path.chmod(0o400)
        path.parent.chmod(0o777)

        def attempt():
            if os.geteuid() != nobody:
                os.setuid(nobody)
            return Ledger.open(path).charge(key=key(1), loss=TENTH, analyst="ann")

        assert in_child(attempt).startswith("LedgerUnavailable") and "read-only" in in_child(attempt)
        path.chmod(0o600)
        path.parent.chmod(0o555)
        if os.geteuid() == 0:
            assert "read-only" in in_child(attempt)
        path.parent.chmod(0o700)
        path.chmod(0o600)


def test_a_file_that_turned_read_only(path):
    with Ledger.open(path, ONE) as ledger:
        charge = ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        with ledger.database.reading() as connection:
            connection.execute("PRAGMA query_only=ON")
        with pytest.raises(LedgerUnavailable, match="readonly"):
            ledger.store(charge, b"42")
        with ledger.database.reading() as connection:
            connection.execute("PRAGMA query_only=OFF")
        assert ledger.find(key(1)).release is None


def test_a_full_database(path):
    """Charges go on until there is no page left; then there is an error, and what was told is still there."""
    with Ledger.open(path, Budget(epsilon=1000)) as ledger:
        with ledger.database.reading() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages + 8}")
        told = []

        def fill():
            for i in range(1000):
                told.append(ledger.store(ledger.charge(key=key(i), loss=TENTH, analyst="ann"), b"%d" % i))

        with pytest.raises(LedgerUnavailable, match="full"):
            fill()
    with Ledger.open(path) as ledger:
        ledger.verify()
        assert told and [ledger.find(key(i)).release for i in range(len(told))] == told
        left = ledger.find(key(len(told)))
        assert left is None or left.release is None


def test_a_full_disk(path):
    """The operating system refuses to let the file grow: what the disk holds is then unknown, and the ledger closes."""
    Ledger.open(path, Budget(epsilon=1000)).close()

    def attempt():
        ledger, told = Ledger.open(path), 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        try:
            for i in range(1000):
                ledger.store(ledger.charge(key=key(i), loss=TENTH, analyst="ann"), b"%d" % i)
                told += 1
        except LedgerUnavailable as full:
            try:
                ledger.find(key(0))
            except LedgerUnavailable as closed:
                return f"{told}|{full}|{closed}"
            return f"{told}|{full}|"

    told, full, closed = in_child(attempt).split("|")
    assert "full" in full or ("I/O" in full and "open it again" in closed)
    with Ledger.open(path) as ledger:
        ledger.verify()
        released = [charge.release for charge in ledger.history()]
        assert released[: int(told)] == [b"%d" % i for i in range(int(told))]
        assert int(told) > 0 and len(released) <= int(told) + 1


def test_a_fork_opens_its_own_connection(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        told = [in_child(lambda i=i: ledger.charge(key=key(i), loss=TENTH, analyst="ann").draw) for i in range(1, 12)]
        assert told[:9] == ["1"] * 9 and all(text.startswith("BudgetExceeded") for text in told[9:])
        assert ledger.spent() == 10 * TENTH
        ledger.verify()


def test_a_fork_carries_no_connection_and_waits_for_the_other_threads(path):
    """SQLite forbids the first; without the second the child would wait for a thread that it does not have."""
    with Ledger.open(path, ONE) as ledger:
        inside, times = threading.Event(), []

        def busy():
            with ledger.database.writing():
                inside.set()
                time.sleep(0.2)
                times.append(time.monotonic())

        def child():
            signal.alarm(20)
            carried = ledger.database._connection
            return carried, ledger.charge(key=key(1), loss=TENTH, analyst="ann").draw, time.monotonic() > times[0]

        thread = threading.Thread(target=busy)
        thread.start()
        assert inside.wait(20)
        assert in_child(child) == "(None, 1, True)"
        thread.join()
        assert ledger.find(key(1)) is not None


def test_it_cannot_be_pickled(path):
    with Ledger.open(path, ONE) as ledger:
        session = ledger.start(key=key(0), loss=TENTH, state=b"", analyst="ann")
        for thing in (ledger, session):
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(thing)
        charge = ledger.find(key(0))
        assert pickle.loads(pickle.dumps(charge)) == charge


def test_errors_tell_no_state_and_survive_a_pickle(path):
    with Ledger.open(path, ONE) as ledger:
        state = b"SECRET"
        session = ledger.start(key=key(0), loss=TENTH, state=state, analyst="ann")
        with ledger.database.reading() as connection:
            connection.execute("PRAGMA query_only=ON")
        with pytest.raises(LedgerError) as raised:
            session.step(0, key(1), state, b"answer")
        told = "".join(traceback.format_exception(raised.value))
        assert "SECRET" not in told and "sqlite3" not in told and raised.value.__cause__ is None
        again = pickle.loads(pickle.dumps(raised.value))
        assert (str(again), again.reason) == (str(raised.value), raised.value.reason)


HAMMER = """
import os, sys
from fractions import Fraction
from tacit import Budget
from tacit.core.errors import BudgetExceeded
from tacit.ledger import Ledger
from tacit.testing._ledger import key, pure

path, admitted = sys.argv[1], 0
children = []
for worker in range(16):
    reader, writer = os.pipe()
    if not os.fork():
        ledger, count = Ledger.open(path, Budget(epsilon=1)), 0  # the first to come makes it
        try:
            while True:
                ledger.charge(key=key(worker, count), loss=pure(Fraction(1, 240)), analyst=f"a{worker}")
                count += 1
        except BudgetExceeded:
            os.write(writer, str(count).encode())
        os._exit(0)
    os.close(writer)
    children.append(reader)
print(sum(int(os.fdopen(reader).read()) for reader in children))
"""


def test_sixteen_processes_fill_one_budget_exactly(path):
    told = subprocess.run([sys.executable, "-c", HAMMER, str(path)], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "240", told.stderr
    with Ledger.open(path) as ledger:
        assert ledger.spent() == 240 * pure("1/240") and ledger.remaining() == 0
        ledger.verify()


def test_the_name_of_a_new_file_is_synced(path, monkeypatch):
    folders = []
    monkeypatch.setattr(sqlite, "synced", folders.append)
    sqlite.make(path)
    assert folders == [path.parent]


def test_a_state_of_another_type_is_not_shown(path):
    with Ledger.open(path, ONE) as ledger:
        with pytest.raises(BadParameter) as told:
            ledger.start(key=key(1), loss=TENTH, state="noise 17.25", analyst="ann")
        assert "17.25" not in str(told.value)


def test_others_may_not_read_an_export(path, tmp_path):
    with Ledger.open(path, ONE) as ledger:
        ledger.export(tmp_path / "out")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600
