"""The SQL that programs write: nearly all of it is accepted, and what is refused is refused for privacy."""

from pathlib import Path

import pytest

from tacit.core.errors import BadQuestion
from tacit.query.plan.compiler import compiled
from tacit.query.sql.parser import parse

from .test_sql import REGIONS, TABLES, TODAY

CORPUS = Path(__file__).parent / "corpus"
PRIVATE = ("single rows", "Single rows", "unit of privacy")  # what a refusal for privacy speaks of


def statements(name: str) -> list[tuple[str, str]]:
    """Each statement with what comes of it."""
    lines = (CORPUS / name).read_text("utf-8").splitlines()
    parts = (line.partition("; --") for line in lines if line and not line.startswith("-- "))
    return [(text.removesuffix(";"), status) for text, _, status in parts]


def outcome(text: str) -> tuple[str, str]:
    """What comes of a statement: nothing if it has a price, free, or refused with the reason."""
    try:
        query = parse(text, TABLES, {"regions": REGIONS}, TODAY).query
        compiled(query)
    except BadQuestion as error:
        return "refused rows", str(error)
    return "free" if query.public else "", ""


TOOLS, LATER = statements("tools.sql"), statements("tools_later.sql")


@pytest.mark.parametrize(("text", "status"), TOOLS)
def test_what_comes_of_a_statement(text: str, status: str) -> None:
    found, why = outcome(text)
    assert found == status, why
    assert not why or any(words in why for words in PRIVATE), why


def test_nearly_all_statements_are_accepted() -> None:
    accepted = sum(status != "refused rows" for _, status in TOOLS)
    print(f"{accepted} of {len(TOOLS)} statements of programs are accepted: {accepted / len(TOOLS):.1%}")
    assert len({text for text, _ in TOOLS}) == len(TOOLS) >= 150
    assert accepted / len(TOOLS) >= 0.9


@pytest.mark.parametrize(("text", "_"), LATER)
def test_a_shape_that_is_accepted_moves_to_the_others(text: str, _: str) -> None:
    assert outcome(text)[0] == "refused rows", "move this statement to tools.sql"
