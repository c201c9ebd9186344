"""A new split of records that have a session is noticed, in a ledger and in this process."""

from pathlib import Path

import numpy as np
import pytest

from tacit.core.accounting.budget import Budget
from tacit.core.errors import BadData, Refused
from tacit.holdout import GuessAndCheck, Memory, records
from tacit.holdout.questions import fingerprint
from tacit.ledger import Ledger

N = 300
DRAWN = np.random.default_rng(1)
X, Y = DRAWN.normal(size=(2 * N, 3)), DRAWN.integers(0, 2, 2 * N)
RULE = GuessAndCheck(n=N, width="0.4")


def split(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(seed).permutation(2 * N)[:N]
    return X[rows], Y[rows]


def test_a_second_split_of_the_same_records_is_refused_in_this_process_and_by_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "l"
    Ledger.open(path, Budget(epsilon=1))
    for keeper in (Memory, lambda: Ledger.open(path)):
        kept = keeper()
        first = RULE.open(split(1), keeper=kept, unprotected=True)
        first.ask((0.9, split(1)[1]))
        again = kept if isinstance(kept, Memory) else keeper()
        with pytest.raises(Refused, match=r"in the holdout set of another session.*tacit docs holdout"):
            RULE.open(split(2), keeper=again, unprotected=True)
        assert RULE.open(split(1), keeper=again, unprotected=True).state.asked == 1
        shuffled = tuple(part[::-1] for part in split(1))
        with pytest.raises(Refused):  # the same records in another order
            RULE.open(shuffled, keeper=again, unprotected=True)
    ledger = Ledger.open(path)
    assert [c.purpose.description for c in ledger.history() if c.purpose.kind == "holdout"] == [
        f"{RULE!r}, without privacy"
    ]
    exported = tmp_path / "export"
    ledger.export(exported)
    marks = records.row_marks(split(1), records.secret(ledger))
    assert str(int(marks[0])) not in exported.read_text()


def test_records_that_no_session_has_are_another_holdout_set() -> None:
    keeper = Memory()
    RULE.open((X[:N], Y[:N]), keeper=keeper)
    assert RULE.open((X[N:], Y[N:]), keeper=keeper).state.asked == 0


@pytest.mark.parametrize("values", [2, 10, 300, 10_000, 10**6])
def test_values_that_coincide_by_chance_are_no_shared_records(values: int) -> None:
    """Independent sets of a small domain have values in common, and pairs within each as well."""
    drawn = np.random.default_rng(values)
    for _ in range(50):
        sets = [records.Sketch.of(records.row_marks(drawn.integers(0, values, 2000), b"k")) for _ in range(2)]
        assert not sets[0].shares(sets[1])


def test_shared_records_are_noticed_among_coincidences_and_in_samples_of_large_sets() -> None:
    drawn = np.random.default_rng(5)
    pool = drawn.integers(0, 200_000, 4000)  # some 40 values of a set occur twice in it
    one, other = (records.Sketch.of(records.row_marks(p, b"k")) for p in (pool[:2000], pool[1000:3000]))
    assert one.shares(other) and other.shares(one)
    large = drawn.integers(0, 1 << 60, 60_000, dtype=np.int64)
    a, b, c = (
        records.Sketch.of(records.row_marks(p, b"k")) for p in (large[:25_000], large[24_000:49_000], large[49_000:])
    )
    assert not a.complete and c.complete and len(a.marks) == records.LIMIT
    assert a.shares(b) and not a.shares(c) and not c.shares(a)
    assert records.Sketch.read(a.write()).shares(b)


def test_identifiers_tell_records_apart() -> None:
    keeper, coins = Memory(), np.arange(N) % 2 == 0
    RULE.open(coins, keeper=keeper, ids=np.arange(N))
    with pytest.raises(Refused):
        RULE.open(~coins, keeper=keeper, ids=np.arange(N - 1, 2 * N - 1))  # one of them is known
    RULE.open(~coins, keeper=keeper, ids=[f"person {i}" for i in range(N)])
    with pytest.raises(BadData, match="ids"):
        RULE.open(~coins, keeper=Memory(), ids=np.arange(N - 1))
    with pytest.raises(BadData, match="ids"):
        RULE.open(~coins, keeper=Memory(), ids=np.arange(N) // 2)


def test_a_mark_is_of_the_values_whatever_holds_them() -> None:
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    x = np.arange(30).reshape(10, 3) % 4
    plain = records.row_marks(x, b"k").tolist()
    frame = pandas.DataFrame(x, columns=list("abc"))
    for same in (x.astype(float), x.astype(np.int8), x.astype(np.float32), frame, np.asfortranarray(x)):
        assert records.row_marks(same, b"k").tolist() == plain
    assert (
        records.row_marks(x.astype(object), b"k").tolist()
        == records.row_marks(x.astype(float).astype(object), b"k").tolist()
    )
    assert records.row_marks(x, b"other").tolist() != plain
    assert sorted(records.row_marks(x[::-1], b"k").tolist()) == sorted(plain)
    thin = sparse.csr_matrix(x)
    assert records.row_marks(thin, b"k").tolist() == records.row_marks(sparse.coo_array(x), b"k").tolist()
    assert len(set(records.row_marks(thin, b"k").tolist())) == len(set(plain))
    assert fingerprint((thin, Y[:10])) == fingerprint((thin.tocsc(), Y[:10]))
    large = np.array([2**60, 2**60 + 1])
    assert len(set(records.row_marks(large, b"k").tolist())) == 2


def test_a_set_is_entered_once_and_marks_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Memory()
    RULE.open(split(1), keeper=keeper)
    monkeypatch.setattr(records, "row_marks", None)
    assert RULE.open(split(1), keeper=keeper).state.asked == 0


def test_who_was_quicker_keeps_the_records() -> None:
    """Two processes that open overlapping sets at once: the second finds the first when it enters its own."""
    keeper = Memory()
    found = records.unknown(keeper, "a", split(1))
    assert found is not None
    RULE.open(split(2), keeper=keeper)
    with pytest.raises(Refused):
        records.enter(keeper, "a", found)
