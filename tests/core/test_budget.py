"""Budgets: exact amounts, the rule of each currency, and what is refused."""

import json
import math
import pickle
from fractions import Fraction
from functools import reduce
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import ADD_REMOVE, SUBSTITUTE, BadParameter, Gaussian, Laplace, MixedRelations
from tacit.composition import whitehouse_filter
from tacit.core.accounting.atoms import Approximate, ApproximateConcentrated, RenyiCurve
from tacit.core.accounting.budget import Budget
from tacit.core.accounting.loss import Concentrated, Loss, Pure, zero
from tacit.core.errors import BudgetExceeded, Refused

GOLDEN = {e["id"]: e for e in json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())["entries"]}

amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=3, max_denominator=10**6)
deltas = st.sampled_from([Fraction(1, 10**k) for k in (2, 4, 6, 9, 12)])
budgets = st.one_of(
    st.builds(lambda e: Budget(epsilon=e), amounts),
    st.builds(lambda e, d: Budget(epsilon=e, delta=d), amounts, deltas),
    st.builds(lambda r: Budget(rho=r), amounts),
    st.builds(lambda r, d: Budget(rho=r, delta=d), amounts, deltas),
    st.builds(lambda a, e: Budget(renyi_order=1 + a, epsilon=e), amounts, amounts),
)
failing = st.builds(Approximate, amounts, deltas.map(lambda d: d / 7))
atoms = st.one_of(amounts.map(Pure), amounts.map(Concentrated), failing)
losses = st.dictionaries(atoms, st.integers(1, 5), max_size=3).map(Loss)


def pure(epsilon):
    return Loss({Pure(Fraction(epsilon)): 1})


def count(budget, cost):
    """How many times a cost is admitted."""
    spent, n = zero, 0
    while budget.admits(spent, cost):
        spent, n = budget.charge(spent, cost), n + 1
    return n


def test_a_tenth_ten_times_is_exactly_one_and_then_nothing_more():
    budget = Budget(epsilon=1)
    spent = reduce(budget.charge, 10 * [Laplace(epsilon=0.1).loss()], zero)
    assert budget.spent(spent) == 1 and budget.remaining(spent) == 0
    assert budget.admits(spent, zero)
    assert not any(budget.admits(spent, pure(tiny)) for tiny in ("1e-17", "1e-300", "1e-400"))


@pytest.mark.parametrize(
    "budget", [Budget(rho=0.1), Budget(renyi_order=4, epsilon=0.4), Budget(epsilon=1, delta=1e-6, slack=0)], ids=str
)
def test_a_spent_budget_refuses_every_positive_price(budget):
    whole = pure(1) if budget.delta else Loss({Concentrated(Fraction(1, 10)): 1})
    assert budget.remaining(whole) == 0 and budget.admits(zero, whole)
    for tiny in ("1e-9", "1e-17", "1e-200", "1e-400"):
        assert not budget.admits(whole, pure(tiny))
    assert budget.price(pure("1e-400"), whole) > 0


@pytest.mark.parametrize("name", ["filter.whitehouse.count.e0.01.E1.d1e-6", "filter.whitehouse.count.e0.1.E3.d1e-5"])
def test_the_union_filter_admits_more_than_the_classical_rule(name):
    entry = GOLDEN[name]
    step, (epsilon, delta) = Fraction(str(entry["inputs"]["eps"])), entry["inputs"]["budget"]
    d = Fraction(str(delta))
    classical = next(k for k in range(10**4) if whitehouse_filter([step] * (k + 1), delta=d) > epsilon)
    assert classical == entry["value"]
    budget = Budget(epsilon=epsilon, delta=delta, slack=delta)
    assert count(budget, pure(step)) == {349: 490, 34: 48}[classical]
    assert count(budget, pure(Fraction(epsilon) / 10)) == 10  # large steps, by their sum


def test_zcdp_count():
    entry = GOLDEN["filter.zcdp.count"]
    cost = Gaussian(sigma=entry["inputs"]["sigma"]).loss()
    assert count(Budget(rho=str(entry["inputs"]["rho_budget"])), cost) == entry["value"]
    assert count(Budget(epsilon=1, delta="1e-6", slack="1e-6"), cost) == 4


@given(budgets, losses, losses, losses)
@settings(max_examples=60, deadline=None)
def test_admission_is_monotone(budget, a, b, c):
    if budget.admits(a, b + c):
        assert budget.admits(a, b) and budget.admits(a, c) and budget.admits(zero, a)
        assert budget.remaining(a + b) <= budget.remaining(a)
        total = budget.spent(a) + budget.price(b + c, a)  # each rounded up to the grid by itself
        assert budget.spent(a + b + c) <= total <= budget.limit
        assert total - budget.spent(a + b + c) < Fraction(1, 10**300)
        assert budget.price(b, budget.amounts(a)) == budget.price(b, a)
    assert budget.price(zero, a) == 0 or budget.spent(a) == math.inf


