"""Background jobs, which survive the process that runs them.

    queued -> running -> done | failed | cancelled

A worker claims a job and says from time to time that it still runs it.  The job of a worker that died (`workers.py`) or
that was not heard of for a while is claimed by another, which completes what was charged under the same charge.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ...ledger.names import skeleton
from ...ledger.stores.dialect import Connection
from .approvals import Approvals
from .database import StoreConflict, now, number, written
from .records import Job, Progress
from .workers import has_died

SILENCE = timedelta(seconds=60)  # after which a worker of which nothing is known is taken for dead
PAUSE = timedelta(seconds=5)  # before the job of a dead worker is run again: it may be what kills workers
_COLUMNS = "id, dataset, person, kind, request, state, thousandths, error, result, worker, created, changed"
_JOBS = f"SELECT {_COLUMNS} FROM jobs"
_NEW = """
INSERT INTO jobs (id, dataset, person, kind, request, state, thousandths, created, changed)
VALUES (:id, :dataset, :person, :kind, :request, 'queued', 0, :now, :now)
"""
_FREE = f"""
{_JOBS} WHERE state = 'queued' OR (state IN ('running', 'cancelling') AND changed < :silent)
ORDER BY created, id LIMIT 1
"""
_QUIET = f"{_JOBS} WHERE state IN ('running', 'cancelling') AND changed <= :quiet"
_CHANGE = """
UPDATE jobs SET state = :state, thousandths = :thousandths, error = :error, result = :result, worker = :worker,
    changed = :changed
WHERE id = :id
"""


class Jobs(Approvals):
    """Work that is done in the background, by whichever process comes first."""

    def add_job(self, dataset: str, person: str, kind: str, request: str) -> Job:
        """Queue a job; the request is what the worker needs to know."""
        given = {"id": number(), "dataset": dataset, "person": person, "kind": kind, "request": request}
        with self.writing() as connection:
            connection.execute(_NEW, given | {"now": written(now())})
            return _job(connection, given["id"])

    def job(self, id: str) -> Job | None:  # noqa: A002
        """The job with this number, or None."""
        with self.reading() as connection:
            row = connection.execute(f"{_JOBS} WHERE id = :id", {"id": id}).fetchone()
        return None if row is None else _read(row)

    def jobs(self, dataset: str | None = None, person: str | None = None, state: Progress | None = None) -> list[Job]:
        """The jobs on a data set, of a person, or in a state, newest first."""
        wanted = {name: x for name, x in {"dataset": dataset, "state": state}.items() if x is not None}
        where = "".join(f" AND {name} = :{name}" for name in wanted)
        with self.reading() as connection:
            rows = connection.execute(f"{_JOBS} WHERE 1 = 1{where} ORDER BY created DESC, id", wanted)
            found = [_read(row) for row in rows]
        return [each for each in found if person is None or skeleton(each.person) == skeleton(person)]

    def claim_job(self, worker: str) -> Job | None:
        """The oldest job that nobody runs, which from now on is this worker's; None if there is none."""
        with self.writing() as connection:
            self._free_jobs_of_the_dead(connection)
            while row := connection.execute(_FREE, {"silent": written(now() - SILENCE)}).fetchone():
                job = _read(row)
                if job.state != "cancelling":
                    return self._change(connection, job, {"state": "running", "worker": worker})
                self._change(connection, job, {"state": "cancelled"})  # its worker died before it looked
        return None

    def _free_jobs_of_the_dead(self, connection: Connection) -> None:
        quiet = connection.execute(_QUIET, {"quiet": written(now() - PAUSE)}).fetchall()
        for job in map(_read, quiet):
            if has_died(job.worker):
                self._change(connection, job, {"state": "queued" if job.state == "running" else "cancelled"})

    def update_job(
        self,
        id: str,  # noqa: A002
        *,
        worker: str,
        share: float | None = None,
        state: Progress | None = None,
        error: str | None = None,
        result: str | None = None,
    ) -> Job:
        """Note how far a job is, or how it ended.  Its state may turn out to be `cancelling`: then its worker stops.

        Refused to a worker that lost the job to another, and to everybody once the job is over.
        """
        with self.writing() as connection:
            job = _job(connection, id)
            if job.worker != worker or job.over:
                raise StoreConflict("This job is over, or another process runs it now. Leave it alone.")
            changes = {"state": state, "share": share, "error": error, "result": result}
            return self._change(connection, job, {name: x for name, x in changes.items() if x is not None})

    def cancel_job(self, id: str) -> Job:  # noqa: A002
        """Cancel a job: at once if nobody runs it, else as soon as its worker looks; what is over stays as it is."""
        with self.writing() as connection:
            job = _job(connection, id)
            if job.over:
                return job
            return self._change(connection, job, {"state": "cancelled" if job.state == "queued" else "cancelling"})

    def _change(self, connection: Connection, job: Job, changes: dict[str, Any]) -> Job:
        after = vars(job) | changes
        row = {name: after[name] for name in ("id", "state", "error", "result", "worker")}
        row |= {"thousandths": round(1000 * min(max(after["share"], 0), 1)), "changed": written(now())}
        connection.execute(_CHANGE, row)
        return _job(connection, job.id)


def _job(connection: Connection, id: str) -> Job:  # noqa: A002
    row = connection.execute(f"{_JOBS} WHERE id = :id", {"id": id}).fetchone()
    if row is None:
        raise StoreConflict("There is no such job. `GET /v1/jobs` lists yours.")
    return _read(row)


def _read(row: tuple[Any, ...]) -> Job:
    fields = [*row]
    fields[6] /= 1000
    return Job(*fields)
