"""`tacit theory`: a mechanism, a method or a list of theorems by its name, with figures for given parameters."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from .. import mechanisms
from ..core.accounting.accountants import failures
from ..core.errors import BadParameter
from ..core.exact import from_above, up
from ..core.mechanism import Mechanism
from ..core.parameters import probability, whole
from ..mechanisms.additive._additive import Additive
from .lecture_index import print_lectures, print_mentions
from .lecture_terms import name_of_term, nearest, simplified
from .output import console, reporting_errors
from .theorem_index import function_table, module_named, module_names, module_table

if TYPE_CHECKING:
    from ..workloads import Method

LIST_PARAMETERS = ("quantiles", "prices")
_NO_PARAMETERS = "Leave the parameters out: {}."
MECHANISMS = {kind.__name__.lower(): kind for kind in mechanisms.ALL}


def theory(
    mechanism: Annotated[
        str,
        typer.Argument(
            help="A mechanism, a method for linear queries, a list of theorems, or a lecture's term (svt, advanced"
            " composition, ...); `notes` for the index of the lectures. Leave it out to list all."
        ),
    ] = "",
    parameters: Annotated[
        list[str] | None, typer.Argument(help="Further words of the name, or parameters: epsilon=0.1 sensitivity=1 ...")
    ] = None,
    beta: Annotated[str, typer.Option(help="Probability with which the error bound may fail.")] = "0.05",
    relative_error: Annotated[
        str, typer.Option(help="The error wanted as a share of n, for the sample size.")
    ] = "0.01",
    delta: Annotated[str, typer.Option(help="The delta at which to state the price, besides delta = 0.")] = "1e-6",
) -> None:
    """A mechanism's definition, its price, its error bound, and the sample size for a wanted accuracy."""
    with reporting_errors():
        if not mechanism:
            for table in (_mechanism_table(), _method_table(), module_table()):
                console.print(table)
            return
        name, parameters = _name_and_parameters(mechanism, parameters or [])
        first, *rest = name.lower().split() or [""]
        if first == "notes":
            print_lectures(rest, parameters)
            return
        name = name if is_listed(name) else name_of_term(name)
        if (module := module_named(name)) is not None:
            if parameters:
                says = _NO_PARAMETERS.format("these are functions, each with parameters of its own")
                raise BadParameter("parameters", parameters, "left out", says=says)
            _print_docstring(module)
            console.print(function_table(module))
            print_mentions(name)
            return
        if (method := _method(name)) is not None:
            if parameters:
                says = _NO_PARAMETERS.format("`tacit plan` and `tacit compare` show the error of a method")
                raise BadParameter("parameters", parameters, "left out", says=says)
            _print_docstring(sys.modules[type(method).__module__])
            print_mentions(type(method).__module__.removeprefix("tacit."))
            return
        if simplified(name) not in MECHANISMS:
            raise _unknown(name)
        kind = mechanism_named(name)
        several = "; size=... for the error of several answers at once" if issubclass(kind, Additive) else ""
        hint = f"Add parameters ({escape(', '.join(_parameters(kind)))}) to see its price and its error{several}."
        figures = _figures(*_make(kind, parameters), beta, relative_error, delta) if parameters else hint
        _print_docstring(sys.modules[kind.__module__])
        console.print(figures)
        print_mentions(kind.__name__)


def _name_and_parameters(first: str, rest: list[str]) -> tuple[str, list[str]]:
    """A name of one word or several, and the parameters after it."""
    words = list(takewhile(lambda word: "=" not in word, rest))
    return " ".join([first, *words]), rest[len(words) :]


def is_listed(name: str) -> bool:
    """Whether this is the name of a list of theorems, a mechanism or a method."""
    return name in module_names() or simplified(name) in MECHANISMS or _method(name) is not None


def _unknown(name: str) -> BadParameter:
    """The error for a name that is not listed, with the nearest names."""
    from ..workloads import METHODS

    names = [*(kind.__name__ for kind in mechanisms.ALL), *(m.name for m in METHODS), *module_names(), "notes"]
    near = nearest(name, names)
    suggestion = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    says = f"{name[:80]!r} is not a name that `tacit theory` lists, nor a term of the lectures.{suggestion}"
    return BadParameter("mechanism", name, "a name that `tacit theory` lists", says=says)


def _print_docstring(module: ModuleType) -> None:
    """Print the theorems that stand in the docstring of a module."""
    for heading, text in _sections(module):
        console.print(f"[bold]{heading}[/bold]  {escape(text)}\n")


def _mechanism_table() -> Table:
    table = Table("mechanism", "what it does", "parameters", title="tacit theory MECHANISM NAME=VALUE ...")
    for kind in mechanisms.ALL:
        table.add_row(kind.__name__, escape(inspect.getdoc(kind) or ""), escape(", ".join(_parameters(kind))))
    return table


def _method_table() -> Table:
    from ..workloads import METHODS

    table = Table("method", "how it answers linear queries", title="tacit theory METHOD")
    for method in METHODS:
        table.add_row(method.name, escape(inspect.getdoc(type(method)) or ""))
    return table