@given(budgets, st.lists(losses, min_size=2, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_order_of_charges_does_not_matter(budget, costs):
    verdicts = set()
    for order in permutations(costs):
        try:
            verdicts.add(budget.spent(reduce(budget.charge, order, zero)))
        except BudgetExceeded:
            verdicts.add(None)
    assert len(verdicts) == 1


def test_failures_are_paid_from_delta():
    atom = Loss({Approximate(Fraction(1, 10), Fraction("1e-7")): 1})
    assert not Budget(epsilon=1).admits(zero, atom)
    assert not Budget(rho=1).admits(zero, atom)
    assert count(Budget(epsilon=1, delta="1e-6"), atom) == 5
    assert count(Budget(epsilon=1, delta="1e-6", slack=0), atom) == 10
    assert count(Budget(epsilon=100, delta="1e-6", slack=0), atom) == 10
    assert count(Budget(rho=1, delta="1e-6"), atom) == 10
    assert count(Budget(rho=1, delta="1e-6"), Loss({ApproximateConcentrated(Fraction(1, 2), Fraction("1e-7")): 1})) == 2
    refused = "has 0 of delta left, and this costs 1e-07. Ask with a smaller delta=, or use another mechanism."
    with pytest.raises(BudgetExceeded, match=refused):
        Budget(epsilon=1, delta="1e-6").charge(5 * atom, atom)


def test_a_refusal_says_why():
    assert issubclass(BudgetExceeded, Refused)
    budget, spent, cost = Budget(epsilon=1), pure("0.95"), pure("0.1")
    with pytest.raises(
        BudgetExceeded, match=r"has spent 0.95, and 0.05 is left, but this costs 0.1. Ask for less."
    ) as e:
        budget.charge(spent, cost)
    assert (e.value.budget, e.value.spent, e.value.cost) == (budget, spent, cost)
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    with pytest.raises(BudgetExceeded, match=r"in epsilon, of which Concentrated.* has no finite amount"):
        budget.charge(zero, Loss({Concentrated(Fraction(1, 100)): 1}))
    curve = Loss({RenyiCurve(((64.0, 0.1),)): 1})
    with pytest.raises(BudgetExceeded, match="rho, of which RenyiCurve"):
        Budget(rho=1).charge(zero, curve)
    assert Budget(epsilon=1, delta="1e-9").admits(zero, curve)


def test_one_relation():
    with pytest.raises(MixedRelations):
        Budget(epsilon=9).admits(*(Laplace(epsilon=1, sensitivity=r.counts()).loss() for r in (ADD_REMOVE, SUBSTITUTE)))


def test_guarantees():
    assert Budget(epsilon=1).guarantee() == (1, 0)
    assert Budget(epsilon=1, delta="1e-9").guarantee() == (1, Fraction("1e-9"))
    alone = Loss({Concentrated(Fraction(1, 10)): 1})
    assert Budget(rho="0.1", delta="1e-7").guarantee("1e-6") == (alone.epsilon("9e-7"), Fraction("1e-6"))
    assert Budget(rho="0.1", delta="1e-7").guarantee("1e-7")[0] == Budget(rho=1).guarantee()[0] == math.inf
    # Canonne, Kamath, Steinke 2020: 1 + ln(7/8) - ln(8e-6)/7
    assert math.isclose(Budget(renyi_order=8, epsilon=1).guarantee("1e-6")[0], 2.543049895416111, rel_tol=1e-12)
    assert Budget(renyi_order=2, epsilon="1e-6").guarantee("0.5")[0] == 0
    with pytest.raises(BadParameter):
        Budget(rho=1).guarantee(1)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"delta": 0.1},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "slack": 0},
        {"rho": 1, "delta": 0.1, "slack": 0},
        {"renyi_order": 8, "epsilon": 1, "delta": 0},
        {"renyi_order": 8, "epsilon": 1, "delta": 0.1, "slack": 0},
        {"renyi_order": 8, "rho": 1},
        {"epsilon": 0},
        {"epsilon": "1e31"},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": 0.1, "slack": 0.2},
        {"renyi_order": 1, "epsilon": 1},
    ],
)
def test_bad_budgets(wrong):
    with pytest.raises(BadParameter):
        Budget(**wrong)


def test_budgets_are_values():
    for text in ("epsilon=1", "rho=0.1, delta=0.01", "epsilon=1, renyi_order=8", "epsilon=1, delta=0.1, slack=0"):
        budget = eval(f"Budget({text})")
        assert repr(budget) == f"Budget({text})" and pickle.loads(pickle.dumps(budget)) == budget
    assert repr(Budget(epsilon=1, delta="1e-9")) == "Budget(epsilon=1, delta=1e-09)"
    assert Budget(epsilon=1, delta="1e-9", renyi_order="35.89") == Budget(epsilon=1, delta="1e-9")
    assert Budget(epsilon=1, delta=0) == Budget(epsilon=1) and len({Budget(epsilon=1), Budget(epsilon="1.0")}) == 1
    assert repr(Budget(epsilon=Fraction(1, 3))) == "Budget(epsilon=1/3)"


def test_the_order_of_a_tail_is_not_told():
    budget = Budget(epsilon="0.2", delta="1e-10", renyi_order="35.89")
    assert eval(repr(budget)) == budget and str(budget) == "Budget(epsilon=0.2, delta=1e-10)"
    assert budget.allowance_of("ana") == "the allowance of ana, epsilon=0.2 at delta=1e-10"
    assert str(Budget(epsilon=1, renyi_order=8)) == "Budget(epsilon=1, renyi_order=8)"


def test_a_tail_without_room_admits_nothing_and_the_sum_still_does():
    budget = Budget(epsilon=1, delta="1e-9", renyi_order=2)
    assert len(budget.sums) == 1 and count(budget, pure("0.1")) == 10


def test_nothing_is_a_refund():
    spent = pure("0.5")
    for budget in (Budget(epsilon=1), Budget(rho=1), Budget(epsilon=1, delta=0.1), Budget(epsilon=1, renyi_order=3)):
        for refund in (pure(-1), Loss({Concentrated(Fraction(-1)): 1})):
            assert budget.remaining(spent + refund) < budget.remaining(spent)
    with pytest.raises(BadParameter, match="count"):
        Loss({Pure(Fraction(1)): -1})
