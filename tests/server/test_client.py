"""The suite for curators through a real server, and what a client of a service does besides."""

import json
import random
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacit
from server.serving import Server, self_signed
from tacit.cli import app
from tacit.client import connect
from tacit.client.errors import ApprovalNeeded, NotFound, Unauthenticated
from tacit.client.refusals import KINDS, error_of
from tacit.curator import Curator
from tacit.server.policy import Policy, Price
from tacit.server.service.faults import KINDS as TOLD
from tacit.testing.curators import BY_REGION, CHECKS, COUNT


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("service"))
    yield server
    server.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_curator_behind_a_service(server, check):
    check(server.place)


def local(server, name, **more):
    """A curator in this process, of the same table and the same ledger as a data set of the server."""
    folder = server.folder / "data" / name
    return Curator(
        tacit.Table(folder / "people.parquet"),
        ledger=server.folder / "ledgers" / f"{name}.ledger",
        analyst="ann",
        **more,
    )


class Questions:
    """Random questions about people, in SQL or in Python, and their terms."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def next(self, curator):
        r = self.random
        by, age = [key for key in ("region", "town", "age10") if r.random() < 0.4], r.randrange(0, 90, 7)
        aggregates = r.sample(["n", "s", "m", "q"], r.randrange(1, 4))
        asked = self.in_sql(by, age, aggregates), self.in_python(curator, by, age, aggregates)
        kind = r.choice(["share", "share", "error"])
        terms = {"share": r.choice(["0.001", "0.002", "1/300"])} if kind == "share" else {"error": r.choice([60, 75])}
        if "error" in terms and not {"n", "s"} & {*aggregates}:
            terms = {"share": "0.002"}
        return asked, {**terms, "beta": r.choice(["0.05", "0.1"])}

    @staticmethod
    def in_sql(by, age, aggregates):
        named = {"region": "region", "town": "town", "age10": "age DIV 10 AS decade"}
        values = {"n": "COUNT(*) AS n", "s": "SUM(spend) AS s", "m": "AVG(age) AS m", "q": "MEDIAN(age) AS q"}
        columns = [*(named[key] for key in by), *(values[each] for each in aggregates)]
        keys = f" GROUP BY {', '.join(key.replace('age10', 'age DIV 10') for key in by)}" if by else ""
        return f"SELECT {', '.join(columns)} FROM people WHERE age >= {age}{keys}"

    @staticmethod
    def in_python(curator, by, age, aggregates):
        table = curator.tables["people"]
        rows = table.where(table.age >= age)
        plain, named = [key for key in by if key != "age10"], {"decade": rows.age // 10} if "age10" in by else {}
        values = {"n": tacit.count(), "s": tacit.sum("spend"), "m": tacit.mean("age"), "q": tacit.median("age")}
        return rows.group_by(*plain, private=True, **named).aggregate(**{each: values[each] for each in aggregates})


@pytest.mark.parametrize("seed", range(2))
def test_random_questions_are_the_same_here_and_there(server, seed):
    """In SQL or in Python, in this process or behind the service: who asks second gets the very same, free."""
    budget = tacit.Budget(epsilon=40, delta="1e-4") if seed % 2 else tacit.Budget(rho=8, delta="1e-4")
    name, questions = server.add(budget), Questions(seed)
    with local(server, name) as here, server.seen_by("ann", name) as there:
        for _ in range(5):
            curators = questions.random.sample([here, there], 2)
            state = questions.random.getstate()
            (first_sql, first_python), terms = questions.next(curators[0])
            questions.random.setstate(state)
            (second_sql, second_python), _ = questions.next(curators[1])
            first, second = questions.random.sample([first_sql, first_python], 1)[0], (second_sql, second_python)
            offers = curators[0].offer(first, **terms), curators[1].offer(second_python, **terms)
            assert str(offers[0]) == str(offers[1]) and offers[0].loss == offers[1].loss
            bought = curators[0].ask(first, **terms)
            left = here.remaining
            for again in second:
                release = curators[1].ask(again, **terms)
                assert release.noisy == bought.noisy and release.provenance == bought.provenance
                assert str(release) == str(bought) and release.mechanisms == bought.mechanisms
            assert curators[0].ask(first_sql, **terms).to_json() == curators[1].ask(second_sql, **terms).to_json()
            assert here.remaining == there.remaining == left


def test_every_error_that_a_service_tells_has_a_class():
    assert {code for _, code, _ in TOLD} | {"mistake"} == KINDS.keys()
    for code in KINDS:
        error = error_of({"error": {"code": code, "message": "This is wrong.", "remedy": "Do that."}})
        assert isinstance(error, tacit.TacitError) and str(error) == "This is wrong. Do that."
    placed = error_of({"error": {"code": "bad_question", "message": "No.", "remedy": None, "position": [2, 7]}})
    assert placed.position == (2, 7) and str(placed) == "line 2, column 7: No."


def test_who_is_not_known_gets_nowhere(server):
    name = server.add(tacit.Budget(epsilon=1))
    for token in ("tacit_wrong", "x"):
        with pytest.raises(Unauthenticated):
            connect(server.url, token, name)
    with pytest.raises(NotFound, match="no such data set"):
        connect(server.url, server.token("ann"), "nothing")
    for wrong in ("", "a\nb", None, 5, "ü"):
        with pytest.raises(tacit.BadParameter, match="token"):
            connect(server.url, wrong, name)


def test_an_address_must_be_safe():
    for wrong in ("", "ftp://x", "http://", "https://a:b@c", "http://x:port", 5):
        with pytest.raises(tacit.BadParameter, match="url"):
            connect(wrong, "tacit_x", "people")
    with pytest.raises(tacit.BadParameter, match="anybody on the way"):
        connect("http://tacit.example.org", "tacit_x", "people")
    with pytest.raises(tacit.client.errors.Unreachable, match="cannot be reached"):
        connect("http://127.0.0.1:9", "tacit_x", "people", timeout=2)


def test_the_only_data_set_need_not_be_named(tmp_path):
    server = Server(tmp_path)
    try:
        with pytest.raises(tacit.BadParameter, match="You may see no data set"):
            connect(server.url, server.token("ann"))
        first = server.add(tacit.Budget(epsilon=1))
        with connect(server.url, server.token("ann")) as curator:
            assert curator.name == first and repr(curator).startswith("RemoteCurator(people; service=")
        second = server.add(tacit.Budget(epsilon=1))
        with pytest.raises(tacit.BadParameter, match=f"one of {first}, {second}"):
            connect(server.url, server.token("ann"))
    finally:
        server.close()


def test_a_certificate_that_is_not_trusted_is_refused(tmp_path):
    certificate, key = self_signed(tmp_path)
    server = Server(tmp_path, ssl_certfile=certificate, ssl_keyfile=key)
    try:
        name = server.add(tacit.Budget(epsilon=1))
        with pytest.raises(tacit.client.errors.Unreachable, match="its certificate is not trusted"):
            connect(server.url, server.token("ann"), name)
        with connect(server.url, server.token("ann"), name, authority=certificate) as ann:
            assert ann.ask(COUNT, epsilon="0.1").price == Fraction(1, 10)
    finally:
        server.close()


def test_one_asks_in_ones_own_name(server):
    with server.seen_by("ann", server.add(tacit.Budget(epsilon=1))) as ann:
        assert ann.ask(COUNT, epsilon="0.1", analyst="ann").price == Fraction(1, 10)
        with pytest.raises(tacit.BadParameter, match="knows you as 'ann'"):
            ann.ask(COUNT, epsilon="0.1", analyst="ben")


def test_a_policy_sets_the_price_where_none_is_named(server):
    policy = Policy(price=Price("error", Fraction(50)), most=Fraction(1, 4))
    with server.seen_by("ann", server.add(tacit.Budget(epsilon=1), policy=policy)) as ann:
        offered = ann.offer(COUNT)
        assert offered.typed == ("error", 50) and ann.ask(COUNT).price == offered.price
        assert ann.offer(COUNT).bought is not None
        with pytest.raises(tacit.Refused, match="one purchase of yours may take 25 %"):
            ann.ask(COUNT, epsilon="0.5")
        with pytest.raises(tacit.Refused):
            ann.ask(COUNT, fresh=True)


def test_a_purchase_may_wait_for_an_owner(server):
    policy = Policy(approval=Fraction(0))
    name = server.add(tacit.Budget(epsilon=1), policy=policy)
    with server.seen_by("ann", name) as ann:
        with pytest.raises(ApprovalNeeded, match="approve"):
            ann.ask(COUNT, epsilon="0.1")
        (asked,) = server.store.approvals(dataset=name)
        server.store.decide(asked.id, by="owner", approved=True)
        assert ann.ask(COUNT, epsilon="0.1").price == Fraction(1, 10)
        assert ann.ask(COUNT, epsilon="0.1").price == Fraction(1, 10) and len(ann.history()) == 1


def test_an_analyst_sees_their_own_purchases_and_an_owner_all(server):
    name = server.add(tacit.Budget(epsilon=1))
    with server.seen_by("ann", name) as ann, server.seen_by("ben", name) as ben, server.seen_by("owner", name) as owner:
        ann.ask(COUNT, epsilon="0.1")
        ben.ask(BY_REGION, epsilon="0.1")
        assert [charge.analyst for charge in owner.history()] == ["ann", "ben"]
        assert [len(curator.history()) for curator in (ann, ben)] == [1, 1]
        known = ben.bought(COUNT, epsilon="0.1")
        assert known.analyst == "another" and known.purpose.description == ""  # that it is free is all that is told


def test_threads_share_a_client(server):
    name = server.add(tacit.Budget(epsilon=10))
    with server.seen_by("ann", name) as ann:
        found, wrong = [], []

        def ask(i):
            try:
                found.append(ann.ask(f"SELECT COUNT(*) AS n FROM people WHERE age > {i % 4}", epsilon="0.1").facts())
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and len(found) == 16 and len({*found}) == len(ann.history()) == 4


def test_a_connection_that_was_closed_is_opened_again(server):
    with server.seen_by("ann", server.add(tacit.Budget(epsilon=1))) as ann:
        first = ann.ask(COUNT, epsilon="0.1")
        for connection in ann.connection._idle:
            connection.sock.close()  # as a server does that is restarted
        assert ann.ask(COUNT, epsilon="0.1").facts() == first.facts()


def test_a_fresh_draw_is_sent_once_and_any_other_question_again(server, monkeypatch):
    with server.seen_by("ann", server.add(tacit.Budget(epsilon=1))) as ann:
        sent, real = [], ann.connection._sent

        def lost(method, path, *args, **more):
            sent.append(path)
            real(method, path, *args, **more)
            raise ConnectionResetError(104, "lost")

        monkeypatch.setattr(ann.connection, "_sent", lost)
        for fresh, tries in ((True, 1), (False, 4), ("monday", 4)):
            sent.clear()
            with pytest.raises(tacit.client.errors.Unreachable, match="it is kept"):
                ann.ask(COUNT, epsilon="0.1", fresh=fresh)
            assert len(sent) == tries
        monkeypatch.undo()
        assert len(ann.history()) == 2  # the fresh draw was also the first, which is free then; and the named one


def run(*arguments, **environment):
    found = CliRunner().invoke(app, [str(each) for each in arguments], env=environment)
    return found.exit_code, found.stdout, found.stderr


def test_commands_say_the_same_of_a_service_as_of_a_file(server, tmp_path):
    """Both share a ledger, so what was bought by the one is free for the other."""
    name = server.add(tacit.Budget(epsilon=10, delta="1e-6"))
    token = tmp_path / "token"
    token.write_text(f"{server.token('ann')}\n")
    there = (name, "--url", server.url, "--token-file", token)
    here = (
        server.folder / "data" / name / "people.parquet",
        "--ledger",
        server.folder / "ledgers" / f"{name}.ledger",
        "--analyst",
        "ann",
    )

    def both(command, *rest):
        found = [run(command, place[0], *rest, *place[1:]) for place in (here, there)]
        assert found[0] == found[1], f"{found}"
        return found[0]

    for question in (COUNT, BY_REGION, "SELECT region FROM people", "SELECT COUNT(*) FROM peple"):
        for command in ("offer", "explain"):
            both(command, question, "--share", "0.01")
    both("offer", COUNT, "--share", "0.01", "--json")
    assert both("plan", "region", "age", "--epsilon", "0.1")[0] == 0
    code, first, _ = run("ask", there[0], BY_REGION, "--share", "0.01", *there[1:])
    assert code == 0 and "Paid 0.1" in first
    code, again, _ = both("ask", BY_REGION, "--share", "0.01")
    assert "Free: it was asked before" in again and again.split("\n\n")[0] == first.split("\n\n")[0]
    assert json.loads(both("ask", BY_REGION, "--share", "0.01", "--json")[1])["bill"]["paid"] == 0
    assert both("ask", BY_REGION, "--share", "0.01", "--csv")[1].startswith("region,n,")
    assert run("bounds", there[0], "age", "--epsilon", "1", *there[1:])[0] == 0
    assert "lower = 0" in both("bounds", "age", "--epsilon", "1")[1]
    assert "bounds of age" in both("history")[1] and both("history", "--json")[0] == 0
    assert both("ask", COUNT, "--epsilon", "100")[0] == 3


def test_a_service_is_found_by_the_environment(server):
    name, variables = server.add(tacit.Budget(epsilon=1)), {"TACIT_URL": server.url, "TACIT_TOKEN": server.token("ann")}
    assert run("ask", name, COUNT, "--epsilon", "0.1", **variables)[0] == 0
    code, _, wrong = run("ask", name, COUNT, "--epsilon", "0.1", TACIT_URL=server.url, TACIT_TOKEN="")
    assert code == 2 and "Pass --token-file, or set TACIT_TOKEN" in " ".join(wrong.split())
    files = server.folder / "data" / name / "people.parquet"  # which is no data set of the service
    code, _, wrong = run("ask", files, COUNT, "--epsilon", "0.1", **variables)
    assert code == 2 and "There is no ledger" in " ".join(wrong.split())


def test_the_examples_of_the_document_run(server, monkeypatch):
    """Those that ask a service do so here, one in the tests of PostgreSQL's door, and others with all documents."""
    page = (Path(__file__).parents[2] / "docs" / "clients.md").read_text()
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    name, opened = server.add(tacit.Budget(epsilon=1)), []

    def connected(url, token, dataset):
        opened.append(connect(server.url, token, name))
        return opened[-1]

    monkeypatch.setattr(tacit, "connect", connected, raising=False)
    namespace = {"token": server.token("ann")}
    for block in blocks:
        if not block.startswith(">>>") and "psycopg" not in block:
            exec(block, namespace)
    assert len(opened) == 1 and len(opened[0].history()) == 1
    opened[0].close()


def test_the_client_needs_none_of_the_service(tmp_path):
    """It is part of the base install, without the extra `server`."""
    import subprocess
    import sys

    found = "[m for m in sys.modules if m.startswith(('starlette', 'msgspec', 'tacit.server'))]"
    script = f"import sys, tacit; tacit.connect; print({found})"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
