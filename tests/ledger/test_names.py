"""One analyst has one allowance, however the name is written."""

import pytest

from tacit import Budget
from tacit.core.errors import BadParameter, BudgetExceeded, NoAllowance
from tacit.ledger import Ledger
from tacit.ledger.names import analyst_name, skeleton
from tacit.testing._ledger import TENTH, key, pure

ONE, FIFTH = Budget(epsilon=1), Budget(epsilon="0.2")
ALIKE = [
    "alice",
    "Alice",
    "ALICE",
    "alice ",
    " alice",
    "\uff41\uff4c\uff49\uff43\uff45",  # full-width
    "\U0001d41a\U0001d425\U0001d422\U0001d41c\U0001d41e",  # mathematical bold
    "al\u0131ce",  # dotless i
    "\u0251lice",  # script a
    "\u24d0\u24db\u24d8\u24d2\u24d4",  # circled
]
WHOLE = {"\u0440\u0435\u0441\u043e": "peco", "\u0391\u039d\u039d\u0391": "ANNA", "\u0421\u041e\u0420": "cop"}
REFUSED = [
    "",
    " ",
    "ali\u200bce",
    "alice\u200d",
    "\u202ealice",
    "ali\xadce",
    "alice\t",
    "alice\n",
    "a\x1b[31m",
    "alice\u3164",
    "alice\u115f",
    "alice\u034f",
    "alice\ufe0f",
    "alice\u2800",
    "alice\U000e0041",
    "\u0430lice",
    "alic\u0435",
    "\u03b1lice",
    "\ue000",
    "a" * 201,
    "\ud800",
    "alice\x00",
    "alice\xa0",
]


@pytest.mark.parametrize("name", ALIKE)
def test_an_allowance_is_one_however_the_name_is_written(path, name):
    with Ledger.open(path, ONE, only_allowed=False) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst=name)
        ledger.allow("Alice", FIFTH)
        ledger.charge(key=key(1), loss=TENTH, analyst=name)
        for again in ALIKE:
            with pytest.raises(BudgetExceeded, match="allowance of Alice"):
                ledger.charge(key=key(2), loss=TENTH, analyst=again)
            assert ledger.remaining(again) == 0 and ledger.spent(again) == 2 * TENTH
            assert ledger.allowance(again) == FIFTH
        assert ledger.allowances() == {"Alice": FIFTH}
        ledger.allow(name, ONE)
        ledger.charge(key=key(2), loss=TENTH, analyst="alice")
        assert len(ledger.allowances()) == 1
        ledger.verify()
    with Ledger.open(path) as ledger:
        assert ledger.allowance(name) == ONE


def test_letters_of_other_alphabets_pass_for_no_other_analyst():
    for name, looks in WHOLE.items():
        assert skeleton(analyst_name(name)) == skeleton(looks)
    for one, other in [("ann", "anna"), ("l", "i"), ("e", "\u00e9"), ("o", "0"), ("ann b", "annb")]:
        assert skeleton(one) != skeleton(other)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_seen_is_no_name(path, name):
    with Ledger.open(path, ONE) as ledger:
        for do in (
            lambda: ledger.charge(key=key(0), loss=TENTH, analyst=name),
            lambda: ledger.allow(name, FIFTH),
            lambda: ledger.remaining(name),
            lambda: ledger.allowance(name),
            lambda: ledger.start(key=key(0), loss=TENTH, state=b"", analyst=name),
        ):
            with pytest.raises(BadParameter, match="analyst"):
                do()
        assert ledger.head().seq == 1


@pytest.mark.parametrize(
    "name",
    [
        "Ann O'Hara",
        "\u00c9milie",
        "\u674e\u96f7",
        "Li \u674e",
        "\u0410\u043d\u043d\u0430",
        "\u5c71\u7530 Taro",
        "ann@x.org",
        "\u0391\u03bd\u03bd\u03b1",
    ],
)
def test_honest_names_are_taken(path, name):
    with Ledger.open(path, ONE) as ledger:
        assert ledger.charge(key=key(0), loss=TENTH, analyst=name).analyst == name


def test_once_somebody_has_an_allowance_nobody_else_may_spend(path):
    with Ledger.open(path, ONE) as ledger:
        ledger.charge(key=key(0), loss=TENTH, analyst="ben")
        assert ledger.sells_to("ben")
        ledger.allow("ann", FIFTH)
        assert ledger.sells_to("Ann") and not ledger.sells_to("ben") and ledger.remaining("ben") == 0
        with pytest.raises(NoAllowance):
            ledger.charge(key=key(1), loss=TENTH, analyst="ben")
        ledger.charge(key=key(0), loss=TENTH, analyst="ben")  # bought before, and still free
        ledger.charge(key=key("free"), loss=0 * pure(1), analyst="ben")
        ledger.charge(key=key(2), loss=TENTH, analyst="ann")
        ledger.verify()
    with pytest.raises(BadParameter, match="only_allowed"):
        Ledger.open(path, only_allowed=False)


def test_a_ledger_may_be_open_to_anyone(path):
    with Ledger.open(path, ONE, only_allowed=False) as ledger:
        ledger.allow("ann", FIFTH)
        ledger.charge(key=key(1), loss=TENTH, analyst="ben")
        ledger.verify()
    assert Ledger.open(path, only_allowed=False).only_allowed is False
