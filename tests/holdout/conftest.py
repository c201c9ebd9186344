"""Each test is a process of its own, as far as holdouts know: the tests open the same records."""

import pytest

from tacit.holdout import Memory, session


@pytest.fixture(autouse=True)
def this_process(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory()
    monkeypatch.setattr(session, "THIS_PROCESS", memory)
    return memory
