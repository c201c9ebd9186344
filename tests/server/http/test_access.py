"""Who may do what, over the whole routing table: a route that is not tried here fails the tests."""

import re

import pytest

import tacit
from tacit.server.access import ANALYST, NOBODY, OWNER, Action
from tacit.server.http import bodies
from tacit.server.http.app import all_routes
from tacit.server.http.routes import Route

from .conftest import COUNT, SOLUTION

BODIES = {
    bodies.Purchase: COUNT,
    bodies.Question: COUNT,
    bodies.Rehearsal: COUNT,
    bodies.About: {},
    bodies.BoundsOf: {"column": "age", "terms": {"epsilon": "1"}},
    bodies.Planned: {"attributes": ["region"], "terms": {"epsilon": "1"}},
    bodies.Answers: {"attributes": ["region"], "terms": {"epsilon": "1"}},
    bodies.Synthetic: {"attributes": ["region"], "terms": {"epsilon": "1"}, "rows": 3},
    bodies.Queries: {"attributes": ["region"]},
    bodies.StreamOf: {"threshold": 5, "terms": {"epsilon": "1"}},
    bodies.StreamQuestion: {"sql": "SELECT COUNT(*) FROM people"},
    bodies.OnlineOf: {"attributes": ["region"], "terms": {"epsilon": "50"}, "queries": 10},
    bodies.OnlineQuestion: {"where": {"region": "north"}},
    bodies.SyntheticRows: {"rows": 3},
    bodies.PolicyOf: {},
    bodies.WhatIf: COUNT,
    bodies.NewPerson: {"name": "dora"},
    bodies.NewToken: {},
    bodies.NewDataSet: {"name": "more", "tables": [{"data": "more.parquet"}]},
    bodies.Decision: {"approved": False},
    bodies.Login: {"token": "no token"},
    bodies.Predictions: {"predictions": dict.fromkeys(SOLUTION, "0")},
    bodies.Choice: {"number": 1},
}


@pytest.fixture(scope="module")
def things(world):
    """What ana has bought, opened, asked for and waits for, by the names of the parameters of paths."""
    bought = world.ask("POST", world.on("/asks"), "ana", COUNT).json()
    job = world.ask("POST", world.on("/answers"), "ana", BODIES[bodies.Answers]).json()["id"]
    world.job_done(job)
    stream = world.ask("POST", world.on("/streams"), "ana", BODIES[bodies.StreamOf]).json()["id"]
    online = world.ask("POST", world.on("/online"), "ana", BODIES[bodies.OnlineOf]).json()["id"]
    assert world.ask("POST", world.on("/asks"), "carl", {**COUNT, "terms": {"epsilon": "1"}}).status == 202
    (waiting,) = world.ask("GET", "/v1/approvals", "carl").json()["approvals"]
    world.server.token("spare")
    token = next(each.id for each in world.store.tokens("spare"))
    world.wait_for_expiry()
    named = {"hash": bought["hash"], "job": job, "approval": waiting["id"], "person": "spare", "token": token}
    named |= {"subject": "person:spare", "topic": "nothing", "table": "none", "board": "board"}
    return {**named, "stream": stream, "online": online}


@pytest.fixture(scope="module")
def routes(world):
    return all_routes(world.server._server.config.app.state.door, {})


def path_of(route, things, dataset):
    session = things["stream" if "/streams/" in route.path else "online"]
    given = {**things, "dataset": dataset, "session": session}
    return re.sub(r"{(\w+)}", lambda found: given[found[1]], route.path)


def body_of(route):
    return None if route.body is None else BODIES[route.body]


def test_a_route_names_its_action_and_every_action_has_a_route(routes):
    with pytest.raises(TypeError, match="no action"):
        Route("GET", "/v1/new", "buy", lambda _: None, "new")
    assert {route.action for route in routes} == {*Action}
    assert len({(route.method, route.path) for route in routes}) == len(routes)
    assert {route.body for route in routes} - {None} <= BODIES.keys()


