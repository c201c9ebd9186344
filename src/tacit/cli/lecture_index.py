"""`tacit theory notes`: the lectures item by item, and their slips."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.markup import escape

from ..core.errors import BadParameter
from .output import console


def print_lectures(chosen: list[str], parameters: list[str]) -> None:
    """Print the items of the chosen lectures, or of all lectures and their slips if none is chosen."""
    from ..theory import notes

    keys = [*(lecture.key for lecture in notes.LECTURES), "slips"]
    if parameters or any(key not in keys for key in chosen):
        raise BadParameter("notes", " ".join([*chosen, *parameters]), f"one of {', '.join(keys)}, or nothing for all")
    for key in keys:
        if key in (chosen or keys):
            _print(_slips() if key == "slips" else _items(key))


def print_mentions(name: str) -> None:
    """Print which items of the lectures this mechanism, method or module realises, if any."""
    from ..theory import notes

    mentions = [
        f"{lecture.key}, {item.number}: {item.title}"
        for lecture in notes.LECTURES
        for item in lecture.items
        if any(_home(function) == name or function.startswith(f"{name}.") for function in item.functions)
    ]
    if mentions:
        _print(["[bold]In the lectures[/bold]  (tacit theory notes)", *(f"  {escape(line)}" for line in mentions)])


def _home(function: str) -> str:
    """The module of a theorem of composition, which the index names by its package; any other name unchanged."""
    from .. import composition

    package, _, name = function.partition(".")
    return getattr(composition, name).__module__.removeprefix("tacit.") if package == "composition" else function


def _items(key: str) -> Iterator[str]:
    from ..theory import notes

    (lecture,) = (lecture for lecture in notes.LECTURES if lecture.key == key)
    yield f"[bold]{escape(lecture.name)}[/bold]  ({key}; neighbours: {escape(lecture.neighbours)})\n"
    for item in lecture.items:
        yield f"[bold]{escape(item.number)}[/bold]  {escape(item.title)}"
        yield f"    {escape(', '.join((*item.functions, *item.plots)))}"
        yield from (f"    [dim]tests/{escape(test)}[/dim]" for test in item.tests)
    yield ""


def _slips() -> Iterator[str]:
    from ..theory import notes

    yield "[bold]Slips of the lectures[/bold]\n"
    for slip in notes.SLIPS:
        yield f"[bold]{slip.number}  {escape(slip.where)}[/bold]"
        yield f"    printed: {escape(slip.printed)}"
        yield f"    instead: {escape(slip.instead)}"
        yield f"    {escape(', '.join(slip.functions))}"
        yield from (f"    [dim]tests/{escape(test)}[/dim]" for test in slip.tests)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)
