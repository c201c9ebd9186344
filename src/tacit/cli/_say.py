"""How the command line speaks: plain tables on the output, one clear paragraph on errors."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console
from rich.markup import escape

console = Console(highlight=False)


def fail(error: Exception, code: int = 2) -> NoReturn:
    """Say what went wrong, and leave."""
    Console(stderr=True, highlight=False).print(f"[red]{escape(str(error))}[/red]")
    raise typer.Exit(code)
