"""Made-up payments in a file."""

import json

import pandas as pd

from rarefind.data import simulate_transactions

SMALL = ("--customers", "100", "--days", "20")


def test_the_file_holds_what_the_library_makes(rarefind, tmp_path):
    result = rarefind("simulate", *SMALL, "--seed", "3", "--json", "-o", tmp_path / "p.parquet")
    assert result.returncode == 0, result.stderr
    (found,), table = json.loads(result.stdout), pd.read_parquet(tmp_path / "p.parquet")
    expected = simulate_transactions(100, 200, 20, random_state=3).drop(columns="fraud_kind")
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    assert found["rows"] == len(expected)
    assert found["positives"] == expected["fraud"].sum()


def test_features_are_added(installed, tmp_path):
    result = installed("simulate", *SMALL, "--features", "-o", tmp_path / "p.csv")
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(tmp_path / "p.csv")
    assert {"customer", "fraud", "amount", "customer_mean_7D", "terminal_mean_1D"} <= set(table)
    assert table.columns.is_unique


def test_the_last_days_go_to_a_file_of_their_own(rarefind, tmp_path):
    result = rarefind(
        *("simulate", *SMALL, "--ahead", "week.csv", "--ahead-days", "5", "-o", "before.csv"),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    before, week = (pd.read_csv(tmp_path / name) for name in ("before.csv", "week.csv"))
    whole = simulate_transactions(100, 200, 20, random_state=0)
    assert (
        before["transaction_id"].tolist() + week["transaction_id"].tolist()
        == whole["transaction_id"].tolist()
    )
    assert week["time"].str[:10].nunique() == 5


def test_a_rate_and_details_are_asked_for(rarefind, tmp_path):
    file = tmp_path / "payments.parquet"
    result = rarefind("simulate", "-o", file, "--customers", "1000", "--rate", "1:400", "--details")
    assert result.returncode == 0, result.stderr
    table = pd.read_parquet(file)
    assert 300 < 1 / table["fraud"].mean() < 500
    assert {"country", "outcome", "claimed_at"} <= set(table)


def test_a_rate_is_written_as_one_to_many(rarefind, tmp_path):
    found = rarefind("simulate", "-o", tmp_path / "x.csv", "--rate", "700")
    assert found.returncode == 2
    assert "--rate 700 is not a rate such as 1:700." in found.stderr
