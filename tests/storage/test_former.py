"""What earlier versions wrote stays readable, and is found by the text that named it then.

`golden/former_workloads.json` was written before stored names, one release for each method and the text that named its
purchase; `golden/workloads.json` since then.  To add a method to the second, run this file as a program: it writes what
is not there yet.
"""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from tacit import SUBSTITUTE, storage
from tacit.core.accounting.loss import Loss, Pure
from tacit.core.errors import Refused
from tacit.curator import identity, workloads  # noqa: F401 - which knows all that a ledger holds of them
from tacit.holdout import Holdout, Ladder, Memory
from tacit.holdout.rules.rule import State
from tacit.storage import former
from tacit.testing.sources import Seeded
from tacit.workloads import METHODS, Domain, Histogram, Price, marginals, prefixes

GOLDEN = Path(__file__).parents[1] / "golden"
FORMER, STORED = (
    json.loads(path.read_text()) if path.exists() else {}
    for path in (GOLDEN / "former_workloads.json", GOLDEN / "workloads.json")
)
LINE = Domain.of({"x": range(4)})
TABLE = Domain.of({"a": ["x", "y"], "b": ["u", "v", "w"]})
CASES = [
    (prefixes(LINE), [5, 0, 7, 9]),
    (marginals(TABLE, k=1), [3, 1, 4, 1, 5, 7]),
]
PRICES = [Price.of(rho="0.5"), Price.of(epsilon=2), Price.of(epsilon=2, unit=SUBSTITUTE.histogram())]
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def purchases(method):
    """What the method would answer, and at which price: the first that it does not refuse, of each workload."""
    for workload, counts in CASES:
        price = next((p for p in PRICES if method.refusal(workload, 21, p) is None), None)
        if price is not None:
            yield workload, Histogram(workload.domain, counts, price.unit), price


def names(method):
    """What identifies each purchase, and in the former spelling."""
    for workload, _, price in purchases(method):
        facts, spelled = identity.answers(workload, method, price, 21, None, former_spelling=True)
        yield storage.canonical(facts), spelled


def texts(method):
    """What is stored of its releases, and what identifies them."""
    for (workload, data, price), (name, _) in zip(purchases(method), names(method), strict=True):
        released = method.release(workload, data, price, Seeded(1), n=21)
        yield {"name": name, "release": storage.canonical(released)}


@each_method
def test_what_was_stored_once_is_read_and_named_as_then(method):
    for kept, which in ((STORED[method.name], 0), (FORMER[method.name], 1)):
        assert kept and [entry["name"] for entry in kept] == [name[which] for name in names(method)]
        for entry, (workload, _, _) in zip(kept, purchases(method), strict=True):
            released = storage.loads(entry["release"])
            assert released.method == method.name and storage.canonical(released.workload) == storage.canonical(
                workload
            )
            assert released.answers.shape == (workload.queries,) and np.isfinite(released.answers).all()


@each_method
def test_what_is_written_is_what_was_stored(method):
    for entry in STORED[method.name]:
        released = storage.loads(entry["release"])
        assert storage.canonical(released) == entry["release"]


@each_method
def test_a_release_says_the_same_after_it_was_read_and_written(method):
    kept = [entry["release"] for known in (STORED, FORMER) for entry in known[method.name]]
    for text, (workload, _, _) in zip(kept, [*purchases(method)] * 2, strict=True):
        before = storage.loads(text)
        now = storage.loads(storage.canonical(before))
        assert now.loss == before.loss and now.notes == before.notes and now.beta == before.beta
        assert np.array_equal(now.answers, before.answers) and same(now.errors, before.errors)
        assert type(now.model) is type(before.model)
        assert np.allclose(workload.answer(before.model), before.answers)  # so that its model was read as it was
        for axes in workload.tables:
            assert np.array_equal(now.model.marginal(axes), before.model.marginal(axes))
        assert same(*(r.model.error_bounds(workload, 0.01) for r in (now, before)))
        assert now.model.nonnegative().total == before.model.nonnegative().total


