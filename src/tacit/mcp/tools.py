"""The tools of an agent: list data sets, read a schema, get an offer, buy an answer, see what is left, verify a number.

Refusals are the sentences of tacit, which say what is wrong and what is accepted: so an agent can mend its question.
A purchase that an agent may not decide on by itself is put to the person at the client first.

The annotations are evaluated where they stand, since one of them names a function within `server`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from ..core.errors import TacitError
from ..query.plan.offer import Terms
from ..release import Release
from . import answers
from .desk import Desk

INSTRUCTIONS = """\
Answers about tables of people, with noise that hides every person. Nothing here reveals a row: ask for counts, sums,
means, quantiles, grouped as you like. Call `schema` first, then `offer` until the accuracy suits you (offers are free),
then `ask` (a purchase, charged once: the same question asked again is free). Give at most one price: share (of the
budget), epsilon, error (the largest error that you accept), or relative (the same as a share of the table). Report
every number with its interval, and keep `entry`: `verify` checks a number against the ledger by it.\
"""
Share = Annotated[
    str | None, Field(description="how much of the budget it may take, as a decimal: 0.01 is a hundredth")
]
Epsilon = Annotated[str | None, Field(description="the epsilon of this answer alone")]
Error = Annotated[str | None, Field(description="the largest error of each count and sum that you accept")]
Relative = Annotated[str | None, Field(description="the same, as a share of the table's public size")]
Dataset = Annotated[str, Field(description="the name of a data set, as `datasets` lists it")]
Sql = Annotated[str, Field(description="one SELECT over the tables of the data set")]
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
BUYS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class Consent(BaseModel):
    """What the person at the client decides."""

    buy: bool = Field(description="Buy this answer?")


@contextmanager
def said() -> Iterator[None]:
    """Tell an agent what tacit refuses, and of anything else only that it failed."""
    try:
        yield
    except TacitError as error:
        raise ToolError(str(error)) from None
    except ToolError:
        raise
    except Exception:  # whatever it says may hold what an agent must not see
        raise ToolError("tacit failed at this request. Ask again, or tell the owner of the service.") from None


def _terms(share: Share, epsilon: Epsilon, error: Error, relative: Relative) -> Terms:
    given = {"share": share, "epsilon": epsilon, "error": error, "relative": relative}
    return {name: value for name, value in given.items() if value is not None}  # type: ignore[return-value]


def server(desk_of: Callable[[Context], Desk]) -> MCPServer:
    """A server of the protocol; `desk_of` finds the desk of whoever sent a request."""
    offered = MCPServer("tacit", instructions=INSTRUCTIONS, log_level="WARNING")

    def consent(
        ctx: Context,
        dataset: str,
        sql: str,
        *,
        share: str | None = None,
        epsilon: str | None = None,
        error: str | None = None,
        relative: str | None = None,
    ) -> Consent | Elicit[Consent]:
        with said():
            desk = desk_of(ctx)
            doubt = desk.doubt(dataset, desk.offer(dataset, sql, _terms(share, epsilon, error, relative)))
            if not doubt:
                return Consent(buy=True)
            if (can := ctx.client_capabilities) is None or can.elicitation is None:
                raise ToolError(f"{doubt} This client cannot ask a person. Ask for a larger error, at a lower price.")
        return Elicit(f"{doubt} Buy the answer to this question?\n\n{sql}", Consent)

    @offered.tool(annotations=READS)
    def datasets(ctx: Context) -> list[str]:
        """List the data sets that you may ask about."""
        with said():
            return desk_of(ctx).names()

    @offered.tool(annotations=READS)
    def schema(ctx: Context, dataset: Dataset) -> dict[str, Any]:
        """Describe the tables of a data set: columns, types, bounds, labels, whom privacy protects, what is left."""
        with said():
            return answers.described(desk_of(ctx).curator(dataset))

    @offered.tool(annotations=READS)
    def offer(
        ctx: Context,
        dataset: Dataset,
        sql: Sql,
        *,
        share: Share = None,
        epsilon: Epsilon = None,
        error: Error = None,
        relative: Relative = None,
    ) -> dict[str, Any]:
        """Say what a question costs and how accurate its answer will be; free, and nothing is read."""
        with said():
            desk = desk_of(ctx)
            quoted = desk.offer(dataset, sql, _terms(share, epsilon, error, relative))
            return {**answers.offered(quoted, desk.curator(dataset)), "a_person_decides": desk.doubt(dataset, quoted)}

    @offered.tool(annotations=BUYS)
    def ask(
        ctx: Context,
        dataset: Dataset,
        sql: Sql,
        decided: Annotated[Consent, Resolve(consent)],
        *,
        share: Share = None,
        epsilon: Epsilon = None,
        error: Error = None,
        relative: Relative = None,
    ) -> dict[str, Any]:
        """Buy the answer to a question: charged once, and free when the same is asked again."""
        if not decided.buy:
            raise ToolError("The person at the client declined this purchase. Nothing was charged.")
        with said():
            desk = desk_of(ctx)
            terms = _terms(share, epsilon, error, relative)
            release = desk.ask(dataset, sql, terms)
            return {**answers.answered(release), **answers.left(desk.curator(dataset))}

    @offered.tool(annotations=READS)
    def remaining(ctx: Context, dataset: Dataset) -> dict[str, Any]:
        """Say what is left of the budget, or of your allowance."""
        with said():
            return answers.left(desk_of(ctx).curator(dataset))

    @offered.tool(annotations=READS)
    def verify(
        ctx: Context,
        dataset: Dataset,
        entry: Annotated[str, Field(description="the `entry` of an answer")],
        column: Annotated[str | None, Field(description="the column that the number is in")] = None,
        number: Annotated[float | None, Field(description="a number that is said to be of this answer")] = None,
    ) -> dict[str, Any]:
        """Check that the ledger is sound and keeps an answer, and whether a number is one of that answer's."""
        with said():
            curator = desk_of(ctx).curator(dataset)
            release = curator.release_of(entry)
            head = curator.verify(release)
            found: dict[str, Any] = {"sound": True, "ledger_head": head.hash}
            if number is not None:
                found["number_is_of_this_answer"] = _holds(release, column, number)
            return found

    return offered


def _holds(release: object, column: str | None, number: float) -> bool:
    """Whether a number stands in a column of an answer, or in any."""
    if not isinstance(release, Release):
        raise ToolError("This entry is of a workload, whose numbers are not looked up here.")
    if column is not None and column not in release.columns:
        raise ToolError(f"The answer has no such column. It has {', '.join(release.columns)}.")
    named = [column] if column is not None else [*release.columns]
    return any(number == value for name in named for value in release.columns[name].tolist())