def test_nobody_and_whoever_bears_no_valid_token_is_let_in_nowhere_but_where_everybody_is(world, routes, things):
    closed = 0
    for route in routes:
        path = path_of(route, things, world.people)
        said = set()
        for token in (None, *world.bad.values()):
            reply = world.ask(route.method, path, token, body_of(route))
            if route.action.open_to(NOBODY):
                assert reply.status < 500
                continue
            assert (reply.status, reply.code) == (401, "unauthenticated"), route
            said.add(str(reply.json()["error"]))
        closed += len(said)
    assert closed == sum(not route.action.open_to(NOBODY) for route in routes)  # one text for all of them


def test_an_analyst_does_nothing_of_an_owner(world, routes, things):
    for route in routes:
        if route.action.open_to(ANALYST):
            continue
        for dataset in (world.people, world.other, "nothing"):  # whichever they are, and whether there are any
            reply = world.ask(route.method, path_of(route, things, dataset), "ana", body_of(route))
            assert (reply.status, reply.code) == (403, "forbidden"), route


def test_what_one_may_not_see_does_not_exist(world, routes, things):
    """Bob, for whom there is no policy, gets the same answer for a data set of others as for a name of nothing."""
    tried = 0
    for route in routes:
        if not route.action.open_to(ANALYST) or not route.parameters or route.action is Action.LEARN:
            continue
        theirs = world.ask(route.method, path_of(route, things, world.people), "bob", body_of(route))
        nothing = world.ask(
            route.method, path_of(route, dict.fromkeys(things, "0" * 64), "nothing"), "bob", body_of(route)
        )
        assert (theirs.status, theirs.code) == (404, "not_found"), route
        assert theirs.json()["error"] == nothing.json()["error"], route
        tried += 1
    assert tried > 15


def test_an_analyst_may_do_what_is_theirs(world, routes, things):
    for route in routes:
        if (
            not route.action.open_to(ANALYST)
            or route.method == "DELETE"
            or route.action in (Action.LEARN, Action.SIGN_IN)
        ):
            continue
        reply = world.ask(route.method, path_of(route, things, world.people), "ana", body_of(route))
        absent = "{table}" in route.path
        assert reply.status in ({404} if absent else {200, 202}), (route, reply.content)
        assert reply.status in route.statuses


def test_an_owner_may_do_everything(world, routes, things):
    """Last, as it ends with the removal of a data set."""
    for route in sorted(routes, key=lambda route: route.method == "DELETE"):
        if route.path == "/v1/login" or (route.path == "/v1/datasets/{dataset}" and route.method == "DELETE"):
            continue
        reply = world.ask(route.method, path_of(route, things, world.people), "owner", body_of(route))
        assert reply.status not in (401, 403) and reply.status < 500, (route, reply.content)
        assert reply.status in route.statuses, (route, reply.status)
        assert route.action.open_to(OWNER)
    removed = world.server.add(tacit.Budget(epsilon=1))
    assert world.ask("DELETE", world.on("", removed), "owner").status == 200
    assert world.ask("GET", world.on("", removed), "owner").status == 404


def test_a_session_of_a_browser_changes_something_only_from_a_page_of_ours(world):
    reply = world.ask("POST", "/v1/login", None, {"token": world.tokens["ana"]})
    assert reply.status == 200
    set_cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in set_cookie and "SameSite=Strict" in set_cookie
    cookie = set_cookie.partition(";")[0]
    assert world.ask("GET", "/v1/me", Cookie=cookie).json()["name"] == "ana"
    ours = {"Cookie": cookie, "Origin": world.server.url, "Tacit-Request": "page"}
    for missing in ("Origin", "Tacit-Request"):
        sent = {name: value for name, value in ours.items() if name != missing}
        assert world.ask("POST", world.on("/offers"), None, COUNT, **sent).status == 401
    foreign = {**ours, "Origin": "https://elsewhere.example"}
    assert world.ask("POST", world.on("/offers"), None, COUNT, **foreign).status == 401
    assert world.ask("POST", world.on("/offers"), None, COUNT, **ours).status == 200
    assert world.ask("POST", "/v1/logout", **ours).status == 200
    assert world.ask("GET", "/v1/me", Cookie=cookie).status == 401


def test_a_token_that_is_revoked_is_refused_at_once(world):
    issued = world.store.issue_token("ana", "token", by="tests")
    assert world.ask("GET", "/v1/me", issued.text).status == 200
    world.store.revoke_token(issued.info.id, by="tests")
    assert world.ask("GET", "/v1/me", issued.text).status == 401
