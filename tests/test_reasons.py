"""What every reason must keep to: true of the row, in the columns of its table, and adding up."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from expected_failures import CHECKED
from sklearn.base import clone
from sklearn.utils import get_tags

import rarefind
from rarefind.base import RareClassifier
from rarefind.boosting import NLBClassifier, SGBAPClassifier
from rarefind.boosting._xgboost import BoostedTreesClassifier
from rarefind.conditions import RuleListClassifier
from rarefind.neighbors import IMLClassifier
from rarefind.rules import Condition, Reason, Rule
from rarefind.rules.reasons import short
from rarefind.selection import faithfulness

# Rules name columns, and so are those of the table here.
RULES = {
    "large": "amount > 1",
    "far and large": "distance < -1 and amount > 0",
    "more than for the age": "amount > age + 1",
}
# One instance a class, the first that is listed.
INSTANCES = {type(estimator): estimator for estimator, _ in reversed(CHECKED)}
INSTANCES[RuleListClassifier] = RuleListClassifier(RULES)
CLASSES = sorted(INSTANCES, key=lambda cls: cls.__name__)
TAKING_HOLES = [cls for cls in CLASSES if get_tags(INSTANCES[cls]).input_tags.allow_nan]
BY_TREES = [cls for cls in CLASSES if issubclass(cls, BoostedTreesClassifier | NLBClassifier)]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def table(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """One row in ten is positive: three columns tell, two do not."""
    rng = np.random.default_rng(seed)
    names = ["amount", "hour", "distance", "age", "count"]
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=names)
    y = rng.random(n) < 0.1
    X.loc[y, "amount"] += 2
    X.loc[y, "distance"] -= 1.5
    X.loc[y, "hour"] += 1
    return X, y


class Explained(NamedTuple):
    model: Any
    rows: pd.DataFrame
    priority: Any
    reasons: list[Reason]


KNOWN, LABELS = table(500, 0)
NEW = table(200, 1)[0]
ALERTS = 20  # about as many as there are positives


@cache
def fitted(cls: type) -> Any:
    model = clone(INSTANCES[cls])
    wanted = {"random_state": 0, "n_jobs": 1}
    known = model.get_params()
    model.set_params(**{name: value for name, value in wanted.items() if name in known})
    return model.fit(KNOWN, LABELS)


@cache
def explained(cls: type) -> Explained:
    """The first of some new rows, and others from below; few, as IML takes its time for each."""
    model, some = fitted(cls), NEW[:100]
    priority = model.priority(some)
    chosen = np.argsort(-priority)[[*range(12), *range(20, 100, 10)]]
    rows = some.iloc[chosen]
    return Explained(model, rows, priority[chosen], model.explain(rows))


def holds(condition: Condition, row: pd.Series) -> bool:
    """Whether a condition is true of a row."""
    own, value = row[condition.feature], condition.value
    if value == "missing":
        return bool(np.isnan(own))
    if value == "present":
        return not np.isnan(own)
    if condition.op == "≈":
        # Where columns were scaled for distances, values come back within rounding.
        known = np.isclose(KNOWN.loc[LABELS, condition.feature], value, rtol=1e-9, atol=1e-12)
        return bool(known.any()) and short(float(own)) in str(condition)
    if isinstance(value, str):  # a comparison with other columns
        return bool(Rule(str(condition)).fires(row.to_dict()))
    compare = {
        "=": lambda: own == value,
        "<": lambda: own < value,
        "<=": lambda: own <= value,
        ">": lambda: own > value,
        ">=": lambda: own >= value,
        "between": lambda: value[0] < own <= value[1],
        "in": lambda: own in value,
        "not in": lambda: own not in value,
    }
    return bool(compare[condition.op]())


def test_every_public_estimator_is_here():
    found = set()
    for module in pkgutil.iter_modules(rarefind.__path__, "rarefind."):
        if module.ispkg and not module.name.split(".")[-1].startswith("_"):
            package = importlib.import_module(module.name)
            found |= {getattr(package, name) for name in getattr(package, "__all__", ())}
    estimators = {
        thing for thing in found if isinstance(thing, type) and issubclass(thing, RareClassifier)
    }
    assert estimators == set(CLASSES)


@every_class
def test_conditions_name_columns_and_are_true_of_the_row(cls):
    model, rows, _, reasons = explained(cls)
    said = 0
    for (_, row), reason in zip(rows.iterrows(), reasons, strict=True):
        for condition in reason.because:
            assert condition.feature in rows.columns
            assert holds(condition, row), f"{condition} of {row.to_dict()}"
            said += 1
    assert said >= 12, f"{type(model).__name__} says next to nothing of its alerts"


@pytest.mark.parametrize("cls", TAKING_HOLES, ids=lambda cls: cls.__name__)
def test_a_missing_value_is_called_missing(cls):
    model, rows = fitted(cls), explained(cls).rows.copy()
    rows.iloc[::2, [0, 3]] = np.nan
    spoken = set()
    for (_, row), reason in zip(rows.iterrows(), model.explain(rows), strict=True):
        for condition in reason.because:
            missing = bool(np.isnan(row[condition.feature]))
            assert (condition.value == "missing") == missing
            assert (str(condition) == f"{condition.feature} is missing") == missing
            assert holds(condition, row)
            spoken.add(missing)
    assert False in spoken


@every_class
def test_shares_are_parts_of_a_whole(cls):
    for reason in explained(cls).reasons:
        weights = [condition.weight for condition in reason.because]
        assert all(0 <= weight <= 1 for weight in weights)
        assert sum(weights) <= 1 + 1e-6


@every_class
def test_score_and_rank_are_the_row_s_own(cls):
    _, _, priority, reasons = explained(cls)
    np.testing.assert_allclose([reason.score for reason in reasons], priority, rtol=1e-9)
    for reason in reasons:
        assert reason.rank_in_reference is None or 0 <= reason.rank_in_reference <= 1


@every_class
def test_contributions_make_up_the_score(cls):
    given = [reason for reason in explained(cls).reasons if reason.contributions]
    for reason in given:
        assert list(reason.contributions) == list(KNOWN.columns)
        assert reason.base is not None
        whole = reason.base + sum(reason.contributions.values())
        assert whole == pytest.approx(reason.score, rel=1e-4, abs=1e-5)
    if not given:
        assert all(reason.base is None for reason in explained(cls).reasons)


@pytest.mark.parametrize("cls", BY_TREES, ids=lambda cls: cls.__name__)
def test_boosters_by_trees_name_the_columns_that_add_most(cls):
    for reason in explained(cls).reasons:
        added = sorted(reason.contributions.items(), key=lambda item: -item[1])
        assert len(added) == len(KNOWN.columns)
        raising = {name: value for name, value in added if value > 0}
        assert [condition.feature for condition in reason.because] == list(raising)
        shares = [value / sum(raising.values()) for value in raising.values()]
        assert [condition.weight for condition in reason.because] == pytest.approx(shares)


@every_class
def test_alerts_fall_without_what_their_reasons_name(cls):
    # It learns a distance for each row that it is asked about.
    draws = 1 if cls is IMLClassifier else 5
    found = faithfulness(fitted(cls), NEW, n_alerts=ALERTS, n_draws=draws, random_state=0)
    assert found.n_alerts == ALERTS
    assert found.share_lowered > 0.5
    assert found.rank_drop > 0


def payments(n: int, seed: int) -> pd.DataFrame:
    """Numbers, text with missing values and dates; those from XX at night are fraud."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(0, 24 * 60, n)
    frame = pd.DataFrame(
        {
            "amount": rng.gamma(2, 30, n),
            "country": rng.choice(["FR", "BE", "XX", None], n, p=[0.5, 0.2, 0.2, 0.1]),
            "time": pd.Timestamp("2026-01-01") + pd.to_timedelta(hours, unit="h"),
        }
    )
    fraud = (frame["country"] == "XX") & (frame["time"].dt.hour < 12)
    return frame.assign(fraud=np.where(fraud, "yes", "no"))


@pytest.mark.parametrize(
    "estimator",
    [
        SGBAPClassifier(n_estimators=20, random_state=0),
        NLBClassifier(n_estimators=10, random_state=0),
    ],
    ids=["levels as sets", "levels as columns"],
)
def test_contributions_of_a_table_are_those_of_its_own_columns(estimator):
    model = rarefind.TableModel(estimator, target="fraud").fit(payments(400, 0))
    new = payments(60, 1).drop(columns="fraud")
    plain = model.estimator_.explain(model._encode(new))
    for reason, encoded in zip(model.explain(new), plain, strict=True):
        assert list(reason.contributions) == ["amount", "country", "time"]
        assert reason.base == encoded.base
        whole = reason.base + sum(reason.contributions.values())
        assert whole == pytest.approx(reason.score, rel=1e-4, abs=1e-5)
        assert reason.contributions["amount"] == encoded.contributions["amount"]
        country = [a for name, a in encoded.contributions.items() if name.startswith("country")]
        assert reason.contributions["country"] == pytest.approx(sum(country))


def test_a_table_s_model_without_contributions_gives_none():
    model = rarefind.TableModel(target="fraud").fit(payments(200, 0))
    assert {len(reason.contributions) for reason in model.explain(payments(20, 1))} == {0}
