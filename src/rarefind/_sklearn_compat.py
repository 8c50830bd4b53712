"""The one door to what differs between scikit-learn versions, and to its private parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.metrics import _scorer

from rarefind._progress import progress_bar

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks yet."""

    def with_callbacks(method: Any) -> Any:  # type: ignore[no-redef]
        """Return the method as it is."""
        return method


def register_scorer(name: str, scorer: Callable[..., float]) -> None:
    """Make ``scoring=name`` work in scikit-learn; its own names are never replaced."""
    names = getattr(_scorer, "_SCORERS", None)
    if names is not None:
        names.setdefault(name, scorer)


@contextmanager
def report_progress(
    estimator: Any, task: str, steps: int, X: Any, y: Any, verbose: int = 0
) -> Iterator[Callable[[], None]]:
    """Report the steps of a fit to the estimator's callbacks, and on the terminal if verbose.

    Yields the function to call after each step. The fit must be decorated by `with_callbacks`.
    """
    context = None
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=steps)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def step() -> None:
        if context is not None:
            inner = context.subcontext(task_name=task)
            inner.call_on_fit_task_begin(estimator=estimator)
            inner.call_on_fit_task_end(estimator=estimator)
        advance(1)

    with progress_bar(f"{type(estimator).__name__}: {task}", steps, verbose) as advance:
        yield step
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
