"""MST of dpmm, by an interpreter of its own:

    python -m venv peer && peer/bin/pip install dpmm
    python benchmarks/release.py --dpmm peer/bin/python

It gives records, as many as there were; the seconds are those of fitting and drawing, in one process.
"""

from __future__ import annotations

import sys

import pandas as pd
from _release_peer import Answer, counted, read, tell
from dpmm.models.mst import MSTGM


def mst(path: str) -> Answer:
    codes, sizes, epsilon, delta = read(path)
    names = [f"a{i}" for i in range(len(sizes))]
    model = MSTGM(epsilon=epsilon, delta=delta, domain=dict(zip(names, sizes, strict=True)), n_jobs=1)
    model.fit(pd.DataFrame(codes, columns=names))
    drawn = model.generate(n_records=len(codes))[names].to_numpy()
    return lambda attributes: counted(drawn, sizes, attributes)


if __name__ == "__main__":
    tell("MST", sys.argv[1], lambda: mst(sys.argv[1]))
