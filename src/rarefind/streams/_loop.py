"""The loop of all learners of streams: score a row, validate the score, learn the row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rarefind._core.kernels import kernel, reordering_kernel
from rarefind._core.random import STEP, uniform
from rarefind._core.types import Array, Floats, Ints
from rarefind.streams._linear import Votes, linear_learn, linear_score
from rarefind.streams._nets import Nets, StepSize, forward
from rarefind.streams._spaces import LatentSpaces, add_spaces, learn_spaces
from rarefind.streams._state import Learners, StreamState
from rarefind.streams._validation import ProgressiveValidation, validate_error, validate_score

SPACES = 0  # the method of ONLB; those of _linear follow
RECORD, RELEARN, RESTART = range(3)
# After so many rows means, variances and shares of the classes follow the latest ones.
MEMORY = 100_000
# Values are clipped here: standardized ones, and others.
_FARTHEST, _FARTHEST_RAW = 8.0, 1e6
# The square of a value up to this is finite.
_LARGEST = 1e150
# Smaller shares of a class count as this one.
_RAREST = 1e-9
# With at least this share of positives none is learned again.
COMMON = 0.1


class StreamSettings(NamedTuple):
    """The parameters as the loop takes them."""

    method: int
    step_size: StepSize
    mixing: StepSize
    target: int
    edge: float
    shrink: float
    standardize: bool
    balanced: bool
    class_weight: Floats  # (classes,)
    replay: float
    growth: float  # of the weight of a row in the validation, from one row to the next
    delta: float
    on_drift: int
    threshold: float


@reordering_kernel
def process_rows(
    X: Floats,
    codes: Ints,
    weight: Floats,
    known: Floats,
    state: StreamState,
    fresh: Learners,
    settings: StreamSettings,
    learning: bool,
    validating: bool,
) -> Floats:
    """Scores of the rows, each before it is validated and learned, if these are asked for.

    Rows whose scores are ``known`` because they were scored earlier are validated by those scores,
    and by the decision of that time if it is there as one more column. Weights are above 0. After
    drift the learners may start again from ``fresh`` ones.
    """
    # Unpacked once: reading an array from a tuple for every row costs more than the work on it.
    (
        nets,
        spaces,
        votes,
        mean,
        variance,
        column_weight,
        share,
        total,
        memory,
        generator,
        validation,
    ) = state
    positives, n_positives = memory
    n, d = X.shape
    outputs = nets.outer.shape[1]
    x, hidden = np.ones(d + 1), np.empty(nets.inner.shape[:2])
    output, score = np.empty((len(hidden), outputs)), np.empty(outputs)
    contributions = np.zeros(validation.contributions.shape)
    scores = np.empty((n, outputs))
    for i in range(n):
        _standardize(X[i], mean, variance, settings.standardize, x)
        _score(x, nets, spaces, votes, share, settings, hidden, output, contributions, score)
        scores[i] = known[i, :outputs] if len(known) else score
        alert = scores[i, 0] >= settings.threshold
        if len(known) and known.shape[1] > outputs:
            alert = known[i, outputs] > 0
        alarm = validating and _validate(
            scores[i], alert, codes[i], weight[i], contributions, validation, settings
        )
        if not learning:
            continue
        _learn(x, codes[i], weight[i], hidden, output, nets, spaces, votes, share, settings)
        _update_moments(X[i], weight[i], mean, variance, column_weight)
        _update_shares(codes[i], weight[i], share, total)
        if len(positives) and codes[i] == 1:
            positives[n_positives[0] % len(positives)] = X[i]
            n_positives[0] += 1
        elif n_positives[0] and share[1] < COMMON and _draw(generator) < settings.replay:
            row = positives[_pick_recent(_draw(generator), n_positives[0], len(positives))]
            _standardize(row, mean, variance, settings.standardize, x)
            _score(x, nets, spaces, votes, share, settings, hidden, output, contributions, score)
            _learn(x, 1, 1.0, hidden, output, nets, spaces, votes, share, settings)
            _update_shares(1, 1.0, share, total)
        if alarm and settings.on_drift != RECORD:
            _reset_learners(nets, spaces, votes, fresh, settings.on_drift == RESTART)
    return scores


@reordering_kernel
def _standardize(row: Floats, mean: Floats, variance: Floats, standardize: bool, x: Floats) -> None:
    """The row as the nets take it: missing values are replaced by the mean."""
    for c in range(row.size):
        value, farthest = row[c], _FARTHEST_RAW
        if standardize:
            value = (value - mean[c]) / np.sqrt(variance[c]) if variance[c] > 0 else 0.0
            farthest = _FARTHEST
        if np.isnan(value):
            value = 0.0 if standardize else mean[c]
        x[c] = min(max(value, -farthest), farthest)


@reordering_kernel
def _start_score(share: Floats, start: Floats) -> None:
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
    spaces: LatentSpaces,
    votes: Votes,
    share: Floats,
    settings: StreamSettings,
    hidden: Floats,
    output: Floats,
    contributions: Floats,
    score: Floats,
) -> None:
    forward(x, nets.inner, nets.outer, hidden, output)
    if settings.method == SPACES:
        _start_score(share, score)
        add_spaces(output, spaces.net_weights, spaces.space_weights, contributions, score)
    else:
        score[0] = linear_score(settings.method, output, votes, settings.shrink)


@reordering_kernel
def _validate(
    score: Floats,
    alert: bool,
    code: int,
    weight: float,
    contributions: Floats,
    validation: ProgressiveValidation,
    settings: StreamSettings,
) -> bool:
    """Validate the score of a row; return whether scores have become worse."""
    own, sums = validation.weights[0] * weight, validation.contributions
    for j in range(contributions.shape[0]):
        for p in range(contributions.shape[1]):
            sums[j, p] += own * abs(contributions[j, p])
    growth, delta = settings.growth, settings.delta
    if score.size == 1:
        return validate_score(validation, score[0], alert, code == 1, weight, growth, delta)
    return validate_error(validation, score.argmax() != code, weight, growth, delta)


@reordering_kernel
def _learn(
    x: Floats,
    code: int,
    weight: float,
    hidden: Floats,
    output: Floats,
    nets: Nets,
    spaces: LatentSpaces,
    votes: Votes,
    share: Floats,
    settings: StreamSettings,
) -> None:
    """Learn a row that has just been scored."""
    if settings.balanced:
        weight = weight / (share.size * max(share[code], _RAREST))
    else:
        weight = weight * settings.class_weight[code]
    step_size = settings.step_size
    if settings.method != SPACES:
        edge, shrink = settings.edge, settings.shrink
        linear_learn(
            settings.method,
            x,
            code == 1,
            weight,
            hidden,
            output,
            nets,
            votes,
            edge,
            shrink,
            step_size,
        )
        return
    label, start = np.zeros(output.shape[1]), np.empty(output.shape[1])
    if label.size > 1:
        label[code] = 1.0
    else:
        label[0] = code
    _start_score(share, start)
    target, mixing = settings.target, settings.mixing
    learn_spaces(x, label, weight, start, hidden, output, nets, spaces, target, step_size, mixing)


@reordering_kernel
def _update_moments(
    row: Floats, weight: float, mean: Floats, variance: Floats, column_weight: Floats
) -> None:
    """Update the means and variances of the columns."""
    for c in range(row.size):
        if np.isnan(row[c]):
            continue
        column_weight[c] += weight
        part = _part(weight, column_weight[c])
        away = min(max(row[c] - mean[c], -_LARGEST), _LARGEST)
        mean[c] += part * away
        variance[c] = (1 - part) * (variance[c] + part * away * away)


@reordering_kernel
def _update_shares(code: int, weight: float, share: Floats, total: Floats) -> None:
    """Update the shares of the classes."""
    total[0] += weight
    part = _part(weight, total[0])
    for k in range(share.size):
        share[k] += part * ((1.0 if k == code else 0.0) - share[k])


@reordering_kernel
def _part(weight: float, total: float) -> float:
    """The share of a row in a mean: by its weight, but at least that of one row in MEMORY."""
    return max(weight / total, min(weight / MEMORY, 1.0))


@kernel
def _draw(generator: Array) -> float:
    generator[0] += STEP
    return uniform(generator[0])


@kernel
def _pick_recent(draw: float, count: int, size: int) -> int:
    """The place of a remembered positive; older ones are picked less often."""
    age = int(draw**2 * min(count, size))
    return (count - 1 - age) % size


@kernel
def _reset_learners(
    nets: Nets, spaces: LatentSpaces, votes: Votes, fresh: Learners, restart: bool
) -> None:
    """Make steps long again, or also start from fresh learners."""
    nets.inner_sum[:] = 0.0
    nets.outer_sum[:] = 0.0
    spaces.net_weights_sum[:] = 0.0
    spaces.space_weights_sum[:] = 0.0
    votes.seen[:] = 0.0
    if restart:
        nets.inner[:] = fresh[0].inner
        nets.outer[:] = fresh[0].outer
        spaces.net_weights[:] = fresh[1].net_weights
        spaces.space_weights[:] = fresh[1].space_weights
        votes.weight[:] = fresh[2].weight
        votes.expert[:] = fresh[2].expert
