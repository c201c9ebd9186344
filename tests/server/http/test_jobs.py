"""Background jobs: done, failed, cancelled before and after their charge, and lost by a process that died."""

import json
import threading
import time
from datetime import timedelta

import pytest

import tacit
from server.serving import Server
from tacit.core.progress import report
from tacit.server import jobs as background
from tacit.server.access import Action
from tacit.server.store import jobs as stored_jobs

TABLE = {"attributes": ["region", "age"], "k": 1, "terms": {"epsilon": "0.5"}}


def queue(world, body, kind="/answers"):
    reply = world.ask("POST", world.on(kind), "ana", body)
    assert reply.status == 202, reply.content
    assert reply.headers["Location"] == f"/v1/jobs/{reply.json()['id']}"
    return reply.json()["id"]


def charges(world):
    return len(world.service.curators.of(world.store.dataset(world.people)).history())


def test_a_job_is_bought_once_and_read_in_several_forms(world):
    before = charges(world)
    first, again = queue(world, TABLE), queue(world, TABLE)
    done = world.job_done(first)
    assert (done["state"], done["share"], done["error"]) == ("done", 1.0, None)
    assert world.job_done(again)["entry"] == done["entry"]
    assert charges(world) == before + 1
    answer = world.ask("GET", done["result"], "ana").json()
    assert answer["queries"] == 102 and answer["hash"] == done["entry"]
    assert {"labels", "value", "error"} == {*answer["cells"][0]}
    sheet = world.ask("GET", f"{done['result']}?format=csv", "ana").content.decode().splitlines()
    assert sheet[0] == "query,count,error" and len(sheet) == 103
    totals = world.ask("POST", world.on("/queries"), "ana", {"attributes": ["region"], "release": done["entry"]}).json()
    assert totals["attributes"] == ["region"] and len(totals["cells"]) == 2


def test_a_draw_that_has_a_name_is_bought_once_by_any_number_of_jobs(world):
    def bought(body, **headers):
        reply = world.ask("POST", world.on("/answers"), "ana", body, **headers)
        assert reply.status == 202, reply.content
        return world.job_done(reply.json()["id"])["entry"]

    before, body = charges(world), {**TABLE, "terms": {"epsilon": "0.6"}}
    plain, monday = bought(body), bought({**body, "fresh": "monday"})
    assert plain != monday == bought({**body, "fresh": "monday"})
    keyed = bought({**body, "fresh": True}, Idempotency_Key="draw 1")
    assert keyed not in (plain, monday) and keyed == bought({**body, "fresh": True}, Idempotency_Key="draw 1")
    assert charges(world) == before + 3
    other = world.ask("POST", world.on("/answers"), "ana", {**body, "fresh": False}, Idempotency_Key="draw 1")
    assert (other.status, other.code) == (409, "conflict")
    assert bought({**body, "fresh": True}) not in (plain, monday, keyed)  # without a name it is another draw
    assert charges(world) == before + 4


def test_rows_are_drawn_from_what_was_bought(world):
    done = world.job_done(queue(world, {**TABLE, "rows": 5}, "/synthetic"))
    rows = world.ask("GET", done["result"], "ana")
    assert rows.content.decode().splitlines()[0] == "region,age" and len(rows.content.splitlines()) == 6
    assert len(world.ask("GET", f"{done['result']}?format=json", "ana").json()["age"]) == 5


def test_what_is_refused_is_refused_at_once_or_told_by_the_job(world):
    assert world.ask("POST", world.on("/answers"), "ana", {**TABLE, "attributes": ["note"]}).status == 422
    assert world.ask("POST", world.on("/answers"), "ana", {**TABLE, "terms": {"error": "5"}}).status == 400
    assert world.ask("POST", world.on("/answers"), "carl", TABLE).code == "policy"
    failed = world.job_done(queue(world, {**TABLE, "terms": {"epsilon": "100000"}}))
    assert failed["state"] == "failed" and "is left" in failed["error"]
    assert world.ask("GET", f"/v1/jobs/{failed['id']}/result", "ana").code == "conflict"


