"""Directions that trees split on beside the columns: how they are learned, kept and applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import xgboost
from scipy.special import expit

from rarefind._core.checks import LARGEST_TO_SQUARE
from rarefind._core.deadline import check_time_left
from rarefind._core.fields import FloatArray, IntArray, StateError
from rarefind._core.kernels import kernel, read_only
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Bools, Floats, Ints
from rarefind.boosting._base import BoostingRows
from rarefind.boosting._coding import Coding
from rarefind.boosting._projection_tree import Map, TreeParams, code_levels, code_numbers, grow_tree
from rarefind.distances import RCA

# Digits of a loading, and variance of a component beside the largest that they could still tell.
_DIGITS = 4
_NEGLIGIBLE = 1e-8
# Directions of a larger cosine are one.
_PARALLEL = 0.999
# The score before the first round: the log-odds of a row that is probably negative.
_START = -1.0
# Share of the columns that trees use that is dropped at a time.
_DROPPED = 0.3
# Share by which fewer columns must rank better.
_MARGIN = 0.01
# Bins of a column by which sets are compared.
_BINS = 64
# Rounds by which sets of columns are compared: most, between two checks, and without a better one.
_MOST_ROUNDS, _LOOK_EVERY, _PATIENCE = 100, 5, 10
# Positives of a class without which columns are not compared, and to compare them by.
_FEWEST_TO_SPLIT, _ENOUGH_POSITIVES = 4, 100


def _check_directions(state: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    if not (state["loadings"] != 0).any(axis=1).all():
        raise StateError("a direction is made of no column")
    with np.errstate(over="ignore"):
        standardised = np.abs(state["loadings"] * state["scale"])
    if not (standardised <= LARGEST_TO_SQUARE).all():
        raise StateError("'loadings' are too large to be squared")
    return {"given": sizes["own"] + sizes["directions"]}


@saved(
    "projection",
    state=State(
        {
            "columns": IntArray("own", below="d", strict=True),
            "loadings": FloatArray("directions", "d"),
            "fill": FloatArray("d", nan=True),
            "mean": FloatArray("d"),
            "scale": FloatArray("d", above=0),
        },
        _check_directions,
    ),
)
class Projection(NamedTuple):
    """The columns that trees split on: some of the table's own, and sums of others."""

    columns: Ints  # the table's own, by number, rising
    loadings: Floats  # of shape (k, d), in the units of the columns
    fill: Floats  # what stands for a missing value in a direction; NaN where nothing does
    mean: Floats
    scale: Floats  # standard deviations, 1 for columns in no direction

    @classmethod
    def none(cls, d: int) -> Projection:
        """All columns, and no direction."""
        loadings, zeros = np.empty((0, d)), np.zeros(d)
        return cls(np.arange(d), loadings, np.full(d, np.nan), zeros, np.ones(d))

    @property
    def size(self) -> int:
        """Columns that trees are given."""
        return self.columns.size + len(self.loadings)

    def extend(self, X: Floats) -> Floats:
        """The columns that trees are given."""
        made = np.empty((len(X), self.size))
        made[:, : self.columns.size] = X[:, self.columns]
        project(read_only(X), self.loadings, self.fill, made[:, self.columns.size :].T)
        return made

    def sets(self, is_set: Bools) -> Bools:
        """Which of the columns that trees are given are categories."""
        return np.concatenate([is_set[self.columns], np.zeros(len(self.loadings), dtype=bool)])

    def only(self, kept: Ints) -> Projection:
        """The same with some of the columns that trees are given."""
        own = kept[kept < self.columns.size]
        directions = kept[kept >= self.columns.size] - self.columns.size
        return self._replace(columns=self.columns[own], loadings=self.loadings[directions])

    def standardise(self) -> Floats:
        """Loadings of columns of variance 1, each direction of length 1."""
        return _unit(self.loadings * self.scale)

    def share_out(self, X: Floats, added: Floats) -> Floats:
        """What the table's columns add, from what those that trees are given add.

        A direction's part is shared by how far each column moves it off its mean. Where no column
        does, it is shared by squared standardised loadings; where a direction is missing, by those
        of the columns that are.
        """
        out = np.zeros(X.shape)
        out[:, self.columns] = added[:, : self.columns.size]
        own = np.ascontiguousarray(added[:, self.columns.size :])
        _share_out(read_only(X), own, self.loadings, self.standardise(), self.fill, self.mean, out)
        return out


