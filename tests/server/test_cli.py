"""People, data sets, policies, approvals and upkeep on the command line: what it says, and what ends it."""

import json
import os

import pytest
from typer.testing import CliRunner

from tacit import Budget
from tacit.cli import app
from tacit.ledger import Ledger
from tacit.server.config import Settings
from tacit.server.policy import Policy, Price
from tacit.server.registration import open_curator
from tacit.server.store import Store

from .test_registration import SCHEMA


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TACIT_") and name != "TACIT_KEYS"]:
        monkeypatch.delenv(name)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.toml").write_text(SCHEMA)
    (tmp_path / "data" / "people.csv").write_text("age\n" + "30\n" * 100)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)], terminal_width=300, env={"COLUMNS": "300"})
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result.output


@pytest.fixture
def store(folder):
    run("user", "add", "Ann", "--role", "owner")
    run("user", "add", "bob")
    run("dataset", "add", "people", "data/people.csv", "--budget", "epsilon=1 delta=1e-9")
    with Store.open(folder / "service.store") as store:
        yield store


def test_before_there_is_a_store(folder):
    for command in (["user", "list"], ["dataset", "list"], ["policy", "show", "people"], ["service", "acts"]):
        assert "To make it, add its first owner: tacit user add NAME --role owner" in run(*command, code=2)
    assert not (folder / "service.store").exists()


def test_people(store):
    listed = json.loads(run("user", "list", "--json"))
    assert [(each["name"], each["role"], each["revoked"]) for each in listed] == [
        ("Ann", "owner", None),
        ("bob", "analyst", None),
    ]
    assert "There is already a person called 'bob'" in run("user", "add", "BOB", code=2)
    assert "role must be one of owner, analyst" in run("user", "add", "eve", "--role", "king", code=2)
    assert "'Ann' is the last owner" in run("user", "revoke", "Ann", code=2)
    text, _ = store.issue_token("bob", "token", by="Ann")
    assert store.authenticate(text)
    assert run("user", "revoke", "bob") == "bob is shut out, with every token, link and session.\n"
    assert store.authenticate(text) is None
    assert store.acts()[-1].actor.startswith("the operator ")


def test_tokens_and_links(store):
    text, sentence = run("user", "token", "bob", "--label", "notebook", "--days", 7).splitlines()
    login = store.authenticate(text)
    assert login.person.name == "bob" and login.token.label == "notebook" and login.token.id in sentence
    assert "It is not shown again; keep it secret." in sentence
    link, sentence = run("user", "link", "bob").splitlines()
    address, _, secret = link.partition("#")
    assert address == "http://127.0.0.1:8765/login" and "whoever opens it first, as bob" in sentence
    listed = run("user", "list", "--tokens")
    assert login.token.id in listed and text not in listed and secret not in listed
    assert store.redeem_link(secret) and store.redeem_link(secret) is None
    run("user", "revoke-token", login.token.id)
    assert store.authenticate(text) is None
    assert "There is no token with this number" in run("user", "revoke-token", "0", code=2)
    assert "days must be from 1 to 366" in run("user", "token", "bob", "--days", 0, code=2)
    assert "hours must be from 1 to 720" in run("user", "link", "bob", "--hours", 9999, code=2)
    assert "There is no person called 'eve'" in run("user", "link", "eve", code=2)


def test_data_sets(store, folder):
    assert store.dataset("people").ledger == str(folder / "ledgers" / "people.ledger")
    (row,) = json.loads(run("dataset", "list", "--json"))
    assert row == {"name": "people", "budget": "Budget(epsilon=1, delta=1e-09)", "left": "1", "policies": ""}
    assert "already a data set called 'people'" in run("dataset", "add", "people", "data/people.csv", code=2)
    assert "must lie under one of the configured roots" in run("dataset", "add", "x", "../people.csv", code=2)
    assert "name must be 1 to 63 small letters" in run("dataset", "add", "../x", "data/people.csv", code=2)
    assert "There is no ledger at" in run("dataset", "add", "x", "data/people.csv", code=2)
    assert "schema must be 1, one for each table" in run(
        "dataset", "add", "x", "data/people.csv", "--schema", "a", "--schema", "b", code=2
    )
    assert "Pass --schema" in run("dataset", "add", "x", "postgresql://h/d?table=t", code=2)
    assert "public must be NAME=FILE" in run("dataset", "add", "x", "data/people.csv", "--public", "y", code=2)
    assert "served no longer" in run("dataset", "remove", "people")
    assert "There is no data set called 'people'" in run("dataset", "remove", "people", code=2)
    ledger = folder / "ledgers" / "people.ledger"
    run("dataset", "add", "again", "data/people.toml", "--schema", "data/people.toml", "--ledger", ledger, code=2)
    run("dataset", "add", "again", "data/people.csv", "--ledger", ledger, "--time-grid", "0.5", "--deadline", 4)
    assert store.dataset("again").time_grid == 0.5 and store.dataset("again").budget == Budget(epsilon=1, delta="1e-9")
    ledger.rename(folder / "lost")
    assert "run tacit serve --check" in run("dataset", "list")


