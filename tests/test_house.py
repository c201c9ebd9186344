"""The rules of the house that no linter sees: randomness, purity, headings, length, a light import, packaging."""

import ast
import builtins
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import tacit
from tacit.core import errors

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tacit"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PURE = ("composition", "core", "mechanisms", "storage", "theory", "workloads")
RANDOM = ("numpy.random", "random", "secrets")
OUTSIDE = ("socket", "time", "builtins.open", "builtins.input", "builtins.print", "builtins.__import__")
SERVER = ("starlette", "uvicorn", "msgspec", "jinja2", "authlib", "httpx2")
HEADINGS = ("Definition.", "Privacy.", "Utility.", "References.")
HEAVY = {"pyspark", "altair", "duckdb", "sqlite3", "pandas", "typer", *SERVER}
UNASKED = {"altair", "pandas", "polars", "psycopg", "pyspark", "scipy", "tacit.server", *SERVER} | {
    "sqlglot.dialects.duckdb",
    *(f"tacit.{part}" for part in ("audit", "composition", "demo", "holdout", "theory", "workloads")),
}
SQLGLOT = {
    "sqlglot.errors",
    *(f"sqlglot.{name}" for name in ("Dialect", "ParseError", "Parser", "Token", "TokenType", "exp")),
}
LONGEST = 400


def parts(*names: str) -> list[Path]:
    return sorted(path for name in names for path in (PACKAGE / name).rglob("*.py"))


def dotted(node: ast.expr, known: dict[str, str]) -> str | None:
    """The full name that an expression reads, or None if it begins at a local variable."""
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=value, attr=attr):
            owner = dotted(value, known)
            return owner and f"{owner}.{attr}"
    return None


def names(source: str) -> Iterator[str]:
    """Every outside name that a module imports or reads, aliases undone: np.random is numpy.random."""
    tree = ast.parse(source)
    known = {name: f"builtins.{name}" for name in dir(builtins)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    yield alias.name
                    root = alias.name.partition(".")[0]
                    known[alias.asname or root] = alias.name if alias.asname else root
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                for alias in aliases:
                    yield f"{module}.{alias.name}"
                    known[alias.asname or alias.name] = f"{module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node, known)):
            yield name


def offences(source: str, banned: tuple[str, ...]) -> set[str]:
    return {name for name in names(source) if any(f"{name}.".startswith(f"{ban}.") for ban in banned)}


def offenders(files: list[Path], banned: tuple[str, ...]) -> dict[str, set[str]]:
    found = {str(path.relative_to(PACKAGE)): offences(path.read_text("utf-8"), banned) for path in files}
    return {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.random.default_rng()",
        "import numpy\ndraw = numpy.random",
        "import numpy.random as nr",
        "from numpy import random",
        "from numpy.random import default_rng",
        "def f():\n    import random",
        "from secrets import token_bytes",
        "import time as clock",
        "from socket import socket",
        "with open('people.csv') as file: ...",
        "import builtins\nbuiltins.open('people.csv')",
    ],
)
def test_an_offence_is_seen(source: str) -> None:
    assert offences(source, RANDOM + OUTSIDE)


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.randomly, np.array([1])",
        "time = 3\nself.random(time)",
        "from tacit.core import randomness\nrandomness.words(1)",
        "from .randomness import words",
        "'numpy.random'  # open(), import random",
    ],
)
def test_an_innocent_line_is_not(source: str) -> None:
    assert not offences(source, RANDOM + OUTSIDE)


def test_randomness_has_one_door() -> None:
    files = [path for path in parts(".") if "testing" not in path.relative_to(PACKAGE).parts]
    assert files
    assert offenders(files, RANDOM) == {}


def test_the_mathematics_opens_no_file_socket_or_clock() -> None:
    assert offenders(parts(*PURE), OUTSIDE) == {}


def test_of_sqlglot_only_its_documented_entries_are_imported() -> None:
    used = offenders(parts("."), ("sqlglot",))
    assert {"query/sql/lexer.py", "engines/sql/dialect.py"} <= set(used)
    inner = {
        path: {name for name in found if not any(f"{name}.".startswith(f"{door}.") for door in SQLGLOT)}
        for path, found in used.items()
    }
    assert {path: found for path, found in inner.items() if found} == {}


def test_each_mechanism_states_its_theorems() -> None:
    missing = {}
    for path in (PACKAGE / "mechanisms").rglob("[!_]*.py"):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        lines = text.splitlines()
        absent = [heading for heading in HEADINGS if not any(line.startswith(heading) for line in lines)]
        if absent:
            missing[path.name] = absent
    assert missing == {}


def test_no_file_is_long() -> None:
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in parts(".")}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_a_question_on_the_command_line_loads_only_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n30\n40\n")
    (tmp_path / "t.toml").write_text(
        '[table]\nname = "t"\nunit = "row"\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 99\n'
    )
    asked = ["ask", "t.csv", "SELECT AVG(age) AS m FROM t", "--epsilon", "1", "--budget", "epsilon=1 delta=1e-9"]
    code = f"import sys; from tacit.cli import app; app({asked}, standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"duckdb", "sqlite3", "tacit.curator"} <= loaded
    assert loaded & UNASKED == set()


