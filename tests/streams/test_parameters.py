"""Parameters are checked when they change, and not for every row."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) * 0.3 > 1).astype(int)

CALLS = {
    "partial_fit": lambda model, i: model.partial_fit(X[i : i + 1], Y[i : i + 1]),
    "learn": lambda model, i: model.learn(X[i : i + 1], Y[i : i + 1]),
    "observe": lambda model, i: model.observe(f"row {i}", X[i : i + 1]),
    "learn_delayed": lambda model, i: model.learn_delayed(i, Y[i]),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def begin(**params):
    """A stream of a hundred rows, of which ten more wait."""
    model = ONLBClassifier(n_estimators=4, n_representations=4, random_state=0, **params)
    model.partial_fit(X[:100], Y[:100], classes=[0, 1])
    model.observe(range(100, 110), X[100:110])
    return model


@every_call
def test_parameters_that_do_not_change_are_checked_once(call, monkeypatch):
    model = begin(threshold=0.5)
    checks = []
    monkeypatch.setattr(
        ONLBClassifier, "_validate_params", lambda self: checks.append(self), raising=True
    )
    for i in range(100, 110):
        call(model, i)
    assert not checks
    model.set_params(replay=0.5)
    for i in range(100, 110):
        call(model, 50 + i)
    assert len(checks) == 1


@every_call
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": -1}, "'delta' parameter"),
        ({"half_life": 0}, "'half_life' parameter"),
        ({"on_drift": "unknown"}, "'on_drift' parameter"),
        ({"metric": "unknown"}, "metric"),
        ({"class_weight": {7: 1.0}}, "class_weight names 7"),
        ({"hidden": 3}, "hidden was 2 when this stream began and is 3 now"),
        ({"n_representations": 5}, "n_representations was 4"),
        ({"pos_label": 0}, "pos_label was None"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_parameters_that_become_wrong_are_refused_at_any_row(call, change, message):
    model = begin()
    call(model, 100)
    before = model.priority(X)
    old = {name: model.get_params()[name] for name in change}
    model.set_params(**change)
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            call(model, 101)
    model.set_params(**old)
    np.testing.assert_array_equal(model.priority(X), before)
    call(model, 101)


def test_class_weights_changed_in_place_count():
    weights = {0: 1.0, 1: 1.0}
    model, other = begin(class_weight=weights), begin(class_weight={0: 1.0, 1: 1.0})
    weights[1] = 9.0
    other.set_params(class_weight={0: 1.0, 1: 9.0})
    for i in range(110, 200):
        for one in (model, other):
            one.partial_fit(X[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(model.priority(X), other.priority(X))
    weights[1] = -1.0
    with pytest.raises(ValueError, match="below 0"):
        model.partial_fit(X[:1], Y[:1])


def test_a_threshold_set_by_hand_decides_the_next_rows():
    model = begin(threshold=0.0)
    model.threshold_ = 1e6
    model.partial_fit(X[110:115], Y[110:115])
    low = begin(threshold=0.0)
    low.threshold_ = -1e6
    low.partial_fit(X[110:115], Y[110:115])
    assert model.progress_.alerts < low.progress_.alerts


def test_copies_of_a_model_have_parameters_of_their_own():
    model = begin()
    copy = deepcopy(model)
    copy.set_params(replay=0.9, learning_rate=0.5)
    for one in (model, copy):
        one.partial_fit(X[110:], Y[110:])
    assert (model.priority(X) != copy.priority(X)).any()
    np.testing.assert_array_equal(
        model.priority(X), begin().partial_fit(X[110:], Y[110:]).priority(X)
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:1, :2], "2 features"),
        (np.full((1, 3), np.inf), "inf in 1 of 1 rows"),
        (X[0], "1D array"),
        (np.array([["a", "b", "c"]]), "holds text"),
        (np.empty((0, 3)), "0 sample"),
    ],
    ids=["columns", "inf", "one dimension", "text", "none"],
)
def test_rows_that_cannot_be_learned_are_refused_at_any_row(rows, message):
    model = begin()
    for _ in range(2):
        for call in (
            lambda: model.partial_fit(rows, Y[: len(rows)]),
            lambda: model.observe(["a"], rows),
        ):
            with pytest.raises(ValueError, match=message):
                call()
        model.partial_fit(X[:1], Y[:1])
    assert model.n_waiting_ == 10


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda rows: rows.tolist(),
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
        lambda rows: rows.astype(">f8"),
        pd.DataFrame,
    ],
    ids=["columns", "lists", "strides", "bytes", "frame"],
)
def test_rows_of_any_form_come_to_the_same(form):
    model, plain = begin(), begin()
    model.partial_fit(form(X[110:]), pd.Series(Y[110:]))
    for i in range(110, 200):
        plain.partial_fit(X[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(model.priority(X), plain.priority(X))


@pytest.mark.parametrize(
    ("labels", "one"),
    [([0, 1], True), ([0, 1], 1.0), ([False, True], 1), (["no", "yes"], "yes")],
)
def test_one_label_is_read_as_many_are(labels, one):
    names = np.array(labels)[Y]
    models = [OnlineBoostingClassifier(n_estimators=3, random_state=0) for _ in range(2)]
    for model in models:
        model.partial_fit(X[:100], names[:100], classes=labels)
        model.observe([1, 2], X[:2])
    models[0].learn_delayed(1, one)
    models[0].learn_delayed(2, one)
    models[1].learn_delayed([1, 2], [one, one])
    np.testing.assert_array_equal(*(model.priority(X) for model in models))
    with pytest.raises(ValueError, match="label 'maybe' is not one"):
        models[0].learn_delayed(1, "maybe")
