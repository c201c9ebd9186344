"""`tacit verify`: whether a published release is the one that a ledger keeps; for anybody who has an export of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..core.errors import BadParameter
from .ledger import parse_head, sound_export
from .output import console, reporting_errors


def verify(
    release: Annotated[Path, typer.Argument(help="A release in JSON, as `tacit ask --json` writes it.")],
    *,
    ledger: Annotated[str, typer.Option(help="An export of the ledger, a .jsonl file; or the ledger itself.")],
    anchor: Annotated[str, typer.Option(help="A head that the custodian published, as SEQ:HASH.")] = "",
) -> None:
    """Check that a published release is the one that was stored, and that all charges were within the budget."""
    from ..ledger import Ledger
    from ..ledger.exported import is_export, verify_export
    from ..release.proof import proved

    with reporting_errors():
        since = parse_head(anchor)
        if not release.is_file():
            raise BadParameter("release", str(release), "a file")
        text = release.read_bytes()
        if is_export(ledger):
            found = verify_export(ledger, since)
            proof, sound = proved(text, found.charge_of), sound_export(found)
        else:
            with Ledger.open(ledger) as opened:
                head = opened.verify(since)
                proof, sound = proved(text, opened.charge_of), f"sound; head {head.seq}:{head.hash}"
        about = f"The release is the one that entry {proof.charge.seq} keeps since {proof.charge.time[:10]}"
        for line in (f"{about}, and its answer follows from it.", *proof.caveats, f"The ledger is {sound}."):
            console.print(escape(line), soft_wrap=True)
        if not anchor:
            console.print(
                "Compare the head with one that the custodian published: later entries may have been left out.",
                soft_wrap=True,
            )
