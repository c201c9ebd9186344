"""Publications: priced together, bought by one charge, written as a folder, and the same bytes again."""

import csv
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from curator.test_purchase import STEPS, Crash, crashing
from test_cli_tables import tacit
from test_desk import flights  # noqa: F401 - a fixture

from tacit import Budget, Refused
from tacit.core.accounting.batch import Batch
from tacit.core.errors import BadParameter, BudgetExceeded, TacitError
from tacit.curator.batch import allocated, found
from tacit.ledger.exported import verify_export
from tacit.publish import ReleasePlan, dry_run, price_of, publish
from tacit.publish import folder as publishing
from tacit.release.proof import proved

SCHEMA = """
[table]
name = "visits"
unit = "row"
size = 2000
[columns.region]
type = "category"
values = ["north", "<b>south</b>", "east"]
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.sick]
type = "boolean"
"""
PLAN = """
title = "Visits & <i>regions</i>"
data = "visits.csv"

[budget]
epsilon = 1
delta = 1e-6

[[question]]
name = "regions"
sql = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
error = 40

[[question]]
name = "age"
title = "Mean and median age"
sql = "SELECT AVG(age) AS mean, MEDIAN(age) AS half FROM visits"
weight = 3

[[workload]]
name = "pairs"
columns = ["region", "sick"]

[[synthetic]]
name = "rows"
columns = ["region", "sick"]
rows = 50

[[bounds]]
name = "ages"
column = "age"

[registry]
curator = "Clinic"
curator_type = "Nonprofit"
use = "To show: \\"how many\\"."
region = "Somewhere"
sector = "Healthcare"
authors = ["Ada"]
"""
FILES = {
    "index.html", "card.json", "ledger.jsonl", "registry.yaml", "release.toml", "answers/regions.csv",
    "answers/regions.parquet", "answers/regions.json", "answers/age.csv", "answers/age.parquet", "answers/age.json",
    "answers/pairs.csv", "answers/pairs.parquet", "answers/rows.csv", "answers/rows.parquet", "answers/ages.csv",
    "answers/ages.parquet",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Two thousand visits, their schema, and a plan."""
    regions = ["north", "<b>south</b>", "east"]
    rows = [(regions[i % 3], 20 + i % 50, "true" if i % 7 == 0 else "false") for i in range(2000)]
    with (tmp_path / "visits.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("region", "age", "sick"), *rows])
    (tmp_path / "visits.toml").write_text(SCHEMA)
    (tmp_path / "release.toml").write_text(PLAN)
    return tmp_path


def digests(place):
    files = (path for path in place.rglob("*") if path.is_file())
    return {path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_plan_becomes_a_folder_once(folder):
    said = tacit("publish", folder / "release.toml")
    assert re.search(r"5 answers\. Paid 0\.999\d* by entry \d+\.", said.replace("\n", " "))
    first = digests(folder / "release")
    assert first.keys() == FILES
    assert "Free: it was bought before" in tacit("publish", folder / "release.toml").replace("\n", " ")
    assert digests(folder / "release") == first
    tacit("publish", folder / "release.toml", "-o", folder / "copy")
    assert digests(folder / "copy") == first
    with ReleasePlan.load(folder / "release.toml").curator() as curator:
        (charge,) = curator.history()
        assert charge.purpose.kind == "publication" and charge.purpose.description == "Visits & <i>regions</i>"
        assert isinstance(next(iter(charge.loss.terms)), Batch)
        curator.ledger.verify()
    card = json.loads((folder / "release" / "card.json").read_text())
    assert {name: first[name] for name in card["files"]} == card["files"]
    assert card["privacy"]["parameters"]["epsilon"] <= 1 and card["privacy"]["parameters"]["delta"] == 1e-6


def test_a_free_question_is_refused_before_anything_is_charged(folder):
    free = '[[question]]\nname = "names"\nsql = "SELECT DISTINCT region FROM visits"\n\n[[workload]]'
    (folder / "release.toml").write_text(PLAN.replace("[[workload]]", free, 1))
    with pytest.raises(AssertionError, match="follows from public facts and is free"):
        tacit("publish", folder / "release.toml")
    assert not (folder / "release").exists()
    with ReleasePlan.load(folder / "release.toml").curator() as curator:
        assert curator.history() == []


def test_the_numbers_of_a_folder(folder):
    """Noise of some tens around the truth; every count and mean has an interval that is as wide as was promised."""
    plan = ReleasePlan.load(folder / "release.toml")
    done = publish(plan, folder / "out")
    regions = pq.read_table(folder / "out" / "answers" / "regions.parquet").to_pylist()
    assert [row["region"] for row in regions] == ["north", "<b>south</b>", "east"]
    for row in regions:
        assert row["n_upper"] - row["n"] <= 40 and abs(row["n"] - 667) < 200
    with (folder / "out" / "answers" / "regions.csv").open(newline="") as file:
        assert [int(row["n"]) for row in csv.DictReader(file)] == [row["n"] for row in regions]
    pairs = pq.read_table(folder / "out" / "answers" / "pairs.parquet").to_pylist()
    assert len(pairs) == 6 and all(row["count_lower"] <= row["count"] <= row["count_upper"] for row in pairs)
    assert abs(sum(row["count"] for row in pairs) - 2000) < 400
    rows = pq.read_table(folder / "out" / "answers" / "rows.parquet")
    assert rows.num_rows == 50 and rows.column_names == ["region", "sick"]
    assert [a.kind for a in done.answers] == ["question", "question", "workload", "synthetic", "bounds"]
    assert done.new and not publish(plan, folder / "out").new


def test_a_third_party_checks_a_folder(folder):
    out = publish(ReleasePlan.load(folder / "release.toml"), folder / "out").folder
    export = verify_export(out / "ledger.jsonl")
    card = json.loads((out / "card.json").read_text())
    assert (export.head.seq, export.head.hash) == tuple(card["ledger"]["head"].values())
    for name in ("regions", "age"):
        proof = proved((out / "answers" / f"{name}.json").read_bytes(), export.charge_of)
        assert proof.same_question and proof.charge.hash == card["ledger"]["hash"]
    swapped = json.loads((out / "answers" / "age.json").read_text())
    swapped["provenance"]["together"] = [0, 5]
    with pytest.raises(BadParameter, match="what was drawn is another"):
        proved(json.dumps(swapped), export.charge_of)
    swapped["provenance"]["together"] = [2, 5]
    with pytest.raises(BadParameter, match="keeps no such answer"):
        proved(json.dumps(swapped), export.charge_of)
    with ReleasePlan.load(folder / "release.toml").curator() as curator:
        release = proved((out / "answers" / "age.json").read_bytes(), export.charge_of).release
        assert curator.verify(release) == curator.ledger.head()


def test_the_page_asks_no_other_host_and_shows_labels_as_they_are(folder):
    out = publish(ReleasePlan.load(folder / "release.toml"), folder / "out").folder
    page = (out / "index.html").read_text("utf-8")
    assert "<b>south" not in page and "&lt;b&gt;south&lt;/b&gt;" in page and "<i>" not in page
    assert "<script" not in page and "default-src &#x27;none&#x27;" in page
    addresses = set(re.findall(r'(?:src|href|url)\s*[=(]\s*"?([^"\s>)]+)', page))
    assert all(not re.match(r"\w+:|//", address) for address in addresses)
    assert {a for a in addresses if not a.startswith("#")} <= FILES
    assert page.count("<svg") == 3 and "Neighbouring tables differ" in page
    for words in (
        "Each interval from lower to upper contains",
        "Values are clamped: age to [0, 99].",
        "no row is anybody's",
    ):
        assert words in page.replace("&#x27;", "'")


TEXT = {"type": "string"}
ONE_OF = {
    "data_curator_type": ["Government", "Industry", "Nonprofit"],
    "data_product_type": ["Summary statistics", "Machine learning model", "Dataset", "Synthetic data",
                          "Interactive API", "SQL queries"],
    "data_product_sector": ["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"],
    "variant_name": ["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"],
    "model_name": ["Local", "Central", "Shuffle", "Federated", "Varies"],
    "release_type": ["One release", "Many releases"],
    "data_source_type": ["Static", "Dynamic"],
    "access_type": ["Interactive", "Non-interactive"],
}  # fmt: skip


def closed(required=(), **properties):
    named = {name: {"enum": ONE_OF[name]} if name in ONE_OF else rule for name, rule in properties.items()}
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": named}


def texts(names):
    return dict.fromkeys(names.split(), TEXT)


BASIC = "name description intended_use data_product_type data_product_region"
CURATOR = closed(("data_curator_name", "data_curator_type"), **texts("data_curator_name data_curator_type"))
NUMBER = {"type": "number"}
# The rules of schemas/deployments-schema.yaml of the OpenDP registry, as they were in 2026.
RULES = closed(
    ("url_slug", "deployment"),
    url_slug=TEXT,
    deployment=closed(
        ("basic", "administrative"),
        basic=closed(
            (*BASIC.split(), "data_curators", "publication_date"),
            **texts(f"{BASIC} data_product_sector"),
            data_curators={"type": "array", "minItems": 1, "items": CURATOR},
            publication_date={"type": "string", "format": "date"},
        ),
        dp_variant=closed(**texts("variant_name data_domain unprotected_quantities")),
        privacy_loss=closed(
            **texts("privacy_unit privacy_unit_details"),
            number_of_privacy_units={"type": "integer"},
            privacy_parameters=closed(epsilon=NUMBER, rho=NUMBER, delta={"type": ["number", "string"]}),
            privacy_parameters_details={},
        ),
        deployment_model=closed(
            **texts("model_name model_name_details trust_assumptions release_type release_type_details"),
            **texts("data_source_type data_source_type_details access_type access_type_details"),
            actors={},
        ),
        implementation=closed(
            **texts("preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification"),
            utility={},
            additional_information={},
        ),
        administrative=closed(
            ("status", "registry_authors", "tier"),
            evidence_sources={"type": "object"},
            status={"enum": ["Converted", "Draft", "Pending", "Changes Required", "Approved"]},
            registry_authors={"type": "array", "minItems": 1, "items": TEXT},
            tier={"enum": [1, 2, 3]},
        ),
    ),
)


@pytest.mark.parametrize(
    ("budget", "variant"),
    [
        ("epsilon = 1\ndelta = 1e-6", "Approximate DP"),
        ("epsilon = 2", "Pure DP"),
        ("rho = 0.1", "Zero-concentrated DP"),
    ],
)
def test_the_entry_keeps_the_rules_of_the_registry(folder, budget, variant):
    plan = PLAN.replace("epsilon = 1\ndelta = 1e-6", budget)
    (folder / "release.toml").write_text(plan)
    out = publish(ReleasePlan.load(folder / "release.toml"), folder / "out").folder
    text = (out / "registry.yaml").read_text("utf-8")
    entry = yaml.safe_load(text)
    checker = jsonschema.Draft7Validator(RULES, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    assert [error.message for error in checker.iter_errors(entry)] == []
    assert {token.style for token in yaml.scan(text) if hasattr(token, "style")} <= {None, '"', "'", "|"}
    assert entry["deployment"]["dp_variant"]["variant_name"] == variant
    assert all(isinstance(x, float) for x in entry["deployment"]["privacy_loss"]["privacy_parameters"].values())
    assert entry["deployment"]["basic"]["intended_use"] == 'To show: "how many".'


def test_a_dry_run_opens_nothing_and_says_what_will_be(folder):
    said = tacit("publish", folder / "release.toml", "--dry")
    assert not (folder / "visits.ledger").exists() and not (folder / "release").exists()
    assert "+-40" in said and "counts at once, by" in said and "nothing was charged" in said
    plan = ReleasePlan.load(folder / "release.toml")
    items, allocation = dry_run(plan)
    assert [item.name for item in items] == ["regions", "age", "pairs", "rows", "ages"]
    done = publish(plan, folder / "out")
    assert price_of(done.charge) == Fraction(allocation.price)
    assert f"bought by entry {done.charge.seq}, so it is free" in tacit("publish", folder / "release.toml", "--dry")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_step_is_completed_under_the_same_charge(folder, monkeypatch, step, after):
    plan, real, patches = counted(folder, ["weight = 1", "error = 40"]), ReleasePlan.curator, []

    def crashes(self):
        curator = real(self)
        if step == "read":
            curator.read_tables()
        patches.append(crashing(monkeypatch, *STEPS[step](curator), after=after))
        patches[0].__enter__()
        return curator

    with monkeypatch.context() as inner:
        inner.setattr(ReleasePlan, "curator", crashes)
        with pytest.raises(Crash):
            publish(plan, folder / "out")
    patches[0].__exit__(None, None, None)
    first = publish(plan, folder / "out")
    again = digests(folder / "out")
    publish(plan, folder / "out")
    assert digests(folder / "out") == again and "answers/q1.json" in again
    with plan.curator() as curator:
        assert [charge.seq for charge in curator.history()] == [first.charge.seq]
        assert sum(entry.kind == "release" for entry in curator.ledger.entries()) == 1


KILLED = """
import os, sys
from tacit.ledger import Ledger
from tacit.publish import ReleasePlan, folder, publish
def die(*_, **__):
    os.kill(os.getpid(), 9)
setattr(Ledger if sys.argv[2] == "store" else folder, {"store": "store", "write": "_write"}[sys.argv[2]], die)
publish(ReleasePlan.load(sys.argv[1]), sys.argv[3])
"""


@pytest.mark.parametrize("where", ["store", "write"])
def test_a_killed_publication_is_completed_later(folder, where):
    path, out = folder / "release.toml", folder / "out"
    done = subprocess.run([sys.executable, "-c", KILLED, path, where, out], capture_output=True, check=False)
    assert done.returncode == -9 and not out.exists()
    plan = ReleasePlan.load(path)
    with plan.curator() as curator:
        (charge,) = curator.history()
    assert publish(plan, out).charge.seq == charge.seq
    with plan.curator() as curator:
        assert len(curator.history()) == 1
    assert digests(out).keys() == FILES


def test_an_interrupted_folder_is_replaced(folder):
    plan = ReleasePlan.load(folder / "release.toml")
    (folder / ".out.part").mkdir()
    (folder / ".out.part" / "stray").write_text("")
    publish(plan, folder / "out")
    assert digests(folder / "out").keys() == FILES and not (folder / ".out.part").exists()
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.doc").write_text("")
    with pytest.raises(BadParameter, match="is no publication"):
        publish(plan, folder / "mine")


def counted(folder, answers, budget="epsilon = 1\ndelta = 1e-6", more=""):
    """A plan of counts with these errors or weights."""
    listed = "".join(
        f'[[question]]\nname = "q{i}"\nsql = "SELECT COUNT(*) AS n FROM visits WHERE age < {i + 1}"\n{answer}\n'
        for i, answer in enumerate(answers)
    )
    path = folder / "counts.toml"
    path.write_text(f'title = "Counts"\ndata = "visits.csv"\n{more}\n[budget]\n{budget}\n{listed}')
    return ReleasePlan.load(path)


def errors(plan):
    _, allocation = dry_run(plan)
    return [chosen.errors[0].error for chosen in allocation.chosen], allocation


def test_a_hundred_counts_have_the_error_of_the_exact_composition(folder):
    """Gaussian noise that is (1, 1e-6)-private by its exact profile has an error of 82.8; separate counts have 92."""
    plan = counted(folder, ["weight = 1"] * 100)
    got, allocation = errors(plan)
    with replace(plan, ledger=str(folder / "s.ledger"), budget=Budget(epsilon=1, delta="1e-6")).curator() as curator:
        separate = curator.offer("SELECT COUNT(*) AS n FROM visits WHERE age < 1", share="0.01").errors[0].error
    assert set(got) == {83.0} and 83 / separate <= 0.95
    assert Fraction(9995, 10000) < allocation.price <= 1


def test_errors_are_met_at_the_least_price_and_weights_divide_the_rest(folder):
    few, cheap = errors(counted(folder, ["error = 30", "error = 60"]))
    assert few == [30, 60] and cheap.price < Fraction(1, 2)
    both, whole = errors(
        counted(folder, ["error = 30", "weight = 4", "weight = 1", "weight = 1"] + ["weight = 1"] * 20)
    )
    assert both[0] == 30 and both[2] == both[3] and whole.price > Fraction(99, 100)
    assert both[1] / both[2] == pytest.approx(0.5, abs=0.02)
    one, _ = errors(counted(folder, ["weight = 1"]))
    assert one == [3]  # Laplace noise of epsilon 1, which is better for one count than any Gaussian noise


@pytest.mark.parametrize(
    "budget", ["epsilon = 1", "rho = 0.1", "epsilon = 1\nrenyi_order = 10", "epsilon=1\ndelta=1e-6\nslack=5e-7"]
)
def test_every_kind_of_budget_is_divided(folder, budget):
    plan = counted(folder, ["weight = 1"] * 6 + ["error = 200"], budget)
    got, allocation = errors(plan)
    assert max(got[:6]) == min(got[:6]) and got[6] <= 200 and 0.98 < allocation.price / plan.budget.limit <= 1
    done = publish(plan, folder / "out")
    with plan.curator() as curator:
        assert curator.ledger.remaining() == plan.budget.limit - price_of(done.charge)


def test_what_cannot_be_paid_is_refused_before_anything_is_charged(folder):
    for answers in (["error = 0.001"], ["error = 5", "error = 5", "error = 5", "weight = 1"]):
        plan = counted(folder, answers)
        with pytest.raises(Refused, match="The errors that are asked for take"):
            publish(plan, folder / "out")
        with plan.curator() as curator:
            assert not curator.history() and curator.remaining == 1
    with pytest.raises(Refused, match="so many take at least"):
        publish(counted(folder, ["error = 30000"] * 3), folder / "out")
    half = counted(folder, ["weight = 1"], more="share = 0.5")
    publish(half, folder / "out")
    other = counted(folder, ["weight = 2"], more="share = 0.6")
    with pytest.raises(BudgetExceeded):
        publish(other, folder / "other")
    rest = counted(folder, ["weight = 2"])
    assert float(price_of(publish(rest, folder / "rest").charge)) == pytest.approx(0.5, rel=1e-3)
    with half.curator() as curator:
        assert len(curator.history()) == 2


def test_what_identifies_a_publication(folder):
    plan = counted(folder, ["weight = 1", "error = 60"], more="share = 0.3")
    publish(plan, folder / "out")
    same = [plan.text.replace("Counts", "Other title"), plan.text.replace("AS n", "AS m")]
    others = [plan.text.replace("error = 60", "error = 61"), plan.text.replace("share = 0.3", "share = 0.31")]
    others.append(plan.text.replace("age < 2", "age < 3"))
    for text, free in [*((text, True) for text in same), *((text, False) for text in others)]:
        (folder / "again.toml").write_text(text)
        again = ReleasePlan.load(folder / "again.toml")
        with again.curator() as curator:
            assert (found(curator, again.items(curator), again.share) is not None) == free, text


def test_what_is_only_shown_otherwise_is_free_and_shown_so(folder):
    plan = counted(folder, ["error = 60"], more="share = 0.3")
    first = publish(plan, folder / "out")
    (folder / "again.toml").write_text(plan.text.replace("COUNT(*) AS n", "2 * COUNT(*) AS twice"))
    again = publish(ReleasePlan.load(folder / "again.toml"), folder / "again")
    assert not again.new and again.charge.seq == first.charge.seq
    (once,), (twice,) = (done.answers[0].table.to_pylist() for done in (first, again))
    assert twice["twice"] == 2 * once["n"] and "2 * COUNT" in (folder / "again" / "index.html").read_text()
    export = verify_export(folder / "again" / "ledger.jsonl")
    proof = proved((folder / "again" / "answers" / "q0.json").read_bytes(), export.charge_of)
    assert not proof.same_question and "was stored, SELECT COUNT(*) AS n FROM visits" in proof.caveats[0]


def test_an_allowance_is_kept(folder):
    plan = counted(folder, ["weight = 1"] * 4)
    with plan.curator() as curator:
        curator.ledger.allow("publisher", Budget(epsilon="0.25", delta="1e-6", slack=0))
        allocation = allocated(curator, plan.items(curator), None)
    assert allocation.price <= Fraction(1, 4)
    assert allocation.chosen[0].errors[0].error >= 12 * 3
    publish(plan, folder / "out")


def test_noise_is_what_was_paid_for(folder):
    """The mechanisms of each release are those of the charge, and its noisy counts differ from one another's noise."""
    plan = counted(folder, ["weight = 1"] * 30)
    done = publish(plan, folder / "out")
    terms = done.charge.purpose.terms["answers"]
    noise = []
    for i, (answer, paid) in enumerate(zip(done.answers, terms, strict=True)):
        stored = json.loads(answer.files["json"])
        assert stored["facts"]["mechanisms"] == paid["mechanisms"] and stored["provenance"]["together"] == [i, 30]
        truth = 40 * max(0, i - 19)
        noise.append(stored["answer"]["n"]["values"][0] - truth)
    assert len(set(noise)) > 10 and np.abs(noise).max() < 300


WRONG = {
    'titel = "x"': "The plan has no key 'titel'",
    "share = 2": "share must be a fraction",
    "beta = 1": "beta",
    '[[question]]\nsql = "SELECT 1"\nerror = 1\nweight = 1': "Give one of them",
    '[[question]]\nname = "../x"\nsql = "x"': "files are named after it",
    '[[question]]\nname = "pairs"\nsql = "SELECT COUNT(*) FROM visits"': "Two answers are called 'pairs'",
    '[[question]]\nsql = "SELECT age FROM visits"': "",
    '[[question]]\nquery = "x"': "A [[question]] has no key 'query'",
    '[[workload]]\ncolumns = "region"': "names of columns",
    '[[workload]]\ncolumns = ["region"]\nworkload = "cubes"': "marginals K, prefixes or ranges",
    '[[synthetic]]\ncolumns = ["region"]': "how many synthetic rows",
    '[[bounds]]\ncolumn = "region"': "Bounds can be bought for numbers and dates",
    "[question]\nsql = 1": "",
    "x = [": "not TOML",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_plan_that_is_wrong_is_refused_in_a_sentence(folder, wrong):
    first, rest = PLAN.strip().split("\n\n", 1)
    text = f"{first}\n\n{rest}\n{wrong}" if wrong.startswith("[[") else f"{wrong}\n{first}\n\n{rest}"
    (folder / "wrong.toml").write_text(text)
    with pytest.raises(TacitError) as refused:
        publish(ReleasePlan.load(folder / "wrong.toml"), folder / "out")
    assert WRONG[wrong] in str(refused.value) and not (folder / "out").exists()


def test_the_folder_states_nothing_of_this_machine(folder):
    out = publish(ReleasePlan.load(folder / "release.toml"), folder / "out").folder
    for path in out.rglob("*"):
        if path.is_file():
            assert str(folder).encode() not in path.read_bytes()
    assert Path(publishing.__file__).parent.name == "publish"


FLIGHTS = """
title = "Departures from New York, 2013"
data = "flights.csv"
[budget]
epsilon = 1
delta = 1e-6
[[question]]
name = "carriers"
sql = "SELECT carrier, COUNT(*) AS flights FROM flights GROUP BY carrier"
error = 150
[[question]]
name = "cancelled"
sql = "SELECT month, SUM(CASE WHEN dep_time IS NULL THEN 1 ELSE 0 END) / COUNT(*) AS share FROM flights GROUP BY month"
[[workload]]
name = "airports"
columns = ["carrier", "origin"]
error = 150
"""
FLIGHTS_SCHEMA = """
[table]
name = "flights"
unit = "row"
size = 336776
missing = ["NA"]
[columns.carrier]
type = "category"
values = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
[columns.origin]
type = "category"
values = ["EWR", "JFK", "LGA"]
[columns.month]
type = "integer"
lower = 1
upper = 12
[columns.dep_time]
type = "integer"
lower = 1
upper = 2400
"""


def test_a_custodian_publishes_all_flights_of_a_year(flights, tmp_path):  # noqa: F811
    """From a CSV file to a folder that a stranger verifies; each number is where its noise can put it.

    Twice an error at 95 % is 3.9 deviations of Gaussian noise, and six times is 11.7: of a hundred numbers, one is
    farther off with a probability below 1e-25.
    """
    (tmp_path / "flights.csv").symlink_to(flights)
    (tmp_path / "flights.toml").write_text(FLIGHTS_SCHEMA)
    (tmp_path / "year.toml").write_text(FLIGHTS)
    assert "+-150" in tacit("publish", tmp_path / "year.toml", "--dry")
    tacit("publish", tmp_path / "year.toml")
    out = tmp_path / "year"
    with flights.open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_carrier = Counter(flight["carrier"] for flight in rows)
    by_airport = Counter((flight["carrier"], flight["origin"]) for flight in rows)
    by_month = Counter(int(flight["month"]) for flight in rows)
    cancelled = Counter(int(flight["month"]) for flight in rows if flight["dep_time"] == "NA")
    for row in pq.read_table(out / "answers" / "carriers.parquet").to_pylist():
        assert row["flights_upper"] - row["flights"] <= 150
        assert abs(row["flights"] - by_carrier[row["carrier"]]) <= 6 * 150
    for row in pq.read_table(out / "answers" / "cancelled.parquet").to_pylist():
        truth, wide = cancelled[row["month"]] / by_month[row["month"]], row["share_upper"] - row["share_lower"]
        assert 0 <= row["share_lower"] <= row["share"] <= row["share_upper"] <= 1
        assert abs(row["share"] - truth) <= 6 * wide < 0.2
    for row in pq.read_table(out / "answers" / "airports.parquet").to_pylist():
        at = re.fullmatch(r"carrier = (\w+) and origin = (\w+)", row["query"]).groups()
        assert abs(row["count"] - by_airport[at]) <= 6 * 150
    assert "The ledger is sound" in tacit("verify", out / "answers" / "carriers.json", "--ledger", out / "ledger.jsonl")
    assert "sound" in tacit("ledger", "verify", out / "ledger.jsonl")
