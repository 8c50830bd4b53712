"""The one door to what differs between scikit-learn versions, and to its private parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral, Real
from typing import Any

from sklearn import model_selection
from sklearn.metrics import _scorer
from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from rarefind._core.deadline import check_time_left, deadline
from rarefind._core.progress import progress_bar

__all__ = [
    "CallbackSupportMixin",
    "check_parameters",
    "may_be_an_object",
    "register_scorer",
    "report_progress",
    "tree_of",
    "with_callbacks",
]

# Parameters of these kinds alone are numbers, texts or truth values.
_PLAIN_CONSTRAINTS = (None, "boolean", "verbose", str, bool, int, float, Integral, Real)

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks yet."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


def check_parameters(cls: Any, given: dict[str, Any]) -> None:
    """Raise where parameters are not what the class says of them, as ``fit`` would."""
    constraints = getattr(cls, "_parameter_constraints", {})
    known = {name: value for name, value in given.items() if name in constraints}
    validate_parameter_constraints(constraints, known, caller_name=cls.__name__)


def may_be_an_object(cls: Any, name: str) -> bool:
    """Whether a parameter may be somebody else's object, such as a function or a splitter."""
    allowed = getattr(cls, "_parameter_constraints", {}).get(name, "no_validation")
    if isinstance(allowed, str):  # no_validation
        return True
    return not all(
        one in _PLAIN_CONSTRAINTS or isinstance(one, Interval | Options) for one in allowed
    )


def register_scorer(name: str, scorer: Callable[..., float]) -> None:
    """Make ``scoring=name`` work in scikit-learn; its own names are never replaced.

    scikit-learn has no public way to add a name. Where a version keeps its names elsewhere, the
    name is refused there and the scorer itself still works.
    """
    names = getattr(_scorer, "_SCORERS", None)
    if names is None or name in names:
        return
    names[name] = scorer
    for options in _accepted_names():
        options.add(name)


@cache
def _accepted_names() -> list[set[str]]:
    """The sets of names that searches and cross-validation check ``scoring`` against."""
    functions = (
        _scorer.check_scoring,
        _scorer.get_scorer,
        model_selection.cross_validate,
        model_selection.cross_val_score,
        model_selection.learning_curve,
        model_selection.permutation_test_score,
        model_selection.validation_curve,
    )
    checked = [getattr(function, "_skl_parameter_constraints", {}) for function in functions]
    # All searches share the constraint of their common base.
    checked.append(model_selection.GridSearchCV._parameter_constraints)
    constraints = [c for each in checked for c in each.get("scoring", [])]
    return [c.options for c in constraints if isinstance(c, StrOptions)]


@contextmanager
def report_progress(
    estimator: Any, task: str, steps: int, X: Any, y: Any, verbose: int = 0
) -> Iterator[Callable[[], None]]:
    """Report the steps of a fit to the estimator's callbacks, and on the terminal if verbose.

    Yields the function to call after each step, which gives up where the time is over that
    `rarefind._core.deadline.until` allows. The fit must be decorated by `with_callbacks`.
    """
    end = deadline()  # steps may be called by threads, which do not know it
    context = None
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=steps)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def step() -> None:
        check_time_left(end)
        if context is not None:
            inner = context.subcontext(task_name=task)
            inner.call_on_fit_task_begin(estimator=estimator)
            inner.call_on_fit_task_end(estimator=estimator)
        advance(1)

    with progress_bar(f"{type(estimator).__name__}: {task}", steps, verbose) as advance:
        yield step
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})


def tree_of(index: Any) -> Any:
    """The kd-tree of fitted `NearestNeighbors`, None where they are searched by brute force."""
    return index._tree
