"""How the progress of long work is reported."""

import gzip

import numpy as np
import pandas as pd
import pytest

from rarefind._core.progress import listen_to_progress, progress_bar
from rarefind.auto import find_estimator
from rarefind.boosting import SGBAPClassifier
from rarefind.cli._steps import _Step
from rarefind.data.read import about_rows, with_progress


def test_a_listener_is_told_of_the_outermost_work_only():
    reported = []
    with listen_to_progress(lambda done, total: reported.append((done, total))):
        with progress_bar("outer", 3, 0) as step:
            step(2)
            with progress_bar("inner", 50, 0) as inner:
                inner(1)
            step(1)
        with progress_bar("next", None, 0) as step:
            step(7)
    with progress_bar("nobody listens", 3, 0) as step:
        step(1)
    assert reported == [(2, 3), (3, 3), (7, None)]


def test_a_fit_tells_of_its_rounds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.2
    reported = []
    with listen_to_progress(lambda done, total: reported.append((done, total))):
        SGBAPClassifier(n_estimators=5, n_jobs=1).fit(X, y)
    # Of the ten rounds, five with rows held out; no more are made on all rows than was best.
    assert reported[:5] == [(n, 10) for n in range(1, 6)]
    assert reported == [(n, 10) for n in range(1, len(reported) + 1)]


@pytest.mark.parametrize("name", ["conditions", "me2", "mlfp", "nlb", "onlb"])
def test_what_takes_minutes_with_few_positives_in_a_million_rows_tells_of_it(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 50 == 0
    model = find_estimator(name).make(random_state=0, n_jobs=1)
    reported = []
    with listen_to_progress(lambda done, total: reported.append((done, total))):
        model.fit(X, y)
    assert len(reported) > 3
    assert [done for done, _ in reported] == list(range(1, len(reported) + 1))
    assert len({total for _, total in reported}) == 1


@pytest.mark.parametrize(
    ("name", "settings"),
    [("gamma-knn", {}), ("gamma-knn-local", {}), ("krnn", {"threshold": "auto"})],
)
def test_neighbour_methods_tell_of_each_block_of_rows_held_out(name, settings, monkeypatch):
    monkeypatch.setattr("rarefind.neighbors._held_out._BLOCK", 50)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 50 == 0
    model = find_estimator(name).make(random_state=0, n_jobs=1).set_params(**settings)
    reported = []
    with listen_to_progress(lambda done, total: reported.append((done, total))):
        model.fit(X, y)
    assert reported == [(n, 6) for n in range(1, 7)]


def test_conditions_tell_of_ensembles_conditions_and_lists():
    """A whole list was one step: of a million rows two thirds of the time were silent."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 20 == 0
    model = find_estimator("conditions").make(random_state=0, n_jobs=1).set_params(cv=2)
    reported = []
    with listen_to_progress(lambda done, total: reported.append((done, total))):
        model.fit(X, y)
    assert reported == [(n, 9) for n in range(1, 10)]


def test_a_step_says_how_long_it_will_take():
    step = _Step("Reading [a]", np.inf)
    assert "left" not in str(step.__rich__())
    step._start -= 30
    step.share_done = 0.75
    assert str(step.__rich__()).startswith("Reading \\[a]")
    assert "30 s, about 10 s left" in str(step.__rich__())
    step._end = step._start + 35
    assert "about 5 s left" in str(step.__rich__())
    step.share_done = 0.0
    assert "at most 5 s left" in str(step.__rich__())


def test_rows_of_a_file_are_about_known(tmp_path):
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(200_000), "b": "text"})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    assert about_rows(tmp_path / "a.parquet") == 200_000
    assert abs(about_rows(tmp_path / "a.csv") - 200_000) < 1000
    assert 100_000 < about_rows(tmp_path / "a.csv.gz") < 300_000
    reported = []
    with listen_to_progress(lambda done, total: reported.append((done, total))):
        pieces = list(with_progress([frame[:50_000], frame[50_000:]], tmp_path / "a.parquet"))
    assert [len(piece) for piece in pieces] == [50_000, 150_000]
    assert reported == [(50_000, 200_000), (200_000, 200_000)]
