"""What was bought and what is left, of a table or of a data set behind a service: `tacit history`."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from .output import Json, console, print_json
from .receipt import cost
from .table_options import TableOptions, table_command

_COLUMNS = ("entry", "time", "analyst", "takes", "kind", "question")
_WRAPPED = ("analyst", "question")


@table_command
def history(options: TableOptions, *, as_json: Json = False) -> None:
    """List what was bought, what each purchase takes of a budget of which nothing is spent, and what is left.

    Behind a service one sees one's own purchases, and an owner sees everybody's.
    """
    from ..core.accounting.loss import zero

    with options.curator() as curator:
        charges, budget, left = curator.history(), curator.budget, float(curator.remaining)
    unspent = budget, [budget.amounts(zero)]
    rows: list[dict[str, Any]] = [
        {
            "entry": charge.seq,
            "time": charge.time,
            "analyst": charge.analyst,
            "takes": float(cost(unspent, charge.loss)),
            "kind": charge.purpose.kind,
            "question": charge.purpose.description,
            "hash": charge.hash,
        }
        for charge in charges
    ]
    if as_json:
        print_json({"budget": str(budget), "left": left, "charges": rows})
        return
    table = Table(title=escape(str(budget)), box=SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column("time (UTC)" if name == "time" else name, no_wrap=name not in _WRAPPED)
    for row in rows:
        shown = {**row, "time": row["time"][:19]}
        table.add_row(*(escape(f"{v:.6g}" if isinstance(v := shown[name], float) else str(v)) for name in _COLUMNS))
    console.print(table)
    console.print(f"{left:g} is left")
