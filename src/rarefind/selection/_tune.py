"""Search for good parameters: Optuna underneath, resumable, the same trials the same answer."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone

from rarefind._core.deadline import OutOfTimeError, seconds_of, until
from rarefind._core.extras import extra
from rarefind._core.progress import progress_bar
from rarefind._core.types import ArrayLike, Ints, Label, Table
from rarefind.selection.cross_validation import folds
from rarefind.selection.labelled import Labelled

if TYPE_CHECKING:
    import optuna

Space = Mapping[str, Any]
# Seconds before the first word on how far a search is, and between two of them.
_PATIENCE, _EVERY = 2.0, 10.0


class Tuned(NamedTuple):
    """What :func:`tune` found."""

    estimator: Any
    params: dict[str, Any]
    value: float
    trials: pd.DataFrame


def tune(
    estimator: Any,
    space: Space,
    X: Table,
    y: ArrayLike,
    metric: str | Callable[..., float] = "average_precision",
    n_trials: int = 50,
    timeout: float | str | None = "10m",
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    pos_label: Label = None,
    random_state: int = 0,
    storage: str | Path | None = None,
    prune: bool = True,
    verbose: int = 1,
) -> Tuned:
    """Tune an estimator by cross-validation, for at most ten minutes by default.

    Trials follow one another, each proposed by Optuna's TPE from those before it with a seed of its
    own. So a search that was stopped and is resumed goes through the same trials as one that never
    stopped, and ends with the same answer (a ``timeout`` decides only how many there are).

    Parameters
    ----------
    estimator : classifier
        Its parameters outside ``space`` are kept.
    space : mapping
        For each parameter ``(low, high)`` for a number (whole if both are), ``(low, high, "log")``
        on a logarithmic scale, a list of choices, or an Optuna distribution.
    X, y : array-like
        The rows to tune on. Keep test rows out.
    metric : str or callable, default="average_precision"
        A name for :func:`rarefind.metrics.get_scorer`, or a scorer ``(estimator, X, y)``.
    n_trials : int, default=50
        Trials in all, those of an earlier run with the same ``storage`` included.
    timeout : float or str, default="10m"
        The time for all trials: seconds, or a length as ``"90s"``, ``"10m"`` or ``"1h"``; None for
        no limit. Afterwards no trial begins, and rarefind's own estimators give up the one under
        way; the first is always ended. A warning says how many trials were made. The best
        estimator is fitted to all rows after that.
    cv, groups
        As in :func:`folds`; the same folds for every trial.
    pos_label : label, default=None
        The positive label; by default the rarer one.
    random_state : int, default=0
        Seed of the folds and of the proposals.
    storage : str or Path, default=None
        A file that keeps the trials, so that the search can be stopped and resumed. It belongs to
        one search: other data, folds, estimator, metric, space or seed are refused.
    prune : bool, default=True
        Stop a trial early when its folds so far lie below the median of the trials before.
    verbose : int, default=1
        Above 0, say on standard error how far the search is, every ten seconds; 0 is silent.

    Returns
    -------
    Tuned
        ``estimator`` fitted on all rows with the best ``params``, its mean ``value`` over the
        folds, and the table of ``trials``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.datasets import make_classification
    >>> from rarefind.selection import tune
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> found = tune(LogisticRegression(), {"C": (1e-3, 1e3, "log")}, X, y, n_trials=5)
    >>> sorted(found.params), len(found.trials)
    (['C'], 5)
    """
    data = Labelled.of(X, y, groups, pos_label)
    scorer = data.scorer(metric)
    pairs = folds(X, data.y, cv, groups=groups, random_state=random_state)
    study = _open_study(storage, prune)
    if storage is not None:
        what = f"{type(estimator)} {estimator.get_params()} {metric} {data.pos_label}"
        # Functions print where they lie in memory, which another process need not share.
        named = re.sub(r" at 0x[0-9a-fA-F]+", "", what)
        asked = {
            "space": {name: repr(given) for name, given in space.items()},
            "seed": random_state,
            "measured": joblib.hash((named, np.asarray(X), data.y, pairs)),
        }
        _check_same_search(study, storage, asked)
    deadline = time.monotonic() + (
        seconds_of(timeout) if timeout is None or isinstance(timeout, str) else timeout
    )
    say = _Progress(type(estimator).__name__, n_trials, deadline, verbose)
    with progress_bar("Tuning", n_trials, 0) as step:
        step(_finished_trials(study))
        while (done := _finished_trials(study)) < n_trials:
            if done and time.monotonic() >= deadline:
                break
            try:
                with until(deadline if done else np.inf):
                    _run_trial(study, estimator, space, data, pairs, scorer, random_state)
            except OutOfTimeError:
                if not done or time.monotonic() < deadline:
                    raise  # the time of what this search is a part of is over
                break
            step(1)
            say(study)
    if done and done < n_trials:
        warnings.warn(
            f"The time was over after {done} of {n_trials} trials: give a longer timeout, or None "
            "for no limit.",
            UserWarning,
            stacklevel=2,
        )
    if not any(t.state.name == "COMPLETE" for t in study.trials):
        raise ValueError("No trial was completed; allow more trials or time.")
    params = _decode(space, study.best_params)
    best = data.fit(clone(estimator).set_params(**params))
    return Tuned(best, params, float(study.best_value), _trials_table(study, space))


class _Progress:
    """Says how far a search is, now and then."""

    def __init__(self, name: str, trials: int, deadline: float, verbose: int) -> None:
        self._name, self._trials, self._deadline = name, trials, deadline
        self._next = time.monotonic() + _PATIENCE if verbose else np.inf

    def __call__(self, study: optuna.Study) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        done = [t for t in study.get_trials(deepcopy=False) if t.state.name == "COMPLETE"]
        best = max((t.value for t in done if t.value is not None), default=np.nan)
        left = max(0.0, self._deadline - now)
        limit = f", at most {left:,.0f} s more" if left < np.inf else ""
        print(
            f"Tuning {self._name}: {_finished_trials(study):,} of {self._trials:,} trials, best "
            f"value {best:.4g}{limit}",
            file=sys.stderr,
        )


def _open_study(storage: str | Path | None, prune: bool) -> optuna.Study:
    with extra("tune", "tune"):
        import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        pruner = (
            optuna.pruners.MedianPruner(n_startup_trials=5) if prune else optuna.pruners.NopPruner()
        )
        study = optuna.create_study(
            study_name="rarefind",
            direction="maximize",
            storage=None if storage is None else f"sqlite:///{Path(storage).resolve().as_posix()}",
            pruner=pruner,
            load_if_exists=True,
        )
    finally:
        optuna.logging.set_verbosity(level)
    for trial in study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
        # Left by a search that was killed: it is run again under a new number.
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def _check_same_search(study: optuna.Study, storage: str | Path, asked: dict[str, Any]) -> None:
    """Trials are resumed only where a new one would be proposed and measured in the same way."""
    if study.user_attrs.get("made_for", asked) != asked:
        raise ValueError(
            f"{storage} has trials of another search: the estimator, the data, the folds, the "
            "metric, the space or the seed differ. Use another file."
        )
    study.set_user_attr("made_for", asked)


def _run_trial(
    study: optuna.Study,
    estimator: Any,
    space: Space,
    data: Labelled,
    pairs: list[tuple[Ints, Ints]],
    scorer: Callable[..., float],
    random_state: int,
) -> None:
    import optuna

    # A sampler of its own for each trial: its state need not survive a stop.
    study.sampler = optuna.samplers.TPESampler(seed=random_state + _finished_trials(study))
    trial = study.ask({name: _distribution(given) for name, given in space.items()})
    candidate = clone(estimator).set_params(**_decode(space, trial.params))
    values: list[float] = []
    try:
        for fold, (train, test) in enumerate(pairs):
            fitted = data.fit(candidate, train)
            values.append(float(scorer(fitted, *data.held_out(fitted, test, train))))
            if not np.isfinite(values[-1]):
                raise ValueError(
                    f"The metric is {values[-1]} with {trial.params}: it must be a number."
                )
            trial.report(float(np.mean(values)), fold)
            if fold < len(pairs) - 1 and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                return
    except BaseException:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        raise
    study.tell(trial, float(np.mean(values)))


def _finished_trials(study: optuna.Study) -> int:
    return sum(t.state.name in ("COMPLETE", "PRUNED") for t in study.get_trials(deepcopy=False))


def _distribution(given: Any) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if isinstance(given, BaseDistribution):
        return given
    if isinstance(given, list) and given:
        # Choices are kept by position: Optuna stores only plain values.
        return CategoricalDistribution(tuple(range(len(given))))
    if isinstance(given, tuple) and len(given) in (2, 3):
        low, high, log = given[0], given[1], len(given) == 3
        if not log or given[2] == "log":
            whole = isinstance(low, Integral) and isinstance(high, Integral)
            if whole:
                return IntDistribution(int(low), int(high), log=log)
            return FloatDistribution(float(low), float(high), log=log)
    raise ValueError(
        f'A space is (low, high), (low, high, "log") or a list of choices, not {given!r}.'
    )


def _decode(space: Space, params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: space[name][value] if isinstance(space[name], list) else value
        for name, value in params.items()
    }


def _trials_table(study: optuna.Study, space: Space) -> pd.DataFrame:
    rows = [
        {
            **_decode(space, t.params),
            "value": t.value if t.state.name == "COMPLETE" else None,
            "folds": len(t.intermediate_values),
            "state": t.state.name.lower(),
        }
        for t in study.trials
        if t.state.name in ("COMPLETE", "PRUNED")
    ]
    return pd.DataFrame(rows)
