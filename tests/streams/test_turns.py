"""Threads that share the model of a stream."""

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone

import rarefind
from rarefind._core.saved import check_object
from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier, _turns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
Y = (X[:, 0] + RNG.normal(0, 0.5, 3000) > 1.8).astype(int)
# Only threads that would wait for ever are still there after that.
FOR_EVER = 120


def run_threads(*tasks):
    failed = []

    def run(task):
        try:
            task()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(FOR_EVER)
    assert not failed
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("cls", [ONLBClassifier, OnlineBoostingClassifier])
def test_threads_may_learn_score_and_save_at_once(cls, tmp_path):
    model = cls(n_estimators=3, random_state=0).partial_fit(X[:100], Y[:100], classes=[0, 1])

    def learn():
        for size in (10, 100, 990):
            for at in range(100, 3000 - size, size):
                model.partial_fit(X[at : at + size], Y[at : at + size])

    def score_and_save():
        for number in range(40):
            assert np.isfinite(model.priority(X[:50])).all()
            rarefind.save(model, tmp_path / "model")
            again = rarefind.load(tmp_path / "model") if number % 2 else copy.deepcopy(model)
            assert np.isfinite(again.predict_proba(X[:5])).all()

    run_threads(learn, learn, score_and_save)
    calls = 2 * sum(size * len(range(100, 3000 - size, size)) for size in (10, 100, 990))
    assert model._state.validation.n_rows == 100 + calls
    check_object(model)


def test_a_copy_and_a_file_have_no_lock(tmp_path):
    model = ONLBClassifier(n_estimators=3, random_state=0)
    model.partial_fit(X[:100], Y[:100], classes=[0, 1])
    plain = model.priority(X[:9])
    rarefind.save(model, tmp_path / "model")
    copies = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        rarefind.load(tmp_path / "model"),
        clone(model).partial_fit(X[:100], Y[:100], classes=[0, 1]),
    ]
    with _turns._lock_of(model):  # each has its own, so that none waits for this one
        scores = []
        run_threads(lambda: scores.extend(other.priority(X[:9]) for other in copies))
    for found in scores:
        np.testing.assert_array_equal(found, plain)
    model.partial_fit(X[100:200], Y[100:200])
    np.testing.assert_array_equal(copies[0].priority(X[:9]), plain)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_does_not_wait_for_threads_that_it_does_not_have():
    model = ONLBClassifier(n_estimators=3, random_state=0)
    model.partial_fit(X[:100], Y[:100], classes=[0, 1])
    held, end = threading.Event(), threading.Event()

    def hold():
        with _turns._lock_of(model):
            held.set()
            end.wait(FOR_EVER)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        free = _turns._lock_of(model).acquire(blocking=False)
        os._exit(0 if free else 1)
    assert os.waitpid(child, 0)[1] == 0
    end.set()
    thread.join()


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.fit(X[:100], Y[:100]),
        lambda model: model.partial_fit(X[:3], Y[:3]),
        lambda model: model.learn(X[:3], Y[:3]),
        lambda model: model.observe([1, 2, 3], X[:3]),
        lambda model: model.learn_delayed(["waits"], [1]),
        lambda model: model.priority(X[:3]),
        lambda model: model.explain(X[:3]),
        lambda model: model.progress_,
        pickle.dumps,
    ],
)
def test_every_way_to_learn_or_score_waits_for_its_turn(call):
    model = ONLBClassifier(n_estimators=3, epochs=1, random_state=0)
    model.partial_fit(X[:100], Y[:100], classes=[0, 1]).observe("waits", X[:1])
    done = threading.Event()
    thread = threading.Thread(target=lambda: (call(model), done.set()))
    with _turns._lock_of(model):
        thread.start()
        assert not done.wait(0.05)
    thread.join(FOR_EVER)
    assert done.is_set()
