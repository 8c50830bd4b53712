"""The tables of the scoreboard's large half, and which block each belongs to."""

import argparse
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from rarefind.data import list_keel

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MADE_UP = {
    "many columns": 4_000,
    "clusters": 4_000,
    "profiles": 4_000,
    "heavy tails": 4_000,
    "copies": 4_000,
    "needles": 20_000,
    "words": 4_000,
    "slabs": 4_000,
    "machines": 20_000,
    "survey": 4_000,
    "contracts": 8_000,
    "poker": 4_000,
    "payments, world 11": 20_000,
    "payments, world 22": 20_000,
    "mate in five": 28_056,
}


@pytest.fixture(scope="module", autouse=True)
def _importable():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield


@pytest.mark.parametrize("name", MADE_UP)
def test_a_table_is_made_by_its_seed_and_has_few_positives(name):
    tables = import_module("large_tables")
    task, again = (tables.load_large(name, rows=MADE_UP[name]) for _ in range(2))
    for one, other in zip(task, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.isfinite(task.X).all()
    assert np.isfinite(task.test).all()
    for positive in (task.y, task.truth):
        assert 1 <= positive.sum() <= 0.05 * positive.size
    if task.times is not None:
        assert np.all(np.diff(task.times) >= 0)


def test_rows_to_test_come_a_delay_after_those_to_learn_from():
    tables = import_module("large_tables")
    times = np.array([5.0, 1.0, 3.0, 4.0, 2.0, 6.0])
    task = tables.in_time(times[:, None], times > 4, times, 3.0, 2.0)
    assert task.X.ravel().tolist() == task.times.tolist() == [1.0, 2.0]
    assert task.test.ravel().tolist() == [5.0, 6.0]


def test_copies_are_copies():
    task = import_module("large_tables").load_large("copies", rows=20_000)
    assert len(np.unique(task.X, axis=0)) < 0.5 * len(task.X)


def test_every_table_is_of_one_block():
    blocks, tables = import_module("_blocks"), import_module("large_tables")
    choose, final = (set(blocks.LARGE[block]) for block in ("choose", "final"))
    assert not choose & final
    assert choose | final == {*tables.TABLES, tables.WEB_PAGES}
    assert not set(blocks.WORLDS["choose"]) & set(blocks.WORLDS["final"])
    chosen = [name for name in list_keel() if blocks.small_block(name) == "choose"]
    assert 0.35 < len(chosen) / len(list_keel()) < 0.65


def test_the_final_block_is_not_run_by_accident(capsys):
    blocks = import_module("_blocks")
    parser = argparse.ArgumentParser()
    blocks.add_run_options(parser)
    for given in (["--block", "final"], ["--final"]):
        with pytest.raises(SystemExit):
            blocks.check_block(parser, parser.parse_args(given))
        assert "run once" in capsys.readouterr().err
    assert blocks.check_block(parser, parser.parse_args(["--block", "final", "--final"])) == "final"
    assert blocks.check_block(parser, parser.parse_args([])) == "choose"
