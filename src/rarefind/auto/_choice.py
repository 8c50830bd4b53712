"""What is made of a search: the best candidate or the mean of a few, its threshold, its chances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rarefind._typing import Floats
from rarefind.auto._judge import Held, beats_chance, is_clearly_better, judge
from rarefind.auto._member import Member, RankScale
from rarefind.auto._search import Contender, Search
from rarefind.metrics import CountMetric
from rarefind.selection import best_threshold
from rarefind.selection._calibration import BetaCalibration, Reference

_MOST_MEMBERS = 4
_FARTHEST = 35.0  # log-odds of a rank that rounds to 0 or 1


class Choice(NamedTuple):
    """Which candidates are taken, and how they stand."""

    standing: list[Contender]
    members: list[Contender]
    #: What the members together make of the rows held out, fold by fold.
    held: list[Held]
    beats_chance: bool

    @property
    def best(self) -> Contender:
        """The best single candidate."""
        return self.standing[0]

    def board(self) -> dict[str, list[Any]]:
        """The columns of the leaderboard."""
        found: dict[str, list[Any]] = {
            name: []
            for name in (
                "candidate",
                "precision_at_k",
                "precision_at_k_sd",
                "average_precision",
                "average_precision_sd",
                "rows",
                "folds",
                "seconds",
                "chosen",
            )
        }
        for c in self.standing:
            verdicts = [judged.verdict for judged in c.by_fold.values()]
            precision = [v.precision for v in verdicts]
            average = [v.average_precision for v in verdicts]
            found["candidate"].append(c.name)
            found["precision_at_k"].append(float(np.mean(precision)))
            found["precision_at_k_sd"].append(_spread(precision))
            found["average_precision"].append(float(np.mean(average)))
            found["average_precision_sd"].append(_spread(average))
            found["rows"].append(c.size)
            found["folds"].append(len(verdicts))
            found["seconds"].append(round(c.seconds, 3))
            found["chosen"].append(c in self.members)
        return found


def _spread(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def choose(search: Search) -> Choice:
    """The best candidate, or the first few together where that is clearly better."""
    standing = search.standing()
    best = standing[0]
    folds = sorted(best.by_fold)
    alone = [search.held(best, fold) for fold in folds]
    members, held, worth = [best], alone, _worth(alone, search.share)
    peers = [c for c in standing if sorted(c.by_fold) == folds][:_MOST_MEMBERS]
    for number in range(2, len(peers) + 1):
        together = [_mean_rank([search.held(c, f) for c in peers[:number]]) for f in folds]
        gained = _worth(together, search.share) - worth
        if is_clearly_better(together, held, gained, search.seed):
            members, held, worth = peers[:number], together, worth + gained
    return Choice(standing, members, held, beats_chance(held, len(standing), search.seed))


def _worth(parts: list[Held], share: float) -> float:
    return float(np.mean([judge(part, share).worth for part in parts]))


def _mean_rank(parts: list[Held]) -> Held:
    """The rows of a fold with the mean of the ranks that several models give them."""
    positive, _, weight = parts[0]
    ranks = [RankScale.of(p.score, weight).of_scores(p.score) for p in parts]
    return Held(positive, np.mean(ranks, axis=0), weight)


class Settled(NamedTuple):
    """The members as they will score, and what held-out rows tell of their scores."""

    members: list[Member]
    threshold: float
    #: None where the only member gives probabilities and ranks of its own.
    calibration: BetaCalibration | None
    reference: Reference | None


def settle(search: Search, choice: Choice, metric: CountMetric, threshold: Any) -> Settled:
    """Fit what was chosen to all rows as far as time allows; set threshold and probabilities."""
    members: list[Member] = []
    for contender in choice.members:
        whole = None if search.interrupted else search.last_fit(contender)
        if whole is not None and (whole.scale is not None or len(choice.members) == 1):
            members.append(whole)
            continue
        if len(choice.members) == 1 and not search.interrupted:
            search.widen(contender)
        members.append(contender.largest()[1].member)
    if len(members) > 1:
        held = choice.held
    elif members[0].rows is not None or not hasattr(members[0].estimator, "threshold_"):
        # It was fitted to a sample with more positives: rows as they are say what that means.
        held = [search.held(choice.members[0], choice.members[0].largest()[0])]
    else:
        own = float(members[0].estimator.threshold_)
        return Settled(members, own if threshold == "auto" else float(threshold), None, None)
    positive, score, weight = (np.concatenate(part) for part in zip(*held, strict=True))
    if threshold == "auto":
        threshold = best_threshold(positive, score, metric, sample_weight=weight).threshold
    calibration = BetaCalibration.fit(as_log_odds(score, len(members)), positive, weight)
    return Settled(members, float(threshold), calibration, Reference.of(score, weight))


def as_log_odds(score: Floats, members: int) -> Floats:
    """A score in a form that probabilities are logistic in: log-odds of ranks, log of ratios."""
    if members == 1:
        return np.arcsinh(score)
    with np.errstate(divide="ignore"):
        odds = np.log(score) - np.log1p(-score)
    return np.clip(odds, -_FARTHEST, _FARTHEST)
