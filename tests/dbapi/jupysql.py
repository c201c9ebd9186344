"""A notebook with JupySQL, as a program of its own: IPython and its magics change the process that they run in."""

import sys

import pandas as pd
from IPython.core.interactiveshell import InteractiveShell
from tests.dbapi.test_dbapi import BY_WARD, ROWS, SCHEMA

import tacit

with tacit.Curator(
    tacit.Table(pd.DataFrame(ROWS), SCHEMA), ledger=sys.argv[1], budget=tacit.Budget(epsilon=10)
) as curator:
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "sql")
    shell.push({"connection": tacit.dbapi.connect(curator, share="0.01")})
    shell.run_line_magic("sql", "connection --alias tacit")
    shown = shell.run_cell_magic("sql", "", BY_WARD).DataFrame()
    bought = curator.ask(BY_WARD, share="0.01")
    assert list(shown.columns) == ["ward", "n"] and shown["n"].tolist() == bought["n"].tolist()
    print("the same")
