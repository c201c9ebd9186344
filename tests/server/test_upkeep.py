"""Upkeep: what `--check` finds, and a backup that is restored on another machine with all that was in it."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tacit import Budget
from tacit.core.errors import BadParameter
from tacit.holdout import Leaderboard
from tacit.ledger import Ledger
from tacit.ledger.stores.sqlite import TRIGGERS
from tacit.server.backup import backup
from tacit.server.check import findings
from tacit.server.config import Settings
from tacit.server.policy import Policy
from tacit.server.registration import open_curator, register
from tacit.server.store import DataSet, Store, TableSource

from .test_registration import SCHEMA

QUESTION = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def machine(tmp_path):
    """A folder with a service that has sold an answer."""
    return made(tmp_path / "one")


def made(folder):
    (folder / "data").mkdir(parents=True)
    (folder / "service.toml").write_text('[service]\nroots = ["data"]\n')
    (folder / "data" / "people.toml").write_text(SCHEMA)
    (folder / "data" / "people.csv").write_text("age\n" + "30\n" * 100)
    settings = Settings.load(folder / "service.toml", {})
    source = TableSource(str(folder / "data" / "people.csv"), str(folder / "data" / "people.toml"))
    with Store.open(settings.service.store) as store:
        store.add_person("Ann", "owner", by="test")
        store.add_person("bob", "analyst", by="Ann")
        added = register(store, settings, DataSet("people", (source,), "", Budget(epsilon=1, delta="1e-9")), by="Ann")
        store.set_policy("people", "role:analyst", Policy(), by="Ann")
    with open_curator(added, settings) as curator:
        curator.ask(QUESTION, epsilon="0.25", analyst="bob")
    return folder


def wrong(folder):
    return [finding.says for finding in findings(folder / "service.toml") if finding.wrong]


def test_a_sound_service_has_nothing_wrong(machine):
    found = findings(machine / "service.toml")
    assert not any(finding.wrong for finding in found), found
    assert [finding.what for finding in found] == ["configuration", "TLS", "roots", "store", "data set people"]
    assert "its ledger is sound; head " in found[-1].says


def test_what_is_wrong_is_found(machine):
    (machine / "service.toml").write_text("[service]\nprot = 1\nport = 'x'\n")
    assert len(wrong(machine)) == 2
    (machine / "service.toml").write_text('[service]\nroots = ["data", "none"]\n')
    assert wrong(machine) == [f"There is no folder {machine}/none. Make it, or correct service.roots."]
    (machine / "service.toml").write_text('[service]\nroots = ["data"]\nstore = "other"\n')
    assert wrong(machine)[0].startswith("There is no store at")
    (machine / "service.toml").write_text('[service]\nroots = ["ledgers"]\n')
    assert wrong(machine)[0].startswith("The schema of a data set must lie under one of the configured roots")
    (machine / "service.toml").write_text("")
    os.chmod(machine / "data", 0o777)
    assert wrong(machine)[0].endswith(f"Run: chmod o-w {machine}/data")
    os.chmod(machine / "data", 0o755)
    os.chmod(machine / "service.store", 0o644)
    assert "other users may read or write the file" in wrong(machine)[0]
    os.chmod(machine / "service.store", 0o600)
    with closing(sqlite3.connect(machine / "ledgers" / "people.ledger")) as raw:
        raw.execute("DROP TRIGGER no_update")
        raw.execute("UPDATE entries SET body = replace(body, 'bob', 'eve')")
        raw.execute(TRIGGERS["no_update"])
        raw.commit()
    assert wrong(machine)[0].startswith("Entry 6 of the ledger is not what was written")
    (machine / "ledgers" / "people.ledger").unlink()
    assert "There is no ledger at" in wrong(machine)[0]


def test_a_store_without_an_owner_is_found(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "service.toml").write_text("")
    Store.open(tmp_path / "service.store").close()
    assert wrong(tmp_path) == ["There is no owner yet. Run: tacit user add NAME --role owner"]


def test_files_of_tls_are_tried(machine):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (machine / "c.pem").write_bytes(certificate)
    (machine / "k.pem").write_bytes(secret)
    (machine / "service.toml").write_text('[service]\ncertificate = "c.pem"\nprivate_key = "k.pem"\n')
    os.chmod(machine / "k.pem", 0o644)
    assert wrong(machine) == [f"Other users may read or write {machine}/k.pem. Run: chmod 600 {machine}/k.pem"]
    os.chmod(machine / "k.pem", 0o600)
    assert wrong(machine) == []
    (machine / "c.pem").write_text("no certificate")
    assert "are not a certificate and its key in PEM" in wrong(machine)[0]
    (machine / "k.pem").unlink()
    assert "k.pem cannot be reached: No such file" in wrong(machine)[0]


def test_a_backup_is_complete_and_private(machine, tmp_path):
    with Store.open(machine / "service.store") as store:
        made = backup(store, tmp_path / "copy")
        with pytest.raises(BadParameter, match="folder must be a folder that is not there yet"):
            backup(store, tmp_path / "copy")
    names = {path.name for path in (tmp_path / "copy").iterdir()}
    assert names == {"anchors", "people.ledger", "people.ledger.key", "service.store"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in ((tmp_path / "copy"), *(tmp_path / "copy").iterdir()))
    head = made.heads["people"]
    assert (tmp_path / "copy" / "anchors").read_text() == f"people {head.seq}:{head.hash}\n"
    with Ledger.open(tmp_path / "copy" / "people.ledger") as ledger:
        assert ledger.verify(head) == head


def test_leaderboards_are_checked_and_copied(machine, tmp_path):
    (machine / "service.toml").write_text('[service]\nboards = "ledgers/leader-boards.ledger"\n')
    settings = Settings.load(machine / "service.toml", {})
    assert len(wrong(machine)) == 1 and "leader-boards.ledger" in wrong(machine)[0]
    with Ledger.open(settings.service.boards, Budget(epsilon=1)) as ledger:
        Leaderboard.open(ledger, {str(i): i % 2 for i in range(500)}, teams=1, quota=2)
    assert wrong(machine) == []
    with Store.open(machine / "service.store") as store:
        assert [*backup(store, tmp_path / "copy", settings.service.boards).heads] == ["people", "leader-boards"]
    with Ledger.open(tmp_path / "copy" / "leader-boards.ledger") as ledger:
        assert Leaderboard(ledger).ladder.submissions == 2


def test_a_backup_says_what_postgresql_keeps(server, tmp_path):
    with Store.open(server.url(schema="backed_up")) as store:
        store.add_person("Ann", "owner", by="test")
        assert backup(store, tmp_path / "copy").elsewhere == ["the store"]


def test_the_key_of_a_ledger_in_postgresql_is_copied(machine, server, tmp_path):
    (machine / "service.toml").write_text(f'[service]\ndatabases = ["{server.url()}"]\n')
    settings = Settings.load(machine / "service.toml", {})
    with Store.open(settings.service.store) as store:
        place = server.url(schema="kept by the server")
        there = replace(store.dataset("people"), name="distant", ledger=place, budget=Budget(epsilon=1))
        with open_curator(register(store, settings, there, by="Ann"), settings) as curator:
            curator.ask(QUESTION, epsilon="0.25")
            key = curator.ledger.seal.path
        made = backup(store, tmp_path / "copy")
    assert made.elsewhere == ["the ledger of distant"] and list(made.heads) == ["people"]
    assert (tmp_path / "copy" / key.name).read_bytes() == key.read_bytes()


def test_what_was_half_registered_is_registered_again(machine, monkeypatch):
    """A crash between the ledger and the store leaves a ledger that the same command takes."""
    settings = Settings.load(machine / "service.toml", {})
    with Store.open(settings.service.store) as store:
        more = replace(store.dataset("people"), name="more", ledger="", budget=Budget(epsilon=2))
        with monkeypatch.context() as patched:
            patched.setattr(Store, "add_dataset", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                register(store, settings, more, by="Ann")
        assert (machine / "ledgers" / "more.ledger").exists() and store.dataset("more") is None
        assert register(store, settings, more, by="Ann") == store.dataset("more")


def test_a_restored_service_goes_on_where_the_backup_was_made(machine, tmp_path):
    """The recipe of docs/service.md on another machine: repeats stay free, what was spent stays spent."""
    with Store.open(machine / "service.store") as store:
        text, _ = store.issue_token("bob", "token", by="Ann")
        backup(store, tmp_path / "copy")
    shutil.rmtree(machine / "ledgers")
    (machine / "service.store").unlink()
    recipe = restore_recipe()
    done = subprocess.run(
        ["sh", "-eu", "-c", recipe],
        cwd=machine,
        env={
            **os.environ,
            "BACKUP": str(tmp_path / "copy"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    settings = Settings.load(machine / "service.toml", {})
    assert wrong(machine) == []
    with Store.open(settings.service.store) as store:
        assert store.authenticate(text).person.name == "bob"
        with open_curator(store.dataset("people"), settings) as curator:
            before = curator.ledger.head()
            curator.ask(QUESTION, epsilon="0.25", analyst="bob")
            assert curator.ledger.head() == before


def restore_recipe():
    """The commands of docs/service.md that restore a backup."""
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text("utf-8")
    block = page.partition("## Backup and restore")[2].partition("```sh restore\n")[2].partition("```")[0]
    assert block
    return block


@pytest.mark.parametrize("fixture", ["pure.sqlite", "format_2/pure.sqlite"])
def test_a_ledger_of_an_earlier_format_is_served_as_it_is(tmp_path, fixture):
    """What it sold stays sold; the service writes nothing to it before somebody buys."""
    source = Path(__file__).parents[1] / "fixtures" / "ledgers" / fixture
    (tmp_path / "data").mkdir()
    (tmp_path / "service.toml").write_text("")
    place = tmp_path / "data" / "old.ledger"
    for suffix in ("", ".key"):
        if Path(f"{source}{suffix}").exists():
            shutil.copyfile(f"{source}{suffix}", f"{place}{suffix}")
            Path(f"{place}{suffix}").chmod(0o600)
    with Ledger.open(place) as ledger:
        name, head, budget = ledger.dataset, ledger.head(), ledger.budget
    (tmp_path / "data" / "t.toml").write_text(SCHEMA.replace('"people"', f'"{name}"'))
    (tmp_path / "data" / "t.csv").write_text("age\n30\n")
    settings = Settings.load(tmp_path / "service.toml", {})
    tables = (TableSource(str(tmp_path / "data" / "t.csv"), str(tmp_path / "data" / "t.toml")),)
    with Store.open(settings.service.store) as store:
        store.add_person("Ann", "owner", by="test")
        added = register(store, settings, DataSet("old", tables, str(place)), by="Ann")
        assert added.budget == budget
        assert backup(store, tmp_path / "copy").heads["old"] == head
    assert wrong(tmp_path) == []
