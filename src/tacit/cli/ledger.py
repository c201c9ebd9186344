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
from .output import Json, console, print_json, reporting_errors
from .receipt import cost
from .table_options import parse_budget

if TYPE_CHECKING:
    from ..ledger import Charge, Head, Ledger
    from ..ledger.exported import Export

_COLUMNS = ("entry", "time", "analyst", "paid", "left", "question")
_WRAPPED = ("analyst", "question")  # the columns that are wrapped where the table is wider than the screen
_HEAD = re.compile("[0-9]{1,18}:[0-9a-f]{64}")

app = typer.Typer(no_args_is_help=True, help="What was paid for, what is left, and whether the ledger is sound.")
Place = Annotated[str, typer.Argument(help="The ledger: a file, or a URL.")]
Amount = Annotated[str, typer.Argument(help='The budget: "epsilon=1 delta=1e-9", "rho=0.1" or "epsilon=1".')]


@app.command("open")
def open_(
    place: Place,
    budget: Amount,
    *,
    dataset: Annotated[str, typer.Option(help="The name of the table in its schema.")],
    only_allowed: Annotated[
        bool | None,
        typer.Option(
            "--only-allowed/--anyone",
            help="Refuse analysts without an allowance, from the start or never; by default, once any analyst has one.",
            show_default=False,
        ),
    ] = None,
    least_share: Annotated[
        str | None, typer.Option(help="The smallest share of the budget that a question takes; by default 0.0001.")
    ] = None,
) -> None:
    """Open a ledger with a budget, which never changes."""
    from ..ledger import Ledger
    from ..query.schema.schema import named

    with (
        reporting_errors(),
        Ledger.open(place, parse_budget(budget), named(dataset), only_allowed, least_share) as ledger,
    ):
        console.print(escape(f"{ledger!r}"))


@app.command()
def allow(place: Place, analyst: str, budget: Amount) -> None:
    """Give an analyst an allowance within the budget."""
    from ..ledger import Ledger

    with reporting_errors(), Ledger.open(place) as ledger:
        before = ledger.allowance(analyst)
        ledger.allow(analyst, parse_budget(budget))
        left, instead = float(ledger.remaining(analyst)), "" if before is None else f" instead of {before}"
        console.print(escape(f"{analyst} may spend {ledger.allowance(analyst)}{instead}, of which {left:g} is left"))


