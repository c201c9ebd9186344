"""Many clients of one service, and a service that dies under them: nothing is lost, overspent or drawn twice."""

import json
import random
import time
from contextlib import closing

import pytest

from tacit.ledger import Ledger

from .crowd import PARTS, Client, Crowd, Served, audit

pytestmark = pytest.mark.slow

CLIENTS = 64
NEW = 24  # questions that are first asked in each life of a service


@pytest.mark.parametrize(
    ("budget", "questions", "seconds"),
    [pytest.param(100, 130, 0, id="short"), pytest.param(3000, 4000, 60, id="long")],
)
def test_many_clients_share_one_budget(tmp_path, budget, questions, seconds):
    """Two processes sell one budget to 64 clients, to its last bit and not beyond, and keep every answer."""
    turns = iter(random.Random(0).sample([*range(questions)] * 3, 3 * questions))
    started = time.monotonic()

    def choose(chance):
        """Every question three times, and then any until the time is over."""
        number = next(turns, None)
        return chance.randrange(questions) if number is None and time.monotonic() < started + seconds else number

    with Served(tmp_path, budget).running() as served:
        with Crowd(served, CLIENTS, choose) as crowd:
            crowd.wait(300)
        kept = audit(served, crowd)
        assert len(kept) == budget == len(crowd.answers)
        assert crowd.statuses[403] and not crowd.away
        assert served.end() == 0


@pytest.mark.parametrize("kills", [pytest.param(2, id="short"), pytest.param(200, id="long")])
def test_a_service_that_is_killed_under_load(tmp_path, kills):
    """After every kill the service goes on where it was: each answer that was given is given again, for nothing."""
    questions, budget = NEW * kills, NEW * kills * 3 // 4
    assert questions <= len(PARTS)
    served, lives, jobs, last = Served(tmp_path, budget), 1, [], None

    def choose(chance):
        """A question of this life as often as one of any life so far; at last, each once."""
        if last is not None:
            return next(last, None)
        return chance.randrange(NEW * (lives - 1) if chance.random() < 0.5 else 0, NEW * lives)

    with served.running():
        with Crowd(served, CLIENTS // 2, choose) as crowd:
            for lives in range(1, kills + 1):
                jobs += queued(served, lives)
                time.sleep(random.uniform(0, 0.5))
                served.kill()
                served.start()
            last = iter(range(questions))
            crowd.wait(300)
        kept = audit(served, crowd)
        assert len(kept) == budget == len(crowd.answers)
        assert None not in kept.values()  # what was charged and then interrupted is complete
        assert crowd.away >= kills
        settled(served, jobs)
        assert served.end() == 0


def queued(served, life):
    """Queue two jobs, of which one is a draw of its own, and return the numbers of those that were acknowledged."""
    body, numbers = {"attributes": ["region"], "k": 1, "terms": {"epsilon": str(10 + life)}}, []
    with closing(Client(served, "ana")) as client:
        for fresh in (False, True):
            for _ in range(200):
                status, _, content = client.ask("POST", "/v1/datasets/tables/answers", {**body, "fresh": fresh})
                if status == 202:
                    numbers.append(json.loads(content)["id"])
                    break
                assert status == 503  # among so many others
                time.sleep(0.02)
    return numbers


def settled(served, acknowledged):
    """Wait until all jobs are done, hold them against the ledger, and return how many there were."""
    with served.store() as store:
        until = time.monotonic() + 120
        while not all(job.over for job in store.jobs()) and time.monotonic() < until:
            time.sleep(0.2)
        jobs = store.jobs()
    assert {job.state for job in jobs} == {"done"}, [(job.state, job.error) for job in jobs]
    assert {job.id for job in jobs} >= {*acknowledged} and acknowledged
    with Ledger.open(served.ledgers["tables"]) as ledger:
        ledger.verify()
        charges = [charge.hash for charge in ledger.history() if charge.loss.terms]
        assert all(ledger.charge_of(job.result).release is not None for job in jobs)
    draws = {job.id if json.loads(job.request)["fresh"] else job.request for job in jobs}
    assert len(charges) == len(draws) == len({job.result for job in jobs})
    return len(jobs)


@pytest.mark.parametrize("visits", [pytest.param(40, id="short"), pytest.param(500, id="long")])
def test_memory_stays_what_it_is(tmp_path, visits):
    """However many requests there are, good and bad, of people who are known or not, they are not remembered."""
    with Served(tmp_path, 10, workers=1).running() as served:
        measured = []
        for number in range(visits):
            visit(served, number)
            measured.append(served.memory())
        assert measured[-1] < 1.05 * measured[visits // 10]


def visit(served, number):
    """Twenty requests; most are of no other visit."""
    i, j = PARTS[number]
    own = f"SELECT COUNT(*) AS n FROM people WHERE age >= {i} AND age < {j}"
    same, terms = "SELECT COUNT(*) AS n FROM people", {"epsilon": "1"}
    people = "/v1/datasets/people"
    with closing(Client(served, "ana")) as client:
        replies = [client.ask("POST", f"{people}/asks", {"sql": same, "terms": terms}) for _ in range(8)]
        replies += [
            client.ask("POST", f"{people}/offers", {"sql": f"{own} AND age <> {k}", "terms": terms}) for k in range(4)
        ]
        replies += [client.ask("POST", f"{people}/asks", {"sql": own, "terms": {"epsilon": "100"}})]
        replies += [client.ask("POST", f"{people}/asks", {"sql": f"SELECT {number}", "terms": terms})]
        replies += [client.ask("GET", f"{people}/history"), client.ask("GET", people), client.ask("GET", "/v1/jobs")]
        replies += [client.ask("GET", f"/v1/datasets/none_{number}"), client.ask("GET", f"/nowhere/{number}")]
        replies += [client.ask("GET", "/v1/me", Authorization=f"Bearer tacit_{number:043}")]
    statuses = [status for status, _, _ in replies]
    assert statuses == [200] * 12 + [403, 422] + [200] * 3 + [404] * 2 + [401], statuses
