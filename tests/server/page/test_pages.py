"""Every page: nothing serious for axe, readable on a phone, usable by the keyboard, light and dark."""

import re

import pytest

pytestmark = pytest.mark.xdist_group("browser")
PHONE = {"viewport": {"width": 390, "height": 844}}
PAGES = {
    "home": ("ada", "/", "h2"),
    "login": (None, "/login", "#token"),
    "ask": ("ada", "/d/shop", ".offer .big"),
    "history": ("ada", "/d/shop/history", "tbody tr, .state"),
    "tables": ("ada", "/d/shop/tables", "#model-title"),
    "custody": ("olivia", "/custody", "#ledger .timeline"),
    "learn": (None, "/learn", "figure svg"),
    "missing": ("ada", "/d/nothing", ".refused"),
}


@pytest.fixture(scope="module")
def axe():
    from axe_playwright_python.sync_playwright import Axe

    return Axe()


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_a_phone_shows_all(visit, axe, name):
    who, path, ready = PAGES[name]
    with visit(who, path, color_scheme="dark", **PHONE) as page:
        page.locator(ready).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("h1").count() == 1
        assert violations(axe, page) == []
        page.emulate_media(color_scheme="light")
        assert violations(axe, page, ["color-contrast"]) == []


def violations(axe, page, rules=None):
    """What axe finds of moderate or higher impact."""
    options = None if rules is None else {"runOnly": {"type": "rule", "values": rules}}
    found = axe.run(page, options=options).response["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] != "minor"]


def test_axe_finds_nothing_in_an_answer_and_in_a_refusal(visit, axe):
    with visit("ada", "/d/shop") as page:
        page.locator(".offer .big").wait_for()
        page.get_by_role("button", name="Rehearse").click()
        page.locator("#answer").wait_for()
        for details in page.locator("details").all():
            details.evaluate("node => { node.open = true }")
        assert violations(axe, page) == []
        page.fill("#sql", "SELECT person FROM purchases")
        page.locator(".offer .refused").wait_for()
        assert violations(axe, page) == []


def test_everything_is_reached_by_the_keyboard_alone(visit, site):
    token = site.service.store.issue_token("ada", "token", by="olivia").text
    with visit(path="/login") as page:
        press = page.keyboard.press
        page.keyboard.type(token)  # the field has the focus
        press("Enter")
        page.wait_for_url(f"{site.address}/")
        page.get_by_role("heading", name="shop").wait_for()
        press("Tab")
        assert focused(page) == "Skip to the content"
        press("Enter")
        press("Tab")
        assert focused(page).split()[0] in ("hostile", "shop", "small")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        while not focused(page).startswith("shop"):
            press("Tab")
        press("Enter")
        page.locator(".offer .big").wait_for()
        press("/")
        assert page.evaluate("document.activeElement.id") == "sql"
        press("Control+a")
        page.keyboard.type("SELECT card, COUNT(*) AS n FROM purchases GROUP BY card")
        page.locator(".offer [aria-live]:not([aria-busy])").wait_for()
        press("Control+Enter")
        page.get_by_text("made-up rows").first.wait_for()
        page.focus("#sql")
        press("Control+Shift+Enter")
        page.get_by_text(re.compile(r"took \d")).wait_for()  # less than 2 where Gaussian noise was bought before
        assert page.evaluate("document.activeElement.id") == "answer"
        press("?")
        page.get_by_role("dialog").wait_for()
        press("Escape")
        press("g")
        press("l")
        page.wait_for_url("**/learn")


def focused(page):
    return page.evaluate("document.activeElement.innerText ?? ''")


def test_learning(visit):
    with visit(None, "/learn") as page:
        page.locator("figure svg").nth(2).wait_for()
        page.get_by_label("epsilon").first.focus()
        page.keyboard.press("End")
        page.get_by_text("Loss: epsilon = 4.").wait_for()
        page.get_by_role("button", name="Run differencing").click()
        row = page.locator("tr", has_text="differencing")
        row.get_by_text("no attacker gets above").wait_for()
        assert row.inner_text().count("right") == 2
