import numpy as np
import pytest
from hypothesis import assume, currently_in_test_context, given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from rarefind._core.random import STEP, uniform
from rarefind.streams._adwin import adwin_add
from rarefind.streams._linear import ADABOOST, GRADIENT, Votes, linear_learn, linear_score
from rarefind.streams._loop import (
    MEMORY,
    RECORD,
    RELEARN,
    RESTART,
    SPACES,
    StreamSettings,
    process_rows,
)
from rarefind.streams._nets import Nets, StepSize
from rarefind.streams._spaces import LOSS, RESIDUAL, SLOPE, LatentSpaces
from rarefind.streams._state import PositiveMemory, StreamState
from rarefind.streams._validation import N_BINS, ProgressiveValidation

COLUMNS = 3
NOTHING_KNOWN = np.empty((0, 1))

seeds = st.integers(0, 10**6)
step_sizes = st.sampled_from(
    [StepSize(0.1, False, 1.0), StepSize(0.1, True, 1.0), StepSize(0.05, True, 0.9)]
)


def make_settings(**given):
    """Those of an estimator, but for what is given."""
    classes = given.pop("classes", 2)
    usual = {
        "method": SPACES,
        "step_size": StepSize(0.1, True, 1.0),
        "mixing": StepSize(0.01, True, 1.0),
        "target": LOSS,
        "edge": 0.1,
        "shrink": 0.5,
        "standardize": True,
        "balanced": False,
        "class_weight": np.ones(classes),
        "replay": 0.5,
        "growth": 2 ** (1 / 20),
        "delta": 0.002,
        "on_drift": RECORD,
        "threshold": -1.0,
    }
    return StreamSettings(**usual | given)


def begin(rng, classes=2, n=3, size=4, hidden=2, memory=0, method=SPACES):
    """Learners, and a state that begins with them."""
    outputs = 1 if classes == 2 else classes
    fresh = (
        Nets.draw(rng, n, hidden, COLUMNS, outputs),
        LatentSpaces.draw(rng, n, outputs, size, 0.3),
        Votes.start(method, n),
    )
    state = StreamState(
        *fresh,
        mean=np.zeros(COLUMNS),
        variance=np.zeros(COLUMNS),
        column_weight=np.zeros(COLUMNS),
        share=np.full(classes, 1 / classes),
        weight=np.ones(1),
        memory=PositiveMemory(np.zeros((memory, COLUMNS)), np.zeros(1, dtype=np.intp)),
        generator=rng.integers(2**63, size=1, dtype=np.uint64),
        validation=ProgressiveValidation.start(outputs, size),
    )
    return fresh, copy_arrays(state)


def draw_rows(rng, n, classes=2, missing=0.1):
    """Rows of all scales, some of whose values are missing, and classes that follow them."""
    X = rng.normal(size=(n, COLUMNS)) * [1.0, 100.0, 0.0] + [0.0, -50.0, 5.0]
    codes = (X[:, 0] > 0.8).astype(np.intp)
    if classes > 2:
        codes = np.clip(np.round(X[:, 0] + 1), 0, classes - 1).astype(np.intp)
    X[rng.random(X.shape) < 0.02] *= 1e4
    X[rng.random(X.shape) < missing] = np.nan
    return X, codes, rng.choice([0.3, 1.0, 1.0, 4.0], n)


def copy_arrays(tree):
    if isinstance(tree, np.ndarray):
        return tree.copy()
    return type(tree)(*map(copy_arrays, tree))


def arrays_of(tree, name="state"):
    if isinstance(tree, np.ndarray):
        yield name, tree
        return
    for part, below in zip(tree._fields, tree, strict=True):
        yield from arrays_of(below, f"{name}.{part}")


def flat_learners(state):
    return [array for part in state[:3] for array in part]


def assert_same(ours, theirs):
    for (name, now), (_, then) in zip(arrays_of(ours), arrays_of(theirs), strict=True):
        np.testing.assert_array_equal(now, then, err_msg=name)


