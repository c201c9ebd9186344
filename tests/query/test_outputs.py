"""Arithmetic on what was released: intervals hold whatever the truth within them, and every operation is total."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.query.select.evaluation import evaluate, shown
from tacit.query.select.outputs import (
    Arithmetic,
    CaseOutput,
    ColumnEstimate,
    Comparison,
    Function,
    Logic,
    Output,
    OutputValue,
    ReleasedColumn,
    labels,
    numbers,
    released,
)

A, B, C = ReleasedColumn("a"), ReleasedColumn("b"), ReleasedColumn("c")
ends = st.floats(-50, 50).map(lambda x: round(x, 2))
intervals = st.tuples(ends, ends).map(sorted)
leaves = st.sampled_from([A, B, C, *(OutputValue(v) for v in (Fraction(2), Fraction(1, 3), Fraction(0), None))])


def _one_of_two(sign: Any, a: Output, b: Output, least: bool) -> Output:
    """The lesser or the larger, as LEAST and GREATEST are read."""
    return CaseOutput(Comparison(sign, a, b), *((a, b) if least else (b, a)))


def _trees(children: st.SearchStrategy[Output]) -> st.SearchStrategy[Output]:
    compared = st.builds(Comparison, st.sampled_from(["=", "<", "<="]), children, children)
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-*/"), children, children),
        st.builds(Function, st.sampled_from(["abs", "sqrt", "floor", "ceil", "round"]), children),
        st.builds(CaseOutput, compared, children, children),
        st.builds(_one_of_two, st.sampled_from(["<", "<="]), children, children, st.booleans()),
        st.builds(Function, st.just("is_missing"), children),
        st.builds(lambda a, b: CaseOutput(Function("is_missing", a), b, a), children, children),
        compared,
        st.builds(Logic, st.sampled_from(["and", "or"]), compared, compared),
        st.builds(Function, st.just("not"), compared),
    )


trees = st.recursive(leaves, _trees, max_leaves=6)


@given(tree=trees, bounds=st.tuples(intervals, intervals, intervals), at=st.lists(st.floats(0, 1), min_size=6))
def test_the_interval_holds_whatever_the_truth_within(tree: Output, bounds: Any, at: list[float]) -> None:
    """The same tree, on any point of the intervals, lies in the interval that is computed from any other point."""

    def point(share: float, low: float, high: float) -> Any:
        return np.array([min(max(low + share * (high - low), low), high)])

    estimated = {
        name: numbers(point(share, *ends), np.array([ends[0]]), np.array([ends[1]]))
        for name, share, ends in zip("abc", at[:3], bounds, strict=True)
    }
    true = {name: numbers(point(share, *ends)) for name, share, ends in zip("abc", at[3:6], bounds, strict=True)}
    told, truth = evaluate(tree, estimated, 1), evaluate(tree, true, 1)
    assert np.broadcast_to(told.unsure, 1)[0] or told.missing()[0] == truth.missing()[0]
    if not truth.missing()[0]:
        assert told.lower[0] <= truth.values[0] <= told.upper[0]


def column(*values: float | None, kind: str = "real") -> ColumnEstimate:
    return numbers(np.array([np.nan if v is None else v for v in values]))


def value(output: Output, **columns: ColumnEstimate) -> list[Any]:
    return evaluate(output, columns, len(next(iter(columns.values())))).tolist()


def test_division_by_zero_is_missing_and_knows_nothing() -> None:
    told = evaluate(Arithmetic("/", A, B), {"a": column(1.0, 6.0), "b": column(0.0, 2.0)}, 2)
    assert told.tolist() == [None, 3.0]
    assert (told.lower[0], told.upper[0]) == (-math.inf, math.inf)
    near = numbers(np.array([1.0]), np.array([-1.0]), np.array([3.0]))
    told = evaluate(Arithmetic("/", A, B), {"a": column(1.0), "b": near}, 1)
    assert (told.tolist(), told.lower[0], told.upper[0]) == ([1.0], -math.inf, math.inf)


def within(low: float, high: float) -> ColumnEstimate:
    return numbers(np.array([low]), np.array([low]), np.array([high]))


def test_rounding_crosses_no_zero() -> None:
    """The least rate is 0, not -5e-324; and what is never positive has 0 for its upper end."""
    many, few, less = within(997.0, 1003.0), within(0.0, 2.5), within(-2.5, 0.0)
    for sign, other in (("/", many), ("*", many), ("+", few), ("*", few)):
        assert evaluate(Arithmetic(sign, A, B), {"a": few, "b": other}, 1).lower[0] == 0
        assert evaluate(Arithmetic(sign, A, B), {"a": less, "b": less if sign == "+" else other}, 1).upper[0] == 0
    assert evaluate(Arithmetic("-", A, B), {"a": many, "b": few}, 1).lower[0] < 994.5  # as it is rounded elsewhere
    assert evaluate(Arithmetic("-", A, B), {"a": within(2.5, 3.0), "b": few}, 1).lower[0] == 0
    tiny = within(5e-324, 5e-324)  # a product that is no float is not 0, and the end below it is
    assert (
        evaluate(Arithmetic("*", A, A), {"a": tiny}, 1).lower[0]
        == 0
        < evaluate(Arithmetic("*", A, A), {"a": tiny}, 1).upper[0]
    )


def test_whole_quotients_are_exact() -> None:
    for a, b, found in ((0.0, 667.0, 0.0), (6.0, 2.0, 3.0), (2.0**53 - 1, 2.0**53 - 1, 1.0)):
        told = evaluate(Arithmetic("/", A, B), {"a": within(a, a), "b": within(b, b)}, 1)
        assert told.lower[0] == told.upper[0] == found
    told = evaluate(Arithmetic("/", A, B), {"a": within(1.0, 1.0), "b": within(3.0, 3.0)}, 1)
    assert Fraction(told.lower[0]) < Fraction(1, 3) < Fraction(told.upper[0])


@pytest.mark.parametrize("sign", "+-*/")
def test_what_is_missing_stays_missing(sign: Any) -> None:
    assert value(Arithmetic(sign, A, B), a=column(None, 1.0), b=column(1.0, None)) == [None, None]
    assert value(Arithmetic(sign, A, OutputValue(None)), a=column(1.0)) == [None]
    assert value(Arithmetic(sign, A, OutputValue("text")), a=column(1.0)) == [None]


def test_roots_of_negative_numbers_are_missing() -> None:
    assert value(Function("sqrt", A), a=column(4.0, -1.0, None)) == [2.0, None, None]


def test_the_logic_is_that_of_sql() -> None:
    t, f, n = OutputValue(True), OutputValue(False), OutputValue(None)
    for sign, decides in (("and", False), ("or", True)):
        for x in (t, f, n):
            for y in (t, f, n):
                known = (x.value, y.value)
                expected = decides if decides in known else None if None in known else not decides
                assert value(Logic(sign, x, y), a=column(0.0)) == [expected]  # type: ignore[arg-type]
    assert value(Function("not", n), a=column(0.0)) == [None]
    assert value(Function("is_missing", n), a=column(0.0)) == [True]
    assert value(CaseOutput(n, OutputValue(Fraction(1)), OutputValue(Fraction(2))), a=column(0.0)) == [2]


def test_whole_numbers_stay_whole() -> None:
    a, b = numbers(np.array([7, 1 << 61])), numbers(np.array([2, 1 << 61]))
    whole = evaluate(Arithmetic("+", A, B), {"a": a, "b": b}, 2)
    assert whole.tolist()[0] == 9 and whole.kind == "real"  # 2^62 would not fit: all of the column is floats
    small = evaluate(Arithmetic("*", A, OutputValue(Fraction(3))), {"a": numbers(np.array([7]))}, 1)
    assert (small.kind, small.tolist(), small.lower[0], small.upper[0]) == ("integer", [21], 21, 21)


def test_rounding() -> None:
    x = column(2.345, -2.5, 1234.0)
    assert value(Function("round", A, 2), a=x) == pytest.approx([2.35, -2.5, 1234.0])
    assert value(Function("round", A, -2), a=x) == [0, 0, 1200]
    assert value(Function("floor", A), a=x) == [2, -3, 1234]
    assert value(Function("ceil", A), a=x) == [3, -2, 1234]
    halves = column(-2.5, -1.5, -0.5, -0.4, 0.5, 2.5)  # away from zero, as on rows
    assert value(Function("round", A), a=halves) == [-3, -2, -1, 0, 1, 3]
    assert math.copysign(1, value(Function("round", A), a=halves)[3]) == 1


def test_labels_are_compared_as_what_they_are() -> None:
    days = labels([datetime.date(2020, 1, 2), None])
    assert value(Comparison("=", A, OutputValue("2020-01-02")), a=days) == [True, None]
    assert value(Comparison("<", A, OutputValue("2021")), a=labels(["2020", "2022"])) == [True, False]
    moments = labels([datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 2, 3)])
    for same in ("2020-01-02", "2020-01-02 00:00:00", "2020-01-02T01:00:00+01:00"):
        assert value(Comparison("=", A, OutputValue(same)), a=moments) == [True, False]
    assert value(Comparison("<", B, A), a=moments, b=labels([datetime.date(2020, 1, 2)] * 2)) == [False, True]
    assert value(Comparison("<", A, OutputValue("2020-1-9")), a=days) == [None, None]  # no door lets these in
    assert value(Comparison("<", A, OutputValue("3")), a=column(2.0, 10.0)) == [None, None]
    assert value(CaseOutput(OutputValue(True), A, OutputValue(None)), a=days) == [datetime.date(2020, 1, 2), None]
    assert value(CaseOutput(Comparison("=", A, OutputValue("x")), A, OutputValue("other")), a=labels(["x", "y"])) == [
        "x",
        "other",
    ]
    assert value(Function("abs", A), a=labels(["x"])) == [None]


def test_a_comparison_is_certain_only_where_intervals_are_apart() -> None:
    a = numbers(np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([2.0, 2.0]))
    b = numbers(np.array([5.0, 1.5]), np.array([3.0, 1.0]), np.array([6.0, 4.0]))
    told = evaluate(Comparison("<", A, B), {"a": a, "b": b}, 2)
    assert told.tolist() == [True, True]
    assert told.lower.tolist() == [1, 0] and told.upper.tolist() == [1, 1]


def test_whether_a_value_is_there_is_as_sure_as_the_noise_allows() -> None:
    end = np.array([0.0, 0.0]), np.array([9.0, 9.0])
    mean = numbers(np.array([np.nan, 3.0]), *end, unsure=np.array([True, False]))
    total, key = numbers(np.array([0, 5]), *end), labels(["x", None])
    missing, filled = Function("is_missing", A), CaseOutput(Function("is_missing", A), OutputValue(Fraction(-1)), A)

    def interval(output: Output, a: ColumnEstimate) -> list[tuple[float, float]]:
        told = evaluate(output, {"a": a}, 2)
        return list(zip(told.lower.tolist(), told.upper.tolist(), strict=True))

    assert interval(missing, mean) == [(0, 1), (0, 0)]
    assert interval(missing, total) == [(0, 0), (0, 0)]
    assert interval(missing, key) == [(0, 0), (1, 1)]
    assert interval(Function("is_missing", OutputValue(None)), key) == [(1, 1), (1, 1)]
    assert interval(filled, mean) == [(-1, 9), (0, 9)]
    assert interval(filled, total) == [(0, 9), (0, 9)]
    below = numbers(np.array([1.0, 4.0]), np.array([-3.0, 1.0]), np.array([5.0, 9.0]))  # the first may have no root
    assert interval(Function("is_missing", Function("sqrt", A)), below) == [(0, 1), (0, 0)]


def test_sums_are_rounded_outward() -> None:
    a, b = (numbers(*(np.array([x]) for _ in range(3))) for x in (2.0**-60, 1.0))
    told = evaluate(Arithmetic("+", ReleasedColumn("a"), ReleasedColumn("b")), {"a": a, "b": b}, 1)
    assert Fraction(told.lower[0]) <= 1 + Fraction(1, 1 << 60) <= Fraction(told.upper[0])


def test_a_branch_without_a_value_widens_no_interval_and_decides_nothing() -> None:
    """Where a is surely above 5 there is a value; elsewhere there is none, and a condition on it does not hold."""
    a = numbers(np.array([9, 5, 1]), np.array([8.0, 3.0, 0.0]), np.array([10.0, 7.0, 2.0]))
    some = CaseOutput(Comparison("<", OutputValue(Fraction(5)), A), A, OutputValue(None))
    told = evaluate(some, {"a": a}, 3)
    assert told.tolist() == [9, None, None]
    assert (told.lower.tolist(), told.upper.tolist()) == ([8, 3, 0], [10, 7, 2])
    told = evaluate(
        CaseOutput(
            Comparison("<=", OutputValue(Fraction(0)), some), OutputValue(Fraction(1)), OutputValue(Fraction(2))
        ),
        {"a": a},
        3,
    )
    assert told.tolist() == [1, 2, 2]
    assert (told.lower.tolist(), told.upper.tolist()) == ([1, 1, 2], [1, 2, 2])


def test_the_lesser_of_two_is_below_both_and_the_larger_above() -> None:
    a = numbers(np.array([4.0, 4.0]), np.array([0.0, 0.0]), np.array([9.0, 9.0]), unsure=np.array([False, True]))
    b = numbers(np.array([5.0, 5.0]), np.array([3.0, 3.0]), np.array([6.0, 6.0]))
    for least, ends in ((True, ([0, 0], [6, 6])), (False, ([3, 3], [9, 9]))):
        for one, other in ((A, B), (B, A)):
            told = evaluate(_one_of_two("<", one, other, least), {"a": a, "b": b}, 2)
            assert (told.lower.tolist(), told.upper.tolist()) == ends


def test_a_label_that_noise_decides_is_no_certain_one() -> None:
    word = CaseOutput(Comparison("<", OutputValue(Fraction(5)), A), OutputValue("many"), OutputValue("few"))
    told = evaluate(
        Comparison("=", word, OutputValue("many")),
        {"a": numbers(np.array([6, 60]), np.array([3.0, 57.0]), np.array([9.0, 63.0]))},
        2,
    )
    assert (told.tolist(), told.lower.tolist(), told.upper.tolist()) == ([True, True], [0, 1], [1, 1])


def test_what_is_shown() -> None:
    columns = {"a": column(3.0, None, 1.0, 3.0), "b": labels(["z", "y", "x", "w"])}
    assert shown(columns, 4, None, ((A, True),)).tolist() == [0, 3, 2, 1]
    assert shown(columns, 4, None, ((A, False),)).tolist() == [2, 0, 3, 1]
    assert shown(columns, 4, None, ((A, True), (B, False))).tolist()[:2] == [3, 0]
    assert shown(columns, 4, Comparison("<", OutputValue(Fraction(2)), A), ()).tolist() == [0, 3]
    assert shown({"a": column()}, 0, Comparison("<", A, A), ((A, True),)).tolist() == []


def test_what_an_output_is_computed_from() -> None:
    tree = CaseOutput(
        Logic("and", Comparison("=", A, B), OutputValue(True)),
        Function("abs", C),
        Arithmetic("+", A, OutputValue(None)),
    )
    assert released(tree) == {"a", "b", "c"}
