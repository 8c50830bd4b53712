"""GMML: the geometric mean of two matrices, one formula and no iteration."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from rarefind._core.types import ArrayLike, Floats, Ints, Table
from rarefind.distances._base import MahalanobisTransformer, with_fixed_signs


class GMML(MahalanobisTransformer):
    """Geometric mean metric learning: M = S⁻¹ #ₜ D, in closed form.

    S is the mean of (x − x')(x − x')ᵀ over all pairs of one class, D that over all pairs of two
    classes. M makes the first kind of pair near under M and the second near under M⁻¹; the optimum
    lies on the geodesic from S⁻¹ (t = 0) to D (t = 1), at its middle for the problem of [1]_, where
    M S M = D. The sums over all pairs come from the scatter matrices of the classes, so a fit costs
    one pass over the rows, where [1]_ draws pairs.

    Scale the columns first: only at t = 0 does the scale of a column not matter.

    Parameters
    ----------
    t : float, default=0.5
        The place on the geodesic, from 0 to 1.
    reg : float, default=1e-3
        Pull towards the prior A₀: S + reg·A₀⁻¹ and D + reg·A₀, with S, D, A₀ and A₀⁻¹ brought to
        the same trace, so that it is a share of the mean variance.
    prior : "identity" or array-like of shape (d, d), default="identity"
        The matrix M is pulled to: symmetric, with eigenvalues above 0.

    Attributes
    ----------
    components_ : ndarray of shape (d, d)
        The map L.
    n_features_in_, feature_names_in_
        Number and names of the columns of the fit.

    Notes
    -----
    [1]_ writes S and D as sums. With means M is the same but for a factor, and ``reg`` does not
    depend on the number of rows.

    References
    ----------
    .. [1] P. Zadeh, R. Hosseini, S. Sra, "Geometric Mean Metric Learning", ICML 2016.
    .. [2] R. Viola, "Highly Imbalanced Learning, Application to Fraud Detection", thesis,
       Université de Lyon, 2022, chapter 3, which tunes t in [0, 1].

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rarefind.data import load_keel
    >>> from rarefind.distances import GMML
    >>> from rarefind.metrics import get_scorer
    >>> from rarefind.neighbors import GammaKNNClassifier
    >>> X, y = load_keel("abalone9-18")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = make_pipeline(StandardScaler(), GMML(), GammaKNNClassifier())
    >>> model = model.fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.57
    """

    _parameter_constraints = {  # noqa: RUF012
        "t": [Interval(Real, 0, 1, closed="both")],
        "reg": [Interval(Real, 0, None, closed="left")],
        "prior": [StrOptions({"identity"}), "array-like"],
    }

    def __init__(self, t: float = 0.5, *, reg: float = 1e-3, prior: Any = "identity") -> None:
        self.t = t
        self.reg = reg
        self.prior = prior

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Learn the distance.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels, of two classes or more.

        Returns
        -------
        self
        """
        X, codes = self._start_fit(X, y)
        similar, dissimilar = pair_moments(X, codes)
        prior = self._checked_prior(X.shape[1])
        similar = _towards(similar, _inverse(prior), self.reg)
        dissimilar = _towards(dissimilar, prior, self.reg)
        try:
            self.components_ = _geodesic(similar, dissimilar, self.t)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"The rows of one class do not vary in every direction, and reg={self.reg} does "
                "not make up for it: raise reg, or leave out columns that follow from others."
            ) from None
        return self

    def _checked_prior(self, d: int) -> Floats:
        if isinstance(self.prior, str):
            return np.eye(d)
        prior = check_array(self.prior, dtype=np.float64)
        symmetric = prior.shape == (d, d) and np.allclose(prior, prior.T)
        if not symmetric or np.linalg.eigvalsh(prior)[0] <= 0:
            raise ValueError(f"prior is a symmetric {d} × {d} matrix with eigenvalues above 0.")
        return prior


def pair_moments(X: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """Mean of (x − x')(x − x')ᵀ over all pairs of one class, and over all pairs of two.

    Over the n(n−1)/2 pairs of n rows the sum is n times their scatter about their mean.
    """
    n, d = X.shape
    size = np.bincount(codes)
    similar_pairs = float((size * (size - 1) // 2).sum())
    if similar_pairs == 0:
        raise ValueError(
            "No class has two rows, so there is no similar pair to learn from: give more rows."
        )
    similar = np.zeros((d, d))
    for c in np.flatnonzero(size > 1):
        similar += size[c] * _scatter(X[codes == c])
    dissimilar = n * _scatter(X) - similar
    return similar / similar_pairs, dissimilar / (n * (n - 1) / 2 - similar_pairs)


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _scatter(rows: Floats) -> Floats:
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred.T @ centred)


def _towards(matrix: Floats, prior: Floats, share: float) -> Floats:
    # Rows that are all copies have trace 0: the prior alone is then left, in its own units.
    trace = np.trace(matrix) or np.trace(prior)
    return np.asarray(matrix + share * trace / np.trace(prior) * prior)


def _geodesic(similar: Floats, dissimilar: Floats, t: float) -> Floats:
    """L with LᵀL = S⁻¹ #ₜ D.

    With S = RRᵀ, the congruence by Rᵀ takes S⁻¹ to I and D to RᵀDR, and with it the geodesic to
    the powers (RᵀDR)ᵗ; so L = (RᵀDR)^(t/2) R⁻¹, without a square root of a matrix.
    """
    root = cholesky(similar, lower=True)
    values, vectors = eigh(root.T @ dissimilar @ root)
    powers = np.maximum(values, 0.0) ** (t / 2)
    return with_fixed_signs(
        powers[:, None] * solve_triangular(root, vectors, lower=True, trans="T").T
    )