class NaiveLoop:
    """The loop in plain Python, of the definitions; ADWIN and linear methods have own twins."""

    def __init__(self, state, fresh, given):
        self.state, self.fresh, self.given = copy_arrays(state), fresh, given
        self.nets, self.spaces, self.votes = self.state[:3]
        self.outputs = self.nets.outer.shape[1]

    def go(self, X, codes, weight, known, learning, validating):
        rows = zip(X, codes, weight, known if len(known) else [None] * len(X), strict=True)
        return np.array([self.take(*row, learning, validating) for row in rows])

    def take(self, row, code, weight, known, learning, validating):
        score, contributions = self.score(self.standardize(row))
        score = score if known is None else known[: self.outputs]
        alert = score[0] >= self.given.threshold
        if known is not None and len(known) > self.outputs:
            alert = known[-1] > 0
        alarm = validating and self.validate(score, alert, contributions, code, weight)
        if learning:
            self.learn(self.standardize(row), code, weight)
            self.update_moments(row, weight)
            self.update_shares(code, weight)
            self.remember(row, code)
            if alarm:
                self.reset_learners()
        return score

    def standardize(self, row):
        row = np.where(np.isnan(row), self.state.mean, row)
        x = np.clip(row, -1e6, 1e6)
        if self.given.standardize:
            variance = self.state.variance
            x = (row - self.state.mean) / np.sqrt(np.where(variance > 0, variance, np.inf))
            x = np.clip(x, -8, 8)
        return np.append(x, 1.0)

    def forward(self, x):
        hidden = np.tanh(self.nets.inner @ x)
        outer = self.nets.outer
        return hidden, np.einsum("tjk,tk->tj", outer[:, :, :-1], hidden) + outer[:, :, -1]

    @property
    def start(self):
        share = np.maximum(self.state.share, 1e-9)
        return np.log(share[1:] / share[0]) if self.outputs == 1 else np.log(share)

    def score(self, x):
        _, output = self.forward(x)
        if self.given.method != SPACES:
            found = linear_score(self.given.method, output, self.votes, self.given.shrink)
            return np.array([found]), np.zeros(self.spaces.space_weights.shape[1:])
        z = np.einsum("tjp,tj->jp", self.spaces.net_weights, output)
        contributions = self.spaces.space_weights[0] * np.maximum(z, 0)
        return self.start + contributions.sum(axis=1), contributions

    def validate(self, score, alert, contributions, code, weight):
        validation = self.state.validation
        own = validation.weights[0] * weight
        validation.contributions[:] += own * np.abs(contributions)
        if self.outputs == 1:
            place = int(np.clip((np.arcsinh(score[0]) / 10 + 1) / 2 * N_BINS, 0, N_BINS - 1))
            validation.bins[int(code == 1), place] += own
            validation.decisions[int(code == 1), int(alert)] += own
            worse = False
            if code == 1:
                over, found = validation.bins[:, place:].sum(axis=1) - validation.bins[:, place] / 2
                found += own / 2  # the row itself is whole in it
                term = found / (found + over)
                worse = adwin_add(validation.window, term, self.given.delta) < 0
        else:
            wrong = score.argmax() != code
            validation.decisions[0, int(wrong)] += own
            worse = adwin_add(validation.window, float(wrong), self.given.delta) > 0
        validation.weights[:] = (
            validation.weights[0] * self.given.growth,
            validation.weights[1] + own,
        )
        validation.count[0] += 1
        if worse:
            validation.alarms[validation.count[1] % 100] = validation.count[0]
            validation.count[1] += 1
        return worse

    def learn(self, x, code, weight):
        given, share = self.given, self.state.share
        if given.balanced:
            weight = weight / (share.size * max(share[code], 1e-9))
        else:
            weight = weight * given.class_weight[code]
        hidden, output = self.forward(x)
        if given.method != SPACES:
            about = hidden, output, self.nets, self.votes, given.edge, given.shrink, given.step_size
            linear_learn(given.method, x, code == 1, weight, *about)
        elif self.outputs == 1:
            self.descend(x, np.array([float(code)]), weight, hidden, output, expit)
        else:
            self.descend(x, np.eye(share.size)[code], weight, hidden, output, softmax)

    def descend(self, x, target, weight, hidden, output, probability):
        net_weights, net_weights_sum = self.spaces.net_weights, self.spaces.net_weights_sum
        space_weights, space_weights_sum = (
            self.spaces.space_weights[0],
            self.spaces.space_weights_sum[0],
        )
        z, by_joined = np.zeros(space_weights.shape), np.zeros(space_weights.shape)
        for t, h in enumerate(output):
            before, A = z, net_weights[t].copy()
            z = before + A * h[:, None]
            residuals = [
                target - probability(self.start + (space_weights * np.maximum(part, 0)).sum(axis=1))
                for part in (before, z)
            ]
            adds = [
                (np.heaviside(part, 0.5) * space_weights * A).sum(axis=1) for part in (before, z)
            ]
            gradient = {
                RESIDUAL: residuals[0] - h,
                SLOPE: residuals[0] * adds[0] - h,
                LOSS: residuals[1] * adds[1],
            }[self.given.target]
            residual = weight * residuals[1][:, None]
            by_joined += residual * np.maximum(z, 0) / len(output)
            step(
                net_weights[t],
                net_weights_sum[t],
                residual * space_weights * h[:, None],
                self.given.mixing,
                z > 0,
            )
            self.backward(t, x, hidden[t], np.clip(weight * gradient, -1e4, 1e4))
        step(space_weights, space_weights_sum, by_joined, self.given.mixing)

    def backward(self, t, x, hidden, gradient):
        inner, outer, inner_sum, outer_sum = self.nets
        back = gradient @ outer[t, :, :-1] * (1 - hidden**2)
        step(inner[t], inner_sum[t], np.outer(back, x), self.given.step_size, most=np.inf)
        step(
            outer[t], outer_sum[t], np.outer(gradient, np.append(hidden, 1.0)), self.given.step_size
        )

    def update_moments(self, row, weight):
        state = self.state
        for c, value in enumerate(row):
            if not np.isnan(value):
                state.column_weight[c] += weight
                part = part_of(weight, state.column_weight[c])
                away = np.clip(value - state.mean[c], -1e150, 1e150)
                # So a column that does not change has a mean without an error in its last digit.
                state.mean[c] += part * away
                # The variances within what was before and the row, and that between them.
                state.variance[c] = (1 - part) * state.variance[c] + part * (1 - part) * away**2

    def update_shares(self, code, weight):
        share, total = self.state.share, self.state.weight
        total[0] += weight
        part = part_of(weight, total[0])
        share[:] = (1 - part) * share + part * (np.arange(share.size) == code)

    def remember(self, row, code):
        rows, count = self.state.memory
        if not len(rows):
            return
        if code == 1:
            rows[count[0] % len(rows)] = row
            count[0] += 1
        elif count[0] and self.state.share[1] < 0.1 and self.random() < self.given.replay:
            n = min(count[0], len(rows))
            latest_first = [rows[k % len(rows)] for k in range(count[0] - 1, count[0] - n - 1, -1)]
            again = latest_first[int(self.random() ** 2 * n)]
            self.learn(self.standardize(again), 1, 1.0)
            self.update_shares(1, 1.0)

    def random(self):
        """SplitMix64 of Steele, Lea and Flood."""
        state, number = split_mix(int(self.state.generator[0]))
        self.state.generator[0] = state
        return (number >> 11) / 2**53

    def reset_learners(self):
        if self.given.on_drift == RECORD:
            return
        for sums in (*self.nets[2:], *self.spaces[2:], self.votes.seen):
            sums[:] = 0
        if self.given.on_drift == RESTART:
            for own, new in zip((self.nets, self.spaces, self.votes), self.fresh, strict=True):
                for now, then in list(zip(own, new, strict=True))[:2]:
                    now[:] = then


