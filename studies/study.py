"""What a study is: parts that can be run one by one, and a report on what they gave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from studies.catalogue import About
    from studies.report import Report
    from studies.sets import Sets


class Part(NamedTuple):
    """The smallest piece of a study that is run at once, and kept when it is done."""

    dataset: str
    run: int
    #: What else distinguishes it from others of the set and the run.
    what: str = ""


class Row(NamedTuple):
    """One measured value."""

    method: str
    measure: str
    value: float
    k: int = 0
    #: Parameters as JSON: those that were given, and those that were chosen.
    params: str = "{}"
    #: Seconds that it took to tune, fit and predict.
    seconds: float = float("nan")


class Study(ABC):
    """A published experiment: its parts, how one is run, and what the report says."""

    about: ClassVar[About]
    #: To be raised whenever the same part would give other values.
    protocol: ClassVar[int] = 1

    @abstractmethod
    def parts(self, sets: Sets, runs: int, quick: bool) -> list[Part]:
        """All parts; of a quick study few and small ones."""

    @abstractmethod
    def run(self, part: Part, sets: Sets, quick: bool) -> list[Row]:
        """Run one part, in one process and one thread; the same part gives the same values."""

    @abstractmethod
    def report(self, found: pd.DataFrame, quick: bool) -> Report:
        """What the values of the parts done so far say.

        ``found`` has the columns ``dataset``, ``run``, ``what`` of the parts and those of the rows.
        """

    def available(self, names: list[str], sets: Sets) -> list[str]:
        """Those of the names whose data is at hand."""
        return [name for name in names if sets.has(name)]

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return self.about.name

    @property
    def title(self) -> str:
        """The headline of its report."""
        return self.about.title
