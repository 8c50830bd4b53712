"""Lists of tables in pieces, and of files, beside the list of the whole table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rarefind
from rarefind import TableModel
from rarefind.boosting import SGBAPClassifier
from rarefind.data import read_table
from rarefind.metrics import budget as checks_bought
from rarefind.tables import rank_file
from rarefind.trees import MetaAPClassifier


def payments(n=240, seed=0):
    """Many ties, holes in what is known of the owner, four days."""
    rng = np.random.default_rng(seed)
    fraud = np.arange(n) % 8 == 0
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 4 * 24, n), "h")
    card = pd.Series(rng.integers(0, 25, n)).map("card {}".format).astype(object)
    card[rng.random(n) < 0.2] = None
    table = pd.DataFrame(
        {
            "id": [f"T{i:04d}" for i in range(n)],
            "when": when,
            "card": card,
            "amount": np.where(fraud, rng.integers(3, 7, n), rng.integers(0, 5, n)) * 10.0,
            "visits": rng.integers(0, 4, n),
            "country": rng.choice(["FR", "BE", "XX"], n).astype(object),
            "member": rng.random(n) < 0.5,
            "opened": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "verdict": np.where(fraud, "fraud", "fine"),
        }
    )
    table.loc[rng.choice(n, n // 12, replace=False), "amount"] = np.nan
    table.loc[rng.choice(n, n // 12, replace=False), "country"] = None
    return table


@pytest.fixture(scope="module")
def model():
    """A small tree without bands: most rows are tied with others."""
    tree = MetaAPClassifier(1, 2, ties="leaf", prune=False, smoothing=1, threshold=None)
    roles = {"time": "when", "entity": "card", "amount": "amount", "id": "id"}
    return TableModel(tree, "verdict", **roles).fit(payments())


@pytest.fixture(scope="module")
def booster():
    trees = SGBAPClassifier(n_estimators=5, early_stopping_rounds=None, threshold=None)
    roles = {"time": "when", "entity": "card", "amount": "amount", "id": "id"}
    return TableModel(trees, "verdict", **roles).fit(payments())


BUDGETS = st.sampled_from([1, 3, 20, 1000, "2%", 0.1, "60%"])
ONE_PER = st.sampled_from([None, True, "country", "visits"])
CUTS = st.lists(st.integers(0, 60), max_size=6)


def naive_list(model, table, budget, per, one_per):
    """The definition: a loop over the sorted rows."""
    day = pd.Series("", index=table.index)
    if per == "day":
        day = table["when"].dt.strftime("%Y-%m-%d")
    elif per == "quarter":
        day = table["when"].dt.year.astype(str) + "Q" + table["when"].dt.quarter.astype(str)
    elif per:  # a column; what is missing comes last
        day = table[per].map("a{}".format, na_action="ignore").fillna("b")
    name = model.entity if one_per is True else one_per
    chosen = []
    for today in sorted(day.unique()):
        rows = np.flatnonzero(day == today)
        order = rows[np.argsort(-model.priority(table)[rows], kind="stable")]
        seen, listed = set(), []
        for row in order:
            owner = table[name].iloc[row] if name else None
            if pd.notna(owner) and owner in seen:
                continue
            seen.add(owner)
            listed.append(row)
        chosen += listed[: int(checks_bought(budget, rows.size))]
    return table.index[chosen].tolist()


@given(
    CUTS,
    BUDGETS,
    st.sampled_from([None, "day", "quarter", "country", "visits"]),
    ONE_PER,
    st.integers(0, 3),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_pieces_give_the_list_of_the_whole(model, cuts, budget, per, one_per, seed, counted):
    table = payments(60, seed)
    whole = model.rank(table, budget, per=per, one_per=one_per, reasons=False)
    assert whole.index.tolist() == naive_list(model, table, budget, per, one_per)
    pieces = [table[a:b] for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True)]
    found = model.rank_chunks(
        pieces, budget, rows=60 if counted else None, per=per, one_per=one_per, reasons=False
    )
    pd.testing.assert_frame_equal(found, whole, check_exact=True)


def test_reasons_and_frames_of_all_kinds(model):
    table = payments(60, seed=1)
    whole = model.rank(table, 10, per="day")
    pieces = [table[:20], table[20:33], table[33:]]
    pd.testing.assert_frame_equal(model.rank_chunks(iter(pieces), 10, per="day"), whole)
    for kind in (pl.from_pandas, pa.Table.from_pandas):
        found = model.rank_chunks(lambda kind=kind: map(kind, pieces), "20%", per="day")
        expected = model.rank(kind(table), "20%", per="day")
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
        assert found["id"].tolist() == table["id"].iloc[found.index].tolist()


def test_rows_that_fell_off_are_let_go(model, monkeypatch):
    monkeypatch.setattr("rarefind.tables._ranking._SPARE_ROWS", 1)
    table = payments(60, seed=1).sort_values("amount", ignore_index=True)
    pieces = [table[i : i + 5] for i in range(0, 60, 5)]
    pd.testing.assert_frame_equal(model.rank_chunks(pieces, 4), model.rank(table, 4))


@pytest.mark.filterwarnings("ignore:Parsing dates")
def test_days_written_as_text_are_read_as_in_one_table(model):
    table = payments(40, seed=1).assign(when=["31/01/2026"] * 20 + ["01/02/2026"] * 20)
    whole = model.rank(table, 2, per="day", reasons=False)
    assert sorted(set(whole["day"])) == ["2026-01-31", "2026-02-01"]
    found = model.rank_chunks([table[:20], table[20:]], 2, per="day", reasons=False)
    pd.testing.assert_frame_equal(found, whole)


def test_a_share_needs_the_number_of_rows(model):
    table = payments(60)
    with pytest.raises(ValueError, match=r"share of rows that are not counted .* or rows=\."):
        model.rank_chunks(iter([table]), "5%")
    with pytest.raises(ValueError, match=r"function that opens them\)\."):
        model.rank_chunks(iter([table]), "5%", rows=60, per="day")
    assert len(model.rank_chunks(iter([table]), "5%", rows=60)) == 3
    assert len(model.rank_chunks([], 5)) == 0


# Files -----------------------------------------------------------------------------------------


def written(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path, row_group_size=50)
    else:
        pl.from_pandas(table).write_ipc(path)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
@pytest.mark.parametrize(
    ("budget", "asked"),
    [(7, {}), ("5%", {}), ("10%", {"per": "day", "one_per": True}), (5, {"one_per": "country"})],
)
def test_a_file_has_the_list_of_its_table(tmp_path, model, booster, name, budget, asked):
    table = payments(150, seed=3).drop(columns="verdict").assign(unused=1)
    path, done = written(table, tmp_path / name), []
    for each in (model, booster):
        found = rank_file(each, path, budget, chunk_rows=40, on_rows=done.append, **asked)
        expected = each.rank(read_table(path, like=each.types_), budget, **asked)
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert done == [40, 40, 40, 30] * 2


def test_types_of_the_fit_are_those_of_the_file(tmp_path):
    path = tmp_path / "known.csv"
    payments().to_csv(path, index=False)
    tree = MetaAPClassifier(1, 2, ties="leaf", prune=False, smoothing=1, threshold=None)
    model = TableModel(tree, "verdict", id="id", amount="amount").fit(read_table(path))
    rarefind.save(model, tmp_path / "model.rarefind")
    model = rarefind.load(tmp_path / "model.rarefind")
    whole = payments(50, seed=4).fillna({"amount": 10}).astype({"amount": int})
    whole.to_parquet(tmp_path / "new.parquet")
    found = rank_file(model, tmp_path / "new.parquet", 5, chunk_rows=20)
    assert found["amount"].dtype == np.float64
    expected = model.rank(read_table(tmp_path / "new.parquet", like=model.types_), 5)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"amount": "dear"}, "'amount' of .* has 'dear' in row 2, and had numbers when"),
        ({"amount": ["1.5"] * 45 + ["?"] * 4 + ["x"]}, "'amount' .* 'x' in row 51, and had num"),
        ({"country": 17.5}, "'country' of .* has '17.5' in row 2, and had text such as 'BE'"),
        ({"opened": "long ago"}, "'opened' of .* has 'long ago' in row 2, and had dates"),
        ({"member": 3}, "'member' of .* has 3(.0)? in row 2, and had true and false"),
    ],
)
def test_columns_of_another_type_are_named(tmp_path, model, name, changes, message):
    path = written(payments(50).assign(**changes), tmp_path / name)
    with pytest.raises(ValueError, match=message) as found:
        rank_file(model, path, 5, chunk_rows=20)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_files_that_cannot_be_ranked(tmp_path, model, name):
    table = payments(50)
    path = written(table.drop(columns=["amount"]), tmp_path / name)
    with pytest.raises(ValueError, match=r"t\.\w+ has no column 'amount'.*: add it, empty"):
        rank_file(model, path, 5)
    path = written(table.drop(columns="when").rename(columns={"visits": "visit"}), tmp_path / name)
    with pytest.raises(ValueError, match=r"no column 'visits' .did you mean 'visit'"):
        rank_file(model, path, 5)
    path = written(table.drop(columns="when"), tmp_path / name)
    assert "when" not in rank_file(model, path, 5)
    with pytest.raises(ValueError, match="needs the column with the time"):
        rank_file(model, path, "5%", per="day")
    with pytest.raises(ValueError, match="one_per='shop' does not name a column"):
        rank_file(model, path, 5, one_per="shop")
    for asked in ({}, {"one_per": True}):
        with pytest.raises(
            ValueError, match=r"budget of 51 checks is larger than .*, which has 50 rows: give"
        ):
            rank_file(model, path, 51, **asked)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        rank_file(model, tmp_path / "gone.csv", 5)
