"""Ledgers that exist go on: they open and verify, answer what was bought before, free, and sell what is new."""

import importlib.util
import io
import json
import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "fixtures" / "ledgers"
_SPEC = importlib.util.spec_from_file_location("old_ledgers", FOLDER / "make.py")
assert _SPEC is not None and _SPEC.loader is not None
old = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(old)


@pytest.fixture(params=list(old.BUDGETS))
def name(request):
    return request.param


@pytest.fixture
def opened(name, tmp_path):
    """A curator of a copy, as a ledger's file is its owner's alone."""
    place = tmp_path / f"{name}.ledger"
    shutil.copyfile(FOLDER / f"{name}.sqlite", place)
    place.chmod(0o600)
    with old.curator(place) as c:
        yield c


def plain(answered):
    """What was answered, without the ends of intervals, which are computed from it."""
    if isinstance(answered, list):
        return [plain(each) for each in answered]
    if isinstance(answered, dict):
        return {key: value for key, value in answered.items() if not key.endswith(("_lower", "_upper"))}
    return answered


def exported(c):
    text = io.StringIO()
    c.ledger.export(text)
    return text.getvalue()


def test_what_was_bought_before_is_free_under_the_words_it_was_bought_with(name, opened):
    told, kept = json.loads((FOLDER / f"{name}.json").read_text()), (FOLDER / f"{name}.jsonl").read_text()
    assert opened.budget == old.BUDGETS[name] and exported(opened) == kept
    opened.ledger.verify()
    before = opened.ledger.head()
    for what, act in old.purchases(name).items():
        if what == "an open charge":
            continue
        entry, answered = act(opened)
        assert [entry, plain(answered)] == [told[what]["entry"], plain(told[what]["answered"])], what
        assert opened.ledger.head() == before, what
    assert exported(opened) == kept


def test_a_charge_without_its_release_is_completed_at_the_price_that_was_paid(name, opened):
    (waiting,) = [charge for charge in opened.history() if charge.release is None and not charge.session]
    left, head = opened.remaining, opened.ledger.head()
    old.open_charge(opened)
    (completed,) = [charge for charge in opened.history() if charge.seq == waiting.seq]
    assert completed.release is not None and completed.loss == waiting.loss
    assert opened.remaining == left and opened.ledger.head().seq == head.seq + 1
    opened.ledger.verify()


def test_an_old_ledger_goes_on_selling(name, opened):
    for terms in ({"epsilon": "0.55"}, {"error": 25}):
        left = opened.remaining
        release = opened.ask(old.COUNT, **terms)
        assert release.provenance.entry is not None and opened.remaining < left
        left = opened.remaining
        again = opened.ask(old.COUNT, **terms)
        assert again.to_arrow() == release.to_arrow() and opened.remaining == left
    opened.ledger.verify()
