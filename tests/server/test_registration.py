"""Registering a data set: only regular files under the roots, by plain names; all else is refused and not opened."""

import itertools
import os
import random
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tacit import Budget
from tacit.core.errors import BadParameter, TacitError
from tacit.ledger import Ledger
from tacit.server.config import Service, Settings
from tacit.server.custody import publish, set_policy, settle
from tacit.server.policy import Policy
from tacit.server.registration import checked, open_curator, register, tables_of
from tacit.server.store import DataSet, Store, TableSource
from tacit.server.store.database import StoreConflict

SCHEMA = '[table]\nname = "people"\nunit = "row"\nsize = 100\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 99\n'
BUDGET = Budget(epsilon=1, delta="1e-9")
SECRET = "age\n41\n"


@pytest.fixture
def site(tmp_path):
    """A root with a table, and a secret table outside of it."""
    for folder in ("data", "outside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "people.toml").write_text(SCHEMA)
        (tmp_path / folder / "people.csv").write_text("age\n" + "30\n" * 100 if folder == "data" else SECRET)
    (tmp_path / "ledgers").mkdir(0o700)
    return tmp_path


@pytest.fixture
def settings(site):
    service = Service(str(site / "service.store"), site / "ledgers", (site / "data",))
    return Settings(service)


@pytest.fixture
def store(settings):
    with Store.open(settings.service.store) as store:
        store.add_person("Ann", "owner", by="test")
        store.add_person("bob", "analyst", by="test")
        yield store


def dataset(site, name="people", **changes):
    data = site / "data"
    return replace(
        DataSet(name, (TableSource(str(data / "people.csv"), str(data / "people.toml")),), "", BUDGET), **changes
    )


def with_path(site, what, path):
    """A data set in which one path is another."""
    data = site / "data"
    if what == "ledger":
        return dataset(site, ledger=path)
    if what == "public":
        return dataset(site, public=(("other", path),))
    sources = {"data": str(data / "people.csv"), "schema": str(data / "people.toml"), what: path}
    return dataset(site, tables=(TableSource(**sources),))


def test_a_data_set_is_registered_with_its_ledger(site, settings, store):
    added = register(store, settings, dataset(site), by="Ann")
    assert store.dataset("people") == added and added.ledger == str(site / "ledgers" / "people.ledger")
    assert added.budget == BUDGET and [table.schema.name for table in tables_of(added, settings)] == ["people"]
    with Ledger.open(added.ledger) as ledger:
        assert ledger.only_allowed is False  # policies say who may buy
    with open_curator(added, settings) as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="0.5").columns


def test_an_existing_ledger_keeps_its_budget(site, settings, store):
    Ledger.open(site / "data" / "old.ledger", Budget(rho=1), "people").close()
    added = register(store, settings, dataset(site, ledger=str(site / "data" / "old.ledger"), budget=None), by="Ann")
    assert added.budget == Budget(rho=1)
    other = dataset(site, "other", ledger=str(site / "ledgers" / "people.ledger"), budget=None)
    with pytest.raises(TacitError, match="There is no ledger at"):
        register(store, settings, other, by="Ann")
    assert [each.name for each in store.datasets()] == ["people"]


@pytest.mark.parametrize("only_allowed", [None, True])
def test_a_ledger_in_postgresql(site, settings, store, server, only_allowed):
    named = replace(settings, service=replace(settings.service, databases=(server.url(),)))
    place = server.url(schema=f"registered {only_allowed}")
    added = register(store, named, dataset(site, ledger=place), by="Ann")
    with Ledger.open(place) as ledger:
        assert (ledger.only_allowed, ledger.budget) == (False, BUDGET)
    assert tables_of(added, named)
    Ledger.open(f"{place}2", BUDGET, "people", only_allowed).close()
    for name, budget in (("with", BUDGET), ("without", None)):
        assert register(store, named, dataset(site, name, ledger=f"{place}2", budget=budget), by="Ann").budget == BUDGET
        store.remove_dataset(name, by="Ann")
    with pytest.raises(BadParameter, match="budget must be"):
        register(store, named, dataset(site, "other", ledger=f"{place}2", budget=Budget(rho=1)), by="Ann")


