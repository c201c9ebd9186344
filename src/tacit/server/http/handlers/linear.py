"""Linear queries: plans, jobs that buy answers and synthetic data, and answers from what was bought before."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from .... import storage
from ....core.safe_text import cell
from ....release import Release
from ...errors import BadRequest, Conflict, NotFound
from ...numbers import write_number
from ...service import workloads
from ...store import Job
from ..bodies import Answers, Planned, Queries, Synthetic, Tables
from ..call import JSON, Answer, Call
from ..linear_answers import AnswersAnswer, Cell, JobAnswer, JobList, MethodRow, PlanAnswer
from .formats import ARROW, CSV, OWN, PARQUET, arrow_file, wanted
from .questions import draw_name, finite, terms_of

if TYPE_CHECKING:
    from ....release.purchased_answers import Bought
    from ....workloads import Answered, Workload

MAX_CELLS = 20_000  # of one answer in JSON; all of them are in CSV
ROWS = {"csv": CSV, "json": JSON, "arrow": ARROW, "parquet": PARQUET}
CELLS = {"json": JSON, "csv": CSV, "release": OWN}


def _wanted(body: Tables) -> workloads.Wanted:
    return workloads.Wanted(attributes=tuple(body.attributes or ()), kind=body.kind, k=body.k, workload=body.workload)


def plan(call: Call) -> Answer:
    """Every method, with its predicted error."""
    body: Planned = call.body
    planned = workloads.plan(call.service, call.access, _wanted(body), terms_of(body.terms), body.n)
    rows = [
        MethodRow(**{name: _plain(row.get(name)) for name in MethodRow.__struct_fields__}) for row in planned.records()
    ]
    stored = storage.canonical(planned.workload).encode()
    facts = repr(planned.workload), planned.workload.queries, str(planned.price), planned.why, list(planned.remarks)
    return Answer(PlanAnswer(*facts, planned.surcharge, rows, Raw(stored)))


def _plain(value: Any) -> Any:
    return finite(value) if isinstance(value, float) else value


def answers(call: Call) -> Answer:
    """Queue a job that buys answers."""
    body: Answers = call.body
    return _queued(call, "answers", body)


def synthetic(call: Call) -> Answer:
    """Queue a job that buys answers from which rows are drawn."""
    body: Synthetic = call.body
    return _queued(call, "synthetic", body, rows=body.rows)


def _queued(call: Call, kind: str, body: Answers, **more: int) -> Answer:
    asked, terms = _wanted(body), terms_of(body.terms)
    purchase = "workload" if kind == "answers" else "synthetic"
    fresh = draw_name(call, body.fresh)
    workloads.check(call.service, call.access, asked, terms, kind=purchase, fresh=bool(fresh))  # type: ignore[arg-type]
    request = {"wanted": vars(asked), "terms": terms, "method": body.method, "n": body.n, "fresh": fresh, **more}
    job = call.jobs.add(call.access, kind, request)
    return Answer(_job(job), 202, headers={"Location": f"/v1/jobs/{job.id}"})


def query(call: Call) -> Answer:
    """Answers from what was bought before."""
    body: Queries = call.body
    answered = workloads.query(call.service, call.access, _wanted(body), body.release)
    return _answers(call, answered, statement=answered.statement)


def jobs(call: Call) -> Answer:
    """One's own jobs; an owner's are everybody's."""
    person = None if call.access.owner else call.access.name
    return Answer(JobList([_job(each) for each in islice(call.service.store.jobs(person=person), 1000)]))


def job(call: Call) -> Answer:
    """One job."""
    return Answer(_job(_own(call)))


def cancel(call: Call) -> Answer:
    """Cancel a job."""
    return Answer(_job(call.service.store.cancel_job(_own(call).id)))


def result(call: Call) -> Answer:
    """What a job bought: answers, or rows that are drawn from them now."""
    found = _own(call)
    if found.state != "done" or found.result is None:
        raise Conflict("This job is not done. Look at its state, and ask for its result once it is done.")
    access = call.service.authorise(call.access.person, call.access.action, found.dataset)
    bought = call.service.curator(access).release_of(found.result)
    assert not isinstance(bought, Release)
    if found.kind == "synthetic":
        return rows_of(call, bought.synthetic(json.loads(found.request)["rows"]))
    return bought_answers(call, bought, limit=call.service.curator(access).budget.limit)


def _own(call: Call) -> Job:
    """The job that is asked about, if it is one's own."""
    found = call.service.store.job(call.path["job"])
    if found is None or (found.person != call.access.name and not call.access.owner):
        raise NotFound("job")
    return found


def _job(job: Job) -> JobAnswer:
    place = f"/v1/jobs/{job.id}/result" if job.state == "done" else None
    others = ("entry", "result", "code", "error")
    facts = {name: getattr(job, name) for name in JobAnswer.__struct_fields__ if name not in others}
    code, _, error = (job.error or "").partition(": ")
    return JobAnswer(entry=job.result, result=place, code=code or None, error=error or None, **facts)


