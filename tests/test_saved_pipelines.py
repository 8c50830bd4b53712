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
    ],
)
def test_scalers_from_outside_are_checked_as_all_the_rest(tmp_path, name, value):
    model = make_pipeline(StandardScaler(), GammaKNNClassifier(k=1)).fit(X, Y)
    setattr(model[0], name, value)
    save_unchecked(model, tmp_path / "m")
    with pytest.raises(ValueError, match="whole model"):
        load(tmp_path / "m")
