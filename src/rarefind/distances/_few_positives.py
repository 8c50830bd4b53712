"""Problem (3.1) of MLFP: its value and gradient over all triplets, and its two solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from rarefind._core.deadline import check_time_left, deadline
from rarefind._core.types import Floats
from rarefind.distances._triplets import SortedDistances, hinges_above, hinges_below

# The hinge is bent over this share of the typical squared distance, less and less.
_BENDS = (1e-3, 1e-5)
# Steps looked back on by the line search of the projected gradient, which may rise for a while.
_MEMORY = 10


class Solution(NamedTuple):
    """A solved problem: the matrix (its diagonal where it has no more), its worth, its course."""

    matrix: Floats
    loss: float
    objective: float
    n_iter: int
    converged: bool


class TripletProblem:
    """The sums over all triplets, for a matrix M given whole or by its diagonal.

    Values are those of (3.1) divided by α² = (P/m)², in which the data term does not shrink with
    the share of positives; so ``mu`` is μ/α². Where rows are drawn to stand for more,
    ``positives_each`` and ``negatives_each`` say for how many.
    """

    def __init__(
        self,
        positives: Floats,
        negatives: Floats,
        *,
        positives_each: float = 1.0,
        negatives_each: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        # Distances do not change, and products of numbers near 0 keep more digits.
        centre = negatives.mean(axis=0)
        self.positives, self.negatives = positives - centre, negatives - centre
        p, n = positives_each * len(positives), negatives_each * len(negatives)
        self.size = p + n
        self.share = p / self.size
        scale = 1 / (self.size**3 * self.share**2)
        self._fn_weight = (1 - self.share) * scale * positives_each**2 * negatives_each
        self._fp_weight = self.share * scale * positives_each * negatives_each**2
        self._from_positives = SortedDistances.between(self.positives, self.negatives)
        self._from_negatives = SortedDistances.between(self.negatives, self.negatives)
        typical = float(np.median(self._from_positives.sorted))
        self.typical = typical if typical > 0 else 1.0

    def loss(self, matrix: Floats, c: float, bend: float = 0.0) -> tuple[float, Floats]:
        """The data term and its gradient; a hinge bent on (0, ``bend``) has one everywhere."""
        check_time_left(deadline())  # a fit asks for this hundreds of times
        near = _squared_distances(self.positives, self.positives, matrix)
        fn, fn_slope = hinges_below(self._from_positives, 1 - c + near, bend, self.n_jobs)
        far = _squared_distances(self.negatives, self.positives, matrix)
        fp, fp_slope = hinges_above(self._from_negatives, far - (1 - c), bend, self.n_jobs)
        gradient = self._fn_weight * _spread(
            self.positives, self.positives, fn_slope, matrix.ndim
        ) - self._fp_weight * _spread(self.negatives, self.positives, fp_slope, matrix.ndim)
        return self._fn_weight * fn + self._fp_weight * fp, gradient

    def objective(
        self, matrix: Floats, mu: float, c: float, bend: float = 0.0
    ) -> tuple[float, Floats]:
        """(3.1) over α², and its gradient."""
        loss, gradient = self.loss(matrix, c, bend)
        return loss + _pull(matrix, mu), gradient + 2 * mu * (matrix - _identity(matrix))

    def solve(
        self,
        mu: float,
        c: float,
        *,
        full: bool,
        constraint: bool,
        start: Floats | None = None,
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> Solution:
        """Minimise, the hinge bent less and less; the last bend decides about convergence."""
        d = self.positives.shape[1]
        matrix = (np.eye(d) if full else np.ones(d)) if start is None else start
        most = 1.0 if constraint else np.inf
        steps, converged = 0, False
        for share in _BENDS:
            bend = share * self.typical

            def at(m: Floats, bend: float = bend) -> tuple[float, Floats]:
                value, gradient = self.objective(m, mu, c, bend)
                return value / self.typical, gradient / self.typical

            solver = _projected_gradient if full else _bounded_quasi_newton
            matrix, taken, converged = solver(at, matrix, most, max_iter - steps, tol)
            steps += taken
            if steps >= max_iter:
                break
        converged = converged and share == _BENDS[-1]
        # A start that is the optimum was looked at once.
        loss, _ = self.loss(matrix, c)
        return Solution(matrix, loss, loss + _pull(matrix, mu), max(1, steps), converged)


_Function = Callable[[Floats], tuple[float, Floats]]


def _bounded_quasi_newton(
    function: _Function, start: Floats, most: float, max_iter: int, tol: float
) -> tuple[Floats, int, bool]:
    """A diagonal M by L-BFGS-B on [0, most]^d.

    Where rounding stops its line search, it forgets the curvature and goes on, and has converged
    when that gains nothing either.
    """
    at, value, steps = start, np.inf, 0
    while True:
        found = minimize(
            function,
            at,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, most)] * start.size,
            options={"maxiter": max(1, max_iter - steps), "ftol": 1e-3 * tol, "gtol": tol},
        )
        steps += int(found.nit)
        gain, at, value = value - found.fun, found.x, found.fun
        if found.success or (found.status == 2 and not gain > 1e-3 * tol * max(1.0, abs(value))):
            return at, steps, True
        if steps >= max_iter:
            return at, steps, False


def _projected_gradient(
    function: _Function, start: Floats, most: float, max_iter: int, tol: float
) -> tuple[Floats, int, bool]:
    """A full M by the spectral projected gradient (Birgin, Martínez, Raydan 2000)."""
    matrix = _clip_eigenvalues(start, most)
    value, gradient = function(matrix)
    recent, length = [value], 1.0
    for step in range(max(1, max_iter)):
        ahead = _clip_eigenvalues(matrix - gradient, most) - matrix
        if np.abs(ahead).max() <= tol:
            return matrix, step, True
        direction = _clip_eigenvalues(matrix - length * gradient, most) - matrix
        slope = float((gradient * direction).sum())
        share = 1.0
        while True:
            trial = matrix + share * direction
            trial_value, trial_gradient = function(trial)
            if trial_value <= max(recent) + 1e-4 * share * slope:
                break
            share /= 2
            if share < 1e-12:  # rounding hides what is left to gain
                return matrix, step, True
        moved, turned = trial - matrix, trial_gradient - gradient
        bent = float((moved * turned).sum())
        length = float(np.clip((moved**2).sum() / bent, 1e-6, 1e6)) if bent > 0 else 1e6
        matrix, value, gradient = trial, trial_value, trial_gradient
        if len(recent) == _MEMORY and max(recent) - value <= 1e-3 * tol * max(1.0, abs(value)):
            return matrix, step + 1, True
        recent = [*recent[-_MEMORY + 1 :], value]
    return matrix, max(1, max_iter), False


def _clip_eigenvalues(matrix: Floats, most: float) -> Floats:
    """The nearest matrix with eigenvalues in [0, most]."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.clip(values, 0.0, most)) @ vectors.T)


