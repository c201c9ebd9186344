"""Asking in a browser: log in, offer, rehearse, buy, repeat for free, be refused, wait for approval."""

import re

import pytest

pytestmark = pytest.mark.xdist_group("browser")
COUNT = "SELECT region, COUNT(*) AS n FROM purchases GROUP BY region"


def offered(page, sql, share=None):
    """Type a question; wait for its offer."""
    page.fill("#sql", sql)
    if share is not None:
        page.evaluate("document.querySelector('#exact-terms').open = true")
        page.select_option("#kind", "share")
        page.fill("#amount", share)
    page.wait_for_selector(".offer [aria-live]:not([aria-busy])")


def test_a_link_logs_in_once_and_leaves_no_trace_in_the_address(visit, site):
    link = site.link("ada")
    with visit() as page:
        page.goto(link)
        page.wait_for_url(f"{site.address}/")
        page.get_by_role("heading", name="shop").wait_for()
        assert "tacit_" not in page.evaluate("location.href + document.cookie")
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        page.goto("/d/shop")
        page.wait_for_url("**/login?next=%2Fd%2Fshop")
    with visit() as page:
        page.goto(link)
        page.get_by_role("alert").wait_for()
        assert page.url == f"{site.address}/login"


def test_a_token_that_is_typed_logs_in(visit, site):
    token = site.service.store.issue_token("ada", "token", by="olivia").text
    with visit(path="/login?next=/d/shop") as page:
        page.fill("#token", "tacit_nothing")
        page.keyboard.press("Enter")
        page.get_by_role("alert").wait_for()
        page.fill("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.address}/d/shop")


def test_a_login_leads_to_a_page_of_this_service(visit, site):
    for elsewhere in (
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "javascript:hacked()",
        "/.//evil.example/x",
        "/..//evil.example",
    ):
        with visit() as page:
            page.goto(f"/login?next={elsewhere}#{site.service.store.issue_token('ada', 'link', by='olivia').text}")
            page.wait_for_url(f"{site.address}/")


def test_offer_rehearse_buy_and_again_for_free(visit):
    with visit("ada", "/d/shop") as page:
        offered(page, COUNT)
        assert "±" in page.inner_text(".offer .big")
        page.get_by_role("button", name="Rehearse").click()
        answer = page.locator("#answer")
        answer.wait_for()
        assert "made up" in answer.inner_text() and "nothing charged" in answer.inner_text()
        before = page.inner_text(".gauge")
        assert before.startswith("100") or "left" in before
        page.click("#buy")
        page.get_by_text(re.compile(r"took \d")).wait_for()
        rows = page.locator("#answer tbody tr")
        assert rows.count() == 6 and all("[" in row and " to " in row for row in rows.all_inner_texts())
        page.locator("#answer svg").wait_for()
        page.get_by_text("Free: bought on").wait_for()
        assert page.inner_text(".gauge") != before
        left, values = page.inner_text(".gauge"), rows.all_inner_texts()
        page.get_by_role("button", name="Show again, free").click()
        page.get_by_text("free: bought before").wait_for()
        assert rows.all_inner_texts() == values and page.inner_text(".gauge") == left


def test_the_slider_trades_price_for_accuracy_and_epsilon_is_behind_a_disclosure(visit):
    with visit("ada", "/d/shop") as page:
        offered(page, "SELECT COUNT(*) AS n FROM purchases")
        errors = []
        for end in ("Home", "End"):
            page.focus("#slider")
            page.keyboard.press(end)
            page.wait_for_selector(".offer [aria-live]:not([aria-busy])")
            errors.append(float(page.inner_text(".offer .big").split()[1].replace(",", "")))
        assert errors[0] > errors[1] > 0
        assert not page.locator("#kind").is_visible()
        page.click("#exact-terms summary")
        page.select_option("#kind", "epsilon")
        page.fill("#amount", "0.5")
        page.get_by_text("0.5-differentially private").wait_for()


def test_clicks_and_text_are_two_views_of_one_question(visit):
    with visit("ada", "/d/shop") as page:
        page.get_by_role("button", name="region").first.click()
        page.get_by_label("Add what to compute").select_option(label="mean of spend")
        page.get_by_label("Add a condition").select_option("age")
        page.get_by_label("Value for age").fill("18")
        page.get_by_label("Value for age").press("Tab")
        text = page.input_value("#sql")
        shown = (
            "SELECT region, COUNT(*) AS n, AVG(spend) AS mean_spend\nFROM purchases\nWHERE age >= 18\nGROUP BY region"
        )
        assert text == shown
        page.fill("#sql", text.replace("GROUP BY region", "GROUP BY region ORDER BY n DESC"))
        page.get_by_text("the text alone counts").wait_for()
        page.fill("#sql", "select count(distinct PERSON) from purchases where not card")
        page.locator(".chip", has_text="how many, each person once").wait_for()


