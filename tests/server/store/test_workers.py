"""Whether a worker has died is known for certain, or not at all."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest

from tacit.server.store import jobs, workers
from tacit.server.store.workers import has_died, new_worker

NAME = "from tacit.server.store.workers import new_worker; print(new_worker(), flush=True)"


@pytest.fixture(scope="module")
def dead():
    """The name of a worker whose process has ended, and whose parent has not noticed."""
    with subprocess.Popen([sys.executable, "-c", NAME], stdout=subprocess.PIPE, text=True) as process:
        name = process.stdout.read().strip()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert has_died(name)
    return name


def test_a_process_knows_that_it_lives_and_that_another_died(dead):
    mine = new_worker()
    assert mine != new_worker()
    assert has_died(dead) and not has_died(mine)


def test_a_number_that_another_process_has_now_is_told_by_its_start(dead):
    machine, process, started, number = new_worker().split("/")
    assert has_died(f"{machine}/{process}/{int(started) - 1}/{number}")


@pytest.mark.parametrize("name", [None, "", "w1", "a/b", "host 17 ab12", "elsewhere pid:[1]/1/1/ab"])
def test_of_a_worker_elsewhere_nothing_is_told(name):
    assert not has_died(name)


def test_nor_of_a_process_of_somebody_else(dead, monkeypatch):
    def forbidden(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", forbidden)
    assert not has_died(dead)


def test_nor_where_there_is_no_proc(dead, monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "_BOOT", tmp_path / "none")
    assert not has_died(dead) and not has_died(new_worker())


def test_the_job_of_a_process_that_died_is_run_again_after_a_pause(store, clock, dead):
    job, cancelled = (store.add_job("people", "bob", "answers", "{}") for _ in range(2))
    first, second = (store.claim_job(dead) for _ in range(2))
    assert {first.id, second.id} == {job.id, cancelled.id}
    store.cancel_job(second.id)
    clock(jobs.PAUSE - timedelta(seconds=1))
    assert store.claim_job("w2") is None
    clock(timedelta(seconds=1))
    again = store.claim_job("w2")
    assert (again.id, again.state, again.worker) == (first.id, "running", "w2")
    assert store.job(second.id).state == "cancelled" and store.claim_job("w2") is None


def test_the_job_of_a_process_that_lives_stays_its_own(store, clock):
    store.add_job("people", "bob", "answers", "{}")
    mine = new_worker()
    assert store.claim_job(mine)
    clock(jobs.SILENCE)
    assert store.claim_job("w2") is None
