"""`tacit theory notes`: the lectures item by item, and their slips."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.markup import escape

from ..core.errors import BadParameter
from ._say import console


def show(lecture: list[str], parameters: list[str]) -> None:
    """All lectures and the slips, or one of them."""
    from ..theory import notes

    keys = [*(one.key for one in notes.LECTURES), "slips"]
    chosen = lecture or keys
    if parameters or any(key not in keys for key in chosen):
        raise BadParameter("notes", " ".join([*lecture, *parameters]), f"one of {', '.join(keys)}, or nothing for all")
    for key in keys:
        if key in chosen:
            _print(_slips() if key == "slips" else _items(key))


def mentions(name: str) -> None:
    """Which items of the lectures are realised by this mechanism, method or module, if any."""
    from ..theory import notes

    found = [
        f"{lecture.key}, {item.number}: {item.title}"
        for lecture in notes.LECTURES
        for item in lecture.items
        if any(_home(function) == name or function.startswith(f"{name}.") for function in item.functions)
    ]
    if found:
        _print(["[bold]In the lectures[/bold]  (tacit theory notes)", *(f"  {escape(line)}" for line in found)])


def _home(function: str) -> str:
    """The module of a theorem of composition, which the index names by its package; any other name is itself."""
    from .. import composition

    package, _, name = function.partition(".")
    return getattr(composition, name).__module__.removeprefix("tacit.") if package == "composition" else function


def _items(key: str) -> Iterator[str]:
    from ..theory import notes

    (lecture,) = (one for one in notes.LECTURES if one.key == key)
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
