"""People and their tokens: `tacit user add | list | token | link | revoke | revoke-token`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...core.errors import BadParameter
from ..output import Json
from .options import Config, actor, opened, print_rows, say

if TYPE_CHECKING:
    from ...server.store import TokenInfo

app = typer.Typer(no_args_is_help=True, help="People of the service, and the tokens by which they are known.")
Name = Annotated[str, typer.Argument(help="The name of the person, which is also their name in the ledgers.")]
Label = Annotated[str, typer.Option(help="What the token is for.")]


@app.command()
def add(
    name: Name,
    role: Annotated[str, typer.Option(help="owner or analyst")] = "analyst",
    config: Config = None,
) -> None:
    """Add a person; the first one makes the store and should be an owner."""
    with opened(config, create=True) as (_, store):
        person = store.add_person(name, role, by=actor())  # type: ignore[arg-type]
        say(f"{person.name} is now an {person.role}. To let them in, run: tacit user link {person.name!r}")


@app.command("list")
def list_(
    tokens: Annotated[bool, typer.Option("--tokens", help="List tokens, links and sessions instead.")] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List everybody, or all tokens; the tokens themselves are known to their bearers alone."""
    with opened(config) as (_, store):
        if tokens:
            print_rows([_facts(each) for each in store.tokens()], as_json, "There are no tokens.")
            return
        rows = [
            {"name": each.name, "role": each.role, "added": each.added, "revoked": each.revoked}
            for each in store.people()
        ]
        print_rows(rows, as_json, "There is nobody. Run: tacit user add NAME --role owner")


def _facts(token: TokenInfo) -> dict[str, Any]:
    return {
        "number": token.id,
        "person": token.person,
        "kind": token.kind,
        "label": token.label,
        "expires": token.expires,
        "last used": token.used,
        "revoked": token.revoked,
    }


@app.command()
def token(
    name: Name,
    label: Label = "",
    days: Annotated[int, typer.Option(help="For how many days it is good.")] = 90,
    config: Config = None,
) -> None:
    """Issue a token, for programs, and print it; nobody can print it again."""
    from ...server.store.database import now

    with opened(config) as (_, store):
        if not 0 < days <= 366:
            raise BadParameter("days", days, "from 1 to 366")
        text, info = store.issue_token(name, "token", label, now() + timedelta(days=days), by=actor())
        say(text)
        say(f"Token {info.id} of {info.person} is good until {info.expires}. It is not shown again; keep it secret.")


@app.command()
def link(
    name: Name,
    hours: Annotated[int, typer.Option(help="For how many hours it can be opened.")] = 24,
    config: Config = None,
) -> None:
    """Issue a link that opens the page once, and print it."""
    from ...server.store.database import now

    with opened(config) as (settings, store):
        if not 0 < hours <= 24 * 30:
            raise BadParameter("hours", hours, "from 1 to 720")
        text, info = store.issue_token(name, "link", "", now() + timedelta(hours=hours), by=actor())
        say(settings.login_link(text))
        say(f"This link lets in whoever opens it first, as {info.person}, until {info.expires}.")


@app.command()
def revoke(name: Name, config: Config = None) -> None:
    """Shut a person out, at once and with all their tokens; what they bought stays in the ledgers."""
    with opened(config) as (_, store):
        store.revoke_person(name, by=actor())
        say(f"{name} is shut out, with every token, link and session.")


@app.command()
def revoke_token(
    number: Annotated[str, typer.Argument(help="Its number, as `tacit user list --tokens` shows it.")],
    config: Config = None,
) -> None:
    """End one token, link or session, at once."""
    with opened(config) as (_, store):
        store.revoke_token(number, by=actor())
        say(f"Token {number} is revoked, with the sessions that it opened.")
