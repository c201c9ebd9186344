"""Workers that charge, compute and store are killed at random points; whatever they told must be so.

    python -m tests.ledger.killing PATH KILLS SEED

Three workers live at a time, forked from this one process, and often ask the same questions.  Half of them are killed
from outside at a random moment, half kill themselves just before or after a random statement or commit.  A worker tells
each charge and each answer through a pipe once the ledger has returned it.  Prints what was found, as JSON.
"""

import contextlib
import json
import os
import random
import signal
import sys
import time
from fractions import Fraction

from tacit import Budget
from tacit.core.errors import BudgetExceeded
from tacit.ledger import Ledger
from tacit.testing._ledger import key, pure

PRICE = pure(Fraction(1, 1000))


class Ticking:
    """A connection with a tick before and after each statement, also those that begin and commit."""

    def __init__(self, connection, tick):
        self._connection, self._tick = connection, tick

    def _ticking(self, do, given):
        self._tick()
        done = do(*given)
        self._tick()
        return done

    def execute(self, *given):
        return self._ticking(self._connection.execute, given)

    def executemany(self, *given):
        return self._ticking(self._connection.executemany, given)

    def __getattr__(self, name):
        return getattr(self._connection, name)


def work(path, first, rng, pipe, statements):
    """Ask until killed; by itself at the given number of statements, if any."""
    ledger = Ledger.open(path)

    def tick():
        nonlocal statements
        statements -= 1
        if statements == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    connect = ledger.database.dialect.connect
    ledger.database.dialect.connect = lambda: Ticking(connect(), tick)
    next(ledger.database.paused())  # the next connection ticks
    while True:
        question = key(rng.randrange(first, first + 5))
        try:
            charge = ledger.charge(key=question, loss=PRICE, analyst="ann", fresh=rng.random() < 0.05)
        except BudgetExceeded:
            os.write(pipe, b"refused - - -\n")
            continue
        told = charge.release
        if told is None:
            os.write(pipe, f"charged {question} {charge.draw} -\n".encode())
            told = ledger.store(charge, os.urandom(8))
        os.write(pipe, f"answered {question} {charge.draw} {told.hex()}\n".encode())


class Worker:
    def __init__(self, path, first, rng):
        reader, writer = os.pipe()
        own, alone = random.Random(rng.random()), rng.random() < 0.5
        self.pid = os.fork()
        if not self.pid:
            try:
                work(path, first, own, writer, own.randrange(1, 180) if alone else -1)
            except BaseException as error:
                os.write(writer, f"failed - - {type(error).__name__}\n".encode())
            os._exit(1)
        os.close(writer)
        self.reader, self.until = reader, time.monotonic() + (1.0 if alone else rng.uniform(0, 0.06))

    def dead(self):
        """Killed when its time is over; what it told, once it is dead."""
        over = time.monotonic() > self.until
        if over:
            os.kill(self.pid, signal.SIGKILL)
        pid, _ = os.waitpid(self.pid, 0 if over else os.WNOHANG)
        if not pid:
            return None
        with os.fdopen(self.reader) as pipe:
            return [line.split() for line in pipe.read().splitlines()]


def main(path, kills, seed):
    rng, faults, cut, answers, charged = random.Random(seed), [], 0, {}, set()
    ledger = Ledger.open(path, Budget(epsilon=Fraction(kills, 1000)))  # which will not be enough
    workers = []
    for done in range(kills):
        while len(workers) < 3:
            workers.append(Worker(path, done, rng))
        while not (ended := [(w, lines) for w in workers if (lines := w.dead()) is not None]):
            time.sleep(0.001)
        for worker, lines in ended:
            workers.remove(worker)
            cut += bool(lines) and lines[-1][0] == "charged"  # killed between charge and answer
            for what, question, draw, answer in lines:
                if what == "failed":
                    faults.append(answer)
                if what == "answered" and answers.setdefault((question, draw), answer) != answer:
                    faults.append(f"two answers to {question}")
                if what in ("charged", "answered"):
                    charged.add((question, draw))
            for what, question, draw, _ in lines[-2:]:
                known = ledger.find(question) if what in ("charged", "answered") else None
                if what in ("charged", "answered") and (known is None or known.draw < int(draw)):
                    faults.append(f"lost {question}")
        if done % 100 == 0:
            ledger.verify()
    for worker in workers:
        worker.until = 0
        worker.dead()
    with contextlib.suppress(BudgetExceeded):  # what is left of the budget is left, exactly
        for i in range(kills + 1):
            ledger.charge(key=key("left", i), loss=PRICE, analyst="ben")
    kept = {(c.key, str(c.draw)): c.release for c in ledger.history()}
    faults += [f"lost {q}" for q in charged - kept.keys()]
    faults += [f"lost the answer to {q}" for q, answer in answers.items() if kept.get(q) != bytes.fromhex(answer)]
    ledger.verify()
    spent = ledger.budget.spent(ledger.spent())
    if spent != len(kept) * Fraction(1, 1000) or spent > ledger.budget.limit:
        faults.append("overspent")
    print(json.dumps({"faults": faults, "told": len(answers), "charges": len(kept), "cut": cut}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