def same(a, b):
    return (a is None) == (b is None) and (a is None or np.array_equal(a, b))


def test_numbers_of_former_losses():
    def loss(**fields):
        return {"relation": "AddRemove", "terms": [[2, {"atom": "Pure", **fields}]]}

    for text, value in (("1/3", 1 / 3), ("0x1.8p+1", 3.0), ("inf", float("inf")), (7, 7), (hex(7**9000), 7**9000)):
        ((atom, n),) = storage.read(loss(epsilon=text)).terms.items()
        assert (
            n == 2 and type(atom) is Pure and float(atom.epsilon) == value if value != 7**9000 else atom == Pure(value)
        )
    assert storage.read({"relation": None, "terms": []}) == Loss()


@pytest.mark.parametrize(
    "written",
    [
        {"of": "subprocess.Popen", "with": {"args": "ls"}},
        {"of": "domain.Domain", "with": {"attributes": {"value": 3}}},
        {"of": "domain.Domain"},
        {"of": "residuals.Energy", "named": 3},
        {"of": 3, "with": {}},
        {"array": "AAAA", "dtype": "O", "shape": [1]},
        {"array": "AAAA", "dtype": "|V3", "shape": [1]},
        {"array": "AAAA", "dtype": "<f8", "shape": [1]},
        {"tuple": {"array": base64.b64encode(b"\0" * 8).decode(), "dtype": "O", "shape": [1]}},
        {"tuple": {"array": base64.b64encode(b"\0" * 8).decode(), "dtype": "<f8", "shape": [1]}},
        {"tuple": 3},
        {"scalar": {"array": "", "dtype": "<f8", "shape": []}},
        {"sparse": [], "shape": [1, 1]},
        {"moment": "yesterday"},
        {"range": [0, 1]},
        {"value": {"is": "Popen"}},
        {"items": 3},
        {"hits": 1},
        {"relation": "Popen", "terms": []},
        {"relation": None, "terms": [[1, {"atom": "Popen"}]]},
        {"relation": None, "terms": [[1, {"atom": "Laplace", "scale": 1}]]},
        {"relation": None, "terms": [[1, {"atom": "Pure", "epsilon": "1/0"}]]},
        {"relation": None, "terms": 3},
        {"tuple": [{"value": {"..": [0, 1 << 23, 1]}}] * 3},
    ],
)
def test_nothing_else_is_read(written):
    with pytest.raises(storage.Unreadable):
        storage.read(written)


def test_a_holdout_goes_on_from_a_state_that_was_written_before_stored_names():
    rule, records = Ladder(n=500, questions=9), np.arange(500) % 2

    class Before(Memory):
        """Keeps what was the state of this rule."""

        def start(self, *, key, loss, state, analyst, purpose):
            if purpose.kind != "holdout":
                return super().start(key=key, loss=loss, state=state, analyst=analyst, purpose=purpose)
            then = {"rule": repr(self.rule), "state": {"asked": 3, "told": 1, "mark": 0, "values": ""}}
            return super().start(key=key, loss=loss, state=json.dumps(then).encode(), analyst=analyst, purpose=purpose)

    before = Before()
    before.rule = rule
    session = Holdout(rule, records, keeper=before, unprotected=True)
    assert session.state == State(3, 1)
    session.ask(records)
    assert session.state.asked == 4
    before.rule = Ladder(n=500, questions=8)
    with pytest.raises(Refused, match=r"already begun to answer by Ladder\(n=500, .*questions=8"):
        Holdout(rule, records[::-1], keeper=before, unprotected=True)


def test_no_former_name_is_of_a_type_that_is_gone():
    known = {kind.name for kind in storage.kinds()}
    assert former._FORMER.keys() <= known and len(former._STORED) == len(former._FORMER)
    assert all(name in former._FORMER for name in former._STATE)


if __name__ == "__main__":
    STORED |= {method.name: list(texts(method)) for method in METHODS if method.name not in STORED}
    (GOLDEN / "workloads.json").write_text(json.dumps(STORED, indent=1, sort_keys=True) + "\n")