def split_mix(state):
    wrap = 2**64
    state = (state + 0x9E3779B97F4A7C15) % wrap
    z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % wrap
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % wrap
    return state, z ^ (z >> 31)


def step(weights, sums, gradient, step_size, where=True, most=1e4):
    """Take a step of the weights along their gradients, where they may change."""
    gradient = np.clip(gradient, -most, most)
    if step_size.adaptive:
        sums[:] = np.where(where, step_size.keep * sums + gradient**2, sums)
        gradient = gradient / np.sqrt(sums + 1e-8)
    weights += np.where(where, step_size.rate * gradient, 0.0)


def part_of(weight, total):
    return max(weight / total, min(weight / 100_000, 1))


def check_same(
    state, fresh, given, rows, known=NOTHING_KNOWN, learning=True, validating=True, near=1e-9
):
    """Both loops from here on; the kernel's state is changed."""
    naive = NaiveLoop(state, fresh, given)
    scores = process_rows(*rows, known, state, fresh, given, learning, validating)
    expected = naive.go(*rows, known, learning, validating)
    # In nets that run away the last digit soon decides: the order in which sums are taken.
    grown = (naive.state.nets.inner, naive.state.nets.outer, expected)
    if currently_in_test_context():  # in a property, that is
        assume(max(np.abs(each).max(initial=0) for each in grown) < 1e3)
    np.testing.assert_allclose(scores, expected, rtol=near, atol=near)
    for (name, now), (_, then) in zip(arrays_of(state), arrays_of(naive.state), strict=True):
        np.testing.assert_allclose(now, then, rtol=near, atol=near, err_msg=name)


