"""What those who may ask one data set share, and what policies and approvals say of what is bought from it."""

import json
from fractions import Fraction

import pytest

import tacit
from server.serving import ALL
from tacit.server.policy import Policy, Price

COUNT = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"


@pytest.fixture(scope="module")
def shared(world):
    """A data set that ana may buy everything of, and that dan may ask at a low price alone."""
    name = world.server.add(tacit.Budget(epsilon=100, delta="1e-6"), world.table)
    world.tokens |= {who: world.server.token(who) for who in ("dan", "erik", "zqbuyer")}
    world.store.remove_policy(name, "role:analyst", by="tests")
    for who in ("ana", "zqbuyer"):
        world.store.set_policy(name, f"person:{who}", ALL, by="tests")
    world.store.set_policy(name, "person:dan", Policy(most=Fraction(1, 1000)), by="tests")
    waits = Policy(Price.read({"epsilon": "0.25"}), approval=Fraction(0), fresh=True, streams=True, workloads=True)
    world.store.set_policy(name, "person:erik", waits, by="tests")
    return name


def test_an_answer_that_one_has_bought_is_free_to_all_who_may_ask(world, shared):
    """At any price: it was paid for, and reading it again tells nothing more about the data."""
    body = {"sql": COUNT, "terms": {"epsilon": "20"}}
    dear = world.ask("POST", world.on("/asks", shared), "dan", body)
    assert (dear.status, dear.code) == (403, "policy")
    assert world.ask("POST", world.on("/offers", shared), "dan", body).json()["refusal"]
    bought = world.ask("POST", world.on("/asks", shared), "ana", body).json()
    offer = world.ask("POST", world.on("/offers", shared), "dan", body).json()
    assert offer["free"]["hash"] == bought["hash"]
    assert (offer["refusal"], offer["needs_approval"], offer["covered"]) == (None, False, True)
    assert offer["left_after"] == offer["left"]["share"]
    again = world.ask("POST", world.on("/asks", shared), "dan", body).json()
    assert again["free"] and again["columns"] == bought["columns"]


def test_but_not_who_bought_it(world, shared):
    """What others read of a release says what was asked, in which words and when, and not by whom."""
    body = {"sql": f"{COUNT} -- in my words", "terms": {"epsilon": "3"}}
    bought = world.ask("POST", world.on("/asks", shared), "zqbuyer", body).json()
    place = f"/v1/releases/{bought['hash']}"
    seen = [world.ask("GET", f"{place}{rest}", "dan") for rest in ("", "/card", "/verify", "?format=release")]
    seen += [world.ask("POST", world.on(rest, shared), "dan", body) for rest in ("/offers", "/bought", "/asks")]
    seen += [world.ask("GET", world.on(rest, shared), "dan") for rest in ("/history", "/charges", "")]
    assert {reply.status for reply in seen} == {200}
    assert "in my words" in seen[0].content.decode()
    assert not any("zqbuyer" in reply.content.decode() for reply in seen)
    assert world.ask("GET", place, "bob").status == 404  # who may not ask the data set reads nothing of it


def test_what_is_left_afterwards_is_of_the_account_that_has_least(world):
    """An allowance has a price of its own, which is not that of the budget."""
    small = tacit.Budget(epsilon=1, delta="1e-7")
    name = world.server.add(tacit.Budget(epsilon=10, delta="1e-6"), world.table, allowances={"ana": small})
    for terms in ({"epsilon": "0.05"}, {"share": "0.02"}, {"share": "0.03"}):
        body = {"sql": COUNT, "terms": terms}
        offer = world.ask("POST", world.on("/offers", name), "ana", body).json()
        assert world.ask("POST", world.on("/asks", name), "ana", body).status == 200
        left = world.ask("GET", world.on("/remaining", name), "ana").json()["share"]
        assert offer["left_after"] == pytest.approx(left)


