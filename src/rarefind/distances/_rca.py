"""RCA: whiten what varies among rows known to be alike."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from rarefind._core.checks import check_finite, check_matrices, check_spread
from rarefind._core.types import ArrayLike, Floats, Ints, Table
from rarefind.distances._base import MahalanobisTransformer, with_fixed_signs


class RCA(MahalanobisTransformer):
    """Relevant component analysis: the inverse of the covariance within chunklets.

    A chunklet is a set of rows known to be of one kind. What varies inside chunklets is noise for
    the question asked, so RCA makes it white: M is the inverse of the covariance of the rows about
    the means of their chunklets [1]_ [2]_. The map L with LᵀL = M is the transposed Cholesky factor
    of M, as in section 1.6.2 of [4]_: a triangle, with one direction for each column, of what the
    later columns leave of it. The learned distance does not change when columns are scaled.

    Parameters
    ----------
    n_components : int, default=None
        Directions kept; by default as many as columns. Fewer are those in which all rows vary most
        for their variance within chunklets, as in Fisher's discriminant. Only as many as there are
        chunklets, less one, differ in that: one for two classes. More are refused, as they would be
        arbitrary.
    reg : float, default=1e-6
        Share of each column's variance added to its variance within chunklets, so that columns that
        do not vary there, or follow from others, give a finite distance. With 0 such columns are
        refused.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        The map L: an upper triangle with a positive diagonal, or the most relevant direction first
        with ``n_components``.
    n_features_in_, feature_names_in_
        Number and names of the columns of the fit.

    References
    ----------
    .. [1] A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall, "Learning a Mahalanobis Metric from
       Equivalence Constraints", JMLR 6, 2005. The regularisation is ours.
    .. [2] N. Shental, T. Hertz, D. Weinshall, M. Pavel, "Adjustment Learning and Relevant Component
       Analysis", ECCV 2002.
    .. [3] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 3, for learned distances on imbalanced data.
    .. [4] N. Ajakan, "Ingénierie de la représentation des variables pour la classification binaire
       à partir des données déséquilibrées", master's thesis, Université Laval, Québec.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from rarefind.data import load_keel
    >>> from rarefind.distances import RCA
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> X, y = load_keel("abalone9-18")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(RCA(), GammaKNNClassifier()).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.62
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, n_components: int | None = None, *, reg: float = 1e-6) -> None:
        self.n_components = n_components
        self.reg = reg

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: ArrayLike | None = None, chunks: ArrayLike | None = None) -> Self:
        """Learn the distance.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,), default=None
            The labels: without ``chunks``, each class is a chunklet.
        chunks : array-like of int of shape (n,), default=None
            The chunklet of each row, -1 for none; the labels are then not used.

        Returns
        -------
        self
        """
        if chunks is None:
            X, chunk = self._start_fit(X, y)
        else:
            X, chunk = self._start_from_chunks(X, chunks)
        kept = self._check_n_components(self.n_components)
        chunklets = int(chunk.max()) + 1
        if self.n_components is not None and kept >= chunklets:
            raise ValueError(
                f"n_components={kept} directions cannot be told apart by {chunklets} classes or "
                f"chunklets, which have {chunklets - 1}: ask for at most that many, or leave "
                "n_components out."
            )
        within, total = _covariances(X, chunk)
        # A constant column varies nowhere: any number makes it harmless.
        spread = np.where(np.diag(total) > 0, np.diag(total), 1.0)
        within[np.diag_indices_from(within)] += self.reg * spread
        root = _upper_root(within, spread)
        if root is None:
            raise ValueError(
                f"The covariance within chunklets is singular with reg={self.reg}: raise reg, or "
                "leave out columns that are constant in every chunklet or follow from others."
            )
        # C = VVᵀ makes C⁻¹ = V⁻ᵀV⁻¹, and V⁻ᵀ, a lower triangle, its Cholesky factor.
        components = solve_triangular(root, np.eye(len(root)))
        if self.n_components is not None:
            # In the whitened space: the directions in which all rows vary most.
            _, vectors = np.linalg.eigh(components @ total @ components.T)
            components = with_fixed_signs(vectors[:, ::-1][:, :kept].T @ components)
        self.components_ = np.ascontiguousarray(components)
        return self

    def _start_from_chunks(self, X: Table, chunks: ArrayLike) -> tuple[Floats, Ints]:
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
        check_finite(self, X)
        check_spread(self, X)
        check_matrices(self, X.shape[1], 4)
        given = check_array(chunks, ensure_2d=False, dtype=None)
        check_consistent_length(X, given)
        if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer) or given.min() < -1:
            raise ValueError("chunks holds a whole number for each row, -1 for no chunklet.")
        if not (np.bincount(given + 1)[1:] > 1).any():
            raise ValueError("No chunklet holds two rows: there is nothing to learn from.")
        inside = given >= 0
        return X[inside], np.unique(given[inside], return_inverse=True)[1]


def _upper_root(covariance: Floats, spread: Floats) -> Floats | None:
    """The upper triangle V with VVᵀ = C; None where C is singular, to the digits there are.

    A column is taken to follow from the later ones where they leave less of its variance than
    rounding makes.
    """
    scale = np.sqrt(spread)
    flipped = (covariance / np.outer(scale, scale))[::-1, ::-1]
    try:
        root = np.linalg.cholesky(flipped)[::-1, ::-1]
    except np.linalg.LinAlgError:
        return None
    if np.diag(root).min() ** 2 <= 10 * len(root) * np.finfo(float).eps:
        return None
    return np.asarray(root * scale[:, None])


def _covariances(X: Floats, chunk: Ints) -> tuple[Floats, Floats]:
    """Covariance about the means of the chunklets, and about the mean of all."""
    size = np.bincount(chunk)
    means = np.stack([np.bincount(chunk, column) for column in X.T], axis=1) / size[:, None]
    inside, around = X - means[chunk], X - X.mean(axis=0)
    return inside.T @ inside / len(X), around.T @ around / len(X)
