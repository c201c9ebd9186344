"""A publication as a folder for a web server; it depends on the plan and on what the ledger keeps, and on nothing else.

index.html      the report
answers/        each answer as CSV, as Parquet, and questions as JSON, which `tacit verify` checks
card.json       what a machine reads: guarantee, errors, mechanisms, and the digest of each file
ledger.jsonl    the ledger up to the publication, for `tacit ledger verify`
registry.yaml   the entry of the OpenDP registry of deployments, if the plan has a [registry]
release.toml    the plan
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.accounting.accountants import failures
from ..core.accounting.batch import Batch
from ..core.accounting.budget import Budget
from ..core.accounting.currency import Rho
from ..core.accounting.loss import Loss
from ..core.errors import BadParameter
from ..core.exact import from_above
from ..curator.batch import Allocation, Batched, allocated, buy_batch, found
from ..ledger import Charge, Entry, Ledger
from ..ledger.accounts import ALL
from ..ledger.backup import export
from ..ledger.encoding import read_loss
from ..ledger.verification import replayed
from .answers import Answer, read_answer
from .plan import ReleasePlan
from .registry import entry
from .report import page

if TYPE_CHECKING:
    from ..curator import Curator
    from ..curator.items import Item

_CARD = "card.json"
FORMAT = 1


@dataclass(frozen=True)
class Published:
    """A publication: its folder, its charge, its answers, and whether it was bought now."""

    folder: Path
    charge: Charge
    answers: tuple[Answer, ...]
    new: bool


def price_of(charge: Charge) -> Fraction:
    """What a publication took of the budget."""
    return Fraction((charge.purpose.terms or {})["price"])


def dry_run(plan: ReleasePlan) -> tuple[list[Item], Allocation | Charge]:
    """What the plan would give: its items with the noise of each and what all take; or the charge, if it was bought.

    No data are read, nothing is charged, and no ledger is opened that is not there yet.
    """
    with tempfile.TemporaryDirectory() as elsewhere:
        opens = plan.budget is not None and "://" not in plan.ledger and not Path(plan.ledger).exists()
        tried = replace(plan, ledger=str(Path(elsewhere) / "dry.ledger")) if opens else plan
        with tried.curator() as curator:
            items = plan.items(curator)
            return items, found(curator, items, plan.share) or allocated(curator, items, plan.share)


def publish(plan: ReleasePlan, folder: str | os.PathLike[str]) -> Published:
    """Buy what the plan asks for, once, and write the folder; run again it is free, and every byte is the same."""
    target = Path(folder)
    if target.exists() and not (target.is_dir() and ((target / _CARD).is_file() or not any(target.iterdir()))):
        says = f"{target} is there already, and is no publication. Pass another folder."
        raise BadParameter("output", str(target), "a new folder", says=says)
    with plan.curator() as curator:
        items = plan.items(curator)
        before = found(curator, items, plan.share)
        bought = buy_batch(curator, items, plan.share, plan.title)
        answers, files = _files(plan, curator, items, bought)
    _write(target, files)
    return Published(target, bought.charge, tuple(answers), before is None or before.release is None)


def _files(
    plan: ReleasePlan, curator: Curator, items: Sequence[Item], bought: Batched
) -> tuple[list[Answer], dict[str, bytes]]:
    """Every file of the folder."""
    price = price_of(bought.charge)
    answers = [read_answer(item, stored, price) for item, stored in zip(items, bought.answers, strict=True)]
    ledger, kept = _exported(curator.ledger, bought.charge)
    files = {"release.toml": plan.text.encode(), "ledger.jsonl": ledger}
    for answer in answers:
        for suffix, data in {"csv": answer.csv.encode(), "parquet": _parquet(answer), **answer.files}.items():
            files[f"answers/{answer.name}.{suffix}"] = data
    card = _card(plan, curator, bought.charge, answers, kept)
    if plan.registry is not None:
        files["registry.yaml"] = entry(plan.registry, card).encode()
    card["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    files[_CARD] = (json.dumps(card, indent=2, sort_keys=True, ensure_ascii=True) + "\n").encode()
    files["index.html"] = page(card, answers).encode()
    return answers, files


def _exported(ledger: Ledger, charge: Charge) -> tuple[bytes, list[Entry]]:
    """The export of a ledger up to the release of a charge, and its entries."""
    kept = list[Entry]()
    for each in ledger.entries():
        kept.append(each)
        if each.kind == "release" and each.body["charge"] == charge.seq:
            break
    text = io.StringIO()
    export(ledger, text, kept[-1].seq)
    return text.getvalue().encode(), kept


def _parquet(answer: Answer) -> bytes:
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(answer.table, sink)
    return sink.getvalue()


def _card(
    plan: ReleasePlan, curator: Curator, charge: Charge, answers: Sequence[Answer], kept: list[Entry]
) -> dict[str, Any]:
    """What a machine reads of a publication."""
    ((budget, spent),) = replayed(kept).accounts.spent(ALL, None)
    head = kept[-1].head
    described = [
        {
            "name": answer.name,
            "title": answer.title,
            "kind": answer.kind,
            "errors": [{"column": column, "error": error} for column, error in answer.errors],
            "card": answer.card,
        }
        for answer in answers
    ]
    return {
        "format": FORMAT,
        "title": plan.title,
        "description": plan.description,
        "date": charge.time,
        "privacy": _privacy(curator, read_loss(kept[charge.seq - 1].body["loss"]), budget),  # in its order as stored
        "mechanisms": sorted({name for answer in answers for name in answer.mechanisms}),
        "answers": described,
        "ledger": {
            "budget": str(budget),
            "price": float(price_of(charge)),
            "spent": float(max(budget.used(amounts) for amounts in spent)),
            "entry": charge.seq,
            "hash": charge.hash,
            "head": {"entry": head.seq, "hash": head.hash},
        },
        "implementation": answers[0].card["implementation"],
    }


def _privacy(curator: Curator, loss: Loss, budget: Budget) -> dict[str, Any]:
    """The guarantee of all answers together."""
    schema = curator.table.schema
    unit = schema.unit or "row"
    variant, parameters, words, composition = _guarantee(loss, budget)
    rows = f", of which at most {schema.rows} rows are used" if schema.rows > 1 else ""
    differ = f"all that belongs to one {unit}{rows}" if schema.unit else "one row"
    return {
        "variant": variant,
        "parameters": parameters,
        "sentence": f"all answers together are {words} for any one {unit}.",
        "composition": composition,
        "unit": {schema.name: unit},
        "neighbours": f"Neighbouring tables differ in {differ}.",
    }


def _guarantee(loss: Loss, budget: Budget) -> tuple[str, dict[str, float], str, str]:
    """The variant of privacy, its parameters, both in words, and how the losses were composed."""
    (first, *others) = loss.terms
    if isinstance(first, Batch) and not others:
        epsilon, delta = float(first.pure()), float(first.delta)
        words = f"({from_above(epsilon, 4)}, {delta:g})-differentially private"
        how = "The privacy losses of all answers were composed as one mechanism, declared in advance."
        return "Approximate DP", {"epsilon": epsilon, "delta": delta}, words, how
    if budget.rho is not None and not failures(loss):
        rho = float(Rho().total(loss))
        return "Zero-concentrated DP", {"rho": rho}, f"{rho:.4g}-zero-concentrated differentially private", "Rhos add."
    if not failures(loss) and (pure := loss.epsilon()) < float("inf"):
        return "Pure DP", {"epsilon": pure}, f"{from_above(pure, 4)}-differentially private", "Epsilons add."
    delta = float(budget.delta or Fraction(1, 10**6))
    epsilon = loss.epsilon(Fraction(delta))
    words = f"({from_above(epsilon, 4)}, {delta:g})-differentially private"
    return "Approximate DP", {"epsilon": epsilon, "delta": delta}, words, "Renyi divergences of one order add."


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder in one step, or the files of an old one, each in one step."""
    draft = target.with_name(f".{target.name}.part")
    shutil.rmtree(draft, ignore_errors=True)  # of a run that was interrupted
    for name, data in files.items():
        place = draft / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    if not target.exists():
        draft.rename(target)
        return
    for name in files:
        (target / name).parent.mkdir(exist_ok=True)
        (draft / name).replace(target / name)
    shutil.rmtree(draft)
