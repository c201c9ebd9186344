"""Checks of sessions, wherever a ledger is kept; part of the suite in `ledgers.py`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from hashlib import sha256

from ..core.accounting.budget import Budget
from ..core.errors import BudgetExceeded, LedgerConflict
from ._ledger import TENTH, Place, fills, key, refused


def a_session_takes_each_step_once(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger, place() as other:
        session = ledger.start(key=key("sparse"), loss=TENTH, state=b"threshold 17", analyst="ann")
        twin = other.start(key=key("sparse"), loss=TENTH, state=b"threshold 99", analyst="ann")
        assert twin.read() == session.read() == (0, b"threshold 17") and ledger.spent() == TENTH
        assert session.step(0, key("q"), b"s1", b"below") == b"below"
        assert twin.step(0, key("q"), b"s1'", b"above") == b"below"
        for after, question in ((0, "r"), (2, "q")):
            with refused(LedgerConflict):
                twin.step(after, key(question), b"s", b"a")
        assert twin.step(1, key("q"), b"s2", b"above") == b"above"
        assert session.find(key("q")) == b"above" and session.find(key("r")) is None
        assert session.read() == (2, b"s2")
        with refused(LedgerConflict):
            ledger.store(session.charge, b"x")
        with refused(LedgerConflict):
            ledger.charge(key=key("sparse"), loss=TENTH, analyst="ann")
        another = ledger.start(key=key("sparse"), loss=TENTH, state=b"anew", analyst="ann", fresh=True)
        assert another.read() == (0, b"anew") and ledger.spent() == 2 * TENTH
        ledger.verify()
    with place() as ledger:
        assert ledger.start(key=key("sparse"), loss=TENTH, state=b"", analyst="ann").read() == (0, b"anew")


def a_step_may_cost_more(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        session = ledger.start(key=key("online"), loss=TENTH, state=b"0", analyst="ann", parts=["north"])
        for i in range(9):
            session.step(i, key(i), b"%d" % (i + 1), b"answer", loss=TENTH)
        with refused(BudgetExceeded):
            session.step(9, key(9), b"10", b"answer", loss=TENTH)
        assert session.read() == (9, b"9") and ledger.spent("ann", "north") == 10 * TENTH
        assert session.step(9, key(9), b"10", b"free") == b"free"
        assert fills(ledger, TENTH, parts=["south"]) == 10
        ledger.verify()


def states_stay_where_they_are(place: Place) -> None:
    """No export holds a state, or a digest by which a guess at a state could be checked; it holds all releases."""
    with place(Budget(epsilon=1)) as ledger:
        session = ledger.start(key=key("sparse"), loss=TENTH, state=b"PRIVATE0", analyst="ann")
        session.step(0, key("q"), b"PRIVATE1", b"answer")
        ledger.store(ledger.charge(key=key(1), loss=TENTH, analyst="ann"), b"released")
        ledger.export(stream := io.StringIO())
        lines = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert [line["hash"] for line in lines] == [entry.head.hash for entry in ledger.entries()]
        for state in (b"PRIVATE0", b"PRIVATE1"):
            for shown in (state.decode(), state.hex(), sha256(state).hexdigest(), "UFJJVkFURT"):
                assert shown not in stream.getvalue()
        assert {"YW5zd2Vy", "cmVsZWFzZWQ="} <= {line["data"] for line in lines}
        for again in lines[1:]:
            assert again["entry"]["previous"] == lines[again["entry"]["seq"] - 2]["hash"]


def sessions_do_not_hear_one_another(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        one, two = (ledger.start(key=key(k), loss=TENTH, state=b"s", analyst="ann") for k in ("one", "two"))
        one.step(0, key("q"), b"t", b"above")
        assert one.find(key("q")) == b"above" and two.find(key("q")) is None
        assert two.step(0, key("q"), b"t", b"below") == b"below" and one.find(key("q")) == b"above"


CHECKS: tuple[Callable[[Place], None], ...] = (
    a_session_takes_each_step_once,
    a_step_may_cost_more,
    states_stay_where_they_are,
    sessions_do_not_hear_one_another,
)
