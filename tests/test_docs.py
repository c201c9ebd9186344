"""What the documents show is what the program does."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("document", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.stem)
def test_examples_give_what_they_show(document):
    result = doctest.testfile(str(document), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted
    assert not result.failed


def test_the_readme_runs():
    blocks = (ROOT / "README.md").read_text().split("```python\n")[1:]
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block.split("```")[0], namespace)