def test_importing_tacit_loads_nothing_heavy() -> None:
    command = [sys.executable, "-c", "import sys, tacit; print(*sys.modules)"]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "tacit" in loaded
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()


def test_every_public_name_is_there_and_told() -> None:
    code = (
        "import tacit; told = set(dir(tacit)); assert set(tacit.__all__) <= told;"
        "print(*(name for name in sorted(told) if not hasattr(tacit, name)), 'none')"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "none\n"
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(tacit))
    assert tacit.__version__ == metadata.version("tacit")


def test_every_error_can_be_named_where_it_is_caught() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert {kind.__name__ for kind in kinds} <= {*tacit.__all__}


def test_the_version_stands_in_one_place_and_the_rest_agrees() -> None:
    version = PROJECT["version"]
    assert tacit.__version__ == metadata.version("tacit") == version
    for path in parts("."):
        assert not re.search(rf"__version__\s*(:.*)?=|['\"]{re.escape(version)}['\"]", path.read_text("utf-8")), path
    assert re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M) == [version]
    latest = re.findall(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)[0]
    assert latest[0] == version and re.fullmatch(r"not yet released|\d{4}-\d\d-\d\d", latest[1])


def commands(target: str) -> list[str]:
    """What a target of the Makefile runs, by the names of the programs."""
    recipe = (ROOT / "Makefile").read_text("utf-8").partition(f"\n{target}:")[2].split("\n\n")[0]
    return [line.strip().replace("$(BIN)/", "") for line in recipe.splitlines()[1:]]


def test_every_place_that_checks_calls_the_same_commands() -> None:
    checks = commands("check")
    assert len(checks) == 4
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "make test"
    steps = re.findall(r"- run: (.*)", (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert steps == [".ci/run", "make lowest"]
    hooks = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [hook.removeprefix(".venv/bin/") for hook in hooks] == checks


def test_lower_bounds_are_those_that_are_installed_to_try_them() -> None:
    code = [sys.executable, ROOT / ".ci" / "lowest"]
    tried = set(subprocess.run(code, check=True, capture_output=True, text=True).stdout.split())
    extras = PROJECT["optional-dependencies"]
    groups = (PROJECT["dependencies"], *(extras[name] for name in extras if name != "check"))
    asked = {requirement for group in groups for requirement in group if not requirement.startswith("tacit[")}
    assert all(">=" in requirement for requirement in asked)
    assert {pin.replace("==", ">=") for pin in tried} == {requirement.partition(",")[0] for requirement in asked}
    assert "sqlglot>=30.24,<31" in asked


def test_what_tests_and_checks_use_is_pinned() -> None:
    used = [*PROJECT["dependencies"]]
    for extra in set(PROJECT["optional-dependencies"]) - {"bench"}:
        used += PROJECT["optional-dependencies"][extra]
    names = {re.split(r"[\[>]", requirement)[0] for requirement in used} - {"tacit"}
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    assert len(names) > 20 and names - pinned == set()


def test_the_systems_are_those_that_the_documents_name() -> None:
    systems = [line for line in PROJECT["classifiers"] if line.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX"]
    for page in ("README.md", "SECURITY.md"):
        assert "Windows is not supported" in (ROOT / page).read_text("utf-8")


def test_a_source_distribution_holds_all_that_its_tests_read(tmp_path: Path) -> None:
    from hatchling.builders.sdist import SdistBuilder

    (built,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    folders = (ROOT / name for name in ("src", "tests", "docs", "benchmarks", ".ci", ".github"))
    files = {path for folder in folders for path in folder.rglob("*") if path.is_file()}
    files |= {path for path in ROOT.iterdir() if path.suffix in (".md", ".txt", ".toml", ".cff", ".yaml")}
    needed = {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}
    assert {"README.md", "docs/tables.md", "tests/fixtures/ledgers/pure.sqlite", "constraints.txt"} <= needed
    assert needed | {"LICENSE", "Makefile", "PKG-INFO"} <= held
    assert not {name for name in held if ".venv" in name or "__pycache__" in name or name.endswith((".ledger", ".pyc"))}


def test_a_wheel_holds_the_documents_and_prints_them(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        archive.extractall(tmp_path / "site")
    pages = {path.name: path.read_bytes() for path in (ROOT / "docs").glob("*.md")}
    assert {path.name: path.read_bytes() for path in (tmp_path / "site/tacit/docs").iterdir()} == pages
    kinds = (".py", ".typed", ".html", ".js", ".css", ".svg")
    modules = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*") if path.suffix in kinds}
    assert all((tmp_path / "site/tacit" / module).exists() for module in modules)
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "docs", "tables"],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PYTHONUTF8": "1"},
    )
    assert done.stdout == pages["tables.md"]


def test_an_editable_install_holds_no_copy_of_the_documents(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["editable"])
    with zipfile.ZipFile(built) as archive:
        assert [name for name in archive.namelist() if name.endswith(".md")] == []


@pytest.mark.parametrize("page", sorted(path.name for path in ROOT.glob("*.md")))
def test_links_between_files_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    linked = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert [link for link in linked if not (ROOT / link).exists()] == []
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.*-]+)`", text)
    assert [name for name in named if not list(ROOT.glob(name))] == []