def test_bounds_have_the_price_that_the_policy_sets(world, shared):
    def bounds(who, **body):
        return world.ask("POST", world.on("/bounds", shared), who, {"column": "age", **body})

    waiting = bounds("erik")
    assert waiting.status == 202
    assert json.loads(waiting.json()["approval"]["request"])["terms"] == {"epsilon": "1/4"}
    approve(world, waiting)
    assert not bounds("erik").json()["free"]
    assert bounds("erik", terms={"epsilon": "0.25"}).json()["free"]
    world.store.set_policy(shared, "person:dan", Policy(Price.read({"error": "50"}), most=Fraction(1, 1000)), by="t")
    assert "price of their own" in bounds("dan").json()["error"]["message"]


def approve(world, reply):
    number = reply.json()["approval"]["id"]
    assert world.ask("POST", f"/v1/approvals/{number}", "owner", {"approved": True}).status == 200


@pytest.mark.parametrize(
    ("path", "spelt"),
    [
        (
            "/asks",
            (
                {"sql": COUNT, "terms": {"epsilon": "0.5"}},
                {"sql": "select region,count( * ) n from people group  by region -- so", "terms": {"epsilon": "1/2"}},
                {"sql": COUNT, "terms": {"epsilon": "0.6"}},
            ),
        ),
        (
            "/asks",
            (
                {"sql": COUNT, "terms": {"epsilon": "0.7"}, "fresh": "monday"},
                {"sql": f"{COUNT} ORDER BY n", "terms": {"epsilon": "0.70"}, "fresh": "monday"},
                {"sql": COUNT, "terms": {"epsilon": "0.7"}, "fresh": True},
            ),
        ),
        (
            "/streams",
            (
                {"threshold": 5, "terms": {"epsilon": "1"}},
                {"threshold": 5, "kind": "above_threshold", "count": 1, "terms": {"epsilon": "1.0"}},
                {"threshold": 5, "kind": "numeric_sparse", "terms": {"epsilon": "1"}},
            ),
        ),
    ],
    ids=["question", "named draw", "stream"],
)
def test_one_request_makes_one_approval_however_it_is_spelt(world, shared, path, spelt):
    one, same, other = spelt
    first, again, third = (world.ask("POST", world.on(path, shared), "erik", body) for body in (one, same, other))
    assert first.status == again.status == third.status == 202
    assert first.json()["approval"]["id"] == again.json()["approval"]["id"] != third.json()["approval"]["id"]
    approve(world, first)
    assert world.ask("POST", world.on(path, shared), "erik", same).status == 200
    free = world.ask("POST", world.on(path, shared), "erik", one)
    assert free.status == 200 and free.json()["free"]
    assert world.ask("POST", world.on(path, shared), "erik", other).status == 202


def test_an_owner_reads_what_a_stream_may_say(world, shared):
    def said(**body):
        reply = world.ask(
            "POST", world.on("/streams", shared), "erik", {"threshold": 7, "terms": {"epsilon": 2}, **body}
        )
        return json.loads(reply.json()["approval"]["request"])["about"]

    assert said() == "a stream called stream, which may say once that a count reaches 7"
    assert said(kind="numeric_sparse", count=3, name="s 2") == (
        "a stream called s 2, which may say 3 times about how much a count is that reaches 7"
    )
    online = {"attributes": ["region"], "queries": 10, "updates": 2, "terms": {"epsilon": "50"}}
    reply = world.ask("POST", world.on("/online", shared), "erik", online)
    about = json.loads(reply.json()["approval"]["request"])["about"]
    assert about == "online queries called online on region, 10 of them, with at most 2 updates"


@pytest.mark.parametrize("name", ["\u0000", "a\nb", "\u202e", "\u200b", "\u3164", " ", ""])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/streams", {"threshold": 5, "terms": {"epsilon": "1"}}),
        ("/online", {"attributes": ["region"], "queries": 10, "terms": {"epsilon": "50"}}),
    ],
)
def test_the_name_of_a_session_can_be_read(world, shared, path, body, name):
    assert world.ask("POST", world.on(path, shared), "ana", {**body, "name": name}).status in (400, 422)
