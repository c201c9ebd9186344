"""The shells of the page without a browser: no data in them, strict headers, files by name alone."""

import re
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import pytest

from tacit.server.page import learn, shells, vega

PAGES = ("/", "/login", "/d/shop", "/d/shop/history", "/d/shop/tables", "/r/0123", "/custody", "/learn")


pytestmark = pytest.mark.xdist_group("browser")  # the same process as the others, as it has the service


@pytest.fixture
def get(site):
    """Get a path as it is written: its status, its headers and its text."""

    def answer(path, **headers):
        connection = HTTPConnection(urlsplit(site.address).netloc, timeout=60)
        connection.request(
            "GET", quote(path, safe="/%.?=&"), headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        found = connection.getresponse()
        text = found.read().decode()
        connection.close()
        return found.status, found.headers, text

    return answer


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_a_shell_with_strict_headers(get, path):
    status, headers, text = get(path)
    assert status == 200 and headers["cache-control"] == "no-store"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert not re.search(r"<script(?! type=\"module\" src=\"/static/\w+\.js\"></script>)|<style|\son\w+=|style=", text)
    assert "http" not in re.sub(r"<code>.*?</code>", "", text)


@pytest.mark.parametrize("name", ["<title><script>hacked()<script>", "{{7*7}}", "a'b\"c"])
def test_no_part_of_an_address_gets_into_a_page(get, name):
    assert get(f"/d/{name.replace('/', '%2f')}")[2] == get("/d/shop")[2]


@pytest.mark.parametrize(
    "name", ["../__init__.py", "..%2f__init__.py", "%2e%2e/shells.py", "page.css/..", "nothing.js", ".."]
)
def test_only_files_of_the_folder_are_served(get, name):
    status, _, text = get(f"/static/{name}")
    assert status == 404 and "import" not in text


def test_a_file_is_sent_once_and_again_when_it_changes(get):
    _, headers, _ = get("/static/page.css")
    assert headers["cache-control"] == "no-cache" and headers["content-type"].startswith("text/css")
    status, _, text = get("/static/page.css", if_none_match=headers["etag"])
    assert (status, text) == (304, "")


def test_scripts_make_no_markup_and_no_code_from_text():
    """Text reaches the document as text alone: none of the ways in which a string becomes markup or code is used."""
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|DOMParser"
    ways += r"|setAttribute\(\"(on|style)"
    for path in sorted(shells.FOLDER.glob("*.js")):
        text = path.read_text("utf-8")
        assert not re.search(ways, text), path.name
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"https://vega.github.io"}, (
            path.name
        )  # the name of a schema
        assert len(text.splitlines()) <= 400


def test_every_module_that_is_imported_is_there():
    files = {path.name for path in shells.FOLDER.iterdir()} | {"vega.js"}
    for path in shells.FOLDER.glob("*.js"):
        imported = re.findall(r"from \"\./(\w+\.js)\"|import\(\"/static/(\w+\.js)\"\)", path.read_text("utf-8"))
        assert {name for pair in imported for name in pair if name} <= files, path.name
    assert {script for _, script, *_ in shells.PAGES} <= files


@pytest.mark.parametrize(
    ("path", "to"),
    [("/d/a b/history.csv", "/v1/datasets/a%20b/history?format=csv"), ("/r/ab.json", "/v1/releases/ab?format=json")],
)
def test_a_suffix_leads_to_the_data_of_a_page(get, path, to):
    status, headers, _ = get(path)
    assert (status, headers["location"]) == (307, to)


def test_vega_is_bundled_by_another_process_and_only_once(get):
    status, headers, text = get("/static/vega.js")
    assert status == 200 and text.endswith("as vegaEmbed};")
    assert get("/static/vega.js", if_none_match=headers["etag"])[0] == 304
    assert vega.vega() is vega.vega()


def test_without_vl_convert_the_page_does_without_charts(get, monkeypatch):
    monkeypatch.setattr(vega, "_bundles", [None])
    assert get("/static/vega.js")[0] == 404


def test_figures_to_learn_from_agree_with_the_library():
    import tacit

    laplace = learn.TOPICS["mechanism.laplace.0.5"]()
    law = {(row["input"], row["output"]): row["probability"] for row in laplace["law"]}
    exact = tacit.Laplace(epsilon="0.5").law(0)
    assert all(p == float(exact.mass(y)) for (who, y), p in law.items() if who == "without the person")
    assert laplace["error"] == tacit.Laplace(epsilon="0.5").error(beta="0.05")
    ratios = [law["with the person", y] / law["without the person", y] for (_, y) in law]
    assert max(ratios) < 2.71829**0.5 and min(ratios) > 2.71829**-0.5
    curves = learn.TOPICS["composition.laplace.0.1"]()["curves"]
    last = {row["accountant"]: row["epsilon"] for row in curves if row["k"] == 1000}
    assert last["basic"] == pytest.approx(100) and min(last.values()) == last["PLD"] < last["advanced"] < last["basic"]
    assert all(re.fullmatch(r"[\w.]+", topic) for topic in learn.TOPICS)


def test_the_attacks_on_the_page_are_all_there_are():
    from tacit.audit import attacks

    assert {name.replace("_", " ") for name in learn.ATTACKS} == {each.name for each in attacks.ALL}
    found = learn.TOPICS["attack.differencing"]()
    assert found["naive"]["right"] > 0.95 and found["control"]["right"] < 0.95
