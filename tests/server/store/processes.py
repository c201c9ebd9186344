"""Several processes on one store: races, and processes that are killed in the midst of a change.

    python -m tests.server.store.processes race PLACE ROUNDS
    python -m tests.server.store.processes kill PLACE

Prints what was found, as JSON.
"""

import json
import os
import signal
import sys
from dataclasses import replace

from tacit.server.store import Store

from .test_store import PEOPLE

RACERS = 4


class Ticking:
    """A connection that kills its process before or after the given number of statements."""

    def __init__(self, connection, left):
        self._connection, self._left = connection, left

    def execute(self, *given):
        self._tick()
        done = self._connection.execute(*given)
        self._tick()
        return done

    def _tick(self):
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def __getattr__(self, name):
        return getattr(self._connection, name)


def forked(work):
    """Run work in a child, and return its process id."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    return child


def race(place, rounds):
    """In each round, several processes redeem one link, claim one job and use one approval at the same moment."""
    with Store.open(place) as store:
        store.add_person("Ann", "owner", by="test")
    wins = {"link": [], "job": [], "approval": []}
    for turn in range(rounds):
        with Store.open(place) as store:
            link, _ = store.issue_token("Ann", "link", by="test")
            store.add_job("people", "Ann", "answers", "{}")
            approval = store.request_approval("people", "Ann", "", str(turn)).id
            store.decide(approval, by="Ann", approved=True)
        start, begin = os.pipe()
        told, tell = os.pipe()

        def work(link=link, approval=approval, start=start, begin=begin, tell=tell):
            os.close(begin)
            with Store.open(place, create=False) as store:
                os.read(start, 1)  # until the other end is closed
                won = [
                    name
                    for name, act in {
                        "link": lambda: store.redeem_link(link),
                        "job": lambda: store.claim_job(str(os.getpid())),
                        "approval": lambda: store.use(approval),
                    }.items()
                    if act()
                ]
            os.write(tell, "".join(f"{name} " for name in won).encode())

        children = [forked(work) for _ in range(RACERS)]
        os.close(begin)
        codes = [os.waitpid(child, 0)[1] for child in children]
        os.close(start)
        os.close(tell)
        with os.fdopen(told) as pipe:
            names = pipe.read().split()
        assert codes == [0] * RACERS, codes
        for name, counts in wins.items():
            counts.append(names.count(name))
    return wins


def kill(place):
    """Each change is tried with a kill at each of its statements, until one comes through; says what was left then."""
    with Store.open(place) as store:
        store.add_person("Ann", "owner", by="test")
        store.add_person("bob", "analyst", by="test")
    killed, torn = 0, []
    for name, act in CHANGES.items():
        for tick in range(1, 100):
            with Store.open(place) as store:
                link, _ = store.issue_token("bob", "link", by="test")
            before = snapshot(place)

            def work(act=act, tick=tick, link=link):
                with Store.open(place, create=False) as store:
                    connect = store._writer.dialect.connect
                    store._writer._disconnect()
                    store._writer.dialect.connect = lambda: Ticking(connect(), tick)
                    act(store, link)

            child = forked(work)
            _, status = os.waitpid(child, 0)
            after = snapshot(place)
            whole = after["acts"] == before["acts"] + 1
            if os.WIFSIGNALED(status):
                killed += 1
                if not (whole or after == before):
                    torn.append([name, tick])
            if whole != consistent(name, before, after):
                torn.append([name, tick, "half"])
            if not os.WIFSIGNALED(status):
                assert os.WEXITSTATUS(status) == 0 and whole, (name, tick, status)
                break
    with Store.open(place) as store:
        store.check()
    return {"killed": killed, "torn": torn}


def another(store, _):
    names = {dataset.name for dataset in store.datasets()}
    name = f"people_{len(names)}"
    store.add_dataset(replace(PEOPLE, name=name, ledger=f"/d/{name}"), by="Ann")


CHANGES = {
    "token": lambda store, _: store.issue_token("bob", "link", by="Ann"),
    "redeem": lambda store, link: store.redeem_link(link),
    "dataset": another,
    "person": lambda store, _: store.add_person(f"cat {len(store.people())}", "analyst", by="Ann"),
    "revoke": lambda store, _: store.revoke_person(
        next(person.name for person in store.people() if person.name.startswith("cat") and not person.revoked), by="Ann"
    ),
}


def snapshot(place):
    """How many there are of everything."""
    with Store.open(place, create=False) as store:
        tokens = store.tokens()
        return {
            "acts": len(store.acts()),
            "links": sum(token.kind == "link" for token in tokens),
            "used links": sum(token.kind == "link" and token.revoked is not None for token in tokens),
            "sessions": sum(token.kind == "session" for token in tokens),
            "datasets": len(store.datasets()),
            "people": len(store.people()),
            "revoked": sum(person.revoked is not None for person in store.people()),
        }


EFFECTS = {
    "token": {"links": 1},
    "redeem": {"used links": 1, "sessions": 1},
    "dataset": {"datasets": 1},
    "person": {"people": 1},
    "revoke": {"revoked": 1},
}


def consistent(name, before, after):
    """Whether a change has all of its effects; half of them would be neither this nor no change at all."""
    changes = {key: after[key] - before[key] for key in before if key != "acts" and after[key] != before[key]}
    return changes == EFFECTS[name]


if __name__ == "__main__":
    _, command, place, *more = sys.argv
    print(json.dumps(race(place, int(*more)) if command == "race" else kill(place)))
