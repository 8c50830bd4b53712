"""The models of the demo: fitted to the first weeks, by what was known of them then."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd

from rarefind.data.feature_table import feature_table
from rarefind.desk.demo.world import DAY, SCHEMA, DemoWorld

__all__ = ["FIRST", "SECOND", "fit_model", "training_table"]

FIRST, SECOND = "plain boosting", "boosting for the top"
#: The length of the time that is learnt from.
_LEARNT: Final = 21 * DAY
#: Folds, since somebody waits; rounds, and the share of the plain logistic loss.
_FOLDS: Final = 3
_SETTINGS: Final = {FIRST: (40, 1.0), SECOND: (100, 0.8)}


def training_table(world: DemoWorld, until: int) -> pd.DataFrame:
    """The payments of some weeks up to a time, as the desk would have described them."""
    known = pd.concat([world.before, world.past], ignore_index=True)
    time = known["time"].astype("datetime64[ns]").astype("int64")
    known = known[time <= until]
    known = known.assign(time=known["time"].dt.tz_localize("UTC"))
    features = feature_table(known, SCHEMA.features, label="fraud")
    names = [name for name in known.columns if name not in features and name != "claimed_at"]
    # Of the first payments of all cards hardly anything is known, as of none later.
    return known[names].join(features).loc[time[known.index] > until - _LEARNT]


def fit_model(name: str, table: pd.DataFrame, path: Path) -> None:
    """Fit one of the models, and write its file."""
    from rarefind.boosting import SGBAPClassifier
    from rarefind.persistence import save
    from rarefind.tables import TableModel

    rounds, mix = _SETTINGS[name]
    model = TableModel(
        SGBAPClassifier(n_estimators=rounds, mix=mix, cv=_FOLDS, random_state=0),
        target="fraud",
        positive=1,
        time=SCHEMA.transaction.time,
        entity="card",
        amount=SCHEMA.transaction.amount,
        id=SCHEMA.transaction.id,
        drop=["terminal"],
    )
    save(model.fit(table), path)
