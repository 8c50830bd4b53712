"""Large tables with rare positives, made up: each is a function of the number of rows and a seed.

They were written for what makes rare positives hard, and the noise of each was set so that the best of
ExtraTrees and XGBoost as they are has an average precision between 0.2 and 0.9; no method of this
library was run for that.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.arrays import Bools, Floats
from studies.insurance import coded, insurance


def rarest(score: Floats, share: float) -> Bools:
    """The share of rows with the highest scores."""
    return score > np.quantile(score, 1 - share)


def clusters(rows: int, seed: int) -> tuple[Floats, Bools]:
    """Rows in 3,000 clusters of 20 columns, 90 of them positive, and 7 columns of noise.

    Neighbouring clusters are of different classes in all directions, so that only deep trees, or
    distances, tell them apart.
    """
    rng = np.random.default_rng(seed)
    centres = rng.choice([-1.0, 0.0, 1.0], (3000, 20))
    which = rng.integers(3000, size=rows)
    own = centres[which] + 0.4 * rng.normal(size=(rows, 20))
    X = np.hstack([own, rng.normal(size=(rows, 7))])
    return X[:, rng.permutation(27)], which < 90


def profiles(rows: int, seed: int) -> tuple[Floats, Bools]:
    """50 groups in 27 columns; a positive has about eight of its values from another group.

    No column says anything by itself, and no two positives are alike.
    """
    rng = np.random.default_rng(seed)
    usual = rng.normal(size=(50, 27))
    group, other = rng.integers(50, size=(2, rows))
    is_positive = rng.random(rows) < 0.02
    taken = is_positive[:, None] & (rng.random((rows, 27)) < 0.3)
    X = np.where(taken, usual[other], usual[group]) + 0.4 * rng.normal(size=(rows, 27))
    return X, is_positive


def many_columns(rows: int, seed: int) -> tuple[Floats, Bools]:
    """400 columns: 15 factors behind 150 of them, each with noise of its own; the others are noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 15))
    X = rng.normal(size=(rows, 400))
    X[:, :150] += 1.2 * factors[:, rng.integers(15, size=150)] * rng.choice([-1, 1], 150)
    score = factors[:, 0] + factors[:, 1] * factors[:, 2] + np.maximum(factors[:, 3], factors[:, 4])
    return X[:, rng.permutation(400)], rarest(score + 0.2 * rng.logistic(size=rows), 0.02)


def copies(rows: int, seed: int) -> tuple[Floats, Bools]:
    """12 columns of few levels, the frequent ones very frequent: three rows of four are copies.

    Rows that are the same have the same probability of being positive, seldom 0 and never 1.
    """
    rng = np.random.default_rng(seed)
    levels = np.array([2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 15, 25])
    columns, score = [], np.zeros(rows)
    for n in levels:
        frequency = 1.0 / np.arange(1, n + 1) ** 2.5
        columns.append(rng.choice(n, rows, p=frequency / frequency.sum()))
        score += rng.normal(0, 0.7, n)[columns[-1]]
    for _ in range(8):
        i, j = rng.choice(12, 2, replace=False)
        score += rng.normal(0, 1.2, (levels[i], levels[j]))[columns[i], columns[j]]
    X = np.column_stack(columns).astype(float)
    return X, rarest(score + 0.8 * rng.logistic(size=rows), 0.01)


def survey(rows: int, seed: int) -> tuple[Floats, Bools]:
    """40 answers from 1 to 5, a third of them missing (0); positives answer unlike their group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(6, size=rows)
    usual = rng.integers(1, 6, (6, 40))
    X = np.clip(usual[group] + rng.choice([-1, 0, 0, 0, 1], (rows, 40)), 1, 5).astype(float)
    is_positive = rng.random(rows) < 0.008
    odd = is_positive[:, None] & (rng.random((rows, 40)) < 0.35)
    X[odd] = rng.integers(1, 6, int(odd.sum()))
    X[rng.random((rows, 40)) < 0.33] = 0.0
    return X, is_positive


def heavy_tails(rows: int, seed: int) -> tuple[Floats, Bools]:
    """30 columns of amounts from one to billions; positives have odd ratios, far out in the tails."""
    rng = np.random.default_rng(seed)
    size = rng.pareto(1.1, rows)[:, None] + 1
    X = size ** rng.uniform(0.2, 1.0, 30) * np.exp(rng.normal(0, 1, (rows, 30)))
    X[:, 20:] = rng.standard_cauchy((rows, 10)) * 10
    log = np.log(np.abs(X) + 1e-9)
    score = np.minimum(log[:, 0] - log[:, 1], 3) + np.minimum(log[:, 2] - 0.5 * log[:, 3], 4)
    score += 1.5 * (np.abs(log[:, 20] - 5) < 0.7) + 0.5 * (log[:, 5] > 3)
    return X, rarest(score + 0.25 * rng.logistic(size=rows), 0.005)


def needles(rows: int, seed: int) -> tuple[Floats, Bools]:
    """Eight positives in ten thousand: four kinds of four conditions each, on 25 columns, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 25))
    X[:, 15:] = np.round(X[:, 15:] * 6)
    is_kind = np.zeros(rows, dtype=bool)
    for _ in range(4):
        numbers = rng.choice(15, 3, replace=False)
        low = rng.uniform(0, 0.7, 3)
        inside = np.all((X[:, numbers] > low) & (X[:, numbers] < low + 0.075), axis=1)
        # Narrow in three numbers, and one of two levels.
        is_kind |= inside & (X[:, rng.integers(15, 25)] >= 3)
    # A tenth of those are negative, and as many others positive.
    turned = rng.random(rows)
    found = is_kind & (turned > 0.1)
    return X, found | (turned > 1 - 0.1 * is_kind.mean())