def _pull(matrix: Floats, mu: float) -> float:
    """The price mu‖M − I‖² of leaving the Euclidean distance."""
    return mu * float(((matrix - _identity(matrix)) ** 2).sum())


def _identity(matrix: Floats) -> Floats:
    return np.eye(len(matrix)) if matrix.ndim == 2 else np.ones(len(matrix))


def _squared_distances(a: Floats, b: Floats, matrix: Floats) -> Floats:
    """Squared distances under M between the rows of two tables."""
    left = a * matrix if matrix.ndim == 1 else a @ matrix
    right = b * matrix if matrix.ndim == 1 else b @ matrix
    square = (left * a).sum(axis=1)[:, None] + (right * b).sum(axis=1) - 2 * left @ b.T
    return np.asarray(np.maximum(square, 0.0))


def _spread(a: Floats, b: Floats, weight: Floats, ndim: int) -> Floats:
    """Σ w_ij (a_i − b_j)(a_i − b_j)ᵀ, or its diagonal."""
    by_a, by_b = weight.sum(axis=1), weight.sum(axis=0)
    if ndim == 1:
        return np.asarray(by_a @ a**2 + by_b @ b**2 - 2 * (a * (weight @ b)).sum(axis=0))
    cross = a.T @ (weight @ b)
    return np.asarray((a.T * by_a) @ a + (b.T * by_b) @ b - cross - cross.T)
