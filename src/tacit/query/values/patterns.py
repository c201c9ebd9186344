r"""Regular expressions, matched in time proportional to the pattern times the text: Thompson's automaton (1968).

Understood is what databases agree on: literals, `.`, [a-z] and [^a-z], \d \w \s and their complements, groups, `|`, the
repetitions * + ? {m} {m,} {m,n}, and the anchors ^ and $.  A pattern is found anywhere in a text unless it is anchored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...core.errors import BadQuestion

LONGEST = 1000  # characters of a pattern
MOST_STATES = 2000  # after repetitions were written out
MOST_REPEATED = 200  # of {m,n}
_CLASSES: dict[str, Callable[[str], bool]] = {
    "d": lambda c: c in "0123456789",
    "w": lambda c: c == "_" or c.isalnum(),
    "s": lambda c: c in " \t\n\r\f\v",
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_AT_START, _AT_END = "^", "$"
Test = Callable[[str], bool]
Fragment = tuple[int, int]  # the first and the last state of a part of a pattern


@dataclass
class Pattern:
    """A compiled pattern; a state leads to others at once, or by a character that passes its test."""

    text: str
    ignore_case: bool = False
    jumps: list[list[tuple[str, int]]] = field(default_factory=list)  # "" or an anchor, and the next state
    tests: list[tuple[Test, int] | None] = field(default_factory=list)
    at: int = 0

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            raise BadQuestion(f"A pattern may have at most {LONGEST} characters.")
        self.first, self.last = self._alternatives()
        if self.at < len(self.text):
            raise self._bad("a bracket is closed that was not opened")
        self._reached: dict[tuple[frozenset[int], bool, bool], frozenset[int]] = {}

    def found(self, text: str) -> bool:
        """Whether the pattern is found somewhere in a text."""
        now, begin = frozenset[int](), frozenset((self.first,))
        for i, c in enumerate(text):
            now = self._closure(now | begin, i == 0, ends=False)
            if self.last in now:
                return True
            steps = (step for state in now if (step := self.tests[state]) is not None)
            now = frozenset(to for test, to in steps if test(c))
        return self.last in self._closure(now | begin, not text, ends=True)

    def _closure(self, states: frozenset[int], starts: bool, ends: bool) -> frozenset[int]:
        """The states that these lead to at once."""
        key = states, starts, ends
        if key not in self._reached:
            reached, waiting = set(states), list(states)
            while waiting:
                for anchor, to in self.jumps[waiting.pop()]:
                    holds = {"": True, _AT_START: starts, _AT_END: ends}[anchor]
                    if holds and to not in reached:
                        reached.add(to)
                        waiting.append(to)
            self._reached[key] = frozenset(reached)
        return self._reached[key]

    def _state(self) -> int:
        if len(self.jumps) >= MOST_STATES:
            raise self._bad(f"it has more than {MOST_STATES} parts")
        self.jumps.append([])
        self.tests.append(None)
        return len(self.jumps) - 1

    def _alternatives(self) -> Fragment:
        first, last = self._state(), self._state()
        while True:
            start, end = self._sequence()
            self.jumps[first].append(("", start))
            self.jumps[end].append(("", last))
            if self._next() != "|":
                return first, last
            self.at += 1

    def _sequence(self) -> Fragment:
        first = last = self._state()
        while self._next() not in ("", "|", ")"):
            began = self.at
            start, end = self._atom()
            self.jumps[last].append(("", start))
            last = self._repeated(began, start, end)
        return first, last

    def _repeated(self, began: int, start: int, end: int) -> int:
        """The last state of an atom with its repetition; {m,n} is the atom written out."""
        least, most = self._times()
        if (least, most) == (1, 1):
            return end
        after = self.at
        last = self._state()
        starts = [start]
        for _ in range(max(least, most or 0) - 1):  # the same atom, read again
            self.at = began
            again, stop = self._atom()
            self.jumps[end].append(("", again))
            starts.append(again)
            end = stop
        self.at = after
        for left_out in starts[least:]:
            self.jumps[left_out].append(("", last))
        if most is None:
            self.jumps[end].append(("", starts[-1]))
        if most == 0:
            self.jumps[start].clear()
            self.tests[start] = None
            self.jumps[start].append(("", last))
        self.jumps[end].append(("", last))
        return last

    def _times(self) -> tuple[int, int | None]:
        found = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._next())
        if found is not None:
            self.at += 1
        elif self._next() == "{":
            inside, brace, _ = self.text[self.at + 1 :].partition("}")
            low, comma, high = inside.partition(",")
            if not brace or not low.isdecimal() or not (high.isdecimal() or not high) or len(inside) > 9:
                raise self._bad("{ must be followed by one or two numbers, as in {2,3}")
            found = int(low), int(high) if high else None if comma else int(low)
            if max(found[0], found[1] or 0) > MOST_REPEATED or (found[1] is not None and found[1] < found[0]):
                raise self._bad(f"a part may be repeated at most {MOST_REPEATED} times")
            self.at += len(inside) + 2
        else:
            return 1, 1
        if self._next() == "?":  # the shortest repetition: it matches the same texts
            self.at += 1
        if self._next() in tuple("*+?{"):
            raise self._bad("a repetition follows another")
        return found

    def _atom(self) -> Fragment:
        c = self._take()
        if c == "(":
            if self.text[self.at : self.at + 2] == "?:":
                self.at += 2
            elif self._next() == "?":
                raise self._bad("of groups that begin with ? only (?: is understood")
            inside = self._alternatives()
            if self._next() != ")":
                raise self._bad("a bracket is not closed")
            self.at += 1
            return inside
        first, last = self._state(), self._state()
        if c in (_AT_START, _AT_END):
            self.jumps[first].append((c, last))
            return first, last
        if c in "*+?{":
            raise self._bad(f"there is nothing before {c} that could be repeated")
        test = self._set() if c == "[" else self._escaped() if c == "\\" else _any if c == "." else self._between(c, c)
        self.tests[first] = test, last
        return first, last

    def _escaped(self) -> Test:
        c = self._take()
        if c.lower() in _CLASSES:
            inside = _CLASSES[c.lower()]
            return inside if c.islower() else lambda x: not inside(x)
        if c.isalnum() and c not in _CONTROLS:
            raise self._bad(f"\\{c} is not understood")
        literal = _CONTROLS.get(c, c)
        return self._between(literal, literal)

    def _between(self, low: str, high: str) -> Test:
        """Whether a character is from one to another, in any case if case is ignored."""
        if self.ignore_case:
            return lambda c: low <= c <= high or low <= c.lower() <= high or low <= c.upper() <= high
        return lambda c: low <= c <= high

    def _set(self) -> Test:
        negated = self._next() == "^"
        self.at += negated
        tests, opened = list[Test](), self.at
        while self._next() != "]" or self.at == opened:
            c = self._take()
            if c == "[" and self._next() in tuple(":.="):
                raise self._bad("classes such as [:alpha:] are not understood")
            if c == "\\":
                tests.append(self._escaped())
            elif self._next() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._take()
                if high in "\\[" or high < c:
                    raise self._bad("a range must go from a character to a later one")
                tests.append(self._between(c, high))
            else:
                tests.append(self._between(c, c))
        self.at += 1
        return (lambda x: not any(test(x) for test in tests)) if negated else lambda x: any(test(x) for test in tests)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        if self.at >= len(self.text):
            raise self._bad("it ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def _bad(self, why: str) -> BadQuestion:
        return BadQuestion(f"The pattern {self.text[:40]!r} cannot be read: {why}.")


def _any(_: str) -> bool:
    return True
