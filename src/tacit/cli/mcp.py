"""`tacit mcp`: the tools of a language-model agent, over standard input and output."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from .output import reporting_errors
from .table_options import token


def mcp(
    *,
    url: Annotated[str, typer.Option(envvar="TACIT_URL", help="The service that holds the data.")],
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token of the agent; by default the token is in TACIT_TOKEN.")
    ] = None,
    alone: Annotated[
        str, typer.Option(help="The share of the budget that one question may take without a person's consent.")
    ] = "0.05",
) -> None:
    """Serve the Model Context Protocol on standard input and output, for an agent with a token of its own.

    Give the agent a person's entry and an allowance of its own: `tacit user add`, `tacit policy set`.
    """
    with reporting_errors():
        from ..core.errors import Missing
        from ..core.parameters import probability

        try:
            from ..mcp import RemoteDesk, server
        except ImportError:
            raise Missing("This command needs the extra mcp. Run pip install 'tacit[mcp]'.") from None
        from ..client import Connection, Remote

        limit = Fraction(probability("alone", alone))
        with Remote(Connection(url, token(token_file), timeout=60.0, authority=None, plain=False)) as service:
            desk = RemoteDesk(service, limit)
            server(lambda _: desk).run()
