"""An analyst is hostile: whatever the description names is tried with the things of others, and reaches none of them.

Mallory may ask about one data set, as Vera may.  Vera has another one to herself, and on both she has bought, opened,
queued and asked for approval.  Mallory knows the number and the name of everything of hers but her token.
"""

import hashlib
import itertools
from fractions import Fraction
from urllib.parse import quote

import pyarrow as pa
import pytest

import tacit
from tacit.ledger import Ledger
from tacit.server.http import bodies
from tacit.server.policy import Policy

from .conftest import CANARY
from .test_access import BODIES

SECRET = "zqvera"  # within all that is Vera's: names of tables, questions, sessions, draws, tokens and keys
ALLOWANCE = 20
SCHEMA = """
[table]
name = "{name}"
unit = "person"
rows = 1
size = 100
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.region]
type = "category"
values = ["north", "south"]
"""
TRAVERSALS = ("..", "../{}", "./{}", "{}/", "{}%00", "{}\x00", "{}.", " {}", "{} ", "{}?", "{}#", "{};", "{}%2f..")


def table(name):
    rows = {"person": [f"{CANARY}{i}" for i in range(100)], "age": range(100), "region": ["north", "south"] * 50}
    return tacit.Table(pa.table(rows), SCHEMA.format(name=name))


def count(name, epsilon="1", alias=SECRET):
    return {"sql": f"SELECT COUNT(*) AS {alias} FROM {name}", "terms": {"epsilon": epsilon}}


class Scene:
    """Mallory, Vera, and all that is Vera's."""

    def __init__(self, world) -> None:
        self.world, server, store = world, world.server, world.store
        self.shared = server.add(tacit.Budget(epsilon=1000), table("people"))
        self.hers = server.add(tacit.Budget(epsilon=1000), table(f"{SECRET}s"))
        self.tables = {self.shared: "people", self.hers: f"{SECRET}s"}
        everything = {"fresh": True, "streams": True, "workloads": True, "synthetic": True}
        for name in (self.shared, self.hers):
            store.remove_policy(name, "role:analyst", by="tests")
            self.tokens = {who: server.token(who) for who in ("vera", "mallory")}
            store.set_policy(name, "person:vera", Policy(**everything, approval=Fraction(1, 10)), by="tests")
        mine = Policy(**everything, allowance=tacit.Budget(epsilon=ALLOWANCE))
        store.set_policy(self.shared, "person:mallory", mine, by="tests")
        world.tokens |= self.tokens
        self.theirs = {"person": ["vera", "owner"], "subject": ["person:mallory", "role:analyst"], "table": [SECRET]}
        self.theirs |= {"topic": ["nothing"], "board": ["board", "none"]}
        labelled = store.issue_token("vera", "token", SECRET, by="tests")
        self.theirs["token"] = [labelled.info.id, *(each.id for each in store.tokens("owner"))]
        for dataset in (self.shared, self.hers):
            self._buy(dataset)

    def _note(self, name, found) -> None:
        self.theirs.setdefault(name, []).append(found)

    def ask(self, who, method, path, body=None, **headers):
        return self.world.ask(method, path, who, body, **headers)

    def _buy(self, dataset) -> None:
        """Let Vera have one of everything on a data set."""
        name, on = self.tables[dataset], f"/v1/datasets/{dataset}"
        bought = self.ask("vera", "POST", f"{on}/asks", {**count(name), "fresh": True}, Idempotency_Key=SECRET)
        assert bought.status == 200, bought.content
        job = self.ask("vera", "POST", f"{on}/answers", BODIES[bodies.Answers]).json()["id"]
        stream = self.ask("vera", "POST", f"{on}/streams", {**BODIES[bodies.StreamOf], "name": SECRET}).json()["id"]
        online = self.ask("vera", "POST", f"{on}/online", {**BODIES[bodies.OnlineOf], "name": SECRET}).json()["id"]
        assert self.ask("vera", "POST", f"{on}/asks", count(name, "200")).status == 202
        if dataset == self.hers:  # what was bought on a data set that one may see, one may read by its hash
            self._note("hash", bought.json()["hash"])
            self._note("hash", self.world.job_done(job, "vera")["entry"])
        self.world.job_done(job, "vera")
        self._note("job", job)
        self._note("session", stream)
        self._note("session", online)
        (asked,) = [each for each in self.world.store.approvals(dataset) if each.person == "vera"]
        self._note("approval", asked.id)

    def state(self):
        """All that is not Mallory's, as it is stored."""
        store = self.world.store
        facts = [store.people(), store.datasets(), store.approvals(), store.policies(self.shared)]
        facts += [store.policies(self.hers), [job for job in store.jobs() if job.person != "mallory"]]
        facts += [
            sorted((t.id, t.person, t.kind, t.expires, t.revoked) for t in store.tokens() if t.person != "mallory")
        ]
        facts += [[act for act in store.acts() if act.actor != "mallory"]]
        with Ledger.open(store.dataset(self.hers).ledger) as ledger:
            facts.append(ledger.head())
        with Ledger.open(store.dataset(self.shared).ledger) as ledger:
            ledger.verify()
            facts.append([charge for charge in ledger.history() if charge.analyst != "mallory"])
            facts.append(ledger.spent("vera"))
        return facts

    @property
    def spent(self):
        with Ledger.open(self.world.store.dataset(self.shared).ledger) as ledger:
            return ledger.spent("mallory").epsilon()

    def names(self):
        """What no answer to Mallory may hold."""
        numbers = itertools.chain.from_iterable(self.theirs[name] for name in ("hash", "job", "approval", "token"))
        digests = [hashlib.sha256(token.encode()).hexdigest() for token in self.tokens.values()]
        return {SECRET, CANARY, self.hers, *numbers, *self.tokens.values(), *digests}