@kernel
def project(X: Floats, loadings: Floats, fill: Floats, out: Floats) -> None:
    """Write the value of each direction, a row of ``out`` each: loading times value, in order.

    The sum of a row is taken term by term, so it is the same in any company.
    """
    start = np.zeros(loadings.shape[0] + 1, dtype=np.intp)
    column = np.empty(loadings.size, dtype=np.intp)
    factor = np.empty(loadings.size)
    size = 0
    for r in range(loadings.shape[0]):
        for j in range(loadings.shape[1]):
            if loadings[r, j] != 0:
                column[size], factor[size] = j, loadings[r, j]
                size += 1
        start[r + 1] = size
    for i in range(X.shape[0]):
        for r in range(loadings.shape[0]):
            total = 0.0
            for t in range(start[r], start[r + 1]):
                value = X[i, column[t]]
                if np.isnan(value):
                    value = fill[column[t]]
                term = factor[t] * value
                total = term if t == start[r] else total + term
            out[r, i] = total


@kernel
def _share_out(
    X: Floats,
    added: Floats,
    loadings: Floats,
    standardised: Floats,
    fill: Floats,
    mean: Floats,
    out: Floats,
) -> None:
    part = np.empty(X.shape[1])
    for r in range(loadings.shape[0]):
        used = np.flatnonzero(loadings[r])
        for i in range(X.shape[0]):
            missing = False
            for j in used:
                missing |= np.isnan(X[i, j]) and np.isnan(fill[j])
            total = 0.0
            for j in used:
                value = fill[j] if np.isnan(X[i, j]) else X[i, j]
                if missing:
                    part[j] = standardised[r, j] ** 2 if np.isnan(value) else 0.0
                else:
                    part[j] = abs(loadings[r, j] * (value - mean[j]))
                total += part[j]
            if not 0 < total < np.inf:
                total = 0.0
                for j in used:
                    part[j] = standardised[r, j] ** 2
                    total += part[j]
            for j in used:
                out[i, j] += added[i, r] * (part[j] / total)


def weighted_pca(Z: Floats, weight: Floats) -> Floats:
    """Principal axes of weighted rows, the longest first; those without variance are left out."""
    if not Z.shape[1] or not weight.sum() > 0:
        return np.empty((0, Z.shape[1]))
    share = weight / weight.sum()
    around = Z - share @ Z
    values, vectors = np.linalg.eigh((around * share[:, None]).T @ around)
    there = values > _NEGLIGIBLE * max(values[-1], 0.0)
    return np.ascontiguousarray(vectors[:, there][:, ::-1].T)