def _method(name: str) -> Method | None:
    """The method of this name or class name, or None; a mechanism of that name comes first."""
    from ..workloads import METHODS

    if simplified(name) in MECHANISMS:
        return None
    return next((m for m in METHODS if simplified(name) in (simplified(m.name), simplified(type(m).__name__))), None)


def _parameters(kind: type[Mechanism[Any, Any]]) -> list[str]:
    return [
        name if p.default in (p.empty, None) else f"{name}={p.default}"
        for name, p in inspect.signature(kind).parameters.items()
    ]


def mechanism_named(name: str) -> type[Mechanism[Any, Any]]:
    """The class of a mechanism by its name, in any case and with or without spaces, hyphens and underscores."""
    kind = MECHANISMS.get(simplified(name))
    if kind is None:
        says = f"There is no mechanism {name[:80]!r}. `tacit theory` lists all of them."
        raise BadParameter("mechanism", name, "one that `tacit theory` lists", says=says)
    return kind


def _make(kind: type[Mechanism[Any, Any]], parameters: list[str]) -> tuple[Mechanism[Any, Any], dict[str, Any]]:
    """A mechanism from NAME=VALUE texts, which are read exactly, and the arguments that its error needs."""
    values: dict[str, Any] = {}
    for text in parameters:
        name, _, value = text.partition("=")
        if name not in inspect.signature(kind).parameters and not (name == "size" and issubclass(kind, Additive)):
            raise BadParameter("parameter", text, f"one of {', '.join(_parameters(kind))}, as NAME=VALUE")
        if name in values:
            raise BadParameter("parameter", text, "given once")
        values[name] = tuple(map(_value, value.split(","))) if name in LIST_PARAMETERS else _value(value)
    required = [name for name, p in inspect.signature(kind).parameters.items() if p.default is p.empty]
    if missing := [name for name in required if name not in values]:
        says = f"{kind.__name__} also needs {', '.join(missing)}; give each as NAME=VALUE."
        raise BadParameter("parameters", " ".join(parameters), f"given with {', '.join(missing)} too", says=says)
    size = {"size": whole("size", values.pop("size"))} if "size" in values else {}
    try:
        return kind(**values), size
    except TypeError:
        raise BadParameter("parameters", " ".join(parameters), f"of the types that {kind.__name__} takes") from None


def _value(text: str) -> Any:
    """An integer or a truth value, if the text is one; otherwise the text."""
    words = {"true": True, "yes": True, "false": False, "no": False}
    return int(text) if text.removeprefix("-").isdecimal() else words.get(text.lower(), text)


def _sections(module: ModuleType) -> list[tuple[str, str]]:
    """The headings and texts of a module's docstring, each indented line a paragraph of its own."""
    sections = []
    for paragraph in (inspect.getdoc(module) or "").split("\n\n"):
        flowing = re.sub(r"(?<!:)\n(?! )", " ", paragraph)
        heading, dot, text = flowing.partition(".  ")
        sections.append((heading, text) if dot and " " not in heading else ("", flowing))
    return sections


def _figures(mechanism: Any, size: Mapping[str, int], beta: str, relative_error: str, delta: str) -> Table:
    """The price and the accuracy of a mechanism, as a table."""
    loss = mechanism.loss()
    pure, rho = loss.epsilon(), sum(n * atom.concentrated() for atom, n in loss.terms.items())
    failure = failures(loss)
    approximate = f" at delta = {from_above(up(failure))}: approximate zCDP" if failure else ""
    table = Table("", "", show_header=False, title=escape(repr(mechanism)))
    table.add_row("price", f"epsilon = {from_above(pure)}" if math.isfinite(pure) else "no epsilon alone bounds it")
    table.add_row("", f"epsilon = {from_above(loss.epsilon(delta))} at delta = {delta}")
    table.add_row(
        "", f"rho = {from_above(rho)}{approximate}" if math.isfinite(rho) else "no rho bounds it at all orders"
    )
    table.add_row("for a group of 3", f"epsilon = {from_above(loss.group(3).epsilon(delta))} at delta = {delta}")
    for row in _accuracy(mechanism, size, beta, relative_error):
        table.add_row(*row)
    return table


def _accuracy(mechanism: Any, size: Mapping[str, int], beta: str, relative_error: str) -> Iterator[tuple[str, str]]:
    label = "error of a frequency, one report" if hasattr(mechanism, "frequencies") else "error"
    try:
        confidence = float(1 - probability("beta", beta))
        yield label, f"at most {from_above(mechanism.error(beta=beta, **size))} with probability {confidence:g}"
        if hasattr(mechanism, "classical_error"):
            yield "", f"{from_above(mechanism.classical_error(beta=beta, **size))} by the classical bound"
        yield (
            "sample size",
            f"n = {mechanism.sample_size(relative_error, beta, **size):,} for an error of {relative_error} n",
        )
    except BadParameter as error:
        needed = f"depends on {error.name}: add {error.name}=..."
        yield label, needed if error.given == "None" else escape(str(error))
