"""What the documents show is what the program does."""

import doctest
import re
import subprocess
import sys
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


def test_what_the_documents_name_is_there():
    """As it is named: after `import tacit` alone, in a process that has imported nothing else."""
    texts = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    told = re.sub(r"from tacit[\w.]* import", "", "\n".join(texts))
    names = sorted({name.rstrip(".") for name in re.findall(r"(?<![\w./-])tacit((?:\.[A-Za-z_]\w*)+)", told)})
    assert ".theory" in names and ".Laplace" in names
    code = f"import tacit\nfor name in {names}:\n    eval('tacit' + name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
