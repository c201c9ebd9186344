"""The ledger on the command line: `tacit ledger open | show | allow | verify | backup | export`."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from ..core.errors import BadParameter
from ._bill import cost
from ._say import console, in_words, say_json
from ._source import budget_of

if TYPE_CHECKING:
    from ..ledger import Charge, Ledger

_SHOWN = ("entry", "time", "analyst", "paid", "left", "question")
_WORDS = ("analyst", "question")  # what gives way where a table is wider than the screen
_HEAD = re.compile("[0-9]{1,18}:[0-9a-f]{64}")

app = typer.Typer(no_args_is_help=True, help="What was paid for, what is left, and whether the account is sound.")
Place = Annotated[str, typer.Argument(help="The ledger: a file, or a URL.")]
Money = Annotated[str, typer.Argument(help='As "epsilon=1 delta=1e-9", "rho=0.1" or "epsilon=1".')]


@app.command("open")
def open_(
    place: Place,
    budget: Money,
    *,
    dataset: Annotated[str, typer.Option(help="The name of the table in its schema.")],
    only_allowed: Annotated[
        bool | None,
        typer.Option(
            "--only-allowed/--anyone",
            help="Refuse analysts without an allowance, from the start or never; unless told, once anybody has one.",
            show_default=False,
        ),
    ] = None,
    least_share: Annotated[
        str | None, typer.Option(help="The share of the budget that a question takes at least; 0.0001 unless told.")
    ] = None,
) -> None:
    """Open a ledger with a budget, which never changes."""
    from ..ledger import Ledger
    from ..query.python.table import named

    with in_words(), Ledger.open(place, budget_of(budget), named(dataset), only_allowed, least_share) as ledger:
        console.print(escape(f"{ledger!r}"))


@app.command()
def allow(place: Place, analyst: str, budget: Money) -> None:
    """Give an analyst an allowance within the budget."""
    from ..ledger import Ledger

    with in_words(), Ledger.open(place) as ledger:
        before = ledger.allowance(analyst)
        ledger.allow(analyst, budget_of(budget))
        left, instead = float(ledger.remaining(analyst)), "" if before is None else f" instead of {before}"
        console.print(escape(f"{analyst} may spend {ledger.allowance(analyst)}{instead}, of which {left:g} is left"))


@app.command()
def show(place: Place, as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False) -> None:
    """Every charge, who may spend what, and what is left."""
    from ..ledger import Ledger

    with in_words(), Ledger.open(place) as ledger:
        budget, charges, left = ledger.budget, ledger.history(), float(ledger.remaining())
        paid = _paid(ledger)
        allowed = {who: (str(b), float(ledger.remaining(who))) for who, b in ledger.allowances().items()}
    rows = [_row(charge, *paid[charge.seq]) for charge in charges if charge.loss.terms]
    if as_json:
        allowances = [{"analyst": who, "budget": b, "left": rest} for who, (b, rest) in allowed.items()]
        told = {"budget": str(budget), "left": left, "allowances": allowances, "charges": rows}
        say_json(told)
        return
    table = Table(title=escape(str(budget)), box=SIMPLE_HEAD, pad_edge=False)
    for name in _SHOWN:
        table.add_column("time (UTC)" if name == "time" else name, no_wrap=name not in _WORDS)
    for row in rows:
        ends = {"yes": "", "session": " (a session)", "failed": " (the draw failed)"}
        done = ends.get(row["released"], " (not released yet)")
        shown = {**row, "time": row["time"][:19]}
        cells = (f"{v:.6g}" if isinstance(v := shown[name], float) else str(v) for name in _SHOWN[:-1])
        table.add_row(*map(escape, (*cells, f"{row['question']}{done}")))
    console.print(table)
    if any(charge.parts for charge in charges):
        console.print("Parts are paid for apart: what is spent is the most that any part has paid.")
    for who, (b, rest) in allowed.items():
        console.print(escape(f"{who} may spend {b}, of which {rest:g} is left"))
    console.print(f"{left:g} is left")


def _paid(ledger: Ledger) -> dict[int, tuple[float, float]]:
    """What each charge took of the budget after those before it, where it looks, and what was left of the whole."""
    from ..ledger.accounts import ALL, Accounts
    from ..ledger.encoding import read_loss

    book, parts, found = Accounts(ledger.budget), dict[int, Any](), dict[int, tuple[float, float]]()
    for entry in ledger.entries():
        if entry.kind not in ("charge", "step") or entry.body["loss"] is None:
            continue
        charge = int(entry.body["charge"]) if entry.kind == "step" else entry.seq
        where, loss = parts.setdefault(charge, entry.body.get("parts")), read_loss(entry.body["loss"])
        (account,) = book.spent(ALL, where)
        price = float(cost(account, loss))
        book.post(ALL, where, loss, book.price(ALL, loss))
        ((budget, spent),) = book.spent(ALL, None)
        found[charge] = found.get(charge, (0.0, 0.0))[0] + price, float(min(map(budget.remaining, spent)))
    return found


def _row(charge: Charge, paid: float, left: float) -> dict[str, Any]:
    """A charge for a person: what it was for, in the words of the question if there are any."""
    said = json.loads(charge.release) if charge.release else {}
    question = said.get("provenance", {}).get("question") if isinstance(said, dict) else ""
    done = "session" if charge.session else "not yet" if charge.release is None else "failed" if said is None else "yes"
    return {
        "entry": charge.seq,
        "time": charge.time,
        "analyst": charge.analyst,
        "paid": paid,
        "left": left,
        "question": question or charge.purpose.description or f"{charge.key[:12]}, asked in Python",
        "kind": charge.purpose.kind,
        "released": done,
        "key": charge.key,
    }


@app.command()
def verify(
    place: Place,
    anchor: Annotated[str, typer.Option(help="An earlier head, as SEQ:HASH; finds what was rolled back since.")] = "",
) -> None:
    """Recompute the chain and every sum; says the head, to be kept elsewhere as an anchor."""
    from ..ledger import Head, Ledger

    with in_words(), Ledger.open(place) as ledger:
        seq, _, digest = anchor.partition(":")
        if anchor and not _HEAD.fullmatch(anchor):
            raise BadParameter("anchor", anchor, "SEQ:HASH, as `tacit ledger verify` said it")
        head = ledger.verify(Head(int(seq), digest)) if anchor else ledger.verify()
        console.print(f"sound; head {head.seq}:{head.hash}", soft_wrap=True)


@app.command()
def backup(place: Place, copy: Annotated[Path, typer.Argument(help="A file that is not there yet.")]) -> None:
    """Copy a ledger while it is in use, for the day when it is lost; the copy is private, and no second budget."""
    from ..ledger import Ledger

    with in_words(), Ledger.open(place) as ledger:
        head = ledger.backup(copy)
        console.print(escape(f"{copy} is sound; head {head.seq}:{head.hash}"), soft_wrap=True)
        key = Path(f"{copy}.key")
        if key.exists():
            console.print(
                escape(f"{key} opens its private states: keep both, and let nobody read them."), soft_wrap=True
            )
        console.print(escape(f"Do not ask it while {place} is there: both would sell the same budget."), soft_wrap=True)


@app.command()
def export(place: Place, output: Annotated[Path | None, typer.Option("--output", "-o")] = None) -> None:
    """All entries as JSON lines; private states stay in the ledger."""
    from ..ledger import Ledger

    enough = suppress(BrokenPipeError)  # of whoever reads
    with in_words(), enough, Ledger.open(place) as ledger:
        ledger.export(output or sys.stdout)
