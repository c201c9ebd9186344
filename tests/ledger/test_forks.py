"""A fork while other threads use ledgers or open them, and while it is interrupted: no connection is carried."""

import os
import signal
import threading
import time

import pytest

from tacit import Budget
from tacit.ledger import Ledger
from tacit.ledger.stores import store
from tacit.testing._ledger import TENTH, key

ONE = Budget(epsilon=1)
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # later Pythons warn of any other thread


@pytest.fixture
def ledger(path):
    with Ledger.open(path, ONE) as ledger:
        yield ledger


def meanwhile(ledger, do, *given):
    """Another thread is in a transaction, for long enough that this is done while a fork waits for it."""
    inside = threading.Event()

    def busy():
        with ledger.database.writing():
            inside.set()
            time.sleep(0.5)

    threading.Thread(target=busy).start()
    assert inside.wait(20)
    threading.Timer(0.1, do, given).start()


def fork(ledger):
    """A child that ends with 0 if it has no connection at first, and can then use the ledger."""
    if child := os.fork():
        return child
    signal.alarm(20)
    failed = 1
    try:
        carried = any(each._connection for each in store._open)
        failed = carried or ledger.charge(key="c" * 32, loss=TENTH, analyst="ann").draw != 1
    finally:
        os._exit(failed)


def ended(child):
    return os.waitpid(child, 0)[1]


def test_an_interrupt_while_a_fork_waits_comes_after_it(ledger):
    meanwhile(ledger, os.kill, os.getpid(), signal.SIGINT)
    children = []

    def work():
        children.append(fork(ledger))
        for _ in range(2000):
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert ended(*children) == 0
    later = threading.Thread(target=lambda: children.append(fork(ledger)), daemon=True)  # no lock was kept
    later.start()
    later.join(20)
    assert ended(children[1]) == 0
    ledger.charge(key=key(1), loss=TENTH, analyst="ann")
    assert ledger.verify().seq == 3


def test_a_ledger_that_is_opened_while_a_fork_waits_is_not_carried(ledger, path):
    opened, done = [], threading.Event()

    def open_another():
        opened.append(Ledger.open(path.with_name("another"), ONE))
        done.set()

    meanwhile(ledger, open_another)
    assert ended(fork(ledger)) == 0
    assert done.wait(20)
    opened[0].close()
