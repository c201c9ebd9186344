"""Prices that would make a running sum grow: rationals with coprime denominators of thousands of bits."""

import time
from fractions import Fraction
from itertools import islice

import pytest

from tacit import Budget
from tacit.core.accounting.atoms import Approximate
from tacit.core.accounting.loss import Concentrated, Loss, Pure
from tacit.core.accounting.odometer import Odometer
from tacit.core.errors import BadParameter, BudgetExceeded
from tacit.core.exact import GRID
from tacit.core.parameters import rational
from tacit.ledger import Ledger, Request
from tacit.testing._ledger import key, pure

BUDGETS = [
    Budget(epsilon=1),
    Budget(rho=1, delta="1e-6"),
    Budget(epsilon=1, delta="1e-6"),
    Budget(epsilon=1, renyi_order="12.5"),
]


def hostile():
    """Small fractions whose denominators, of about 3,900 bits, have no common factor with one another."""
    odd = 3**2400
    while True:
        odd += 2
        yield Fraction(1, odd << 60)


def widest(amounts):
    return max(max(amount.numerator, amount.denominator).bit_length() for amount in amounts)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_sum_of_hostile_prices_stays_short_and_is_never_below_the_truth(budget):
    kinds = (Pure, Concentrated, lambda x: Approximate(x, x))
    prices = list(islice(hostile(), 60))
    for kind in kinds:
        losses = [Loss({kind(x): 1}) for x in prices]
        amounts = [budget.amounts(loss) for loss in losses]
        if any(amount == float("inf") for each in amounts for amount in each):
            continue  # this currency has no amount for it
        whole = tuple(map(sum, zip(*amounts, strict=True)))
        together = budget.amounts(sum(losses[1:], losses[0]))
        assert together <= whole and widest(whole) < 1700 and widest(together) < 1700
        assert whole[1] > 0
        if kind is Pure and budget.epsilon and not budget.renyi_order:
            assert whole[1] >= together[1] >= sum(prices)
        if kind is Concentrated and budget.rho:
            assert whole[1] >= together[1] >= sum(prices)
        if kind not in (Pure, Concentrated):
            assert whole[0] >= together[0] >= sum(prices)
        assert repr(budget.remaining(whole))


def test_a_thousand_hostile_prices_leave_the_ledger_as_fast_as_it_was(path):
    with Ledger.open(path, Budget(epsilon=1)) as ledger:

        def charged(i, loss):
            start = time.process_time()
            ledger.charge(key=key(i), loss=loss, analyst="ann")
            return time.process_time() - start

        tenth = pure(Fraction(1, 10**9))
        before = sorted(charged(("before", i), tenth) for i in range(40))[20]
        prices = list(islice(hostile(), 1000))
        ledger.charge_many(Request(key(i), pure(x), "ann") for i, x in enumerate(prices))
        after = sorted(charged(("after", i), tenth) for i in range(40))[20]
        assert after < 3 * before
        spent = ledger.budget.spent(ledger.spent())
        assert Fraction(80, 10**9) < spent < Fraction(81, 10**9) and spent >= Fraction(80, 10**9) + sum(prices[:20])
        assert repr(ledger.remaining()) and repr(ledger.remaining("ann"))
        ledger.allow("ann", Budget(epsilon="0.5"))
        assert len(repr(ledger.remaining("ann"))) < 1200
        ledger.verify()
    with Ledger.open(path) as ledger:
        assert ledger.budget.spent(ledger.spent()) == spent


@pytest.mark.parametrize("parts", [2, 3, 7, 10, 49, 60, 97, 240, 1000, 3125, 8192, 10**15])
def test_fractions_that_people_write_are_on_the_grid(parts):
    assert GRID % parts == 0
    for budget in BUDGETS[:2]:
        atom = Pure if budget.epsilon else Concentrated
        one = Loss({atom(Fraction(1, parts)): 1})
        assert budget.amounts(parts * one)[1] == 1 and budget.admits((parts - 1) * one, one)
        assert not budget.admits(parts * one, Loss({atom(Fraction(1, 10**390)): 1}))


def test_a_budget_that_is_no_number_of_the_grid_can_still_be_spent_to_the_last(path):
    odd = Fraction(1, 104729)
    with Ledger.open(path, Budget(epsilon=odd)) as ledger:
        ledger.charge(key=key(1), loss=pure(odd / 4), analyst="ann")
        ledger.charge(key=key(2), loss=pure(odd * 3 / 4), analyst="ann")
        assert ledger.remaining() == 0
        with pytest.raises(BudgetExceeded):
            ledger.charge(key=key(3), loss=pure(Fraction(1, 10**300)), analyst="ann")
        ledger.verify()


def test_an_odometer_is_not_slowed_either():
    loss = Loss({Pure(x): 1 for x in islice(hostile(), 300)})
    start = time.process_time()
    bound = Odometer(delta="1e-6").epsilon(loss)
    assert time.process_time() - start < 1 and bound > 0


@pytest.mark.parametrize(
    "text", ["1e-999999", "1e999999", "9" * 10**6, "0." + "1" * 10**6, "1/" + "3" * 10**6, "1e-" + "9" * 5000]
)
def test_numbers_beyond_all_measure_are_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(BadParameter):
        rational("epsilon", text)
    assert time.process_time() - start < 0.5
