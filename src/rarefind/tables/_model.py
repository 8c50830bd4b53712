"""A model of a table: encoder, estimator and what the columns mean, in one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from rarefind._core.saved import saved
from rarefind._core.types import Array, ArrayLike, Floats, Ints, Label, Table
from rarefind.data import DriftReference, check_target
from rarefind.data.clock import time_order
from rarefind.data.column_reference import ColumnReference
from rarefind.data.frames import as_frame, entity_codes
from rarefind.data.row_encoder import row_encoder
from rarefind.data.row_numbers import row_name
from rarefind.row_scorer import RowScorer
from rarefind.rules import Reason, RuleSet
from rarefind.selection.labelled import Labelled
from rarefind.tables._card import ModelCard, held_about_people
from rarefind.tables._column_shares import measured_shares
from rarefind.tables._estimate import BudgetEstimate
from rarefind.tables._known import KnownPositives
from rarefind.tables._model_state import MODEL_STATE, mark_encoded, upgraded
from rarefind.tables._preparation import default_estimator, encoder_for, with_target
from rarefind.tables._ranking import Chunks, rank_chunks
from rarefind.tables._reasons import Words
from rarefind.tables._sql import table_query
from rarefind.tables.lists import ListRequest
from rarefind.tables.rules import as_read, table_rules

__all__ = ["TableModel"]

# Rows of the fit whose scores are counted.
_SCORED = 5000


class Scores(NamedTuple):
    """Scores of rows; ``probability`` is that of the positive label, None where not asked for."""

    priority: Floats
    probability: Floats | None


@saved(
    "table-model",
    4,
    state=MODEL_STATE,
    upgrade=upgraded,
)
class TableModel(ClassifierMixin, BaseEstimator):
    """Fits, ranks and explains tables as people have them: text, dates and missing values included.

    Parameters
    ----------
    estimator : rarefind classifier, default=None
        What learns; γk-NN by default. Trees split text columns on sets of levels, unless their
        ``categorical_features`` says otherwise.
    target : str, default="y"
        The column to predict, with two different values.
    positive : label, default=None
        The value that matters; by default the rarer one.
    time, entity, id : str, default=None
        Columns with the time of a row, the entity it belongs to (card, customer, company) and its
        identifier. They serve to rank, to hold rows of one entity out together, and to name rows;
        they are not features.
    amount : str, default=None
        Column with what a row is worth; it is a feature as well.
    drop : sequence of str, default=()
        Columns kept out of the model and of its reasons, such as those of a protected kind. The
        :meth:`card` says so.
    keep_ids : bool, default=False
        Keep the identifiers of the known positives, so that reasons can name those that a row is
        like. They are then in the model's file, for all who open it; without them reasons give the
        numbers of rows.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    encoder_ : TableEncoder
        From columns to numbers and back.
    classes_, positive_
        The two values of the target, and the one that matters.
    types_ : dict
        The types of the columns as :func:`rarefind.data.read_table` found them, to read further
        files by (``like=``); empty for a table that was not read by it.
    drift_reference_ : DriftReference
        How the columns were spread, to compare later files with; no rows, and no rare levels.
    column_shares_ : dict of str to float
        The share of the score that each column carries, by how far known rows move when it takes
        the values of others; empty for estimators with ``feature_importances_``.
    score_reference_ : ColumnReference
        The same of the priorities of the rows of the fit.
    fitted_for_ : dict or None
        The ``budget``, ``per`` and ``one_per`` that ``rarefind fit`` was given: the list of
        :func:`rarefind.tables.rank_file` where none is asked for.
    estimate_ : BudgetEstimate or None
        What a budget of checks finds, by rows that were held out, where it was estimated:
        see :func:`rarefind.tables.estimate_budget`.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind import TableModel
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> table = pd.DataFrame({
    ...     "amount": [10, 12, 11, 13, 9, 250, 240, 14, 12, 11],
    ...     "country": ["FR", "FR", "BE", "FR", None, "XX", "XX", "BE", "FR", "FR"],
    ...     "fraud": ["no"] * 5 + ["yes"] * 2 + ["no"] * 3})
    >>> model = TableModel(GammaKNNClassifier(k=1), target="fraud").fit(table)
    >>> new = pd.DataFrame({"amount": [12, 245], "country": ["FR", "XX"]})
    >>> model.predict(new).tolist()
    ['no', 'yes']
    >>> print(model.explain(new)[1].because[0])
    amount 245 ≈ 250
    """

    def __init__(
        self,
        estimator: Any = None,
        target: str = "y",
        positive: Label = None,
        *,
        time: str | None = None,
        entity: str | None = None,
        amount: str | None = None,
        id: str | None = None,
        drop: Sequence[str] = (),
        keep_ids: bool = False,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.positive = positive
        self.time = time
        self.entity = entity
        self.amount = amount
        self.id = id
        self.drop = drop
        self.keep_ids = keep_ids

    def fit(self, table: Table, y: ArrayLike | None = None) -> Self:
        """Learn from a labelled table.

        Parameters
        ----------
        table : pandas or polars frame, or Arrow table
            Rows with the target and all columns that the parameters name.
        y : array-like of shape (n,), default=None
            The values of the target, where the table does not have it: scikit-learn's form, for
            ``cross_val_score`` and searches.

        Returns
        -------
        self
        """
        frame = as_frame(table)
        if y is not None:
            frame = with_target(frame, self.target, y)
        encoded = self._learn(frame)
        self.drift_reference_ = DriftReference.of(frame, self.encoder_.columns_)
        self.score_reference_ = self._spread_of_scores(encoded)
        self.column_shares_: dict[str, float] = {}
        if not hasattr(self.estimator_, "feature_importances_"):
            positive = frame[self.target].to_numpy() == self.positive_
            columns = self.encoder_.original_columns_
            self.column_shares_ = measured_shares(self.estimator_, encoded, columns, positive)
        known = KnownPositives.of(self, frame, encoded)
        self.known_names_: dict[int, str] = known.names
        self.known_rows_: dict[int, int] = known.rows
        self.known_values_: dict[str, list[str]] = known.values
        self.estimate_: BudgetEstimate | None = None
        self.fitted_for_: dict[str, Any] | None = None
        return self

    def _learn(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Fit encoder and estimator to the rows; the rows as the estimator was given them."""
        self._check_roles(frame)
        self.positive_ = check_target(frame, self.target, self.positive)
        estimator = default_estimator() if self.estimator is None else clone(self.estimator)
        if not (hasattr(estimator, "priority") and hasattr(estimator, "explain")):
            raise ValueError(
                f"{type(estimator).__name__} gives no priority and no reasons: "
                "TableModel takes rarefind's own estimators."
            )
        if getattr(estimator, "reads_tables", False):
            raise ValueError(
                f"{type(estimator).__name__} reads tables by itself: fit it without TableModel."
            )
        if "pos_label" in estimator.get_params():
            estimator.set_params(pos_label=self.positive_)
        self.encoder_ = encoder_for(estimator).set_params(drop=self._no_features()).fit(frame)
        if self.encoder_.level_outputs_:
            estimator.set_params(categorical_features=self.encoder_.level_outputs_)
        groups = None if self.entity is None else entity_codes(frame[self.entity])
        labels = frame[self.target].to_numpy()
        timed = self.time is not None and "times" in signature(estimator.fit).parameters
        times = time_order(frame[self.time]) if timed else None
        encoded = self._encode(frame)
        self.estimator_ = Labelled.of(encoded, labels, groups, self.positive_, times).fit(estimator)
        mark_encoded(self.encoder_, self.estimator_)
        self.classes_ = np.asarray(self.estimator_.classes_)
        self.types_: dict[str, Any] = dict(frame.attrs.get("rarefind_types", {}))
        self.rows_, self.positives_ = len(frame), int((labels == self.positive_).sum())
        return encoded

    def _fit_and_score(self, rows: pd.DataFrame, held_out: pd.DataFrame) -> Scores:
        """Learn from some rows and score others; nothing is kept to compare later files with."""
        self._learn(rows)
        return self._scores(held_out)

    def priority(self, table: Table) -> Floats:
        """Raw score of each row for ranking: higher goes first."""
        return self._scores(table, probability=False).priority

    def row_scorer(self) -> RowScorer:
        """What scores one row at a time, as :meth:`priority` does but in microseconds.

        Returns
        -------
        RowScorer
            ``score({"amount": 12.5, "country": "FR", …})`` is the priority of a row, and
            ``probability(…)`` what :meth:`predict_proba` says of the positive label.
        """
        own = self._fitted().row_scorer()
        read = row_encoder(self.encoder_).encode
        return RowScorer(self.encoder_.columns_, read, own.score, own.probability_of)

    def decision_function(self, table: Table) -> Floats:
        """Priority above the threshold, signed as in scikit-learn: plus means ``classes_[1]``."""
        return np.asarray(self._fitted().decision_function(self._encode(table)))

    def predict(self, table: Table) -> Array:
        """The value of the target that each row is decided to have."""
        return np.asarray(self._fitted().predict(self._encode(table)))

    def predict_proba(self, table: Table) -> Floats:
        """Calibrated probability of each value of the target, in the order of ``classes_``."""
        return np.asarray(self._fitted().predict_proba(self._encode(table)))

    def explain(self, table: Table) -> list[Reason]:
        """Give the reason of each row, in the columns and units of the table."""
        frame = as_frame(table)
        return self._explain(frame, self._encode(frame))

    def _explain(self, frame: pd.DataFrame, encoded: pd.DataFrame) -> list[Reason]:
        reasons = self._fitted().explain(encoded)
        words = Words(self.encoder_, self.known_rows_, self.known_values_)
        column_of = dict(zip(encoded.columns, self.encoder_.original_columns_, strict=True))
        return [
            replace(
                reason,
                because=words.of(reason, frame.iloc[i], encoded.iloc[i]),
                similar=[replace(s, name=self._name_of(s.row)) for s in reason.similar],
                contributions=_by_column(reason.contributions, column_of),
            )
            for i, reason in enumerate(reasons)
        ]

    def rank(
        self,
        table: Table,
        budget: int | float | str,
        *,
        per: str | None = None,
        one_per: str | bool | None = None,
        reasons: bool = True,
    ) -> pd.DataFrame:
        """List the rows to check first.

        Parameters
        ----------
        table : pandas or polars frame, or Arrow table
            The rows; the target is not needed.
        budget : int, float or str
            Checks, or a share of the rows (``"0.5%"``); of each period with ``per``.
        per : str, default=None
            Spend the budget in each hour, day, week, month or quarter of ``time``, or for each
            value of another column, instead of once. Periods are those of the local time as the
            column writes it; rows without a value of the other column are a group of their own.
        one_per : str or bool, default=None
            A column, or True for ``entity``: list each of its values once (in a period or group),
            by its highest row.
        reasons : bool, default=True
            Add the reason of each row as a sentence.

        Returns
        -------
        DataFrame
            Indexed as the table: ``rank``, the period or group, ``id``, ``entity``, ``time`` and
            ``amount`` where the model knows them, ``priority``, ``probability``, ``reason``.
        """
        return self.rank_chunks([table], budget, per=per, one_per=one_per, reasons=reasons)

    def rank_chunks(
        self,
        chunks: Chunks,
        budget: int | float | str,
        *,
        rows: int | None = None,
        per: str | None = None,
        one_per: str | bool | None = None,
        reasons: bool = True,
    ) -> pd.DataFrame:
        """List the rows to check first of a table that comes in pieces, and may be a large one.

        The list is that of :meth:`rank` for all pieces together; a piece at a time is in memory,
        and the rows that may come on the list.

        Parameters
        ----------
        chunks : iterable of tables, or a function that returns one
            The pieces, such as :func:`rarefind.data.read_chunks` gives. A share of rows that are
            not counted yet takes two passes: a list, or a function that opens the pieces anew.
        budget : int, float or str
            As in :meth:`rank`.
        rows : int, default=None
            Rows of all pieces together; of use for a share of them without ``per``.
        per, one_per, reasons
            As in :meth:`rank`.

        Returns
        -------
        DataFrame
            As from :meth:`rank`. Rows of pieces without an index are counted from 0.

        Examples
        --------
        >>> import pandas as pd
        >>> from rarefind import TableModel
        >>> from rarefind.neighbors import GammaKNNClassifier
        >>> table = pd.DataFrame({"amount": [9, 12, 250, 11, 240, 13], "fraud": [0, 0, 1, 0, 1, 0]})
        >>> model = TableModel(GammaKNNClassifier(k=1), target="fraud").fit(table)
        >>> pieces = [table[:2], table[2:4], table[4:]]
        >>> model.rank_chunks(pieces, 2, reasons=False).index.tolist()
        [2, 4]
        """
        self._fitted()
        return rank_chunks(self, chunks, ListRequest(budget, per, one_per), rows, reasons)

    def rules(self) -> RuleSet:
        """The conditions of a model that is a list of them, in the table's columns and units.

        Returns
        -------
        RuleSet
            Rules c1, c2, … in the order of :meth:`conditions`, for tables as :meth:`read` gives
            them.
        """
        if not hasattr(self._fitted(), "condition_branches"):
            raise ValueError(
                f"{type(self.estimator_).__name__} is not a list of conditions: fit the table with "
                "rarefind.conditions.ConditionClassifier."
            )
        return table_rules(self.encoder_, *self.estimator_.condition_branches())

    def to_sql(self, dialect: str = "ansi", table: str = "rows", output: str = "priority") -> str:
        """A query that gives each row of a table in a database its priority.

        It speaks of the table's own columns and levels, and reads them as the model does: spaces
        around texts, words for missing values, levels that were not seen at the fit, dates, truths,
        and numbers that were texts at the fit. In SQLite, DuckDB and PostgreSQL its priorities are
        those of :meth:`priority` to the last bit. A value that the model would refuse ends it.

        Parameters
        ----------
        dialect : {"ansi", "sqlite", "duckdb", "postgresql", "mysql"}, default="ansi"
            The database.
        table : str, default="rows"
            The table, or schema.table, with the columns that the model uses, of the types that they
            had at the fit. In SQLite, dates are texts as 2026-01-31 12:30:00.
        output : str, default="priority"
            Name of the column with the priority.

        Returns
        -------
        str
            All columns of the table, and the priority. Models that are trees or lists of conditions
            can be written so: MetaAP, TreeRank and ConditionClassifier.
        """
        return table_query(self.encoder_, self._fitted(), dialect, table, output)

    def read(self, table: Table) -> pd.DataFrame:
        """The columns that the model uses, as it reads them: what :meth:`rules` speak of.

        A text such as ``"12,5"``, ``"yes"`` or ``"NA"`` is the number, the truth or the missing
        value that it stands for. A table from :func:`rarefind.data.read_table` is so already.
        """
        self._fitted()
        frame = as_frame(table)
        missing = [name for name in self.encoder_.columns_ if name not in frame.columns]
        if missing:
            raise ValueError(f"The table has no column {', '.join(map(repr, missing))}.")
        return as_read(self.encoder_, frame)

    def conditions(self) -> pd.DataFrame:
        """The same with weights and measures, as in ``ConditionClassifier.conditions_``."""
        texts = [rule.text for rule in self.rules()]
        return pd.DataFrame(self.estimator_.conditions_).assign(rule=texts)

    def card(self) -> ModelCard:
        """What the model is made from: rows, columns used and kept out, how it decides.

        Returns
        -------
        ModelCard
        """
        self._fitted()
        roles = {"time": self.time, "entity": self.entity, "id": self.id}
        return ModelCard(
            estimator=type(self.estimator_).__name__,
            rows=self.rows_,
            positives=self.positives_,
            target=self.target,
            positive=self.positive_,
            threshold=float(getattr(self.estimator_, "threshold_", np.nan)),
            used=list(self.encoder_.columns_),
            kept_out=list(self.drop),
            roles={role: name for role, name in roles.items() if name is not None},
            left_out=dict(self.encoder_.dropped_),
            holds=held_about_people(self),
        )

    def forget_ids(self) -> Self:
        """Remove the identifiers of known positives: reasons then give the numbers of rows.

        Returns
        -------
        self
        """
        self._fitted()
        self.keep_ids = False
        self.known_names_.clear()
        return self

    def _scores(
        self,
        table: Table,
        empty: Callable[..., Floats] = np.empty,
        *,
        probability: bool = True,
    ) -> Scores:
        """Both scores of rows that are encoded once, with memory from ``empty`` where it helps."""
        estimator = self._fitted()
        if getattr(estimator, "reads_columns", False):
            encoded = self._named(self.encoder_.transform_columns(table, empty))
        else:
            encoded = self._encode(table)
        if not probability:
            return Scores(np.asarray(estimator.priority(encoded)), None)
        return Scores(*map(np.asarray, estimator.priority_and_probability(encoded)))

    def _probability_and_reasons(
        self, rows: pd.DataFrame, *, reasons: bool
    ) -> tuple[Floats, list[Reason]]:
        """Of rows that are encoded once; no reasons where they are not asked for."""
        encoded = self._encode(rows)
        column = list(self.classes_).index(self.positive_)
        probability = np.asarray(self._fitted().predict_proba(encoded))[:, column]
        return probability, self._explain(rows, encoded) if reasons else []

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _no_features(self) -> list[str]:
        roles = [self.target, self.time, self.entity, self.id]
        return [*(name for name in roles if name is not None), *self.drop]

    def _check_roles(self, frame: pd.DataFrame) -> None:
        if isinstance(self.drop, str):
            raise ValueError(f"drop= is a list of columns: [{self.drop!r}].")
        if self.amount is not None and self.amount in self.drop:
            raise ValueError(f"{self.amount!r} cannot be the amount and be kept out by drop=.")
        wanted = [*self._no_features(), *([self.amount] if self.amount else [])]
        unknown = [name for name in wanted if name not in frame.columns and name != self.target]
        if unknown:
            raise ValueError(f"The table has no column {', '.join(map(repr, unknown))}.")

    def _encode(self, table: Table) -> pd.DataFrame:
        check_is_fitted(self, "encoder_")
        return self._named(self.encoder_.transform(table))

    def _named(self, values: Floats) -> pd.DataFrame:
        return pd.DataFrame(values, columns=self.encoder_.output_index_, copy=False)

    def _spread_of_scores(self, encoded: pd.DataFrame) -> ColumnReference:
        """How the priorities of the fit's own rows are spread, by a sample of them."""
        at = np.random.default_rng(0).permutation(len(encoded))[:_SCORED]
        score = np.asarray(self.estimator_.priority(encoded.iloc[np.sort(at)]))
        return ColumnReference.of_scores("score", score, np.ones(score.size))

    def _name_of(self, known: int) -> str:
        """What a known positive is called: its identifier, or its line in the file of the fit."""
        line = getattr(self, "known_lines_", {}).get(known)
        return self.known_names_.get(known, "" if line is None else row_name(line))

    def name_known_rows(self, numbers: Ints) -> None:
        """Let reasons call known positives by their numbers in a file, where no identifier is kept.

        Parameters
        ----------
        numbers : ndarray of int
            The number of each row of the fit, as :func:`rarefind.data.read.row_numbers` has them.
        """
        self.known_lines_: dict[int, int] = {row: int(numbers[row]) for row in self.known_rows_}


def _by_column(contributions: dict[str, float], column_of: dict[str, str]) -> dict[str, float]:
    """What encoded columns add to the score, added up by the table's own."""
    found: dict[str, float] = {}
    for name, added in contributions.items():
        found[column_of[name]] = found.get(column_of[name], 0.0) + added
    return found