class ProjectedColumns(NamedTuple):
    """The columns that are projected, as training rows have them."""

    number: Ints
    mean: Floats
    scale: Floats
    fill: Floats

    @classmethod
    def learn(cls, rows: BoostingRows, wanted: Bools) -> ProjectedColumns:
        """Leave out columns without variance, and fill those with missing values."""
        found = [(j, *_moments(rows.X[:, j], rows.weight)) for j in np.flatnonzero(wanted)]
        found = [one for one in found if one[2] > 0 and np.isfinite([one[2], 1 / one[2]]).all()]
        number = np.array([j for j, *_ in found], dtype=np.intp)
        mean, scale = (np.array([one[k] for one in found]) for k in (1, 2))
        has_missing = np.isnan(rows.X[:, number]).any(axis=0)
        return cls(number, mean, scale, np.where(has_missing, mean, np.nan))

    def standardise(self, X: Floats) -> Floats:
        """The columns with mean 0 and variance 1, and no missing value."""
        Z = (X[:, self.number] - self.mean) / self.scale
        return np.nan_to_num(Z, copy=False, nan=0.0)

    def readable(self, axes: Floats, min_loading: float) -> Floats:
        """Directions in the units of the columns: without small loadings, and of few digits."""
        axes = _unit(axes)
        size = np.abs(axes)
        largest = np.zeros(axes.shape, dtype=bool)
        largest[np.arange(len(axes)), size.argmax(axis=1)] = True
        axes = np.where((size >= min_loading) | largest, axes, 0.0)
        axes *= np.where((axes * largest).sum(axis=1) < 0, -1.0, 1.0)[:, None]
        several = (axes != 0).sum(axis=1) > 1  # one column alone is there already
        return _round_off(axes[several] / self.scale)

    def projection(self, loadings: Floats, d: int) -> Projection:
        """All columns of the table, and these directions."""
        whole, every = Projection.none(d), np.zeros((len(loadings), d))
        every[:, self.number] = loadings
        whole.fill[self.number] = self.fill
        whole.mean[self.number] = self.mean
        whole.scale[self.number] = self.scale
        return whole._replace(loadings=every)


def has_three_values(column: Floats) -> bool:
    """Whether a column has more than two different values."""
    known = column[~np.isnan(column)]
    for _ in range(2):
        if not known.size:
            return False
        known = known[known != known[0]]
    return known.size > 0


def _moments(column: Floats, weight: Floats) -> tuple[float, float]:
    """Weighted mean and standard deviation of the values that are there."""
    known = ~np.isnan(column)
    if not known.any():
        return 0.0, 0.0
    values, weight = column[known], weight[known]
    if values.min() == values.max():
        return float(values[0]), 0.0  # whatever rounding makes of it
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(values, weights=weight)
        return float(mean), float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))


def _unit(axes: Floats) -> Floats:
    length = np.sqrt((axes**2).sum(axis=1, keepdims=True))
    return np.asarray(axes / np.where(length > 0, length, 1.0))


def _round_off(values: Floats) -> Floats:
    """The numbers that are read from the first digits of these."""
    flat = [float(f"{value:.{_DIGITS}g}") for value in values.ravel()]
    return np.array(flat, dtype=float).reshape(values.shape)


