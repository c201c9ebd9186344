"""Values as canonical JSON: what is read equals what was written, and nothing but stored types is read."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import storage as codec
from tacit.core.accounting.loss import Pure
from tacit.core.distance import ADD_REMOVE
from tacit.mechanisms import Gaussian, KeySelection, Laplace, Quantiles, TopK
from tacit.query.plan.compiler import compiled
from tacit.query.python.table import Table

from .samples import losses, mechanisms, questions, samples, sessions

PEOPLE = Table(
    [],
    {
        "table": {"name": "people", "unit": "id", "rows": 3},
        "columns": {"age": {"type": "integer", "lower": 0, "upper": 99}, "note": {"type": "text"}},
    },
)
QUESTION = (
    PEOPLE.where((PEOPLE.age >= 18) & PEOPLE.note.is_in(["x", "y"])).group_by(band=PEOPLE.age // 10 * 10).mean("age")
)
VALUES: list[Any] = [
    QUESTION.query,
    compiled(QUESTION.query).plan,
    compiled(QUESTION.query).recipes,
    Laplace(epsilon="0.3", sensitivity=ADD_REMOVE.counts(3)),
    Gaussian(epsilon=1, delta="1e-6"),
    Quantiles(epsilon=1, cells=7),
    TopK(k=2, epsilon=1, candidates=9),
    KeySelection(rho="0.1", delta="1e-6"),
    3 * Laplace(epsilon=1).loss() + KeySelection(epsilon=1, delta="1e-3").loss(),
    (None, True, 3, -(1 << 70), 0.1, 'text "\u2603\U0001f600\n', Fraction(1, 3), (), (1, True), Fraction(-2)),
    {("a", 1): Fraction(1, 2)},
    ((1, 2), (0, 1, 2), (5, 3, 1), (3, 3, 3), (0, 2, 5), (0, 1, 2, 4), (1, 2, True), (-(1 << 70), 0, 1 << 70)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_what_is_read_is_what_was_written(value: Any) -> None:
    text = codec.canonical(value)
    again = codec.read(json.loads(text))
    assert again == value
    assert codec.canonical(again) == text
    assert codec.digest(again) == codec.digest(value)


def names(written: Any) -> set[str]:
    """The stored names in a JSON value."""
    if isinstance(written, list):
        return set().union(*map(names, written))
    if isinstance(written, dict):
        return set().union({written["is"]} if "is" in written else (), *map(names, written.values()))
    return set()


def test_a_value_of_every_stored_type_is_read_as_it_was_written() -> None:
    seen = set[str]()
    for value in samples():
        text = codec.canonical(value)
        assert json.dumps(codec.write(value), sort_keys=True, separators=(",", ":")) == text
        again = codec.loads(text)
        assert codec.canonical(again) == text and type(again) in (type(value), tuple)
        seen |= names(json.loads(text))
    assert seen == {kind.name for kind in codec.kinds()}


@pytest.mark.parametrize("part", [losses, questions, mechanisms, sessions])
def test_values_that_can_be_compared_are_equal_to_what_was_written(part: Any) -> None:
    for value in part():
        assert codec.loads(codec.canonical(value)) == value


@pytest.mark.parametrize("value", [*VALUES, PEOPLE.schema.scan()], ids=lambda v: type(v).__name__)
def test_the_canonical_text_is_what_is_written(value: Any) -> None:
    for _ in range(2):  # some of it was kept
        assert codec.canonical(value) == json.dumps(codec.write(value), sort_keys=True, separators=(",", ":"))


@given(st.lists(st.integers(-3, 3), max_size=5), st.integers(-2, 2), st.integers(0, 9))
def test_integers_in_even_steps_are_told_by_their_ends(steps: list[int], step: int, more: int) -> None:
    value = tuple(accumulate([*steps, *[step] * more]))
    text = codec.canonical(value)
    even = len(value) > 2 and len({b - a for a, b in pairwise(value)}) == 1 and value[0] != value[1]
    assert text.startswith('{"..":' if even else "[")
    assert codec.read(json.loads(text)) == value and json.loads(text) == codec.write(value)


def test_a_long_schema_makes_no_long_plan() -> None:
    columns = {f"c{i}": {"type": "category", "values": [f"value {j}" for j in range(300)]} for i in range(3)}
    wide = Table([], {"table": {"name": "wide", "unit": "row"}, "columns": columns})
    assert len(codec.canonical(compiled(wide.count().query).plan)) < 1000
    scan, other = (
        Table([], {"table": {"name": "wide", "unit": "row"}, "columns": c}).schema.scan() for c in (columns, {})
    )
    assert scan != other and scan.digest in codec.canonical(scan)
    assert codec.read(codec.write(scan)) == scan


def test_a_kept_text_is_of_its_value_alone() -> None:
    key = compiled(QUESTION.query).plan.keys[0]
    text, other = codec.canonical(key), replace(key, name="other")
    assert codec.canonical(other) == text.replace('"name":"band"', '"name":"other"') != text
    assert key == replace(key) and hash(key) == hash(replace(key)) and "_stored_text" not in repr(key)


def test_a_number_that_is_none_is_not_written() -> None:
    for value in (math.nan, (1.0, math.nan), np.float64("nan")):
        with pytest.raises(codec.Unwritable, match="NaN"):
            codec.canonical(value)


def test_a_mechanism_that_was_read_still_works() -> None:
    for m in (value for value in VALUES if hasattr(value, "sensitivity")):
        again = codec.read(codec.write(m))
        assert again.loss() == m.loss() and again.error(beta="0.1") == m.error(beta="0.1")


def test_one_text_for_equal_losses() -> None:
    a, b = Laplace(epsilon=1).loss(), Gaussian(rho=1).loss()
    assert codec.canonical(a + b) == codec.canonical(b + a)


ONES = base64.b64encode(np.ones(2).tobytes()).decode()


@pytest.mark.parametrize(
    "written",
    [{"is": "Popen", "args": "ls"}, {"is": "Constant"}, {"is": "Constant", "domain": None, "value": 1, "x": 2}, {}]
    + [{"..": ends} for ends in ([0, 9, 0], [0, 10**12, 1], [0, 9, -1], [0, 9], [0, 9, "1"], [0, 9, 2])]
    + [[{"..": [0, 1 << 23, 1]}] * 3, {"is": "dict", "items": [{"..": [0, 1 << 23, 1]}] * 3}]
    + [{"/": text} for text in ("1/0", "1e999999999", "1", "0.5", "1/-2", "٣/4", "x/y", "9" * 5000 + "/1", 3, None)]
    + [{"/": "1/2", "x": 1}, {"0x": "xyz"}, {"0x": 3}, {"float": "nan"}, {"float": "1"}, math.inf, [math.nan]]
    + [{"is": name, "items": 3} for name in ("dict", "set")]
    + [{"is": "dict", "items": [[[], 1, 2]]}, {"is": "set", "items": [{"is": "dict", "items": []}]}]
    + [{"is": "range", "start": 0, "stop": "x", "step": 1}, {"is": "range", "start": 0, "stop": 9, "step": 0}]
    + [{"is": "array", "data": ONES, "dtype": d, "shape": [2]} for d in ("O", "|O8", "<U4", "<M8[s]", "f8,f8", "", 8)]
    + [{"is": "array", "data": ONES, "dtype": "<f8", "shape": s} for s in ([3], [1 << 60], "x", None, [-2, 7])]
    + [{"is": "array", "data": data, "dtype": "<f8", "shape": [2]} for data in ("!!", ONES[:-2], 3)]
    + [
        {"is": None},
        {"is": 3},
        {"is": ["Pure"]},
        {"is": "Pure", "epsilon": {"is": "Pure"}},
        {"is": "date", "text": "x"},
    ]
    + [{"is": "Loss", "terms": terms, "relation": None} for terms in (3, [3], [[3, 1]], [["x", 1]])]
    + [{"is": "LinearQuery", "factors": [[[0], [5]]], "grid": {"/": "1/1"}}],
    ids=lambda written: str(written)[:60],
)
def test_nothing_else_is_read(written: Any) -> None:
    with pytest.raises(codec.Unreadable):
        codec.read(written)


def test_a_text_that_is_nested_too_deeply_is_not_read() -> None:
    for depth in (2000, 10**5):
        with pytest.raises(codec.Unreadable):
            codec.loads("[" * depth + "]" * depth)
        with pytest.raises(codec.Unreadable):
            codec.loads('{"is":"Not","a":' * depth + "null" + "}" * depth)
    for text in ("", "{", b"\xff", "[1,"):
        with pytest.raises(codec.Unreadable):
            codec.loads(text)


@pytest.mark.parametrize(
    "value",
    [object(), Table, {1, 2}, PEOPLE, b"x", 1j, np.array([object()]), np.array(["x"]), type("P", (Pure,), {})(1)],
)
def test_nothing_else_is_written(value: Any) -> None:
    with pytest.raises(codec.Unwritable):
        codec.write(value)


def test_long_integers_are_found_in_a_text() -> None:
    for value in (7**9000, (1, -(7**9000)), Fraction(7**9000, 2), Fraction(-1, 7**9000), {"x": [7**9000]}):
        assert codec.has_long_integers(codec.canonical(value))
    for value in (10**4299, ("0x", "/", '{"0x":', '{"/":"0x'), {"0x": "/"}, Fraction(1, 3)):
        assert not codec.has_long_integers(codec.canonical(value))


@pytest.mark.parametrize("kind", ["set", "dict"])
def test_a_short_text_cannot_stand_for_very_many_members(kind):
    many = {"is": "range", "start": 0, "stop": 10**12, "step": 1}
    with pytest.raises(codec.Unreadable, match=r"cannot be made of these fields|written as a list"):
        codec.read({"is": kind, "items": many})


@pytest.mark.parametrize("ends", [(0, 9, 0), (0.5, 9, 1), ("a", "b", "c"), (True, 9, 1)])
def test_a_range_is_of_whole_numbers(ends):
    with pytest.raises(codec.Unreadable):
        codec.read({"is": "range", **dict(zip(("start", "stop", "step"), ends, strict=True))})