def bought_answers(call: Call, bought: Bought, limit: Any) -> Answer:
    """Answers that were bought."""
    p = bought.provenance
    facts: dict[str, Any] = {"hash": p.entry_hash, "entry": p.entry, "method": bought.method}
    facts |= {
        "price": write_number(bought.price),
        "share": float(bought.price / limit),
        "confidence": 1 - bought.beta,
        "notes": list(bought.notes),
    }
    return _answers(call, bought, statement=bought._statement(bought.errors), **facts)


def _answers(call: Call, answered: Answered | Bought, *, statement: str, **facts: Any) -> Answer:
    media, asked = wanted(call, CELLS), answered.workload
    if media == OWN:
        return Answer(_stored(answered), media=media)
    attributes, cells = _labelled(asked)
    values = answered.answers.tolist()
    errors = [None] * len(values) if answered.errors is None else answered.errors.tolist()
    found = (Cell(list(labels), finite(v), finite(e)) for labels, v, e in zip(cells, values, errors, strict=False))
    if media == CSV:
        return Answer(_csv(attributes or ["query"], found), media=f"{CSV}; charset=utf-8")
    if asked.queries > MAX_CELLS:
        raise BadRequest(f"There are more than {MAX_CELLS} answers. Ask for them as CSV, or for fewer at once.", 406)
    facts = {
        "hash": None,
        "entry": None,
        "method": None,
        "price": None,
        "share": None,
        "confidence": None,
        "notes": [],
    } | facts
    total = finite(float(answered.answers.sum())) if attributes else None
    shown = AnswersAnswer(
        attributes=attributes,
        domain=list(asked.domain.names),
        queries=asked.queries,
        cells=list(found),
        total=total,
        statement=statement,
        stored=Raw(_stored(answered)),
        **facts,
    )
    return Answer(shown)


def _labelled(asked: Workload) -> tuple[list[str] | None, Iterable[Iterable[Any]]]:
    """The attributes of one table and the labels of its cells, or no attributes and the text of each query."""
    from ....workloads.queries.marginals import Marginal, Marginals

    if isinstance(asked, Marginals) and len(asked.subsets) == 1:
        axes = asked.subsets[0]
    elif isinstance(asked, Marginal):
        axes = asked.axes
    else:
        return None, ([asked.label(i)] for i in range(asked.queries))
    attributes = [asked.domain.attributes[axis] for axis in axes]
    return [name for name, _ in attributes], product(*(map(_label, labels) for _, labels in attributes))


def _label(label: Any) -> Any:
    return label if isinstance(label, str | int | float | bool) or label is None else str(label)


def _stored(answered: Answered | Bought) -> bytes:
    """What a client needs to make the same value: a release, its price and its provenance, or answers alone."""
    from ....release.purchased_answers import Bought
    from ....workloads import Released

    if isinstance(answered, Bought):
        fields = {name: getattr(answered, name) for name in Released.__dataclass_fields__}
        members: dict[str, Any] = {
            "released": Released(**fields),
            "price": answered.price,
            "provenance": answered.provenance,
        }
    else:
        numbers = [
            None if found is None else tuple(x if math.isfinite(x) else None for x in found.tolist())
            for found in (answered.answers, answered.errors)
        ]
        members = {"workload": answered.workload, "answers": numbers[0], "errors": numbers[1]}
        members["statement"] = answered.statement
    return ("{" + ",".join(f'"{name}":{storage.canonical(value)}' for name, value in members.items()) + "}").encode()


def _csv(names: list[str], cells: Iterable[Cell]) -> bytes:
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow([*map(cell, names), "count", "error"])
    for each in cells:
        texts = (cell(label) if isinstance(label, str) else label for label in each.labels)
        writer.writerow([*texts, each.value, "" if each.error is None else each.error])
    return sheet.getvalue().encode()


def rows_of(call: Call, table: Any) -> Answer:
    """Synthetic rows in the form that was asked for; by default, CSV."""
    media = CSV if "format" not in call.query and call.headers.get("accept", "*/*") == "*/*" else wanted(call, ROWS)
    if media == CSV:
        sheet = io.StringIO(newline="")
        writer = csv.writer(sheet)
        writer.writerow(map(cell, table.column_names))
        for batch in table.to_batches(1 << 16):
            writer.writerows([cell(v) if isinstance(v, str) else v for v in row.values()] for row in batch.to_pylist())
        return Answer(sheet.getvalue().encode(), media=f"{CSV}; charset=utf-8")
    if media == JSON:
        return Answer({name: [_label(v) for v in table.column(name).to_pylist()] for name in table.column_names})
    return Answer(arrow_file(table, media), media=media)
