"""Power cuts and failing disks, on the writes and syncs of the real SQLite library.

Until it is synced a write may be done or not, whatever the order, and in part, by sectors; and so may the creation or
removal of a name until its directory is synced.  From every such image the ledger opens, verifies, and holds all that
had been told.  The same images refute synchronous=NORMAL, so the test can fail.
"""

import os
import random
import stat
from pathlib import Path

import pytest

from tacit import Budget
from tacit.core.errors import LedgerUnavailable
from tacit.ledger import Ledger
from tacit.ledger.stores import sqlite
from tacit.testing._ledger import TENTH, key

from ._vfs import FULL, IOERR_FSYNC, IOERR_WRITE, Recording

IMAGES, SECTOR = 2100, 512
BUDGET = Budget(epsilon=100)


class Disk:
    """What is surely on it, and what may be."""

    def __init__(self):
        self.files, self.pending = {}, {}  # by number: bytes, and writes not yet synced
        self.names, self.now, self.moves = {}, {}, []  # names that are surely there, those of now, what is between

    def take(self, event):
        match event:
            case "create", path:
                number = len(self.files)
                self.files[number], self.pending[number] = b"", []
                self.now[path] = number
                self.moves.append((path, number))
            case "link", path, content:
                number = len(self.files)
                self.files[number], self.pending[number] = content, []
                self.now[path] = number
                self.moves.append((path, number))
            case "unlink", path:
                self.now.pop(path, None)
                self.moves.append((path, None))
            case "write" | "truncate", path, *_:
                self.pending[self.now[path]].append(event)
            case "sync", path:
                number = self.now[path]
                self.files[number] = after(self.files[number], self.pending[number])
                self.pending[number] = []
            case "sync directory", _:
                self.names, self.moves = dict(self.now), []

    def image(self, rng):
        """What may be found after a power cut."""
        keep = rng.choice([0.0, 0.05, 0.5, 0.95, 1.0])
        names = dict(self.names)
        for path, number in self.moves:
            if rng.random() < keep:
                names[path] = number
        found = {}
        for path, number in names.items():
            if number is not None:
                done = [part for event in self.pending[number] for part in torn(event, keep, rng)]
                found[path] = after(self.files[number], done)
        return found


def torn(event, keep, rng):
    """A write in sectors, each done or not; mostly all of them or none."""
    what, path, at, *data = event
    if what == "truncate" or rng.random() < 0.7:
        return [event] if rng.random() < keep else []
    pieces = [(what, path, at + i, data[0][i : i + SECTOR]) for i in range(0, len(data[0]), SECTOR)]
    return [piece for piece in pieces if rng.random() < keep]


def after(content, events):
    raw = bytearray(content)
    for what, _, at, *data in events:
        if what == "truncate":
            del raw[at:]
        else:
            raw.extend(bytes(max(0, at - len(raw))))
            raw[at : at + len(data[0])] = data[0]
    return bytes(raw)


def work(path, tell):
    """A life with charges, releases, a session, checkpoints in the midst, and an end and a new beginning."""
    for life in range(2):
        with Ledger.open(path, BUDGET) as ledger:
            with ledger.database.reading() as connection:
                connection.execute("PRAGMA wal_autocheckpoint=12")
            session = ledger.start(key=key("session"), loss=TENTH, state=b"0", analyst="ann")
            step, _ = session.read()
            for i in range(4):
                question = key(life, i)
                charge = ledger.charge(key=question, loss=TENTH, analyst="ann", parts=["north"] if i % 2 else None)
                tell("told", question, None)
                tell("told", question, ledger.store(charge, b"%d" % i * 900))
                tell("step", step + i + 1, session.step(step + i, question, b"s%d" % i, b"answer"))


@pytest.fixture
def recording(path, monkeypatch):
    recording, make, fsync, link, synced = Recording(), sqlite.make, os.fsync, os.link, set()

    def noted_make(path):
        recording.note("create", str(path))
        make(path)

    def noted_fsync(descriptor):
        fsync(descriptor)
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            recording.note("sync directory", str(path.parent))
        else:
            synced.add(found.st_ino)

    def noted_link(draft, name):
        """The key file has its name once it is complete; what was not synced by then is not there."""
        link(draft, name)
        recording.note("link", str(name), Path(name).read_bytes() if os.stat(name).st_ino in synced else b"")

    monkeypatch.setattr(sqlite, "make", noted_make)
    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "link", noted_link)
    with recording.listening():
        work(path, recording.note)
    monkeypatch.setattr(sqlite, "make", make)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    return recording


