"""The conformance suite for ledger stores: what must hold wherever a ledger is kept.

    conform(lambda: partial(Ledger.open, new_url()))

A `Place` opens the ledger of one place: `place(budget)` makes the ledger, `place()` opens it again.  Each of `CHECKS`
takes a place where there is no ledger yet, and raises `Refuted` or another AssertionError where the store fails.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..core.accounting.atoms import Approximate
from ..core.accounting.budget import Budget
from ..core.accounting.loss import Concentrated, Loss, Pure, zero
from ..core.distance import ADD_REMOVE, SUBSTITUTE
from ..core.errors import (
    BadParameter,
    BudgetExceeded,
    LedgerConflict,
    LedgerCorrupt,
    LedgerUnavailable,
    MixedRelations,
    NoAllowance,
)
from ..core.purpose import Purpose
from ..ledger import Request
from . import ledger_sessions
from ._ledger import TENTH, Place, fills, key, pure, refused


def tenths_fill_one_exactly(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        assert fills(ledger, TENTH) == 10
        assert ledger.spent() == 10 * TENTH and ledger.remaining() == 0
        for tiny in (Fraction(1, 10**30), Fraction(1, 10**300)):
            with refused(BudgetExceeded):
                ledger.charge(key=key(tiny), loss=pure(tiny), analyst="ben")
        ledger.charge(key=key("free"), loss=zero, analyst="ben")
        ledger.verify()


def a_question_is_paid_once(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        assert ledger.find(key(1)) is None
        first = ledger.charge(key=key(1), loss=TENTH, analyst="ann", purpose=Purpose("question", "COUNT(*)"))
        again = ledger.charge(key=key(1), loss=TENTH, analyst="ben")
        assert first == again == ledger.find(key(1)) and first.release is None
        assert ledger.store(again, b"42") == b"42"
        assert ledger.store(first, b"43") == b"42"
    with place() as ledger:
        for _ in range(100):
            known = ledger.charge(key=key(1), loss=pure(7), analyst="eve")
            assert known.release == b"42" and known.purpose.description == "COUNT(*)"
        assert ledger.spent() == TENTH and ledger.spent("ben") == zero
        assert [charge.release for charge in ledger.history()] == [b"42"]
        with refused(LedgerConflict):
            ledger.store(replace(first, draw=2), b"44")
        other = ledger.charge(key=key(2), loss=TENTH, analyst="ann")
        assert ledger.store(other, b"") == b"" and ledger.store(other, b"x") == b""
        ledger.verify()


def an_open_charge_is_completed_as_it_was_paid(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        ledger.charge(key=key(1), loss=TENTH, analyst="ann", parts=["north"])
    with place() as ledger:
        with refused(LedgerConflict):
            ledger.charge(key=key(1), loss=pure("0.2"), analyst="ann", parts=["north"])
        with refused(LedgerConflict):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann")
        charge = ledger.charge(key=key(1), loss=TENTH, analyst="ann", parts=["north"])
        assert ledger.store(charge, b"late") == b"late" and ledger.spent("ann") == TENTH
        ledger.verify()


def a_fresh_draw_is_paid_again(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        for draw in range(1, 11):
            charge = ledger.charge(key=key(1), loss=TENTH, analyst="ann", fresh=True)
            assert charge.draw == draw
            ledger.store(charge, b"%d" % draw)
        with refused(BudgetExceeded):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann", fresh=True)
        last = ledger.find(key(1))
        assert last is not None and last.release == b"10"


def a_batch_is_all_or_nothing(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        before = ledger.head()
        with refused(BudgetExceeded):
            ledger.charge_many([Request(key(i), TENTH, "ann") for i in range(11)])
        assert ledger.head() == before and ledger.find(key(0)) is None and ledger.spent() == zero
        twice = ledger.charge_many([Request(key(i % 10), TENTH, "ann") for i in range(20)])
        assert twice[:10] == twice[10:] and ledger.remaining() == 0
        assert ledger.charge_many([]) == []
        ledger.verify()


def allowances_hold_within_the_budget(place: Place) -> None:
    with place(Budget(epsilon=1), only_allowed=False) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        ledger.allow("ann", Budget(epsilon="0.3"))
        assert fills(ledger, TENTH) == 2 and ledger.remaining("ann") == 0 and ledger.remaining() == Fraction(7, 10)
        ledger.allow("ann", Budget(epsilon="0.2"))
        assert fills(ledger, TENTH) == 0 and ledger.remaining("ann") == 0
        ledger.allow("ann", Budget(epsilon=1))
        assert fills(ledger, TENTH, analyst="ben") == 7 and fills(ledger, TENTH) == 0
        for beyond in (Budget(epsilon="1.1"), Budget(rho="0.1"), Budget(epsilon=1, delta="1e-9")):
            with refused(BadParameter):
                ledger.allow("ann", beyond)
        ledger.verify()
    with place() as ledger:
        assert ledger.allowance("ann") == Budget(epsilon=1) and ledger.allowance("ben") is None


def a_closed_ledger_asks_for_an_allowance(place: Place) -> None:
    with place(Budget(epsilon=1), only_allowed=True) as ledger:
        with refused(NoAllowance):
            ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        ledger.allow("ann", Budget(epsilon="0.5"))
        assert fills(ledger, TENTH) == 5
        assert ledger.remaining("ben") == 0 < ledger.remaining()
        ledger.verify()


def parts_are_paid_side_by_side(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        assert fills(ledger, TENTH, parts=["north"]) == 10
        assert fills(ledger, TENTH, parts=["south"]) == 10
        assert fills(ledger, TENTH, parts=["north", "west"]) == 0 and fills(ledger, TENTH) == 0
        assert ledger.spent(part="west") == zero and ledger.remaining(part="west") == 1 and ledger.remaining() == 0
        assert ledger.spent() == 10 * TENTH
        ledger.verify()


def a_charge_on_all_is_paid_on_the_worst_part(place: Place) -> None:
    with place(Budget(epsilon=1), only_allowed=False) as ledger:
        ledger.allow("ann", Budget(epsilon="0.9"))
        for count, part in enumerate(["north", "south", "west"], 1):
            for i in range(count):
                ledger.charge(key=key(part, i), loss=TENTH, analyst="ann", parts=[part])
        assert fills(ledger, TENTH) == 6 and fills(ledger, TENTH, analyst="ben") == 1
        assert ledger.spent(part="north") == 8 * TENTH and ledger.spent() == 10 * TENTH
        assert fills(ledger, TENTH, analyst="ben", parts=["north"]) == 2
        assert fills(ledger, TENTH, analyst="ben", parts=["east"]) == 3
        ledger.verify()


def each_part_keeps_a_currency_of_its_own(place: Place) -> None:
    """By the union filter one part may keep the epsilons and another the divergences; no maximum of both is kept."""
    budget = Budget(epsilon=1, delta="1e-6")
    (_, most), (_, room) = budget.sums
    gauss = Loss({Concentrated(room / budget.renyi_order / 2): 1})  # type: ignore[operator]
    with place(budget) as ledger:
        ledger.charge(key=key("coins"), loss=pure(most * Fraction(9, 10)), analyst="ann", parts=["north"])
        ledger.charge(key=key("gauss"), loss=gauss, analyst="ann", parts=["south"])
        ledger.charge(key=key("both"), loss=pure("0.01"), analyst="ann")
        with refused(BudgetExceeded):
            ledger.charge(key=key("mixed"), loss=gauss, analyst="ann", parts=["north", "south"])
        ledger.verify()


def failures_are_paid_too(place: Place) -> None:
    with place(Budget(rho=1, delta="1e-6")) as ledger:
        ledger.charge(key=key(0), loss=Loss({Concentrated(Fraction(1, 2)): 1}), analyst="ann")
    with place() as ledger, refused(BudgetExceeded):
        ledger.charge(key=key(1), loss=Loss({Approximate(Fraction(1, 10), Fraction(1, 10**5)): 1}), analyst="ann")


def relations_do_not_mix(place: Place) -> None:
    here, there = (Loss({Pure(Fraction(1, 10)): 1}, relation) for relation in (ADD_REMOVE, SUBSTITUTE))
    with place(Budget(epsilon=1)) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ann", parts=["north"])
        with refused(BadParameter):  # a substituted unit may be in two parts
            ledger.charge(key=key(1), loss=there, analyst="ann")
        with refused(MixedRelations):
            ledger.charge_many([Request(key(1), here, "ann", frozenset(["south"])), Request(key(2), there, "ann")])
        ledger.charge(key=key(1), loss=here, analyst="ann", parts=["south"])
    with place() as ledger:
        with refused(MixedRelations):
            ledger.charge(key=key(2), loss=there, analyst="ann")
        assert ledger.spent().relation is ADD_REMOVE
        ledger.verify()


def substituted_units_have_no_parts(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        ledger.charge(key=key(0), loss=Loss({Pure(Fraction(1, 10)): 1}, SUBSTITUTE), analyst="ann")
        with refused(BadParameter):
            ledger.charge(key=key(1), loss=TENTH, analyst="ann", parts=["north"])


def it_opens_as_it_was_made(place: Place) -> None:
    budget = Budget(epsilon=1, delta="1e-6", slack="1e-7", renyi_order="12.5")
    with refused(LedgerUnavailable):
        place()
    with place(budget, dataset="people"):
        pass
    with place() as ledger:
        assert (ledger.budget, ledger.dataset, ledger.only_allowed) == (budget, "people", None)
    for differs in ({"budget": Budget(epsilon=1, delta="1e-6")}, {"dataset": "pets"}, {"only_allowed": True}):
        with refused(BadParameter):
            place(**differs)
    with place(budget, dataset="people") as ledger:
        ledger.verify()
    with refused(LedgerUnavailable):
        ledger.head()


def an_anchor_is_of_this_history(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        anchor = ledger.head()
        ledger.charge(key=key(0), loss=TENTH, analyst="ann")
        head = ledger.verify(anchor)
        assert head == ledger.head() == ledger.verify(head)
        for wrong in ((head.seq + 1, head.hash), (anchor.seq, head.hash), (head.seq, anchor.hash)):
            with refused(LedgerCorrupt):
                ledger.verify(wrong)


def bad_names_are_refused(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger:
        before = ledger.head()
        good: dict[str, Any] = {"key": key(0), "loss": TENTH, "analyst": "ann"}
        bad: dict[str, list[Any]] = {
            "key": ["", "xyz", "A" * 64, 5],
            "analyst": ["", "a\0", "\ud800", 5, "a" * 999],
            "parts": [[], [""], "north"],
            "purpose": [5, "COUNT(*)"],
            "loss": [5],
        }
        for name, values in bad.items():
            for value in values:
                with refused(BadParameter):
                    ledger.charge(**{**good, name: value})
        hostile = Purpose("other", "\0\ud800'; DROP TABLE entries")
        charge = ledger.charge(key=key(0), loss=TENTH, analyst='Ann "O\'Hara" \u00e9\u4e2d', purpose=hostile)
        with refused(BadParameter):
            ledger.store(charge, "text")  # type: ignore[arg-type]
        assert ledger.find(key(0)) == charge and ledger.head().seq == before.seq + 1
        ledger.verify()


def threads_race_for_the_last_unit(place: Place) -> None:
    with place(Budget(epsilon=1)) as ledger, place() as second:
        ledger.charge(key=key("most"), loss=pure("0.9"), analyst="ann")

        def race(i: int) -> bool:
            try:
                (ledger, second)[i % 2].charge(key=key(i), loss=TENTH, analyst=f"a{i}")
            except BudgetExceeded:
                return False
            return True

        with ThreadPoolExecutor(64) as pool:
            assert sum(pool.map(race, range(64))) == 1
        assert ledger.remaining() == 0
        ledger.verify()


CHECKS: tuple[Callable[[Place], None], ...] = (
    tenths_fill_one_exactly,
    a_question_is_paid_once,
    an_open_charge_is_completed_as_it_was_paid,
    a_fresh_draw_is_paid_again,
    a_batch_is_all_or_nothing,
    allowances_hold_within_the_budget,
    a_closed_ledger_asks_for_an_allowance,
    parts_are_paid_side_by_side,
    a_charge_on_all_is_paid_on_the_worst_part,
    each_part_keeps_a_currency_of_its_own,
    failures_are_paid_too,
    relations_do_not_mix,
    substituted_units_have_no_parts,
    it_opens_as_it_was_made,
    an_anchor_is_of_this_history,
    bad_names_are_refused,
    threads_race_for_the_last_unit,
    *ledger_sessions.CHECKS,
)


def conform(places: Callable[[], Place]) -> None:
    """Run every check, each in a new place; `places` makes places where there is no ledger yet."""
    for check in CHECKS:
        check(places())
