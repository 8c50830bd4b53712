"""How much the loss of an excluding ellipsoid on new negatives can exceed that on known ones.

The loss of a negative is ℓ = [R − ‖x − c‖²_M]₊. (The paper writes a second 1/n inside ℓ, which its
problem (5) already has outside; with it the loss would vanish by itself as n grows.) For two
solutions (R, M) and (R′, M′), with ΔR and ΔM their differences,

    |ℓ − ℓ′| ≤ |ΔR| + ‖x − c‖²‖ΔM‖ ≤ k(|ΔR| + ‖ΔM‖),  k = max(1, 4K²) for rows of norm up to K.

Theorem 2 follows with any κ that satisfies inequality (9), κ(a + b)² ≤ a² + b² for a, b ≥ 0. As
2(a² + b²) − (a + b)² = (a − b)² ≥ 0, with equality at a = b, the largest such κ is 1/2.

A sharper constant needs no κ. Let q = μΔR² + λ‖ΔM‖² for the solutions of two samples that differ
in one negative. Each objective is a convex function plus the quadratic one, so at the other's
solution it exceeds its minimum by at least q. Adding the two, 2q is at most the change of the two
differing losses, 2C√q/n, where C² = 1/μ + D⁴/λ and D² ≥ ‖x − c‖², by Cauchy and Schwarz. So
√q ≤ C/n, and no loss changes by more than β/n with β = C². Then L − L̂ is at most β/n in
expectation, one negative moves it by at most (2β + B)/n, and McDiarmid's inequality gives

    L ≤ L̂ + β/n + (2β + B)·√(ln(1/δ)/2n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rarefind._core.types import Bools, Floats
from rarefind.neighbors.ellipsoids import Ellipsoid, EllipsoidRows

_KAPPA = 0.5


class EllipsoidBounds(NamedTuple):
    """Bounds of the expected loss on new negatives, one entry an ellipsoid.

    All hold together with probability ``1 - delta``. The loss is how deep a negative lies in the
    ellipsoid, in squared distance, 0 outside.
    """

    delta: float
    #: Mean loss of the training negatives.
    risk: Floats
    #: Theorem 2 of the paper, with κ = 1/2.
    bound: Floats
    #: The same argument without the norm inequality: never above ``bound``.
    sharper: Floats
    #: The largest loss there can be, B.
    largest_loss: Floats

    @property
    def vacuous(self) -> Bools:
        """Where Theorem 2 says no more than that the loss is at most ``largest_loss``."""
        return np.asarray(self.bound >= self.largest_loss)

    def __str__(self) -> str:
        count, vacuous = self.bound.size, int(self.vacuous.sum())
        which = f"all {count}" if vacuous == count else f"{vacuous} of {count}"
        helped = int((self.vacuous & (self.sharper < self.largest_loss)).sum())
        text = f"With probability {1 - self.delta:.4g}, Theorem 2 "
        if not vacuous:
            return text + f"bounds the loss of all {count} ellipsoids on new negatives."
        return (
            text + f"is vacuous for {which} ellipsoids: its bound is not below the largest loss "
            f"there can be; the sharper constant bounds {helped} of these {vacuous}."
        )


def stability_bounds(
    ellipsoids: Sequence[Ellipsoid], rows: EllipsoidRows, delta: float
) -> EllipsoidBounds:
    """Bound all ellipsoids together: each with probability δ/p, by the union bound."""
    n = rows.negatives.size
    deviation = np.sqrt(np.log(len(ellipsoids) / delta) / (2 * n))
    risk, limit, mu, lam = (
        np.array([getattr(e, name) for e in ellipsoids])
        for name in ("loss", "max_radius", "mu", "lam")
    )
    negatives = rows.X[rows.negatives]
    largest_norm = max(
        float((rows.X[part] ** 2).sum(axis=1).max()) for part in (rows.positives, rows.negatives)
    )
    k = max(1.0, 4 * largest_norm)
    beta = 2 * k**2 / (_KAPPA * np.minimum(mu, lam))
    widest = np.array([((negatives - e.centre) ** 2).sum(axis=1).max() for e in ellipsoids])
    beta_sharper = 1 / mu + widest**2 / lam
    return EllipsoidBounds(
        delta,
        risk,
        risk + 2 * beta / n + (4 * beta + limit) * deviation,
        risk + beta_sharper / n + (2 * beta_sharper + limit) * deviation,
        limit,
    )