def traversals(site):
    """At least 1,000 ways to write a path that leads out of the root."""
    steps = [
        "..",
        "./..",
        "..//",
        "../.",
        "%2e%2e",
        "..%2f",
        "..\\",
        "....//",
        "..;/",
        "..\u2215",
        "\u2025",
        "%252e%252e",
    ]
    heads = [
        "",
        str(site / "data"),
        str(site / "data") + "/x",
        "data",
        "~",
        "~root",
        "$HOME",
        "file://",
        "file:",
        "\\\\h\\s",
    ]
    tails = ["outside/people.csv", "etc/passwd", "proc/self/mem", "dev/stdin", "outside/people.toml", "../x.csv"]
    made = ["/".join((head, *[step] * n, tail)) for head in heads for step in steps for n in (1, 9) for tail in tails]
    absolute = [
        *("/etc/passwd", "/etc/shadow", "/proc/self/environ", "/proc/self/fd/0", "/dev/zero", "/dev/tty", "/sys/power"),
        *("/", "//", ".", "", "\x00", "people.csv\x00.toml", "a" * 5000, "/" + "x/" * 3000, "con", "nul.csv", "x.zip"),
        *(str(site / "outside" / "people.csv"), f"{site}/data/../outside/people.csv", "http://127.0.0.1/x.csv"),
        *("s3://bucket/x.csv", "https://e.org/people.parquet", "ftp://h/x.csv", "people.csv.gz"),
    ]
    rng = random.Random(31)
    alphabet = [
        "..",
        ".",
        "/",
        "//",
        "\\",
        "data",
        "outside",
        "people.csv",
        "people.toml",
        "\x00",
        "%00",
        "\n",
        "~",
        "é",
    ]
    drawn = ["".join(rng.choices(alphabet, k=rng.randint(1, 9))) for _ in range(300)]
    return made + absolute + drawn


def test_no_traversal_leads_out_of_the_roots(site, settings, monkeypatch):
    """Each string as each kind of path: what is not refused is a file under the root."""
    monkeypatch.chdir(site / "data")
    strings = traversals(site)
    assert len(strings) > 1000
    taken = set()
    for what, text in itertools.product(("data", "schema", "public", "ledger"), strings):
        if what == "ledger" and not text:
            continue  # the default place
        try:
            found = checked(with_path(site, what, text), settings)
        except TacitError:
            continue
        source = found.tables[0]
        places = [source.data, source.schema, found.ledger, *(path for _, path in found.public)]
        for place in places:
            real = Path(os.path.realpath(place))
            assert real.is_relative_to(site / "data") or real == site / "ledgers" / "people.ledger", (what, text)
        taken.add((what, text))
    files = {text for what, text in taken if what != "ledger"}  # a ledger need not be there yet
    assert 0 < len(files) < 50 and all((site / "data" / text).is_file() for text in files)


@pytest.mark.parametrize("what", ["data", "schema", "public", "ledger"])
def test_links_out_of_the_roots_are_refused(site, settings, what):
    names = {"schema": "people.toml"}
    name = names.get(what, "people.csv")
    (site / "data" / f"link.{name.partition('.')[2]}").symlink_to(site / "outside" / name)
    (site / "data" / "folder").symlink_to(site / "outside")
    for path in (site / "data" / f"link.{name.partition('.')[2]}", site / "data" / "folder" / name):
        with pytest.raises(BadParameter, match="must lie under one of the configured roots"):
            checked(with_path(site, what, str(path)), settings)


def test_a_link_within_the_roots_is_followed_once(site, settings, store):
    link = site / "data" / "current.csv"
    link.symlink_to(site / "data" / "people.csv")
    added = register(store, settings, with_path(site, "data", str(link)), by="Ann")
    assert added.tables[0].data == str(site / "data" / "people.csv")
    link.unlink()
    link.symlink_to(site / "outside" / "people.csv")
    assert tables_of(added, settings)[0].data == site / "data" / "people.csv"


def test_a_folder_that_becomes_a_link_later_is_noticed(site, settings, store):
    folder = site / "data" / "deep"
    folder.mkdir()
    for name in ("people.csv", "people.toml"):
        (folder / name).write_text((site / "data" / name).read_text())
    added = register(store, settings, with_path(site, "data", str(folder / "people.csv")), by="Ann")
    folder.rename(site / "data" / "moved")
    folder.symlink_to(site / "outside")
    with pytest.raises(BadParameter, match="must lie under one of the configured roots"):
        open_curator(added, settings)
    folder.unlink()
    folder.symlink_to(site / "data" / "moved")
    with pytest.raises(BadParameter, match="are not where they were registered"):
        open_curator(added, settings)


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "device", "loop", "missing", "archive"])
@pytest.mark.parametrize("what", ["data", "schema", "public"])
def test_only_regular_files_are_read(site, settings, monkeypatch, what, kind):
    path = site / "data" / ("odd.toml" if what == "schema" else "odd.csv")
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "socket":
            monkeypatch.chdir(site / "data")  # the path of a socket is short
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path.name)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path)
        case "archive":
            path = path.with_name(f"{path.name}.zip")
            path.write_bytes(b"PK")
    with pytest.raises(TacitError):
        checked(with_path(site, what, str(path)), settings)


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_a_ledger_is_a_regular_file(site, settings, kind):
    path = site / "data" / "odd.ledger"
    {"fifo": lambda: os.mkfifo(path), "folder": path.mkdir, "link": lambda: path.symlink_to(site / "data" / "new")}[
        kind
    ]()
    with pytest.raises(BadParameter, match=r"regular file|configured roots"):
        checked(dataset(site, ledger=str(path)), settings)


