import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import rarefind
from rarefind import TableModel
from rarefind.auto import AutoClassifier, _choice, _classifier, _contender, _search
from rarefind.boosting import SGBAPClassifier
from rarefind.metrics import average_precision, f_beta
from rarefind.neighbors import GammaKNNClassifier
from rarefind.trees import MetaAPClassifier

CHEAP = {
    "neighbours": GammaKNNClassifier(k=1),
    "tree": MetaAPClassifier(2, 3),
    "boosting": SGBAPClassifier(n_estimators=20),
}


def rows(n=600, seed=0, told=2.0):
    """One row in ten is positive; two columns tell, one of them with missing values."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    X = rng.normal(size=(n, 4))
    X[y, :2] += told
    X[rng.random(n) < 0.1, 1] = np.nan
    return X, y


def auto(**given):
    settings = {"budget": 20, "candidates": CHEAP, "random_state": 0, "cv": 2}
    return AutoClassifier(**settings | given)


@pytest.fixture(scope="module")
def by_trials():
    return auto(trials=3).fit(*rows())


def test_the_leaderboard_says_how_all_were_judged(by_trials):
    board = by_trials.leaderboard_
    assert set(board["candidate"]) == set(CHEAP)
    assert board["candidate"][0] == by_trials.best_name_
    assert (board["folds"] == 2).all()
    assert board["average_precision"].between(0.3, 1).all()
    assert set(board.loc[board["chosen"], "candidate"]) == set(by_trials.members_)
    assert by_trials.beats_chance_
    assert set(by_trials.fitted_on_.values()) == {600}


def test_the_same_seed_gives_the_same_on_any_number_of_cores(by_trials):
    X, _ = rows(seed=1)
    again = auto(trials=3, n_jobs=2).fit(*rows())
    np.testing.assert_array_equal(again.priority(X), by_trials.priority(X))
    np.testing.assert_array_equal(again.predict_proba(X), by_trials.predict_proba(X))
    assert again.threshold_ == by_trials.threshold_
    kept = ["candidate", "average_precision", "precision_at_k", "chosen"]
    pd.testing.assert_frame_equal(again.leaderboard_[kept], by_trials.leaderboard_[kept])


def test_a_candidate_is_judged_by_rows_that_it_has_not_seen():
    X, y = rows()
    model = auto(trials=1, candidates={"neighbours": GammaKNNClassifier(k=1)}).fit(X, y)
    # Its own rows a nearest neighbour ranks without fault.
    assert average_precision(y, model.priority(X)) == 1
    assert model.leaderboard_["average_precision"][0] < 0.95


def boosters(number, **given):
    settings = {"n_estimators": 20, "early_stopping_rounds": None, "threshold": None}
    return {
        f"depth {d}": SGBAPClassifier(max_depth=d, **settings | given) for d in range(1, number + 1)
    }


def test_of_few_positives_the_nearly_best_of_different_families_are_taken_together():
    candidates = {**boosters(3), "neighbours": GammaKNNClassifier(k=1)}
    model = auto(trials=4, candidates=candidates).fit(*rows())
    near = model.leaderboard_.query("candidate != 'neighbours'")["candidate"][:2]
    assert set(model.members_) == {*near, "neighbours"}
    lone = auto(trials=4, candidates={**candidates, "none": GammaKNNClassifier(k=300)})
    assert "none" not in lone.fit(*rows()).members_, "it is worth far less than the others"


def test_of_many_positives_the_best_is_taken_unless_more_are_clearly_better(monkeypatch):
    X, y = rows(4000)
    assert y.sum() > 300
    monkeypatch.setattr(_choice, "is_clearly_better", lambda *given: False)
    model = auto(trials=4, candidates=boosters(2)).fit(X, y)
    assert list(model.members_) == [model.best_name_]
    monkeypatch.setattr(_choice, "is_clearly_better", lambda *given: True)
    assert len(auto(trials=4, candidates=boosters(2)).fit(X, y).members_) == 2


def test_no_more_are_taken_together_than_there_is_time_to_fit():
    contenders = [SimpleNamespace(needs=lambda n: 2.0) for _ in range(4)]
    known = SimpleNamespace(positive=np.zeros(9, dtype=bool))
    for left, number in ((9.0, 4), (5.0, 2), (1.0, 1)):
        search = SimpleNamespace(
            known=known, time_limit=SimpleNamespace(left=lambda left=left: left)
        )
        assert _choice._in_time(search, contenders) == contenders[:number]


def test_one_without_a_threshold_gets_that_of_the_rows_held_out():
    X, y = rows()
    model = auto(trials=1, candidates=boosters(1)).fit(X, y)
    assert model.members_["depth 1"].threshold_ == 0
    new, labels = rows(seed=1)
    assert model.threshold_ != 0
    np.testing.assert_array_equal(model.predict(new), model.priority(new) >= model.threshold_)
    assert f_beta(labels, model.predict(new)) > 0.6
    assert model.predict_proba(new)[:, 1].mean() == pytest.approx(labels.mean(), abs=0.04)


@pytest.fixture(scope="module")
def of_ranks():
    """Whatever is worth most, the mean of all is taken."""

    def averaged(search):
        choice = _choice.choose(search)
        members = choice.standing
        folds = sorted(members[0].by_fold)
        held = [_choice._mean_rank([search.held(c, f) for c in members]) for f in folds]
        return choice._replace(members=members, held=held)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_classifier, "choose", averaged)
        return auto(trials=3).fit(*rows())


def test_a_mean_of_ranks_keeps_the_contract(of_ranks, tmp_path):
    X, y = rows(seed=1)
    priority = of_ranks.priority(X)
    assert len(of_ranks.members_) == 3
    assert ((priority > 0) & (priority < 1)).all()
    assert np.unique(priority).size > 0.98 * len(X)
    one_by_one = np.concatenate([of_ranks.priority(row[None]) for row in X[:20]])
    np.testing.assert_array_equal(one_by_one, priority[:20])
    probability = of_ranks.predict_proba(X)[:, 1]
    order = np.argsort(priority)
    assert (np.diff(probability[order]) >= 0).all()
    assert probability.mean() == pytest.approx(y.mean(), abs=0.04)
    assert average_precision(y, priority) > 0.6
    assert 0.3 < y[of_ranks.predict(X)].mean() <= 1
    rarefind.save(of_ranks, tmp_path / "model")
    again = rarefind.load(tmp_path / "model")
    np.testing.assert_array_equal(again.priority(X), priority)
    assert [str(r) for r in again.explain(X[:9])] == [str(r) for r in of_ranks.explain(X[:9])]
    pd.testing.assert_frame_equal(again.leaderboard_, of_ranks.leaderboard_)


def test_its_reasons_are_those_of_the_members(of_ranks):
    X, _ = rows(seed=1)
    top = X[np.argsort(-of_ranks.priority(X))[:10]]
    for row, reason in zip(top, of_ranks.explain(top), strict=True):
        assert reason.contributions == {}
        assert reason.base is None
        assert reason.score == of_ranks.priority(row[None])[0]
        features = [condition.feature for condition in reason.because]
        assert len(set(features)) == len(features) > 0
        assert 0 < sum(condition.weight for condition in reason.because) <= 1 + 1e-9
        assert {"x0", "x1"} & set(features)
        assert all(0 <= similar.row < 600 for similar in reason.similar)


def test_no_skill_is_said_to_be_none():
    X, y = rows(300, told=0.0, seed=1)
    with pytest.warns(UserWarning, match="better than chance .average precision"):
        model = auto(trials=2).fit(X, y)
    assert not model.beats_chance_


@pytest.fixture
def in_time():
    """What tells in the past is the other way round in the last third."""
    X, y = rows(900, told=0.0)
    times = np.random.default_rng(5).permutation(900)
    X[:, 1] = 0
    X[:, 0] = np.where(times < 600, 3.0, -3.0) * y + np.random.default_rng(1).normal(size=900)
    return X, y, times


def test_with_times_what_comes_later_judges(in_time):
    X, y, times = in_time
    mixed = auto(trials=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        later = auto(trials=1).fit(X, y, times=times.astype("datetime64[D]"))
    mean = [m.leaderboard_["average_precision"][0] for m in (mixed, later)]
    assert mean[1] < mean[0] - 0.1


def test_a_time_limit_holds_and_says_what_was_left_out(clock):
    X, y = rows(4000)
    clock.tick = 0.001
    start = clock.now
    with pytest.warns(UserWarning, match="not enough to fit all 4000 rows"):
        model = AutoClassifier(time_limit=0.2, random_state=0, n_jobs=1).fit(X, y)
    assert clock.now - start < 0.2
    assert next(iter(model.fitted_on_.values())) < 4000
    new, labels = rows(seed=3)
    assert average_precision(labels, model.priority(new)) > 0.3
    # It was fitted to a sample with more positives; probabilities are those of the rows.
    assert model.predict_proba(new)[:, 1].mean() == pytest.approx(0.1, abs=0.06)


def interrupting(times):
    """A fit that is interrupted when it is called again and again."""
    plain, calls = _search.Search._fit, []

    def fit(self, *args):
        calls.append(args)
        if len(calls) in times:
            raise KeyboardInterrupt
        return plain(self, *args)

    return fit


def test_control_c_ends_the_search_and_a_second_one_all(monkeypatch):
    X, y = rows()
    monkeypatch.setattr(_search.Search, "_fit", interrupting({3}))
    with pytest.warns(UserWarning, match="was fitted to"):
        model = auto(time_limit="5m").fit(X, y)
    assert len(model.leaderboard_) == 1
    assert model.priority(X).shape == (600,)
    monkeypatch.setattr(_search.Search, "_fit", interrupting({1}))
    with pytest.raises(KeyboardInterrupt):
        auto(time_limit="5m").fit(X, y)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"candidates": ["sgbap", "magic"]}, "There is no candidate 'magic': known are sgbap"),
        ({"candidates": {"line": LogisticRegression()}}, "'line' is a LogisticRegression"),
        ({"candidates": []}, "candidates is empty"),
        ({"time_limit": "soon"}, "A time limit is a length"),
        ({"budget": 0}, "A budget is"),
    ],
)
def test_bad_parameters_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        auto(**given).fit(*rows(60))


def test_too_few_positives_are_refused():
    X, _ = rows(60)
    with pytest.raises(ValueError, match="2 positives and 58 negatives"):
        auto().fit(X, np.arange(60) < 2)


def payments(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "amount": rng.gamma(2, 30, n).round(2),
            "country": rng.choice(["FR", "BE", "XX", None], n, p=[0.5, 0.2, 0.2, 0.1]),
            "shop": rng.choice(["web", "desk"], n),
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "h"),
        }
    )
    fraud = (table["country"] == "XX") & (table["amount"] > 60)
    return table.assign(fraud=np.where(fraud, "yes", "no"))


@pytest.mark.parametrize("name", list(CHEAP))
def test_reasons_of_a_table_name_its_columns_values_and_levels(name, tmp_path):
    estimator = auto(trials=1, candidates={name: clone(CHEAP[name])})
    model = TableModel(estimator, target="fraud", time="when").fit(payments(500, 0))
    new = payments(120, 1)
    assert model.estimator_.categorical_features == model.encoder_.level_outputs_
    top = model.rank(new, 10)
    assert (new.loc[top.index, "fraud"] == "yes").mean() >= 0.7
    said = " ".join(top["reason"])
    assert "country = XX" in said
    assert "amount" in said
    for index, reason in zip(top.index, model.explain(new.loc[top.index]), strict=True):
        for condition in reason.because:
            assert condition.feature in ("amount", "country", "shop")
            if condition.op == "=" and condition.feature in ("country", "shop"):
                own = new.loc[index, condition.feature]
                assert condition.value == ("missing" if own is None else own)
    rarefind.save(model, tmp_path / "model")
    again = rarefind.load(tmp_path / "model")
    assert again.rank(new, 10)["reason"].tolist() == top["reason"].tolist()


def test_a_table_gives_the_times_of_its_rows(monkeypatch):
    given = {}
    monkeypatch.setattr(
        AutoClassifier,
        "fit",
        lambda self, X, y, *, groups=None, times=None: (
            given.update(times=times) or MetaAPClassifier(2, 2).fit(X, y)
        ),
    )
    table = payments(200, 0)
    TableModel(AutoClassifier(), target="fraud", time="when").fit(table)
    np.testing.assert_array_equal(
        given["times"], table["when"].to_numpy("datetime64[ns]").view("i8")
    )


def test_on_a_large_table_one_booster_sees_many_rows_first(monkeypatch):
    """What the first seconds give there, were all the time over then."""
    X, y = rows(4000)
    monkeypatch.setattr(_search, "_LARGE", 1)
    monkeypatch.setattr(_search, "_BROAD_FIRST", 500)
    monkeypatch.setattr(_search, "_BROADER", 2)
    monkeypatch.setattr(_search.Search, "_climb", lambda self, steps: None)
    sizes, plain = [], _search.Search._try

    def tried(self, contender, fold, size, threads):
        sizes.append(size)
        return plain(self, contender, fold, size, threads)

    monkeypatch.setattr(_search.Search, "_try", tried)
    with pytest.warns(UserWarning, match="xgboost was fitted to 3200"):
        model = AutoClassifier(time_limit="5m", random_state=0, n_jobs=1).fit(X, y)
    assert sizes == [500, 500, 1000, 2000, 3200]
    assert model.members_["xgboost"].n_rounds_ == 60
    new, labels = rows(seed=3)
    assert average_precision(labels, model.priority(new)) > 0.5
    assert model.predict_proba(new)[:, 1].mean() == pytest.approx(0.1, abs=0.06)
    assert 0 < model.predict(new).sum() < 120


def test_control_c_while_a_hasty_model_is_taken_further_keeps_it(monkeypatch):
    X, y = rows(4000)
    monkeypatch.setattr(_search, "_LARGE", 1)
    monkeypatch.setattr(_search, "_BROAD_FIRST", 500)
    monkeypatch.setattr(_search, "_BROADER", 2)
    monkeypatch.setattr(_search.Search, "_climb", lambda self, steps: None)
    plain, calls = _search.Search._broaden, []

    def broaden(self, contender, end):
        calls.append(contender.name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        plain(self, contender, end)

    monkeypatch.setattr(_search.Search, "_broaden", broaden)
    with pytest.warns(UserWarning, match="xgboost was fitted to 3200"):
        model = AutoClassifier(time_limit="5m", random_state=0, n_jobs=1).fit(X, y)
    assert calls == ["xgboost", "xgboost"]
    assert model.interrupted_


def test_a_hasty_model_gives_way_to_a_thorough_one(monkeypatch):
    X, y = rows(4000)
    monkeypatch.setattr(_search, "_LARGE", 1)
    monkeypatch.setattr(_search, "_BROAD_FIRST", 500)
    model = AutoClassifier(time_limit="5m", candidates=["xgboost"], random_state=0, n_jobs=1).fit(
        X, y
    )
    assert model.fitted_on_ == {"xgboost": 4000}
    assert model.members_["xgboost"].early_stopping_rounds == 50
    assert model.leaderboard_["folds"].iloc[0] > 1


def test_what_would_be_compiled_too_long_is_left_out(monkeypatch):
    X, y = rows()
    monkeypatch.setattr(_contender, "awaits_compiling", lambda package: package == "rarefind.trees")
    names = ["sgbap", "metaap"]
    model = AutoClassifier(time_limit=20, candidates=names, random_state=0, n_jobs=1).fit(X, y)
    assert model.leaderboard_["candidate"].tolist() == ["sgbap"]
    model = AutoClassifier(time_limit="5m", candidates=names, random_state=0, n_jobs=1).fit(X, y)
    assert set(model.leaderboard_["candidate"]) == {"sgbap", "metaap"}
