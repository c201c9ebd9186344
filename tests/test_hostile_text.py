"""Names, labels, keys, questions and names of streams that would act where they are shown, through every output.

Controls, escape sequences, directional overrides, what has no width, tags, rich markup, formulas.
"""

import csv
import inspect
import io
import json
import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import tacit
from tacit import Curator
from tacit.cli import app
from tacit.core import errors, safe_text
from tacit.core.accounting.loss import Loss
from tacit.ledger import Ledger
from tacit.plots import save
from tacit.release import Release
from tacit.server.store import Store
from tacit.workloads import marginals

TAGS = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "&lt;b&gt;\"'"]
MARKUP = ["[bold]x[/bold]", "[link=http://e.org]x[/link]", "[/red]", "[red", "\\[x]", ":smile:", "ends in \\"]
HIDDEN = ["a\u202eb", "\u2066x", "a\u200bb", "\ufeff", "\u3164", "\u2028x", "a\ufe0f"]
ACTING = [
    "\x1b]8;;http://e.org\x07x\x1b]8;;\x07",
    "\x1b[2J",
    "\x9b31m",
    "\x07",
    "\x7f",
    "a\rb",
    "a\nPaid 0; all is left.",
]
FORMULAS = ["=1+1", "+1", "-1", "@x"]
LABELS = TAGS + MARKUP + HIDDEN + FORMULAS
EVERYTHING = LABELS + ACTING
COUNT = 40  # of each private key, far above its threshold


ACTS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|\r(?!\n)")


def shown(text, *, lines=True):
    """Every character can be seen, and none acts."""
    for c in text.replace("\n", "") if lines else text:
        assert c.isprintable() and not re.match(f"[{safe_text.UNSEEN}]", c), (c, text)


def in_html(text):
    assert "<script>alert" not in text and "<img" not in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose labels, private keys and columns are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    import pyarrow as pa
    from pyarrow import parquet

    rows = [
        (i, LABELS[i % len(LABELS)], EVERYTHING[i % len(EVERYTHING)], i % 90) for i in range(COUNT * len(EVERYTHING))
    ]
    columns = dict(zip(("p", "label", "note", COLUMN), map(list, zip(*rows, strict=True)), strict=True))
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    values = ", ".join(json.dumps(label) for label in LABELS)
    (folder / "t.toml").write_text(
        '[table]\nname = "t"\nunit = "p"\nrows = 1\nsize = 999\n'
        f'[columns.label]\ntype = "category"\nvalues = [{values}]\n'
        f'[columns.note]\ntype = "text"\n[columns.{json.dumps(COLUMN)}]\ntype = "integer"\nlower = 0\nupper = 99\n',
        "utf-8",
    )
    return folder


COLUMN = "<b>[bold]\u202e"
MONEY = tacit.Budget(epsilon=1000, delta="1e-6")


@pytest.fixture
def curator(folder, tmp_path):
    with Curator(tacit.Table(folder / "t.parquet"), ledger=tmp_path / "t.ledger", budget=MONEY) as curator:
        yield curator


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def questions():
    """Each hostile text as an alias, as a comment, and as keys that come from labels and from the data."""
    for i, name in enumerate(EVERYTHING):
        names = f"label AS {quoted(name + 'k')}, COUNT(*) AS {quoted(name)}"
        yield f"SELECT {names} FROM t GROUP BY label /* {i} {name} */"
    yield "SELECT note, COUNT(*) AS n FROM t GROUP BY note"
    yield f"SELECT SUM({quoted(COLUMN)}) AS s, MEDIAN({quoted(COLUMN)}) AS m FROM t"


def bought(curator):
    for question in questions():
        try:
            yield curator.ask(question, epsilon=1)
        except errors.BadQuestion as refused:
            shown(str(refused))


def test_everything_that_a_release_says(curator, tmp_path):
    count = 0
    for release in bought(curator):
        count += 1
        for text in (str(release), repr(release), json.dumps(release.card())):
            shown(text)
        in_html(release._repr_html_())
        shown(release._repr_html_())
        assert re.sub("</?(table|tr|td|th|p)>", "", release._repr_html_()).count("<") == 0
        table = list(csv.reader(io.StringIO(release.to_csv())))
        for row in table:
            for cell in row:
                assert not cell.startswith(("=", "@", "\t", "\r")) and not re.match("[+-](?![0-9.]+$)", cell)
                assert not ACTS.search(cell)
        again = Release.from_json(release.to_json())
        assert again.names == release.names  # nothing is lost of what is stored
    assert count > len(LABELS)


