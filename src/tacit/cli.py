"""The command line: thin.  Everything it does, the library does in one call."""

from __future__ import annotations

import inspect
import math
import re
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from . import demo as worked
from . import mechanisms
from .core.errors import BadParameter, TacitError
from .core.exact import rational
from .core.mechanism import Mechanism

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
console = Console(highlight=False)
KINDS = {kind.__name__.lower(): kind for kind in mechanisms.ALL}


@app.callback()
def about() -> None:
    """Differential privacy, exactly: what a question costs, how accurate its answer is, and the answer."""


@app.command()
def demo() -> None:
    """Mechanisms at work: prices, error bounds, and releases beside the truth."""
    for part in worked.parts():
        console.print(part)


@app.command()
def theory(
    mechanism: Annotated[str, typer.Argument(help="A mechanism's name; without one, the list of them.")] = "",
    parameters: Annotated[
        list[str] | None, typer.Argument(help="Its parameters: epsilon=0.1 sensitivity=1 ...")
    ] = None,
    beta: Annotated[str, typer.Option(help="Probability with which the error bound may fail.")] = "0.05",
    relative_error: Annotated[str, typer.Option(help="Wanted error as a share of n, for the sample size.")] = "0.01",
    delta: Annotated[str, typer.Option(help="At which delta to state the price besides delta = 0.")] = "1e-6",
) -> None:
    """A mechanism's definition, its price, its error bound, and the sample size for a wanted accuracy."""
    try:
        if not mechanism:
            console.print(_list())
            return
        made = _make(mechanism, parameters or [])
        for heading, text in _theorems(made):
            console.print(f"[bold]{heading}[/bold]  {escape(text)}\n")
        console.print(_figures(made, beta, relative_error, delta))
    except TacitError as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(2) from None


def _list() -> Table:
    table = Table("mechanism", "what it does", "parameters", title="tacit theory MECHANISM NAME=VALUE ...")
    for kind in mechanisms.ALL:
        table.add_row(kind.__name__, escape(inspect.getdoc(kind) or ""), escape(", ".join(_parameters(kind))))
    return table


def _parameters(kind: type[Mechanism[Any, Any]]) -> list[str]:
    return [
        name if p.default in (p.empty, None) else f"{name}={p.default}"
        for name, p in inspect.signature(kind).parameters.items()
    ]


def _make(name: str, parameters: list[str]) -> Mechanism[Any, Any]:
    """Build a mechanism from NAME=VALUE texts; numbers stay text, to be read exactly."""
    kind = KINDS.get(name.lower().replace("-", "").replace("_", ""))
    if kind is None:
        raise BadParameter("mechanism", name, f"one of {', '.join(k.__name__ for k in mechanisms.ALL)}")
    given = dict(text.partition("=")[::2] for text in parameters)
    unknown = given.keys() - inspect.signature(kind).parameters.keys()
    if unknown:
        raise BadParameter("parameter", sorted(unknown)[0], f"one of {', '.join(_parameters(kind))}")
    try:
        return kind(**{name: _value(text) for name, text in given.items()})
    except TypeError as error:
        raise BadParameter("parameters", parameters, f"complete: {error}") from None


def _value(text: str) -> Any:
    """Whole numbers, yes and no, comma-separated lists; anything else is text."""
    if "," in text:
        return tuple(map(_value, text.split(",")))
    words = {"true": True, "false": False}
    return int(text) if text.removeprefix("-").isdecimal() else words.get(text.lower(), text)


def _theorems(made: Mechanism[Any, Any]) -> list[tuple[str, str]]:
    """The sections of the file that defines it, each indented line a paragraph of its own."""
    sections = []
    for paragraph in (inspect.getdoc(sys.modules[type(made).__module__]) or "").split("\n\n"):
        flowing = re.sub(r"\n(?! )", " ", paragraph)
        heading, dot, text = flowing.partition(".  ")
        sections.append((heading, text) if dot and " " not in heading else ("", flowing))
    return sections


def _figures(made: Mechanism[Any, Any], beta: str, relative_error: str, delta: str) -> Table:
    loss = made.loss()
    table = Table("", "", show_header=False, title=escape(repr(made)))
    pure, rho = loss.epsilon(), sum(n * atom.concentrated() for atom, n in loss.terms.items())
    table.add_row("price", f"epsilon = {pure:.6g}" if math.isfinite(pure) else "no epsilon alone bounds it")
    table.add_row("", f"epsilon = {loss.epsilon(delta):.6g} at delta = {delta}")
    table.add_row("", f"rho = {rho:.6g}" if math.isfinite(rho) else "no rho bounds it at all orders")
    table.add_row("for a group of 3", f"epsilon = {loss.group(3).epsilon(delta):.6g} at delta = {delta}")
    table.add_row(
        "error", f"at most {made.error(beta=beta):.6g} with probability {float(1 - rational('beta', beta)):g}"
    )
    classical = getattr(made, "classical_error", None)
    if classical is not None:
        table.add_row("", f"{classical(beta=beta):.6g} by the classical bound")
    n = made.sample_size(relative_error, beta)
    table.add_row("sample size", f"n = {n:,} for an error of {relative_error} n")
    return table