@settings(max_examples=150)
@given(data=st.data())
def test_the_loop_is_that_of_plain_python(data):
    draw = data.draw
    rng = np.random.default_rng(draw(seeds, "seed"))
    classes = draw(st.sampled_from([2, 2, 3, 4]), "classes")
    methods = [SPACES] * 4 + [GRADIENT, ADABOOST] * (classes == 2)
    given = make_settings(
        method=draw(st.sampled_from(methods), "method"),
        step_size=draw(step_sizes, "step_size"),
        mixing=draw(step_sizes, "mixing"),
        target=draw(st.sampled_from([RESIDUAL, SLOPE, LOSS]), "target"),
        standardize=draw(st.booleans(), "standardize"),
        balanced=draw(st.booleans(), "balanced"),
        class_weight=rng.choice([0.0, 0.5, 1.0, 20.0], classes),
        replay=draw(st.sampled_from([0.0, 0.3, 1.0]), "replay"),
    )
    fresh, state = begin(
        rng,
        classes,
        n=draw(st.integers(1, 4), "nets"),
        size=draw(st.integers(2, 5), "size"),
        hidden=draw(st.integers(1, 3), "hidden"),
        memory=draw(st.sampled_from([0, 1, 3, 50]), "memory") if classes == 2 else 0,
        method=given.method,
    )
    X, codes, weight = draw_rows(rng, draw(st.integers(1, 30), "rows"), classes)
    near, old = 1e-9, draw(st.booleans(), "an old stream")
    if old and given.balanced:
        near = 1e-5  # a class of share 1e-11 counts a thousand million times, and so does rounding
    if old:
        state.column_weight[:], state.weight[:] = 1e6, 1e6
        state.mean[:], state.variance[:] = [0.0, -50.0, 5.0], [1.0, 1e4, 0.0]
        state.share[:] = [1 - 1e-11, *[1e-11 / (classes - 1)] * (classes - 1)]
        weight[rng.random(weight.size) < 0.1] = 2.0 * MEMORY
    if not given.standardize:
        X /= 100
    known = NOTHING_KNOWN
    if draw(st.booleans(), "known"):
        more = draw(st.booleans(), "decided")
        known = rng.normal(size=(len(X), state.nets.outer.shape[1] + more))
    learning, validating = draw(
        st.sampled_from([(True, True), (True, False), (False, True)]), "what"
    )
    check_same(state, fresh, given, (X, codes, weight), known, learning, validating, near)


@pytest.mark.parametrize("on_drift", [RECORD, RELEARN, RESTART])
@pytest.mark.parametrize(("method", "classes"), [(SPACES, 2), (SPACES, 3), (ADABOOST, 2)])
def test_learners_reset_learners_where_the_stream_becomes_worse(on_drift, method, classes):
    rng = np.random.default_rng(0)
    given = make_settings(classes=classes, on_drift=on_drift, delta=0.1, method=method)
    fresh, state = begin(rng, classes, memory=5 * (classes == 2), method=method)
    X, codes, weight = draw_rows(rng, 400, classes)
    codes[:] = np.arange(400) % classes
    # Right, and from the 200th row on wrong.
    side = np.where(np.arange(400) < 200, 5.0, -5.0)
    own = np.eye(classes)[codes] * side[:, None]
    known = np.ascontiguousarray(own if classes > 2 else own[:, 1:] - own[:, :1])
    rows = X, codes, weight
    plain = copy_arrays(state)
    check_same(state, fresh, given, rows, known)
    assert state.validation.n_alarms > 0
    assert (state.validation.latest_alarms() > 200).all()
    process_rows(*rows, known, plain, fresh, given._replace(on_drift=RECORD), True, True)
    same = [now == then for now, then in zip(*map(flat_learners, (state, plain)), strict=True)]
    assert all(map(np.all, same)) == (on_drift == RECORD)


