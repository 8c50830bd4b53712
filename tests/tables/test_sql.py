"""A table model as SQL: its query gives the priorities of Python to the last bit."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from databases import DIALECTS, query, scores
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import rarefind
from rarefind import TableModel
from rarefind.conditions import ConditionClassifier
from rarefind.data import TableEncoder, read_table
from rarefind.neighbors import GammaKNNClassifier
from rarefind.tables._sql import encoded_columns
from rarefind.trees import MetaAPClassifier, TreeRankClassifier

#: More examples, and other ones each time, by RAREFIND_FUZZ=500 or make fuzz-sql.
FUZZ = int(os.environ.get("RAREFIND_FUZZ", 0))
FILES = Path(__file__).parents[1] / "files" / "0.1.0"
LEVELS = ["Île-de-France", "Bretagne", "it's", 'a"b', "a`b", "x'; DROP TABLE rows; --", "\\", "%s"]
SPACES = [" ", "\t", "\u00a0", "\u202f", "\n"]


def mixed_table(n, seed):
    """Columns of every kind, of which the label depends on all."""
    rng = np.random.default_rng(seed)
    amount = np.round(rng.lognormal(3, 1, n), 2)
    region = rng.choice(LEVELS, n)
    post_code = np.array([f"c{i:03d}" for i in rng.zipf(1.3, n) % 80])
    online = rng.random(n) < 0.4
    day = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 90 * 86400, n), unit="s")
    ratio = rng.normal(size=n).astype(np.float32).astype(float)
    claim = np.round(rng.gamma(2, 50, n), 2)
    score = (
        np.log(amount)
        + 1.5 * np.isin(region, LEVELS[2:5])
        + online
        + (day.hour < 5)
        + ratio
        + (post_code < "c005")
        + claim / 100
        + (day.month == 2)
    )
    table = pd.DataFrame(
        {
            'Montant "€"': np.where(rng.random(n) < 0.05, np.nan, amount),
            "Région": np.where(rng.random(n) < 0.05, None, region),
            "code": post_code,
            "online": pd.array(online, dtype="boolean"),
            "day": day,
            "ratio; --": ratio,
            "claim": [f"{value:.2f}".replace(".", ",") for value in claim],
            "paid": np.where(rng.random(n) < 0.5, "yes", "no"),
            "n": rng.integers(0, 5, n),
            "fraud": score + rng.normal(size=n) > np.quantile(score, 0.93),
        }
    )
    table.loc[rng.random(n) < 0.05, ["day", "online"]] = None
    return table


ESTIMATORS = {
    "MetaAP": MetaAPClassifier(random_state=0),
    "MetaAP of leaves": MetaAPClassifier(random_state=0, ties="leaf"),
    "MetaAP of one-hot": MetaAPClassifier(random_state=0, categorical_features=[]),
    "TreeRank": TreeRankClassifier(random_state=0),
    "conditions": ConditionClassifier(max_conditions=30, tolerance=0, random_state=0),
}
MODELS = {}


def model_of(name):
    if name not in MODELS:
        model = TableModel(ESTIMATORS[name], target="fraud")
        MODELS[name] = model.fit(mixed_table(900, 0))
    return MODELS[name]


def odd_rows(model, seed):
    """Rows with unknown levels, words for missing values, spaces, and values on thresholds."""
    rng = np.random.default_rng(seed)
    rows = mixed_table(60, seed + 1).drop(columns="fraud")
    rows["Région"] = [
        rng.choice([level, "Mars", "NA", "", "  ", None, f"{space}{level}{space}", level.upper()])
        for level, space in zip(rng.choice(LEVELS, 60), rng.choice(SPACES, 60), strict=True)
    ]
    words = ["12,5", " 100,00", "1e2", "-3", "+4,25", ".5", "7.", "one", "?", "1.234", None, "0"]
    rows["claim"] = rng.choice(np.array(words, dtype=object), 60)
    rows["paid"] = rng.choice(np.array(["YES", " no", "maybe", None, "No"], dtype=object), 60)
    rows["day"] = rows["day"] + pd.to_timedelta(rng.integers(0, 10**6, 60), unit="us")
    amount = 'Montant "€"'
    for column in (amount, "ratio; --"):
        known = thresholds(model, column)
        if known:
            at = rng.choice(known, 60)
            beside = rng.choice([-np.inf, np.inf], 60)
            some = rng.integers(0, 4, 60)
            single = at.astype(np.float32)
            rows[column] = np.select(
                [some == 0, some == 1, some == 2],
                [at, np.nextafter(at, beside), single.astype(float)],
                np.nextafter(single, beside.astype(np.float32)).astype(float),
            )
    return rows


def thresholds(model, column):
    names = list(model.encoder_.get_feature_names_out())
    estimator = model.estimator_
    if hasattr(estimator, "tree_"):
        conditions = estimator.tree_.conditions
        mine = conditions.feature == names.index(column)
        return conditions.threshold[mine & np.isfinite(conditions.threshold)].tolist()
    bounds = [
        bound
        for branch in estimator.condition_branches().branches
        for j, test in branch.items()
        for bound in (test.low, test.high)
        if j == names.index(column) and np.isfinite(bound)
    ]
    return bounds


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_the_query_gives_the_priorities_of_a_mixed_table(name, dialect):
    model = model_of(name)
    rows = odd_rows(model, 0)
    found = scores(dialect, model.to_sql(dialect), rows)
    assert np.array_equal(found, model.priority(rows))
    assert len(set(found)) > 4


@settings(max_examples=FUZZ or 24, deadline=None, derandomize=not FUZZ)
@given(st.sampled_from(list(ESTIMATORS)), st.sampled_from(DIALECTS), st.integers(1, 10**6))
def test_the_query_gives_the_priorities_of_any_rows(name, dialect, seed):
    model = model_of(name)
    rows = odd_rows(model, seed)
    assert np.array_equal(scores(dialect, model.to_sql(dialect), rows), model.priority(rows))


ENCODERS = {
    "codes": TableEncoder(levels="code"),
    "one-hot": TableEncoder(max_levels=6),
    "scaled": TableEncoder(missing="fill", scale=True, max_levels=6),
}


@settings(max_examples=FUZZ or 20, deadline=None, derandomize=not FUZZ)
@given(st.sampled_from(sorted(ENCODERS)), st.sampled_from(DIALECTS), st.integers(1, 10**6))
def test_every_column_is_read_as_the_encoder_reads_it(name, dialect, seed):
    encoder = clone(ENCODERS[name]).fit(mixed_table(300, 1).drop(columns="fraud"))
    rows = odd_rows(model_of("MetaAP"), seed)
    columns = encoded_columns(encoder, dialect)
    expected = encoder.transform(rows)
    wrong = []
    for j in range(len(columns.names)):
        text = columns.read(j)
        found = scores(dialect, f"SELECT t.*, {text} AS priority FROM rows AS t", rows)
        if j in columns.levels:
            known = columns.levels[j]
            place = {level: float(code) for code, level in enumerate(known)}
            found = [None if level is None else place.get(level, len(known)) for level in found]
        found = [np.nan if value is None else value for value in found]
        if not np.array_equal(found, expected[:, j], equal_nan=True):
            wrong.append(columns.names[j])
    assert wrong == []


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_times_are_read_by_the_clock_of_the_fit(dialect):
    table = mixed_table(600, 2)[["day", "n", "fraud"]].dropna()
    table["day"] = table["day"].dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")
    model = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(table)
    assert "Europe/Paris" in model.to_sql(dialect)
    assert np.array_equal(scores(dialect, model.to_sql(dialect), table), model.priority(table))
    with pytest.raises(ValueError, match="'day' is read by the clock of Europe/Paris, and SQLite"):
        model.to_sql("sqlite")


def test_local_times_of_a_column_that_has_a_zone_in_the_database_end_the_query():
    table = mixed_table(600, 2)[["day", "n", "fraud"]].dropna()
    model = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(table)
    table["day"] = table["day"].dt.tz_localize("UTC")
    for dialect in ("duckdb", "postgresql"):
        with pytest.raises(Exception, match="has a time zone"):
            scores(dialect, model.to_sql(dialect), table)


def test_dates_that_are_texts_in_another_form_end_the_query_in_sqlite():
    table = mixed_table(600, 2)[["day", "n", "fraud"]].dropna()
    model = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(table)
    french = table.assign(day=table["day"].dt.strftime("%d/%m/%Y"))
    with pytest.raises(Exception, match="malformed JSON"):
        scores("sqlite", model.to_sql("sqlite"), french)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dates_that_were_texts_at_the_fit_are_read_too(dialect):
    table = mixed_table(600, 2)[["day", "n", "fraud"]].dropna()
    table["day"] = table["day"].astype(str)
    model = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(table)
    rows = table.assign(day=np.where(table["n"] == 1, " 2026-02-31 ", table["day"]))
    rows.loc[rows["n"] == 2, "day"] = "soon"
    rows.loc[rows["n"] == 3, "day"] = rows.loc[rows["n"] == 3, "day"].str[:10]
    assert np.array_equal(scores(dialect, model.to_sql(dialect), rows), model.priority(rows))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", ["1 234,50", "1.234,50", "(12,5)", "1-2"])
def test_numbers_that_only_the_model_can_read_end_the_query(dialect, text):
    encoder = TableEncoder().fit(mixed_table(100, 1)[["claim"]])
    read = encoded_columns(encoder, dialect).read(0)
    rows = pd.DataFrame({"claim": ["1,50", text]})
    with pytest.raises(Exception, match=r"is not a number that a query can read|malformed JSON"):
        scores(dialect, f"SELECT t.*, {read} AS priority FROM rows AS t", rows)


def test_the_query_speaks_of_the_columns_and_levels_of_the_table():
    sql = model_of("MetaAP of leaves").to_sql("postgresql", table="office.payments")
    assert 't."Région"' in sql
    assert "'it''s'" in sql
    assert 'FROM "office"."payments" AS t' in sql


def test_the_query_of_the_estimator_alone_is_refused_where_it_would_lie(tmp_path):
    model = model_of("MetaAP of leaves")
    rarefind.save(model, tmp_path / "model.rarefind")
    for estimator in (
        model.estimator_,
        model_of("conditions").estimator_,
        rarefind.load(tmp_path / "model.rarefind").estimator_,
    ):
        with pytest.raises(ValueError, match=r"write its query by TableModel\.to_sql"):
            estimator.to_sql("sqlite")
    numbers = mixed_table(300, 0)[["ratio; --", "n", "fraud"]]
    plain = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(numbers)
    found = scores("sqlite", plain.estimator_.to_sql("sqlite"), numbers)
    assert np.array_equal(found, plain.priority(numbers))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "estimator", [MetaAPClassifier(random_state=0), ConditionClassifier(random_state=0)]
)
def test_nan_in_a_table_is_a_missing_value(estimator, dialect):
    table = mixed_table(500, 3)
    X = table[["ratio; --", "n"]].astype(float)
    X.iloc[::7, 0] = np.nan
    model = clone(estimator).fit(X, table["fraud"])
    arrow = pa.table({name: X[name].to_numpy() for name in X})  # NaN stays NaN
    arrow = arrow.append_column("rarefind_row", pa.array(range(len(X)), pa.int64()))
    sql = f"SELECT priority FROM ({model.to_sql(dialect)}) AS q ORDER BY rarefind_row"
    found = [priority for (priority,) in query(dialect, sql, arrow)]
    assert np.array_equal(found, model.priority(X))


@pytest.mark.parametrize("name", ["table-metaap", "table-conditions"])
def test_models_of_the_first_version_are_written_too(name):
    model = rarefind.load(FILES / f"{name}.rarefind")
    rows = read_table(FILES / "table.csv")
    with pytest.raises(ValueError, match=r"write its query by TableModel\.to_sql"):
        model.estimator_.to_sql()
    for dialect in DIALECTS:
        assert np.array_equal(scores(dialect, model.to_sql(dialect), rows), model.priority(rows))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "estimator", [MetaAPClassifier(random_state=0), ConditionClassifier(random_state=0)]
)
def test_estimators_that_were_fitted_on_categories_name_their_levels(estimator, dialect):
    table = mixed_table(500, 3)
    X = table[["Région", "ratio; --"]].assign(Région=table["Région"].astype("category"))
    model = clone(estimator).fit(X, table["fraud"])
    rows = X.assign(Région=np.where(table["n"] == 1, "Mars", table["Région"]))
    expected = model.priority(rows.assign(Région=rows["Région"].astype("category")))
    assert np.array_equal(scores(dialect, model.to_sql(dialect), rows), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": "oracle"}, "There is no dialect 'oracle'"),
        ({"output": "code"}, "The table has a column 'code' already"),
        ({"table": "a..b"}, r"'a\.\.b' is not a table"),
        ({"dialect": "ansi"}, "'(day|claim)' ha"),
        ({"dialect": "mysql"}, "'day' has dates, which are written differently"),
    ],
)
def test_what_cannot_be_written_is_told(options, message):
    with pytest.raises(ValueError, match=message):
        model_of("MetaAP").to_sql(**options)


def test_models_that_are_no_trees_and_no_conditions_have_no_query():
    table = mixed_table(300, 0)
    model = TableModel(GammaKNNClassifier(k=1), target="fraud").fit(table)
    with pytest.raises(ValueError, match="GammaKNNClassifier cannot be written as SQL"):
        model.to_sql()
