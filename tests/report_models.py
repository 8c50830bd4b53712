"""Small models, files and stand-ins that the tests of the report share."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from rarefind.boosting import SGBAPClassifier
from rarefind.conditions import ConditionClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.tables import BudgetEstimate, TableModel
from rarefind.trees import MetaAPClassifier

COLUMN = "<script>alert('column')</script>"
LEVEL = "<img src=x onerror=alert('level')>"
NAME = "</script><script>alert('id')</script>"

ESTIMATORS = {
    "metaap": MetaAPClassifier(inner_depth=2, outer_depth=2, random_state=0),
    "sgbap": SGBAPClassifier(n_estimators=20, random_state=0),
    "conditions": ConditionClassifier(random_state=0, max_conditions=5),
    "gamma-knn": GammaKNNClassifier(random_state=0),
}


def payments(rows=1200, seed=0, days=60):
    """Payments with strangers' names in them; large ones by LEVEL are rather fraud."""
    rng = np.random.default_rng(seed)
    amount = np.round(rng.gamma(2, 30, rows), 2)
    country = rng.choice(["FR", "BE", LEVEL], rows, p=[0.6, 0.3, 0.1])
    risk = amount / 60 + 2 * (country == LEVEL)
    fraud = risk + rng.normal(0, 0.5, rows) > np.quantile(risk, 0.95)
    table = pd.DataFrame(
        {
            "name": [f"{NAME} {i}" for i in range(rows)],
            "when": pd.Timestamp("2026-01-05")
            + pd.to_timedelta(np.arange(rows) * days / rows, "D"),
            "customer": rng.integers(0, 200, rows),
            "amount": amount,
            COLUMN: rng.normal(size=rows) + fraud,
            "country": country,
            "same": "x",
            "secret": rng.normal(size=rows),
            "fraud": np.where(fraud, "bad", "good"),
        }
    )
    table.loc[::20, COLUMN] = np.nan
    return table


def write_files(folder):
    """Files to fit and to report on, good and bad."""
    payments().to_csv(folder / "train.csv", index=False)
    later = payments(900, seed=1).assign(name=[f"{NAME} new {i}" for i in range(900)])
    later["when"] += pd.Timedelta("90D")
    later.to_csv(folder / "later.csv", index=False)
    later.drop(columns="fraud").to_csv(folder / "unlabelled.csv", index=False)
    partly = later.assign(fraud=later["fraud"].where(np.arange(900) % 3 > 0))
    partly.to_csv(folder / "partly.csv", index=False)
    later.drop(columns="amount").to_csv(folder / "without.csv", index=False)
    later.assign(fraud="maybe").to_csv(folder / "maybe.csv", index=False)
    later.assign(when="soon").to_csv(folder / "soon.csv", index=False)
    (folder / "text.rarefind").write_text("not a model")


def fitted(name, table):
    roles = {"time": "when", "entity": "customer", "amount": "amount", "id": "name"}
    model = TableModel(ESTIMATORS[name], "fraud", "bad", **roles, drop=["secret"], keep_ids=True)
    return model.fit(table)


def estimate_of(model, table, **changes):
    """An estimate in one piece, as of a period that was held out."""
    found = BudgetEstimate(
        how="The last days were held out <b>in time</b>.",
        positive=(table["fraud"] == "bad").to_numpy(),
        priority=model.priority(table),
        probability=model.predict_proba(table)[:, 0],
        fold=np.zeros(len(table), dtype=int),
        plain=table["amount"].to_numpy(),
        rows=len(table),
        budget=40,
        per=None,
        amount=table["amount"].to_numpy(),
        time=table["when"].astype("datetime64[ns]").astype("int64").to_numpy(),
    )
    return replace(found, **changes)


class StandInReference:
    """Counts rows, and says so of two columns."""

    columns = ()

    def __init__(self):
        self.rows = 0

    def counter(self):
        return StandInReference()

    def update(self, chunk):
        self.rows += len(chunk)
        return self

    def add(self, other):
        self.rows += other.rows

    def table(self):
        return pd.DataFrame(
            {
                "column": ["amount", COLUMN],
                "drift": [0.02, 0.4],
                "missing_before": [0.0, 0.05],
                "missing_now": [0.0, np.nan],
                "new_levels": [np.nan, np.nan],
                "text": [f"{self.rows} rows", "much has changed"],
                "verdict": ["stable", "changed"],
            }
        )


class Page(HTMLParser):
    """What is on a page: numbers by key, tags, all text."""

    def __init__(self, text):
        super().__init__()
        self.numbers, self.tags, self.text = [], [], ""
        self._open = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if "data-key" in attributes:
            self._open = [attributes["data-key"], attributes["data-value"], ""]

    def handle_endtag(self, tag):
        if self._open:
            self.numbers.append(tuple(self._open))
            self._open = None

    def handle_data(self, data):
        self.text += data
        if self._open:
            self._open[2] += data


def looked_up(figures, key):
    for part in key.split("."):
        figures = figures[int(part) if isinstance(figures, list) else part]
    return figures


def check_numbers(page, figures):
    for key, value, text in page.numbers:
        assert json.loads(value) == looked_up(figures, key), key
        assert tells(text, looked_up(figures, key)), (key, text, value)


def tells(text, value):
    """Whether a number as people read it is the one for machines, but for its rounding."""
    scale = 100 if text.endswith("%") else 1
    plain = text.removesuffix("%").replace(",", "").strip()
    if plain[0] in "<>":
        bound = float(plain[1:]) / scale
        return value < bound if plain[0] == "<" else value > bound
    decimals = len(plain.partition(".")[2])
    return abs(float(plain) - scale * value) <= 0.5000001 * 10.0**-decimals + 1e-9 * abs(value)
