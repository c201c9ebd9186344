"""The demonstration tells a true story, and quickly."""

import io
import time

from rich.console import Console

from tacit.cli import app  # noqa: F401 - what the command line loads is part of the time
from tacit.demo import run
from tacit.demo.story import QUESTIONS


def test_the_story(tmp_path):
    output, start = io.StringIO(), time.process_time()
    console = Console(file=output, width=200)
    for part in run(tmp_path / "page.svg"):
        console.print(part)
    text = output.getvalue()
    assert time.process_time() - start < 40  # stated: 20 s, on a machine that does nothing else
    assert len(QUESTIONS) >= 12 and all(title in text for title, _, _ in QUESTIONS)
    assert text.count("refused:") == 2 and "line 1, column 8" in text and "Ask for less" in text
    assert "paid 0, " in text and "is intact" in text
    assert (tmp_path / "page.svg").stat().st_size > 10_000
