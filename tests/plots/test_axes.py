from __future__ import annotations

import subprocess
import sys

import pytest

from rarefind.plots.axes import counted, number, percent


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.185, 1, "18.5 %"),
        (0.5, 1, "50 %"),
        (0.61, 0, "61 %"),
        (0.0, 0, "0 %"),
        (1.0, 1, "100 %"),
        (0.997, 0, "99.7 %"),
        (0.0004, 0, "0.04 %"),
        (1e-9, 0, "0 %"),
    ],
)
def test_percent_rounds_neither_to_all_nor_to_none(share: float, digits: int, text: str) -> None:
    assert percent(share, digits) == text


def test_counts_are_written_whole_where_they_are() -> None:
    assert number(12345) == "12,345"
    assert number(7.25) == "7.2"
    assert counted(1, "hit") == "1 hit"
    assert counted(0, "hit") == "0 hits"


def test_importing_the_displays_leaves_pyplot_alone() -> None:
    code = "import sys, rarefind.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
