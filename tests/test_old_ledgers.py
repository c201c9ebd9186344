"""Ledgers that exist go on: they open and verify, answer what was bought before, free, and sell what is new."""

import importlib.util
import io
import json
import shutil
from pathlib import Path

import pytest

FORMAT_1 = Path(__file__).parent / "fixtures" / "ledgers"


def maker(folder):
    """The program that made the ledgers of a folder."""
    spec = importlib.util.spec_from_file_location(f"make_{folder.name}", folder / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKERS = {folder: maker(folder) for folder in (FORMAT_1, FORMAT_1 / "format_2")}
LEDGERS = [(folder, name) for folder, old in MAKERS.items() for name in old.BUDGETS]


@pytest.fixture(params=LEDGERS, ids=lambda each: f"{each[0].name}-{each[1]}")
def ledger(request):
    """The folder and the name of a ledger."""
    return request.param


@pytest.fixture
def old(ledger):
    return MAKERS[ledger[0]]


@pytest.fixture
def opened(ledger, old, tmp_path):
    """A curator of a copy, as a ledger's file and its key are their owner's alone."""
    folder, name = ledger
    place = tmp_path / f"{name}.sqlite"
    for suffix in ("", ".key"):
        if (source := folder / f"{name}.sqlite{suffix}").exists():
            shutil.copyfile(source, f"{place}{suffix}")
            Path(f"{place}{suffix}").chmod(0o600)
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


def test_what_was_bought_before_is_free_under_the_words_it_was_bought_with(ledger, old, opened):
    folder, name = ledger
    told, kept = json.loads((folder / f"{name}.json").read_text()), (folder / f"{name}.jsonl").read_text()
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


def test_a_charge_without_its_release_is_completed_at_the_price_that_was_paid(old, opened):
    (waiting,) = [charge for charge in opened.history() if charge.release is None and not charge.session]
    left, head = opened.remaining, opened.ledger.head()
    old.open_charge(opened)
    (completed,) = [charge for charge in opened.history() if charge.seq == waiting.seq]
    assert completed.release is not None and completed.loss == waiting.loss
    assert opened.remaining == left and opened.ledger.head().seq == head.seq + 1
    opened.ledger.verify()


def test_an_old_ledger_goes_on_selling(old, opened):
    for terms in ({"epsilon": "0.55"}, {"error": 25}):
        left = opened.remaining
        release = opened.ask(old.COUNT, **terms)
        assert release.provenance.entry is not None and opened.remaining < left
        left = opened.remaining
        again = opened.ask(old.COUNT, **terms)
        assert again.to_arrow() == release.to_arrow() and opened.remaining == left
    opened.ledger.verify()


@pytest.mark.parametrize("name", MAKERS[FORMAT_1 / "format_2"].BUDGETS)
def test_nothing_in_format_2_names_a_module_or_is_of_a_former_spelling(name):
    text = (FORMAT_1 / "format_2" / f"{name}.jsonl").read_text()
    assert '"format":2' in text and '"atom"' not in text and '"of":"' not in text
