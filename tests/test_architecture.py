"""docs/architecture.md is true of the code: the way of a question, the rooms and their layers, how to add to them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tacit"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+) ?(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
OPTION = re.compile(r"""(\w+)=(?:"([^"]*)"|'([^']*)'|(\S+))""")

SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 2
[columns.region]
type = "category"
values = ["north", "south"]
[columns.age]
type = "integer"
lower = 0
upper = 99
"""
ROWS = [{"person": i // 2, "region": "north" if i % 3 else "south", "age": i % 90} for i in range(200)]
QUESTION = "SELECT region, COUNT(*) AS n FROM people WHERE age > 30 GROUP BY region"


@dataclass
class Block:
    """A fenced block of the page, with the options after its language."""

    language: str
    options: dict[str, str]
    text: str


def blocks(text: str) -> list[Block]:
    return [
        Block(language, {name: "".join(value) for name, *value in OPTION.findall(options)}, body)
        for language, options, body in FENCE.findall(text)
    ]


def drawing(language: str) -> list[str]:
    (block,) = (block for block in blocks(PAGE) if block.language == language)
    return block.text.splitlines()


# The way of a question


def way() -> tuple[list[str], list[str]]:
    """All functions of the drawing, and those that a question which was bought before visits too."""
    lines = drawing("way")
    free = [line.split()[0] for line in lines if not line.startswith(" ")]
    return [line.split()[0] for line in lines], free


@dataclass
class Event:
    """A function of tacit that was called, or that returned, with its arguments or its result."""

    name: str
    returned: bool
    values: object


def visited(ask) -> list[Event]:
    """Every call of a function of tacit, and every return, while a question is asked."""
    events: list[Event] = []

    def profile(frame, event, value):
        module = frame.f_globals.get("__name__", "")
        if event in ("call", "return") and module.startswith("tacit."):
            name = f"{module.removeprefix('tacit.').replace('.', '/')}.{frame.f_code.co_qualname}"
            events.append(Event(name, event == "return", value if event == "return" else dict(frame.f_locals)))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        ask()
    finally:
        sys.setprofile(before)
    return events


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """A question that is asked for the first time, and the same question asked of another curator on the ledger."""
    place, table = tmp_path_factory.mktemp("way") / "people.ledger", tacit.Table(ROWS, schema=SCHEMA)
    with tacit.Curator(table, ledger=place, budget=tacit.Budget(epsilon=1, delta="1e-9")) as curator:
        first = visited(lambda: curator.ask(QUESTION, share="0.1"))
    with tacit.Curator(table, ledger=place) as curator:
        again = visited(lambda: curator.ask(QUESTION, share="0.1"))
    return first, again


def calls(events: list[Event]) -> list[str]:
    """The names of all functions, in the order of their first calls."""
    return list(dict.fromkeys(event.name for event in events if not event.returned))


def test_a_question_takes_the_way_that_is_drawn(traces):
    drawn, _ = way()
    assert len(drawn) == len(set(drawn)) > 12
    assert [name for name in calls(traces[0]) if name in drawn] == drawn


def test_a_question_that_was_bought_takes_the_free_part(traces):
    drawn, free = way()
    seen = calls(traces[1])
    assert [name for name in seen if name in drawn] == free
    assert not any(re.match(r"engines/|query/plan/draw\.|core/(samplers|alias_table)\.", name) for name in seen)


def test_no_engine_answers_before_the_charge_and_nothing_is_handed_out_before_it_is_stored(traces):
    events = traces[0]
    at = {(event.name, event.returned): i for i, event in reversed([*enumerate(events)])}
    charged = at["ledger/ledger.Ledger.charge", True]
    answers = [i for i, e in enumerate(events) if re.match(r"engines/.*\._?answer$", e.name) and not e.returned]
    draws = [i for i, e in enumerate(events) if re.match(r"query/plan/draw\.|core/samplers\.", e.name)]
    assert charged < min(answers) <= max(answers) < min(draws)
    stored, handed = at["ledger/ledger.Ledger.store", True], at["curator/ask.Asked.release", False]
    assert max(draws) < at["ledger/ledger.Ledger.store", False] < stored < handed
    assert events[handed].values["stored"] == events[stored].values
    assert not any(event.name.startswith("engines/") for event in events[stored:])


def test_exact_integers_are_in_no_event_after_the_draw(traces):
    """What the engine answered is an argument of the draw, and of nothing that is called after it."""
    events = traces[0]
    end = next(i for i, e in enumerate(events) if e.name == "query/plan/draw.draw" and e.returned)
    (exact,) = (e.values for e in events[:end] if e.name == "engines/base.Engine.answer" and e.returned)
    later = [value for e in events[end + 1 :] if not e.returned for value in e.values.values()]
    assert later and not any(value is exact or value is cells for value in later for cells in exact.cells)


# The rooms


def rooms() -> list[str]:
    return [line.split()[0] for line in drawing("rooms")]


def test_every_room_is_listed_and_none_besides():
    listed = rooms()
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")} - {"."}
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert sorted(listed) == sorted(folders | files)
    for line in drawing("rooms"):
        name, indent = line.split()[0], len(line) - len(line.lstrip())
        assert indent == 4 * name.count("/"), "a room stands below the room that it is part of"
        assert len(line.split()) > 2 or name == "plots", "a line says what the room is for"


def test_rooms_stand_inside_their_rooms():
    listed = rooms()
    for i, name in enumerate(listed):
        if "/" in name:
            top = name.rpartition("/")[0]
            between = listed[listed.index(top) + 1 : i]
            assert all(each.startswith(f"{top}/") for each in between)


def contracts(folder: Path) -> Iterator[tuple[str, dict[str, int], set[str]]]:
    """Of each contract of layers: its container as a path in the package, the height of each part, and exceptions."""
    linter = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    for contract in linter["contracts"]:
        if contract["type"] == "layers":
            heights = {
                name.strip().strip("()"): i
                for i, layer in enumerate(contract["layers"])
                for name in re.split(r"[|:]", layer)
            }
            for container in contract["containers"]:
                path = container.replace(".", "/").removeprefix("tacit").strip("/")
                yield path, heights, set(contract.get("exhaustive_ignores", ()))


def without_layer(folder: Path) -> set[str]:
    """Files and folders that have no place among the layers of the folder that they are in."""
    return {
        path.relative_to(folder / "src" / "tacit").as_posix()
        for container, heights, exceptions in contracts(folder)
        for path in (folder / "src" / "tacit" / container).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
        if path.stem not in {*heights, *exceptions, "__init__"}
    }


def test_rooms_stand_in_the_order_of_the_layers():
    assert without_layer(ROOT) == set()
    known = {container: heights for container, heights, _ in contracts(ROOT)}
    assert {"", "core", "query", "engines", "mechanisms"} <= set(known)
    for container, heights in known.items():
        inside = [name.rpartition("/")[2] for name in rooms() if name.rpartition("/")[0] == container]
        in_order = sorted(inside, key=heights.__getitem__)
        assert inside == in_order, f"the rooms in {container or 'tacit'} are not in the order of their layers"
    assert set(known[""]) == {name for name in rooms() if "/" not in name}


# How to add


def recipes() -> dict[str, list[Block]]:
    parts = PAGE.partition("## How to add\n")[2].split("\n### ")[1:]
    return {part.splitlines()[0]: blocks(part) for part in parts}


def applied(block: Block, folder: Path) -> None:
    """Write a new file, or change the one place that a block names."""
    options = block.options
    if "file" in options:
        path = folder / options["file"]
        assert not path.exists(), path
        path.parent.mkdir(exist_ok=True)
        path.write_text(block.text)
        return
    path = folder / options.get("in", options.get("append", ""))
    text = path.read_text("utf-8")
    if "append" in options:
        text += block.text
    elif "replace" in options:
        assert text.count(options["replace"]) == 1, options
        text = text.replace(options["replace"], block.text.removesuffix("\n"))
    else:
        lines = text.splitlines(keepends=True)
        (place,) = (i for i, line in enumerate(lines) if line.startswith(options["after"]))
        text = "".join([*lines[: place + 1], block.text, *lines[place + 1 :]])
    path.write_text(text)


def copied(folder: Path) -> None:
    """What the suites read of the repository; compiled files stay valid, as times are copied too."""
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))  # being written
    shutil.copy2(ROOT / "pyproject.toml", folder)


def run(block: Block, folder: Path) -> subprocess.CompletedProcess[str]:
    (command,) = block.text.splitlines()
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_there_are_six_recipes():
    assert list(recipes()) == [
        "A mechanism",
        "A method for linear queries",
        "An SQL function",
        "An engine",
        "A ledger store",
        "An attack",
    ]


@pytest.mark.parametrize("name", recipes())
def test_a_recipe_works_as_it_stands(name, tmp_path):
    *steps, check = recipes()[name]
    assert check.language == "sh" and len(steps) > 1
    copied(tmp_path)
    for step in steps:
        applied(step, tmp_path)
    assert without_layer(tmp_path) == set()
    done = run(check, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"{check.options['finds']}.* PASSED", done.stdout), done.stdout
