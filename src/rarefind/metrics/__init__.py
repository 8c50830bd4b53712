"""What a ranking or a decision is worth, for people who check only the top of a list."""

from rarefind.metrics._bootstrap import Interval, bootstrap_interval
from rarefind.metrics._counts import (
    COUNT_METRIC_NAMES,
    AlertsAtMost,
    Cost,
    CountMetric,
    FBeta,
    RecallAtLeast,
    balanced_accuracy,
    confusion,
    count_metric,
    f_beta,
    g_mean,
    g_measure,
)
from rarefind.metrics._entities import (
    entity_alerts,
    entity_precision_at_k,
    entity_precision_by_day,
)
from rarefind.metrics._ranking import (
    amount_at_k,
    average_precision,
    hits_by_check,
    lift_at_k,
    pos_at_top,
    precision_at_k,
    recall_at_k,
)
from rarefind.metrics.inputs import budget
from rarefind.metrics.scorers import (
    REGISTERED_SCORERS,
    get_scorer,
    positive_label_of,
    ranking_scores,
)

__all__ = [
    "COUNT_METRIC_NAMES",
    "REGISTERED_SCORERS",
    "AlertsAtMost",
    "Cost",
    "CountMetric",
    "FBeta",
    "Interval",
    "RecallAtLeast",
    "amount_at_k",
    "average_precision",
    "balanced_accuracy",
    "bootstrap_interval",
    "budget",
    "confusion",
    "count_metric",
    "entity_alerts",
    "entity_precision_at_k",
    "entity_precision_by_day",
    "f_beta",
    "g_mean",
    "g_measure",
    "get_scorer",
    "hits_by_check",
    "lift_at_k",
    "pos_at_top",
    "positive_label_of",
    "precision_at_k",
    "ranking_scores",
    "recall_at_k",
]
