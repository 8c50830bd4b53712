"""The published experiments as studies that run, with the published figures beside ours."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from studies.catalogue import STUDY_NAMES, get_study
    from studies.results import Results
    from studies.run import run_study
    from studies.study import Study

__all__ = ["STUDY_NAMES", "Results", "Study", "get_study", "run_study"]

__getattr__ = lazily(
    __name__,
    {
        "STUDY_NAMES": "studies.catalogue",
        "Results": "studies.results",
        "Study": "studies.study",
        "get_study": "studies.catalogue",
        "run_study": "studies.run",
    },
)
