import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from expected_failures import CHECKED
from imblearn.over_sampling import SMOTE
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from unchecked import save_unchecked

import rarefind
from rarefind._core.saved import saved as registered
from rarefind._core.state import State
from rarefind.data import read_table
from rarefind.metrics import AlertsAtMost, FBeta
from rarefind.neighbors import GammaKNNClassifier
from rarefind.persistence import FORMAT, Unsaved, load, save
from rarefind.trees import MetaAPClassifier

X, Y = make_classification(200, 5, weights=[0.85], random_state=0)
ESTIMATORS = [estimator for estimator, _ in CHECKED] + [
    GammaKNNClassifier(sampler=SMOTE(), random_state=0),
    GammaKNNClassifier(metric=AlertsAtMost(0.1), cv=3, random_state=0),
]

SCORE = """
import sys, numpy as np, rarefind
from pathlib import Path
X = np.load(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    model = rarefind.load(path)
    np.savez(path.with_suffix(".npz"), priority=model.priority(X), label=model.predict(X),
             probability=model.predict_proba(X), reasons=[str(r) for r in model.explain(X[:5])])
"""


@pytest.fixture(scope="module")
def scored_elsewhere(tmp_path_factory):
    """Each estimator fitted, and where another process wrote the scores of the saved one."""
    folder = tmp_path_factory.mktemp("models")
    np.save(folder / "rows.npy", X[150:])
    models = [clone(estimator).fit(X[:150], Y[:150]) for estimator in ESTIMATORS]
    paths = [folder / f"{number}.rarefind" for number in range(len(models))]
    for model, path in zip(models, paths, strict=True):
        save(model, path)
    # One process for all: most of its time goes into its imports.
    subprocess.run([sys.executable, "-c", SCORE, folder / "rows.npy", *paths], check=True)
    return [(model, path.with_suffix(".npz")) for model, path in zip(models, paths, strict=True)]


@pytest.mark.parametrize("number", range(len(ESTIMATORS)), ids=map(str, ESTIMATORS))
def test_another_process_scores_bit_for_bit_the_same(scored_elsewhere, number):
    model, path = scored_elsewhere[number]
    found = np.load(path)
    np.testing.assert_array_equal(found["priority"], model.priority(X[150:]))
    np.testing.assert_array_equal(found["probability"], model.predict_proba(X[150:]))
    np.testing.assert_array_equal(found["label"], model.predict(X[150:]))
    assert found["reasons"].tolist() == [str(r) for r in model.explain(X[150:155])]


def test_labels_names_and_parameters_come_back(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = GammaKNNClassifier(k=1, metric=FBeta(2)).fit(frame, np.where(Y == 1, "fraud", "ok"))
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.get_params() == model.get_params()
    assert again.classes_.tolist() == ["fraud", "ok"]
    assert again.pos_label_ == "fraud"
    assert again.feature_names_in_.tolist() == list("abcde")
    assert again.gamma_ == model.gamma_
    assert str(again.explain(frame[:1])[0]) == str(model.explain(frame[:1])[0])
    refitted = clone(again).fit(frame, Y)
    np.testing.assert_array_equal(
        refitted.priority(frame), clone(model).fit(frame, Y).priority(frame)
    )


def test_more_than_two_classes_come_back(tmp_path):
    labels = np.where(Y == 1, 2, (X[:, 0] > 1).astype(int))
    model = GammaKNNClassifier().fit(X, labels)
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict_proba(X), model.predict_proba(X))


