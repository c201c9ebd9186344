"""`tacit docs`: the documents of the installed package, as a list or one by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ..core.errors import BadParameter
from .output import console, reporting_errors

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_REPOSITORY = Path(__file__).parents[3] / "docs"


def documents() -> dict[str, Traversable]:
    """Every document by its name: `docs` in an installed package, or in the repository of an editable install."""
    from importlib.resources import files

    installed = files("tacit") / "docs"
    folder: Traversable = installed if installed.is_dir() else _REPOSITORY
    pages = sorted(page.name for page in folder.iterdir() if page.name.endswith(".md"))
    return {page.removesuffix(".md"): folder / page for page in pages}


def docs(
    name: Annotated[str, typer.Argument(help="The document to print, such as tables; leave it out to list all.")] = "",
    plain: Annotated[
        bool, typer.Option("--plain", help="Print the Markdown text as it is, also in a terminal.")
    ] = False,
) -> None:
    """List the documents, or print one of them: tacit docs tables."""
    with reporting_errors():
        pages = documents()
        if not name:
            console.print(_list(pages))
            return
        page = pages.get(name.lower().removesuffix(".md").replace("-", "_"))
        if page is None:
            known = f"one of {', '.join(pages)}"
            raise BadParameter("name", name, known, says=f"There is no document {name[:80]!r}. Choose {known}.")
        text = page.read_text("utf-8")
        if plain or not console.is_terminal:
            console.print(text, end="", markup=False, soft_wrap=True)
            return
        from rich.markdown import Markdown

        console.print(Markdown(text))


def _list(pages: dict[str, Traversable]) -> Table:
    table = Table("name", "document", title="tacit docs NAME", box=SIMPLE_HEAD)
    for name, page in pages.items():
        title, *_ = page.read_text("utf-8").splitlines()
        table.add_row(name, title.removeprefix("# "))
    return table
