"""Streams as users have them: rows in order, labels that come late, stops and resumptions."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from unchecked import save_unchecked

import rarefind
from rarefind.metrics import average_precision
from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier
from rarefind.streams._loop import process_rows

N, D = 400, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1.0, 50.0, 1e-3] + [0.0, 1000.0, 5.0]
Y = (X[:, 0] + RNG.normal(size=N) * 0.3 > 1.2).astype(int)
X[RNG.random(X.shape) < 0.05] = np.nan
CLASSES = [0, 1]
FILES = Path(__file__).parents[1] / "files"


def small(**params):
    return ONLBClassifier(n_estimators=4, n_representations=4, random_state=0, **params)


STREAMS = [
    small(),
    small(positive_memory=7, replay=0.5, half_life=50.0),
    small(positive_memory=0),
    small(class_weight="balanced", steps="constant", target="residual", standardize=False),
    small(class_weight={1: 3.0}, target="slope", on_drift="restart", delta=0.5, threshold=0.3),
    small(on_drift="relearn", delta=0.5, threshold=None),
    OnlineBoostingClassifier(n_estimators=4, random_state=0),
    OnlineBoostingClassifier(method="bbm", n_estimators=4, random_state=0),
]
every_stream = pytest.mark.parametrize("stream", STREAMS, ids=[str(i) for i in range(len(STREAMS))])


def fresh(stream):
    return type(stream)(**stream.get_params())


def assert_same(one, other):
    """Two streams know the same, to the last bit."""
    for a, b in zip(arrays(one._state), arrays(other._state), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.threshold_ == other.threshold_
    assert str(one.progress_) == str(other.progress_)


def arrays(tree):
    if isinstance(tree, tuple):
        return [array for part in tree for array in arrays(part)]
    return [tree]


@every_stream
@settings(max_examples=5, deadline=None)
@given(cuts=st.lists(st.integers(0, N), max_size=4))
def test_rows_in_any_batches_come_to_the_same(stream, cuts):
    whole = fresh(stream).partial_fit(X, Y, classes=CLASSES)
    parted = fresh(stream)
    ends = [0, *sorted(cuts), N]
    for start, end in pairwise(ends):
        if end > start:
            parted.partial_fit(X[start:end], Y[start:end], classes=CLASSES)
    assert_same(whole, parted)


@every_stream
def test_scores_of_learning_are_those_asked_for_before_it(stream):
    naive, whole = fresh(stream), fresh(stream)
    naive.partial_fit(X[:1], Y[:1], classes=CLASSES)
    asked = []
    for i in range(1, N):
        asked.append(naive.priority(X[i : i + 1])[0])
        naive.partial_fit(X[i : i + 1], Y[i : i + 1])
    whole.partial_fit(X[:1], Y[:1], classes=CLASSES)
    np.testing.assert_array_equal(whole.learn(X[1:], Y[1:]), asked)


@every_stream
def test_labels_that_do_not_wait_are_plain_learning(stream):
    plain = fresh(stream).partial_fit(X, Y, classes=CLASSES)
    delayed = fresh(stream)
    for i in range(N):
        delayed.observe(i, X[i : i + 1], classes=CLASSES)
        assert delayed.learn_delayed(i, Y[i]).all()
    assert_same(plain, delayed)


@every_stream
def test_a_stream_that_is_saved_goes_on_as_if_it_had_not_been(stream, tmp_path):
    model = fresh(stream).partial_fit(X[:150], Y[:150], classes=CLASSES)
    ids = [f"payment {i}" for i in range(150, 250)]
    model.observe(ids, X[150:250])
    model.learn_delayed(ids[:60], Y[150:210])
    path = tmp_path / "stream.rarefind"
    rarefind.save(model, path)
    loaded = rarefind.load(path)
    for one in (model, loaded):
        one.learn_delayed(ids[60:], Y[210:250])
        one.partial_fit(X[250:], Y[250:])
    assert loaded.n_waiting_ == 0
    assert_same(model, loaded)


def test_a_stream_of_version_0_1_0_goes_on(tmp_path):
    model = rarefind.load(FILES / "0.1.0" / "ONLBClassifier-waiting.rarefind")
    ids = model._waiting.get_state()["ids"]
    rows = RNG.normal(size=(len(ids), model.n_features_in_))
    labels = model.classes_[np.arange(len(ids)) % 2]
    before = model.progress_.n_rows
    rarefind.save(model, tmp_path / "again.rarefind")
    loaded = rarefind.load(tmp_path / "again.rarefind")
    for one in (model, loaded):
        assert one.learn_delayed(ids, labels).all()
        one.partial_fit(rows, labels)
        assert one.progress_.n_rows == before + 2 * len(ids)
    np.testing.assert_array_equal(model.predict_proba(rows), loaded.predict_proba(rows))


def test_a_late_label_is_validated_by_the_score_of_its_arrival():
    model = small(half_life=60.0)
    model.partial_fit(X[:50], Y[:50], classes=CLASSES)
    early = small(half_life=60.0)
    scores = [*early.observe(0, X[:1], classes=CLASSES)]
    early.learn_delayed(0, Y[0])
    scores.extend(early.learn(X[1:50], Y[1:50]))
    first = model.observe(range(100), X[50:150])
    second = model.observe(range(100, 200), X[150:250])
    model.learn_delayed(range(100), Y[50:150])
    model.learn_delayed(range(100, 200), Y[150:250])
    # The second hundred was scored before the first was learned.
    np.testing.assert_array_equal(second, early.priority(X[150:250]))
    scores = np.concatenate([scores, first, second])
    fading = 2.0 ** ((np.arange(250) - 249) / 60.0)
    naive = average_precision(Y[:250], scores, sample_weight=fading)
    assert model.progress_.average_precision == pytest.approx(naive, abs=0.005)


def test_progress_counts_decisions_as_they_were_made():
    model = small(half_life=70.0, positive_memory=5)
    alerts = []
    for i in range(N):
        row = X[i : i + 1]
        if i % 2 or i == 0:  # some come with their labels, some are waited for
            model.observe(i, row, classes=CLASSES)
            alerts.append(model.predict(row)[0])
            model.learn_delayed(i, Y[i])
        else:
            alerts.append(model.predict(row)[0])
            model.partial_fit(row, Y[i : i + 1])
    fading = 2.0 ** ((np.arange(N) - (N - 1)) / 70.0)
    alert, positive = np.array(alerts) == 1, Y == 1
    progress = model.progress_
    assert progress.n_rows == N
    assert progress.precision == pytest.approx(np.average(positive[alert], weights=fading[alert]))
    recall = np.average(alert[positive], weights=fading[positive])
    assert progress.recall == pytest.approx(recall)
    assert progress.alerts == pytest.approx(np.average(alert, weights=fading))
    assert progress.error == pytest.approx(np.average(alert != positive, weights=fading))


def test_a_late_row_is_validated_by_the_decision_of_its_arrival():
    model = small(threshold=-100.0).partial_fit(X[:50], Y[:50], classes=CLASSES)
    model.observe(range(50), X[50:100])
    model.set_params(threshold=100.0)
    model._recalibrate()
    model.learn_delayed(range(50), Y[50:100])
    assert model.progress_.alerts == pytest.approx(1.0)
    model.partial_fit(X[100:200], Y[100:200])
    assert model.progress_.alerts < 0.6


def test_waiting_rows_are_bounded_and_the_oldest_go():
    model = small(max_waiting=100).partial_fit(X[:50], Y[:50], classes=CLASSES)
    model.observe(range(150), X[50:200])
    assert (model.n_waiting_, model.n_forgotten_) == (100, 50)
    learned = model.learn_delayed(range(150), Y[50:200])
    assert not learned[:50].any()
    assert learned[50:].all()
    assert model.progress_.n_rows == 150
    kept = small(max_waiting=100).partial_fit(X[:50], Y[:50], classes=CLASSES)
    kept.observe(range(100), X[100:200])
    kept.learn_delayed(range(100), Y[100:200])
    np.testing.assert_array_equal(model.priority(X), kept.priority(X))


def test_no_news_can_be_good_news():
    model = small(max_waiting=100, overflow="negative")
    model.partial_fit(X[:50], Y[:50], classes=CLASSES)
    model.observe(range(150), X[50:200])
    assert model.progress_.n_rows == 100
    labelled = small(max_waiting=150).partial_fit(X[:50], Y[:50], classes=CLASSES)
    labelled.observe(range(150), X[50:200])
    labelled.learn_delayed(range(50), np.zeros(50))
    assert model.n_forgotten_ == 0
    np.testing.assert_array_equal(model.priority(X), labelled.priority(X))


def test_the_file_does_not_grow_with_the_stream(tmp_path):
    model = small(positive_memory=5).partial_fit(X, Y, classes=CLASSES)
    sizes = []
    for _ in range(2):
        rarefind.save(model, tmp_path / "stream")
        sizes.append((tmp_path / "stream").stat().st_size)
        for _ in range(25):
            model.partial_fit(X, Y)
            model.observe(range(N), X)
            model.learn_delayed(range(N), Y)
    assert sizes[1] < sizes[0] + 100  # a number may have a digit more


def test_a_table_of_one_epoch_is_a_stream():
    table = small(epochs=1, pos_label=1).fit(X, Y)
    stream = small(pos_label=1).partial_fit(X, Y, classes=CLASSES)
    np.testing.assert_array_equal(table.priority(X), stream.priority(X))
    table.partial_fit(X, Y)
    stream.partial_fit(X, Y)
    np.testing.assert_array_equal(table.priority(X), stream.priority(X))


def test_a_table_of_many_epochs_is_validated_on_held_out_rows():
    rows, noise = X[:100], np.random.default_rng(1).random(100) < 0.3
    model = ONLBClassifier(hidden=20, epochs=60, random_state=0).fit(rows, noise)
    assert average_precision(noise, model.priority(rows)) > 0.6  # learned by heart
    assert model.progress_.average_precision < 0.4
    assert model.value_ < 0.55


def test_more_epochs_fit_better_on_a_small_table():
    once, often = small(epochs=1).fit(X, Y), small(epochs=50).fit(X, Y)
    assert often.progress_.average_precision > once.progress_.average_precision


def test_a_stream_may_never_fade():
    model = small(half_life=1e300).partial_fit(X, Y, classes=CLASSES)
    assert 0 < model.progress_.average_precision <= 1


def test_waiting_rows_with_scores_that_are_not_finite_are_refused(tmp_path):
    model = small().partial_fit(X, Y, classes=CLASSES)
    model.observe(["a", "b"], X[:2])
    model._waiting._scores[:] = np.nan
    save_unchecked(model, tmp_path / "stream")
    with pytest.raises(ValueError, match="waiting-rows: 'scores' holds what is not a number"):
        rarefind.load(tmp_path / "stream")


@pytest.mark.parametrize("policy", ["relearn", "restart"])
def test_drift_raises_an_alarm_and_the_policy_acts(policy):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(8000, 2))
    before = rows[:, 0] > 1.2
    labels = np.where(np.arange(8000) < 4000, before, rows[:, 0] < -1.2).astype(int)
    plain = small(half_life=500.0).partial_fit(rows, labels, classes=CLASSES)
    acting = small(half_life=500.0, on_drift=policy).partial_fit(rows, labels, classes=CLASSES)
    for model in (plain, acting):
        alarms = model.alarms_
        assert alarms.size
        assert alarms[alarms >= 4000].min() < 5500
        assert not ((alarms > 1000) & (alarms < 4000)).any()
    assert (plain.priority(rows) != acting.priority(rows)).any()


def test_classes_of_any_name_and_order():
    names = np.array(["fraud", "genuine"])[1 - Y]  # the positive one comes first
    stream = small(pos_label="fraud").partial_fit(X, names, classes=["fraud", "genuine"])
    plain = small().partial_fit(X, Y, classes=CLASSES)
    np.testing.assert_array_equal(stream.priority(X), plain.priority(X))
    np.testing.assert_array_equal(stream.predict_proba(X)[:, 0], plain.predict_proba(X)[:, 1])
    assert small().partial_fit(X, names, classes=["genuine", "fraud"]).pos_label_ == "genuine"


def test_many_classes():
    rows, species = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(rows))
    rows, species = rows[order], species[order]
    model = ONLBClassifier(random_state=0)
    for _ in range(10):
        model.partial_fit(rows, species, classes=[0, 1, 2])
    assert (model.predict(rows) == species).mean() > 0.93
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
    assert model.progress_.error < 0.3
    assert np.isnan(model.progress_.average_precision)
    assert model.learn(rows[:5], species[:5]).shape == (5, 3)
    assert model.representation_importance_.shape == (30,)
    assert not hasattr(model, "priority")


def test_representations_start_uncorrelated_and_all_matter():
    model = ONLBClassifier(random_state=0, n_estimators=60, jitter=1.0)
    model.partial_fit(X, Y, classes=CLASSES)
    correlation = model.representation_correlation_
    assert correlation.shape == (10, 10)
    np.testing.assert_allclose(np.diag(correlation), 1)
    assert np.abs(correlation[~np.eye(10, dtype=bool)]).mean() < 0.3
    importance = model.representation_importance_
    assert importance.shape == (10,)
    assert (importance >= 0).all()
    assert importance.sum() > 0


def test_reasons_name_the_columns_that_raise_the_score():
    frame = pd.DataFrame(X, columns=["amount", "hour", "rate"])
    model = small(epochs=30).fit(frame, Y)
    top = int(np.nanargmax(frame["amount"]))
    reason = model.explain(frame[top : top + 1])[0]
    assert reason.because[0].feature == "amount"
    assert reason.score == model.priority(frame[top : top + 1])[0]
    assert reason.rank_in_reference > 0.9


def test_rows_of_weight_0_are_scored_and_not_learned():
    weight = (np.arange(N) % 3 > 0).astype(float)
    some = small().partial_fit(X, Y, classes=CLASSES, sample_weight=weight)
    there = weight > 0
    only = small().partial_fit(X[there], Y[there], classes=CLASSES)
    np.testing.assert_array_equal(some.priority(X), only.priority(X))


@pytest.mark.parametrize("steps", ["adaptive", "constant"])
@pytest.mark.parametrize("standardize", [True, False])
def test_wild_rows_leave_finite_scores(steps, standardize, tmp_path):
    rng = np.random.default_rng(0)
    wild = rng.normal(size=(300, 2)) * 10.0 ** rng.integers(-300, 300, size=(300, 2))
    wild[:10] = 0.0
    labels = rng.integers(0, 2, 300)
    model = small(steps=steps, standardize=standardize, learning_rate=10.0)
    model.partial_fit(wild, labels, CLASSES, sample_weight=10.0 ** rng.integers(-6, 6, 300))
    assert np.isfinite(model.priority(wild)).all()
    assert np.isfinite(model.predict_proba(wild)).all()
    rarefind.save(model, tmp_path / "stream")
    loaded = rarefind.load(tmp_path / "stream")
    np.testing.assert_array_equal(loaded.priority(wild), model.priority(wild))


def test_a_stream_of_negatives_only_waits_for_its_first_positive():
    model = small().partial_fit(X, np.zeros(N), classes=CLASSES)
    assert model.threshold_ == 0.0
    assert not model.predict(X).any()
    assert np.isnan(model.progress_.average_precision)
    model.partial_fit(X, Y)
    assert model.progress_.average_precision > 0


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda m: m.partial_fit(X, Y), "The first rows of a stream need classes"),
        (lambda m: m.partial_fit(X, Y, classes=[1]), "two classes or more"),
        (lambda m: m.observe(1, X[:1]), "The first rows of a stream need classes"),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).partial_fit(X, Y + 1),
            "label 2 is not one of the classes",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).partial_fit(X, Y, classes=[0, 2]),
            "classes differ from those of the first call",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).learn(X, Y[:3]),
            "3 labels were given for 400 rows",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).observe([1, 1], X[:2]),
            "identifier 1 is given twice",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).observe([1], X[:2]),
            "1 identifiers were given for 2 rows",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).observe([1.5], X[:1]),
            "1.5 is not an identifier",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).set_params(hidden=3).learn(X, Y),
            "hidden was 2 when this stream began and is 3 now",
        ),
        (
            lambda m: m.partial_fit(X, Y, classes=CLASSES).set_params(delta=-1).learn(X, Y),
            "'delta' parameter",
        ),
        (
            lambda m: m.partial_fit(X, Y, CLASSES, sample_weight=[1.0]),
            "1 weights were given for 400 rows",
        ),
        (
            lambda m: m.partial_fit(X, Y, CLASSES, sample_weight=np.full(N, np.nan)),
            "not a number",
        ),
        (
            lambda m: small(overflow="negative").partial_fit(X, Y, classes=[0, 1, 2]),
            "needs two classes",
        ),
        (
            lambda m: small(class_weight={7: 1.0}).partial_fit(X, Y, classes=CLASSES),
            "class_weight names 7",
        ),
        (
            lambda m: small(class_weight={1: -1.0}).partial_fit(X, Y, classes=CLASSES),
            "below 0",
        ),
        (
            lambda m: OnlineBoostingClassifier().partial_fit(X, Y, classes=[0, 1, 2]),
            "Only binary classification is supported",
        ),
        (
            lambda m: small(pos_label=1).partial_fit(X, Y, classes=[0, 1, 2]),
            "pos_label needs two classes",
        ),
    ],
)
def test_mistakes_are_answered_with_a_sentence(work, message):
    with pytest.raises(ValueError, match=message):
        work(small())


def test_a_mistake_changes_nothing():
    model = small().partial_fit(X, Y, classes=CLASSES)
    model.observe([1, 2], X[:2])
    before = model.priority(X)
    for bad, message in (
        (lambda: model.observe([3, 2], X[:2]), "2 is already waiting"),
        (lambda: model.learn_delayed([1, 2], [0, 5]), "label 5 is not one"),
        (lambda: model.learn_delayed([1, 2], [0, 1], [1.0, -1.0]), "below 0"),
        (lambda: model.partial_fit(X, np.where(np.arange(N) < 399, Y, 9)), "label 9 is not one"),
    ):
        with pytest.raises(ValueError, match=message):
            bad()
    np.testing.assert_array_equal(model.priority(X), before)
    assert model.n_waiting_ == 2
    assert model.learn_delayed([1, 2], [0, 1]).all()


def test_a_parameter_that_does_not_fit_loses_no_row():
    model = small().partial_fit(X[:100], Y[:100], classes=CLASSES)
    model.observe(range(100), X[100:200])
    for wrong in ({"class_weight": {"x": 1.0}}, {"metric": "unknown"}, {"n_estimators": 7}):
        old = {name: model.get_params()[name] for name in wrong}
        model.set_params(**wrong)
        with pytest.raises(ValueError, match=r"class_weight|metric|n_estimators"):
            model.learn_delayed(range(100), Y[100:200])
        assert model.n_waiting_ == 100
        model.set_params(**old)
    assert model.learn_delayed(range(100), Y[100:200]).all()


def test_a_fit_that_fails_leaves_the_stream_as_it_was():
    model = small().partial_fit(X, Y, classes=CLASSES)
    before = model.priority(X)
    wide = np.zeros((N, 50))
    for rows, labels, weight in ((wide, Y, np.ones(3)), (wide, np.zeros(N), None)):
        with pytest.raises(ValueError, match=r"shape|class"):
            model.fit(rows, labels, sample_weight=weight)
        with pytest.raises(ValueError, match="50 features"):
            model.partial_fit(wide, Y)
    np.testing.assert_array_equal(model.priority(X), before)


def test_a_first_call_that_fails_begins_nothing():
    model = small()
    for bad in (
        lambda: model.partial_fit(X, Y + 1, classes=CLASSES),
        lambda: model.observe([1], X[:2], classes=CLASSES),
    ):
        with pytest.raises(ValueError, match=r"not one of the classes|identifiers"):
            bad()
    model.partial_fit(X, Y + 1, classes=[1, 2])
    assert model.pos_label_ == 2


def test_scoring_asks_for_no_parameter_of_learning():
    model = small().partial_fit(X, Y, classes=CLASSES)
    before = model.priority(X)
    model.set_params(half_life=0, class_weight={"x": 1}, on_drift="unknown")
    np.testing.assert_array_equal(model.priority(X), before)


def test_a_day_without_rows():
    model = small().partial_fit(X, Y, classes=CLASSES)
    assert model.observe([], X[:0]).size == 0
    assert model.learn_delayed([], []).size == 0


def test_a_row_of_weight_0_by_itself():
    model = small().partial_fit(X, Y, classes=CLASSES)
    before = model.priority(X)
    model.partial_fit(X[:1], Y[:1], sample_weight=[0.0])
    np.testing.assert_array_equal(model.priority(X), before)


def test_identifiers_of_all_sorts():
    model = small().partial_fit(X, Y, classes=CLASSES)
    model.observe(np.array(5), X[:1])
    model.observe(pd.Series([6, 7]), X[:2])
    model.observe(np.array(["a", "b"]), X[:2])
    assert model.learn_delayed([5, "b", np.int64(7)], [0, 0, 0]).all()
    assert model.n_waiting_ == 2


@pytest.mark.parametrize(
    "params", [{}, {"class_weight": "balanced"}, {"positive_memory": 500}, {"target": "residual"}]
)
@pytest.mark.parametrize("weight", [1.0, 10.0])
def test_a_stream_that_does_not_change_goes_on_well(params, weight):
    """Rare rows must not be held back where the many others are not."""
    rng = np.random.default_rng(0)
    labels = rng.random(60_000) < 0.01
    rows = rng.normal(size=(60_000, 4))
    rows[labels, :2] += [2.0, -1.4]
    model = ONLBClassifier(random_state=0, half_life=5000.0, **params)
    model.partial_fit(rows, labels, [False, True], np.full(60_000, weight))
    assert model.progress_.average_precision > 0.25  # of about 0.4; all gates closed, it is 0.02
    assert not (model.alarms_ > 10_000).any()


def test_missing_values_are_at_the_mean_also_without_scaling():
    model = small(standardize=False).partial_fit(X[:, :1] + 3, Y, classes=CLASSES)
    mean = np.nanmean(X[:, :1] + 3)
    assert model.priority([[np.nan]])[0] == pytest.approx(model.priority([[mean]])[0], rel=1e-6)


def test_reading_while_another_thread_learns():
    model = small().partial_fit(X, Y, classes=CLASSES)
    with ThreadPoolExecutor(2) as pool:
        learned = pool.submit(lambda: [model.partial_fit(X, Y) for _ in range(50)])
        while not learned.done():
            assert np.isfinite(model.progress_.average_precision)
            assert np.isfinite(model.priority(X)).all()
        learned.result()


def test_rows_that_cannot_be_written_to_need_no_kernel_of_their_own():
    model = small().partial_fit(X, Y, classes=CLASSES)
    before, compiled = model.priority(X), len(process_rows.signatures)
    locked = X.copy()
    locked.flags.writeable = False
    np.testing.assert_array_equal(model.priority(locked), before)
    assert len(process_rows.signatures) == compiled


def test_what_was_not_begun_says_so():
    for ask in (
        lambda: small().progress_,
        lambda: small().alarms_,
        lambda: small().n_waiting_,
        lambda: small().learn_delayed(1, 1),
        lambda: small().representation_importance_,
    ):
        with pytest.raises(NotFittedError):
            ask()


def exchanged(node, path, change):
    """Nested tuples with the array at a path exchanged."""
    name, _, rest = path.partition(".")
    part = getattr(node, name)
    return node._replace(**{name: exchanged(part, rest, change) if rest else change(part)})


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("nets.inner", lambda a: a[:, :, :2].copy()),
        ("nets.outer", lambda a: np.zeros((4, 3, 3))),
        ("nets.inner_sum", lambda a: a[:1]),
        ("nets.outer_sum", lambda a: a.astype(np.float32)),
        ("spaces.net_weights", lambda a: a * np.nan),
        ("spaces.space_weights", lambda a: a[:, :, :1].copy()),
        ("votes.weight", lambda a: a[:2]),
        ("mean", lambda a: a[:1]),
        ("share", lambda a: np.ones(3)),
        ("memory.rows", lambda a: np.zeros((5, 1))),
        ("memory.count", lambda a: a - 1000),
        ("generator", lambda a: a.astype(float)),
        ("validation.bins", lambda a: a[:, :10]),
        ("validation.decisions", lambda a: a[:1]),
        ("validation.count", lambda a: a - 10_000),
        ("validation.alarms", lambda a: a[:3]),
        ("validation.window.used", lambda a: a + 7),
        ("validation.window.count", lambda a: a + 1),
        ("validation.window.total", lambda a: a[:2]),
    ],
)
def test_arrays_that_kernels_cannot_trust_are_refused(path, change, tmp_path):
    model = small(positive_memory=5).partial_fit(X, Y, classes=CLASSES)
    model._state = exchanged(model._state, path, change)
    save_unchecked(model, tmp_path / "stream")
    with pytest.raises(ValueError, match="does not hold a whole model"):
        rarefind.load(tmp_path / "stream")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_next_calibration", 0),
        ("_next_calibration", 1e9),
        ("classes_", np.array([0, 1, 2])),
        ("classes_", np.array([0])),
        ("n_features_in_", 2),
        ("_fresh", (1, 2, 3)),
        ("_fixed_values", {}),
        ("_waiting", None),
    ],
)
def test_other_parts_that_cannot_be_are_refused(name, value, tmp_path):
    model = small().partial_fit(X, Y, classes=CLASSES)
    setattr(model, name, value)
    save_unchecked(model, tmp_path / "stream")
    with pytest.raises(ValueError, match="does not hold a whole model"):
        rarefind.load(tmp_path / "stream")