@pytest.fixture
def held(monkeypatch):
    """Jobs that report progress until a test lets them go, and what they have reached."""
    go, reached, real = threading.Event(), threading.Event(), background.workloads.answer

    def slowly(*given, **named):
        bought = real(*given, **named)
        reached.set()
        while not go.wait(0.02):
            report("waiting", 0.5)
        return bought

    monkeypatch.setattr(background.workloads, "answer", slowly)
    monkeypatch.setattr(background, "_BEAT", 0.1)
    yield reached
    go.set()


def test_a_job_that_is_cancelled_after_its_charge_is_free_later(world, held, monkeypatch):
    door = world.server._server.config.app.state.door
    before = charges(world)
    number = queue(world, {**TABLE, "terms": {"epsilon": "0.7"}})
    assert held.wait(20)
    assert charges(world) == before + 1
    assert world.ask("DELETE", f"/v1/jobs/{number}", "ana").json()["state"] == "cancelling"
    (running,) = door.jobs._running.values()
    running.stop = True  # as the next sign of life would find out
    assert world.job_done(number)["state"] == "cancelled"
    monkeypatch.undo()
    again = world.job_done(queue(world, {**TABLE, "terms": {"epsilon": "0.7"}}))
    assert again["state"] == "done" and charges(world) == before + 1


def test_a_job_that_is_to_stop_charges_nothing(world):
    running = background.Running(world.store.add_job(world.people, "ana", "answers", "{}"))
    running.stop = True
    with pytest.raises(background.Stopped):
        running.watch("charge", 0.0)
    world.store.cancel_job(running.job.id)


def test_a_job_whose_process_died_is_run_by_another(world, monkeypatch):
    """A process that is killed says nothing more; its job, of a fresh draw, is completed and charged once."""
    before = charges(world)
    request = {"wanted": {"attributes": ["region"], "kind": "marginals", "k": 1, "workload": None}}
    request |= {"terms": {"epsilon": "0.9"}, "method": "auto", "n": None, "fresh": True}
    job = world.store.add_job(world.people, "ana", "answers", json.dumps(request))
    while (mine := world.store.job(job.id)).state == "queued":
        mine = world.store.claim_job("a process that will die") or mine
    if mine.worker == "a process that will die":
        background.run(world.service, mine)  # it was charged, and then the process died before it said so
        monkeypatch.setattr(stored_jobs, "SILENCE", timedelta(seconds=-1))
    assert world.job_done(job.id)["state"] == "done"
    assert charges(world) == before + 1


def test_a_job_is_queued_again_when_its_process_ends_in_order(tmp_path, held, monkeypatch):
    """It stops at its next report; whoever starts then completes it under the same charge."""
    server = Server(tmp_path)
    try:
        dataset, door = server.add(tacit.Budget(epsilon=10)), server._server.config.app.state.door
        request = {"wanted": {"attributes": ["region"], "kind": "marginals", "k": 1, "workload": None}}
        request |= {"terms": {"epsilon": "1"}, "method": "auto", "n": None, "fresh": True}
        server.token("ana")
        access = server.service.authorise(server.store.person("ana"), Action.BUY, dataset)
        job = door.jobs.add(access, "answers", request)
        assert held.wait(20)
        door.jobs.close()
        assert server.store.job(job.id).state == "queued" and not door.jobs._running
        monkeypatch.undo()
        later = background.Jobs(server.service, 1)
        until = time.monotonic() + 20
        while not (done := server.store.job(job.id)).over and time.monotonic() < until:
            time.sleep(0.02)
        later.close()
        assert done.state == "done"
        assert len(server.service.curators.of(server.store.dataset(dataset)).history()) == 1
    finally:
        server.close()


def test_one_sees_ones_own_jobs(world):
    number = queue(world, TABLE)
    assert number in {job["id"] for job in world.ask("GET", "/v1/jobs", "ana").json()["jobs"]}
    assert world.ask("GET", "/v1/jobs", "bob").json()["jobs"] == []
    assert number in {job["id"] for job in world.ask("GET", "/v1/jobs", "owner").json()["jobs"]}
    world.job_done(number)