def drawn(rows: BoostingRows, most: int, seed: int) -> BoostingRows:
    """At most so many rows: the positives up to half of them, negatives at random.

    Weights are such that those of each class add up to the same.
    """
    if len(rows.X) <= most:
        return rows
    rng = np.random.default_rng(seed)
    positives, negatives = np.flatnonzero(rows.positive), np.flatnonzero(~rows.positive)
    wanted = min(positives.size, max(most // 2, most - negatives.size))
    taken = [
        rng.choice(positives, wanted, replace=False),
        rng.choice(negatives, most - wanted, replace=False),
    ]
    found = rows.take(np.sort(np.concatenate(taken)))
    weight = found.weight.copy()
    for side in (True, False):
        own = found.positive == side
        if own.any():
            weight[own] *= rows.weight[rows.positive == side].sum() / weight[own].sum()
    return found._replace(weight=weight)


class DirectionRounds(NamedTuple):
    """How directions are learned by boosting."""

    shape: TreeParams
    max_rounds: int
    patience: int
    min_loading: float
    n_threads: int


def boosted_directions(
    rows: BoostingRows, is_set: Bools, columns: ProjectedColumns, how: DirectionRounds
) -> Floats:
    """Directions that trees chose from weighted principal components of each round.

    The rounds start at the score −1. Rows weigh in the components what they weigh in the tree, by
    the second derivatives of the logistic loss; a tree chooses from the columns, the components of
    its round and those kept from rounds before, and what it uses of the former is kept.
    """
    Z, X = columns.standardise(rows.X), np.ascontiguousarray(rows.X[:, columns.number])
    d, m = rows.X.shape[1], columns.number.size
    codes = np.empty((d + m, len(X)), dtype=np.uint8)
    _code_table(rows, is_set, codes[:d])
    kept = np.empty((0, m))
    score, idle = np.full(len(X), _START), 0
    threads = ThreadPoolExecutor(how.n_threads) if how.n_threads > 1 else nullcontext()
    with threads as pool:
        each: Map = map if pool is None else pool.map
        for _ in range(how.max_rounds):
            probability = expit(score)
            first, second = rows.weight * (probability - rows.positive), rows.weight * probability
            second *= 1 - probability
            new = columns.readable(weighted_pca(Z, second), how.min_loading)
            new = new[_is_new(new * columns.scale, kept * columns.scale)]
            known, there = d + len(kept), d + len(kept) + len(new)
            codes = _room(codes, there + m)
            _code_directions(X, new, columns.fill, rows.positive, codes[known:there], each, how)
            tree = grow_tree(codes[:there], first, second, how.shape, how.n_threads, each)
            score += tree.value
            chosen = tree.used[tree.used >= known]
            codes[known : known + chosen.size] = codes[chosen]
            kept = np.vstack([kept, new[chosen - known]])
            idle = 0 if chosen.size else idle + 1
            if idle == how.patience:
                break
    return kept


def _code_table(rows: BoostingRows, is_set: Bools, codes: Array) -> None:
    for j, holds_levels in enumerate(is_set):
        if holds_levels:
            code_levels(rows.X[:, j], rows.positive, rows.weight, codes[j])
        else:
            code_numbers(rows.X[:, j][None], rows.positive, codes[j][None])


def _code_directions(
    X: Floats,
    loadings: Floats,
    fill: Floats,
    positive: Bools,
    codes: Array,
    each: Map,
    how: DirectionRounds,
) -> None:
    edges = np.linspace(0, len(loadings), how.n_threads + 1).astype(int)

    def work(k: int) -> None:
        own = slice(edges[k], edges[k + 1])
        values = np.empty((edges[k + 1] - edges[k], len(X)))
        project(read_only(X), loadings[own], fill, values)
        code_numbers(values, positive, codes[own])

    list(each(work, range(how.n_threads)))


def _room(codes: Array, wanted: int) -> Array:
    """The same with room for so many columns at least."""
    if len(codes) >= wanted:
        return codes
    larger = np.empty((wanted + wanted // 2, codes.shape[1]), dtype=codes.dtype)
    larger[: len(codes)] = codes
    return larger


def _is_new(axes: Floats, kept: Floats) -> Bools:
    """Which axes are not nearly parallel to one that is kept."""
    cosines = np.abs(_unit(axes) @ _unit(kept).T)
    return np.asarray(~(cosines > _PARALLEL).any(axis=1))


def rca_axes(Z: Floats, positive: Bools) -> Floats:
    """The rows of RCA's map, with the classes as chunklets; weights of rows do not count."""
    axes = _unit(RCA().fit(Z, positive).components_)
    spread = (Z @ axes.T).var(axis=0)
    return np.asarray(axes[spread > _NEGLIGIBLE * spread.max()])


class Contest(NamedTuple):
    """What sets of columns are compared by."""

    params: dict[str, Any]  # of XGBoost
    n_rounds: int
    worth: Callable[[BoostingRows, Floats], float]  # of the scores of held-out rows
    seed: int
    n_own: int  # columns of the table; those after them are directions
    most: int  # directions
    end: float = float("inf")  # when it is given up; threads cannot ask for it


def best_columns(
    rows: BoostingRows, is_set: Bools, contest: Contest, eliminate: bool = True
) -> tuple[Ints, float]:
    """The columns that are left when the least important go, and held-out rows are ranked best.

    What that ranking is worth comes with them, NaN where too few rows can be held out. Of too many
    directions those stay that gain most. Then columns that no tree splits on go, and of the others
    those of the least gain, until one is left. Fewer columns are taken where they are better by a
    margin: what few rows can do without, many may need. Bins are made once, by all rows: they are
    the same for all. Without elimination all columns stay.
    """
    columns, most = np.arange(rows.X.shape[1]), contest.n_own + contest.most
    if np.bincount(rows.positive, minlength=2).min() < _FEWEST_TO_SPLIT:
        return columns[:most], np.nan
    coding = Coding.learn(rows.X, rows.positive, is_set, _BINS, 1)
    rows = rows._replace(X=coding.codes(rows.X))
    trials = [
        Trial(rows.take(np.flatnonzero(~held)), rows.take(np.flatnonzero(held)), coding)
        for held in _quarters(rows.positive, contest)
    ]

    def made(columns: Ints) -> tuple[float, Floats]:
        check_time_left(contest.end)
        worths, gains = zip(*(trial.made(columns, contest) for trial in trials), strict=True)
        return float(np.mean(worths)), np.sum(gains, axis=0)

    if columns.size > most:
        gain = made(columns)[1]
        gain[: contest.n_own] = np.inf
        columns = np.sort(np.argsort(-gain, kind="stable")[:most])
    best, highest = columns, 0.0
    while columns.size:
        worth, gain = made(columns)
        if worth > (1 + _MARGIN) * highest:
            best, highest = columns, worth
        if not eliminate:
            break
        used = np.flatnonzero(gain > 0)
        left = used.size - int(np.ceil(_DROPPED * used.size))
        columns = columns[np.sort(used[np.argsort(-gain[used], kind="stable")[:left]])]
    return best, highest


def _quarters(positive: Bools, contest: Contest) -> list[Bools]:
    """Quarters of each class to hold out: one, and more until they hold enough positives."""
    rng = np.random.default_rng(contest.seed)
    quarter = np.empty(positive.size, dtype=np.intp)
    for side in (positive, ~positive):
        quarter[side] = rng.permutation(np.arange(side.sum()) % 4)
    enough = min(4, -(-_ENOUGH_POSITIVES // int((positive & (quarter == 0)).sum())))
    return [quarter == q for q in range(enough)]


class Trial(NamedTuple):
    """Rows that sets of columns are learned on, and rows they are judged by, both in codes."""

    train: BoostingRows
    held: BoostingRows
    coding: Coding

    def made(self, columns: Ints, contest: Contest) -> tuple[float, Floats]:
        """What the best round on these columns is worth, and what each column gained up to then."""
        prior = float(np.average(self.train.positive, weights=self.train.weight))
        params = contest.params | {"objective": "binary:logistic", "base_score": prior}
        # On so few rows threads wait for each other longer than they work.
        params |= {"tree_method": "hist", "nthread": 1, "seed": contest.seed}
        params |= {"max_bin": self.coding.max_bin}
        train, held = (self._data(part, columns) for part in (self.train, self.held))
        booster = xgboost.Booster(params, [train, held])
        best, rounds, last = -np.inf, 0, min(contest.n_rounds, _MOST_ROUNDS)
        for number in range(1, last + 1):
            booster.update(train, number - 1)
            if number % _LOOK_EVERY and number < last:
                continue
            value = contest.worth(self.held, booster.predict(held, output_margin=True))
            if value > best:
                best, rounds = value, number
            elif number - rounds >= _PATIENCE:
                break
        gains = booster[:rounds].get_score(importance_type="total_gain")
        return best, np.array([gains.get(f"f{j}", 0.0) for j in range(columns.size)])

    def _data(self, rows: BoostingRows, columns: Ints) -> Any:
        # XGBoost reads the types again in every round, so they are given where there are levels.
        types = np.array(self.coding.feature_types)[columns].tolist()
        with_levels = "c" in types
        return xgboost.DMatrix(
            rows.X[:, columns],
            label=rows.positive.astype(np.float32),
            weight=rows.weight,
            feature_types=types if with_levels else None,
            enable_categorical=with_levels,
            nthread=1,
        )
