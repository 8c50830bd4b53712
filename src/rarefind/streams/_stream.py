"""The loop of all learners of flows: score a row, judge the score, learn the row, go on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel, reordering_kernel
from rarefind._core.random import STEP, uniform
from rarefind._core.saved import saved
from rarefind._core.types import Array, Floats, Ints
from rarefind.streams._linear import Votes, linear_learn, linear_score
from rarefind.streams._nets import Nets, Pace, listen
from rarefind.streams._spaces import Spaces, add_spaces, learn_spaces
from rarefind.streams._watch import Watch, watch_error, watch_score

SPACES = 0  # the method of ONLB; those of _linear_flows follow
RECORD, RELEARN, RESTART = range(3)
# Beyond so many rows means, spreads and shares of the classes follow the latest rows.
MEMORY = 100_000
# A column's value goes no farther from its mean, in standard deviations; nor from 0 as it is.
_FARTHEST, _FARTHEST_RAW = 8.0, 1e6
# The square of what is no larger is a number.
_LARGEST = 1e150
# No class is taken to be rarer.
_RAREST = 1e-9
# Where this share of the rows is positive, positives come often enough by themselves.
COMMON = 0.1


@saved("stream-memory")
class Memory(NamedTuple):
    """The latest positives, in a ring, to be learned again among the many negatives."""

    rows: Floats  # (size, d)
    count: Ints  # type: ignore[assignment]  # (1,): positives ever put in


@saved("stream-state")
class State(NamedTuple):
    """All that a learner of a flow knows. Of two classes the positive one is the second."""

    nets: Nets
    spaces: Spaces
    votes: Votes
    mean: Floats  # (d,), of the columns
    spread: Floats  # (d,), their variances
    filled: Floats  # (d,), the weight of the rows in which each column was there
    share: Floats  # (classes,), of the rows learned
    weight: Floats  # (1,), of the rows learned
    memory: Memory
    chance: Array  # (1,) uint64, the state of the generator
    watch: Watch

    @classmethod
    def start(
        cls, learners: tuple[Nets, Spaces, Votes], d: int, k: int, memory: int, seed: int
    ) -> State:
        """Before the first row, of ``d`` columns and ``k`` classes."""
        _, outputs, spaces = learners[1].drawn.shape
        return cls(
            *learners,
            mean=np.zeros(d),
            spread=np.zeros(d),
            filled=np.zeros(d),
            share=np.full(k, 1 / k),
            weight=np.ones(1),
            memory=Memory(np.zeros((memory, d)), np.zeros(1, dtype=np.intp)),
            chance=np.array([seed], dtype=np.uint64),
            watch=Watch.start(outputs, spaces),
        )


class Settings(NamedTuple):
    """What does not change while a flow is learned."""

    method: int
    pace: Pace
    mixing: Pace
    aim: int
    edge: float
    shrink: float
    standardize: bool
    balanced: bool
    class_weight: Floats  # (classes,)
    replay: float
    growth: float  # of the weight of rows in the watch
    delta: float
    on_drift: int
    threshold: float


@reordering_kernel
def flow(
    X: Floats,
    codes: Ints,
    weight: Floats,
    known: Floats,
    state: State,
    fresh: tuple[Nets, Spaces, Votes],
    settings: Settings,
    learning: bool,
    watching: bool,
) -> Floats:
    """Scores of the rows, each before it is judged (if ``watching``) and learned (if ``learning``).

    Rows whose scores are ``known``, because they came earlier, are judged by those, and by the
    decision then, if it is there as one more column. Weights are above 0. After a drift the
    learners may begin again as ``fresh`` ones.
    """
    # Unpacked once: reading an array off a tuple for every row costs more than the work on it.
    nets, spaces, votes, mean, spread, filled, share, total, memory, chance, watch = state
    kept, n_kept = memory
    n, d = X.shape
    outputs = nets.outer.shape[1]
    x, hidden = np.ones(d + 1), np.empty(nets.inner.shape[:2])
    said, score = np.empty((len(hidden), outputs)), np.empty(outputs)
    shown = np.zeros(watch.shown.shape)
    scores = np.empty((n, outputs))
    for i in range(n):
        _stand(X[i], mean, spread, settings.standardize, x)
        _score(x, nets, spaces, votes, share, settings, hidden, said, shown, score)
        scores[i] = known[i, :outputs] if len(known) else score
        alert = scores[i, 0] >= settings.threshold
        if len(known) and known.shape[1] > outputs:
            alert = known[i, outputs] > 0
        alarm = watching and _judge(scores[i], alert, codes[i], weight[i], shown, watch, settings)
        if not learning:
            continue
        _learn(x, codes[i], weight[i], hidden, said, nets, spaces, votes, share, settings)
        _follow(X[i], weight[i], mean, spread, filled)
        _count_class(codes[i], weight[i], share, total)
        if len(kept) and codes[i] == 1:
            kept[n_kept[0] % len(kept)] = X[i]
            n_kept[0] += 1
        elif n_kept[0] and share[1] < COMMON and _draw(chance) < settings.replay:
            row = kept[_recall(_draw(chance), n_kept[0], len(kept))]
            _stand(row, mean, spread, settings.standardize, x)
            _score(x, nets, spaces, votes, share, settings, hidden, said, shown, score)
            _learn(x, 1, 1.0, hidden, said, nets, spaces, votes, share, settings)
            _count_class(1, 1.0, share, total)
        if alarm and settings.on_drift != RECORD:
            _begin_again(nets, spaces, votes, fresh, settings.on_drift == RESTART)
    return scores


@reordering_kernel
def _stand(row: Floats, mean: Floats, spread: Floats, standardize: bool, x: Floats) -> None:
    """The row as the nets see it: missing values stand at the mean."""
    for c in range(row.size):
        value, farthest = row[c], _FARTHEST_RAW
        if standardize:
            value = (value - mean[c]) / np.sqrt(spread[c]) if spread[c] > 0 else 0.0
            farthest = _FARTHEST
        if np.isnan(value):
            value = 0.0 if standardize else mean[c]
        x[c] = min(max(value, -farthest), farthest)


@reordering_kernel
def _start(share: Floats, start: Floats) -> None:
    """F₀: the log-odds of the positives so far, or the logarithm of each class's share."""
    if start.size == 1:
        start[0] = np.log(max(share[1], _RAREST) / max(share[0], _RAREST))
        return
    for j in range(start.size):
        start[j] = np.log(max(share[j], _RAREST))


