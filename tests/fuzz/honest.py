"""Honest small models of every saved kind, and a few rows for each to score."""

from __future__ import annotations

import hashlib
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fuzz.judge import judge_model
from fuzz.mutations import mutate
from fuzz.sealed import Parts
from fuzz.verdicts import HONEST

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src" / "rarefind"
RELEASED = TESTS / "files" / "0.1.0"
#: Where models and compiled kernels are kept from run to run.
KEPT = TESTS.parent / ".fuzz"
# So few rows that a method which is slow by the row is no slower than the others.
_ROWS = 3


class ModelKind(NamedTuple):
    """A kind of model file: its name, the file, and the rows to score."""

    name: str
    path: Path
    rows: Any

    @property
    def group(self) -> str:
        """The kinds that run the same kernels; rules run in Polars, whose threads no fork has."""
        stem = self.name.split("/")[-1]
        return "rules" if "rule" in stem.lower() else stem.partition("-")[0]

    def write_mutant(self, seed: int, number: int, path: Path) -> str:
        """Change the file as the number says, and seal it again."""
        parts = Parts.read(self.path)
        what = "" if number == HONEST else mutate(parts, self.name, seed, number)
        parts.write(path)
        return what

    def judge(self, path: Path, say: Callable[[str], None]) -> str:
        """Refused, or scored the same twice."""
        return judge_model(path, self.rows, say)


def released_kinds() -> list[ModelKind]:
    """The files that 0.1.0 wrote."""
    rows = np.load(RELEASED / "expected.npz")["X"][:_ROWS]
    table = pd.read_csv(RELEASED / "table.csv", parse_dates=["when", "opened"])[:_ROWS]
    return [
        ModelKind(f"0.1.0/{path.stem}", path, table if path.stem.startswith("table-") else rows)
        for path in sorted(RELEASED.glob("*.rarefind"))
    ]


def present_kinds(say: Callable[[str], None]) -> list[ModelKind]:
    """Files of this version; they are written once for each state of the sources."""
    digest = hashlib.sha256()
    for path in sorted([*SOURCES.rglob("*.py"), Path(__file__), TESTS / "expected_failures.py"]):
        digest.update(path.read_bytes())
    folder = KEPT / f"models-{digest.hexdigest()[:16]}"
    if not folder.exists():
        for old in KEPT.glob("models-*"):
            shutil.rmtree(old)
        part = KEPT / f"part-{digest.hexdigest()[:16]}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        _write_models(part, say)
        part.rename(folder)
    rows = {"table": _payments()[:_ROWS], "levels": _rows_with_levels()[0][:_ROWS]}
    return [
        ModelKind(path.stem, path, rows.get(path.stem.split("-")[0], _plain_rows()[0][:_ROWS]))
        for path in sorted(folder.glob("*.rarefind"))
    ]


def _write_models(folder: Path, say: Callable[[str], None]) -> None:
    import rarefind

    counted: dict[str, int] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stem, model in _fitted_models():
            counted[stem] = counted.get(stem, 0) + 1
            name = f"{stem}-{counted[stem]}"
            say(f"Fitting {name} …")
            rarefind.save(model, folder / f"{name}.rarefind")


def _fitted_models() -> Iterator[tuple[str, Any]]:
    from expected_failures import CHECKED
    from sklearn.base import clone

    X, y = _plain_rows()
    for estimator, _ in CHECKED:
        yield type(estimator).__name__, _repeatable(clone(estimator)).fit(X, y)
    yield from _streams_with_rows_that_wait(X, y)
    yield from _models_of_three_classes(X, y)
    yield from _models_of_levels()
    yield from _pipelines(X, y)
    yield from _table_models()


def _repeatable(estimator: Any) -> Any:
    seed = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    return estimator.set_params(**seed)


def _plain_rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 4)), 2)
    return X, (X[:, 0] + X[:, 1] + rng.normal(0, 0.5, 60) > 1.1).astype(int)


def _rows_with_levels() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(90, 2)), rng.integers(0, 5, 90)])
    X[::17, 0] = np.nan
    return X, (X[:, 1] + (X[:, 2] == 3) + rng.normal(0, 0.3, 90) > 1.1).astype(int)


