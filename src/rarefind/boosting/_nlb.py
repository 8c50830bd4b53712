"""Non-linear boosting: learners joined in several latent spaces instead of one sum."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import xgboost
from joblib import effective_n_jobs
from scipy.special import softmax
from sklearn.utils._param_validation import Interval, StrOptions

from rarefind._core.fields import FloatArray, Object, RealNumber, Size, StateError
from rarefind._core.saved import saved
from rarefind._core.state import State
from rarefind._core.types import Array, Floats, Label
from rarefind.boosting._base import BOOSTING_STATE, BoostingClassifier, BoostingRows
from rarefind.boosting._coding import Coding
from rarefind.boosting._forest import FEW_ROWS
from rarefind.boosting._network import Loss, NetworkBuilder
from rarefind.boosting._run import Matrix, as_matrix, in_blocks
from rarefind.boosting._trees import Trees

# A learner's output goes no farther, before it is shrunk: a pure leaf would go on without end.
_FARTHEST = 20.0


def _check_learners(state: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    scores = 1 if sizes["classes"] == 2 else sizes["classes"]
    if sizes["trees"] != sizes["learners"] or sizes["scores"] != scores:
        raise StateError("the weights are not those of the learners")


@saved(
    "nlb",
    state=BOOSTING_STATE
    | State(
        {
            "_scale": FloatArray("learners", low=-1e30, high=1e30),
            "_network": Object("nlb-network", learners="learners", scores="scores"),
            "n_learners_": Size("learners"),
            "n_splits_": RealNumber(0),
        },
        _check_learners,
    ),
)
class NLBClassifier(BoostingClassifier):
    """Non-linear boosting: the same trees joined in several latent spaces, then through ReLUs.

    Boosting adds its trees up, so two trees cannot say "this or that, but not both". Here the score
    is ``F = F₀ + Σ_p a_p·relu(Σ_t A_tp·h_t)``: P representations weight the same trees, each in its
    own way, and one that is below 0 is silent. The next tree is fitted to the residual times w,
    what a unit of it adds to the score of the row, and its P weights take a Newton step together.

    Parameters
    ----------
    n_estimators : int, default=100
        Most rounds, of one tree each; of one a class with more than two classes.
    n_representations : int, default=10
        The number P of representations, for each class with more than two.
    learning_rate : float, default=0.1
        What a tree's values are multiplied by.
    max_depth : int, default=3
        Depth of the trees.
    min_child_weight : float, default=0.0
        Least sum of second derivatives in a leaf. At 1, XGBoost's default, a rare class has no
        leaves: its rows have second derivatives as small as their share.
    reg_lambda : float, default=1.0
        Shrinkage of leaves.
    leaves : {"newton", "squared"}, default="newton"
        Whether each leaf takes a Newton step, as in XGBoost, or the tree is fitted by least squares
        and takes one step as a whole, as in the thesis.
    start : {"uniform", "mirrored"}, default="uniform"
        The weights A_t of a new tree: from U(−1, 1), or ±1 with normal noise of ``jitter``.
    jitter : float, default=0.3
        Standard deviation of that noise.
    update : {"learner", "all", "none"}, default="learner"
        What is learned of the weights. With ``"learner"`` a new tree's weights are first moved so
        that it adds about its own value everywhere, and take a Newton step when it is grown; the
        outer weights a stay. With ``"all"``, as in the thesis, weights start as drawn, and full
        Newton steps move A_t and then each a. With ``"none"`` nothing is learned.
    sweeps : int, default=1
        How often these steps are taken a round.
    bins, max_bins, categorical_features, early_stopping_rounds, eval_metric, k, cv
        As in :class:`SGBAPClassifier`; rounds are judged by the logistic loss with more than two
        classes.
    threshold, metric, pos_label, random_state, n_jobs, verbose
        As in :class:`SGBAPClassifier`.

    Attributes
    ----------
    n_learners_ : int
        Trees of the model.
    n_splits_ : float
        Mean number of splits of a tree.
    n_rounds_, validation_curve_, feature_importances_, threshold_, value_
        As in :class:`SGBAPClassifier`.
    classes_, pos_label_, n_features_in_, feature_names_in_
        See :class:`rarefind.base.RareClassifier`.

    Notes
    -----
    F₀ is the log-odds. The first tree opens the gates: half of the outer weights are positive, half
    negative, and the first weights have the same signs, so that F = F₀ + h₁. Every step is halved
    until the loss does not rise, or left out. Where curvature vanishes, behind shut gates, a tenth
    of the mean one stands in.

    :meth:`explain` gives each tree's exact Shapley values times w at the row: what the columns add
    while the row's gates stay as they are.

    References
    ----------
    .. [1] J. Frery, "Ensemble Learning for Extremely Imbalanced Data Flows", thesis, Université de
       Lyon, 2019, sections 4.4 and 4.5.1.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from rarefind.boosting import NLBClassifier
    >>> from rarefind.data import load_keel
    >>> from rarefind.metrics import get_scorer
    >>> X, y = load_keel("yeast6")
    >>> train = train_test_split(X, y, stratify=y, test_size=0.3, random_state=0)
    >>> model = NLBClassifier(random_state=0).fit(train[0], train[2])
    >>> round(get_scorer("average_precision")(model, train[1], train[3]), 2)
    0.59
    """

    _many_classes = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostingClassifier._shared_constraints,
        "n_representations": [Interval(Integral, 2, None, closed="left")],
        "leaves": [StrOptions({"newton", "squared"})],
        "start": [StrOptions({"uniform", "mirrored"})],
        "jitter": [Interval(Real, 0, None, closed="left")],
        "update": [StrOptions({"learner", "all", "none"})],
        "sweeps": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        n_representations: int = 10,
        learning_rate: float = 0.1,
        max_depth: int = 3,
        min_child_weight: float = 0.0,
        reg_lambda: float = 1.0,
        leaves: str = "newton",
        start: str = "uniform",
        jitter: float = 0.3,
        update: str = "learner",
        sweeps: int = 1,
        bins: str = "positive-aware",
        max_bins: int = 256,
        categorical_features: Any = None,
        early_stopping_rounds: int | None = 20,
        eval_metric: str = "average_precision",
        k: float | str | None = None,
        cv: Any = 5,
        threshold: Any = "auto",
        metric: Any = "f1",
        pos_label: Label = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_representations = n_representations
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.leaves = leaves
        self.start = start
        self.jitter = jitter
        self.update = update
        self.sweeps = sweeps
        self.bins = bins
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.k = k
        self.cv = cv
        self.threshold = threshold
        self.metric = metric
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _grow(self, rows: BoostingRows, held_out: Floats | None, seed: int) -> _Growth:
        return _Growth(self, rows, held_out, seed)

    def _keep(self, grown: _Growth) -> None:
        self._trees, self._coding = Trees.of(grown.booster), grown.matrix.coding
        self._scale = np.array(grown.scale)
        self._network = grown.builder.network()
        self.n_learners_ = len(grown.scale)
        sizes = [len(nodes) for nodes in self._trees.leaf_values()]
        self.n_splits_ = float(np.mean([(size - 1) // 2 for size in sizes]))

    def _learner_outputs(self, data: Any, booster: xgboost.Booster) -> Floats:
        """The learners' outputs for some rows, a column each."""
        leaf = booster.predict(data, pred_leaf=True).reshape(data.num_row(), -1).astype(np.intp)
        outputs = [values[leaf[:, t]] for t, values in enumerate(self._trees.leaf_values())]
        return np.column_stack(outputs).astype(np.float64) * self._scale

    def _scores(self, X: Floats) -> Floats:
        """One score a row, or one a class."""
        if len(X) <= FEW_ROWS:
            outputs = self._trees.forest(self._coding).outputs(X)
            return self._network.scores(outputs.astype(np.float64) * self._scale)
        threads = effective_n_jobs(self.n_jobs)
        booster = self._trees.booster(threads)
        return in_blocks(
            X,
            self._coding,
            lambda data: self._network.scores(self._learner_outputs(data, booster)),
            threads,
        )

    def _priority(self, X: Floats) -> Floats:
        return self._scores(X)[:, 0]

    def _labels(self, X: Floats) -> Array:
        if self.classes_.size == 2:
            return super()._labels(X)
        return self.classes_[self._scores(X).argmax(axis=1)]

    def _probabilities(self, X: Floats) -> Floats:
        if self.classes_.size == 2:
            return super()._probabilities(X)
        return np.asarray(softmax(self._scores(X), axis=1))

    def _contributions(self, X: Floats) -> Floats:
        """Shapley values of each learner, times what it adds while the row's gates stay."""
        threads = effective_n_jobs(self.n_jobs)
        booster, trees = self._trees.booster(threads), self._trees.single_trees(threads)

        def contribute(data: Any) -> Floats:
            slopes = self._network.slopes(self._learner_outputs(data, booster)) * self._scale
            found = np.zeros((data.num_row(), self.n_features_in_))
            for tree, slope in zip(trees, slopes.T, strict=True):
                found += slope[:, None] * tree.predict(data, pred_contribs=True)[:, :-1]
            return found

        return in_blocks(X, self._coding, contribute, threads)

    def _bases(self, X: Floats) -> Floats:
        """What the learners' means add up to while the row's gates stay."""
        threads = effective_n_jobs(self.n_jobs)
        booster, trees = self._trees.booster(threads), self._trees.single_trees(threads)

        def mean_of_each(data: Any) -> Floats:
            return np.array([[tree.predict(data, pred_contribs=True)[0, -1] for tree in trees]])

        means = self._scale * self._trees.means(
            lambda: in_blocks(X[:1], self._coding, mean_of_each, threads)[0]
        )

        def join(data: Any) -> Floats:
            return np.asarray(self._network.slopes(self._learner_outputs(data, booster)) @ means)

        return np.asarray(self._network.start[0] + in_blocks(X, self._coding, join, threads))

    def _worth(self, held: BoostingRows, score: Floats) -> float:
        if self.classes_.size == 2:
            return super()._worth(held, score[:, 0])
        target = np.eye(self.classes_.size)[held.codes]
        return -Loss(target, held.weight).value(score) / float(held.weight.sum())

    def _calibrate_parts(self, held: list[BoostingRows], scores: list[Floats]) -> None:
        if self.classes_.size == 2:
            super()._calibrate_parts(held, [score[:, 0] for score in scores])
        else:
            self._leave_uncalibrated()
            self.threshold_ = np.nan


