"""What the custodian allows: `tacit policy set | show | remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...core.parameters import rational
from ..output import Json, print_json
from ..table_options import parse_budget
from .options import Config, actor, opened, say

if TYPE_CHECKING:
    from ...server.policy import Policy

app = typer.Typer(no_args_is_help=True, help="Who may buy what from a data set.")
DataSet = Annotated[str, typer.Argument(help="The data set.")]
Subject = Annotated[str, typer.Argument(help="role:analyst, role:owner or person:NAME; a person's own policy counts.")]
Price = Annotated[str | None, typer.Option(help="The default price of a question, in these words.")]


@app.command("set")
def set_(
    dataset: DataSet,
    subject: Subject,
    *,
    error: Price = None,
    relative: Price = None,
    epsilon: Price = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon.")] = None,
    share: Price = None,
    rho: Price = None,
    most: Annotated[
        str | None, typer.Option(help="The largest share of the budget that one purchase may take.")
    ] = None,
    allowance: Annotated[str, typer.Option(help='What each of them may spend in all: "epsilon=0.2 delta=1e-10".')] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Allow another draw of an answer, at its price.")] = False,
    streams: Annotated[bool, typer.Option("--streams", help="Allow streams and online queries.")] = False,
    workloads: Annotated[bool, typer.Option("--workloads", help="Allow many linear queries at once.")] = False,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Allow synthetic data.")] = False,
    approval: Annotated[
        str | None,
        typer.Option(help="The share of the budget above which a purchase needs an owner's approval; 0 is every one."),
    ] = None,
    config: Config = None,
) -> None:
    """Set the policy of a role or a person on a data set, instead of the one there was."""
    from ...server.custody import set_policy
    from ...server.policy import Policy
    from ...server.policy import Price as DefaultPrice

    with opened(config) as (_, store):
        terms = {"error": error, "relative": relative, "epsilon": epsilon, "delta": delta, "share": share, "rho": rho}
        given = {name: text for name, text in terms.items() if text is not None}
        policy = Policy(
            price=DefaultPrice.read(given) if given else None,
            most=None if most is None else rational("most", most),
            allowance=parse_budget(allowance) if allowance else None,
            fresh=fresh,
            streams=streams,
            workloads=workloads,
            synthetic=synthetic,
            approval=None if approval is None else rational("approval", approval),
        )
        set_policy(store, dataset, subject, policy, by=actor())
        say(f"{subject} on {dataset}: {_in_words(policy)}")


@app.command()
def show(dataset: DataSet, as_json: Json = False, config: Config = None) -> None:
    """Show all policies on a data set."""
    from ...server.policy import write_policy
    from ...server.store.database import StoreConflict

    with opened(config) as (_, store):
        if store.dataset(dataset) is None:
            raise StoreConflict(f"There is no data set called {dataset!r}. `tacit dataset list` shows all of them.")
        policies = store.policies(dataset)
        if as_json:
            print_json({subject: write_policy(policy) for subject, policy in policies.items()})
            return
        for subject, policy in policies.items():
            say(f"{subject}: {_in_words(policy)}")
        if not any(subject != "role:owner" for subject in policies):
            say("No analyst sees this data set: no policy names the role or a person.")


def _in_words(policy: Policy) -> str:
    from ...server.numbers import write_number
    from ...server.policy import SWITCHES

    price = "no default price"
    if policy.price is not None:
        price = "by default " + " ".join(f"{name}={write_number(x)}" for name, x in policy.price.terms.items())
    words = [price]
    if policy.most is not None:
        words.append(f"at most {write_number(policy.most)} of the budget at once")
    if policy.allowance is not None:
        words.append(f"in all {policy.allowance}")
    words += [f"{name} allowed" for name in SWITCHES if getattr(policy, name)]
    if policy.approval is not None:
        words.append(f"above {write_number(policy.approval)} of the budget with an owner's approval")
    return "; ".join(words)


@app.command()
def remove(dataset: DataSet, subject: Subject, config: Config = None) -> None:
    """Remove a policy; what was bought stays bought, and an allowance stays in the ledger."""
    with opened(config) as (_, store):
        store.remove_policy(dataset, subject, by=actor())
        say(f"There is no policy for {subject} on {dataset} any more.")
