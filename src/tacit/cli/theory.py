"""Mechanisms and losses on the command line: `tacit theory`, `tacit compose`, `tacit tour`."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .. import mechanisms
from ..core.accounting.accountants import failures
from ..core.accounting.loss import Loss
from ..core.errors import BadParameter
from ..core.exact import from_above, up
from ..core.mechanism import Mechanism
from ..core.parameters import probability, rational, whole
from ..mechanisms.additive._additive import Additive
from ..mix import USAGE, mix
from . import _notes, _theorems
from ._say import console, in_words
from ._words import meant, nearest, plain

if TYPE_CHECKING:
    from ..workloads import Method

LISTS = ("quantiles", "prices")
KINDS = {kind.__name__.lower(): kind for kind in mechanisms.ALL}


def tour() -> None:
    """Mechanisms at work: prices, error bounds, and releases beside the truth."""
    from ..tour import parts

    with in_words():
        for part in parts():
            console.print(part, no_wrap=isinstance(part, Text), overflow="ellipsis", crop=False)


def theory(
    mechanism: Annotated[
        str,
        typer.Argument(
            help="A mechanism, a method for linear queries, a list of theorems, or a lecture's words (svt, advanced"
            " composition, ...); `notes` for the lectures' index; without one, all of them."
        ),
    ] = "",
    parameters: Annotated[
        list[str] | None, typer.Argument(help="Further words of the name, or parameters: epsilon=0.1 sensitivity=1 ...")
    ] = None,
    beta: Annotated[str, typer.Option(help="Probability with which the error bound may fail.")] = "0.05",
    relative_error: Annotated[str, typer.Option(help="Wanted error as a share of n, for the sample size.")] = "0.01",
    delta: Annotated[str, typer.Option(help="At which delta to state the price besides delta = 0.")] = "1e-6",
) -> None:
    """A mechanism's definition, its price, its error bound, and the sample size for a wanted accuracy."""
    with in_words():
        if not mechanism:
            for table in (_list(), _methods(), _theorems.listed()):
                console.print(table)
            return
        name, parameters = _named(mechanism, parameters or [])
        first, *rest = name.lower().split() or [""]
        if first == "notes":
            _notes.show(rest, parameters)
            return
        name = name if known(name) else meant(name)
        if (module := _theorems.module(name)) is not None:
            if parameters:
                raise BadParameter("parameters", parameters, "left out: these are functions, of which each has its own")
            _say(module)
            console.print(_theorems.functions(module))
            _notes.mentions(name)
            return
        if (method := _method(name)) is not None:
            if parameters:
                raise BadParameter(
                    "parameters", parameters, "left out: `tacit plan` and `tacit compare` tell its error"
                )
            _say(sys.modules[type(method).__module__])
            _notes.mentions(type(method).__module__.removeprefix("tacit."))
            return
        if plain(name) not in KINDS:
            raise _unknown(name)
        kind = kind_named(name)
        several = "; size=... for the error of several answers at once" if issubclass(kind, Additive) else ""
        told = f"With parameters ({escape(', '.join(_parameters(kind)))}) its price and its error follow{several}."
        figures = _figures(*_make(kind, parameters), beta, relative_error, delta) if parameters else told
        _say(sys.modules[kind.__module__])
        console.print(figures)
        _notes.mentions(kind.__name__)


def _named(first: str, rest: list[str]) -> tuple[str, list[str]]:
    """A name of one word or several, and the parameters after it."""
    words = list(takewhile(lambda word: "=" not in word, rest))
    return " ".join([first, *words]), rest[len(words) :]


def known(name: str) -> bool:
    """Whether it is the name of a list of theorems, a mechanism or a method."""
    return name in _theorems.names() or plain(name) in KINDS or _method(name) is not None


def _unknown(name: str) -> BadParameter:
    from ..workloads import METHODS

    names = [*(kind.__name__ for kind in mechanisms.ALL), *(m.name for m in METHODS), *_theorems.names(), "notes"]
    near = nearest(name, names)
    offer = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    says = f"mechanism must be a name that `tacit theory` lists, or a lecture's words; got {name[:80]!r}.{offer}"
    return BadParameter("mechanism", name, "a name that `tacit theory` lists", says=says)


def _say(module: ModuleType) -> None:
    """The theorems of the file that has a mechanism or a method, or theorems alone."""
    for heading, text in _sections(module):
        console.print(f"[bold]{heading}[/bold]  {escape(text)}\n")


def compose(
    text: Annotated[str, typer.Argument(metavar="MIX", help=escape(f"COUNT x NAME KEY=NUMBER, ...; names: {USAGE}."))],
    delta: Annotated[str, typer.Option(help="At which delta to state the price.")] = "1e-6",
    plot: Annotated[Path | None, typer.Option(help="Draw epsilon against repetitions: a .png, .svg or .html.")] = None,
) -> None:
    """What a mix costs, by every accountant: tacit compose "100 x laplace eps=0.1, 5 x gaussian rho=0.01"."""
    with in_words():
        loss = mix(text)
        console.print(Text(loss.explain(delta)), soft_wrap=True)
        console.print(_prices(loss, delta))
        if plot is not None:
            from .. import plots

            console.print(f"drawn: {escape(str(plots.save(plots.composition(text, delta), plot)))}")