class _Growth:
    """A model of non-linear boosting on its way: a round is one tree, or one a class."""

    def __init__(
        self, model: NLBClassifier, rows: BoostingRows, held_out: Floats | None, seed: int
    ) -> None:
        n_classes = model.classes_.size
        rare = rows.positive
        if n_classes == 2:
            target = rows.positive[:, None].astype(float)
        else:
            target = np.eye(n_classes)[rows.codes]
            rare = rows.codes == np.bincount(rows.codes).argmin()
        self._model = model
        threads = effective_n_jobs(model.n_jobs)
        max_bins = model.max_bins if model.bins == "positive-aware" else None
        coding = Coding.learn(rows.X, rare, model._is_set, max_bins, threads)
        squared = model.leaves == "squared"
        params = {
            "learning_rate": model.learning_rate,
            "max_depth": model.max_depth,
            "min_child_weight": model.min_child_weight,
            "reg_lambda": 0.0 if squared else model.reg_lambda,
            "max_delta_step": 0.0 if squared else _FARTHEST,
            "tree_method": "hist",
            "max_bin": model.max_bins,
            "base_score": 0.0,
            "nthread": threads,
            "seed": seed,
            "verbosity": 0,
        }
        self.matrix = Matrix(rows.X, rare, coding, params)
        self._held_out = None
        if held_out is not None:
            self._held_out = as_matrix(coding.codes(held_out, threads), coding, threads)
        self.booster = xgboost.Booster(self.matrix.params, [self.matrix.data])
        share = (rows.weight @ target) / rows.weight.sum()
        start = np.log(share / (1 - share)) if n_classes == 2 else np.log(share)
        self.builder = NetworkBuilder(
            Loss(target, rows.weight),
            start,
            model.n_representations,
            np.random.default_rng(seed),
        )
        self.scale: list[float] = []
        self._held_learned: list[Floats] = []

    def step(self, round_number: int) -> None:
        """Add a learner to each score."""
        for score in range(len(self.builder.start)):
            self._add_learner(score)

    def held_out_scores(self) -> Floats:
        """Scores of the held-out rows by the learners so far, of shape (n, scores)."""
        return self.builder.network().scores(np.column_stack(self._held_learned))

    def _add_learner(self, score: int) -> None:
        model, builder = self._model, self.builder
        freely = model.update == "all"
        jitter = None if model.start == "uniform" else model.jitter
        weights, slope = builder.propose(score, jitter, align=not freely)
        residual, curvature = builder.loss.derivatives(builder.scores)
        pull = (residual * slope).sum(axis=1)
        bend = (curvature * slope**2).sum(axis=1)
        squared = model.leaves == "squared"
        own = builder.loss.weight * (slope**2).sum(axis=1) if squared else bend
        number = len(self.scale)
        self.booster.boost(
            self.matrix.data,
            iteration=number,
            grad=-pull.astype(np.float32),
            hess=np.maximum(own, 1e-9).astype(np.float32),
        )
        # To cut the tree out as a model of its own would take longer than to grow it.
        tree = {"output_margin": True, "iteration_range": (number, number + 1)}
        learned = self.booster.predict(self.matrix.data, **tree).astype(np.float64)
        scale = 1.0
        if squared:
            # One multiplier for the tree, by a Newton step, in place of one a leaf.
            scale = _multiplier(learned, pull, bend, model.learning_rate)
        learned = scale * learned
        builder.add(learned, weights)
        rate = 1.0 if freely else model.learning_rate if squared else 0.5
        for _ in range(model.sweeps):
            if model.update != "none":
                builder.turn(learned, rate)
            if model.update == "all":
                builder.weigh(rate)
        self.scale.append(scale)
        if self._held_out is not None:
            held = self.booster.predict(self._held_out, **tree).astype(np.float64)
            self._held_learned.append(scale * held)


def _multiplier(learned: Floats, pull: Floats, bend: Floats, rate: float) -> float:
    """What a tree's output is multiplied by; it was shrunk by the rate before."""
    unshrunk = learned / rate
    curvature = float(bend @ unshrunk**2)
    largest = float(np.abs(unshrunk).max())
    if curvature <= 1e-12 or largest == 0:
        return 1.0
    return float(np.clip(pull @ unshrunk / curvature, 0.0, _FARTHEST / largest))