def lost(found, told, steps, directory):
    """What an image does not hold of what was told; None if it is all there."""
    path = directory / "people.ledger"
    for name, content in found.items():
        copy = directory / Path(name).name
        copy.touch(0o600)
        copy.write_bytes(content)
    try:
        with Ledger.open(path, BUDGET) as ledger:
            ledger.verify()
            entries = list(ledger.entries())
            if steps:  # then its state can be read, so its key is there
                ledger.start(key=key("session"), loss=TENTH, state=b"0", analyst="ann").read()
    except Exception as error:
        return repr(error)
    finally:
        for file in directory.iterdir():
            file.unlink()
    charged = {entry.seq: entry.body["key"] for entry in entries if entry.kind == "charge"}
    released = {charged[entry.body["charge"]]: entry.data for entry in entries if entry.kind == "release"}
    missing = [q for q, data in told.items() if q not in charged.values() or data not in (None, released.get(q))]
    taken = max((entry.body["step"] for entry in entries if entry.kind == "step"), default=0)
    return (missing or None) if taken >= steps else "a step"


def losses(recording, images, rng, directory):
    """How many of so many images, at random moments, lack something."""
    moments = sorted(rng.choices(range(len(recording.log) + 1), k=images))
    disk, told, steps, at, bad = Disk(), {}, 0, 0, []
    for moment in moments:
        for event in recording.log[at:moment]:
            match event:
                case "told", question, release:
                    told[question] = release
                case "step", number, _:
                    steps = number
                case _:
                    disk.take(event)
        at = moment
        if reason := lost(disk.image(rng), told, steps, directory):
            bad.append(reason)
    return bad


def test_what_was_told_survives_a_power_cut(recording, memory):
    events = [event[0] for event in recording.log]
    assert all(events.count(what) >= least for what, least in {"write": 200, "sync": 40, "unlink": 3}.items())
    assert losses(recording, IMAGES, random.Random(1), memory) == []


@pytest.fixture
def weaker(monkeypatch):
    monkeypatch.setattr(sqlite, "SYNCHRONOUS", 1)  # NORMAL


def test_without_full_syncs_it_would_not(weaker, recording, memory):
    assert len(losses(recording, 100, random.Random(2), memory)) > 10


def test_without_synced_directories_it_would_not(recording, memory):
    recording.log = [event for event in recording.log if event[0] != "sync directory"]
    assert len(losses(recording, 100, random.Random(2), memory)) > 10


@pytest.mark.parametrize("failure", [IOERR_WRITE, IOERR_FSYNC, FULL])
def test_a_write_or_sync_that_fails_releases_nothing(memory, failure):
    """Each in turn, of a life of charges and releases: what was handed out is on the disk."""
    recording, at, finished, reasons = Recording(), 0, False, set()
    while not finished:
        at += 1
        recording.fail = {recording.calls + at: failure}
        here, told = memory / f"{at}.ledger", {}
        with recording.listening():
            try:
                with Ledger.open(here, BUDGET) as ledger:
                    with ledger.database.reading() as connection:
                        connection.execute("PRAGMA wal_autocheckpoint=6")
                    for i in range(3):
                        charge = ledger.charge(key=key(i), loss=TENTH, analyst="ann")
                        told[key(i)] = ledger.store(charge, b"%d" % i)
                finished = recording.calls < max(recording.fail)
            except LedgerUnavailable as failed:
                reasons.add(failed.reason)
        with Ledger.open(here, BUDGET) as ledger:
            ledger.verify()
            assert {question: ledger.find(question).release for question in told} == told
    assert at > 30 and reasons <= {"disk I/O error", "database or disk is full"}


def test_after_a_failed_sync_it_is_opened_anew(memory):
    """A second sync may succeed though the first one lost its pages, so nothing is built on what it seems to hold."""
    recording = Recording()
    with recording.listening(), Ledger.open(memory / "ledger", BUDGET) as ledger:
        recording.fail = dict.fromkeys(range(recording.calls + 1, recording.calls + 100), IOERR_FSYNC)
        with pytest.raises(LedgerUnavailable, match="I/O"):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        recording.fail = {}
        with pytest.raises(LedgerUnavailable, match="open it again"):
            ledger.charge(key=key(2), loss=TENTH, analyst="ann")
    with Ledger.open(memory / "ledger") as ledger:
        ledger.charge(key=key(2), loss=TENTH, analyst="ann")
        ledger.verify()
