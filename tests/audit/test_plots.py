"""Pictures of audits: each is written, in a sane size, and shows the numbers it was given."""

import builtins
import struct

import pytest

from tacit import BadParameter, Gaussian, Laplace, TacitError
from tacit.audit import attacks, exact, plots
from tacit.testing.sources import Seeded
from tacit.testing.wrong.mechanisms import HalfNoise

ROWS = [
    {"defence": name, "queries": k, "recovered": share}
    for name, share in (("exact", 1.0), ("tacit, epsilon 1 in all", 0.5))
    for k in (32, 64)
]
CHARTS = {
    "comparison": lambda: plots.comparison(ROWS),
    "transition": lambda: plots.transition(attacks.transition((16, 24), (0.1, 1.0), source=Seeded(1))),
    "true claim": lambda: plots.curve(exact(Gaussian(rho="0.5"), 0, 1), 9),
    "false claim": lambda: plots.curve(exact(HalfNoise(epsilon=1), 0, 1), 9),
}


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)
def test_each_is_written_as_a_picture_of_sane_size(make, tmp_path):
    path = tmp_path / "chart.png"
    make().save(str(path), scale_factor=2)
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data.startswith(b"\x89PNG") and 800 < width < 1800 and 600 < height < 1000 and len(data) > 10_000


def test_the_rows_are_shown_and_tacit_is_green():
    drawn = plots.comparison(ROWS).to_dict(format="vega-lite")
    assert drawn["data"]["values"] == ROWS
    scale = drawn["layer"][1]["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["tacit, epsilon 1 in all"] == plots.GREEN


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(BadParameter, match="rows"):
        plots.comparison([])
    with pytest.raises(BadParameter, match="laws"):
        plots.curve(exact(Laplace(epsilon=1), 0, 0, distance=0))


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "altair":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TacitError, match=r"pip install 'tacit\[plots\]'"):
        plots.comparison(ROWS)