READS = """async ([text, tables]) => {
    const { read, write } = await import('/static/question.js');
    const model = read(text, tables);
    if (model === null) return null;
    const again = write(model, tables[0]);
    return [again, JSON.stringify(read(again, tables)) === JSON.stringify(model)];
}"""
TABLES = [
    {
        "name": "t",
        "unit": "person",
        "columns": [
            {"name": "a", "type": "category"},
            {"name": 'Odd "name"', "type": "category"},
            {"name": "b", "type": "boolean"},
            {"name": "x", "type": "integer"},
            {"name": "d", "type": "date"},
        ],
    }
]


AGAIN = {
    "select count(*) from T": "SELECT COUNT(*)\nFROM t",
    "SELECT a, SUM(x) AS s FROM t GROUP BY A;": "SELECT a, SUM(x) AS s\nFROM t\nGROUP BY a",
    "SELECT COUNT(*) FROM t WHERE b AND x != 3": "SELECT COUNT(*)\nFROM t\nWHERE b AND x <> 3",
    "SELECT COUNT(*) FROM t WHERE a IN ('it''s', 'y')": "SELECT COUNT(*)\nFROM t\nWHERE a IN ('it''s', 'y')",
    "SELECT COUNT(*) FROM t WHERE d < DATE '2025-01-01'": "SELECT COUNT(*)\nFROM t\nWHERE d < DATE '2025-01-01'",
    'SELECT "Odd ""name""", COUNT(*) FROM t GROUP BY "Odd ""name"""': (
        'SELECT "Odd ""name""", COUNT(*)\nFROM t\nGROUP BY "Odd ""name"""'
    ),
}
OTHERS = (
    "SELECT COUNT(*) FROM t ORDER BY 1",
    "SELECT COUNT(*) FROM t WHERE x > 1 OR b",
    "SELECT COUNT(*) FROM t -- a comment",
    "SELECT x + 1, COUNT(*) FROM t GROUP BY x",
    "SELECT COUNT(x) FROM t",
    "SELECT COUNT(DISTINCT a) FROM t",
    "SELECT a, COUNT(*) FROM t",
    "SELECT COUNT(*) FROM other",
    "SELECT COUNT(*) FROM t WHERE a",
    "SELECT 'unfinished",
    "",
)


def test_what_clicks_can_show_is_read_and_written_again_and_nothing_else(visit):
    with visit(path="/login") as page:
        assert {text: page.evaluate(READS, [text, TABLES]) for text in AGAIN} == {
            text: [again, True] for text, again in AGAIN.items()
        }
        assert [text for text in OTHERS if page.evaluate(READS, [text, TABLES]) is not None] == []


def test_a_question_that_cannot_be_answered_is_refused_with_its_place(visit):
    with visit("ada", "/d/shop") as page:
        offered(page, "SELECT person, spend FROM purchases")
        assert "line 1, column 8" in page.inner_text(".offer .refused")
        assert page.locator("#buy").is_disabled()
        page.get_by_role("button", name="Show the place").click()
        assert page.evaluate("document.activeElement.selectionStart") == 7


def test_when_the_budget_is_spent_the_page_says_so_and_what_to_do(visit):
    with visit("ada", "/d/small") as page:
        offered(page, "SELECT COUNT(*) AS n FROM purchases", share="0.99")
        page.click("#buy")
        page.locator("#answer").wait_for()
        offered(page, "SELECT card, COUNT(*) AS n FROM purchases GROUP BY card", share="0.5")
        refusal = page.locator(".offer .refused")
        assert "budget" in refusal.inner_text() and page.locator("#buy").is_disabled()
        refusal.get_by_role("button", name="Ask at the least price").click()
        page.wait_for_selector(".offer [aria-live]:not([aria-busy])")
        assert page.locator(".offer .refused").count() == 0 and page.locator("#buy").is_enabled()


def test_a_purchase_that_needs_approval(visit):
    sql = "SELECT card, COUNT(*) AS n FROM purchases GROUP BY card"
    with visit("ben", "/d/shop") as page:
        offered(page, sql, share="0.2")
        assert "policy" in page.inner_text(".offer .refused").lower() and page.locator("#buy").is_disabled()
        offered(page, sql, share="0.08")
        page.get_by_role("button", name="Ask for approval").click()
        page.get_by_text("Waiting for an owner's approval").wait_for()
    with visit("olivia", "/custody") as page:
        row = page.locator("#approvals tr", has_text="ben")
        assert "card" in row.inner_text()
        row.get_by_role("button", name="Approve").click()
        page.get_by_text("Nothing waits for you.").wait_for()
    with visit("ben", "/d/shop") as page:
        offered(page, sql, share="0.08")
        page.click("#buy")
        page.locator("#answer tbody tr").first.wait_for()


def test_what_one_may_not_see_does_not_exist(visit):
    with visit("eve") as page:
        page.get_by_text("There is no data set for you yet").wait_for()
        page.goto("/d/shop")
        hidden = page.locator(".refused")
        hidden.wait_for()
        told = hidden.locator("p").first.inner_text()
        page.goto("/d/nothing")
        page.locator(".refused").wait_for()
        assert page.locator(".refused p").first.inner_text() == told
