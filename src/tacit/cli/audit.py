"""Checks of what mechanisms claim: `tacit audit`, and attacks with their controls: `tacit attack`."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..core.errors import BadParameter, TacitError
from ..core.parameters import function, one_of
from .output import Plot, console, record_table, reporting_errors, save_plot

attack = typer.Typer(no_args_is_help=True, help="What an attacker learns from a naive system, and from tacit.")


def audit(
    mechanisms: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MECHANISM... | FUNCTION]",
            help="The mechanisms to check, by name, by default all of them; or one function of yours, as"
            " MODULE:FUNCTION or FILE.py:FUNCTION, with --claim.",
        ),
    ] = None,
    *,
    claim: Annotated[
        str | None, typer.Option(help="What your function is said to be: an epsilon, or mu=NUMBER for Gaussian noise.")
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(help="Two neighbouring inputs, in JSON, with a comma between; may be repeated.", metavar="X,Y"),
    ] = None,
    around: Annotated[
        str | None, typer.Option(help="A list of records, in JSON; its neighbours are searched for the worst.")
    ] = None,
    values: Annotated[
        str, typer.Option(help="With --around: records that may be added, in JSON, with commas between.")
    ] = "",
    samples: Annotated[
        int | None,
        typer.Option(help="Runs on each input, by default 1000, or 100000 for a function; 0 checks exact laws alone."),
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="The delta at which epsilons are compared, by default 1e-6, or 0 for a function.")
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="The function takes x and n, and gives n outputs.")] = False,
    last_bits: Annotated[
        bool,
        typer.Option(
            "--last-bits/--no-last-bits",
            help="Look at the last bits of floating-point outputs, too, or only at what the algorithm itself reveals.",
        ),
    ] = True,
) -> None:
    """Check what mechanisms claim: those of this package on their hardest neighbours, or a function of yours.

    Exits with 1 if a claim is false.
    """
    with reporting_errors():
        if any(":" in name for name in mechanisms or ()):
            pairs = [_json_list("pair", text) for text in pair or ()]
            if around is not None:
                pairs += _neighbours(_json_list("around", around)[0], _json_list("values", values))
            runs = 100_000 if samples is None else samples
            how = {"samples": runs, "delta": delta or "0", "batch": batch, "last_bits": last_bits}
            holds = _audit_function(mechanisms or [], claim, pairs, how)
        elif claim or pair or around:
            says = "--claim, --pair and --around go with one function of yours, named as MODULE:FUNCTION."
            raise BadParameter("mechanisms", mechanisms, "MODULE:FUNCTION", says=says)
        else:
            holds = _audit_package(mechanisms or [], 1000 if samples is None else samples, delta or "1e-6")
    if not holds:
        raise typer.Exit(1)


def _audit_package(names: list[str], samples: int, delta: str) -> bool:
    """Print every mechanism's claim, what is true and what samples prove; returns whether all claims hold."""
    from ..audit import package
    from ..mechanisms import ALL
    from .theory import mechanism_named

    with console.status("auditing"):
        findings = package(list(map(mechanism_named, names)) or ALL, samples=samples, delta=delta)
    console.print(record_table([finding.row() for finding in findings]))
    wrong = sum(finding.verdict != "holds" for finding in findings)
    console.print(f"{len(findings)} pairs of neighbours; {f'{wrong} do NOT hold' if wrong else 'all hold'}")
    return not wrong


def _audit_function(names: list[str], claim: str | None, pairs: list[Any], how: dict[str, Any]) -> bool:
    """Print the verdict on a function's claim; returns whether the claim holds."""
    from ..audit import check

    if len(names) != 1 or claim is None or not pairs:
        says = "To audit a function, name one, and give --claim and --pair X,Y, or --around RECORDS."
        raise BadParameter("mechanisms", names, "one function, with a claim and pairs of inputs", says=says)
    notion, _, value = claim.rpartition("=")
    claimed: dict[str, Any] = {one_of("claim", notion.strip() or "epsilon", ("epsilon", "mu")): value}
    run = _function(names[0])
    with console.status("auditing"):
        try:
            verdict = check(run, pairs, **claimed, **how)
        except TacitError:
            raise
        except Exception as error:  # of the function: no verdict, which would exit with 1
            why = f"{names[0]} failed with {type(error).__name__}: {error}."
            says = f"{why} It is called with an input alone or, with --batch, with an input and a number."
            raise BadParameter("function", names[0], "a function of an input", says=says) from error
    if len(pairs) > 1:
        x, y = map(json.dumps, verdict.pair)
        console.print(escape(f"The worst of {len(pairs)} pairs: {x} and {y}"), soft_wrap=True)
    console.print(escape(str(verdict)), soft_wrap=True)
    return verdict.holds


def _function(name: str) -> Callable[..., Any]:
    """The function that MODULE:FUNCTION or FILE.py:FUNCTION names; modules are looked for in this folder, too."""
    place, _, attribute = name.rpartition(":")
    try:
        if place.endswith(".py"):
            found: Any = runpy.run_path(place)[attribute]
        else:
            sys.path.insert(0, "")
            found = getattr(import_module(place), attribute)
    except (ImportError, AttributeError, KeyError, FileNotFoundError, ValueError) as problem:
        says = f"{name} cannot be found: {type(problem).__name__}: {problem}. Name it as MODULE:FUNCTION."
        raise BadParameter("function", name, "MODULE:FUNCTION or FILE.py:FUNCTION", says=says) from None
    run: Callable[..., Any] = function("function", found, "a function of an input")
    return run


def _json_list(name: str, text: str) -> list[Any]:
    """JSON values with commas between them."""
    try:
        values = json.loads(f"[{text}]")
    except ValueError:
        raise BadParameter(name, text, "JSON values with commas between, such as 0,1 or [1,2],[1,2,3]") from None
    if name == "pair" and len(values) != 2:
        raise BadParameter(name, text, "two JSON values with a comma between, such as 0,1 or [1,2],[1,2,3]")
    return list(values)


def _neighbours(records: Any, values: list[Any]) -> list[Any]:
    from ..audit import neighbours

    if not isinstance(records, list):
        raise BadParameter("around", records, "a list of records, such as [1,2,3]")
    return list(neighbours(records, values))


@attack.command("all")
def every() -> None:
    """Every attack, on a naive system that it breaks and on a real curator with a ledger as the control."""
    from ..testing import attacks

    with reporting_errors():
        with console.status("attacking"):
            rows = attacks.table()
        console.print(record_table(rows))


@attack.command()
def reconstruct(
    n: Annotated[int, typer.Option(help="Secret bits.")] = 128,
    repeats: Annotated[int, typer.Option(help="Number of runs to average.")] = 3,
    plot: Plot = None,
) -> None:
    """Recover a secret column from random sums of it, answered exactly and under five defences."""
    from ..audit import attacks, plots
    from ..testing.attacks import curator

    with reporting_errors():
        with console.status("solving linear programs"):
            rows = attacks.compare(n, repeats=repeats, system=curator)
        console.print(record_table(rows))
        if plot is not None:
            save_plot(plots.comparison(rows), plot)


@attack.command("board")
def on_board(
    n: Annotated[int, typer.Option(help="Rows in the public part of the board.")] = 2000,
    submissions: Annotated[int, typer.Option(help="Submissions of the attacker.")] = 300,
) -> None:
    """Climb a leaderboard of coin labels by its scores alone: one that tells exact scores, and one of tacit."""
    from ..holdout.board import attack as board_attack

    with reporting_errors():
        with console.status("climbing"):
            rows = board_attack.attack(n, submissions)
        console.print(record_table(rows))
