"""Files as competitions use them: CSV with a header, an id first, then a prediction, or a label and perhaps a part.

    id,prediction          id,label,Usage
    17,0.93                17,1,Public
    18,0.02                18,0,Private

The header's names do not matter.  A message names lines and ids, which are public, and never a label.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...core.errors import BadData, BadParameter

_PARTS = {"public": False, "private": True}


@contextmanager
def _lines(path: str | os.PathLike[str]) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """The rows of a file after its header, each with its line, without empty lines."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            next(reader, None)
            yield ((reader.line_num, row) for row in reader if row)
    except (UnicodeDecodeError, csv.Error):
        says = f"{os.fspath(path)} is not a CSV file in UTF-8."
        raise BadParameter("file", os.fspath(path), "CSV in UTF-8", says=says) from None


def read_predictions(path: str | os.PathLike[str]) -> dict[str, str]:
    """The prediction for each id."""
    found: dict[str, str] = {}
    with _lines(path) as lines:
        for line, row in lines:
            if len(row) != 2:
                raise _malformed(line, len(row), "an id and a prediction")
            name = row[0].strip()
            if name in found:
                says = f"Line {line}: id {name[:40]!r} has a prediction already. Give each id once."
                raise BadParameter("id", name, "given once", says=says)
            found[name] = row[1].strip()
    return found


def read_solution(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, bool] | None]:
    """The label of each id, and whether the id is in the final part, if the file has a third column."""
    labels: dict[str, str] = {}
    final: dict[str, bool] = {}
    with _lines(path) as lines:
        for line, row in lines:
            if len(row) not in (2, 3) or (labels and (len(row) == 3) != bool(final)):
                raise _malformed(line, len(row), "an id and a label, and in every line or in none a part")
            name = row[0].strip()
            if name in labels:
                raise BadData("solution", f"an id twice, in line {line}", "each id once")
            labels[name] = row[1].strip()
            if len(row) == 3:
                if row[2].strip().lower() not in _PARTS:
                    raise BadData("solution", f"another word in line {line}", "Public or Private in its third column")
                final[name] = _PARTS[row[2].strip().lower()]
    return labels, final or None


def _malformed(line: int, fields: int, wanted: str) -> BadParameter:
    says = f"Line {line} has {fields} fields; a line has {wanted}."
    return BadParameter("file", fields, wanted, says=says)