def test_policies(store, folder):
    options = ["--epsilon", "0.1", "--delta", "1e-12", "--most", "1/3", "--allowance", "epsilon=0.5 delta=1e-10"]
    run("policy", "set", "people", "role:analyst", *options, "--fresh", "--workloads", "--approval", "0")
    policy = Policy(
        Price.read({"epsilon": "0.1", "delta": "1e-12"}),
        "1/3",
        Budget(epsilon="0.5", delta="1e-10"),
        fresh=True,
        workloads=True,
        approval=0,
    )
    assert store.policies("people") == {"role:analyst": policy}
    with Ledger.open(folder / "ledgers" / "people.ledger") as ledger:
        assert {name: float(budget.epsilon) for name, budget in ledger.allowances().items()} == {"bob": 0.5}
    shown = run("policy", "show", "people")
    for words in ("epsilon=0.1 delta=0.000000000001", "at most 1/3 of", "in all Budget(epsilon=0.5", "fresh allowed"):
        assert words in shown
    assert json.loads(run("policy", "show", "people", "--json"))["role:analyst"]["approval"] == "0"
    run("policy", "set", "people", "person:bob")
    assert store.effective("people", store.person("bob")) == Policy()
    run("policy", "remove", "people", "person:Bob")
    assert store.effective("people", store.person("bob")) == policy
    for arguments, sentence in {
        ("set", "people", "bob"): "subject must be role:analyst, role:owner or person:NAME",
        ("set", "x", "role:owner"): "There is no data set called 'x'",
        ("set", "people", "role:owner", "--error", "1", "--share", "1"): "Got error and share.",
        ("set", "people", "role:owner", "--most", "2"): "most must be a share of the budget",
        ("set", "people", "role:owner", "--allowance", "epsilon=9 delta=1e-10"): "no larger than the budget",
        ("show", "x"): "There is no data set called 'x'",
        ("remove", "people", "role:owner"): "There is no policy for role:owner",
    }.items():
        assert sentence in run("policy", *arguments, code=2)
    run("policy", "remove", "people", "role:analyst")
    assert "No analyst sees this data set" in run("policy", "show", "people")


def test_approvals(store):
    assert run("approval", "list") == "Nothing waits for approval.\n"
    one, two = (store.request_approval("people", "bob", f"SELECT {i}", str(i)) for i in range(2))
    assert one.id in run("approval", "list", "--dataset", "people") and "SELECT 1" in run("approval", "list")
    assert f"The purchase {one.id} of bob on people is approved." in run("approval", "approve", one.id)
    assert "is denied" in run("approval", "deny", two.id)
    assert "and stays so" in run("approval", "approve", two.id, code=2)
    assert run("approval", "list") == "Nothing waits for approval.\n"
    assert {each["state"] for each in json.loads(run("approval", "list", "--all", "--json"))} == {"approved", "denied"}


def test_upkeep(store, folder):
    assert run("service", "jobs") == "There are no jobs.\n"
    job = store.add_job("people", "bob", "answers", "{}")
    assert job.id in run("service", "jobs") and "is cancelled" in run("service", "cancel", job.id)
    acts = json.loads(run("service", "acts", "--json", "--after", 1))
    assert [act["act"] for act in acts] == ["added the owner", "added the analyst", "added the data set"]
    with open_curator(store.dataset("people"), Settings.load(None, {})) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="0.5")
        entry = next(each.head.hash for each in curator.ledger.entries() if each.kind == "release")
    assert run("service", "publish", "people", entry) == f"http://127.0.0.1:8765/r/{entry} is public now.\n"
    assert "has no release with this hash" in run("service", "publish", "people", "0" * 64, code=2)
    assert "its ledger is copied and sound" in run("service", "backup", folder / "copy")
    assert "a folder that is not there yet" in run("service", "backup", folder / "copy", code=2)


def test_check(store, folder):
    assert run("service", "check").splitlines()[-1].startswith("ok     data set people: its ledger is sound; head 1:")
    (folder / "data" / "people.csv").unlink()
    assert run("service", "check", code=1).splitlines()[-1].startswith("WRONG  data set people: data must be a file")
    (folder / "service.toml").write_text("[service]\nprot = 1\nhots = 2\n")
    assert [line[:7] for line in run("service", "check", code=1).splitlines()] == ["WRONG  ", "WRONG  "]


def test_hostile_names_act_on_no_terminal(store):
    evil = "\x1b]0;x\x07[red]a"
    assert "\x1b" not in run("user", "add", evil, code=2) and "\x1b" not in run("user", "revoke-token", evil, code=2)
    store.request_approval("people", "bob", evil, "0")
    assert "\x1b" not in (shown := run("approval", "list")) and "[red]a" in shown


def test_a_wrong_configuration_is_reported(folder):
    (folder / "service.toml").write_text("[service]\nprot = 1\n")
    assert "Did you mean 'service.port'?" in run("user", "list", code=2)
    assert "There is no configuration at nowhere.toml" in run("user", "list", "--config", "nowhere.toml", code=2)
