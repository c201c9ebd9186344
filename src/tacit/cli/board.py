"""A leaderboard on the command line: `tacit board open | submit | choose | show | close`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ..core.errors import BadParameter, Refused
from .output import Json, console, print_json, record_table, reporting_errors

if TYPE_CHECKING:
    from ..client.board import RemoteBoard
    from ..holdout import Leaderboard

app = typer.Typer(no_args_is_help=True, help="A leaderboard that cannot be overfitted, kept in a ledger.")
Place = Annotated[str, typer.Argument(help="The ledger: a file, or a URL.  With --url, the name of a board.")]
Url = Annotated[str | None, typer.Option(envvar="TACIT_URL", help="A service, which holds the board.")]
TokenFile = Annotated[
    Path | None, typer.Option(help="With --url: a file with the token; by default the token is in TACIT_TOKEN.")
]
Name = Annotated[str, typer.Option("--name", help="The name of the board in its ledger.")]
Team = Annotated[str, typer.Argument(help="The name of the team.")]


@contextmanager
def _board(place: str, name: str, url: str | None, token_file: Path | None) -> Iterator[Leaderboard | RemoteBoard]:
    """The board in a ledger, or behind a service if there is an address and no such file."""
    with reporting_errors():
        if url is not None and "://" not in place and not Path(place).exists():
            from ..client import Connection, Remote
            from .table_options import token

            with Remote(Connection(url, token(token_file), timeout=60.0, authority=None, plain=False)) as service:
                yield service.board(place)
            return
        from ..holdout.board.leaderboard import Leaderboard, solution_key
        from ..ledger import Ledger

        with Ledger.open(place) as ledger:
            if ledger.find(solution_key(name)) is None:  # or a name that nobody opened would be entered
                raise Refused(f"There is no leaderboard {name!r} here. Open one, with a solution.")
            yield Leaderboard(ledger, name)


@app.command("open")
def open_(
    place: Place,
    solution: Annotated[Path, typer.Argument(help="CSV with a header: id,label, and perhaps Public or Private.")],
    *,
    teams: Annotated[int | None, typer.Option(help="The largest number of teams.")] = None,
    team: Annotated[list[str] | None, typer.Option(help="A team by its name, or NAME=QUOTA; may be repeated.")] = None,
    quota: Annotated[int, typer.Option(help="Submissions of each team.")] = 20,
    metric: Annotated[str, typer.Option(help="accuracy, auc, brier, logloss, mae or rmse.")] = "accuracy",
    bounds: Annotated[str | None, typer.Option(help="The least and largest label, for mae and rmse: 0,100.")] = None,
    final: Annotated[str, typer.Option(help="The share of rows in the final part, if the file does not say.")] = "0.5",
    beta: Annotated[str, typer.Option(help="Probability with which the guarantee may fail.")] = "0.05",
    member: Annotated[
        list[str] | None, typer.Option(help="PERSON=TEAM, for a board in a service; may be repeated.")
    ] = None,
    name: Name = "board",
) -> None:
    """Open a board, in a new ledger or in one that exists; the solution is kept there, sealed."""
    from ..core.accounting.budget import Budget
    from ..holdout import Leaderboard
    from ..holdout.board.files import read_solution
    from ..ledger import Ledger

    with reporting_errors():
        if (teams is None) == (not team):
            raise BadParameter("teams", teams, "--teams or --team", says="Say how many teams there are, or name them.")
        labels, parts = read_solution(solution)
        quotas = {who.rpartition("=")[0] or who: _quota(who, quota) for who in team or ()}
        exists = "://" in place or Path(place).exists()
        with Ledger.open(place, None if exists else Budget(epsilon=1), None if exists else "leaderboard") as ledger:
            board = Leaderboard.open(
                ledger,
                labels,
                final if parts is None else parts,
                teams=quotas or teams or 0,
                quota=quota,
                metric=metric,
                bounds=None if bounds is None else bounds.split(","),
                beta=beta,
                name=name,
                members=dict(_member(each) for each in member or ()) or None,
            )
            console.print(escape(f"{board!r}"), soft_wrap=True)
            console.print(escape(f"{len(labels)} rows. {board.final_statement}"), soft_wrap=True)


def _member(text: str) -> tuple[str, str]:
    who, equals, team = text.partition("=")
    if not (who and equals and team):
        raise BadParameter("member", text, "PERSON=TEAM")
    return who, team


def _quota(team: str, quota: int) -> int:
    """The quota in NAME=QUOTA, or the common one."""
    _, given, own = team.rpartition("=")
    if not given:
        return quota
    if not own.isdecimal():
        raise BadParameter("team", team, "a name, or NAME=QUOTA")
    return int(own)


@app.command()
def submit(
    place: Place,
    team: Team,
    predictions: Annotated[Path, typer.Argument(help="CSV with a header: id,prediction.")],
    *,
    name: Name = "board",
    url: Url = None,
    token_file: TokenFile = None,
    as_json: Json = False,
) -> None:
    """Submit predictions; the same file again is the same submission, and free."""
    from ..holdout.board.files import read_predictions

    with _board(place, name, url, token_file) as board:
        submission = board.submit(team, read_predictions(predictions))
        if as_json:
            print_json(vars(submission))
        else:
            console.print(escape(f"{submission}"), soft_wrap=True)


@app.command()
def choose(
    place: Place,
    team: Team,
    number: Annotated[int, typer.Argument(help="The submission.")],
    *,
    name: Name = "board",
    url: Url = None,
    token_file: TokenFile = None,
) -> None:
    """Choose the submission that is judged in the end; by default the one that set the team's score."""
    with _board(place, name, url, token_file) as board:
        board.choose(team, number)
        console.print(escape(f"Submission {number} of {team} will be judged."))


@app.command()
def show(
    place: Place,
    *,
    team: Annotated[str | None, typer.Option(help="Show this team's own submissions.")] = None,
    name: Name = "board",
    url: Url = None,
    token_file: TokenFile = None,
    as_json: Json = False,
) -> None:
    """Show the ranking, and after the end the final one."""
    with _board(place, name, url, token_file) as board:
        rows = board.scores(team) if team is not None else board.ranking()
        final = board.final_ranking() if board.closed and team is None else None
        if as_json:
            print_json({"rows": rows, "final": final, "statement": str(board.statement)})
            return
        _print(rows, "No submissions yet.")
        console.print(escape(f"By {board.metric}. {board.statement}"), soft_wrap=True)
        if final is not None:
            _print_final(board, final)


@app.command()
def close(
    place: Place, *, name: Name = "board", url: Url = None, token_file: TokenFile = None, as_json: Json = False
) -> None:
    """Close the board, look at the final part, once, and print the final ranking."""
    with _board(place, name, url, token_file) as board:
        rows = board.close()
        print_json(rows) if as_json else _print_final(board, rows)


def _print_final(board: Leaderboard | RemoteBoard, rows: list[dict[str, Any]]) -> None:
    console.print("Final ranking:")
    _print(rows, "No team submitted.")
    console.print(escape(f"By {board.metric}. {board.final_statement}"), soft_wrap=True)


def _print(rows: list[dict[str, Any]], none: str) -> None:
    console.print(record_table(rows) if rows else none)
