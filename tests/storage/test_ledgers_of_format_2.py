"""Ledgers of format 2 go on: they open and verify, answer what was bought before, free, and sell what is new."""

from __future__ import annotations

import importlib.util
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "fixtures" / "ledgers" / "format_2"
_SPEC = importlib.util.spec_from_file_location("ledgers_of_format_2", FOLDER / "make.py")
assert _SPEC is not None and _SPEC.loader is not None
made: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)


@pytest.fixture(params=list(made.BUDGETS))
def name(request: Any) -> str:
    return str(request.param)


@pytest.fixture
def opened(name: str, tmp_path: Path) -> Iterator[Any]:
    """A curator of a copy, as a ledger's file and its key are their owner's alone."""
    place = tmp_path / f"{name}.sqlite"
    for suffix in ("", ".key"):
        shutil.copyfile(FOLDER / f"{name}.sqlite{suffix}", f"{place}{suffix}")
        Path(f"{place}{suffix}").chmod(0o600)
    with made.curator(place) as c:
        yield c


def plain(answered: Any) -> Any:
    """What was answered, without the ends of intervals, which are computed from it."""
    if isinstance(answered, list):
        return [plain(each) for each in answered]
    if isinstance(answered, dict):
        return {key: value for key, value in answered.items() if not key.endswith(("_lower", "_upper"))}
    return answered


def exported(c: Any) -> str:
    text = io.StringIO()
    c.ledger.export(text)
    return text.getvalue()


def test_what_was_bought_before_is_free(name: str, opened: Any) -> None:
    bought, kept = json.loads((FOLDER / f"{name}.json").read_text()), (FOLDER / f"{name}.jsonl").read_text()
    assert opened.budget == made.BUDGETS[name] and exported(opened) == kept
    opened.ledger.verify()
    before = opened.ledger.head()
    for what, act in made.purchases(name).items():
        if what == "an open charge":
            continue
        entry, answered = act(opened)
        assert [entry, plain(answered)] == [bought[what]["entry"], plain(bought[what]["answered"])], what
        assert opened.ledger.head() == before, what
    assert exported(opened) == kept


def test_a_charge_without_its_release_is_completed_at_the_price_that_was_paid(opened: Any) -> None:
    (waiting,) = [charge for charge in opened.history() if charge.release is None and not charge.session]
    left, head = opened.remaining, opened.ledger.head()
    made.open_charge(opened)
    (completed,) = [charge for charge in opened.history() if charge.seq == waiting.seq]
    assert completed.release is not None and completed.loss == waiting.loss
    assert opened.remaining == left and opened.ledger.head().seq == head.seq + 1
    opened.ledger.verify()


def test_the_ledger_goes_on_selling(opened: Any) -> None:
    for terms in ({"epsilon": "0.55"}, {"error": 25}):
        left = opened.remaining
        release = opened.ask(made.COUNT, **terms)
        assert release.provenance.entry is not None and opened.remaining < left
        left = opened.remaining
        again = opened.ask(made.COUNT, **terms)
        assert again.to_arrow() == release.to_arrow() and opened.remaining == left
    opened.ledger.verify()


def test_nothing_in_it_names_a_module_or_is_of_a_former_spelling(name: str) -> None:
    text = (FOLDER / f"{name}.jsonl").read_text()
    assert '"format":2' in text and '"atom"' not in text and '"of":"' not in text
