"""What all learned distances share: the linear map, the checks of the input, the descent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rarefind._core.checks import check_finite, check_matrices, check_spread, clear_errors
from rarefind._core.labels import choose_positive
from rarefind._core.pairs import embed
from rarefind._core.sklearn_compat import CallbackSupportMixin
from rarefind._core.threads import limit_threads
from rarefind._core.types import ArrayLike, Bools, Floats, Ints, Label, Table

# Square matrices of the columns that a learner has at a time, at most: the map, what it is made
# from, a gradient and a step.
_MATRICES = 4


class MahalanobisTransformer(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base of the learned distances d²(x, x') = ‖L(x − x')‖² = (x − x')ᵀM(x − x'), M = LᵀL.

    A subclass writes ``fit``, which begins with :meth:`_start_fit` and sets ``components_``.
    """

    #: See :class:`rarefind.base.RareClassifier`.
    _squares_values: ClassVar[bool] = True

    components_: Floats
    n_features_in_: int

    def transform(self, X: Table) -> Floats:
        """Place rows where the learned distance is the Euclidean one.

        A row's place does not depend on the other rows of the call.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_components)
            The product of ``X`` and the transpose of ``components_``.
        """
        check_is_fitted(self)
        with clear_errors(self, X):
            X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        check_finite(self, X)
        return embed(np.ascontiguousarray(X), self.components_)

    def get_mahalanobis_matrix(self) -> Floats:
        """Give the matrix M of the squared distance (x − x')ᵀM(x − x').

        Returns
        -------
        ndarray of shape (d, d)
            Symmetric, with no negative eigenvalue.
        """
        check_is_fitted(self)
        return np.asarray(self.components_.T @ self.components_)

    def _start_fit(self, X: Table, y: ArrayLike | None) -> tuple[Floats, Ints]:
        """Check the training table and encode ``y`` by class."""
        options = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
        with clear_errors(self, X):
            X, y = validate_data(self, X, y, ensure_min_samples=2, **options)
        check_finite(self, X)
        check_spread(self, X)
        check_matrices(self, X.shape[1], _MATRICES)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                f"All {codes.size} rows are of class {classes[0]!s}: "
                f"{type(self).__name__} needs rows of two classes."
            )
        return X, codes

    def _start_binary_fit(
        self, X: Table, y: ArrayLike, pos_label: Label
    ) -> tuple[Floats, Bools, Label]:
        """Check a training table of two classes; mark its positives and say their label."""
        X, codes = self._start_fit(X, y)
        classes = np.unique(np.asarray(y))
        if classes.size != 2:
            raise ValueError(
                f"Only binary classification is supported: y holds {classes.size} classes."
            )
        chosen = choose_positive(classes, np.bincount(codes), pos_label)
        return X, np.asarray(classes[codes] == chosen), chosen

    def _check_n_components(self, wanted: int | None) -> int:
        if wanted is None:
            return self.n_features_in_
        if wanted > self.n_features_in_:
            raise ValueError(
                f"n_components={wanted} is more than the {self.n_features_in_} columns of X."
            )
        return wanted

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def components_of(matrix: Floats) -> Floats:
    """L with LᵀL = M, the longest row first; eigenvalues below 0 are rounding and become 0."""
    values, vectors = np.linalg.eigh(matrix)
    return with_fixed_signs(
        (vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))).T  # eigh gives them rising
    )


def with_fixed_signs(components: Floats) -> Floats:
    """The same rows, each with its largest entry positive: an eigenvector's sign is arbitrary."""
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], 1)
    return np.ascontiguousarray(components * np.where(largest < 0, -1.0, 1.0))


class Descent(NamedTuple):
    """Where a descent ended."""

    components: Floats
    value: float
    n_iter: int
    converged: bool


def descend(
    evaluate: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    max_iter: int,
    tol: float,
    step: Callable[[], None],
) -> Descent:
    """Minimise a piecewise smooth loss of the components by L-BFGS.

    The loss is measured in units of its value at the start, so that ``tol`` means the same for few
    rows and many. At a kink of the hinges the line search can fail: the descent then forgets the
    curvature and goes on, and has converged when that no longer helps either.
    """
    first, _ = evaluate(start)
    unit = first if first > 0 else 1.0

    def scaled(flat: Floats) -> tuple[float, Floats]:
        value, slope = evaluate(flat.reshape(start.shape))
        return value / unit, slope.ravel() / unit

    at, value, done = start.ravel(), first / unit, 0
    while done < max_iter:
        found = minimize(
            scaled,
            at,
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: step(),
            options={"maxiter": max_iter - done, "ftol": tol, "gtol": 0.0, "maxcor": 20},
        )
        done += max(1, found.nit)
        gain, at, value = value - found.fun, found.x, found.fun
        if found.success or (found.status == 2 and gain <= tol):
            return Descent(at.reshape(start.shape), value * unit, done, True)
        if found.status == 1:
            break
    return Descent(at.reshape(start.shape), value * unit, done, False)


def few_threads(X: Floats, n_jobs: int | None) -> AbstractContextManager[Any]:
    """The threads of matrix products while the block runs: one for a small table.

    A descent makes many products; on small ones threads wait for each other longer than they work.
    """
    if n_jobs is not None:
        return limit_threads(effective_n_jobs(n_jobs))
    return limit_threads(1) if X.size < 200_000 else nullcontext()


def principal_axes(X: Floats, n_components: int) -> Floats:
    """The identity, or the first principal axes when fewer components are wanted."""
    if n_components == X.shape[1]:
        return np.eye(n_components)
    _, vectors = np.linalg.eigh(np.cov(X, rowvar=False))
    return with_fixed_signs(vectors[:, ::-1][:, :n_components].T)
