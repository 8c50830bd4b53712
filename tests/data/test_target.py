"""Rows without labels, and labels that are written in several ways."""

import warnings

import pandas as pd
import pytest

from rarefind.data.target import labelled_rows


def test_rows_without_a_label_are_left_out_with_a_count():
    table = pd.DataFrame({"a": [1, 2, 3, 4], "y": [1.0, None, 0.0, None]})
    with pytest.warns(UserWarning, match="2 of 4 rows have no label in 'y' and are left out"):
        kept = labelled_rows(table, "y")
    assert kept.index.tolist() == [0, 2], "rows keep their place in the file"
    assert kept["y"].tolist() == [1, 0]
    assert kept["y"].dtype == "int64"
    with pytest.raises(ValueError, match="has no label in 2 of 4 rows: fill them in, or leave"):
        labelled_rows(table, "y", drop=False)


def test_labels_that_differ_in_case_are_one():
    table = pd.DataFrame({"y": ["Oui", "OUI", "Non", "Oui", "non ", "Non"]})
    with pytest.warns(UserWarning, match="read as one: 'OUI' as 'Oui', 'non ' as 'Non'"):
        kept = labelled_rows(table, "y")
    assert kept["y"].tolist() == ["Oui", "Oui", "Non", "Oui", "Non", "Non"]


@pytest.mark.parametrize("labels", [["a", "b", "a"], [0, 1, 0], [True, False, True]])
def test_other_labels_stay(labels):
    table = pd.DataFrame({"y": labels})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labelled_rows(table, "y") is table