@app.command()
def show(place: Place, as_json: Json = False) -> None:
    """Show every charge, each analyst's allowance, and what is left."""
    from ..ledger import Ledger

    with reporting_errors(), Ledger.open(place) as ledger:
        budget, charges, left = ledger.budget, ledger.history(), float(ledger.remaining())
        paid = _paid_and_left(ledger)
        allowed = {who: (str(b), float(ledger.remaining(who))) for who, b in ledger.allowances().items()}
    rows = [
        _row(charge, *paid[charge.seq]) for charge in charges if charge.loss.terms or charge.purpose.kind == "holdout"
    ]
    if as_json:
        allowances = [{"analyst": who, "budget": b, "left": rest} for who, (b, rest) in allowed.items()]
        print_json({"budget": str(budget), "left": left, "allowances": allowances, "charges": rows})
        return
    table = Table(title=escape(str(budget)), box=SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column("time (UTC)" if name == "time" else name, no_wrap=name not in _WRAPPED)
    for row in rows:
        ends = {"yes": "", "session": " (a session)", "failed": " (the draw failed)"}
        status = ends.get(row["released"], " (not released yet)")
        shown = {**row, "time": row["time"][:19]}
        cells = (f"{v:.6g}" if isinstance(v := shown[name], float) else str(v) for name in _COLUMNS[:-1])
        table.add_row(*map(escape, (*cells, f"{row['question']}{status}")))
    console.print(table)
    if any(charge.parts for charge in charges):
        remark = "Disjoint parts of the table pay separately: what is spent is the most that any part has paid."
        console.print(remark, soft_wrap=True)
    for who, (b, rest) in allowed.items():
        console.print(escape(f"{who} may spend {b}, of which {rest:g} is left"))
    console.print(f"{left:g} is left")


def _paid_and_left(ledger: Ledger) -> dict[int, tuple[float, float]]:
    """For each charge, what it took of the budget on the part that it reads, and what was left of the whole budget."""
    from ..ledger.accounts import ALL, Accounts
    from ..ledger.encoding import read_loss

    accounts, parts, amounts = Accounts(ledger.budget), dict[int, Any](), dict[int, tuple[float, float]]()
    for entry in ledger.entries():
        if entry.kind not in ("charge", "step") or entry.body["loss"] is None:
            continue
        charge = int(entry.body["charge"]) if entry.kind == "step" else entry.seq
        where, loss = parts.setdefault(charge, entry.body.get("parts")), read_loss(entry.body["loss"])
        (account,) = accounts.spent(ALL, where)
        price = float(cost(account, loss))
        accounts.post(ALL, where, loss, accounts.price(ALL, loss))
        ((budget, spent),) = accounts.spent(ALL, None)
        amounts[charge] = amounts.get(charge, (0.0, 0.0))[0] + price, float(min(map(budget.remaining, spent)))
    return amounts


def _row(charge: Charge, paid: float, left: float) -> dict[str, Any]:
    """A charge as it is shown: what it was for, in the words of the question if it was asked in SQL."""
    finished = "failed" if charge.failed else "yes"
    released = "session" if charge.session else "not yet" if charge.release is None else finished
    return {
        "entry": charge.seq,
        "time": charge.time,
        "analyst": charge.analyst,
        "paid": paid,
        "left": left,
        "question": charge.purpose.description or _former_question(charge) or f"{charge.key[:12]}, asked in Python",
        "kind": charge.purpose.kind,
        "released": released,
        "key": charge.key,
    }


def _former_question(charge: Charge) -> str:
    """The text of a question in SQL of which the charge has no description, as in ledgers of earlier versions."""
    release = json.loads(charge.release) if charge.release and charge.purpose.kind == "question" else None
    return str(release.get("provenance", {}).get("question", "")) if isinstance(release, dict) else ""


@app.command()
def verify(
    place: Annotated[str, typer.Argument(help="The ledger, a file or a URL; or an export of it, a .jsonl file.")],
    anchor: Annotated[str, typer.Option(help="An earlier head, as SEQ:HASH; detects a rollback since then.")] = "",
) -> None:
    """Recompute the chain and every sum of a ledger, or of an export alone; prints the head, an anchor for later."""
    from ..ledger import Ledger
    from ..ledger.exported import is_export, verify_export

    with reporting_errors():
        since = parse_head(anchor)
        if is_export(place):
            found = verify_export(place, since)
            console.print(escape(sound_export(found)), soft_wrap=True)
            return
        with Ledger.open(place) as ledger:
            head = ledger.verify(since)
        console.print(f"sound; head {head.seq}:{head.hash}", soft_wrap=True)


def parse_head(anchor: str) -> Head:
    """The head that a text such as SEQ:HASH names; without a text, the one before all entries."""
    from ..ledger import Head
    from ..ledger.entries import START

    if anchor and not _HEAD.fullmatch(anchor):
        raise BadParameter("anchor", anchor, "SEQ:HASH, as `tacit ledger verify` prints it")
    seq, _, digest = anchor.partition(":")
    return Head(int(seq), digest) if anchor else START


def sound_export(found: Export) -> str:
    """What a sound export says: what was spent of which budget, and its head."""
    spent = f"{float(found.spent):.6g} of {found.budget} was spent on {found.dataset}, never more than the budget"
    return f"sound; {spent}; head {found.head.seq}:{found.head.hash}"


@app.command()
def backup(place: Place, copy: Annotated[Path, typer.Argument(help="A file that does not exist yet.")]) -> None:
    """Copy a ledger while it is in use, in case it is lost; the copy is private, and no second budget."""
    from ..ledger import Ledger

    with reporting_errors(), Ledger.open(place) as ledger:
        head = ledger.backup(copy)
        console.print(escape(f"{copy} is sound; head {head.seq}:{head.hash}"), soft_wrap=True)
        key = Path(f"{copy}.key")
        if key.exists():
            console.print(
                escape(f"{key} opens its private states. Keep both files, and let nobody read them."), soft_wrap=True
            )
        console.print(
            escape(f"Do not use the copy while {place} exists: both would sell the same budget."), soft_wrap=True
        )


@app.command()
def export(place: Place, output: Annotated[Path | None, typer.Option("--output", "-o")] = None) -> None:
    """Write all entries as JSON lines; private states stay in the ledger."""
    from ..ledger import Ledger

    reader_may_stop = suppress(BrokenPipeError)
    with reporting_errors(), reader_may_stop, Ledger.open(place) as ledger:
        ledger.export(output or sys.stdout)
