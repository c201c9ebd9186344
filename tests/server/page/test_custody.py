"""What owners see and do, cross-tables, and releases for good."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("browser")


def chosen(page, dataset):
    """Choose the data set that the page of owners is about."""
    page.get_by_label("About the data set").select_option(dataset)
    page.locator("#page:not([aria-busy])").wait_for()


def test_an_owner_sees_the_ledger_the_consequences_and_what_a_policy_allows(visit):
    with visit("ada", "/d/shop") as page:
        page.fill("#sql", "SELECT COUNT(*) AS owners_see_this FROM purchases")
        page.locator(".offer [aria-live]:not([aria-busy])").wait_for()
        page.locator("#buy:enabled").click()
        page.locator("#answer").wait_for()
    with visit("olivia", "/custody") as page:
        chosen(page, "shop")
        page.locator("#ledger .timeline", has_text="owners_see_this").wait_for()
        page.locator("#ledger").get_by_role("button", name="Verify").click()
        page.get_by_text("The ledger is intact").wait_for()
        assert "± " in page.locator("#consequences tr", has_text="spend").inner_text()
        page.get_by_text("Set a policy, or try one").click()
        page.get_by_label("Price of a question that names none").select_option("error")
        page.get_by_label("Amount").last.fill("50")
        page.get_by_role("button", name="Try").click()
        page.locator("#policies .state", has_text="This policy allows").wait_for()


def test_an_owner_adds_a_person_sets_a_policy_and_hands_out_a_link(visit, site):
    with visit("olivia", "/custody") as page:
        page.locator("#people").get_by_label("Name").fill("carol")
        page.get_by_role("button", name="Add a person").click()
        page.get_by_role("button", name="Login link for carol").click()
        link = page.locator("#people pre").inner_text()
        chosen(page, "shop")
        page.get_by_text("Set a policy, or try one").click()
        page.get_by_label("For", exact=True).fill("person:carol")
        page.get_by_label("Price of a question that names none").select_option("share")
        page.get_by_label("Amount").last.fill("0.01")
        page.get_by_role("button", name="Set this policy").click()
        page.locator("#policies tr", has_text="carol").wait_for()
    with visit() as page:
        page.goto(link)
        page.wait_for_url(f"{site.address}/")
        page.get_by_role("heading", name="shop").wait_for()
        page.goto("/custody")
        page.get_by_text("This page is for owners").wait_for()
    with visit("olivia", "/custody") as page:
        revoke = page.get_by_role("button", name="Revoke carol")
        revoke.click()
        revoke.click()
        page.locator("#people tr", has_text="carol").get_by_text("revoked").wait_for()


def test_history_is_filtered_and_downloaded(visit):
    with visit("ada", "/d/hostile") as page:
        page.locator(".offer .big").wait_for()
        page.locator("#buy:enabled").click()
        page.locator("#answer").wait_for()
        page.goto("/d/hostile/history")
        page.fill("#filter", "nothing has this")
        page.get_by_text("0 purchases of").wait_for()
        page.fill("#filter", "count")
        page.locator("tbody tr").first.wait_for()
        for suffix in ("CSV", "JSON"):
            with page.expect_download() as download:
                page.get_by_role("link", name=suffix).click()
            assert download.value.failure() is None


def test_any_cross_table_of_a_model_that_was_bought(visit):
    with visit("ada", "/d/shop/tables") as page:
        for name in ("region", "product", "card"):
            page.get_by_label(name, exact=True).check()
        page.get_by_role("button", name="Buy for").click()
        page.locator("#cross-title").wait_for(timeout=30_000)
        page.get_by_label("Rows").select_option("region")
        page.get_by_label("Columns").select_option("card")
        page.get_by_role("heading", name="region by card").wait_for()
        rows = [
            row.split("\t") for row in page.locator("section[aria-labelledby=cross-title] tbody tr").all_inner_texts()
        ]
        cells = page.locator("section[aria-labelledby=cross-title] tbody td")
        assert all("±" in text for text in cells.all_inner_texts()) and len(rows) == 7
        numbers = [int(text.split("\n")[0].replace(",", "").replace("\u2212", "-")) for text in cells.all_inner_texts()]
        table = [numbers[i : i + 3] for i in range(0, 21, 3)]
        assert all(abs(false + true - both) <= 2 for false, true, both in table)  # rounded to whole rows
        assert all(abs(sum(column[:-1]) - column[-1]) <= 4 for column in zip(*table, strict=True))
        left = site_left(page)
        page.get_by_role("button", name="Draw 1,000 synthetic rows, free").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download CSV").click()
        lines = Path(download.value.path()).read_text("utf-8").splitlines()
        assert lines[0] == "region,product,card" and len(lines) == 1001 and site_left(page) == left


def site_left(page):
    """What is left of the budget to whoever looks at a page."""
    return page.evaluate("fetch('/v1/datasets/shop/remaining').then((reply) => reply.text())")


def test_a_release_is_public_once_it_is_published(visit, site):
    with visit("ada", "/d/shop") as page:
        page.locator(".offer .big").wait_for()
        page.locator("#buy:enabled").click()
        page.get_by_role("link", name="Link for good").click()
        page.get_by_role("button", name="Verify").click()
        page.get_by_text("Verified", exact=True).wait_for()
        address = page.url
        assert page.get_by_role("button", name="Publish").count() == 0
    with visit() as page:
        page.goto(address)
        page.locator(".refused").wait_for()
    with visit("olivia") as page:
        page.goto(address)
        page.get_by_role("button", name="Publish").click()
        page.get_by_text("public: anyone").wait_for()
    with visit() as page:
        page.goto(address)
        page.locator("#answer tbody tr").first.wait_for()
        page.get_by_text("public: anyone").wait_for()