def test_an_alarm_at_the_last_row_leaves_fresh_learners():
    rng = np.random.default_rng(0)
    given = make_settings(on_drift=RESTART, delta=0.1)
    fresh, state = begin(rng)
    codes = np.ones(1000, dtype=np.intp)
    codes[::2] = 0
    X = rng.normal(size=(1000, COLUMNS))
    known = np.where(codes == 1, np.where(np.arange(1000) < 500, 5.0, -5.0), 0.0)[:, None]
    rows = X, codes, np.ones(1000), known
    for i in range(1000):
        process_rows(*(part[i : i + 1] for part in rows), state, fresh, given, True, True)
        if state.validation.n_alarms:
            break
    assert state.validation.latest_alarms() == [i + 1]
    for now, then in zip(flat_learners(state), flat_learners(fresh), strict=True):
        np.testing.assert_array_equal(now, then)


@settings(max_examples=40)
@given(
    seeds,
    st.sampled_from([2, 3]),
    st.lists(st.integers(0, 40), max_size=5),
    st.sampled_from([0, 3]),
    st.booleans(),
)
def test_rows_and_batches_of_them_come_to_the_same(seed, classes, cuts, memory, balanced):
    rng = np.random.default_rng(seed)
    given = make_settings(classes=classes, balanced=balanced, on_drift=RESTART)
    fresh, state = begin(rng, classes, memory=memory if classes == 2 else 0)
    rows = draw_rows(rng, 40, classes)
    parted, single = copy_arrays(state), copy_arrays(state)
    scores = process_rows(*rows, NOTHING_KNOWN, state, fresh, given, True, True)
    for other, ends in ((parted, sorted(cuts)), (single, range(1, 40))):
        found = [
            process_rows(
                *(part[batch] for part in rows), NOTHING_KNOWN, other, fresh, given, True, True
            )
            for batch in map(slice, [0, *ends], [*ends, 40])
        ]
        np.testing.assert_array_equal(np.concatenate(found), scores)
        assert_same(other, state)


@pytest.mark.parametrize(("method", "classes"), [(SPACES, 2), (SPACES, 3), (GRADIENT, 2)])
@pytest.mark.parametrize("adaptive", [False, True])
def test_scores_are_those_a_row_has_before_it_is_learned(method, classes, adaptive):
    rng = np.random.default_rng(1)
    given = make_settings(classes=classes, method=method, step_size=StepSize(0.1, adaptive, 1.0))
    fresh, state = begin(rng, classes, n=7, size=9, memory=4 * (classes == 2), method=method)
    rows = draw_rows(rng, 120, classes)
    whole = process_rows(*rows, NOTHING_KNOWN, copy_arrays(state), fresh, given, True, True)
    for i in range(120):
        row = [part[i : i + 1] for part in rows]
        before = copy_arrays(state)
        # Other rows at the side, and another label, are no matter.
        twice = [np.repeat(part, 2, axis=0) for part in (row[0], 1 - np.minimum(row[1], 1), row[2])]
        alone = process_rows(*twice, NOTHING_KNOWN, state, fresh, given, False, False)
        assert_same(state, before)
        learned = process_rows(*row, NOTHING_KNOWN, state, fresh, given, True, True)
        np.testing.assert_array_equal(alone, np.repeat(learned, 2, axis=0))
        np.testing.assert_array_equal(learned[0], whole[i])