@reordering_kernel
def _score(
    x: Floats,
    nets: Nets,
    spaces: Spaces,
    votes: Votes,
    share: Floats,
    settings: Settings,
    hidden: Floats,
    said: Floats,
    shown: Floats,
    score: Floats,
) -> None:
    listen(x, nets.inner, nets.outer, hidden, said)
    if settings.method == SPACES:
        _start(share, score)
        add_spaces(said, spaces.drawn, spaces.joined, shown, score)
    else:
        score[0] = linear_score(settings.method, said, votes, settings.shrink)


@reordering_kernel
def _judge(
    score: Floats,
    alert: bool,
    code: int,
    weight: float,
    shown: Floats,
    watch: Watch,
    settings: Settings,
) -> bool:
    """Whether the flow has become worse, by the score of a row before it is learned."""
    own, sums = watch.gain[0] * weight, watch.shown
    for j in range(shown.shape[0]):
        for p in range(shown.shape[1]):
            sums[j, p] += own * abs(shown[j, p])
    growth, delta = settings.growth, settings.delta
    if score.size == 1:
        return watch_score(watch, score[0], alert, code == 1, weight, growth, delta)
    return watch_error(watch, score.argmax() != code, weight, growth, delta)


@reordering_kernel
def _learn(
    x: Floats,
    code: int,
    weight: float,
    hidden: Floats,
    said: Floats,
    nets: Nets,
    spaces: Spaces,
    votes: Votes,
    share: Floats,
    settings: Settings,
) -> None:
    """Learn a row that was scored just now."""
    if settings.balanced:
        weight = weight / (share.size * max(share[code], _RAREST))
    else:
        weight = weight * settings.class_weight[code]
    pace = settings.pace
    if settings.method != SPACES:
        edge, shrink = settings.edge, settings.shrink
        linear_learn(
            settings.method, x, code == 1, weight, hidden, said, nets, votes, edge, shrink, pace
        )
        return
    target, start = np.zeros(said.shape[1]), np.empty(said.shape[1])
    if target.size > 1:
        target[code] = 1.0
    else:
        target[0] = code
    _start(share, start)
    aim, mixing = settings.aim, settings.mixing
    learn_spaces(x, target, weight, start, hidden, said, nets, spaces, aim, pace, mixing)


@reordering_kernel
def _follow(row: Floats, weight: float, mean: Floats, spread: Floats, filled: Floats) -> None:
    """Let means and variances follow a row."""
    for c in range(row.size):
        if np.isnan(row[c]):
            continue
        filled[c] += weight
        part = _part(weight, filled[c])
        away = min(max(row[c] - mean[c], -_LARGEST), _LARGEST)
        mean[c] += part * away
        spread[c] = (1 - part) * (spread[c] + part * away * away)


@reordering_kernel
def _count_class(code: int, weight: float, share: Floats, total: Floats) -> None:
    """Let the shares of the classes follow a row."""
    total[0] += weight
    part = _part(weight, total[0])
    for k in range(share.size):
        share[k] += part * ((1.0 if k == code else 0.0) - share[k])


@reordering_kernel
def _part(weight: float, total: float) -> float:
    """The part of a row in a mean: that of its weight, but not less than that of one in MEMORY."""
    return max(weight / total, min(weight / MEMORY, 1.0))


@kernel
def _draw(chance: Array) -> float:
    chance[0] += STEP
    return uniform(chance[0])


@kernel
def _recall(drawn: float, count: int, size: int) -> int:
    """The place of a positive that is remembered; the older, the more seldom."""
    age = int(drawn**2 * min(count, size))
    return (count - 1 - age) % size


@kernel
def _begin_again(
    nets: Nets, spaces: Spaces, votes: Votes, fresh: tuple[Nets, Spaces, Votes], anew: bool
) -> None:
    """Take long steps again, or forget what was learned altogether."""
    nets.inner_sum[:] = 0.0
    nets.outer_sum[:] = 0.0
    spaces.drawn_sum[:] = 0.0
    spaces.joined_sum[:] = 0.0
    votes.seen[:] = 0.0
    if anew:
        nets.inner[:] = fresh[0].inner
        nets.outer[:] = fresh[0].outer
        spaces.drawn[:] = fresh[1].drawn
        spaces.joined[:] = fresh[1].joined
        votes.weight[:] = fresh[2].weight
        votes.expert[:] = fresh[2].expert
