"""One browser and one service for all tests of the page."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uvicorn

from tacit import Budget
from tacit.demo.purchases import SCHEMA, write
from tacit.server import config
from tacit.server.custody import set_policy
from tacit.server.http import application
from tacit.server.page import routes
from tacit.server.page.learn import TOPICS
from tacit.server.policy import Policy, Price
from tacit.server.registration import register
from tacit.server.service import Service
from tacit.server.store import DataSet, Store, TableSource

HACK = "<img src=x onerror=hacked()>"
HOSTILE_COLUMN = f'"><script>hacked()</script>{HACK}'
LABELS = (
    HACK,
    "=HYPERLINK(hacked())",
    "</textarea></script><script>hacked()</script>",
    "' onmouseover=hacked() x='",
    "\u202ereversed",
)
TEXT_KEY = f"{HACK} {{{{constructor.constructor('hacked()')()}}}}"


def quoted(text):
    """A basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\u202e", "\\u202e") + '"'


HOSTILE = f"""
[table]
name = "hostile"
unit = "person"
rows = 1
size = 600
[columns.{quoted(HOSTILE_COLUMN)}]
type = "category"
values = [{", ".join(map(quoted, LABELS))}]
[columns.amount]
type = "integer"
lower = 0
upper = 9
[columns.remark]
type = "text"
"""


@dataclass(frozen=True)
class Site:
    """A running service: its address, and its store."""

    address: str
    service: Service

    def link(self, name):
        """A one-time login link."""
        return f"{self.address}/login#{self.service.store.issue_token(name, 'link', by='olivia').text}"


def fill(store, place, settings):
    """People, data sets and policies."""
    for name, role in (("olivia", "owner"), ("ada", "analyst"), ("ben", "analyst"), ("eve", "analyst")):
        store.add_person(name, role, by="olivia")
    (place / "shop.toml").write_text(SCHEMA, "utf-8")
    (place / "hostile.toml").write_text(HOSTILE, "utf-8")
    write(place / "shop.parquet", 4000, 1000)
    people = range(600)
    columns = {"person": list(people), HOSTILE_COLUMN: [LABELS[i % len(LABELS)] for i in people]}
    columns |= {"amount": [i % 10 for i in people], "remark": [TEXT_KEY] * len(people)}
    pq.write_table(pa.table(columns), place / "hostile.parquet")
    for name, data, epsilon in (
        ("shop", "shop.parquet", 1),
        ("small", "shop.parquet", 1),
        ("hostile", "hostile.parquet", 10),
    ):
        schema = "hostile.toml" if name == "hostile" else "shop.toml"
        table = TableSource(str(place / data), str(place / schema))
        budget = Budget(epsilon=epsilon, delta="1e-9")
        register(store, settings, DataSet(name, (table,), str(place / f"{name}.ledger"), budget), by="olivia")
    everything = {"fresh": True, "streams": True, "workloads": True, "synthetic": True}
    price = Price("share", Fraction(1, 50))
    for dataset in ("shop", "small", "hostile"):
        set_policy(store, dataset, "person:ada", Policy(price=price, **everything), by="olivia")
    ben = Policy(price=price, most=Fraction(1, 10), approval=Fraction(1, 20))
    set_policy(store, "shop", "person:ben", ben, by="olivia")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site").resolve()
    store = Store.open(place / "service.sqlite")
    settings = config.Settings(config.Service(ledgers=place, roots=(place,)))
    fill(store, place, settings)
    service = Service(store, settings)
    running = uvicorn.Config(application(service, routes(), TOPICS), port=0, log_level="warning")
    socket = running.bind_socket()
    socket.listen()
    server = uvicorn.Server(running)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    yield Site(f"http://127.0.0.1:{socket.getsockname()[1]}", service)
    server.should_exit = True
    thread.join(10)


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Give all tests of this folder to one process."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")
def browser(chromium):
    """A browser, which is closed after the last test of this folder: while it runs, so does an event loop."""
    from playwright.sync_api import sync_playwright

    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
    ]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=quiet)
        yield running
        running.close()


@pytest.fixture
def visit(browser, site):
    """Opens a page as somebody; at the end, no script but ours ran and no other host was asked for anything."""
    contexts, wrong = [], []

    @contextmanager
    def opened(name=None, path=None, **options):
        context = browser.new_context(base_url=site.address, reduced_motion="reduce", **options)
        contexts.append(context)
        context.expose_function("hacked", lambda: wrong.append("a foreign script ran"))
        context.on(
            "request",
            lambda request: (
                None if request.url.startswith((site.address, "data:", "blob:")) else wrong.append(request.url)
            ),
        )
        page = context.new_page()
        page.set_default_timeout(30_000)  # a busy machine is not a fault of the page
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append("a dialog opened"), dialog.dismiss()))
        page.on(
            "console", lambda message: wrong.append(message.text) if "Content Security Policy" in message.text else None
        )
        if name is not None:
            page.goto(site.link(name))
            page.wait_for_url(f"{site.address}/")
        if path is not None:
            page.goto(path)
        try:
            yield page
        except Exception as error:
            error.add_note(f"The page at {page.url} says:\n{page.inner_text('body')}")
            raise
        context.close()

    yield opened
    assert wrong == []
