"""Modules, classes and private attributes may be renamed, and fields with a default added: what was stored stays.

A copy of the package is changed in all these ways at once, for every stored type, and opens the ledgers of each format.
"""

from __future__ import annotations

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import tacit

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ledgers"
SHIM = "import sys\n\nfrom . import {moved}\n\nsys.modules[__name__] = {moved}\n"
FIELD = 'added_later: int = __import__("dataclasses").field(default=0, kw_only=True)'

PROGRAM = """
import importlib.util, io, json, shutil, sys, warnings
from pathlib import Path

import tacit
from tacit import storage

warnings.simplefilter("ignore")
assert Path(tacit.__file__).is_relative_to({copy!r}), tacit.__file__
plain = lambda x: (
    [plain(each) for each in x] if isinstance(x, list)
    else {{k: v for k, v in x.items() if not k.endswith(("_lower", "_upper"))}} if isinstance(x, dict)
    else x
)
for folder in map(Path, {folders!r}):
    spec = importlib.util.spec_from_file_location("make", folder / "make.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for name in made.BUDGETS:
        place = Path({scratch!r}) / f"{{folder.name}}_{{name}}.sqlite"
        for suffix in ("", ".key"):
            if (source := folder / f"{{name}}.sqlite{{suffix}}").exists():
                shutil.copyfile(source, f"{{place}}{{suffix}}")
                Path(f"{{place}}{{suffix}}").chmod(0o600)
        bought = json.loads((folder / f"{{name}}.json").read_text())
        with made.curator(place) as c:
            c.ledger.verify()
            before = c.ledger.head()
            for what, act in made.purchases(name).items():
                if what == "an open charge":
                    continue
                entry, answered = act(c)
                assert [entry, plain(answered)] == [bought[what]["entry"], plain(bought[what]["answered"])], what
                assert c.ledger.head() == before, (name, what)
            left = c.remaining
            made.open_charge(c)
            assert c.remaining == left
            for charge in c.history():
                if charge.purpose.kind == "question" and charge.release and not charge.failed:
                    assert tacit.Release.from_json(charge.release).facts() == charge.release
            c.ask(made.COUNT, epsilon="0.55")
            assert c.remaining < left
            c.ledger.verify()
ours = [kind for kind in storage.kinds() if kind.type.__module__.startswith("tacit.")]
assert len(ours) > 100
for kind in ours:
    assert kind.type.__name__.endswith("Renamed") and kind.type.__module__.endswith("_moved"), kind.type
    assert not hasattr(kind.type, "__dataclass_fields__") or "added_later" in kind.type.__dataclass_fields__
print("free", len(ours))
"""


def stored_classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_called(each, "stored") for each in node.decorator_list):
            yield node


def _called(node: ast.expr, name: str) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    return (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) == name


def private(kind: ast.ClassDef) -> Iterator[str]:
    """The private attributes that a class sets, declares or computes."""
    for node in ast.walk(kind):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=str(name), ctx=ast.Store()):
                yield name
            case ast.AnnAssign(target=ast.Name(id=str(name))) | ast.FunctionDef(name=str(name)):
                yield name


def renamed(source: str) -> str:
    """The source with its stored classes under other names, the old ones kept as aliases, and a field more in each."""
    lines, tree = source.splitlines(), ast.parse(source)
    for kind in sorted(stored_classes(tree), key=lambda kind: -kind.lineno):
        new = f"{kind.name[::-1]}Renamed"  # so that they sort otherwise, too
        after = [f"{kind.name} = {new}"]
        if any(_called(each, "dataclass") for each in kind.decorator_list):
            after.insert(0, f"{' ' * kind.body[0].col_offset}{FIELD}")
        lines[kind.end_lineno : kind.end_lineno] = after
        lines[kind.lineno - 1] = lines[kind.lineno - 1].replace(f"class {kind.name}", f"class {new}", 1)
    return "\n".join(lines) + "\n"


def without(source: str, names: set[str], strings: bool) -> str:
    """The source with these names changed wherever they stand, and in texts that are nothing but such a name."""
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        if token.type == tokenize.NAME and text in names:
            text = f"{text}_renamed"
        elif token.type == tokenize.STRING and text[0] in "fF":  # before Python 3.12, one token with its expressions
            text = re.sub(r"\b_\w+", lambda name: f"{name[0]}_renamed" if name[0] in names else name[0], text)
        elif strings and token.type == tokenize.STRING and text.strip("\"'") in names:
            text = f"{text[:-1]}_renamed{text[-1]}"
        tokens.append((token, text))
    lines = source.splitlines(keepends=True)
    for token, text in reversed(tokens):
        if text != token.string:
            (first, start), (last, end) = token.start, token.end
            lines[first - 1 : last] = [lines[first - 1][:start] + text + lines[last - 1][end:]]
    return "".join(lines)


def changed(package: Path) -> None:
    sources = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    holding = {path: list(stored_classes(ast.parse(source))) for path, source in sources.items()}
    kinds = [kind for found in holding.values() for kind in found]
    names = {name for kind in kinds for name in private(kind) if name.startswith("_") and not name.endswith("_")}
    names -= {path.stem for path in sources}
    assert len(kinds) > 100 and len(names) > 50
    for path, source in sources.items():
        text = without(source, names, strings=path.parent.name != "storage")
        if holding[path]:
            moved = path.with_name(f"{path.stem}_moved.py")
            moved.write_text(renamed(text), "utf-8")
            text = SHIM.format(moved=moved.stem)
        path.write_text(text, "utf-8")


def test_what_was_stored_stays_free_and_readable(tmp_path: Path) -> None:
    copy, scratch = tmp_path / "copy", tmp_path / "ledgers"
    scratch.mkdir()
    shutil.copytree(Path(tacit.__file__).parent, copy / "tacit", ignore=shutil.ignore_patterns("__pycache__"))
    changed(copy / "tacit")
    folders = [str(FIXTURES), *map(str, sorted(FIXTURES.glob("format_*")))]
    program = PROGRAM.format(copy=str(copy), folders=folders, scratch=str(scratch))
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("free")