def test_a_picture_holds_no_script_but_its_own(curator, tmp_path):
    for i, release in enumerate(bought(curator)):
        chart = release.plot()
        spec = json.dumps(chart.to_dict())
        assert not re.search("<[A-Za-z/!?]", spec)
        if i in (0, 1, len(LABELS)):
            html = save(chart, tmp_path / f"{i}.html").read_text("utf-8")
            assert html.count("</script>") == html.count("<script")  # ours alone
            in_html(html.rpartition("vegaEmbed")[2])
            shown(json.loads(json.dumps(spec)).encode("ascii", "backslashreplace").decode())
            svg = save(chart, tmp_path / f"{i}.svg").read_text("utf-8")
            in_html(svg)
            assert "<script" not in svg
    in_html(json.dumps({"x": TAGS}, cls=safe_text.InScript))
    assert json.loads(json.dumps({"x": EVERYTHING}, cls=safe_text.InScript)) == {"x": EVERYTHING}


@pytest.mark.filterwarnings("ignore::tacit.curator.purse.TakesMore")
def test_everything_else_that_is_printed_in_python(curator):
    for name in EVERYTHING:
        question = f"SELECT COUNT(*) AS {quoted(name)} FROM t"
        try:
            offer = curator.offer(question, epsilon=1)
            for text in (str(offer), repr(offer), offer.explain()):
                shown(text)
        except errors.BadQuestion as refused:
            shown(str(refused))
        stream = curator.above_threshold(10, epsilon=1, name=name)
        shown(repr(stream))
        for wrong in (f"SELECT {quoted(name)} FROM t", f"SELECT COUNT(*) FROM {quoted(name)}", name):
            with pytest.raises(errors.TacitError) as refused:
                curator.ask(wrong, epsilon=1)
            shown(str(refused.value), lines=False)
        with pytest.raises(errors.TacitError) as refused:
            curator.ask(question, epsilon=f"{name} x")
        shown(str(refused.value), lines=False)
    domain = curator.table.domain("label")
    plan = curator.plan(marginals(domain, k=1), epsilon=1)
    shown(str(plan))
    found = curator.bounds(COLUMN, epsilon=10)
    shown(str(found))
    shown(repr(curator))
    shown(repr(curator.table))
    shown(repr(curator.ledger))
    shown(repr(curator.online(domain, epsilon=50, queries=10, n=1000)))
    for charge in curator.history():
        shown(repr(charge))


def test_every_error_is_safe_whatever_it_quotes():
    result = "".join(EVERYTHING)
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.TacitError)]
    assert len(kinds) > 15
    for kind in kinds:
        for count in range(4):
            try:
                error = kind(*[result] * count)
            except (TypeError, AttributeError):
                continue
            shown(str(error), lines=False)
            break
        else:
            assert kind is errors.BudgetExceeded
    shown(str(errors.BudgetExceeded(tacit.Budget(epsilon=1), Loss(), Loss(), analyst=result)), lines=False)


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code in (code, 1, 2, 3) and not isinstance(result.exception, Exception), result.output
    return result.output


def commands():
    """Every command there is, with its group."""

    def walk(command, path):
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                yield from walk(inner, (*path, name))
        else:
            yield path

    return set(walk(get_command(app), ()))


# Commands that take nothing of a table, a ledger or an analyst: only numbers, or names of tacit's own.
OWN = {
    ("demo",),
    ("compare",),
    ("tour",),
    ("theory",),
    ("compose",),
    ("docs",),
    ("schema",),
    ("serve",),
    ("mcp",),
    ("audit",),
    ("holdout", "demo"),
    ("holdout", "plan"),
    ("holdout", "monitor"),
    ("attack", "all"),
    ("attack", "board"),
    ("attack", "reconstruct"),
}


def on_boards(say, folder, name):
    """A board whose ids, labels and teams have this name in them."""
    folder.mkdir()
    board, solution, predictions = folder / "b", folder / "solution.csv", folder / "predictions.csv"
    for path, rows in ((solution, range(200)), (predictions, range(200)), (folder / "wrong.csv", range(201))):
        with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
            csv.writer(file).writerows([("id", "label"), *((f"{i} {name}", name) for i in rows)])
    team = f"[bold]{name}"
    say("board", "open", board, solution, "--team", "ada", "--team", team, "--quota", "2")
    say("board", "open", board, solution, "--teams", "2", "--quota", "2", "--name", team)
    for who in ("ada", team):
        for file in (predictions, folder / "wrong.csv"):
            say("board", "submit", board, who, file)
            say("board", "submit", board, who, file, "--name", team)
        say("board", "choose", board, who, "1")
        say("board", "show", board, "--team", who)
    say("board", "show", board)
    say("board", "close", board)


