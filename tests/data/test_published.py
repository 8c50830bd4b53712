import gzip
import json

import numpy as np
import pandas as pd
import pytest

from rarefind.data import list_published, load_published


@pytest.fixture
def folder(tmp_path):
    table = pd.DataFrame({"f0": [1.5, 2.5, 3.5, 4.5], "f1": [1, 2, 3, 4], "y": [0, 1, 0, 0]})
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    table.to_parquet(tmp_path / "columns.parquet")
    table.assign(y=["a", "b", "a", "a"]).to_csv(tmp_path / "words.csv", index=False)
    table.drop(columns="y").to_csv(tmp_path / "bare.csv", index=False)
    manifest = [
        {"name": "packed", "file": "packed.csv.gz", "n": 4, "positives": 1, "source": "here"},
        {"name": "columns", "file": "columns.parquet"},
        {"name": "short", "file": "columns.parquet", "n": 5},
        {"name": "other", "file": "columns.parquet", "n": 4, "positives": 2},
        {"name": "words", "file": "words.csv"},
        {"name": "bare", "file": "bare.csv"},
        {"name": "gone", "file": "gone.csv"},
        {"name": "outside", "file": "../columns.parquet"},
    ]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def test_the_manifest_names_the_sets(folder):
    names = list_published(folder)
    assert names == sorted(names)
    assert {"packed", "columns"} < set(names)


@pytest.mark.parametrize("name", ["packed", "columns"])
def test_a_set_is_a_table_and_its_labels(folder, name):
    found = load_published(name, str(folder))
    X, y = found
    assert found.X is X
    assert X.columns.tolist() == ["f0", "f1"]
    np.testing.assert_array_equal(X, [[1.5, 1], [2.5, 2], [3.5, 3], [4.5, 4]])
    assert y.tolist() == [0, 1, 0, 0]
    assert y.name == "y"
    assert y.dtype == "int64"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pakced", "no set 'pakced' among the 8 in .*: did you mean 'packed'"),
        ("zzz", "no set 'zzz' among the 8 in .*: see list_published"),
        ("short", "has 4 rows where the manifest says 5: fetch the file again"),
        ("other", "has 1 positives where the manifest says 2"),
        ("words", "needs a column 'y' of labels 0 and 1"),
        ("bare", "needs a column 'y' of labels 0 and 1"),
        ("outside", "names '../columns.parquet', a file elsewhere"),
    ],
)
def test_mistakes_get_a_sentence(folder, name, message):
    with pytest.raises(ValueError, match=message):
        load_published(name, folder)


def test_files_that_are_not_there_are_named(folder, tmp_path_factory):
    with pytest.raises(FileNotFoundError, match=r"no file .*gone\.csv"):
        load_published("gone", folder)
    with pytest.raises(FileNotFoundError, match=r"no .*manifest\.json: name the folder"):
        list_published(tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize("text", ["{", '{"name": "a"}', '[{"name": "a"}]', "[1]"])
def test_a_damaged_manifest_is_refused(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match="is not a list of sets with a name and a file each"):
        list_published(tmp_path)