def test_views_of_the_system_are_refused_even_where_everything_is_a_root(site, settings):
    wide = replace(settings, service=replace(settings.service, roots=(Path("/"),)))
    for path in ("/proc/self/environ.csv", "/proc/self/fd/0", "/dev/stdin", "/sys/kernel/x.csv", "/proc/x.toml"):
        for what in ("data", "schema", "public", "ledger"):
            with pytest.raises(BadParameter, match="configured roots"):
                checked(with_path(site, what, path), wide)


def test_the_source_in_a_schema_is_held_to_the_same_roots(site, settings, store):
    (site / "data" / "sly.toml").write_text(
        SCHEMA.replace("[columns.age]", f'source = "{site}/outside/people.csv"\n[columns.age]')
    )
    sly = dataset(site, tables=(TableSource(None, str(site / "data" / "sly.toml")),))
    with pytest.raises(BadParameter, match="The source of a data set must lie under one of the configured roots"):
        register(store, settings, sly, by="Ann")
    assert not (site / "ledgers" / "people.ledger").exists() and store.datasets() == []


@pytest.mark.parametrize("what", ["data", "ledger"])
def test_only_databases_that_are_configured_are_called(site, settings, what):
    named = replace(settings, service=replace(settings.service, databases=("postgresql://db.local/shop",)))
    admitted = "postgresql://me:pw@db.local/shop?" + ("table=people" if what == "data" else "schema=s")
    checked(with_path(site, what, admitted), named)
    for text in (
        admitted.replace("db.local", "evil.local"),
        admitted.replace("db.local", "db.local:1"),
        admitted.replace("/shop", "/other"),
        f"{admitted}&host=evil.local",
        f"{admitted}&hostaddr=10.0.0.1",
        f"{admitted}&service=evil",
        admitted.replace("postgresql", "spark"),
    ):
        with pytest.raises(TacitError) as refused:
            checked(with_path(site, what, text), named)
        assert "pw" not in str(refused.value)
        with pytest.raises(TacitError):
            checked(with_path(site, what, text), settings)


@pytest.mark.parametrize("name", ["", "..", "a/b", "People", "a" * 64])
def test_a_name_is_checked_before_a_path_is_made_of_it(site, settings, name):
    with pytest.raises(BadParameter, match="name must be"):
        checked(dataset(site, name), settings)


def test_a_name_that_is_taken_makes_no_ledger(site, settings, store):
    register(store, settings, dataset(site), by="Ann")
    with pytest.raises(StoreConflict, match="already a data set called 'people'"):
        register(store, settings, dataset(site, ledger=str(site / "data" / "new.ledger")), by="Ann")
    assert not (site / "data" / "new.ledger").exists()


def test_the_allowance_of_a_policy_is_written_to_the_ledger(site, settings, store):
    added = register(store, settings, dataset(site), by="Ann")
    half, tenth = (Budget(epsilon=x, delta="1e-10") for x in ("0.5", "0.1"))
    set_policy(store, "people", "role:analyst", Policy(allowance=half), by="Ann")
    set_policy(store, "people", "person:Ann", Policy(allowance=tenth), by="Ann")
    store.add_person("cat", "analyst", by="Ann")
    with Ledger.open(added.ledger) as ledger:
        assert {name: float(budget.epsilon) for name, budget in ledger.allowances().items()} == {"bob": 0.5, "Ann": 0.1}
        entries = ledger.head().seq
        for _ in range(2):
            for name in ("bob", "cat"):
                settle(ledger, store.effective("people", store.person(name)), store.person(name))
        assert ledger.allowance("cat").epsilon == half.epsilon and ledger.head().seq == entries + 1
    with pytest.raises(BadParameter, match="allowance must be no larger than the budget"):
        set_policy(store, "people", "role:analyst", Policy(allowance=Budget(epsilon=2, delta="1e-10")), by="Ann")
    with pytest.raises(BadParameter, match="in epsilon, as the budget"):
        set_policy(store, "people", "role:analyst", Policy(allowance=Budget(rho="0.1")), by="Ann")
    assert store.policies("people")["role:analyst"].allowance == half
    with pytest.raises(StoreConflict, match="There is no data set called 'x'"):
        set_policy(store, "x", "role:analyst", Policy(), by="Ann")


def test_only_what_the_ledger_released_is_published(site, settings, store):
    added = register(store, settings, dataset(site), by="Ann")
    with open_curator(added, settings) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="0.5")
        (release,) = (entry for entry in curator.ledger.entries() if entry.kind == "release")
        first = next(iter(curator.ledger.entries())).head.hash
    publish(store, "people", release.head.hash, by="Ann")
    assert store.published(release.head.hash).dataset == "people"
    for entry in (first, "00" * 32, ""):
        with pytest.raises(StoreConflict, match="has no release with this hash"):
            publish(store, "people", entry, by="Ann")