def test_every_command_shows_hostile_text_as_it_is(folder, tmp_path):
    data, ledger, seen = folder / "t.parquet", tmp_path / "t.ledger", set()

    def say(*words, machine=False):
        seen.add(words[: 2 if words[0] in ("ledger", "board") else 1])
        text = run(*words)
        assert not ACTS.search(text)
        if not machine:
            shown(text)
        return text

    say("ledger", "open", ledger, "epsilon=10000 delta=1e-6", "--dataset", "t", "--anyone", "--least-share", "0")
    asked = "--ledger", ledger, "--share", "0.001"
    for i, name in enumerate(EVERYTHING):
        where = f"{quoted(COLUMN)} < {i + 1}"  # another question, so that it is bought
        question = f"SELECT label, COUNT(*) AS {quoted(name)} FROM t WHERE {where} GROUP BY label /* {name} */"
        for command in ("offer", "explain", "ask"):
            say(command, data, question, *asked)
        say("ask", data, f"SELECT COUNT(*) FROM t WHERE {where} /* {name} */", *asked)
        say("ask", data, f"SELECT COUNT(*) FROM t WHERE {quoted(name)} = 1", *asked)
        say("ledger", "allow", ledger, f"[bold]{name}", "epsilon=1")
        say("ask", data, question, "--ledger", ledger, "--epsilon", name, "--analyst", name)
    for i, name in enumerate(ACTING[:3]):
        on_boards(say, tmp_path / f"board {i}", name)
    notes = "SELECT note, COUNT(*) AS n FROM t GROUP BY note"
    say("ask", data, notes, *asked, "--csv", machine=True)
    assert json.loads(say("ask", data, notes, *asked, "--json"))["answer"]
    assert json.loads(say("offer", data, notes, *asked, "--json"))
    say("ask", data, notes, *asked, "--plot", tmp_path / "x.html")
    in_html((tmp_path / "x.html").read_text("utf-8").rpartition("vegaEmbed")[2])
    say("bounds", data, COLUMN, *asked)
    say("bounds", data, ACTING[0], *asked)
    for name in (
        TAGS[0],
        MARKUP[0],
        ACTING[0],
    ):  # of a column, of a session and of a period; refused, as a unit is a person
        periods = f"SELECT {quoted(COLUMN)} AS {quoted(name)}, COUNT(*) FROM t GROUP BY 1"
        say("continual", data, periods, *asked, "--name", name, "--through", name)
    for more in ((), ("--json",), ("--plot", tmp_path / "plan.html")):
        say("plan", data, "label", "--workload", "marginals 1", "--epsilon", "1", *more)
    for more in ((), ("--json",), ("--synthetic", "40")):
        say("plan", data, "label", "--workload", "marginals 1", *asked, "--buy", *more, machine=True)
    with Curator(tacit.Table(data), ledger=ledger) as curator:
        for name in EVERYTHING:
            curator.above_threshold(10, epsilon="0.01", name=name)
    listed = say("ledger", "show", ledger)
    assert "[bold]x[/bold]" in re.sub(r"\s+", "", listed) or "[bold]" in listed
    known = json.loads(say("ledger", "show", ledger, "--json"))
    assert any("\x1b[2J" in charge["question"] for charge in known["charges"])  # as it was asked
    say("ledger", "verify", ledger)
    say("ledger", "verify", ledger, "--anchor", ACTING[0])
    say("ledger", "backup", ledger, tmp_path / "copy \x1b[2J")
    for line in say("ledger", "export", ledger).splitlines():
        json.loads(line)
    hostile = tmp_path / "odd \x1b[2J[bold].csv"
    hostile.write_text(f"{quoted(ACTING[1])},b\n1,2\n")
    say("init", hostile)
    for name in (TAGS[0], MARKUP[0], ACTING[0]):
        about = f"SELECT COUNT(*) AS {quoted(name)} FROM t"
        say("whatif", folder / "t.toml", about, "--budget", "epsilon=1 delta=1e-6")
        say("history", data, "--ledger", ledger, "--analyst", name)
    for i, name in enumerate((TAGS[0], MARKUP[0], HIDDEN[0])):
        plan = tmp_path / f"plan {i}.toml"
        facts = {"title": name, "data": str(data), "ledger": str(ledger), "share": 0.001}
        texts = [f"{key} = {json.dumps(value)}\n" for key, value in facts.items()]
        asked_for = json.dumps(f"SELECT label, COUNT(*) AS {quoted(name)} FROM t GROUP BY label")
        plan.write_text(f"{''.join(texts)}[[question]]\nsql = {asked_for}\n", "utf-8")
        say("publish", plan, "--dry")
        say("publish", plan, "-o", tmp_path / f"published {i}")
        page = (tmp_path / f"published {i}" / "index.html").read_text("utf-8")
        in_html(page)
        shown(page)
        published = tmp_path / f"published {i}" / "answers" / "question1.json"
        say("verify", published, "--ledger", tmp_path / f"published {i}" / "ledger.jsonl")
        say("verify", published, "--ledger", ledger)
    say("check", data)
    say("lint", data, "--budget", "epsilon=1 delta=1e-6")
    assert seen == {path for path in commands() - OWN if path[0] not in SERVICE}


