import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from rarefind.neighbors import ME2Classifier
from rarefind.neighbors.ellipsoids import solve


def fitted(n=400, **options):
    X, y = make_classification(n, 3, n_informative=3, n_redundant=0, weights=[0.9], random_state=0)
    X /= np.abs(X).max()
    return X, y == 1, ME2Classifier(0.3, threshold=None, **options).fit(X, y)


def test_one_half_is_the_largest_constant_of_the_norm_inequality():
    worst = minimize_scalar(lambda b: (1 + b * b) / (1 + b) ** 2, bounds=(0, 10), method="bounded")
    assert worst.x == pytest.approx(1, abs=1e-4)
    assert worst.fun == pytest.approx(0.5)


def test_the_bound_is_theorem_2_for_each_of_all_centres():
    X, positive, model = fitted(lam=0.1)
    n, p = (~positive).sum(), positive.sum()
    found = model.bound(0.1)
    k = max(1, 4 * (X**2).sum(axis=1).max())
    for i, ellipsoid in enumerate(model.ellipsoids_):
        offsets = X[~positive] - ellipsoid.centre
        depth = ellipsoid.radius - np.einsum("ij,jk,ik->i", offsets, ellipsoid.matrix, offsets)
        risk = np.maximum(depth, 0).mean()
        assert found.risk[i] == pytest.approx(risk, rel=1e-6, abs=1e-12)
        least = 0.5 * min(ellipsoid.mu, ellipsoid.lam)
        expected = (
            risk
            + 4 * k**2 / (n * least)
            + (8 * k**2 / least + ellipsoid.max_radius) * np.sqrt(np.log(p / 0.1) / (2 * n))
        )
        assert found.bound[i] == pytest.approx(expected)
    assert (found.risk < found.sharper).all()
    assert (found.sharper < found.bound).all()
    assert found.vacuous.all()
    assert f"Theorem 2 is vacuous for all {p} ellipsoids" in str(found)


@pytest.mark.parametrize(
    ("prices", "sentence"),
    [
        ({"mu": 10, "lam": 100}, "is vacuous for all 209 ellipsoids"),
        ({"mu": 10, "lam": 100}, "the sharper constant bounds 209 of these 209."),
        ({"mu": 30, "lam": 1000}, "is vacuous for 47 of 209 ellipsoids"),
        ({"mu": 1e7, "lam": 1e7}, "bounds the loss of all 209 ellipsoids on new negatives."),
    ],
)
def test_the_sentence_says_which_bounds_are_of_use(prices, sentence):
    _, _, model = fitted(2000, **prices)
    assert sentence in str(model.bound())


def test_no_loss_changes_by_more_than_the_stability_allows():
    """Replace one negative by another many times; compare all losses with β/n."""
    rng = np.random.default_rng(0)
    n, bound, mu, lam = 40, 1.0, 0.5, 0.2
    offsets = rng.uniform(-1, 1, size=(n, 2)) / np.sqrt(2)

    def losses(points, at):
        found = solve(points, n, bound, mu, lam, np.zeros(n), 1e-13, 5000)
        return np.maximum(found[0] - np.einsum("ij,jk,ik->i", at, found[1], at), 0)

    beta = 1 / mu + 1 / lam
    largest = 0.0
    for i in range(n):
        other = offsets.copy()
        other[i] = rng.uniform(-1, 1, size=2) / np.sqrt(2) if i % 2 else 0
        at = np.vstack([offsets, other, rng.uniform(-0.7, 0.7, size=(100, 2))])
        largest = max(largest, np.abs(losses(offsets, at) - losses(other, at)).max())
    assert 0 < largest <= beta / n


@pytest.mark.parametrize("delta", [0, 1, -0.1])
def test_delta_is_a_probability(delta):
    _, _, model = fitted(lam=0.1)
    with pytest.raises(ValueError, match="delta is a probability"):
        model.bound(delta)


def test_an_unfitted_model_has_no_bound():
    with pytest.raises(NotFittedError):
        ME2Classifier().bound()
