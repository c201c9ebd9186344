"""What every command prints with: consoles on which no text acts, JSON, tables, progress and one-paragraph errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..core.errors import Refused, TacitError
from ..core.progress import watched
from ..core.safe_text import json_text, lines

if TYPE_CHECKING:
    from altair import TopLevelMixin
    from rich.progress import TaskID


Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Plot = Annotated[Path | None, typer.Option(help="Draw a plot: a .png, .svg or .html file.")]


class SafeConsole(Console):
    """A console that shows control characters, bidirectional overrides and the like instead of obeying them.

    Texts are made safe before they are measured, and everything that is about to be written is made safe once more.
    """

    def render_str(self, text: str, **style: Any) -> Text:
        return super().render_str(lines(text), **style)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)


console = SafeConsole(highlight=False, emoji=False)
error_console = SafeConsole(stderr=True, highlight=False, emoji=False)  # keeps remarks out of answers sent to a file


def print_json(facts: Any) -> None:
    """Print JSON: in colour only in a terminal, since colouring a large release takes a tenth of a second."""
    text = json_text(json.dumps(facts, indent=2, ensure_ascii=False))
    console.print_json(text) if console.is_terminal else sys.stdout.write(f"{text}\n")


def print_surcharge(surcharge: str) -> None:
    """Warn, before the purchase, that it takes more of the budget than the number that was typed."""
    if surcharge:
        error_console.print(f"Unless it was bought before, {surcharge}.", markup=False, soft_wrap=True)


def save_plot(chart: TopLevelMixin, path: Path, printer: Console = console) -> None:
    """Write a plot to a file, and print where it is."""
    from .. import plots

    printer.print(f"Plot: {escape(str(plots.save(chart, path)))}")


def record_table(rows: list[dict[str, Any]]) -> Table:
    """Records with the same keys as a table; a value that is unknown is a dash."""
    table = Table(*rows[0])
    for row in rows:
        cells = ("-" if v is None else f"{v:.4g}" if isinstance(v, float) else escape(str(v)) for v in row.values())
        table.add_row(*cells)
    return table


@contextmanager
def progress_bars() -> Iterator[None]:
    """Show the progress of long work, if standard error is a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    terminal = error_console.is_terminal
    with Progress(*columns, console=error_console, transient=True, disable=not terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def update(task: str, share: float) -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(task, total=1.0)
            bars.update(tasks[task], completed=share)

        with watched(update):
            yield


def fail(error: Exception, code: int = 2) -> NoReturn:
    """Print an error's message, and exit with a code."""
    error_console.print(Text(lines(str(error)), style="red"))
    raise typer.Exit(code)


@contextmanager
def reporting_errors(buys: bool = False) -> Iterator[None]:
    """Turn whatever ends a command early into a message and an exit code, without a traceback.

    The code is 3 where the question was understood and the answer is no, 130 after an interrupt, and 2 otherwise.
    """
    try:
        yield
    except (TacitError, OSError) as problem:
        fail(problem, 3 if isinstance(problem, Refused) else 2)
    except KeyboardInterrupt:
        charged = " What was charged stays charged; ask again to complete it."
        fail(Exception(f"Interrupted.{charged if buys else ''}"), 130)
