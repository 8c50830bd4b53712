import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from rarefind.data import load_keel
from rarefind.distances import GMML, ITML, LMNN, RCA, ImbML
from rarefind.distances._base import components_of, descend

ALL = [LMNN(), LMNN(n_neighbors=5, mu=0.8), ITML(), GMML(), GMML(t=0.2), ImbML(), RCA()]


@parametrize_with_checks(ALL)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def yeast():
    table, labels = load_keel("yeast4")
    rows = np.arange(0, len(table), 4)
    table = (table - table.mean()) / table.std().replace(0, 1)
    return table.iloc[rows], labels.iloc[rows]


def each(*skip):
    return pytest.mark.parametrize(
        "learner",
        [m for m in (LMNN(), ITML(), GMML(), ImbML(), RCA()) if type(m) not in skip],
        ids=lambda m: type(m).__name__,
    )


@each()
def test_distances_in_the_new_space_are_the_learned_ones(learner, yeast):
    X, y = yeast
    model = clone(learner).fit(X, y)
    placed, matrix = model.transform(X), model.get_mahalanobis_matrix()
    gap = (X.iloc[0] - X.iloc[1]).to_numpy()
    assert ((placed[0] - placed[1]) ** 2).sum() == pytest.approx(gap @ matrix @ gap)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-9 * np.abs(matrix).max()
    np.testing.assert_allclose(matrix, matrix.T)


@each()
def test_a_row_is_placed_by_itself(learner, yeast):
    X, y = yeast
    model = clone(learner).fit(X, y)
    together = model.transform(X)
    alone = np.vstack([model.transform(X.iloc[[i]]) for i in range(20)])
    np.testing.assert_array_equal(together[:20], alone)


@each()
def test_the_same_seed_gives_the_same_distance(learner, yeast):
    X, y = yeast
    model = clone(learner)
    if "random_state" in model.get_params():
        model.set_params(random_state=3)
    first, second = clone(model).fit(X, y), clone(model).fit(X, y)
    np.testing.assert_array_equal(first.components_, second.components_)


@each()
def test_names_come_out(learner, yeast):
    X, y = yeast
    model = clone(learner).fit(X, y).set_output(transform="pandas")
    names = list(model.transform(X).columns)
    assert names == [f"{type(learner).__name__.lower()}{i}" for i in range(X.shape[1])]


@each()
def test_a_hole_is_named_by_its_column(learner):
    table = pd.DataFrame({"age": [1.0, 2, 3, 4], "income": [1.0, np.nan, 3, 4]})
    with pytest.raises(ValueError, match=r"'income' holds NaN in 1 of 4 rows"):
        clone(learner).fit(table, [0, 1, 0, 1])
    model = clone(learner).fit(table.fillna(2.5), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"'income' holds NaN"):
        model.transform(table)


@each()
def test_one_class_is_refused(learner):
    with pytest.raises(ValueError, match="needs rows of two classes"):
        clone(learner).fit(np.arange(8.0).reshape(4, 2), np.ones(4))


@each(ImbML)
def test_more_than_two_classes_and_any_labels(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["left", "right", "up"])[rng.integers(3, size=60)]
    assert clone(learner).fit(X, y).transform(X).shape == (60, 3)


@each()
def test_constant_columns_copies_and_a_single_positive(learner):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
    X[10:20] = X[:10]
    y = np.arange(40) == 3
    assert np.isfinite(clone(learner).fit(X, y).transform(X)).all()


def test_components_of_a_matrix_and_of_one_that_rounding_made_negative():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 5))
    found = components_of(root.T @ root - 1e-15 * np.eye(5))
    np.testing.assert_allclose(found.T @ found, root.T @ root, atol=1e-12)
    assert np.all(np.diff((found**2).sum(axis=1)) <= 1e-12), "longest first"


def test_the_descent_finds_a_minimum_and_says_when_it_does_not():
    target = np.array([[2.0, -1.0], [0.5, 3.0]])
    steps = []

    def smooth(at):
        return float(((at - target) ** 2).sum()) + 1.0, 2 * (at - target)

    found = descend(smooth, np.zeros((2, 2)), 50, 1e-12, lambda: steps.append(1))
    np.testing.assert_allclose(found.components, target, atol=1e-4)
    assert found.converged
    assert len(steps) == found.n_iter

    def curved(at):  # Rosenbrock's valley takes many steps
        a, b = at[0]
        value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        slope = [[-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)]]
        return float(value), np.array(slope)

    assert not descend(curved, np.array([[-1.2, 1.0]]), 3, 1e-12, lambda: None).converged


def test_the_descent_ends_at_a_kink():
    def kinked(at):
        return float(np.abs(at).sum() + 1), np.sign(at)

    found = descend(kinked, np.array([[1.3, -0.7]]), 500, 1e-6, lambda: None)
    assert found.converged
    assert found.value == pytest.approx(1, abs=1e-2)
