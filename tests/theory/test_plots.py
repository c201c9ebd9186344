"""Pictures of theorems: each is written, and shows the right numbers."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tacit import plots
from tacit.core.errors import BadParameter
from tacit.testing.sources import Seeded
from tacit.theory import laplace, martingale, noise_laws
from tacit.theory import plots as theory_plots

WALKS = martingale.privacy_walk("coin", 0.1, 30, 80, Seeded(1))
CHARTS = {
    "noise": lambda: plots.noise_laws(scales=[1, "2.5"], deviation=2),
    "privacy walk": lambda: plots.martingale(WALKS),
    "coin tosses": lambda: plots.martingale(martingale.coin_tosses(20, 10, Seeded(2)), "0.01"),
}


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)
def test_each_is_written_as_a_picture_of_sane_size(make, tmp_path: Path) -> None:
    data = plots.save(make(), tmp_path / "chart.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data.startswith(b"\x89PNG") and 800 < width < 2400 and 300 < height < 1200 and 10_000 < len(data) < 10**6


def test_noise_is_drawn_as_it_is_computed() -> None:
    rows = theory_plots.noise_rows([1, 3], 2)
    assert {row["scale"] for row in rows["scales"]} == {"b = 1", "b = 3"}
    assert all(row["density"] == laplace.density(row["x"], float(row["scale"][4:])) for row in rows["scales"])
    assert all(row["density"] == noise_laws.density(row["law"], row["x"], 2) for row in rows["densities"])
    assert all(row["tail"] == noise_laws.tail(row["law"], row["t"], 2) for row in rows["tails"])
    assert {row["law"] for row in rows["tails"]} == set(noise_laws.LAWS)


def test_walks_are_drawn_with_their_bound() -> None:
    chart = plots.martingale(WALKS, "0.1").to_dict(format="vega-lite")
    drawn, bound = (layer["data"]["values"] for layer in chart["layer"][:2])
    assert len({row["walk"] for row in drawn}) == 60 and [row["value"] for row in drawn[:31]] == WALKS.paths[0].tolist()
    assert [row["above"] for row in bound] == WALKS.azuma("0.1")


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(BadParameter, match="walks must be a Walks"):
        plots.martingale(3)
    with pytest.raises(BadParameter, match="scales must be positive"):
        plots.noise_laws(scales=[0])
    with pytest.raises(BadParameter, match="deviation must be"):
        plots.noise_laws(deviation=-1)