@pytest.fixture(scope="module")
def scene(world):
    world.wait_for_expiry()
    return Scene(world)


@pytest.fixture(scope="module")
def operations(scene):
    """Every operation of the description: method, path, names in the path, and a body that it takes."""
    described = scene.ask("mallory", "GET", "/v1/openapi.json").json()
    by_name = {kind.__name__: body for kind, body in BODIES.items()}
    found = []
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            names = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            body = None if content is None else by_name[content["schema"]["$ref"].rpartition("/")[2]]
            found.append((method.upper(), path, names, body))
    assert len(found) > 50
    return found


def of_others(scene, names):
    """All things of others that these names in a path can stand for, each on Vera's data set and on the shared one."""
    datasets = (scene.hers, scene.shared) if "session" in names or names == ["dataset", "table"] else (scene.hers,)
    named = [datasets if name == "dataset" else scene.theirs[name] for name in names]
    return [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*named)]


def filled(path, values):
    return path.format(**{name: quote(value, safe="") for name, value in values.items()})


def test_nothing_of_others_is_reached_by_its_name_or_number(scene, operations):
    """Whatever is another's is answered as what does not exist, or as what only owners do; and nothing changes."""
    before, hidden, tried = scene.state(), scene.names(), 0
    for method, path, names, body in operations:
        for values in of_others(scene, names) if names else ():
            if path.startswith("/v1/learn/"):
                continue
            reply = scene.ask("mallory", method, filled(path, values), body)
            nothing = {name: value if value == scene.shared else "0" * 64 for name, value in values.items()}
            same = scene.ask("mallory", method, filled(path, nothing), body)
            assert reply.status in (403, 404), (method, path, values, reply.content)
            assert reply.code in ("forbidden", "not_found")
            assert reply.json()["error"] == same.json()["error"], (method, path)
            assert not any(name in reply.content.decode() for name in hidden)
            tried += 1
    assert tried > 80
    assert scene.state() == before


def test_nothing_of_others_is_told_where_nobody_is_named(scene, operations):
    """Lists, histories and figures show Mallory's own alone, in whatever form they are asked for."""
    before, hidden = scene.state(), scene.names()
    for method, path, names, body in operations:
        if method != "GET" or {*names} - {"dataset"}:
            continue
        for form in ("", "?format=csv", "?count=1000&before=1000000", "?analyst=vera&person=vera"):
            reply = scene.ask("mallory", "GET", filled(path, dict.fromkeys(names, scene.shared)) + form, body)
            assert reply.status < 500
            assert not any(name in reply.content.decode("utf-8", "replace") for name in hidden), (path, form)
            assert not any(name in str(reply.headers) for name in hidden)
    assert scene.state() == before


