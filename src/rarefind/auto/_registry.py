"""The one list of estimators: read by the command line, AutoClassifier, the docs and the tests.

Nothing heavy is imported before an estimator is made: the command line shows names in its help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rarefind.base import RareClassifier

__all__ = ["CAPABILITIES", "EstimatorInfo", "estimators", "find_estimator"]

#: What an estimator may be able to do.
CAPABILITIES: Mapping[str, str] = {
    "missing values": "takes NaN as a missing value",
    "categories": "takes columns of categories",
    "more classes": "takes more than two classes",
    "sample weights": "takes a weight for each row",
    "streams": "learns a row at a time, with labels that come late",
    "rules": "is a list of rules that people can read and change",
    "SQL": "can be written as a query",
    "stops in time": "looks at the time limit after each round or tree",
    "best effort": "makes fewer rounds when time is short, instead of giving up",
}


def _no_settings(budget: int | float | str) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class EstimatorInfo:
    """An estimator of rarefind: its name, how it is made, and what it can do.

    Attributes
    ----------
    name : str
        The name on the command line and in tables.
    class_name, family : str
        The class, and the package of rarefind that has it.
    description : str
        What it is, in one line.
    capabilities : frozenset of str
        Some of :data:`CAPABILITIES`.
    on_command_line : bool
        Whether ``--model`` offers it.
    """

    name: str
    family: str
    class_name: str
    description: str
    capabilities: frozenset[str]
    on_command_line: bool = False
    _settings: Mapping[str, Any] = field(default_factory=dict)
    _for_budget: Callable[[int | float | str], dict[str, Any]] = _no_settings

    def load(self) -> type[RareClassifier]:
        """Import the class."""
        found: type[RareClassifier] = getattr(
            import_module(f"rarefind.{self.family}"), self.class_name
        )
        return found

    def make(self, budget: int | float | str | None = None, **settings: Any) -> RareClassifier:
        """Make the estimator, for a budget of checks where one is given.

        Parameters
        ----------
        budget : int, float or str, default=None
            The checks that its list is for; most rank for average precision all the same, which
            says more about few positives than a count among the first.
        **settings
            Parameters of the class, such as ``random_state`` and ``n_jobs``.
        """
        for_budget = {} if budget is None else self._for_budget(budget)
        return self.load()(**{**self._settings, **for_budget, **settings})


_TREES = frozenset({"missing values", "categories", "sample weights"})
_BOOSTING = _TREES | {"stops in time", "best effort"}
_STREAMS = frozenset({"missing values", "sample weights", "streams"})
_NONE: frozenset[str] = frozenset()

_ESTIMATORS = (
    EstimatorInfo(
        "auto",
        "auto",
        "AutoClassifier",
        "the best of the others for a budget and a time limit, or several of them together",
        frozenset({"missing values", "categories"}),
        True,
        _for_budget=lambda budget: {"budget": budget},
    ),
    EstimatorInfo(
        "sgbap",
        "boosting",
        "SGBAPClassifier",
        "gradient boosting for average precision, with bins that see the positives",
        _BOOSTING,
        True,
    ),
    EstimatorInfo(
        "gamma-knn",
        "neighbors",
        "GammaKNNClassifier",
        "nearest neighbours that bring the positives closer by the exact best factor",
        frozenset({"more classes"}),
        True,
    ),
    EstimatorInfo(
        "mlfp",
        "neighbors",
        "MLFPClassifier",
        "nearest neighbours with a distance to the positives learned from few of them",
        _NONE,
        True,
    ),
    EstimatorInfo(
        "me2",
        "neighbors",
        "ME2Classifier",
        "an ellipsoid around each positive, as large as the negatives near it allow",
        _NONE,
        True,
    ),
    EstimatorInfo(
        "metaap",
        "trees",
        "MetaAPClassifier",
        "one small tree of trees that ranks for the top of the list and can be read",
        _TREES | {"SQL"},
        True,
        _for_budget=lambda budget: {"target": "precision_at_k", "k": budget},
    ),
    EstimatorInfo(
        "metaap-forest",
        "trees",
        "MetaAPForestClassifier",
        "the mean of many MetaAP trees",
        _TREES | {"stops in time"},
        True,
    ),
    EstimatorInfo(
        "randomized-forest",
        "trees",
        "RandomizedForestClassifier",
        "many deep trees with random cuts, half of them between a positive and a negative",
        _TREES | {"stops in time"},
        True,
    ),
    EstimatorInfo(
        "nlb",
        "boosting",
        "NLBClassifier",
        "non-linear boosting: the same trees joined in several ways",
        _BOOSTING | {"more classes"},
        True,
    ),
    EstimatorInfo(
        "projection",
        "boosting",
        "ProjectionBoostingClassifier",
        "XGBoost on columns and on directions that the boosting finds",
        _TREES,
        True,
    ),
    EstimatorInfo(
        "conditions",
        "conditions",
        "ConditionClassifier",
        "a tree ensemble reduced to a short list of conditions, which is the model",
        _TREES | {"rules", "SQL"},
        True,
    ),
    EstimatorInfo(
        "xgboost",
        "boosting",
        "SGBAPClassifier",
        "plain XGBoost with the logistic loss and its own bins, to compare with",
        _BOOSTING,
        True,
        {
            "mix": 1.0,
            "bins": "quantile",
            "max_depth": 6,
            "subsample": 0.8,
            "colsample_bytree": 0.8,
        },
    ),
    EstimatorInfo(
        "gamma-knn-local",
        "neighbors",
        "LocalGammaKNNClassifier",
        "gamma-knn with a factor for each region",
        _NONE,
    ),
    EstimatorInfo(
        "wk-nn",
        "neighbors",
        "DistanceWeightedKNNClassifier",
        "nearest neighbours that vote with the inverse of their distance, a baseline",
        _NONE,
    ),
    EstimatorInfo(
        "cwk-nn",
        "neighbors",
        "ClassWeightedKNNClassifier",
        "nearest neighbours with distances scaled by the sizes of the classes, a baseline",
        _NONE,
    ),
    EstimatorInfo(
        "dupk-nn",
        "neighbors",
        "DuplicatedKNNClassifier",
        "nearest neighbours with every positive duplicated, a baseline",
        _NONE,
    ),
    EstimatorInfo(
        "krnn",
        "neighbors",
        "KRNNClassifier",
        "nearest neighbours until k of them are positive, a baseline",
        _NONE,
    ),
    EstimatorInfo(
        "iml",
        "neighbors",
        "IMLClassifier",
        "nearest neighbours in a space learned around each row, a slow baseline",
        _NONE,
    ),
    EstimatorInfo(
        "treerank",
        "trees",
        "TreeRankClassifier",
        "a tree of trees for the area under the ROC curve, a baseline",
        _TREES | {"SQL"},
    ),
    EstimatorInfo(
        "rankboost",
        "boosting",
        "RankBoostClassifier",
        "boosting that puts every positive above every negative, a baseline",
        _BOOSTING,
    ),
    EstimatorInfo(
        "lambdamart",
        "boosting",
        "LambdaMARTClassifier",
        "XGBoost's own ranking for average precision, a baseline",
        _BOOSTING,
    ),
    EstimatorInfo(
        "onlb",
        "streams",
        "ONLBClassifier",
        "non-linear boosting of small nets, a row at a time",
        _STREAMS | {"more classes"},
    ),
    EstimatorInfo(
        "online-boosting",
        "streams",
        "OnlineBoostingClassifier",
        "linear boosting of small nets, a row at a time, to compare onlb with",
        _STREAMS,
    ),
    EstimatorInfo(
        "rule-list",
        "conditions",
        "RuleListClassifier",
        "rules that experts wrote, with learned or given weights",
        _TREES | {"rules"},
    ),
)


def estimators(*, on_command_line: bool | None = None) -> list[EstimatorInfo]:
    """All estimators of rarefind, or those that the command line offers, or the others.

    Examples
    --------
    >>> from rarefind.auto import estimators
    >>> [each.name for each in estimators() if "SQL" in each.capabilities]
    ['metaap', 'conditions', 'treerank']
    """
    return [
        each
        for each in _ESTIMATORS
        if on_command_line is None or each.on_command_line == on_command_line
    ]


def find_estimator(name: str) -> EstimatorInfo:
    """The estimator with a name.

    Examples
    --------
    >>> from rarefind.auto import find_estimator
    >>> find_estimator("gamma-knn").make(random_state=0)
    GammaKNNClassifier(random_state=0)
    """
    found = next((each for each in _ESTIMATORS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in _ESTIMATORS)
        raise ValueError(f"There is no estimator {name!r}: known are {known}.")
    return found
