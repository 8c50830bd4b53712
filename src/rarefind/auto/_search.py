"""Successive halving: all candidates on few rows, the better ones on more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone

from rarefind._core.deadline import OutOfTimeError, best_effort, until
from rarefind._core.types import Ints
from rarefind.auto._contender import BROAD, Contender, Judged
from rarefind.auto._families import of_different_families
from rarefind.auto._judge import Held, judge
from rarefind.auto._member import InputColumns, Member, RankScale
from rarefind.auto._rows import Fold, Known
from rarefind.auto._rungs import ENOUGH_POSITIVES, FEW_ROWS, Rung, first_of, n_kept
from rarefind.auto._time_limit import TimeLimit

# Rows of a first try, which predicts the time of a fit that cannot be stopped on its way.
_TRY = 200
# A rung before the last takes no more than this share of the time, and a candidate no more than
# this share of what is left of the rung.
_SHARE_OF_RUNG, _SHARE_OF_CANDIDATE = 0.5, 0.4
_QUICK_ROWS, _QUICK_ROUNDS = 500, 20
# Numbers in a large table: from so many on, several threads work faster on one model than one does.
_LARGE = 3_000_000
# Cutting columns into bins, which cannot be stopped, takes so many times as long as scoring rows.
_BINS_TO_SCORES = 2.0
# On large tables, the share of its time in which a best-effort fit tries rounds; then it makes as
# many on all of its rows.
_SHARE_TO_TRY = 0.35
# Share of the time to search in where all rows are too many to fit, and how many times more rows
# are worth another fit then.
_SHARE_OF_SEARCH, _WORTH_MORE_ROWS = 0.5, 1.5
# On large tables one booster of few rounds comes first, on as many rows as this share of the time
# allows: the rows it begins with, at most how many times more come next, and the share of the time
# of a fit to make rounds in.
_SHARE_OF_BROAD, _BROAD_FIRST, _BROADER = 0.4, 20_000, 8
_SHARE_OF_ROUNDS = 0.9
# More rows are better but for noise, unless the worth falls to this share.
_MUCH_WORSE = 0.8
# Share of the time left that compiling may take.
_SHARE_OF_COMPILING = 0.5
# How much a candidate judged by a single fold must be ahead of one judged by very many.
_DOUBT = 0.1
# Candidates that may take all the time of a rung on small tables.
_FIRST_FEW = 3


class Search:
    """The models tried so far; an answer from the first one on."""

    def __init__(
        self,
        known: Known,
        folds: list[Fold],
        columns: InputColumns,
        contenders: list[Contender],
        share: float,
        seed: int,
        n_jobs: int | None,
        time_limit: TimeLimit,
        step: Callable[[], None],
    ) -> None:
        self.known, self.folds, self.columns = known, folds, columns
        self.contenders, self.share, self.seed = contenders, share, seed
        self._n_jobs, self.time_limit, self._step = n_jobs, time_limit, step
        self.interrupted = False
        self.quick: Contender | None = None
        self._scoring = 0.0  # seconds that the rows of a fold take to be scored
        self._a_row = 0.0  # and that is one of them

    def run(self, steps: list[Rung]) -> None:
        """Climb the rungs until the time is over, or Ctrl-C."""
        try:
            self._fit_quick()
            if self._is_large(self.folds[0].train.size):
                self._go_broad()
            self._climb(steps)
        except KeyboardInterrupt:
            if not self.judged():
                raise
            self.interrupted = True

    def run_trials(self, steps: list[Rung], trials: float) -> None:
        """Climb the rungs with a number of trials, each in one thread: the same on any cores."""
        first, n_rungs = first_of(trials, len(steps), len(self.contenders))
        alive, steps = self.contenders[:first], steps[-n_rungs:]
        for number, rung in enumerate(steps):
            tasks = [(c, f) for c in alive for f in range(rung.folds) if self._is_new(c, f, rung)]
            found = Parallel(n_jobs=self._n_jobs, require="sharedmem")(
                delayed(self._try)(c, f, rung.size, 1) for c, f in tasks
            )
            for (contender, fold), judged in zip(tasks, found, strict=True):
                self._take(contender, fold, judged)
            for _ in alive:
                self._step()
            alive = [c for c in self.standing() if c in alive]
            if number + 1 < len(steps):
                alive = self._survivors(alive, n_kept(len(alive), trials))

    def judged(self) -> list[Contender]:
        """The candidates that have a model; else the quick one, if there is one."""
        found = [c for c in self.contenders if c.by_fold]
        quick = self.quick
        return found or ([quick] if quick is not None and quick.by_fold else [])

    def standing(self) -> list[Contender]:
        """The candidates, best first, each beside the others on the folds that it was judged by."""
        found = self.judged()
        most = max((len(c.by_fold) for c in found), default=0)
        level = {
            fold: float(
                np.mean(
                    [
                        c.by_fold[fold].quality.worth
                        for c in found
                        if fold in c.by_fold and len(c.by_fold) == most
                    ]
                    or [0.0]
                )
            )
            for fold in range(len(self.folds))
        }

        def ahead(c: Contender) -> float:
            doubt = _DOUBT / math.sqrt(len(c.by_fold))
            return float(
                np.mean([j.quality.worth - level[f] for f, j in c.by_fold.items()]) - doubt
            )

        return sorted(found, key=lambda c: -ahead(c))

    @property
    def is_hard_to_tell(self) -> bool:
        """Whether too few positives are held out to tell which candidate is the best."""
        held = sum(int(self.known.positive[fold.judged].sum()) for fold in self.folds)
        return held < ENOUGH_POSITIVES

    def _survivors(self, standing: list[Contender], n: int) -> list[Contender]:
        """The best, and where that is hard to tell the best of different kinds."""
        if self.is_hard_to_tell:
            standing = of_different_families(standing, fill=n)
        return standing[:n]

    def held(self, contender: Contender, fold: int) -> Held:
        """The held-out rows of a fold with a candidate's scores."""
        part = self.folds[fold]
        score = contender.by_fold[fold].score
        return Held(self.known.positive[part.judged], score, part.weight)

    def last_fit(self, contender: Contender) -> Member | None:
        """The candidate on all rows; None where there is no time for it, or after Ctrl-C."""
        n = self.known.positive.size
        needed = contender.needs(n)
        if needed is None or needed > self.time_limit.left():
            return None
        rows = np.arange(n)
        threads = 1 if self.time_limit.end == math.inf else self._threads(n)
        try:
            end = self.time_limit.last - self._cannot_stop(n)
            with until(end), best_effort(self._share_to_try(n)):
                return self._fit(contender, rows, threads)
        except OutOfTimeError:
            return None
        except KeyboardInterrupt:
            if self.interrupted:
                raise
            self.interrupted = True
            return None

    def widen(self, contender: Contender) -> None:
        """Fit a candidate to as many more rows as there is time for, where not to all."""
        try:
            if contender.largest()[1].is_broad:
                self._broaden(contender, self.time_limit.last)
            else:
                self._widen(contender)
        except KeyboardInterrupt:
            self.interrupted = True

    def _widen(self, contender: Contender) -> None:
        fold, before = contender.largest()
        size = self.folds[fold].train.size
        while size > _WORTH_MORE_ROWS * before.size:
            end = self.time_limit.last - self._scoring - self._cannot_stop(size)
            needed = contender.needs(size)
            if needed is not None and time.monotonic() + needed < end:
                break
            size //= 2
        else:
            return
        try:
            found = self._try_until(end, contender, fold, size, self._threads(size))
        except OutOfTimeError:
            return
        if isinstance(found, Judged) and found.quality.worth >= before.quality.worth:
            self._take(contender, fold, found)

    def _fit_quick(self) -> None:
        """A first answer, whatever the time: few rounds on few rows."""
        first = self.contenders[0]
        size = min(_QUICK_ROWS, self.folds[0].train.size)
        rows = self.known.sample(self.folds[0].train, size, (self.seed, 0, size))
        quick = {"n_estimators": _QUICK_ROUNDS, "cv": self.known.inner(rows, self.seed)[:1]}
        given = first.estimator.get_params(deep=False)
        model = clone(first.estimator)
        model.set_params(**{n: v for n, v in quick.items() if type(given.get(n)) is int})
        self.quick = Contender(first.name, model, is_quick=True)
        self._take(self.quick, 0, self._try(self.quick, 0, size, 1))

    def _go_broad(self) -> None:
        """On a large table, one booster of few rounds on many rows.

        Where the time allows each candidate a few thousand rows only, more rows are worth more than
        a choice among candidates.
        """
        able = [c for c in self.contenders if c.can_be_broad]
        # One with these bins needs no other than itself.
        able.sort(key=lambda c: c.estimator.get_params(deep=False)["bins"] != BROAD["bins"])
        for contender in able[:1]:
            self._broaden(contender, _part(self.time_limit.last, _SHARE_OF_BROAD))

    def _broaden(self, contender: Contender, end: float) -> None:
        """Few rounds on more and more rows, as long as these are worth it."""
        own = Contender(contender.name, clone(contender.estimator).set_params(**BROAD))
        most = self.folds[0].train.size
        while contender.size < most:
            size = self._broad_size(contender, end)
            if size < _WORTH_MORE_ROWS * contender.size and size < most:
                return
            try:
                with until(end - self._scoring), best_effort(_SHARE_OF_ROUNDS):
                    found = self._try(own, 0, size, self._threads(size))
            except OutOfTimeError:
                return
            if isinstance(found, ValueError):
                return
            contender.seconds += found.seconds
            contender.broad_time.measure(found.size, found.seconds)
            before = contender.by_fold.get(0)
            if before is not None and found.quality.worth < _MUCH_WORSE * before.quality.worth:
                return
            contender.by_fold[0] = found._replace(is_broad=True)

    def _broad_size(self, contender: Contender, end: float) -> int:
        """Rows that few rounds can be made on until the end."""
        now, most = time.monotonic(), self.folds[0].train.size
        size = min(most, max(_BROAD_FIRST, _BROADER * contender.size))
        while size > FEW_ROWS:
            needed = contender.broad_time.predict_seconds(size) or 2 * self._cannot_stop(size)
            if now + needed < end - self._scoring:
                break
            size = int(0.8 * size)
        return size

    def _climb(self, steps: list[Rung]) -> None:
        alive = self.contenders
        for number, rung in enumerate(steps):
            is_last = number + 1 == len(steps)
            end = self._end_of_search() if is_last else _part(self._end_of_search(), _SHARE_OF_RUNG)
            done: list[Contender] = []
            for place, contender in enumerate(alive):
                share = max(_SHARE_OF_CANDIDATE, 1 / (len(alive) - place))
                if not self._are_many(rung.size) and place < _FIRST_FEW:
                    share = 1.0
                own = _part(end, share)
                if not number and not place and not self._are_many(rung.size):
                    own = self._end_of_search()  # better than the quick one alone
                if self._evaluate(contender, rung, own):
                    done.append(contender)
                self._step()
            alive = [c for c in self.standing() if c in done]
            alive = self._survivors(alive, n_kept(len(alive)))
            if not alive:
                return

    def _end_of_search(self) -> float:
        """When to stop: early enough for the last fit, if there is time for one at all."""
        best = self.standing()[:1]
        n = self.known.positive.size
        needed = best[0].fit_time.predict_seconds(n) if best else None
        if best and needed is not None and needed > self.time_limit.left():
            needed = best[0].needs(n)
        if needed is not None and needed <= self.time_limit.left():
            return self.time_limit.last - needed
        if not self._are_many(n):
            return self.time_limit.last
        # All rows are too many, but more of them than the search can take are worth having.
        return self.time_limit.start + _SHARE_OF_SEARCH * (
            self.time_limit.last - self.time_limit.start
        )

    def _evaluate(self, contender: Contender, rung: Rung, end: float) -> bool:
        """Judge a candidate on a rung; False if it could not be."""
        end = min(end, self._end_of_search() - self._scoring)
        now = time.monotonic()
        if now > end or contender.compiling() > _SHARE_OF_COMPILING * self.time_limit.left():
            return False
        try:
            with until(end):
                if not contender.stops and not contender.by_fold and rung.size > 2 * _TRY:
                    self._time(contender)
            return self._judge_folds(contender, rung, end)
        except OutOfTimeError:
            return False
        finally:
            contender.seconds += time.monotonic() - now

    def _judge_folds(self, contender: Contender, rung: Rung, end: float) -> bool:
        """Judge a candidate on the folds of a rung, as far as time allows."""
        new = [f for f in range(rung.folds) if self._is_new(contender, f, rung)]
        threads = self._threads(rung.size)
        at_once = 1 if threads != 1 else effective_n_jobs(self._n_jobs)
        for start in range(0, len(new), at_once):
            expected = contender.needs(rung.size)
            if expected is not None and time.monotonic() + expected > end:
                return False
            part = new[start : start + at_once]
            last = end - self._cannot_stop(rung.size)
            if time.monotonic() > last:
                return False
            found = Parallel(n_jobs=len(part), require="sharedmem")(
                delayed(self._try_until)(last, contender, f, rung.size, threads) for f in part
            )
            for fold, judged in zip(part, found, strict=True):
                self._take(contender, fold, judged)
        return contender.failure is None

    def _cannot_stop(self, rows: int) -> float:
        """Seconds for which a fit to so many rows may not look at the time."""
        return _BINS_TO_SCORES * rows * self._a_row

    def _are_many(self, rows: int) -> bool:
        """Whether there are so many rows that rounds are left out rather than rows."""
        return rows >= FEW_ROWS

    def _threads(self, rows: int) -> int | None:
        """Threads of one model: on small tables they would wait for each other."""
        return self._n_jobs if self._is_large(rows) else 1

    def _is_large(self, rows: int) -> bool:
        return rows * self.known.X.shape[1] >= _LARGE

    def _time(self, contender: Contender) -> None:
        """Fit to very few rows, to know how long more will take."""
        rows = self.known.sample(self.folds[0].train, _TRY, self.seed)
        start = time.monotonic()
        try:
            self._fit(contender, rows, 1)
        except ValueError:
            return  # it may work on more rows
        contender.fit_time.measure(rows.size, time.monotonic() - start)

    def _is_new(self, contender: Contender, fold: int, rung: Rung) -> bool:
        if contender.failure is not None:
            return False
        size = min(rung.size, self.folds[fold].train.size)
        before = contender.by_fold.get(fold)
        return before is None or before.size < size + before.is_broad

    def _fit(self, contender: Contender, rows: Ints, threads: int | None) -> Member:
        name, estimator = contender.name, contender.estimator
        return Member.fit(name, estimator, self.known, rows, self.columns, self.seed, threads)

    def _try_until(self, end: float, *what: Any) -> Judged | ValueError:
        # A new thread does not know the deadline.
        with until(end), best_effort(self._share_to_try(what[2])):
            return self._try(*what)

    def _share_to_try(self, rows: int) -> float:
        return _SHARE_TO_TRY if self._are_many(rows) else 1.0

    def _try(
        self, contender: Contender, fold: int, size: int, threads: int | None
    ) -> Judged | ValueError:
        """A model of some rows of a fold, judged by the rows held out."""
        part = self.folds[fold]
        rows = self.known.sample(part.train, size, (self.seed, fold, size))
        start = time.monotonic()
        try:
            member = self._fit(contender, rows, threads)
        except ValueError as error:
            return error
        fitted = time.monotonic()
        score = member.priority(self.known.X[part.judged])
        if contender is self.quick:
            self._scoring = time.monotonic() - fitted
            self._a_row = self._scoring / part.judged.size
        positive = self.known.positive[part.judged]
        # That very model's ranks on rows as they are, should it be all there is time for.
        member = member._replace(scale=RankScale.of(score, part.weight))
        quality = judge(Held(positive, score, part.weight), self.share)
        return Judged(member, rows.size, score, quality, time.monotonic() - start)

    def _take(self, contender: Contender, fold: int, judged: Judged | ValueError) -> None:
        if isinstance(judged, ValueError):
            contender.failure = judged
            return
        before = contender.by_fold.get(fold)
        if before is None or not before.is_broad or before.quality.worth <= judged.quality.worth:
            contender.by_fold[fold] = judged
        contender.fit_time.measure(judged.size, judged.seconds)
        if self.time_limit.end == math.inf:
            contender.seconds += judged.seconds


def _part(end: float, share: float) -> float:
    """The time after a share of what is left until the end."""
    now = time.monotonic()
    return now + share * (end - now) if math.isfinite(end) else end
