"""Questions on the command line: from a file to an answer, with clear words when it cannot be."""

import json
import re
import shutil
import tomllib
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator.test_curator import ROWS, SCHEMA
from typer.testing import CliRunner

from tacit.cli import app
from tacit.release import Release

ANEW = "If the table has changed since, give its schema a new version."
QUESTION = "SELECT year, COUNT(*) AS n FROM visits GROUP BY year"


@pytest.fixture
def data(tmp_path):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "visits.parquet")
    (tmp_path / "visits.toml").write_text(SCHEMA)
    return tmp_path / "visits.parquet"


def tacit(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def test_a_question_about_two_private_tables(data):
    other = data.with_name("calls.parquet")
    pq.write_table(pa.Table.from_pylist(ROWS[:50]), other)
    other.with_suffix(".toml").write_text(SCHEMA.replace('name = "visits"', 'name = "calls"'))
    asked = "SELECT COUNT(*) AS n FROM visits WHERE person IN (SELECT person FROM calls)"
    new = "--epsilon", "0.25", "--budget", "epsilon=1"
    assert "no table 'calls'" in " ".join(tacit("offer", data, asked, *new, code=3).split())
    assert "costs 0.25" in tacit("offer", data, asked, *new, "--also", other)
    first = json.loads(tacit("ask", data, asked, *new, "--also", other, "--json"))
    again = json.loads(tacit("ask", data, asked, "--epsilon", "0.25", "--also", other, "--json"))
    assert first["answer"] == again["answer"] and again["bill"]["left"] == 0.75
    twice = tacit("ask", data, asked, "--epsilon", "0.25", "--also", data, code=2)
    assert "Two tables are called 'visits'" in " ".join(twice.split())
    away = tacit("ask", "visits", asked, "--epsilon", "1", "--also", other, "--url", "http://localhost:1", code=2)
    assert "Leave out --also" in " ".join(away.split())


def test_a_question_from_offer_to_verified_ledger(data):
    ledger = data.with_suffix(".ledger")
    opened = tacit("ledger", "open", ledger, "epsilon=1", "--dataset", "visits")
    assert "epsilon=1" in opened
    assert "costs 0.25" in tacit("offer", data, QUESTION, "--epsilon", "0.25")
    assert "Laplace" in tacit("explain", data, QUESTION, "--epsilon", "0.25")
    first = json.loads(tacit("ask", data, QUESTION, "--epsilon", "0.25", "--json"))
    again = json.loads(tacit("ask", data, QUESTION, "--epsilon", "0.25", "--json"))
    assert first["answer"] == again["answer"] and first["answer"]["year"]["values"] == ["2023", "2024", "2025"]
    bills = [(result["bill"]["paid"], result["bill"]["left"]) for result in (first, again)]
    assert bills == [(0.25, 0.75), (0.0, 0.75)] and Release.from_json(json.dumps(first)).price == Fraction(1, 4)
    assert "any one person" in tacit("ask", data, QUESTION, "--epsilon", "0.25")
    shown = json.loads(tacit("ledger", "show", ledger, "--json"))
    assert shown["left"] == 0.75 and [(charge["paid"], charge["left"]) for charge in shown["charges"]] == [(0.25, 0.75)]
    assert "0.75 is left" in tacit("ledger", "show", ledger) and QUESTION[:12] in tacit("ledger", "show", ledger)
    assert "Free: it was asked before; 0.75 of" in tacit("ask", data, QUESTION, "--epsilon", "0.25")
    assert "\nyear,n,n_lower,n_upper\n" in tacit("ask", data, QUESTION, "--epsilon", "0.25", "--csv")
    head = re.search(r"(\d+:[0-9a-f]{64})", tacit("ledger", "verify", ledger)).group(1)
    assert head in tacit("ledger", "verify", ledger, "--anchor", head)
    for wrong in ("abc", "1", f"{'9' * 5000}:{head[-64:]}"):
        assert "anchor must be SEQ:HASH" in " ".join(
            tacit("ledger", "verify", ledger, "--anchor", wrong, code=2).split()
        )
    assert shown["charges"][0]["time"].endswith("+00:00") and "time (UTC)" in tacit("ledger", "show", ledger)
    for words, says in ((("--column", "n"), "Pass --plot too"), (("--plot", "x.html", "--column", "m"), "one of n")):
        assert says in tacit("ask", data, QUESTION, "--epsilon", "0.25", *words, code=2)
    assert head in tacit("ledger", "backup", ledger, data.with_suffix(".copy"))
    assert head in tacit("ledger", "verify", data.with_suffix(".copy"))
    lines = tacit("ledger", "export", ledger).splitlines()
    assert all(json.loads(line)["hash"] for line in lines)
    assert "ann may spend Budget(epsilon=0.1)" in tacit("ledger", "allow", ledger, "ann", "epsilon=0.1")
    assert "ann may spend" in tacit("ledger", "show", ledger)
    refused = tacit("ask", data, QUESTION, "--epsilon", "0.2", "--analyst", "ann", code=3)
    assert "is left" in refused


def test_a_budget_opens_a_ledger_and_json_prices_an_offer(data):
    offered = json.loads(tacit("offer", data, QUESTION, "--error", "50", "--budget", "epsilon=1 delta=1e-9", "--json"))
    assert offered["alone"].endswith("-differentially private")
    alone = tacit("offer", data, QUESTION, "--error", "50", "--budget", "epsilon=1 delta=1e-9")
    assert f"Taken alone, the answer is {offered['alone']}" in " ".join(alone.split())
    assert 0 < offered["price"] < 1 and offered["errors"][1]["column"] == "n"
    assert 0 < offered["errors"][1]["within"] <= 50 and offered["errors"][0]["within"] == 0
    assert not data.with_suffix(".ledger").exists()
    tacit("ask", data, QUESTION, "--rho", "0.01", "--budget", "rho=0.1")
    assert "0.09 is left" in tacit("ledger", "show", data.with_suffix(".ledger"))


def test_a_pure_allowance_below_a_budget_with_delta_buys_laplace_noise(data):
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=10 delta=1e-9", "--dataset", "visits", "--only-allowed")
    tacit("ledger", "allow", ledger, "bob", "epsilon=0.1")
    tacit("ledger", "allow", ledger, "ann", "epsilon=0.5 delta=1e-9")
    assert "Laplace" in tacit("explain", data, QUESTION, "--epsilon", "0.1", "--analyst", "bob")
    for who, price in (("bob", "0.1"), ("ann", "0.5")):
        tacit("ask", data, QUESTION.replace("COUNT(*)", "SUM(age)"), "--epsilon", price, "--analyst", who)
        tacit("ask", data, QUESTION, "--epsilon", "0.2", "--analyst", who, code=3)
    assert "allow" in tacit("ask", data, QUESTION, "--epsilon", "0.2", code=3)


def test_bounds_are_bought(data):
    output = tacit("bounds", data, "age", "--epsilon", "1", "--budget", "epsilon=1", "--beta", "0.25")
    assert "No bounds" in output or "with probability 0.75" in output
    assert "beta must be" in tacit("bounds", data, "age", "--epsilon", "1", "--beta", "7", code=2)


def test_bounds_are_free_again_and_charged_when_fresh(data):
    buy = ("bounds", data, "age", "--epsilon", "1")
    tacit(*buy, "--budget", "epsilon=3")
    for option, left in (((), 2), (("--fresh",), 1), ((), 1)):
        tacit(*buy, *option)
        assert json.loads(tacit("ledger", "show", data.with_suffix(".ledger"), "--json"))["left"] == left


def test_a_ledger_of_an_earlier_version_shows_the_text_of_its_questions(tmp_path):
    """There a charge has no description: the text stands in the release alone."""
    place = tmp_path / "old.ledger"
    shutil.copyfile(Path(__file__).parent / "fixtures" / "ledgers" / "pure.sqlite", place)
    place.chmod(0o600)
    charges = json.loads(tacit("ledger", "show", place, "--json"))["charges"]
    shown = {row["question"] for row in charges if row["kind"] == "question" and row["released"] == "yes"}
    assert {"SELECT MEDIAN(age) AS m FROM visits", "SELECT MODE(year) AS m FROM visits"} <= shown


def test_bounds_of_times_are_whole_years_in_toml(tmp_path):
    moments = [datetime(2015, 3, 1, tzinfo=UTC) + timedelta(days=i) for i in range(1200)]
    table = pa.table({"at": pa.array(moments, pa.timestamp("us", "UTC")), "day": [moment.date() for moment in moments]})
    pq.write_table(table, tmp_path / "t.parquet")
    kinds = {"at": "timestamp", "day": "date"}
    schema = '[table]\nname = "t"\nunit = "row"\n' + "".join(
        f'[columns.{name}]\ntype = "{kind}"\n' for name, kind in kinds.items()
    )
    (tmp_path / "t.toml").write_text(schema)
    words = ["bounds", str(tmp_path / "t.parquet"), "--epsilon", "5", "--budget", "epsilon=20"]
    for name, first, last in (
        ("at", datetime(2015, 1, 1, tzinfo=UTC), datetime(2018, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("day", date(2015, 1, 1), date(2018, 12, 31)),
    ):
        result = CliRunner().invoke(app, [*words, name])
        assert tomllib.loads(result.stdout) == {"columns": {name: {"lower": first, "upper": last}}}
        assert "in the first and in the last year" in result.stdout and result.stderr.startswith("Paid 5; ")


def test_a_schema_of_another_file_is_refused_before_a_ledger_is_made(data):
    schema = data.with_suffix(".toml")
    for wrong, says in (
        (SCHEMA.replace('"person"', '"persons"'), "persons"),
        (SCHEMA.replace("[columns.age]", "[columns.aged]"), "aged"),
    ):
        schema.write_text(wrong)
        output = tacit("ask", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1", code=2)
        assert says in output and "person, year, age" in " ".join(output.split())
    schema.write_text(SCHEMA.replace('type = "integer"\nlower = 0\nupper = 99', 'type = "date"'))
    assert "columns.age" in tacit("offer", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1", code=2)
    assert not data.with_suffix(".ledger").exists()


def test_where_to_draw_is_checked_before_buying(data, tmp_path):
    for wrong in (tmp_path / "n.jpg", tmp_path / "nowhere" / "n.png"):
        tacit("ask", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1", "--plot", wrong, code=2)
    assert not data.with_suffix(".ledger").exists()


def test_what_cannot_be_drawn_is_not_bought(data, tmp_path):
    words = ["ask", data, "SELECT MODE(year) AS y FROM visits", "--epsilon", "1", "--budget", "epsilon=1"]
    assert "no column of numbers" in tacit(*words, "--plot", tmp_path / "n.svg", code=3)
    assert "1 is left" in tacit("ledger", "show", data.with_suffix(".ledger"))


def test_an_answer_is_drawn(data, tmp_path):
    tacit("ask", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1", "--plot", tmp_path / "n.svg")
    assert (tmp_path / "n.svg").read_text().startswith("<svg")


def test_a_plan_is_bought_by_who_asks_from_the_ledger_that_is_named(data, tmp_path):
    ledger = tmp_path / "other.ledger"
    words = ("plan", data, "year", "--epsilon", "0.1", "--buy", "--ledger", ledger, "--analyst", "ann")
    assert "Paid 0.1; 0.9" in tacit(*words, "--budget", "epsilon=1", "--engine", "duckdb")
    assert [charge["analyst"] for charge in json.loads(tacit("ledger", "show", ledger, "--json"))["charges"]] == ["ann"]
    assert not data.with_suffix(".ledger").exists()


def test_a_receipt_is_not_among_rows_of_csv(data):
    words = ["ask", str(data), QUESTION, "--epsilon", "1", "--budget", "epsilon=1", "--csv"]
    bought = CliRunner().invoke(app, words)
    assert len(bought.stdout.splitlines()) == 4 and bought.stderr == "Paid 1; 0 of Budget(epsilon=1) is left.\n"


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_where_an_answer_is_plotted_is_not_printed_amid_the_answer(data, tmp_path, form):
    words = ["ask", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1", "--plot", tmp_path / "n.svg", form]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert "Plot: " in result.stderr and "Plot: " not in result.stdout and (tmp_path / "n.svg").exists()


def test_init_writes_a_schema_to_complete(data):
    data.with_suffix(".toml").unlink()
    tacit("init", data)
    text = data.with_suffix(".toml").read_text()
    assert "age" in text and "lower" in text and "2023" not in text
    assert "already exists. Remove it" in tacit("init", data, code=2)
    assert "unit" in tacit("offer", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1", code=2)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["ask", "{data}", QUESTION, "--epsilon", "1"], 2, "--budget"),
        (["ask", "{data}", QUESTION, "--budget", "epsilon=1"], 2, "one of epsilon, rho, share, error or relative"),
        (["ask", "{data}", QUESTION, "--epsilon", "nan", "--budget", "epsilon=1"], 2, "epsilon"),
        (["ask", "{data}", QUESTION, "--epsilon", "2", "--budget", "epsilon=1"], 3, "Ask for less"),
        (["ask", "{data}", "SELECT age FROM visits", "--epsilon", "1", "--budget", "epsilon=1"], 3, "line 1, column 8"),
        (["ask", "{data}", QUESTION, "--epsilon", "1", "--budget", "money=1"], 2, "NAME=NUMBER"),
        (["ask", "{data}", QUESTION, "--epsilon", "1", "--budget", "epsilon=1 epsilon=2"], 2, "each name once"),
        (["ask", "{data}", QUESTION, "--epsilon", "1", "--budget", "epsilon=1", "--json", "--csv"], 2, "Choose one of"),
        (["init", "."], 2, "regular file"),
        (["compare", "99999999999999999999999999x2"], 2, "domain must be whole numbers of at most"),
        (["compare", "9" * 5000], 2, "domain must be whole numbers of at most"),
        (["compare", "10", "--n", "100000000000"], 2, "n must be whole numbers of at most"),
        (["compare", "2x2", "--epsilon", "1e400"], 2, "epsilon must be between 1e-100 and 1e+100"),
        (["plan", "{data}", "year", "--epsilon", "1e400"], 2, "epsilon must be between 1e-100 and 1e+100"),
        (["plan", "{data}", "year", "--rho", "1e400"], 2, "rho must be between 1e-100 and 1e+100"),
        (["ask", "nothing.parquet", QUESTION, "--epsilon", "1", "--budget", "epsilon=1"], 2, "data must be a file"),
        (["bounds", "{data}", "age", "--error", "3", "--budget", "epsilon=1"], 2, "No such option: --error"),
        (
            ["bounds", "{data}", "age", "--budget", "epsilon=1"],
            2,
            "Give exactly one of epsilon, rho or share; got none.",
        ),
        (["plan", "{data}", "year", "--epsilon", "1", "--json", "--synthetic", "3", "--buy"], 2, "Choose one of"),
        (["plan", "{data}", "year", "--epsilon", "1", "--synthetic", "3"], 2, "--buy"),
        (["plan", "{data}", "year", "--epsilon", "1", "--method", "queries"], 2, "--buy"),
        (["plan", "{data}", "year", "--share", "0.1"], 2, "There is no ledger at"),
        (
            ["plan", "{data}", "year", "--share", "2", "--budget", "epsilon=1"],
            2,
            "share must be a fraction of the budget",
        ),
        (["ask", "{data}", QUESTION, "--share", "1e-5", "--budget", "epsilon=1"], 3, "takes at least 1/10000 of the"),
        (["ask", "{data}", QUESTION, "--epsilon", "1e-5", "--budget", "epsilon=1"], 3, "takes at least 1/10000 of it"),
        (["bounds", "{data}", "age", "--epsilon", "1e-5", "--budget", "epsilon=1"], 3, "takes at least 1/10000 of it"),
        (["ledger", "open", "{data}.ledger", "epsilon=1", "--dataset", "d", "--least-share", "2"], 2, "a fraction of"),
        (["plan", "{data}", "year", "--epsilon", "1", "--schema", "none.toml"], 2, "none.toml"),
        (["offer", "{data}", QUESTION, "--epsilon", "1"], 2, "There is no ledger at"),
        (["ledger", "show", "{data}"], 2, ""),
        (["ledger", "verify", "nothing.ledger"], 2, "nothing.ledger. Check the path, or give a budget"),
        (["ledger", "open", "{data}.ledger", "epsilon=-1", "--dataset", "d"], 2, "positive"),
    ],
)
def test_what_goes_wrong_is_one_clear_paragraph(data, words, code, says):
    output = tacit(*(word.replace("{data}", str(data)) for word in words), code=code)
    assert says in " ".join(output.split()) and "Traceback" not in output


def test_methods_are_compared_and_a_table_is_planned(data, tmp_path):
    output = tacit("compare", "2x2x2", "--n", "100,1000", "--plot", tmp_path / "c.svg")
    assert "histog" in output and "noise on the" in output and (tmp_path / "c.svg").exists()
    for wrong in (("compare", "2xx"), ("compare", "2x2", "--workload", "nothing"), ("compare", "2x2", "--n", "many")):
        assert "Traceback" not in tacit(*wrong, code=2)
    several = tacit("compare", "2x2,2x3", "--workload", "marginals 1, marginals 2", "--n", "100", "--epsilon", "9")
    assert all(f"{cells} cells, {queries} queries, n = 100" in several for cells, queries in ((4, 4), (6, 5), (6, 6)))
    planned = tacit("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1")
    assert "queries" in planned and not data.with_suffix(".ledger").exists()
    assert "n = 40" in tacit("plan", data, "year", "--epsilon", "1", "--n", "40")
    facts = json.loads(tacit("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1", "--json"))
    assert facts["methods"][0]["rank"] == 1 and facts["methods"][0]["method"] in facts["why"]
    bought = tacit("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1", "--buy", "--budget", "rho=1")
    assert "2024" in bought
    result = json.loads(tacit("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1", "--buy", "--json"))
    assert len(result["answers"]) == 3 and all(f"{answer['count']:.6g}" in bought for answer in result["answers"])
    rows = tacit("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1", "--buy", "--synthetic", "7")
    assert len(rows.splitlines()) == 8 + 1 and "0.9 is left" in tacit("ledger", "show", data.with_suffix(".ledger"))


def test_what_is_paid_for_one_part_is_not_called_free(data):
    text = "SELECT COUNT(*) AS n FROM visits WHERE year = '{}'"
    output = [
        tacit("ask", data, text.format(year), "--epsilon", price, "--budget", "epsilon=1")
        for year, price in (("2023", "0.3"), ("2024", "0.2"), ("2024", "0.2"), ("2024", "0.5"))
    ]
    assert [line.splitlines()[-1] for line in output] == [
        "Paid 0.3; 0.7 of Budget(epsilon=1) is left.",
        "Paid 0.2; 0.7 of Budget(epsilon=1) is left.",
        f"Free: it was asked before; 0.7 of Budget(epsilon=1) is left. {ANEW}",
        "Paid 0.5; 0.3 of Budget(epsilon=1) is left.",
    ]
    shown = json.loads(tacit("ledger", "show", data.with_suffix(".ledger"), "--json"))
    kept = [(charge["paid"], charge["left"]) for charge in shown["charges"]]
    assert kept == [(0.3, 0.7), (0.2, 0.7), (0.5, pytest.approx(0.3))] and shown["left"] == pytest.approx(0.3)
    assert "the most that any part has paid" in tacit("ledger", "show", data.with_suffix(".ledger"))


def test_a_ledger_shows_what_was_paid_in_a_budget_of_two_sums(data):
    output = [
        tacit("ask", data, QUESTION, "--epsilon", price, "--budget", "epsilon=10 delta=1e-9").splitlines()[-1]
        for price in ("5", "2", "1")
    ]
    ledger = data.with_suffix(".ledger")
    result, shown = json.loads(tacit("ledger", "show", ledger, "--json")), tacit("ledger", "show", ledger)
    for line, charge in zip(output, result["charges"], strict=True):
        assert (
            line.startswith(f"Paid {charge['paid']:.6g}; {charge['left']:.6g} of") and f"{charge['paid']:.6g}" in shown
        )
    assert 10 - sum(charge["paid"] for charge in result["charges"]) == pytest.approx(result["left"])


def test_an_offer_says_whether_what_is_left_covers_it(data):
    def covered(text, price):
        result = "does not cover" not in tacit("offer", data, text, "--epsilon", price, "--budget", "epsilon=1")
        facts = json.loads(tacit("offer", data, text, "--epsilon", price, "--budget", "epsilon=1", "--json"))
        assert result == facts["covered"]
        return result

    assert covered(QUESTION, "1") and not covered(QUESTION, "1.5")  # of the budget alone
    tacit("ask", data, "SELECT COUNT(*) FROM visits WHERE year = '2023'", "--epsilon", "0.5", "--budget", "epsilon=1")
    assert covered(QUESTION, "0.5") and not covered(QUESTION, "0.75")
    assert covered("SELECT COUNT(*) FROM visits WHERE year = '2024'", "0.75")
    assert "does not cover" in tacit("explain", data, QUESTION, "--epsilon", "20")


def test_synthetic_rows_that_cannot_be_had_are_not_paid_for(data):
    ledger = data.with_suffix(".ledger")
    schema = data.with_suffix(".toml")
    schema.write_text(schema.read_text().replace("upper = 99", "upper = 999"))
    tacit("ledger", "open", ledger, "epsilon=1", "--dataset", "visits")
    for words, says in (
        (("year", "--synthetic", "-1"), "from 1 to"),
        (("year", "--synthetic", "99999999999"), "from 1 to"),
        (("age", "--workload", "prefixes", "--method", "queries", "--synthetic", "3"), "no model"),
    ):
        assert says in tacit("plan", data, *words, "--epsilon", "0.1", "--buy", code=3 if says == "no model" else 2)
    assert "1 is left" in tacit("ledger", "show", ledger)
    rows = tacit("plan", data, "age", "--workload", "prefixes", "--epsilon", "0.1", "--buy", "--synthetic", "3")
    assert len(rows.splitlines()) == 4 + 1 and "0.9 is left" in tacit("ledger", "show", ledger)


def test_one_attribute_is_planned_and_its_values_are_quoted(tmp_path):
    pq.write_table(pa.table({"g": ["a, b"] * 40}), tmp_path / "t.parquet")
    schema = '[table]\nname = "t"\nunit = "row"\n[columns.g]\ntype = "category"\nvalues = ["a, b"]\n'
    (tmp_path / "t.toml").write_text(schema)
    words = ("plan", tmp_path / "t.parquet", "g", "--epsilon", "1")
    assert "histogram" in tacit(*words)
    bought = CliRunner().invoke(app, [*map(str, words), "--buy", "--synthetic", "2", "--budget", "epsilon=1"])
    assert bought.stdout.splitlines() == ["g", '"a, b"', '"a, b"']
    assert bought.stderr == "Paid 1; 0 of Budget(epsilon=1) is left.\n"
    assert "histog" in tacit("compare", "10", "--n", "100")


def test_workloads_of_equal_size_have_tables_of_their_own(tmp_path):
    words = ("compare", "6", "--workload", "marginals,prefixes", "--n", "100", "--plot", tmp_path / "m.svg")
    output = tacit(*words)
    assert output.index("marginals on 6: errors") < output.index("prefixes on 6: errors")
    assert output.count("  histogram ") == 2 and "6 cells, 6 queries, n = 100, epsilon = 1" in output
    assert "for the last setting alone: prefixes on 6, n = 100, epsilon = 1" in output
    drawn = (tmp_path / "m.svg").read_text()
    assert ">marginals<" in drawn and ">prefixes<" in drawn
    single = tacit("compare", "4", "--n", "100")
    assert "for marginals on 4, n = 100" in single and "last setting" not in single
    shapes = tacit("compare", "2x2,4", "--workload", "marginals", "--n", "100")
    assert all(f"marginals on {shape}: errors" in shapes for shape in ("2x2", "4"))


def test_what_linear_queries_cost_is_printed(data):
    words = ("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1", "--buy", "--budget", "rho=1")
    first, again = tacit(*words), tacit(*words)
    assert first.splitlines()[-1] == "Paid 0.1; 0.9 of Budget(rho=1) is left."
    assert again.splitlines()[-1] == f"Free: it was asked before; 0.9 of Budget(rho=1) is left. {ANEW}"
    assert "with probability 0.95 each" in " ".join(first.replace("┃", " ").split())
    other = (*words[:-3], "--buy", "--json", "--method", "residual")
    result = [json.loads(tacit(*other)) for _ in range(2)]
    assert [(t["paid"], t["left"], t["confidence"]) for t in result] == [(0.1, 0.8, 0.95), (0, 0.8, 0.95)]
    assert result[0]["notes"] == result[1]["notes"]


def test_notes_of_a_method_are_printed(data, monkeypatch):
    from tacit.workloads.method import Method

    def fails(method, workload, data, price, source, **_):
        return source.word() / 0  # a fit that fails after the noise is reported in a note

    monkeypatch.setattr(Method, "release", fails)
    words = ("plan", data, "year", "--workload", "marginals 1", "--rho", "0.1", "--buy", "--budget", "rho=1")
    assert "the fit failed; nothing is known" in tacit(*words)
    result = json.loads(tacit(*words[:-2], "--json"))
    assert result["notes"] == ["the fit failed; nothing is known"] and result["answers"][0]["count"] is None


def test_what_is_left_is_that_of_the_account_that_has_less(data):
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=1", "--dataset", "visits", "--anyone")
    tacit("ledger", "allow", ledger, "bob", "epsilon=0.5")

    def last(text, price, who):
        return tacit("ask", data, text, "--epsilon", price, "--analyst", who).splitlines()[-1]

    allowance = "of the allowance of bob, epsilon=0.5, is left."
    assert last(QUESTION, "0.2", "bob") == f"Paid 0.2; 0.3 {allowance}"
    assert last(QUESTION, "0.2", "bob") == f"Free: it was asked before; 0.3 {allowance} {ANEW}"
    assert last(QUESTION, "0.6", "ann") == "Paid 0.6; 0.2 of Budget(epsilon=1) is left."
    assert last(QUESTION, "0.1", "bob") == "Paid 0.1; 0.1 of Budget(epsilon=1) is left."


def test_a_bill_in_json_names_the_analyst_and_the_budget_apart(data):
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=1 delta=1e-9", "--dataset", "visits", "--only-allowed")
    tacit("ledger", "allow", ledger, "bob", "epsilon=0.5 delta=1e-10")
    tacit("ledger", "allow", ledger, "cat", "epsilon=1 delta=1e-9")
    tell = ("ask", data, QUESTION, "--epsilon", "0.2", "--json", "--analyst")
    bills = [json.loads(tacit(*tell, who))["bill"] for who in ("bob", "cat", "ann")]
    assert bills == [
        {"paid": 0.2, "left": 0.3, "analyst": "bob", "budget": "Budget(epsilon=0.5, delta=1e-10)"},
        {"paid": 0.0, "left": 0.8, "analyst": None, "budget": "Budget(epsilon=1, delta=1e-09)"},
        {"paid": 0.0, "left": 0.0, "analyst": "ann", "budget": None},
    ]
    output = tacit("ask", data, QUESTION, "--epsilon", "0.4", "--analyst", "bob", code=3)
    assert "The allowance of bob, epsilon=0.5 at delta=1e-10, has spent 0.2, and 0.3 is left" in " ".join(
        output.split()
    )


def test_what_was_paid_is_of_the_account_that_is_shown(data):
    """Of an allowance in pure epsilon Laplace noise takes more than of a budget after Gaussian noise."""
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=1 delta=1e-9", "--dataset", "visits")
    tacit("ask", data, QUESTION, "--rho", "0.001")
    tacit("ledger", "allow", ledger, "bob", "epsilon=0.5")
    offered = json.loads(tacit("offer", data, QUESTION, "--epsilon", "0.1", "--analyst", "bob", "--json"))
    assert offered["price"] != offered["allowance"]["price"]
    output = tacit("ask", data, QUESTION, "--epsilon", "0.1", "--analyst", "bob").splitlines()[-1]
    paid = offered["allowance"]["price"]
    assert output == f"Paid {paid:.6g}; {0.5 - paid:.6g} of the allowance of bob, epsilon=0.5, is left."


def test_what_an_allowance_replaces_and_costs_is_printed_once(data):
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=1", "--dataset", "visits")
    assert "instead" not in tacit("ledger", "allow", ledger, "bob", "epsilon=0.5")
    again = " ".join(tacit("ledger", "allow", ledger, "bob", "epsilon=0.25").split())
    assert again == "bob may spend Budget(epsilon=0.25) instead of Budget(epsilon=0.5), of which 0.25 is left"
    output = tacit("explain", data, QUESTION, "--epsilon", "0.1", "--analyst", "bob")
    assert output.count("of Budget(epsilon=1)") == 1 and "and costs 0.1 of the allowance of bob" in output
    assert "year: exact\n" in output


def test_a_file_that_may_be_no_ledger_is_closed_to_others_only_if_it_is(data):
    data.chmod(0o644)
    output = " ".join(tacit("ledger", "show", data, code=2).split())
    assert "chmod 600 it, if it is a ledger" in output


def test_the_budget_is_hidden_from_who_has_no_allowance(data):
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=1", "--dataset", "visits", "--only-allowed")
    tacit("ledger", "allow", ledger, "bob", "epsilon=0.5")
    tacit("ask", data, QUESTION, "--epsilon", "0.2", "--analyst", "bob")
    assert "of what ann may spend, who has no allowance" in tacit(
        "ask", data, QUESTION, "--epsilon", "0.2", "--analyst", "ann"
    )


def test_an_offer_says_what_it_costs_of_an_allowance(data):
    ledger = data.with_suffix(".ledger")
    tacit("ledger", "open", ledger, "epsilon=1 delta=1e-9", "--dataset", "visits")
    tacit("ledger", "allow", ledger, "bob", "epsilon=0.5")
    words = (data, QUESTION, "--epsilon", "0.2", "--analyst", "bob")
    for command in ("offer", "explain"):
        assert "0.2 of the allowance of bob, epsilon=0.5" in " ".join(tacit(command, *words).split())
    facts = json.loads(tacit("offer", *words, "--json"))
    assert facts["allowance"] == {"analyst": "bob", "budget": "Budget(epsilon=0.5)", "price": 0.2}
    assert "allowance" not in json.loads(tacit("offer", *words[:-2], "--json"))
    never = (data, QUESTION, "--rho", "0.001", "--analyst", "bob")
    assert "more than all of the allowance" in " ".join(tacit("offer", *never).split())
    assert json.loads(tacit("offer", *never, "--json"))["allowance"]["price"] is None


@pytest.mark.parametrize("command", ["ask", "plan", "demo"])
def test_an_interrupt_while_a_table_is_read_is_reported(data, tmp_path, monkeypatch, command):
    def interrupted(*_):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("tacit.engines.duckdb.loading.raw_rows", interrupted)
    words = {
        "ask": (data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1"),
        "plan": (data, "year", "--epsilon", "1", "--budget", "epsilon=1", "--buy"),
        "demo": ("--plot", tmp_path / "demo.svg"),
    }
    output = tacit(command, *words[command], code=130)
    assert "Interrupted. What was charged stays charged" in output


def test_the_time_of_a_charge_is_shown_whole(data):
    tacit("ask", data, QUESTION, "--epsilon", "1", "--budget", "epsilon=1")
    shown = tacit("ledger", "show", data.with_suffix(".ledger"))
    assert re.search(r" \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d ", shown) and max(map(len, shown.splitlines())) <= 80
    assert "GROUP" in shown and "…" not in shown


def test_a_purchase_that_takes_more_than_was_typed_says_so_before_and_after(data):
    """As once Gaussian noise was bought: what is pure is then paid in the other sum."""
    budget = ("--budget", "epsilon=1 delta=1e-9")
    tacit("bounds", data, "cost", "--rho", "0.0015", *budget)
    plan = ("plan", data, "year", "--workload", "marginals 1", "--epsilon", "0.1", "--delta", "1e-9")
    planned = " ".join(tacit(*plan, "--ledger", data.with_suffix(".ledger")).split())
    bought = " ".join(tacit(*plan, "--buy").split())
    bounds = " ".join(tacit("bounds", data, "age", "--epsilon", "0.1").split())
    question = ("SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1")
    offered, asked = (" ".join(tacit(word, data, *question).split()) for word in ("offer", "ask"))
    more = "of Budget(epsilon=1, delta=1e-09), more than the epsilon = 0.1 that was asked for"
    for result in (planned, bought, bounds, offered, asked):
        assert more in result.partition("Paid ")[0]
    for result in (bought, bounds, asked):
        assert ", more than the epsilon = 0.1 that was asked for; " in result.partition("Paid ")[2]
    assert "Unless it was bought before, it takes" in bought.partition("Paid ")[0]
    again = " ".join(tacit(*plan, "--buy").split())
    assert "Free: it was asked before" in again


def test_a_share_is_taken_at_every_command(data):
    budget = ("--budget", "epsilon=1 delta=1e-9", "--least-share", "0.01")
    for words in (("offer", data, QUESTION), ("explain", data, QUESTION), ("plan", data, "year")):
        result = " ".join(tacit(*words, "--share", "0.1", *budget).split())
        assert re.search(r"(costs|takes) 0\.(1|0999\d*) of", result) and "-differentially private" in result
        assert not data.with_suffix(".ledger").exists()
        assert "at least 1/100 of the budget" in " ".join(tacit(*words, "--share", "0.009", *budget, code=3).split())
    tacit("ask", data, QUESTION, "--share", "0.1", *budget)
    tacit("bounds", data, "cost", "--share", "0.1")
    result = " ".join(tacit("plan", data, "year", "--share", "0.1", "--buy").split())
    left = re.search(r"Paid 0\.(1|0999\d*); ([0-9.]+) of Budget", result)
    assert left is not None and 0.7 <= float(left.group(2)) < 0.71
    for words in (("ask", data, QUESTION), ("bounds", data, "cost"), ("plan", data, "year", "--buy")):
        assert "Free" in tacit(*words, "--share", "0.1")
