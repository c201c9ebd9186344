"""MST of SmartNoise, by an interpreter of its own:

    python -m venv peer && peer/bin/pip install smartnoise-synth
    python benchmarks/release.py --smartnoise peer/bin/python

It gives records, as many as there were; the seconds are those of fitting and drawing.  Its values are those that occur.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd
from _release_peer import Answer, counted, read, tell
from snsynth.mst import MSTSynthesizer


def mst(path: str) -> Answer:
    codes, sizes, epsilon, delta = read(path)
    names = [f"a{i}" for i in range(len(sizes))]
    synthesizer = MSTSynthesizer(epsilon=epsilon, delta=delta)
    synthesizer.fit(pd.DataFrame(codes, columns=names), categorical_columns=names)
    drawn = synthesizer.sample(len(codes))[names].to_numpy().astype(int)
    return lambda attributes: counted(drawn, sizes, attributes)


if __name__ == "__main__":
    tell("MST", sys.argv[1], lambda: mst(sys.argv[1]))
