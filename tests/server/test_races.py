"""A hostile analyst with several tokens asks several processes at once, and gets no more than was allowed."""

import json
import random
import threading
from collections import Counter
from contextlib import closing

import pytest

import tacit
from tacit.ledger import Ledger
from tacit.server.policy import Policy

from .crowd import Client, Served, asker

TOKENS, QUESTIONS, ALLOWED = 8, 12, 5


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Two processes; ana has an allowance, which her first purchase writes to the ledger, and bob has to ask."""
    made = Served(tmp_path_factory.mktemp("races"), 100)
    with made.store() as store:
        allowed = Policy(fresh=True, allowance=tacit.Budget(epsilon=ALLOWED))
        store.set_policy("people", "person:ana", allowed, by="owner")
        store.set_policy("people", "person:bob", Policy(fresh=True, approval=0), by="owner")
    with made.running():
        yield made


def at_once(served, name, do):
    """What each of several clients of one person, with tokens of their own, finds out when all of them hurry."""
    with served.store() as store:
        tokens = [store.issue_token(name, "token", by="tests").text for _ in range(TOKENS)]
    start, found, wrong = threading.Barrier(TOKENS), [], []

    def hurry(i):
        try:
            with closing(Client(served, name)) as client:
                client.token = tokens[i]
                start.wait(20)
                found.extend(do(client, random.Random(i)))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=hurry, args=(i,)) for i in range(TOKENS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)
    return found


def test_an_allowance_is_spent_once_however_many_tokens_and_processes_there_are(served):
    numbers = [number for number in range(QUESTIONS + 2) if asker(number, "ana") == "ana"]

    def buy(client, chance):
        for number in chance.sample(numbers, len(numbers)):
            status, headers, content = client.buy(number)
            while status in (429, 503):
                status, headers, content = client.buy(number)
            yield number, status, headers["Tacit-Entry"], content

    found = at_once(served, "ana", buy)
    assert {status for _, status, _, _ in found} == {200, 403}
    assert {json.loads(content)["error"]["code"] for _, status, _, content in found if status == 403} == {
        "budget_exceeded"
    }
    answers = {(number, entry, content) for number, status, entry, content in found if status == 200}
    assert len(answers) == len({number for number, _, _ in answers}) == ALLOWED
    with Ledger.open(served.ledgers["people"]) as ledger:
        ledger.verify()
        assert ledger.spent("ana").epsilon() == ALLOWED and ledger.remaining("ana") == 0
        charged = [charge for charge in ledger.history() if charge.analyst == "ana" and charge.loss.terms]
        assert {charge.hash for charge in charged} == {entry for _, entry, _ in answers}


def test_an_approval_is_good_for_one_purchase(served):
    body = {"sql": "SELECT COUNT(*) AS n FROM people", "terms": {"epsilon": "1"}, "fresh": True}

    def buy(client, _):
        status = 503
        while status in (429, 503):
            status, _, _ = client.ask("POST", "/v1/datasets/people/asks", body)
        yield status

    assert {*at_once(served, "bob", buy)} == {202}
    with served.store() as store:
        (asked,) = store.approvals(person="bob")
        store.decide(asked.id, by="owner", approved=True)
    assert Counter(at_once(served, "bob", buy)) == {200: 1, 202: TOKENS - 1}
    with Ledger.open(served.ledgers["people"]) as ledger:
        assert ledger.spent("bob").epsilon() == 1
