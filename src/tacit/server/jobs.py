"""Background jobs: linear queries and synthetic data, which take longer than anybody waits for an answer.

A job is a line in the store, which any process of the service may claim and run.  What it buys is the ledger's: a job
that is cancelled, or whose process dies, after its charge is completed under that charge when it is run, or asked for,
again.  The result of a job is the hash of the entry that it was charged by.

    queued     claimed by the first process that is free
    running    its worker says so every few seconds, with the share that is done; one that died or is silent loses it
    cancelling a worker that is told so stops at its next report of progress, and before it charges anything
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import Any

from ..core.errors import TacitError
from ..core.progress import watched
from .access import Action
from .errors import NotFound
from .policy import Purchase
from .service import Access, Service, workloads
from .service.faults import fault_of
from .store import Job
from .store.database import StoreConflict
from .store.workers import new_worker

KINDS: dict[str, Purchase] = {"answers": "workload", "synthetic": "synthetic"}
_BEAT = 5.0  # seconds between two signs of life
_LOOK = 2.0  # seconds between two looks at the queue


class Stopped(BaseException):
    """Raised in work that is to stop.  No handler of errors takes it for one: a draw that is lost is drawn again."""


class Running:
    """A job that this process runs."""

    def __init__(self, job: Job) -> None:
        self.job, self.share, self.stop = job, job.share, False

    def watch(self, _what: str, share: float) -> None:
        """Note how far the work is, and stop it if it is to be stopped."""
        self.share = share
        if self.stop:
            raise Stopped


class Jobs:
    """Runs jobs on threads of this process until it is closed."""

    def __init__(self, service: Service, threads: int) -> None:
        self.service, self.worker = service, new_worker()
        self._closing, self._added, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self._running: dict[str, Running] = {}
        self._threads = [threading.Thread(target=self._run, name=f"tacit job {i}") for i in range(threads)]
        self._threads.append(threading.Thread(target=self._beat, name="tacit heartbeat"))
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def add(self, access: Access, kind: str, request: dict[str, Any]) -> Job:
        """Queue a job of who asks."""
        job = self.service.store.add_job(access.about.name, access.name, kind, json.dumps(request))
        self._added.set()
        return job

    def close(self, wait: float = 10.0) -> None:
        """Stop what runs at its next report, and queue it again; what does not stop in time is claimed by others."""
        self._closing.set()
        self._added.set()
        with self._lock:
            for running in self._running.values():
                running.stop = True
        for thread in self._threads:
            thread.join(wait)

    def _run(self) -> None:
        while not self._closing.is_set():
            job = None
            with suppress(TacitError):
                job = self.service.store.claim_job(self.worker)
            if job is None:
                self._added.wait(_LOOK)
                self._added.clear()
                continue
            running = Running(job)
            with self._lock:
                self._running[job.id] = running
            try:
                self._end(running, self._do(running))
            finally:
                with self._lock:
                    del self._running[job.id]

    def _do(self, running: Running) -> dict[str, Any]:
        """Do the work, and say how it ended."""
        try:
            with watched(running.watch):
                return {"state": "done", "share": 1.0, "result": run(self.service, running.job)}
        except Stopped:
            return {"state": "queued" if self._closing.is_set() else "cancelled"}
        except Exception as error:
            fault = fault_of(error, self._public(running.job))
            text = " ".join(filter(None, (fault.message, fault.remedy)))
            return {"state": "failed", "error": f"{fault.code}: {text}"}

    def _public(self, job: Job) -> frozenset[str]:
        dataset = self.service.store.dataset(job.dataset)
        return frozenset() if dataset is None else self.service.curators.public_words(dataset)

    def _end(self, running: Running, outcome: dict[str, Any]) -> None:
        with suppress(TacitError):  # of a job that another process has by now, or a store that is out of reach
            self.service.store.update_job(running.job.id, worker=self.worker, **outcome)

    def _beat(self) -> None:
        """Say of each job that it runs, and look whether it is to be cancelled."""
        while not self._closing.wait(_BEAT):
            with self._lock:
                running = [*self._running.values()]
            for each in running:
                try:
                    job = self.service.store.update_job(each.job.id, worker=self.worker, share=each.share)
                    each.stop = each.stop or job.state == "cancelling"
                except StoreConflict:  # another process has it: this one was silent for too long
                    each.stop = True
                except TacitError:
                    continue


def run(service: Service, job: Job) -> str:
    """Buy what a job asks for, if its person still may, and return the hash of the entry that it was charged by."""
    person = service.store.person(job.person)
    if person is None:
        raise NotFound("person")
    access = service.authorise(person, Action.BUY, job.dataset)
    request = json.loads(job.request)
    wanted, fresh = workloads.Wanted(**request["wanted"]), request["fresh"]
    if fresh is True:
        fresh = job.id  # a draw that has a name is bought once, however often the job is run
    bought, _ = workloads.answer(
        service,
        access,
        wanted,
        request["terms"],
        kind=KINDS[job.kind],
        method=request["method"],
        n=request["n"],
        fresh=fresh,
    )
    assert bought.provenance.entry_hash is not None
    return bought.provenance.entry_hash