SERVICE = ("user", "dataset", "policy", "approval", "service")


def test_every_command_about_the_service_shows_hostile_text_as_it_is(folder, tmp_path, monkeypatch):
    """As a name, a label, a path, a number, a request that waits, and in the log of acts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_SERVICE_ROOTS", json.dumps([str(folder)]))
    seen = set()

    def say(*words):
        seen.add(words[:2])
        text = run(*words)
        assert not ACTS.search(text)
        shown(text)
        return text

    say("user", "add", "Ann", "--role", "owner")
    table = "dataset", "add", "t", folder / "t.parquet", "--budget", "epsilon=1 delta=1e-6"
    say(*table)
    with Store.open(tmp_path / "service.store") as store:
        for name in EVERYTHING:
            person = "a" + re.sub(r"[/\\:]", "-", name) if name in TAGS + MARKUP else "Ann"
            if person != "Ann":
                store.add_person(person, "analyst", by=name)
                store.issue_token(person, "token", person, by=name)
            store.request_approval("t", person, name, name)
            store.add_job("t", person, name, name)
    for name in (TAGS[0], *MARKUP[:3], HIDDEN[0], *ACTING[:2], ACTING[-1]):
        say("user", "add", f"a{name}", "--role", name)
        for command in ("token", "link", "revoke"):
            say("user", command, name)
        say("user", "revoke-token", name)
        say("dataset", "add", name, name, "--schema", name, "--ledger", name, "--public", name, "--engine", name)
        say("dataset", "remove", name)
        say("policy", "set", "t", f"person:{name}", "--most", "0.5")
        say("policy", "set", "t", name, "--most", name)
        say("policy", "remove", "t", name)
        for command in ("approve", "deny"):
            say("approval", command, name)
        say("service", "cancel", name)
        say("service", "publish", name, name)
        say("user", "list", "--config", f"{name}.toml")
        say("service", "check", "--config", f"{name}.toml")
    say("user", "list", "--tokens")
    for command in ("user list", "dataset list", "policy show t", "approval list", "service acts", "service jobs"):
        listed = say(*command.split())
        assert "[bold]" in listed or command in ("dataset list", "user list")
        json.loads(say(*command.split(), "--json"))
    say("service", "backup", tmp_path / "copy \x1b[2J")
    assert seen == {path for path in commands() if path[0] in SERVICE}


def test_honest_text_is_shown_and_exported_as_it_is():
    honest = [
        "plain",
        "\u00e9t\u00e9",
        "\u674e\u96f7",
        "Ann O'Hara",
        "a, b",
        "x < 5",
        "5 <6",
        "a & b",
        "\U0001f469\u200d\U0001f52c",
        "\u0645\u06cc\u200c\u062e",
    ]
    for text in honest:
        assert safe_text.cell(text) == text
    for text in honest[:8]:
        assert safe_text.visible(text) == safe_text.lines(text) == safe_text.chart(text) == text
    for text in EVERYTHING:
        assert safe_text.visible(safe_text.visible(text)) == safe_text.visible(text)
        assert json.loads(safe_text.json_text(json.dumps(text, ensure_ascii=False))) == text
        assert "\n" not in safe_text.visible(text)


def test_a_ledger_of_hostile_names_still_opens(tmp_path):
    with Ledger.open(tmp_path / "l", tacit.Budget(epsilon=1)) as ledger:
        for name in [*TAGS, *MARKUP]:
            ledger.allow(name, tacit.Budget(epsilon="0.5"))
        assert len(ledger.allowances()) == len([*TAGS, *MARKUP])
