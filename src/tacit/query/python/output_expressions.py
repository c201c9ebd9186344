"""Outputs, written in Python as arithmetic on released columns: `q.select(share=q["women"] / q["count"])`."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NoReturn

from ...core.errors import BadParameter, BadQuestion
from ...core.parameters import rational, whole
from ..select.outputs import (
    DIGITS,
    Arithmetic,
    CaseOutput,
    Comparison,
    Function,
    Logic,
    Output,
    OutputValue,
)
from ..values.coercion import constant

Plain = int | float | str | bool | Fraction | Decimal | datetime.date | None


@dataclass(frozen=True, eq=False)
class OutputExpression:
    """A column of the answer, or an expression of several."""

    output: Output

    def __add__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Arithmetic("+", self.output, shown(other)))

    def __radd__(self, other: Plain) -> OutputExpression:
        return OutputExpression(Arithmetic("+", shown(other), self.output))

    def __sub__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Arithmetic("-", self.output, shown(other)))

    def __rsub__(self, other: Plain) -> OutputExpression:
        return OutputExpression(Arithmetic("-", shown(other), self.output))

    def __mul__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Arithmetic("*", self.output, shown(other)))

    def __rmul__(self, other: Plain) -> OutputExpression:
        return OutputExpression(Arithmetic("*", shown(other), self.output))

    def __truediv__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Arithmetic("/", self.output, shown(other)))

    def __rtruediv__(self, other: Plain) -> OutputExpression:
        return OutputExpression(Arithmetic("/", shown(other), self.output))

    def __neg__(self) -> OutputExpression:
        return 0 - self

    def __eq__(self, other: OutputLike) -> OutputExpression:  # type: ignore[override]
        return OutputExpression(Comparison("=", self.output, shown(other)))

    def __ne__(self, other: OutputLike) -> OutputExpression:  # type: ignore[override]
        return ~(self == other)

    def __lt__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Comparison("<", self.output, shown(other)))

    def __le__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Comparison("<=", self.output, shown(other)))

    def __gt__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Comparison("<", shown(other), self.output))

    def __ge__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Comparison("<=", shown(other), self.output))

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Logic("and", self.output, shown(other)))

    def __or__(self, other: OutputLike) -> OutputExpression:
        return OutputExpression(Logic("or", self.output, shown(other)))

    def __invert__(self) -> OutputExpression:
        return self._of("not")

    def __abs__(self) -> OutputExpression:
        return self._of("abs")

    def __bool__(self) -> NoReturn:
        raise BadQuestion("The answer is not known yet. Use & | ~ for and, or, not, with brackets around comparisons.")

    def sqrt(self) -> OutputExpression:
        """The square root."""
        return self._of("sqrt")

    def floor(self) -> OutputExpression:
        """The largest whole number not above the value."""
        return self._of("floor")

    def ceil(self) -> OutputExpression:
        """The least whole number not below the value."""
        return self._of("ceil")

    def round(self, digits: int = 0) -> OutputExpression:
        """The value rounded to so many decimal digits."""
        return self._of("round", whole("digits", digits, -DIGITS))

    def is_missing(self) -> OutputExpression:
        """Whether the value is missing."""
        return self._of("is_missing")

    def where(self, condition: OutputExpression, otherwise: OutputLike = None) -> OutputExpression:
        """The value where a condition on released columns holds, else another."""
        return OutputExpression(CaseOutput(shown(condition), self.output, shown(otherwise)))

    def _of(
        self, name: Literal["not", "abs", "sqrt", "floor", "ceil", "round", "is_missing"], digits: int = 0
    ) -> OutputExpression:
        return OutputExpression(Function(name, self.output, digits))


OutputLike = OutputExpression | Plain


def shown(value: OutputLike) -> Output:
    """The output of an output expression or of a constant."""
    match value:
        case OutputExpression():
            return value.output
        case None | bool():
            return OutputValue(value)
        case str() | datetime.date():  # a date is written as text and parsed again where it is compared
            e = constant(value)
            label = e.domain.label(e.domain.lower)
            return OutputValue(label.isoformat() if isinstance(label, datetime.date) else str(label))
    try:
        return OutputValue(rational("A constant", value))
    except BadParameter as error:
        raise BadQuestion(str(error)) from None
