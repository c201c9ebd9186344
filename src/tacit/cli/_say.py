"""How the command line speaks: plain tables on the output, one clear paragraph on errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..core.errors import Refused, TacitError
from ..core.progress import watched
from ..core.safe_text import json_text, lines

if TYPE_CHECKING:
    from rich.progress import TaskID


class SafeConsole(Console):
    """A console on which no text acts: names and questions are shown, whatever characters they hold.

    Texts are made safe before they are measured, and whatever is about to be written is made safe once more.
    """

    def render_str(self, text: str, **style: Any) -> Text:
        return super().render_str(lines(text), **style)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)


console = SafeConsole(highlight=False, emoji=False)
aside = SafeConsole(stderr=True, highlight=False, emoji=False)  # for what is not part of an answer written to a file


def say_json(facts: Any) -> None:
    """Facts as JSON; in colours, which take a tenth of a second for a large release, only where somebody looks."""
    text = json_text(json.dumps(facts, indent=2, ensure_ascii=False))
    console.print_json(text) if console.is_terminal else sys.stdout.write(f"{text}\n")


def say_surcharge(surcharge: str) -> None:
    """Say, before it is bought, that a purchase takes more of the budget than the number that was typed."""
    if surcharge:
        aside.print(f"Unless it was bought before, {surcharge}.", markup=False, soft_wrap=True)


@contextmanager
def watching() -> Iterator[None]:
    """Show how far long work has come, where somebody looks."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=aside, transient=True, disable=not aside.is_terminal) as bars:
        known: dict[str, TaskID] = {}

        def watch(what: str, share: float) -> None:
            if what not in known:
                known[what] = bars.add_task(what, total=1.0)
            bars.update(known[what], completed=share)

        with watched(watch):
            yield


def fail(error: Exception, code: int = 2) -> NoReturn:
    """Say what went wrong, and leave."""
    aside.print(Text(lines(str(error)), style="red"))
    raise typer.Exit(code)


@contextmanager
def in_words(buys: bool = False) -> Iterator[None]:
    """Whatever ends a command is said: a refusal, a file that is not there, or a key that was pressed.

    The exit code is 3 where the question was understood and the answer is no, 130 after a key, and else 2.
    """
    try:
        yield
    except (TacitError, OSError) as problem:
        fail(problem, 3 if isinstance(problem, Refused) else 2)
    except KeyboardInterrupt:
        kept = "; what was charged stays charged, and asking again completes it"
        fail(Exception(f"interrupted{kept if buys else ''}"), 130)