def test_objects_of_others_are_kept_as_text(tmp_path):
    model = GammaKNNClassifier(sampler=SMOTE(), metric=lambda tp, fp, fn, tn: tp - fp)
    save(model.fit(X, Y), tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.sampler == Unsaved("SMOTE()")
    assert "lambda" in again.metric.text
    with pytest.raises(ValueError, match=r"'sampler' parameter.*Unsaved"):
        again.set_params(metric="f1").fit(X, Y)


OLD = Path(__file__).parent / "files" / "0.1.0"
OLD_MODELS = sorted(path.stem for path in OLD.glob("*.rarefind"))
# These multiply matrices, for which NumPy's library adds in another order on another processor.
BY_MATRICES = ("iml", "me2", "mlfp", "projection")


def assert_scores_as_then(name, scores, then):
    if np.issubdtype(then.dtype, np.floating) and any(part in name.lower() for part in BY_MATRICES):
        np.testing.assert_allclose(scores, then, rtol=1e-11, atol=0)
    else:
        np.testing.assert_array_equal(scores, then)


@pytest.fixture(scope="module")
def scored_then():
    return dict(np.load(OLD / "expected.npz"))


@pytest.mark.parametrize("name", OLD_MODELS)
def test_files_of_0_1_0_open_and_score_bit_for_bit_as_then(scored_then, tmp_path, name):
    model = load(OLD / f"{name}.rarefind")
    rows = read_table(OLD / "table.csv") if name.startswith("table-") else scored_then["X"]
    methods = {"priority": "priority", "proba": "predict_proba", "labels": "predict"}
    found = [key for key in methods if f"{name}|{key}" in scored_then]
    assert found
    for key in found:
        scores = getattr(model, methods[key])(rows)
        assert_scores_as_then(name, scores, scored_then[f"{name}|{key}"])
    save(model, tmp_path / "again")
    again = getattr(load(tmp_path / "again"), methods[found[0]])(rows)
    np.testing.assert_array_equal(again, getattr(model, methods[found[0]])(rows))


@pytest.mark.parametrize("name", [name for name in OLD_MODELS if name.startswith("table-")])
def test_estimates_of_0_1_0_are_those_of_then(scored_then, tmp_path, name):
    model = load(OLD / f"{name}.rarefind")
    found, then = model.estimate_.list_value().hits, scored_then[f"{name}|hits"]
    assert found.value == then[0]
    # Of equal rows 0.1.0 took any first, and now it is the earlier: that moves the other two.
    if np.unique(model.estimate_.priority).size == model.estimate_.priority.size:
        assert list(found) == then.tolist()
    save(model, tmp_path / "again")
    assert load(tmp_path / "again").estimate_.list_value().hits == found


def test_every_kind_of_estimator_has_a_file_of_0_1_0():
    newer = {"RandomizedForestClassifier"}
    kinds = {type(estimator).__name__ for estimator in ESTIMATORS} - newer
    assert kinds <= {name.partition("-")[0] for name in OLD_MODELS}


def test_two_classes_cannot_have_one_tag():
    with pytest.raises(TypeError, match="share the tag gamma-knn"):
        registered("gamma-knn", state=State({}))(type("Other", (), {}))
    with pytest.raises(TypeError, match="older states are upgraded"):
        registered("something-new", 2, state=State({}))(type("Other", (), {}))


def test_a_class_of_a_newer_version_is_refused(saved):
    def newer(members):
        members["model.json"] = members["model.json"].replace(b'"version":1', b'"version":99', 1)

    with pytest.raises(ValueError, match=r"gamma-knn of version 99.*Upgrade rarefind"):
        load(rewritten(saved, newer))


def test_only_modules_of_the_library_are_imported(saved):
    def foreign(members):
        manifest = json.loads(members["manifest.json"])
        manifest["modules"] = [
            "rarefind.cli",
            "antigravity",
            "rarefind.neighbors.._gamma",
            "rarefind",
        ]
        members["manifest.json"] = json.dumps(manifest)

    code = (
        f"import sys, rarefind; rarefind.load({str(rewritten(saved, foreign))!r}); "
        "print([m for m in ('rarefind.cli', 'antigravity') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.rarefind"
    save(GammaKNNClassifier().fit(X, Y), path)
    return path


def test_the_file_says_what_it_was_made_with(saved):
    body = saved.read_bytes()[9 + 32 :]
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(body)).read("manifest.json"))
    assert manifest["format"] == FORMAT
    assert manifest["kind"] == "GammaKNNClassifier"
    assert manifest["versions"]["rarefind"] == rarefind.__version__
    assert {"python", "numpy", "scikit-learn"} < set(manifest["versions"])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_truncated_file_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match=r"not a rarefind model file|damaged"):
        load(saved)


@pytest.mark.parametrize("place", [12, 60, 2000, -10])
def test_a_changed_file_is_refused(saved, place):
    content = bytearray(saved.read_bytes())
    content[place] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        load(saved)


def rewritten(saved, change):
    """The file with another tree or manifest, and a checksum that fits."""
    archive = zipfile.ZipFile(io.BytesIO(saved.read_bytes()[9 + 32 :]))
    members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name, content in members.items():
            out.writestr(name, content)
    body = packed.getvalue()
    saved.write_bytes(b"rarefind\n" + hashlib.sha256(body).digest() + body)
    return saved


