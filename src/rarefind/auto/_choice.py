"""What comes out of a search: one candidate or the mean of a few, threshold and calibration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rarefind._core.types import Floats
from rarefind.auto._contender import Contender
from rarefind.auto._families import of_different_families
from rarefind.auto._judge import Held, beats_chance, is_clearly_better, judge
from rarefind.auto._member import Member, RankScale
from rarefind.auto._search import Search
from rarefind.metrics import CountMetric
from rarefind.selection.calibration import (
    LOG_ODDS,
    Calibrated,
    Reference,
    ScoreCalibration,
    ScoreKind,
)
from rarefind.selection.thresholds import ANY_THRESHOLD, bounds_at

_MOST_MEMBERS = 5
_FARTHEST = 35.0  # log-odds of a rank that rounds to 0 or 1


class ChosenCandidates(NamedTuple):
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
            found_quality = [judged.quality for judged in c.by_fold.values()]
            precision = [v.precision for v in found_quality]
            average = [v.average_precision for v in found_quality]
            found["candidate"].append(c.name)
            found["precision_at_k"].append(float(np.mean(precision)))
            found["precision_at_k_sd"].append(_spread(precision))
            found["average_precision"].append(float(np.mean(average)))
            found["average_precision_sd"].append(_spread(average))
            found["rows"].append(c.size)
            found["folds"].append(len(found_quality))
            found["seconds"].append(round(c.seconds, 3))
            found["chosen"].append(c in self.members)
        return found


def _spread(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def choose(search: Search) -> ChosenCandidates:
    """The best candidate, or several together.

    With few positives held out, which candidate is the best is within noise: then those that are
    nearly as good are taken together, of different families. With more of them, the first few are
    taken where they are clearly better than the best one.
    """
    standing = search.standing()
    folds = sorted(standing[0].by_fold)
    peers = [c for c in standing if c.by_fold.keys() >= set(folds)]
    if search.is_hard_to_tell:
        alone = _together(search, peers[:1], folds)
        near = _nearly_as_good(peers, folds, sum(int(part.positive.sum()) for part in alone))
        members = _in_time(search, near[:_MOST_MEMBERS])
        held = _together(search, members, folds)
    else:
        members, held = _clearly_better(search, peers[:_MOST_MEMBERS], folds)
    return ChosenCandidates(standing, members, held, beats_chance(held, len(standing), search.seed))


def _nearly_as_good(peers: list[Contender], folds: list[int], positives: int) -> list[Contender]:
    """Candidates of different families that are worth as much as the best one, within noise.

    A share of n positives has a standard error of up to 0.5/√n; twice that may be noise.
    """
    worth = [float(np.mean([c.by_fold[fold].quality.worth for fold in folds])) for c in peers]
    least = worth[0] - 1 / np.sqrt(positives)
    return of_different_families(c for c, w in zip(peers, worth, strict=True) if w >= least)


def _in_time(search: Search, members: list[Contender]) -> list[Contender]:
    """The first of them, as many as there is time to fit to all rows; at least one."""
    needed = np.cumsum([c.needs(search.known.positive.size) or 0.0 for c in members])
    return members[: max(1, int((needed <= search.time_limit.left()).sum()))]


def _clearly_better(
    search: Search, peers: list[Contender], folds: list[int]
) -> tuple[list[Contender], list[Held]]:
    """The first one, or the first few where held-out rows leave no doubt that they are better."""
    members, held = peers[:1], _together(search, peers[:1], folds)
    worth = _worth(held, search.share)
    for number in range(2, len(peers) + 1):
        together = _together(search, peers[:number], folds)
        gained = _worth(together, search.share) - worth
        if is_clearly_better(together, held, gained, search.seed):
            members, held, worth = peers[:number], together, worth + gained
    return members, held


def _together(search: Search, members: list[Contender], folds: list[int]) -> list[Held]:
    """What members make of the rows of each fold: the score of one, the mean rank of several."""
    if len(members) == 1:
        return [search.held(members[0], fold) for fold in folds]
    return [_mean_rank([search.held(c, fold) for c in members]) for fold in folds]


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
    calibration: ScoreCalibration | None
    reference: Reference | None


def fit_chosen(
    search: Search, choice: ChosenCandidates, metric: CountMetric, threshold: Any
) -> Settled:
    """Fit what was chosen to all rows as far as time allows; set threshold and probabilities."""
    alone = len(choice.members) == 1
    members: list[Member] = []
    for contender in choice.members:
        whole = None if search.interrupted else search.last_fit(contender)
        if whole is not None:
            members.append(whole._replace(scale=_scale(search, contender)))
            continue
        if alone and not search.interrupted:
            search.widen(contender)
        members.append(contender.largest()[1].member)
    held = choice.held
    if alone:
        model = members[0].estimator
        if members[0].rows is not None:
            # It was fitted to a sample with more positives: rows as they are say what that means.
            held = [search.held(choice.members[0], choice.members[0].largest()[0])]
        elif hasattr(model, "threshold_") and getattr(model, "threshold", "auto") is not None:
            own = float(model.threshold_)
            return Settled(members, own if threshold == "auto" else float(threshold), None, None)
    positive, score, weight = (np.concatenate(part) for part in zip(*held, strict=True))
    bounds = ANY_THRESHOLD if threshold == "auto" else bounds_at(float(threshold))
    found = Calibrated.fit(score, positive, weight, score_kind(len(members)), metric, bounds)
    return Settled(members, found.threshold, found.calibration, found.reference)


def _scale(search: Search, contender: Contender) -> RankScale:
    """Ranks among the rows held out of all folds."""
    held = [search.held(contender, fold) for fold in sorted(contender.by_fold)]
    _, score, weight = (np.concatenate(part) for part in zip(*held, strict=True))
    return RankScale.of(score, weight)


def score_kind(members: int) -> ScoreKind:
    """How the score of one member, or the mean rank of several, becomes a probability."""
    return LOG_ODDS._replace(transform=np.arcsinh if members == 1 else _log_odds_of_rank)


def _log_odds_of_rank(score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        odds = np.log(score) - np.log1p(-score)
    return np.clip(odds, -_FARTHEST, _FARTHEST)
