"""A desk scores a transaction as the model scores the row of the file it was fitted to."""

import pandas as pd
from desk.features.test_describe_a_file import SCHEMA, write

from rarefind import TableModel, save
from rarefind.data import read_table
from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control
from rarefind.desk.database import SqliteDatabase
from rarefind.desk.features import FeatureState, describe_file
from rarefind.desk.intake import Intake, read_transactions
from rarefind.trees import MetaAPClassifier


def test_scores_are_those_of_the_file_bit_for_bit(tmp_path):
    more = 'ecommerce = "boolean"\nopened = "time"\nlimit = "number"'
    schema = Schema.from_text(SCHEMA.to_text().replace('ecommerce = "boolean"', more))
    opened = pd.date_range("2020-01-01", periods=300, freq="7h").strftime("%Y-%m-%d %H:%M:%S")
    limits = [None if i % 7 == 0 else i % 5 for i in range(300)]
    path = write(tmp_path, opened=opened, limit=limits)
    describe_file(path, schema).to_parquet(tmp_path / "known.parquet")
    table = read_table(tmp_path / "known.parquet")
    fitted = TableModel(
        MetaAPClassifier(random_state=0),
        *("fraud", 1),
        time="time",
        entity="card",
        id="id",
        drop=["reference"],
    ).fit(table)
    save(fitted, tmp_path / "model.rarefind")
    control = Control(
        SqliteDatabase(tmp_path / "desk.db"), schema, tmp_path / "models", ManualClock()
    )
    added = control.models.add(tmp_path / "model.rarefind", "ann")
    assert {"country", "ecommerce", "opened", "limit", "card_mean_1D"} <= set(added.columns)
    control.models.promote(added.digest, "ann")
    model, state = control.in_force().model, FeatureState(schema)
    scores = []
    for transaction in read_transactions(path, Intake(schema)):
        features = dict(zip(state.names, state.describe(transaction).tolist(), strict=True))
        scores.append(model.score(features | transaction.values))
        state.add(transaction)
    assert scores == fitted.predict_proba(table)[:, 1].tolist()
    assert len(set(scores)) > 1
