"""A fitted list of conditions: how it scores, what its reasons are, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Self

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from rarefind._core.fields import Flag, Object, Perhaps
from rarefind._core.saved import check_object
from rarefind._core.state import State
from rarefind._core.types import Floats
from rarefind.base import CLASSIFIER_STATE, RareClassifier
from rarefind.conditions._condition_list import ConditionList, as_sql, as_text, read_json
from rarefind.conditions._json import read_into, to_plain_data
from rarefind.conditions._measures import Measures
from rarefind.conditions._reasons import reasons_of
from rarefind.data.categories import by_place
from rarefind.rules import Reason, RuleError, RuleSet
from rarefind.rules.branches import BranchList
from rarefind.rules.sql_columns import SqlColumns, own_columns
from rarefind.rules.sql_words import sql_name

#: What every list of conditions keeps in a model file.
CONDITION_LIST_STATE = CLASSIFIER_STATE | State(
    {
        "_is_encoded": Perhaps(Flag()),
        "_condition_list": Object("condition-list", most={"columns": "d"}, n="conditions"),
        "_measures": Object("condition-measures", n="conditions"),
    }
)


class ConditionListClassifier(RareClassifier):
    """Base of classifiers that are a list of weighted conditions, whatever learns the list."""

    n_jobs: int | None
    _condition_list: ConditionList
    _measures: Measures

    @property
    def conditions_(self) -> pd.DataFrame:
        """The list, with what each condition is worth on rows that nothing was learned from."""
        check_is_fitted(self)
        rules = self.to_rules()
        said = pd.DataFrame(
            {"rule": [r.text for r in rules], "weight": self._condition_list.weights}
        )
        said = pd.concat([said, self._measures.table()], axis=1)
        said.index = pd.Index([rule.name for rule in rules])
        return said

    @property
    def start_(self) -> float:
        """Score of a row for which no condition holds."""
        check_is_fitted(self)
        return self._condition_list.start

    @property
    def n_conditions_(self) -> int:
        """Length of the list."""
        check_is_fitted(self)
        return int(self._condition_list.weights.size)

    def condition_branches(self) -> BranchList:
        """The conditions as tests on the columns of the fit, in their order in the list."""
        check_is_fitted(self)
        listed = self._condition_list
        return BranchList(listed.tests.branches(), listed.combinations)

    def to_rules(self) -> RuleSet:
        """The conditions as rules c1, c2, …, in the order of :attr:`conditions_`."""
        check_is_fitted(self)
        names = self._feature_names()
        return self._condition_list.rules(names, by_place(getattr(self, "categories_", {}), names))

    def export_text(self) -> str:
        """The whole model as text: where the score starts, and what each condition adds.

        Returns
        -------
        str
            With precision and recall on unseen rows behind each condition.
        """
        check_is_fitted(self)
        notes = [""] * self.n_conditions_
        if self._measures.rows[0]:
            notes = [
                f"precision {row.precision:.2f} ({row.precision_low:.2f} to "
                f"{row.precision_high:.2f}), recall {row.recall:.2f}"
                for row in self._measures.table().itertuples()
            ]
        return as_text(self._condition_list, self.to_rules(), notes, self.threshold_)

    def to_sql(self, dialect: str = "ansi", table: str = "rows", output: str = "priority") -> str:
        """A query that gives each row of a table its priority, to the last bit.

        Parameters
        ----------
        dialect : {"ansi", "sqlite", "duckdb", "postgresql", "mysql"}, default="ansi"
            How names are quoted and numbers are written.
        table : str, default="rows"
            The table, with a column for each feature by its name; a missing value is NULL.
        output : str, default="priority"
            Name of the column with the priority.

        Returns
        -------
        str
            All columns of the table, and the priority.
        """
        check_is_fitted(self)
        columns = own_columns(self, self._feature_names(), dialect)
        columns.check_output(output)
        return self._query(columns, sql_name(table, dialect), output)

    def _query(self, columns: SqlColumns, rows: str, output: str) -> str:
        """The query on features that are read from the columns of a table."""
        return as_sql(self._condition_list, columns, rows, output)

    def to_json(self) -> str:
        """The whole model as JSON, which :meth:`from_json` reads.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return json.dumps(to_plain_data(self), ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A fitted model from what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON.

        Returns
        -------
        ConditionClassifier
            Scores as the one that was written.
        """
        whole = read_json(text)
        model = cls()
        try:
            read_into(model, whole)
            check_object(model)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise RuleError(f"This is not a list of conditions ({error}).") from None
        return model

    def _priority(self, X: Floats) -> Floats:
        return self._condition_list.score(X, self.n_jobs)

    def _row_function(self) -> Callable[[Floats], float]:
        return self._condition_list.row_score()

    def _explain(self, X: Floats) -> list[Reason]:
        scores = self._condition_list.score(X)
        return reasons_of(
            self._condition_list, X, self._feature_names(), scores, self._ranks(scores)
        )
