"""Policies: what they sell is what they say, whoever asks; they are exact, and read back as they were written."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Budget
from tacit.core.errors import BadParameter
from tacit.server.numbers import read_budget, write_budget, write_number
from tacit.server.person import Person
from tacit.server.policy import (
    OWNERS,
    PRICES,
    PURCHASES,
    SWITCHES,
    Allowed,
    NeedsApproval,
    Policy,
    PolicyRefused,
    Price,
    decide,
    effective,
    read_policy,
    subject,
    write_policy,
)

ANN, BOB = Person("Ann", "owner"), Person("bob", "analyst")
shares = st.fractions(0, 1, max_denominator=10**6)
positives = st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6)
deltas = st.fractions(Fraction(1, 10**12), Fraction(1, 100), max_denominator=10**13)
prices = st.one_of(
    st.builds(Price, st.sampled_from(PRICES), positives),
    st.builds(lambda amount, delta: Price("epsilon", amount, delta), positives, deltas),
)
budgets = st.one_of(
    st.builds(lambda x: Budget(epsilon=x), positives),
    st.builds(lambda x, delta: Budget(epsilon=x, delta=delta), positives, deltas),
    st.builds(lambda x, delta: Budget(epsilon=x, delta=delta, slack=delta / 3), positives, deltas),
    st.builds(lambda x, delta: Budget(epsilon=x, delta=delta, renyi_order=3), positives, deltas),
    st.builds(lambda x, delta: Budget(epsilon=x, delta=delta, slack=0), positives, deltas),
    st.builds(lambda x, order: Budget(epsilon=x, renyi_order=order), positives, st.fractions(2, 50)),
    st.builds(lambda x: Budget(rho=x), positives),
    st.builds(lambda x, delta: Budget(rho=x, delta=delta), positives, deltas),
)
policies = st.builds(
    Policy,
    st.none() | prices,
    st.none() | shares,
    st.none() | budgets,
    **dict.fromkeys(SWITCHES, st.booleans()),
    approval=st.none() | shares,
)
purchases = st.tuples(st.sampled_from(PURCHASES), shares, st.booleans())


def outcome(policy, kind, share, fresh):
    try:
        return decide(policy, kind, share, fresh)
    except PolicyRefused as refused:
        return refused


@given(policies, purchases)
def test_a_policy_sells_exactly_what_it_allows(policy, purchase):
    """The decision against its definition, written a second time."""
    kind, share, fresh = purchase
    allowed = {"stream": policy.streams, "workload": policy.workloads, "synthetic": policy.synthetic}.get(kind, True)
    sold = allowed and (policy.fresh or not fresh) and (policy.most is None or share <= policy.most)
    asks = policy.approval is not None and (policy.approval == 0 or share > policy.approval)
    decided = outcome(policy, *purchase)
    assert type(decided) is (PolicyRefused if not sold else NeedsApproval if asks else Allowed)
    if not sold or asks:
        text = str(decided) if not sold else decided.reason
        assert text[0].isupper() and text.endswith(".") and text.count(". ") >= 1  # what is wrong, and what to do


ORDER = {PolicyRefused: 0, NeedsApproval: 1, Allowed: 2}


@given(policies, purchases, shares)
def test_what_costs_less_is_sold_no_less(policy, purchase, other):
    kind, share, fresh = purchase
    cheap, dear = sorted((share, other))
    assert ORDER[type(outcome(policy, kind, cheap, fresh))] >= ORDER[type(outcome(policy, kind, dear, fresh))]


@given(policies, purchases)
def test_more_switches_sell_no_less(policy, purchase):
    wider = Policy(policy.price, policy.most, policy.allowance, *[True] * 4, policy.approval)
    assert ORDER[type(outcome(wider, *purchase))] >= ORDER[type(outcome(policy, *purchase))]


@given(policies)
def test_a_policy_is_read_as_it_was_written(policy):
    assert read_policy(json.loads(json.dumps(write_policy(policy)))) == policy


@given(budgets)
def test_a_budget_is_read_as_it_was_written(budget):
    assert read_budget(write_budget(budget)) == budget


@given(st.fractions())
def test_a_number_is_read_as_it_was_written(x):
    assert Fraction(write_number(x)) == x


@pytest.mark.parametrize(
    ("x", "text"),
    [("1/3", "1/3"), ("0.05", "0.05"), ("1e-9", "0.000000001"), ("50", "50"), ("-0.5", "-0.5"), ("1/8", "0.125")],
)
def test_a_number_is_written_as_people_write_it(x, text):
    assert write_number(Fraction(x)) == text


@given(st.dictionaries(st.sampled_from(["person:bob", "person:ann", "role:analyst", "role:owner"]), policies))
def test_a_person_counts_before_a_role_and_nothing_is_added_up(known):
    assert effective(known, BOB) == known.get("person:bob", known.get("role:analyst"))
    assert effective(known, ANN) == known.get("person:ann", known.get("role:owner", OWNERS))


def test_a_policy_by_itself_sells_single_questions_alone():
    assert decide(Policy(), "question", 1) == Allowed() == decide(Policy(), "bounds", 1)
    for kind in ("stream", "workload", "synthetic"):
        with pytest.raises(PolicyRefused, match="does not sell"):
            decide(Policy(), kind, 0)
        assert decide(OWNERS, kind, 1, fresh=True) == Allowed()


def test_an_infinite_price_is_refused_where_there_is_a_limit():
    with pytest.raises(PolicyRefused, match="one purchase of yours may take 50 %"):
        decide(Policy(most=Fraction(1, 2)), "question", float("inf"))
    assert isinstance(decide(Policy(approval=1), "question", float("inf")), NeedsApproval)


def test_every_purchase_is_also_one_that_takes_nothing():
    assert isinstance(decide(Policy(approval=0), "question", 0), NeedsApproval)
    assert decide(Policy(approval="0.1"), "question", Fraction(1, 10)) == Allowed()


@pytest.mark.parametrize("text", ["role:analyst", "role:owner"])
def test_subjects_of_roles(text):
    assert subject(text) == text


def test_a_person_is_the_same_subject_however_it_is_spelt():
    assert subject("person:BOB") == subject("person: bob") == subject("person:\uff42ob") == "person:bob"


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"prise": None}, "A policy has no 'prise'. It has price, most, allowance"),
        ({"price": {}}, "A default price is one of error, relative"),
        ({"price": {"error": "1", "share": "1"}}, "Got error and share"),
        ({"price": {"delta": "1"}}, "Got delta"),
        ({"price": {"error": "nan"}}, "error must be a finite number"),
        ({"price": {"error": "-1"}}, "error must be positive"),
        ({"price": {"share": "2"}}, "share must be at most 1"),
        ({"price": {"rho": "1", "delta": "0.1"}}, "delta must be given with epsilon alone"),
        ({"price": 5}, "price must be an object"),
        ({"most": "1.5"}, "most must be a share of the budget"),
        ({"most": True}, "most must be a number"),
        ({"approval": "-1"}, "approval must be a share of the budget"),
        ({"fresh": "yes"}, "fresh must be true or false"),
        ({"fresh": 1}, "fresh must be true or false"),
        ({"allowance": {"epsilon": "1", "gamma": "1"}}, "A budget has no 'gamma'"),
        ({"allowance": {}}, "A budget takes epsilon"),
        ({"allowance": "epsilon=1"}, "allowance must be an object"),
    ],
)
def test_what_is_no_policy_is_refused_with_a_sentence(facts, sentence):
    with pytest.raises(BadParameter) as refused:
        read_policy(facts)
    assert sentence in str(refused.value)
