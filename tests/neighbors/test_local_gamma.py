import numpy as np
import pytest

from rarefind.neighbors import GammaKNNClassifier, LocalGammaKNNClassifier


@pytest.fixture
def rows():
    """On the left positives lie apart; on the right they are strewn among negatives."""
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(150, 2)), rng.normal([10, 0], 1, size=(150, 2))
    X, y = np.vstack([left, right]), np.zeros(300, dtype=bool)
    y[:15] = y[150:165] = True
    X[:15] += [0, 4]
    return X, y


def vote(x, X, y, k, gamma):
    """Algorithm 2.1 for one row."""
    distance = np.sqrt(((X - x) ** 2).sum(axis=1)) * np.where(y, gamma, 1.0)
    nearest = sorted(zip(distance, ~y, strict=True))[:k]
    return sum(not negative for _, negative in nearest) >= k / 2


@pytest.mark.parametrize("version", ["V1", "V2"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_row_is_voted_on_with_the_gamma_of_its_region(rows, version, k):
    X, y = rows
    model = LocalGammaKNNClassifier(k, version, 3, random_state=0).fit(X, y)
    queries = np.random.default_rng(1).normal([5, 0], [6, 2], size=(80, 2))
    region = ((queries[:, None] - model.centres_) ** 2).sum(axis=2).argmin(axis=1)
    expected = [vote(x, X, y, k, model.gammas_[j]) for x, j in zip(queries, region, strict=True)]
    np.testing.assert_array_equal(model.predict(queries), expected)
    assert model.threshold_ == 1


def test_one_region_is_gamma_knn(rows):
    X, y = rows
    local = LocalGammaKNNClassifier(3, "V1", 1).fit(X, y)
    plain = GammaKNNClassifier(3).fit(X, y)
    assert local.gammas_ == [plain.gamma_]
    assert local.global_gamma_ == plain.gamma_
    assert local.value_ == pytest.approx(plain.value_)
    np.testing.assert_array_equal(local.predict(X + 0.1), plain.predict(X + 0.1))
    np.testing.assert_allclose(
        local.predict_proba(X + 0.1), plain.predict_proba(X + 0.1), atol=0.05
    )


def test_regions_of_different_imbalance_get_different_scales(rows):
    model = LocalGammaKNNClassifier(3, "V1", 2, random_state=0).fit(*rows)
    assert not model.fell_back_.any()
    assert abs(model.gammas_[0] - model.gammas_[1]) > 0.05
    averaged = LocalGammaKNNClassifier(3, "V2", 2, random_state=0).fit(*rows)
    assert np.ptp(averaged.gammas_) <= np.ptp(model.gammas_) + 0.1


def test_regions_with_too_few_positives_take_the_global_scale_and_say_so(rows):
    X, y = rows
    y = y & (X[:, 0] < 5)
    for version in ("V1", "V2"):
        model = LocalGammaKNNClassifier(3, version, 2, random_state=0).fit(X, y)
        right = model.centres_[:, 0].argmax()
        assert model.fell_back_.tolist() == [j == right for j in range(2)]
        assert model.gammas_[right] == model.global_gamma_


def test_the_number_of_regions_can_be_chosen(rows):
    model = LocalGammaKNNClassifier(1, random_state=0).fit(*rows)
    assert model.n_regions_ == len(model.gammas_) == len(model.centres_)
    assert model.n_regions_ in (1, 2, 4, 8)
    again = LocalGammaKNNClassifier(1, random_state=0).fit(*rows)
    np.testing.assert_array_equal(again.gammas_, model.gammas_)


def test_false_negatives_never_grow_with_scales_up_to_one(rows):
    """Proposition 1, region by region."""
    X, y = rows
    queries = np.random.default_rng(2).normal([5, 0], [6, 2], size=(300, 2))
    plain = GammaKNNClassifier(3, gamma=None).fit(X, y)
    local = LocalGammaKNNClassifier(3, n_regions=3, random_state=0).fit(X, y)
    assert (local.gammas_ <= 1).all()
    assert (local.predict(queries) >= plain.predict(queries)).all()


def test_a_rows_priority_does_not_depend_on_the_others_and_reasons_have_it(rows):
    X, y = rows
    model = LocalGammaKNNClassifier(n_regions=3, random_state=0).fit(X, y)
    queries = np.random.default_rng(3).normal([5, 0], [6, 2], size=(40, 2))
    alone = np.concatenate([model.priority(x[None]) for x in queries])
    np.testing.assert_array_equal(model.priority(queries), alone)
    assert [r.score for r in model.explain(queries)] == alone.tolist()


def test_groups_are_held_out_together(rows):
    X, y = rows
    model = LocalGammaKNNClassifier(1, "V1", 1, random_state=0)
    copies, labels = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    together = model.fit(copies, labels, groups=np.repeat(np.arange(len(X)), 2)).value_
    apart = model.fit(copies, labels).value_
    assert apart > together


def test_a_few_positives_still_tell():
    """Of 20 positives a region with half of them has a γ of its own."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.arange(400) < 20
    X[::2] += [10, 0]
    model = LocalGammaKNNClassifier(1, "V2", 2, random_state=0).fit(X, y)
    assert not model.fell_back_.any()
    assert (model.gammas_ != model.global_gamma_).any()


def test_where_no_positive_can_be_found_it_is_said():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) < 2
    with pytest.raises(ValueError, match="takes 2 positives, and of 2 too few are left"):
        LocalGammaKNNClassifier(3).fit(X, y)


def test_folds_of_the_regions_keep_groups_together(rows, monkeypatch):
    from rarefind.neighbors import _regions

    X, y = rows
    groups = np.arange(len(X)) // 3
    seen = []
    plain = _regions.folds

    def spied(X, y, cv, *, groups, random_state):
        seen.append(groups)
        return plain(X, y, cv, groups=groups, random_state=random_state)

    monkeypatch.setattr(_regions, "folds", spied)
    LocalGammaKNNClassifier(1, random_state=0).fit(X, y, groups=groups)
    assert seen
    assert all(given is not None for given in seen)
