"""Every workload against its matrix: answers, norms, and how one unit moves it."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tacit import ADD_REMOVE, SUBSTITUTE, BadData, BadParameter
from tacit.workloads import (
    Domain,
    Histogram,
    Price,
    Rows,
    Stack,
    from_matrix,
    marginals,
    method,
    plan,
    predicates,
    prefixes,
    ranges,
)
from tacit.workloads.models.multiplicative_weights import LinearQuery
from tacit.workloads.queries.workload import STEP, largest

DOMAIN = Domain.of({"a": 3, "b": ["x", "y"], "c": 4})
RNG = np.random.default_rng(5)
DENSE = RNG.integers(0, 2, (7, 24)).astype(float)
WORKLOADS = {
    "all 2-way": marginals(DOMAIN, k=2),
    "chosen": marginals(DOMAIN, subsets=[["a"], ["c", "a"], []], weights=[1, 2, 5]),
    "ranges": ranges(DOMAIN, "c"),
    "boxes": ranges(DOMAIN, "a", "c"),
    "listed": ranges(DOMAIN, "c", low=[0, 1, 1], high=[3, 1, 2], weights=[1, 1, 4]),
    "prefixes": prefixes(DOMAIN, "c"),
    "corners": prefixes(DOMAIN, "a", "c"),
    "predicates": predicates(DOMAIN, [{"a": 1, "c": [0, 3]}, {"b": "y"}, {}, {"c": {1, 2}}]),
    "fractions": predicates(DOMAIN, [{"c": np.array([0, 0.25, 0.3, 1])}, {"a": 2}]),
    "fractions and products": predicates(DOMAIN, [{"a": [0, 2], "c": 1}, {"c": np.array([0, 0.25, 0.3, 1])}]),
    "dense": from_matrix(DOMAIN, DENSE),
    "sparse": from_matrix(DOMAIN, sparse.csr_array(DENSE * 0.3)),
    "union": marginals(DOMAIN, k=1) + ranges(DOMAIN, "c"),
}
workloads = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())


@workloads
def test_answers_are_those_of_the_matrix(workload):
    counts = RNG.integers(0, 50, 24)
    matrix = workload.matrix().toarray()
    assert matrix.shape == (workload.queries, 24) and len(workload) == workload.queries
    data = Histogram(DOMAIN, counts)
    assert np.array_equal(workload.answer(data), matrix @ counts)  # exactly: whole steps of the grid
    steps = workload.answer(data) / float(workload.grid)
    assert np.array_equal(steps, np.round(steps))
    assert np.allclose(workload.squares(), (matrix**2).sum(axis=1))
    others = np.prod([DOMAIN.shape[axis] for axis in DOMAIN.all if axis not in workload.span])
    assert np.allclose(workload.squares(workload.span) * others, (matrix**2).sum(axis=1))
    assert workload.weights.shape == (workload.queries,)
    assert all(workload.label(i) for i in range(workload.queries))


@workloads
def test_a_row_moves_what_is_said(workload):
    columns = workload.matrix().toarray()
    row = workload.row
    assert row.l1 >= Fraction(columns.sum(axis=0).max()) and row.linf >= Fraction(columns.max())
    assert row.l2_squared >= Fraction((columns**2).sum(axis=0).max())
    assert row.l0 >= (columns != 0).sum(axis=0).max()
    if "union" not in WORKLOADS or workload is not WORKLOADS["union"]:
        assert float(row.l1) == columns.sum(axis=0).max()


@workloads
@given(data=st.data())
def test_units_move_answers_no_farther_than_the_distance(workload, data):
    """Units of up to three records: added or removed, or put in the place of one another."""
    most = data.draw(st.integers(1, 3))
    cells = st.lists(st.integers(0, 23), max_size=most)
    came, went = (np.bincount(data.draw(cells), minlength=24) for _ in range(2))
    matrix = workload.matrix().toarray()
    removed = ADD_REMOVE.histogram().group(most)
    for moved, unit in ((came, removed), (came - went, SUBSTITUTE.histogram().group(most))):
        change, d = matrix @ moved, workload.distance(unit)
        assert np.abs(change).sum() <= float(d.l1) * (1 + 1e-12)
        assert (change**2).sum() <= float(d.l2_squared) * (1 + 1e-12)
        assert np.abs(change).max() <= float(d.linf) * (1 + 1e-12)
        assert d.l0 is None or (change != 0).sum() <= d.l0
        assert d.relation is unit.relation


def test_marginals_cost_one_each():
    w = marginals(DOMAIN, k=2)
    d = w.distance(ADD_REMOVE.histogram())
    assert (d.l1, d.l2_squared, d.linf, d.l0) == (3, 3, 1, 3)
    d = w.distance(SUBSTITUTE.histogram())
    assert (d.l1, d.l2_squared, d.linf) == (6, 6, 1)


def test_weights_belong_to_marginals():
    w = WORKLOADS["chosen"]
    assert w.weights.tolist() == [1] * 3 + [2] * 12 + [5]
    assert w.mean(np.r_[np.ones(15), 0]) == pytest.approx(27 / 32)


def test_fractions_are_rounded_to_steps():
    w = from_matrix(Domain.of({"a": 2}), [[0.1, 1]])
    assert w.grid == STEP and w.vector(0)[0] == round(0.1 * 2**20) / 2**20
    assert from_matrix(Domain.of({"a": 2}), [[0, 1]]).grid == 1


def test_labels():
    assert marginals(DOMAIN, subsets=[["a", "b"]]).label(3) == "a = 1 and b = y"
    assert ranges(DOMAIN, "c").label(1) == "0 <= c <= 1"
    assert WORKLOADS["predicates"].label(0) == "a = 1 and c in {0, 3}"
    assert WORKLOADS["predicates"].label(2) == "all"
    assert "coefficients" in WORKLOADS["fractions"].label(0) and WORKLOADS["dense"].label(2) == "row 2 of the matrix"


@pytest.mark.parametrize(
    "make",
    [
        lambda: marginals(DOMAIN),
        lambda: marginals(DOMAIN, k=1, subsets=[["a"]]),
        lambda: marginals(DOMAIN, k=4),
        lambda: marginals(DOMAIN, subsets=[["a"], ["a"]]),
        lambda: marginals(DOMAIN, subsets=[]),
        lambda: marginals(DOMAIN, subsets=[["z"]]),
        lambda: marginals(DOMAIN, k=1, weights=[1, 2]),
        lambda: marginals(DOMAIN, k=1, weights=[1, 2, 0]),
        lambda: marginals(Domain.of({f"a{i}": 2 for i in range(200)}), k=5),
        lambda: ranges(DOMAIN),
        lambda: ranges(DOMAIN, "c", low=[0]),
        lambda: ranges(DOMAIN, "c", low=[2], high=[1]),
        lambda: ranges(DOMAIN, "c", low=[0], high=[4]),
        lambda: ranges(DOMAIN, "c", low=[-1], high=[1]),
        lambda: ranges(DOMAIN, "c", low=[0.5], high=[1.0]),
        lambda: ranges(DOMAIN, "c", low=[], high=[]),
        lambda: ranges(Domain.of({"x": 10**5})),
        lambda: prefixes(Domain.of({"x": 10**8})),
        lambda: predicates(DOMAIN, []),
        lambda: predicates(DOMAIN, [{"z": 1}]),
        lambda: predicates(DOMAIN, [{"b": "w"}]),
        lambda: predicates(DOMAIN, ["a"]),
        lambda: predicates(DOMAIN, [{"c": np.array([0, 1, 2, 0])}]),
        lambda: predicates(DOMAIN, [{"c": np.array([0, 1])}]),
        lambda: predicates(DOMAIN, [{"c": np.full(4, 0.5), "a": np.full(3, 0.5)}]),
        lambda: predicates(DOMAIN, [{"c": np.full(4, 0.5), "a": 1}]),
        lambda: from_matrix(DOMAIN, np.full((1, 24), 1.5)),
        lambda: from_matrix(DOMAIN, np.full((1, 24), np.nan)),
        lambda: from_matrix(DOMAIN, np.zeros((0, 24))),
        lambda: from_matrix(DOMAIN, np.zeros((2, 23))),
        lambda: from_matrix(Domain.of({"x": 10**9}), np.zeros((1, 2))),
        lambda: marginals(DOMAIN, k=1) + marginals(Domain.of({"a": 2}), k=1),
        lambda: marginals(DOMAIN, subsets=5),
        lambda: ranges(DOMAIN, "c", low=[[0], [0, 1]], high=[1, 2]),
        lambda: predicates(DOMAIN, 5),
        lambda: from_matrix(DOMAIN, [[1], [1, 0]]),
        lambda: from_matrix(DOMAIN, np.zeros((1, 1, 24))),
        lambda: from_matrix(DOMAIN, np.ones((1, 24)) * 1j),
        lambda: from_matrix(DOMAIN, sparse.csr_array(np.ones((1, 24)) * 1j)),
        lambda: predicates(DOMAIN, [{"c": np.ones(4) * 1j}]),
        lambda: marginals(DOMAIN, k=1, weights=[1, 1e308, 1e308]),
        lambda: marginals(DOMAIN, k=1) + 3,
        lambda: 3 + marginals(DOMAIN, k=1),
        lambda: Domain.of({"x": 2.5}),
        lambda: Domain.of({"x": None}),
        lambda: Domain.of([("x", 2)]),
        lambda: Domain.of({"x": [[1], [2]]}),
        lambda: LinearQuery((((5.0,), (1, 0)),)),
    ],
)
def test_bad_queries_are_refused(make):
    with pytest.raises(BadParameter):
        make()


def test_a_matrix_is_not_made_of_large_workloads():
    with pytest.raises(BadParameter, match="matrix"):
        marginals(Domain.of({f"a{i}": 2 for i in range(30)}), k=2).matrix()


def test_many_queries_need_no_matrix():
    """10^5 marginal cells of 100 attributes and 10^6 ranges, in seconds."""
    begun = time.perf_counter()
    wide = Domain.of({f"a{i}": 5 for i in range(100)})
    w = marginals(wide, k=2)
    rows = Rows(wide, RNG.integers(0, 5, (1000, 100)))
    assert w.queries == 123_750 and w.answer(rows).sum() == 4950 * 1000 and w.row.l1 == 4950
    line = Domain.of({"x": 1 << 16})
    ends = np.sort(RNG.integers(0, 1 << 16, (10**6, 2)), axis=1)
    counts = RNG.integers(0, 3, 1 << 16)
    found = ranges(line, low=ends[:, 0], high=ends[:, 1]).answer(Histogram(line, counts))
    assert found[7] == counts[ends[7, 0] : ends[7, 1] + 1].sum()
    assert time.perf_counter() - begun < 60


def test_squares_that_do_not_fit_are_bounded_from_above():
    """2^23 and one more coefficients of 1, in steps of 2^-20, have squares that add up to more than 2^63 steps."""
    many, steps = (1 << 23) + 1, 1 << 20
    wrapped = np.array([-(1 << 63) + steps**2])
    far = largest((np.array([many]), np.array([many * steps]), wrapped), steps, many, STEP)
    assert (far.l0, far.l1, far.l2_squared, far.linf) == (many, many, many, 1)
    few = largest((np.array([2]), np.array([3]), np.array([5])), 2, 2, Fraction(1, 4))
    assert (few.l1, few.l2_squared, few.linf) == (Fraction(3, 4), Fraction(5, 16), Fraction(1, 2))


def test_what_was_given_may_change_afterwards():
    """A sensitivity that is known must be that of the queries which are answered."""
    domain, mask, weights = Domain.of({"x": 4}), np.array([1.0, 0, 0, 1]), np.array([1.0, 2])
    dense, low = np.array([[1.0, 0, 0.5, 0], [0, 1, 1, 0]]), np.array([0, 1])
    asked = [
        predicates(domain, [{"x": mask}, {"x": 2}], weights=weights),
        from_matrix(domain, dense, weights),
        from_matrix(domain, sparse.csr_array(dense)),
        ranges(domain, low=low, high=[3, 3], weights=weights),
    ]
    data = Histogram(domain, [1, 2, 3, 4])
    before = [(w.answer(data).tolist(), w.row, w.weights.tolist()) for w in asked]
    mask[:], weights[:], dense[:], low[:] = 0.25, 9, 0.125, 2
    assert [(w.answer(data).tolist(), w.row, w.weights.tolist()) for w in asked] == before


def test_counts_that_no_whole_number_of_64_bits_holds_are_refused():
    domain = Domain.of({"x": np.int64(2)})
    for wrong in (np.array([1, 1 << 63], np.uint64), [[1], [1, 2]]):
        with pytest.raises(BadData, match="whole numbers"):
            Histogram(domain, wrong)


def test_no_answer_on_a_private_table_is_rounded():
    """Neighbours differ by what is said, however many records there are: floats hold whole numbers below 2^53 only."""
    counts = np.zeros(24, np.int64)
    counts[[0, 5, 23]] = 2**52 - 3, 2**51, 2**51  # 2^53 - 3 in all
    for workload in WORKLOADS.values():
        more = counts.copy()
        more[5] += 1
        moved = workload.exactly(Histogram(DOMAIN, more)) - workload.exactly(Histogram(DOMAIN, counts))
        steps = np.array([workload.vector(i)[5] for i in range(workload.queries)]) / float(workload.grid)
        assert (moved == steps).all() if workload.grid == 1 else ((moved >= 0) & (moved <= steps)).all()
    half = LinearQuery.where(DOMAIN, {"c": np.array([0, 0.25, 0.5, 1])})
    assert half.exactly(Histogram(DOMAIN, counts)) == half.exactly(Histogram(DOMAIN, 0 * counts + 2**47)) == 2**53 - 1
    assert half.exactly(Histogram(DOMAIN, counts // 2**30)) == sum(
        int(half.vectors[0][i % 4]) * int(counts[i] // 2**30) for i in range(24)
    )


@pytest.mark.parametrize("counts", [[2**53 - 1, 1], [2**60 + 128, 0], [2**63 - 1, 2**63 - 1]])
def test_tables_that_floats_cannot_count_are_refused(counts):
    pair = Domain.of({"a": 2})
    with pytest.raises(BadData, match=r"2\^53"):
        Histogram(pair, np.array(counts))
    assert Histogram(pair, [2**53 - 2, 1]).marginal(()) == 2**53 - 1


def test_a_sum_keeps_the_weights_of_parts():
    weighed, plain = marginals(DOMAIN, k=1, weights=[1, 100, 10]), ranges(DOMAIN, "c", low=[0, 1], high=[3, 1])
    both = weighed + plain + predicates(DOMAIN, [{"a": 1}], weights=[7])
    assert both.part_weights.tolist() == [1, 100, 10, 1, 1]
    assert both.weights.tolist() == [1] * 3 + [100] * 2 + [10] * 4 + [1] * 2 + [7]


def test_a_stack_of_stacks_is_flat():
    ones, twos, last = marginals(DOMAIN, k=1, weights=[1, 2, 3]), marginals(DOMAIN, k=2), ranges(DOMAIN, "c")
    nested = Stack([Stack([ones, last], [2, 1]), twos], [10, 1])
    assert nested.parts == (*ones.parts, last, *twos.parts)
    assert nested.part_weights.tolist() == [20, 40, 60, 10, 1, 1, 1]
    parts = [20] * 3 + [40] * 2 + [60] * 4 + [10] * last.queries + [1] * twos.queries
    assert nested.weights.tolist() == parts and sum([ones, last]).parts == (*ones.parts, last)
    best = plan(Stack([ones, twos], [2, 1]), None, Price.of(rho=1)).best
    assert best == plan(ones + twos, None, Price.of(rho=1)).best == method("residual")
    for bad in ([], None, [1], [ones, 1], [ones, marginals(Domain.of({"a": 3}), k=1)]):
        with pytest.raises(BadParameter, match=r"same domain|a list of Workload objects|must be a Workload;"):
            Stack(bad)
    with pytest.raises(BadParameter, match=r"at most 1000000 marginals, not 1\.25e"):
        marginals(Domain.of({f"x{i}": 2 for i in range(5000)}), k=2)