def test_a_newer_file_is_refused_with_what_to_do(saved):
    def newer(members):
        manifest = json.loads(members["manifest.json"])
        manifest["format"], manifest["versions"]["rarefind"] = FORMAT + 1, "9.9"
        members["manifest.json"] = json.dumps(manifest)

    with pytest.raises(ValueError, match=r"format 3, made with rarefind 9\.9.*Upgrade rarefind"):
        load(rewritten(saved, newer))


@pytest.mark.parametrize(
    "tree",
    [
        {"$": "os.system", "state": {}},
        {"$": "Popen", "state": {"args": "true"}},
        {"$": "gamma-knn"},
        {"$array": 99},
        {"$array": "../../etc/passwd"},
        {"$surprise": 1},
        {"$scalar": []},
        5,
        {"$": "f-beta", "state": {"beta": 2.0}},
        {"$": "gamma-knn", "state": {}},
    ],
    ids=str,
)
def test_only_whole_models_of_ours_are_made(saved, tree):
    def other(members):
        members["model.json"] = json.dumps(tree)

    with pytest.raises(
        ValueError, match=r"not part of a rarefind|whole model|unknown kind|not hold a fitted"
    ):
        load(rewritten(saved, other))


@pytest.mark.parametrize(
    ("part", "column", "value"),
    [
        ("conditions", "feature", 99),
        ("conditions", "left", 0),
        ("conditions", "right", 10**6),
        ("conditions", "left", -(10**6)),
        ("conditions", "set_number", 7),
        ("nodes", "root", 10**6),
        ("nodes", "first", 0),
        ("nodes", "second", 10**6),
    ],
)
def test_trees_that_lead_nowhere_are_refused(tmp_path, part, column, value):
    model = MetaAPClassifier(2, 2, prune=False, random_state=0).fit(X, Y)
    getattr(getattr(model.tree_, part), column)[0] = value
    save_unchecked(model, tmp_path / "m")
    with pytest.raises(ValueError, match="whole model"):
        load(tmp_path / "m")


def test_foreign_and_missing_files_are_refused(tmp_path):
    (tmp_path / "other").write_text("hello")
    with pytest.raises(ValueError, match="other is not a rarefind model file"):
        load(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def test_only_fitted_models_of_ours_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted: fit it before"):
        save(GammaKNNClassifier(), tmp_path / "m")
    with pytest.raises(ValueError, match="LogisticRegression is not a rarefind model"):
        save(LogisticRegression().fit(X, Y), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def huge_array(members):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    members["0.npy"] = header.getvalue()


def pickled_array(members):
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    members["0.npy"] = buffer.getvalue()


def cut_array(members):
    members["0.npy"] = members["0.npy"][:-8]


def no_format(members):
    members["manifest.json"] = json.dumps({"format": -1})


def no_json(members):
    members["model.json"] = "{"


def nested(members):
    members["model.json"] = "[" * 100_000


@pytest.mark.parametrize(
    "change", [huge_array, pickled_array, cut_array, no_format, no_json, nested]
)
def test_files_made_to_do_harm_are_refused(saved, change):
    with pytest.raises(ValueError, match=r"model\.rarefind"):
        load(rewritten(saved, change))


def test_compressed_parts_are_refused(saved):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("manifest.json", b"0" * 10_000_000)
    body = packed.getvalue()
    saved.write_bytes(b"rarefind\n" + hashlib.sha256(body).digest() + body)
    with pytest.raises(ValueError, match="compressed parts"):
        load(saved)


def test_what_was_learned_is_kept_whole_or_not_at_all(tmp_path):
    model = GammaKNNClassifier().fit(X, Y)
    model.surprise_ = object()
    with pytest.raises(ValueError, match=r"'surprise_', which does not belong there"):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [["auto"] * 2000, "x\ny" * 900])
def test_a_file_with_a_long_value_is_refused_in_one_short_line(saved, value):
    def long(members):
        tree = json.loads(members["model.json"])
        tree["state"]["k"] = value
        members["model.json"] = json.dumps(tree)

    with pytest.raises(ValueError, match=r"does not hold a whole model .* … .*\.$") as raised:
        load(rewritten(saved, long))
    assert len(str(raised.value)) < 700
    assert "\n" not in str(raised.value)
