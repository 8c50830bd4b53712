import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from unchecked import save_unchecked

from rarefind.neighbors import GammaKNNClassifier
from rarefind.persistence import load, read_manifest, save
from rarefind.trees import MetaAPClassifier

X, Y = make_classification(200, 5, weights=[0.85], random_state=0)
SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler((-1, 2), clip=True),
    RobustScaler(quantile_range=(10, 90)),
    RobustScaler(with_centering=False, with_scaling=False),
    MaxAbsScaler(),
]


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
@pytest.mark.parametrize("rows", [X, X.astype(np.float32)], ids=["64 bits", "32 bits"])
def test_a_pipeline_of_a_scaler_and_ours_scores_bit_for_bit_the_same(tmp_path, scaler, rows):
    model = make_pipeline(scaler, GammaKNNClassifier(k=1)).fit(rows[:150], Y[:150])
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert [name for name, _ in again.steps] == [name for name, _ in model.steps]
    assert str(again) == str(model)
    assert read_manifest(tmp_path / "m")["kind"] == "Pipeline"


def test_names_of_columns_and_several_scalers_are_kept(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make_pipeline(RobustScaler(), MinMaxScaler(), MetaAPClassifier(random_state=0))
    model.set_output(transform="pandas").fit(frame, Y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again[-1].feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (PCA(2), "The step 'pca' of the pipeline is a PCA"),
        (FunctionTransformer(np.sqrt, np.square), "'functiontransformer' .* a FunctionTransformer"),
        (type("Mine", (StandardScaler,), {})(), "The step 'mine' of the pipeline is a Mine"),
        ("passthrough", "The step 'passthrough' of the pipeline is 'passthrough'"),
    ],
    ids=str,
)
def test_another_step_is_refused_by_its_name(tmp_path, step, said):
    model = make_pipeline(step, GammaKNNClassifier(k=1)).fit(np.abs(X), Y)
    with pytest.raises(ValueError, match=said):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_the_last_step_is_ours_and_fitted(tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    with pytest.raises(ValueError, match=r"'logisticregression' .* not a rarefind estimator"):
        save(model, tmp_path / "m")
    with pytest.raises(ValueError, match="This Pipeline is not fitted"):
        save(make_pipeline(StandardScaler(), GammaKNNClassifier()), tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale_", np.zeros(5)),
        ("scale_", np.ones(4)),
        ("scale_", None),
        ("mean_", np.full(5, np.nan)),
        ("mean_", np.zeros((5, 1))),
        ("n_features_in_", 4),
        ("with_mean", "yes"),
        ("extra_", 1),
        ("scale_", np.full(5, 1e-80)),
        ("scale_", np.full(5, 5e-324)),
        ("mean_", np.full(5, 1e155)),
    ],
)
def test_scalers_from_outside_are_checked_as_all_the_rest(tmp_path, name, value):
    model = make_pipeline(StandardScaler(), GammaKNNClassifier(k=1)).fit(X, Y)
    setattr(model[0], name, value)
    save_unchecked(model, tmp_path / "m")
    with pytest.raises(ValueError, match="whole model"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("scalers", "change"),
    [
        ([MinMaxScaler()], lambda a: setattr(a, "scale_", np.full(5, 1e60))),
        ([MinMaxScaler()], lambda a: setattr(a, "min_", np.full(5, 1e71))),
        ([MaxAbsScaler()], lambda a: setattr(a, "scale_", np.full(5, 1e-60))),
        ([RobustScaler()], lambda a: setattr(a, "center_", np.full(5, -1e300))),
        (
            [MaxAbsScaler(), RobustScaler()],
            lambda *both: [setattr(one, "scale_", np.full(5, 1e-40)) for one in both],
        ),
    ],
)
def test_scalers_leave_ordinary_numbers_where_they_can_be_scored(tmp_path, scalers, change):
    """They opened, and the estimator raised when it was given rows of a few units."""
    model = make_pipeline(*scalers, GammaKNNClassifier(k=1)).fit(X, Y)
    change(*model[:-1])
    save_unchecked(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"the scalers move a number of 1e\+12 to .*\)\.$"):
        load(tmp_path / "m")
    with pytest.raises(ValueError, match="the scalers move a number"):
        save(model, tmp_path / "again")


@pytest.mark.parametrize("unit", [1e-45, 1e-12, 1e60])
@pytest.mark.parametrize("scaler", [StandardScaler(), MaxAbsScaler()], ids=str)
def test_columns_in_small_and_large_units_are_saved(tmp_path, scaler, unit):
    rows = unit * np.column_stack([X, np.full(len(X), 7.0)])
    model = make_pipeline(scaler, GammaKNNClassifier(k=1)).fit(rows, Y)
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(
        load(tmp_path / "m").predict_proba(rows), model.predict_proba(rows)
    )


def test_a_clipping_scaler_reaches_no_farther_than_its_range(tmp_path):
    model = make_pipeline(MinMaxScaler(clip=True), GammaKNNClassifier(k=1)).fit(X, Y)
    model[0].scale_ = np.full(5, 1e200)
    save(model, tmp_path / "m")
    assert np.isfinite(load(tmp_path / "m").predict_proba(1e9 * X)).all()