def words(rows: int, seed: int) -> tuple[Floats, Bools]:
    """Counts of 300 words in texts of five topics; positives use a few words of a sixth."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(300, 0.08), 6)
    mixture = rng.dirichlet(np.full(5, 0.4), rows)
    length = rng.poisson(rng.gamma(2.0, 20.0, rows))
    is_positive = rng.random(rows) < 0.015
    share = np.where(is_positive, 0.12, 0.02 * rng.random(rows))
    mean = (mixture @ topics[:5]) * (1 - share)[:, None] + share[:, None] * topics[5]
    return rng.poisson(mean * length[:, None]).astype(float), is_positive


def slabs(rows: int, seed: int) -> tuple[Floats, Bools]:
    """25 columns; positives lie between two planes across four of them, and within a shell."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 25))
    direction = rng.normal(size=4)
    along = X[:, :4] @ (direction / np.linalg.norm(direction))
    away = np.linalg.norm(X[:, 4:7], axis=1)
    score = -np.abs(along - 1.4) / 0.5 - np.abs(away - 2.6) / 0.6
    return X[:, rng.permutation(25)], rarest(score + 0.05 * rng.logistic(size=rows), 0.012)


def poker(rows: int, seed: int) -> tuple[Floats, Bools]:
    """Hands of five cards, in order of rank; a straight or better is one in 132."""
    rng = np.random.default_rng(seed)
    cards = np.argsort(rng.random((rows, 52)), axis=1)[:, :5]
    cards = np.take_along_axis(cards, np.argsort(cards % 13, axis=1, kind="stable"), axis=1)
    rank, suit = cards % 13, cards // 13
    steps = np.diff(rank, axis=1)
    is_straight = np.all(steps == 1, axis=1) | np.all(rank == [0, 9, 10, 11, 12], axis=1)
    is_flush = np.all(suit == suit[:, :1], axis=1)
    pairs = (steps == 0).sum(axis=1)
    in_row = (np.diff((steps == 0).astype(int), axis=1) == 0) & (steps[:, 1:] == 0)
    is_full = (pairs == 3) & (in_row.sum(axis=1) >= 1)  # three and two, or four
    return np.hstack([rank, suit]).astype(float), is_straight | is_flush | is_full


def contracts(rows: int, seed: int) -> tuple[Floats, Bools]:
    """The made-up insurer's table of the studies, with one lapse in ten."""
    rng = np.random.default_rng(seed)
    X, y = insurance(rows, seed)
    kept = (y == 0) | (rng.random(rows) < 0.1)
    return coded(X)[0].to_numpy(float)[kept], y[kept] == 1


def machines(rows: int, seed: int) -> tuple[Floats, Bools, Floats]:
    """Readings of 200 machines, one an hour: which break within a day, with the hours.

    A machine that will break grows warmer, or shakes, in one of two ways for two days; in the second
    half of the time the second way is twice as frequent.
    """
    rng = np.random.default_rng(seed)
    hours = rows // 200
    noise = rng.standard_t(3, (hours, 200, 4))
    level = np.zeros((hours, 200, 4))
    for hour in range(1, hours):
        level[hour] = 0.9 * level[hour - 1] + noise[hour]
    breaks = rng.random((hours, 200)) < 0.00022 * (1 + np.linspace(0, 1, hours))[:, None]
    is_near = np.zeros((hours, 200), dtype=bool)
    for hour, machine in np.argwhere(breaks):
        before = slice(max(0, hour - 48), hour)
        ramp = np.linspace(0, 1, 48)[-(hour - before.start) :] if hour else []
        if rng.random() < 0.3 + 0.4 * hour / hours:
            level[before, machine, 0] += 12 * np.asarray(ramp)
            level[before, machine, 1] -= 8 * np.asarray(ramp)
        else:
            level[before, machine, 2] += 14 * np.asarray(ramp) * rng.choice([-1, 1], len(ramp))
        is_near[max(0, hour - 24) : hour, machine] = True
    columns = []
    for sensor in range(4):
        own = pd.DataFrame(level[:, :, sensor])
        windows = [
            own,
            own.diff(6),
            own.rolling(24).mean(),
            own.rolling(24).std(),
            own.rolling(6).max(),
        ]
        columns += [window.fillna(0.0).to_numpy().ravel() for window in windows]
    columns.append(np.tile(rng.normal(size=200), hours))
    times = np.repeat(np.arange(hours, dtype=float), 200)
    return np.column_stack(columns), is_near.ravel(), times