@given(seeds, st.sampled_from([2, 3]))
def test_validation_and_learning_do_not_affect_each_other(seed, classes):
    rng = np.random.default_rng(seed)
    given = make_settings(classes=classes)
    fresh, state = begin(rng, classes)
    rows = draw_rows(rng, 20, classes)
    states = {}
    for learning in (False, True):
        for validating in (False, True):
            one = states[learning, validating] = copy_arrays(state)
            process_rows(*rows, NOTHING_KNOWN, one, fresh, given, learning, validating)
    assert_same(states[False, False], state)
    for learning in (False, True):
        validated, learned = states[learning, True], states[learning, False]
        assert_same(validated._replace(validation=state.validation), learned)
        assert validated.validation.n_rows == 20
        assert_same(learned.validation, state.validation)


@given(seeds, st.integers(1, 60))
def test_means_and_variances_are_those_of_the_rows_so_far(seed, n):
    rng = np.random.default_rng(seed)
    fresh, state = begin(rng)
    X, codes, weight = draw_rows(rng, n, missing=0.3)
    process_rows(X, codes, weight, NOTHING_KNOWN, state, fresh, make_settings(), True, False)
    for c in range(COLUMNS):
        there = ~np.isnan(X[:, c])
        assert state.column_weight[c] == pytest.approx(weight[there].sum())
        if there.any():
            values, by = X[there, c], weight[there]
            mean = np.average(values, weights=by)
            variance = np.average((values - mean) ** 2, weights=by)
            assert state.mean[c] == pytest.approx(mean, rel=1e-9, abs=1e-9)
            assert state.variance[c] == pytest.approx(variance, rel=1e-8, abs=1e-9)
    # Half a row of either class was there before the first.
    expected = (0.5 + weight[codes == 1].sum()) / (1 + weight.sum())
    assert state.share[1] == pytest.approx(expected)
    assert state.share.sum() == pytest.approx(1)


def test_an_old_stream_follows_its_latest_rows():
    rng = np.random.default_rng(0)
    fresh, state = begin(rng, n=1)
    state.column_weight[:], state.weight[:] = 1e9, 1e9
    X = 7 + rng.normal(size=(MEMORY, COLUMNS))
    rows = X, np.ones(MEMORY, dtype=np.intp), np.ones(MEMORY)
    process_rows(*rows, NOTHING_KNOWN, state, fresh, make_settings(), True, False)
    left = (1 - 1 / MEMORY) ** MEMORY
    np.testing.assert_allclose(state.mean, 7 * (1 - left), rtol=0.01)
    np.testing.assert_allclose(state.share, [0.5 * left, 1 - 0.5 * left], rtol=1e-9)
    # Rows at 0 and at 7 ± 1, mixed.
    np.testing.assert_allclose(state.variance, (1 - left) * (49 * left + 1), rtol=0.01)


@pytest.mark.parametrize("value", [1e308, -1e308, 1e160])
@pytest.mark.parametrize("standardize", [False, True])
def test_values_without_a_finite_square_leave_finite_numbers(value, standardize):
    rng = np.random.default_rng(0)
    fresh, state = begin(rng)
    X, codes, weight = draw_rows(rng, 60)
    X[::7, 0], X[3::7, 0] = value, -value
    given = make_settings(standardize=standardize)
    scores = process_rows(X, codes, weight, NOTHING_KNOWN, state, fresh, given, True, True)
    assert np.isfinite(scores).all()
    for name, array in arrays_of(state):
        assert np.isfinite(array).all(), name


@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_latest_positives_are_remembered(size):
    rng = np.random.default_rng(0)
    fresh, state = begin(rng, memory=size)
    X = np.arange(60.0)[:, None] * np.ones(COLUMNS)
    codes = (np.arange(60) % 3 == 0).astype(np.intp)
    given = make_settings(replay=0.0)
    process_rows(X, codes, np.ones(60), NOTHING_KNOWN, state, fresh, given, True, False)
    kept = state.memory.rows[: state.memory.count[0]]
    assert sorted(kept[:, 0]) == list(X[codes == 1, 0][-size:])
    assert state.memory.count[0] == 20


def test_random_numbers_are_those_of_split_mix():
    # The first numbers of seed 1234567, as in the reference implementation.
    state, published = 1234567, [6457827717110365317, 3203168211198807973, 9817491932198370423]
    for number in published:
        state, found = split_mix(state)
        assert found == number
        assert uniform(np.uint64(state)) == (number >> 11) / 2**53
    assert int(STEP) == 0x9E3779B97F4A7C15