def test_nothing_of_others_is_reached_by_a_body(scene):
    """Draws, keys, releases and tables of Vera's, named in requests that are Mallory's own."""
    before, hidden = scene.state(), scene.names()
    on = f"/v1/datasets/{scene.shared}"
    hers, name = scene.theirs["hash"], f"{SECRET}s"
    refused = [
        ("/asks", count(name)),
        ("/offers", count(name)),
        ("/asks", {"sql": f"SELECT COUNT(*) AS n FROM people, {name}", "terms": {"epsilon": "1"}}),
        ("/asks", {"sql": f"SELECT COUNT(*) AS n FROM {scene.hers}.{name}", "terms": {"epsilon": "1"}}),
        *(("/queries", {"attributes": ["region"], "release": each}) for each in hers),
        ("/whatif", {**count("people"), "analyst": "vera"}),
        ("/rehearsals", count(name)),
        ("/asks", count("people", str(ALLOWANCE + 1), "n")),
    ]
    for rest, body in refused:
        reply = scene.ask("mallory", "POST", on + rest, body)
        assert reply.status in (403, 404, 422), (rest, reply.content)
        assert not any(each in reply.content.decode() for each in hidden)
    fresh = {**count("people", "2", "n"), "fresh": SECRET}
    draws = [scene.ask("mallory", "POST", f"{on}/asks", fresh)]
    draws += [scene.ask("mallory", "POST", f"{on}/asks", {**fresh, "fresh": True}, Idempotency_Key=SECRET)]
    assert [(each.status, each.json()["free"]) for each in draws] == [(200, False), (200, True)]  # one of her own
    assert scene.spent == 2 and scene.state() == before


def test_names_of_data_sets_are_taken_as_they_are(scene):
    before = scene.state()
    for form in (*TRAVERSALS, "\uff33et1"):
        for target in (scene.hers, scene.hers.upper()):
            for rest in ("", "/history", "/ledger"):
                path = f"/v1/datasets/{quote(form.format(target), safe='%')}{rest}"
                assert scene.ask("mallory", "GET", path).status in (400, 403, 404), path
    assert scene.state() == before


def test_no_other_credential_is_taken_for_a_token(scene, operations):
    """What the store holds of a token, other schemes, other places and other texts let nobody in, and say the same."""
    world, vera = scene.world, scene.tokens["vera"]
    issued = world.store.issue_token("vera", "session", by="tests").text
    link = world.store.issue_token("vera", "link", by="tests").text
    number = world.store.tokens("vera")[0].id
    texts = [hashlib.sha256(vera.encode()).hexdigest(), number, vera[:-1], f"{vera}A", vera.upper(), vera[6:], issued]
    texts += [link, f"{vera},{vera}", f"{vera}\t.", "tacit_" + "A" * 43, "x" * 8000, "é" * 49, "null", "vera"]
    sent = [{"Authorization": f"Bearer {text}"} for text in [*texts, *world.bad.values()]]
    sent += [{"Authorization": f"{scheme} {vera}"} for scheme in ("Basic", "Token", "tacit", "Bearer:")]
    sent += [{"Cookie": f"tacit_session={vera}"}, {"X-Api-Key": vera}, {"Authorization": vera}]
    sent += [{"X-Forwarded-User": "vera", "X-Remote-User": "vera", "X-Forwarded-For": "127.0.0.1"}]
    said = set()
    for given in sent:
        headers = {name: value.encode("utf-8").decode("latin-1") for name, value in given.items()}
        for path in ("/v1/me", f"/v1/datasets/{scene.hers}", f"/v1/datasets/{scene.hers}/history?token={vera}"):
            reply = world.ask("GET", path, None, **headers)
            assert reply.status == 401, (path, headers)
            said.add(str(reply.json()["error"]))
    assert len(said) == 1
    closed = [each for each in operations if each[1].startswith("/v1/datasets/{dataset}") and "session" not in each[2]]
    for method, path, names, body in closed:
        values = {name: scene.hers if name == "dataset" else scene.theirs[name][0] for name in names}
        assert world.ask(method, filled(path, values), world.bad["revoked"], body).status == 401, path
    world.store.revoke_token(next(t.id for t in world.store.tokens("vera") if t.kind == "session"), by="tests")
