"""From a table of numbers, text, booleans and dates to an array of floats, and back in words."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rarefind._core.saved import saved
from rarefind._core.types import Array, Floats, Table
from rarefind.data._arrow_columns import encode_column
from rarefind.data._encoder_state import ENCODER_STATE
from rarefind.data._plan import EncoderSettings, UninformativeError, learn
from rarefind.data.columns import (
    BooleanPlan,
    LevelCodesPlan,
    LevelsPlan,
    Plan,
    from_state,
    to_state,
    value_text,
)
from rarefind.data.frames import as_frame, as_piece, column_names, has_names
from rarefind.data.row_encoder import encode_one_row

_STATE_VERSION = 1


def _unwrap(version: int, state: dict[str, Any]) -> dict[str, Any]:
    """The state of version 1, which had it in a dict of its own."""
    return dict(state["state"])


@saved("table-encoder", 2, state=ENCODER_STATE, upgrade=_unwrap)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a mixed table into floats, and remember what each of them means.

    Each column becomes, by what it holds:

    - numbers: one output; booleans: one output of 0 and 1;
    - text: one output a level. A level not seen at fit has 0 in all of them. Beyond `max_levels`
      levels, the most frequent have an output each, the others share one, and one more is the
      share of the training rows that had the level. A missing value is a level of its own if
      values were missing at fit. Or, with ``levels="code"``, one output: the number of the level;
    - dates: days since the first date at fit, month, weekday (Monday is 0) and hour, those of
      them that vary.

    Columns are found by name: their order does not matter, and further columns are not read.

    Parameters
    ----------
    missing : {"keep", "fill"}, default="keep"
        Leave missing numbers, booleans and dates as NaN, for methods that take it; or fill them in
        with the training median (booleans: the more frequent value) and mark them in an output of
        their own if values were missing at fit.
    scale : bool, default=False
        For methods that measure distances: numbers, parts of dates and frequencies have mean 0 and
        standard deviation 1 at fit, and two rows that differ in a text column are at distance 1 in
        it, as are two that differ in a boolean.
    max_levels : int, default=30
        Levels of a text column that have an output, or a number, of their own.
    levels : {"one-hot", "code"}, default="one-hot"
        ``"code"`` is for methods that split levels into two groups, such as rarefind's trees with
        ``categorical_features=encoder.level_outputs_``. A text column becomes one output, called
        as the column: the number of the level, 0 for the first in the order of their names, and
        NaN where missing. All levels not seen at fit have one number more. Beyond `max_levels`
        levels, all but the most frequent have that number as well. There is no output for how
        frequent a level is. Numbers of levels have no scale and no median, so ``scale=True`` and
        ``missing="fill"`` are refused.
    drop : list of str, default=()
        Columns never to be read.

    Attributes
    ----------
    columns_ : list of str
        The columns a table must have.
    original_columns_ : list of str
        For each output, the column it comes from.
    output_index_ : Index
        Names of the outputs, as columns of a frame.
    level_outputs_ : list of str
        Names of the outputs that are numbers of levels; empty with ``levels="one-hot"``.
    plans_ : list
        How each of the columns is read and encoded.
    dropped_ : dict of str to str
        Columns without information, and why: all missing, one value, or a text that is different in
        every row.
    n_features_in_ : int
        Columns of the table at fit.
    feature_names_in_ : ndarray of str
        Their names, if they had some.

    See Also
    --------
    read_table : Read a table from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from rarefind.data import TableEncoder
    >>> table = pd.DataFrame({"amount": [20.0, 80.0, 50.0], "country": ["FR", "BE", "FR"]})
    >>> encoder = TableEncoder(scale=True).fit(table)
    >>> encoder.transform(table).round(2)
    array([[-1.22,  0.  ,  0.71],
           [ 1.22,  0.71,  0.  ],
           [ 0.  ,  0.  ,  0.71]])
    >>> encoder.get_feature_names_out().tolist()
    ['amount', 'country = BE', 'country = FR']
    >>> encoder.describe(0, 0.5)
    ('amount', '62.2474')
    """

    _parameter_constraints = {  # noqa: RUF012
        "missing": [StrOptions({"keep", "fill"})],
        "scale": ["boolean"],
        "max_levels": [Interval(Integral, 1, None, closed="left")],
        "levels": [StrOptions({"one-hot", "code"})],
        "drop": [list, tuple, set],
    }

    columns_: list[str]
    original_columns_: list[str]
    output_index_: pd.Index[Any]
    level_outputs_: list[str]
    plans_: list[Plan]
    dropped_: dict[str, str]
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        *,
        missing: str = "keep",
        scale: bool = False,
        max_levels: int = 30,
        levels: str = "one-hot",
        drop: list[str] | tuple[str, ...] | set[str] = (),
    ) -> None:
        self.missing = missing
        self.scale = scale
        self.max_levels = max_levels
        self.levels = levels
        self.drop = drop

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: Any = None) -> Self:
        """Learn what each column holds.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table or array of shape (n, d)
            The training rows.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        settings = self._settings()
        frame = as_frame(X)
        if not len(frame):
            raise ValueError("Found a table with 0 sample(s): there is nothing to learn from.")
        self._check_drop(frame)
        plans: list[Plan] = []
        dropped: dict[str, str] = {}
        for name in frame.columns:
            if name in self.drop:
                continue
            try:
                plans.append(learn(frame[name], settings))
            except UninformativeError as reason:
                dropped[name] = str(reason)
        if not plans:
            raise ValueError(
                f"No column of the table has any information (n_samples={len(frame)}): each has "
                "one value, none, or a different text in every row."
            )
        return self._set_fitted(list(frame.columns), has_names(X), plans, dropped)

    def transform(self, X: Table) -> Floats:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table or array of shape (n, d)
            The rows. An array has the columns of the fit in their order. A dict is one row, and
            takes the least time.

        Returns
        -------
        ndarray of shape (n, n_outputs)
        """
        return np.ascontiguousarray(self.transform_columns(X))

    def transform_columns(self, X: Table, empty: Callable[..., Floats] = np.empty) -> Floats:
        """Encode rows, with each output in one piece of memory: for what reads columns.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table or array of shape (n, d)
            The rows.
        empty : callable, default=numpy.empty
            Where the memory comes from; to use it again takes less time than to get new.

        Returns
        -------
        ndarray of shape (n, n_outputs), in Fortran order
        """
        check_is_fitted(self)
        row = encode_one_row(self, X)
        if row is not None:
            return row
        by_name = isinstance(X, pa.Table) and hasattr(self, "feature_names_in_")
        table = as_piece(X, 0) if by_name else self._align(as_frame(X), has_names(X))
        names = set(column_names(table))
        lacking = [name for name in self.columns_ if name not in names]
        if lacking:
            raise ValueError(
                f"The table lacks {'column' if len(lacking) == 1 else 'columns'} "
                f"{', '.join(map(repr, lacking))}, which the encoder was fitted with: add "
                f"{'it' if len(lacking) == 1 else 'them'}, empty where nothing is known."
            )
        outputs = empty((len(table), len(self.original_columns_)), order="F")
        start = 0
        for plan in self.plans_:
            own = outputs[:, start : start + len(plan.names)]
            if by_name:
                encode_column(plan, table, own)
            else:
                own[:] = plan.encode(table[plan.column])
            start += own.shape[1]
        return outputs

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the outputs: ``amount``, ``country = FR``, ``opened: weekday``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used, but checked: the names of the columns at fit.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is not None:
            self._check_input_features(list(input_features))
        return self._names.copy()

    def describe(self, output_index: int, value: float) -> tuple[str, str]:
        """What a value of an output means: the column, and the value in its own words.

        Parameters
        ----------
        output_index : int
            Which output.
        value : float
            Its value, or a threshold on it. For a level, above 0 means the level and 0 any other;
            the number of a level means the level, and one beyond them any other; a threshold on a
            month, weekday or hour is named by the last one before it.

        Returns
        -------
        column : str
        text : str
            ``"210.5"``, ``"FR"``, ``"not FR"``, ``"a Friday"``, ``"hour 3"``, ``"2026-03-01"``.
        """
        check_is_fitted(self)
        outputs = len(self.original_columns_)
        if not 0 <= output_index < outputs:
            raise ValueError(f"There is no output {output_index}: there are {outputs}, from 0 on.")
        plan, part = self._outputs[output_index]
        return plan.column, plan.describe(part, float(value))

    def is_flag(self, output_index: int) -> bool:
        """Whether an output says yes or no: of a level, a boolean, or a missing value."""
        name, plan = self._names[output_index], self._outputs[output_index][0]
        if isinstance(plan, LevelsPlan):
            return not name.endswith(": frequency")
        return isinstance(plan, BooleanPlan) or name.endswith(": missing")

    def level_codes(self, output_index: int) -> LevelCodesPlan | None:
        """What the numbers of levels in an output mean; None for an output of another kind."""
        plan = self._outputs[output_index][0]
        return plan if isinstance(plan, LevelCodesPlan) else None

    def describe_value(self, column: str, value: Any) -> str:
        """A value of a column of the table as :meth:`describe` would put it.

        Parameters
        ----------
        column : str
            One of ``columns_``.
        value : object
            What the table holds there.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        if column not in self.columns_:
            raise ValueError(f"The encoder does not read a column {column!r}.")
        plan = self.plans_[self.columns_.index(column)]
        return value_text(plan, pd.Series([value], name=column))

    def get_state(self) -> dict[str, Any]:
        """All that was learned, as dicts, lists, strings and numbers, which JSON can store.

        Returns
        -------
        dict
        """
        check_is_fitted(self)
        return {
            "version": _STATE_VERSION,
            "params": {
                "missing": str(self.missing),
                "scale": bool(self.scale),
                "max_levels": int(self.max_levels),
                "levels": str(self.levels),
                "drop": sorted(self.drop),
            },
            "input": list(self._input),
            "named": hasattr(self, "feature_names_in_"),
            "plans": [to_state(plan) for plan in self.plans_],
            "dropped": dict(self.dropped_),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableEncoder:
        """Restore a fitted encoder: the same outputs bit for bit.

        Parameters
        ----------
        state : dict
            From :meth:`get_state`.

        Returns
        -------
        TableEncoder
        """
        version = state.get("version") if isinstance(state, dict) else None
        if version != _STATE_VERSION:
            raise ValueError(
                f"This encoder state is of version {version!r} and {_STATE_VERSION} is known: "
                "open it with the rarefind that wrote it."
            )
        try:
            plans = [from_state(plan) for plan in state["plans"]]
            encoder = cls(**state["params"])
            return encoder._set_fitted(state["input"], state["named"], plans, state["dropped"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"This encoder state is damaged ({type(error).__name__}: {error}): fit again."
            ) from None

    def _set_fitted(
        self, input_columns: list[str], named: bool, plans: list[Plan], dropped: dict[str, str]
    ) -> Self:
        self.plans_ = plans
        # Reasons ask for these again and again.
        self._outputs = [(plan, part) for plan in plans for part in range(len(plan.names))]
        self._names = _unique([name for plan in plans for name in plan.names])
        self.output_index_ = pd.Index(self._names)
        self._input = list(input_columns)
        self.n_features_in_ = len(input_columns)
        if named:
            self.feature_names_in_ = np.array(input_columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.columns_ = [plan.column for plan in plans]
        self.original_columns_ = [plan.column for plan in plans for _ in plan.names]
        self.dropped_ = dict(dropped)
        coded = [isinstance(plan, LevelCodesPlan) for plan, _ in self._outputs]
        self.level_outputs_ = self._names[coded].tolist()
        return self

    def _settings(self) -> EncoderSettings:
        """What was asked for, if it can be had together."""
        fill, codes = self.missing == "fill", self.levels == "code"
        if codes and (fill or self.scale):
            raise ValueError(
                'levels="code" gives numbers of levels, which cannot be filled or scaled: use it '
                'with missing="keep" and scale=False, or take levels="one-hot".'
            )
        return EncoderSettings(fill, bool(self.scale), int(self.max_levels), codes)

    def _align(self, frame: pd.DataFrame, named: bool) -> pd.DataFrame:
        """Where the fit or the rows have no names, columns are matched by position."""
        if named and hasattr(self, "feature_names_in_"):
            return frame
        if frame.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {frame.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return frame.set_axis(self._input, axis=1)

    def _check_drop(self, frame: pd.DataFrame) -> None:
        # A misspelt name would let a column in that was meant to stay out.
        for name in self.drop:
            if name not in frame.columns:
                close = get_close_matches(str(name), list(frame.columns), n=1)
                hint = f"did you mean {close[0]!r}?" if close else "take it off the list."
                raise ValueError(f"There is no column {name!r} to drop: {hint}")

    def _check_input_features(self, names: list[Any]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and names != list(known):
            raise ValueError("input_features is not equal to feature_names_in_.")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _unique(names: list[str]) -> Array:
    """The names, with a number behind those that are there already."""
    found: dict[str, None] = {}
    for name in names:
        unique, copies = name, 1
        # A column may be called as an output of another.
        while unique in found:
            copies += 1
            unique = f"{name} ({copies})"
        found[unique] = None
    return np.array(list(found), dtype=object)
