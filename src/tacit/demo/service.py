"""`tacit demo --serve`: the shop behind a service, with an owner, two analysts with different policies, some history.

Everything lives in a temporary folder and is gone when the service ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..core.accounting.budget import Budget
from .purchases import SCHEMA, write

if TYPE_CHECKING:
    from ..server.service import Service

DATASET, OWNER, BUDGET = "shop", "olivia", Budget(epsilon=1, delta="1e-9")
PEOPLE = (
    (OWNER, "owner", "sees everything, sets policies and approves purchases"),
    ("ada", "analyst", "has an allowance of 0.8 and may buy models, at most 30 % of the budget at a time"),
    ("ben", "analyst", "has an allowance of 0.2, and asks an owner before he spends more than 2 % at once"),
)
HISTORY = (
    ("ada", "SELECT COUNT(*) AS purchases FROM purchases", {"epsilon": "0.05"}),
    ("ada", "SELECT region, COUNT(*) AS n FROM purchases GROUP BY region", {"share": "0.05"}),
    ("ben", "SELECT product, COUNT(*) AS sold FROM purchases GROUP BY product", {"share": "0.02"}),
    ("ada", "SELECT QUARTER(day) AS quarter, SUM(spend) AS turnover FROM purchases GROUP BY quarter", {"share": "0.1"}),
)
WAITING = ("ben", "SELECT age, COUNT(*) AS n FROM purchases WHERE card GROUP BY age", {"share": "0.05"})


@dataclass(frozen=True)
class Shop:
    """The service of the shop, and the secret of a one-time login link for each person."""

    service: Service
    links: tuple[tuple[str, str, str], ...]  # name, what they may do, secret


@contextmanager
def shop(rows: int = 400_000, people: int = 60_000) -> Iterator[Shop]:
    """A service for a newly made shop."""
    from ..server import config
    from ..server.registration import register
    from ..server.service import Service
    from ..server.store import DataSet, Store, TableSource

    with TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        (place / "purchases.toml").write_text(SCHEMA, "utf-8")
        data = write(place / "purchases.parquet", rows, people)
        settings = config.Settings(config.Service(ledgers=place, roots=(place,)))
        store = Store.open(place / "service.sqlite")
        table = TableSource(str(data), str(place / "purchases.toml"))
        for name, role, _ in PEOPLE:
            store.add_person(name, role, by=OWNER)  # type: ignore[arg-type]
        register(store, settings, DataSet(DATASET, (table,), str(place / "shop.ledger"), BUDGET), by=OWNER)
        service = Service(store, settings)
        try:
            _policies(service)
            _history(service)
            links = tuple(
                (name, may, store.issue_token(name, "link", "demo", by=OWNER).text) for name, _, may in PEOPLE
            )
            yield Shop(service, links)
        finally:
            service.close()


def _policies(service: Service) -> None:
    from ..server.custody import set_policy
    from ..server.policy import OWNERS, Policy, Price

    ada = replace(
        OWNERS,
        price=Price("share", Fraction(1, 50)),
        most=Fraction(3, 10),
        allowance=Budget(epsilon="0.8", delta="1e-9"),
    )
    ben = Policy(
        price=Price("share", Fraction(1, 100)),
        allowance=Budget(epsilon="0.2", delta="1e-9"),
        approval=Fraction(1, 50),
    )
    policies = {"role:owner": replace(OWNERS, allowance=BUDGET), "person:ada": ada, "person:ben": ben}
    for subject, policy in policies.items():
        set_policy(service.store, DATASET, subject, policy, by=OWNER)


def _history(service: Service) -> None:
    """What was bought before the demonstration began, and a purchase that waits for approval."""
    from ..server.access import Action
    from ..server.errors import ApprovalNeeded
    from ..server.service import questions

    for name, sql, terms in (*HISTORY, WAITING):
        access = service.authorise(service.store.person(name), Action.BUY, DATASET)
        try:
            questions.ask(service, access, sql, terms)
        except ApprovalNeeded:
            assert (name, sql, terms) == WAITING


def serve(port: int) -> Iterator[str]:
    """Serve the shop on this machine: yields a line for each person with their link once it is ready, then serves."""
    import uvicorn

    from ..server.http import application
    from ..server.page import routes
    from ..server.page.learn import TOPICS

    with shop() as opened:
        config = uvicorn.Config(application(opened.service, routes(), TOPICS), port=port, log_level="warning")
        socket = config.bind_socket()
        socket.listen()  # from here on a browser that asks is answered, at most a moment later
        try:
            place = f"http://127.0.0.1:{socket.getsockname()[1]}"
            yield f"The shop is served at {place}, to this machine alone, until you press Ctrl+C."
            for name, may, secret in opened.links:
                yield f"\n{name} {may}:\n  {place}/login#{secret}"
            yield "\nEach link works once."
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[socket])
        finally:
            socket.close()
