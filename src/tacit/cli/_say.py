"""How the command line speaks: plain tables on the output, one clear paragraph on errors."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from ..core.errors import Refused

console = Console(highlight=False)


def fail(error: Exception, code: int = 2) -> NoReturn:
    """Say what went wrong, and leave."""
    Console(stderr=True, highlight=False).print(f"[red]{escape(str(error))}[/red]")
    raise typer.Exit(code)


def refuse(error: Exception) -> NoReturn:
    """Say no, with exit code 3 where the question was understood and the answer is no, else 2."""
    fail(error, 3 if isinstance(error, Refused) else 2)
