"""An export by itself: a third party recomputes the chain, every sum and every answer, and sees each forgery."""

import base64
import json
from pathlib import Path

import pytest
from test_cli_tables import tacit as run
from typer.testing import CliRunner

import tacit
from tacit import Curator, LedgerCorrupt
from tacit.cli import app
from tacit.core.errors import BadParameter
from tacit.ledger.exported import is_export, verify_export
from tacit.release.proof import proved

SCHEMA = '[table]\nname = "t"\nunit = "row"\n[columns.x]\ntype = "integer"\nlower = 0\nupper = 9\n'
ROWS = [{"x": i % 10} for i in range(500)]
COUNT = "SELECT COUNT(*) AS n FROM t WHERE x < 5"


@pytest.fixture(scope="module")
def sold(tmp_path_factory):
    """A ledger with two questions, a stream and an allowance, its export, and the first release."""
    folder = tmp_path_factory.mktemp("export")
    with Curator(tacit.Table(ROWS, SCHEMA), ledger=folder / "t.ledger", budget=tacit.Budget(epsilon=2)) as c:
        c.ledger.allow("ana", tacit.Budget(epsilon=2))
        view = c.seen_by("ana")
        release = view.ask(COUNT, epsilon=1)
        view.ask("SELECT x, COUNT(*) AS n FROM t GROUP BY x", epsilon="0.5")
        view.above_threshold(10, epsilon="0.1").ask(COUNT)
        c.ledger.export(folder / "t.jsonl")
        head = c.ledger.head()
    (folder / "n.json").write_bytes(release.to_json())
    return folder, release, head


def test_an_export_verifies_alone_and_states_what_was_spent(sold):
    folder, release, head = sold
    found = verify_export(folder / "t.jsonl", head)
    assert found.head == head and found.dataset == "t" and found.budget == tacit.Budget(epsilon=2)
    assert float(found.spent) == pytest.approx(1.6)
    assert found.charge_of(release.provenance.entry_hash).seq == release.provenance.entry
    assert is_export(folder / "t.jsonl") and not is_export(folder / "t.ledger") and not is_export(folder / "none")
    said = run("ledger", "verify", folder / "t.jsonl")
    assert f"sound; 1.6 of Budget(epsilon=2) was spent on t, never more than the budget; head {head.seq}:" in said
    assert "sound" in run("ledger", "verify", folder / "t.jsonl", "--anchor", f"{head.seq}:{head.hash}")


def lines(folder):
    return [json.loads(line) for line in (folder / "t.jsonl").read_text().splitlines()]


def forged(folder, tmp_path, change):
    entries = lines(folder)
    change(entries)
    path = tmp_path / "forged.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def spoil(entries, kind, **facts):
    entry = next(e for e in entries if e["entry"]["kind"] == kind)
    entry["entry"].update(facts)


FORGERIES = {
    "another analyst": lambda es: spoil(es, "charge", analyst="bob"),
    "another budget": lambda es: es[0]["entry"]["budget"].update(epsilon="100/1"),
    "a dropped entry": lambda es: es.pop(3),
    "swapped entries": lambda es: es.insert(2, es.pop(3)),
    "another answer": lambda es: next(e for e in es if e["entry"]["kind"] == "release").update(
        data=base64.b64encode(b"{}").decode()
    ),
    "no answer": lambda es: next(e for e in es if e["entry"]["kind"] == "release").update(data=None),
    "another hash": lambda es: es[2].update(hash="0" * 64),
    "no entries": lambda es: es.clear(),
    "a line of something else": lambda es: es.append({"x": 1}),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_export_is_refused(sold, tmp_path, forgery):
    path = forged(sold[0], tmp_path, FORGERIES[forgery])
    with pytest.raises(LedgerCorrupt):
        verify_export(path)


def test_an_export_cut_short_is_seen_by_its_anchor_alone(sold, tmp_path):
    folder, _, head = sold
    path = forged(folder, tmp_path, lambda entries: entries.pop())
    assert verify_export(path).head.seq == head.seq - 1
    with pytest.raises(LedgerCorrupt, match="rolled back"):
        verify_export(path, head)


def test_a_published_number_is_the_one_that_was_stored(sold):
    folder, release, head = sold
    found = verify_export(folder / "t.jsonl")
    proof = proved(release.to_json(), found.charge_of)
    assert proof.same_question and not proof.caveats and proof.charge.seq == release.provenance.entry
    for ledger in ("t.jsonl", "t.ledger"):
        said = run("verify", folder / "n.json", "--ledger", folder / ledger)
        assert f"the one that entry {release.provenance.entry} keeps" in said and "The ledger is sound" in said
        assert "Compare the head" in said
    assert "Compare" not in run(
        "verify", folder / "n.json", "--ledger", folder / "t.jsonl", "--anchor", f"{head.seq}:{head.hash}"
    )


def test_a_number_that_was_changed_is_refused(sold, tmp_path):
    folder, release, _ = sold
    found = verify_export(folder / "t.jsonl")
    text = json.loads(release.to_json())
    for change, says in (
        (lambda t: t["answer"]["n"]["values"].__setitem__(0, 1_000_000), "The answer in this file was changed"),
        (lambda t: t["facts"].__setitem__("noisy", (([7],))), "what was drawn is another"),
        (lambda t: t["provenance"].__setitem__("question", "SELECT COUNT(*) FROM t"), "what was drawn is another"),
        (lambda t: t["provenance"].__setitem__("entry_hash", "0" * 64), "not in the ledger"),
        (lambda t: t["provenance"].__setitem__("entry_hash", None), "nothing vouches for it"),
    ):
        copied = json.loads(json.dumps(text))
        change(copied)
        with pytest.raises(BadParameter) as refused:
            proved(json.dumps(copied), found.charge_of)
        assert says in str(refused.value) or "another" in str(refused.value)
    path = tmp_path / "forged.json"
    text["answer"]["n"]["values"] = [1_000_000]
    path.write_text(json.dumps(text))
    result = CliRunner().invoke(app, ["verify", str(path), "--ledger", str(folder / "t.jsonl")])
    assert result.exit_code == 2 and "The answer in this file was changed" in result.output


def test_what_is_shown_otherwise_is_said(sold):
    folder, release, _ = sold
    found = verify_export(folder / "t.jsonl")
    revised = release.revise({"n": [5]}, "rounded to fives")
    (said,) = proved(revised.to_json(), found.charge_of).caveats
    assert said == "Values were replaced after the draw (rounded to fives)."
    with Curator(tacit.Table(ROWS, SCHEMA), ledger=folder / "t.ledger") as c:
        other = c.seen_by("ana").ask("SELECT COUNT(*) AS people FROM t WHERE x < 5", epsilon=1)
    (said,) = proved(other.to_json(), found.charge_of).caveats
    assert said == f"It is shown by another question than the one that was stored, {COUNT}: compare the two."


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[1] / "fixtures" / "ledgers").rglob("*.jsonl")), ids=lambda p: p.stem
)
def test_exports_of_earlier_versions_verify(path):
    assert verify_export(path).spent <= verify_export(path).budget.limit