def _prices(loss: Loss, delta: str) -> Table:
    table = Table("at delta", "epsilon", "for a group of 2")
    shown = {rational("delta", at): at for at in ("0", "1e-12", "1e-9", "1e-6", "1e-3", delta)}
    for _, at in sorted(shown.items()):
        table.add_row(at, from_above(loss.epsilon(at)), from_above(loss.group(2).epsilon(at)))
    return table


def _list() -> Table:
    table = Table("mechanism", "what it does", "parameters", title="tacit theory MECHANISM NAME=VALUE ...")
    for kind in mechanisms.ALL:
        table.add_row(kind.__name__, escape(inspect.getdoc(kind) or ""), escape(", ".join(_parameters(kind))))
    return table


def _methods() -> Table:
    from ..workloads import METHODS

    table = Table("method", "how it answers linear queries", title="tacit theory METHOD")
    for method in METHODS:
        table.add_row(method.name, escape(inspect.getdoc(type(method)) or ""))
    return table


def _method(name: str) -> Method | None:
    """The method of this name, or of that of its class, if it is none of a mechanism."""
    from ..workloads import METHODS

    if plain(name) in KINDS:
        return None
    return next((m for m in METHODS if plain(name) in (plain(m.name), plain(type(m).__name__))), None)


def _parameters(kind: type[Mechanism[Any, Any]]) -> list[str]:
    return [
        name if p.default in (p.empty, None) else f"{name}={p.default}"
        for name, p in inspect.signature(kind).parameters.items()
    ]


def kind_named(name: str) -> type[Mechanism[Any, Any]]:
    """The mechanism of a name, however it is written."""
    kind = KINDS.get(plain(name))
    if kind is None:
        raise BadParameter("mechanism", name, "one of those that `tacit theory` lists")
    return kind


def _make(kind: type[Mechanism[Any, Any]], parameters: list[str]) -> tuple[Mechanism[Any, Any], dict[str, Any]]:
    """Build a mechanism from NAME=VALUE texts, which are read exactly; and what its error must be told."""
    given: dict[str, Any] = {}
    for text in parameters:
        name, _, value = text.partition("=")
        if name not in inspect.signature(kind).parameters and not (name == "size" and issubclass(kind, Additive)):
            raise BadParameter("parameter", text, f"one of {', '.join(_parameters(kind))}, as NAME=VALUE")
        if name in given:
            raise BadParameter("parameter", text, "given once")
        given[name] = tuple(map(_value, value.split(","))) if name in LISTS else _value(value)
    asked = inspect.signature(kind).parameters
    if missing := [name for name, p in asked.items() if p.default is p.empty and name not in given]:
        raise BadParameter("parameters", " ".join(parameters), f"given with {', '.join(missing)} too, as NAME=VALUE")
    size = {"size": whole("size", given.pop("size"))} if "size" in given else {}
    try:
        return kind(**given), size
    except TypeError:
        raise BadParameter("parameters", " ".join(parameters), f"of the kinds that {kind.__name__} takes") from None


def _value(text: str) -> Any:
    """Whole numbers, yes and no; anything else is text."""
    words = {"true": True, "yes": True, "false": False, "no": False}
    return int(text) if text.removeprefix("-").isdecimal() else words.get(text.lower(), text)


def _sections(module: ModuleType) -> list[tuple[str, str]]:
    """The sections of a file, each indented line a paragraph of its own."""
    sections = []
    for paragraph in (inspect.getdoc(module) or "").split("\n\n"):
        flowing = re.sub(r"(?<!:)\n(?! )", " ", paragraph)
        heading, dot, text = flowing.partition(".  ")
        sections.append((heading, text) if dot and " " not in heading else ("", flowing))
    return sections


def _figures(made: Any, size: Mapping[str, int], beta: str, relative_error: str, delta: str) -> Table:
    loss = made.loss()
    pure, rho = loss.epsilon(), sum(n * atom.concentrated() for atom, n in loss.terms.items())
    failing = failures(loss)
    rest = f" at delta = {from_above(up(failing))}: approximate zCDP" if failing else ""
    table = Table("", "", show_header=False, title=escape(repr(made)))
    table.add_row("price", f"epsilon = {from_above(pure)}" if math.isfinite(pure) else "no epsilon alone bounds it")
    table.add_row("", f"epsilon = {from_above(loss.epsilon(delta))} at delta = {delta}")
    table.add_row("", f"rho = {from_above(rho)}{rest}" if math.isfinite(rho) else "no rho bounds it at all orders")
    table.add_row("for a group of 3", f"epsilon = {from_above(loss.group(3).epsilon(delta))} at delta = {delta}")
    for row in _accuracy(made, size, beta, relative_error):
        table.add_row(*row)
    return table


def _accuracy(made: Any, size: Mapping[str, int], beta: str, relative_error: str) -> Iterator[tuple[str, str]]:
    what = "error of a frequency, one report" if hasattr(made, "frequencies") else "error"
    try:
        sure = float(1 - probability("beta", beta))
        yield what, f"at most {from_above(made.error(beta=beta, **size))} with probability {sure:g}"
        if hasattr(made, "classical_error"):
            yield "", f"{from_above(made.classical_error(beta=beta, **size))} by the classical bound"
        yield (
            "sample size",
            f"n = {made.sample_size(relative_error, beta, **size):,} for an error of {relative_error} n",
        )
    except BadParameter as error:
        needed = f"depends on {error.name}: add {error.name}=..."
        yield what, needed if error.given == "None" else escape(str(error))
