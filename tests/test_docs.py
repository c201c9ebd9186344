"""What the documents show is what the program does, and they name all that it gives."""

import ast
import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tacit.cli import app, docs
from tacit.server.postgres.layouts import OWN
from tacit.server.postgres.session import TERMS

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
PARTS = ("audit", "composition", "holdout", "laws", "losses", "theory", "workloads")
PUBLIC = ("tacit", *(f"tacit.{part}" for part in PARTS))
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.stem)
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


EXTRAS = ("pandas", "polars", "altair", "vl_convert", "pyspark", "psycopg", "sklearn", "mbi")
WITHOUT = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
"""


def test_the_readme_runs_after_the_base_install():
    """Without any library that `pip install tacit` does not bring."""
    blocks = [block.split("```")[0] for block in (ROOT / "README.md").read_text().split("```python\n")[1:]]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([WITHOUT, *blocks])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_without_its_library_is_refused_in_a_sentence(library):
    first = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    code = f"{WITHOUT}\n{first}\nmeans.to_{library}()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert f"Missing: to_{library} needs {library}, which is not installed. Run pip install {library}, or use" in last


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_documents(module):
    """As code: `least` and `top` are words, too."""
    pages = [path.read_text() for path in (ROOT / "README.md", *DOCUMENTS)]
    named = {name for page in pages for code in CODE.findall(page) for name in re.findall(r"\w+", code)}
    assert sorted(set(import_module(module).__all__) - named) == []


def test_every_page_is_linked_from_the_readme():
    linked = set(re.findall(r"\]\(docs/(\w+\.md)\)", (ROOT / "README.md").read_text()))
    assert linked == {path.name for path in DOCUMENTS}


def test_the_readme_names_every_command():
    named = set(re.findall(r"^ +tacit ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named == set(get_command(app).commands)


def test_what_the_documents_name_is_there():
    """As it is named: after `import tacit` alone, in a process that has imported nothing else."""
    texts = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    result = re.sub(r"from tacit[\w.]* import", "", "\n".join(texts))
    names = sorted({name.rstrip(".") for name in re.findall(r"(?<![\w./-])tacit((?:\.[A-Za-z_]\w*)+)", result)})
    assert ".theory" in names and ".Laplace" in names
    names = sorted({*names} - {f".{name}" for name in (*TERMS, "remaining", *OWN)})  # settings and tables in SQL
    code = f"import tacit\nfor name in {names}:\n    eval('tacit' + name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def printed(*words, code=0):
    result = CliRunner().invoke(app, ["docs", *words])
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_lists_the_documents_and_prints_each():
    listed = printed()
    for path in DOCUMENTS:
        text = path.read_text("utf-8")
        assert path.stem in listed and text.splitlines()[0].removeprefix("# ") in listed
        assert printed(path.stem) == printed(path.name, "--plain") == text
    assert printed("Worked-Examples") == printed("worked_examples")
    assert "There is no document 'nonesuch'. Choose one of architecture, audit, " in printed("nonesuch", code=2)


def test_a_document_is_rendered_in_a_terminal(monkeypatch):
    """Headings lose their signs, and --plain keeps them."""
    monkeypatch.setattr(docs.console, "_force_terminal", True)
    assert "# Audits" not in printed("audit") and "Audits" in printed("audit")
    assert printed("audit", "--plain").startswith("# Audits\n")


def test_messages_name_documents_that_the_installed_package_has():
    """By `tacit docs NAME`, and never by a path in the repository; docstrings may name a file of the repository."""
    named = set()
    for path in (ROOT / "src" / "tacit").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        output = "\n".join(text.value for text in texts if id(text) not in statements)
        assert not re.search(r"docs/\w+\.md", output), path
        named |= set(re.findall(r"tacit docs (\w+)", output))
    assert "tables" in named and named <= {"NAME", *docs.documents()}
