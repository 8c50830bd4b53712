import math

import numpy as np
import pytest

from rarefind._core.deadline import (
    OutOfTimeError,
    best_effort,
    check_time_left,
    deadline,
    seconds_of,
    soft_deadline,
    until,
)
from rarefind.auto._time_limit import FitTime, TimeLimit
from rarefind.boosting import SGBAPClassifier
from rarefind.boosting._base import BoostingRows
from rarefind.boosting._directions import Contest, best_columns
from rarefind.distances import MLFP
from rarefind.search import NeighborSearch
from rarefind.trees import MetaAPForestClassifier


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        *(("90s", 90), ("5m", 300), ("1h", 3600), ("1.5 m", 90), ("1.5 M", 90), (".5h", 1800)),
        *(("20", 20), (7, 7), (None, math.inf)),
    ],
)
def test_lengths_of_time(given, meant):
    assert seconds_of(given) == meant


@pytest.mark.parametrize("given", ["", "soon", "5d", 0, -3, "0s", math.nan, [5]])
def test_other_lengths_are_refused(given):
    with pytest.raises(ValueError, match="A time limit is a length such as"):
        seconds_of(given)


def test_some_time_is_kept_to_finish(clock):
    time_limit = TimeLimit(100.0)
    assert (time_limit.start, time_limit.end) == (1000, 1100)
    assert time_limit.left() == 90
    clock.now = 1050.0
    assert time_limit.left() == 40
    assert TimeLimit(10.0).left() == pytest.approx(8.5)


def test_the_time_of_a_fit_is_predicted_by_its_growth():
    fit_time = FitTime(1.0, 2.0)
    assert fit_time.predict_seconds(100) is None
    fit_time.measure(100, 1.0)
    assert fit_time.predict_seconds(1000) == pytest.approx(1.5 * 100)
    fit_time.measure(200, 2.0)  # twice the rows take twice the time
    assert fit_time.predict_seconds(1000) == pytest.approx(1.5 * 10)
    assert fit_time.predict_seconds(200) == pytest.approx(1.5 * 2)
    assert fit_time.predict_seconds(50) == pytest.approx(1.5 * 2)
    fit_time.measure(200, 3.0)  # the machine has become slower
    assert fit_time.predict_seconds(200) == pytest.approx(1.5 * 3)


def test_the_earlier_of_two_deadlines_holds(clock):
    assert deadline() == math.inf
    with until(clock.now + 5), until(clock.now + 9):
        assert deadline() == clock.now + 5
        check_time_left(deadline())
        clock.now += 5.5
        with pytest.raises(OutOfTimeError):
            check_time_left(deadline())
    assert deadline() == math.inf


def test_boosters_make_do_with_fewer_rounds(clock):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.2
    model = SGBAPClassifier(n_estimators=200, early_stopping_rounds=None, n_jobs=1)
    assert soft_deadline() == math.inf
    with until(clock.now + 60), best_effort(0.5):
        assert soft_deadline() == clock.now + 30
        clock.tick = 4.0
        model.fit(X, y)
    assert 1 <= model.n_rounds_ < 15
    assert soft_deadline() == math.inf


@pytest.mark.parametrize("model", [SGBAPClassifier(n_jobs=1), MetaAPForestClassifier(n_jobs=2)])
def test_a_fit_gives_up_also_in_threads(model, clock):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.2
    with until(clock.now - 1), pytest.raises(OutOfTimeError):
        model.fit(X, y)


def mlfp(X, y):
    MLFP(n_jobs=1).fit(X, y)


def search(X, y):
    NeighborSearch(X, n_jobs=1).query(np.repeat(X, 90, axis=0), 1)


def directions(X, y):
    rows = BoostingRows(X, y.astype(int), y, np.ones(y.size))
    params = {"max_depth": 6, "nthread": 1}
    contest = Contest(params, 9, lambda held, score: 1.0, 0, X.shape[1], 0, deadline())
    best_columns(rows, np.zeros(X.shape[1], dtype=bool), contest)


@pytest.mark.parametrize("long", [mlfp, search, directions])
def test_steps_that_may_take_long_look_at_the_clock(long, clock):
    """A single distance of MLFP, one of eleven of a fit, took longer than a limit allows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.random(300) < 0.2
    clock.tick = 1.0
    with until(clock.now + 2.5), pytest.raises(OutOfTimeError):
        long(X, y)
    began = clock.now
    long(X, y)
    assert clock.now - began >= 3, "so it looked while it was at work"
