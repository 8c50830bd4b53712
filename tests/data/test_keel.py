import numpy as np
import pandas as pd
import pytest

from rarefind.data import list_keel, load_keel


def test_the_sets_are_binary_and_complete():
    names = list_keel()
    assert len(names) >= 90
    for name in ("yeast6", "abalone19", "kddcup-land_vs_satan", "poker-8_vs_6"):
        X, y = load_keel(name)
        assert name in names
        assert set(y) == {0, 1}
        assert y.sum() < len(y) / 2
        assert np.isfinite(X.to_numpy()).all()


def test_nominal_columns_are_text_or_one_column_a_level():
    text, y = load_keel("abalone19", numeric=False)
    coded, _ = load_keel("abalone19")
    assert set(text["Sex"]) == {"M", "F", "I"}
    for level in "MFI":
        np.testing.assert_array_equal(coded[f"Sex_{level}"] == 1, text["Sex"] == level)
    pd.testing.assert_series_equal(coded["Length"], text["Length"])
    assert len(text) == len(y) == 4174


def test_missing_values_stay_missing():
    assert load_keel("cleveland-0_vs_4")[0].isna().sum().sum() == 4


def test_an_unknown_name_is_answered_with_a_sentence():
    with pytest.raises(ValueError, match="no KEEL set 'yeast99'; list_keel"):
        load_keel("yeast99")
