"""Names, labels and keys that would like to be scripts stay text: on the page, and in what is downloaded from it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from .conftest import HACK, HOSTILE_COLUMN, LABELS, TEXT_KEY

pytestmark = pytest.mark.xdist_group("browser")
KEY = '"' + HOSTILE_COLUMN.replace('"', '""') + '"'


def bought(page, sql):
    page.fill("#sql", sql)
    page.locator(".offer [aria-live]:not([aria-busy])").wait_for()
    page.locator("#buy:enabled").click()
    page.locator("#answer").wait_for()


def test_hostile_names_and_labels_are_text_everywhere(visit, tmp_path):
    with visit("ada", "/d/hostile") as page:
        page.get_by_role("button", name="onerror").first.wait_for()
        assert HACK in page.inner_text(".columns")
        page.locator(".columns button").first.click()  # the hostile column becomes a key
        assert KEY in page.input_value("#sql")
        page.get_by_label("Add a condition").select_option(HOSTILE_COLUMN)
        bought(page, f"SELECT {KEY}, COUNT(*) AS n FROM hostile GROUP BY {KEY}")
        page.locator("#answer svg").wait_for()
        text = page.inner_text("#answer table")
        assert HACK in text and LABELS[2] in text and "\u202e" not in text and "\\u202ereversed" in text
        assert page.locator("#answer img, #answer script").count() == 0
        for summary in page.locator("#answer summary").all():
            summary.click()
        page.locator("#answer dl").first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV").click()
        download.value.save_as(tmp_path / "answer.csv")
        lines = (tmp_path / "answer.csv").read_text("utf-8").splitlines()
        assert any(line.startswith(("'=HYPERLINK", "\"'=HYPERLINK")) for line in lines)
        assert not any(line.startswith("=") for line in lines)
        page.get_by_role("link", name="Link for good").click()
        page.locator("#answer svg").wait_for()
        page.get_by_role("button", name="Verify").click()
        page.get_by_text("Verified", exact=True).wait_for()
        page.goto("/d/hostile/history")
        page.get_by_text("onerror").first.wait_for()
    with visit("olivia", "/custody") as page:
        page.get_by_label("About the data set").select_option("hostile")
        page.locator("#consequences", has_text="onerror").wait_for()
        page.locator("#ledger", has_text="onerror").wait_for()


def test_people_labels_and_requests_that_are_hostile_are_text(visit, site):
    """Who asks for access, or for approval, chooses these words; owners read them."""
    store, who = site.service.store, f"mallory {HACK}"
    store.add_person(who, "analyst", by="olivia")
    store.issue_token(who, "token", f"label {HACK}", by="olivia")
    policy = replace(store.policies("shop")["person:ben"], approval=Fraction(0), streams=True)
    store.set_policy("hostile", f"person:{who}", policy, by="olivia")
    with visit(who, "/d/hostile") as page:
        page.locator(".offer .big").wait_for()
        assert HACK in page.inner_text("header")
        page.fill("#sql", f"SELECT COUNT(*) AS {KEY} FROM hostile WHERE amount > 3 -- {HACK}")
        page.locator(".offer [aria-live]:not([aria-busy])").wait_for()
        page.locator("#buy:enabled").click()
        page.get_by_text("Waiting for an owner").wait_for()
    with visit("olivia", "/custody") as page:
        page.locator("#approvals tr", has_text=f"-- {HACK}").get_by_role("button", name="Approve").click()
        page.locator("#people tr", has_text=HACK).first.wait_for()
        page.get_by_label("About the data set").select_option("hostile")
        page.locator("#policies tr", has_text="onerror").wait_for()
        for details in page.locator("details").all():
            details.evaluate("node => { node.open = true }")
        assert page.locator("main img, main script").count() == 0
    with visit(who, "/d/hostile") as page:
        bought(page, f"SELECT COUNT(*) AS {KEY} FROM hostile WHERE amount > 3 -- {HACK}")
        page.goto("/d/hostile/history")
        page.get_by_text(f"-- {HACK}").wait_for()


def test_hostile_text_keys_are_text(visit):
    with visit("ada", "/d/hostile") as page:
        bought(page, "SELECT remark, COUNT(*) AS n FROM hostile GROUP BY remark")
        page.get_by_text(TEXT_KEY).first.wait_for()


def test_a_hostile_question_and_address_are_text(visit):
    with visit("ada", "/d/shop#sql=%3Cimg%20src%3Dx%20onerror%3Dhacked()%3E&kind=%3Cscript%3E") as page:
        page.locator(".offer .refused").wait_for()
        assert page.input_value("#sql") == HACK
        page.goto(f"/d/{HACK.replace(' ', '%20')}")
        page.locator(".refused").wait_for()
        assert HACK in page.inner_text("h1")