def _streams_with_rows_that_wait(X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    from rarefind.streams import ONLBClassifier, OnlineBoostingClassifier

    for cls in (ONLBClassifier, OnlineBoostingClassifier):
        model = cls(n_estimators=3, random_state=0, threshold=None)
        model.partial_fit(X[:50], y[:50], classes=[0, 1])
        model.observe([f"row {i}" for i in range(10)], X[50:])
        yield cls.__name__, model


def _models_of_three_classes(X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    from rarefind.boosting import NLBClassifier
    from rarefind.neighbors import GammaKNNClassifier
    from rarefind.streams import ONLBClassifier

    classes = np.array(["bad", "good", "odd"])[np.where(y == 1, 0, 1 + (X[:, 2] > 0.5))]
    yield "GammaKNNClassifier", GammaKNNClassifier(random_state=0).fit(X, classes)
    yield "NLBClassifier", NLBClassifier(n_estimators=4, random_state=0).fit(X, classes)
    yield "ONLBClassifier", ONLBClassifier(n_estimators=3, epochs=5, random_state=0).fit(X, classes)


def _models_of_levels() -> Iterator[tuple[str, Any]]:
    """Trees that split on sets of levels, and missing values."""
    from rarefind.auto import estimators

    X, y = _rows_with_levels()
    small = {"n_estimators": 8, "trials": 2, "inner_depth": 2, "outer_depth": 2, "max_rounds": 3}
    for each in estimators():
        made = each.make()
        known = made.get_params()
        if "categorical_features" not in known or each.name == "rule-list":
            continue
        made.set_params(**{name: value for name, value in small.items() if name in known})
        model = _repeatable(made).set_params(categorical_features=[2])
        yield f"levels-{each.name}", model.fit(X, y)


def _pipelines(X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    """A scaler before one of ours, once such a pipeline can be saved."""
    import tempfile

    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

    import rarefind
    from rarefind.neighbors import GammaKNNClassifier
    from rarefind.trees import MetaAPClassifier

    models = (GammaKNNClassifier(random_state=0), MetaAPClassifier(2, 2, random_state=0))
    for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler()):
        for model in models:
            made = make_pipeline(scaler, model).fit(X, y)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    rarefind.save(made, Path(folder, "model"))
                except ValueError:
                    return
            yield "Pipeline", made


def _payments() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    n = 120
    table = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "card": rng.integers(0, 30, n),
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n) * 6, "h"),
            "amount": np.round(rng.gamma(2, 30, n), 2),
            "country": rng.choice(["FR", "BE", "DE", "XX"], n, p=[0.5, 0.2, 0.2, 0.1]),
            "online": rng.random(n) < 0.4,
            "opened": pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    risk = table["amount"] / 60 + 2 * (table["country"] == "XX") + rng.normal(0, 0.4, n)
    table["fraud"] = np.where(risk > np.quantile(risk, 0.88), "yes", "no")
    table.loc[::13, "amount"] = np.nan
    table.loc[::19, "country"] = None
    return table


def _table_models() -> Iterator[tuple[str, Any]]:
    from rarefind.auto import find_estimator
    from rarefind.tables import TableModel, estimate_budget

    table = _payments()
    roles = {"time": "when", "entity": "card", "amount": "amount", "id": "id"}
    small: dict[str, dict[str, Any]] = {
        "auto": {"trials": 2, "candidates": ["metaap", "gamma-knn", "sgbap"], "cv": 3},
        "sgbap": {"n_estimators": 8},
        "gamma-knn": {},
        "mlfp": {"k": 1},
        "me2": {},
        "metaap": {"inner_depth": 2, "outer_depth": 2},
        "metaap-forest": {"n_estimators": 4, "inner_depth": 2},
        "nlb": {"n_estimators": 5},
        "projection": {"n_estimators": 5, "max_rounds": 2},
        "conditions": {"max_conditions": 5, "n_estimators": 5, "cv": 3},
        "krnn": {},
        "onlb": {"n_estimators": 3, "epochs": 3},
        "rule-list": {"rules": {"large": "amount > 90", "early": "opened < 2019-09-01"}},
    }
    for name, settings in small.items():
        found = find_estimator(name)
        known = found.load()().get_params() if name != "rule-list" else {"random_state"}
        seed = {"random_state": 0} if "random_state" in known else {}
        model = TableModel(found.make(**settings, **seed), "fraud", "yes", **roles)
        try:
            model.fit(table)
        except ValueError:
            if name != "rule-list":  # its rules may speak of columns before they are encoded
                raise
            continue
        if name in ("sgbap", "metaap"):
            model.estimate_ = estimate_budget(model, table, 5)
        yield f"table-{name}", model
