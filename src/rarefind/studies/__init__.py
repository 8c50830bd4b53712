"""The published experiments as studies that run, with the published figures beside ours."""

from typing import TYPE_CHECKING

from rarefind._lazy import lazily

if TYPE_CHECKING:
    from rarefind.studies._catalogue import STUDY_NAMES, get_study
    from rarefind.studies._results import Results
    from rarefind.studies._run import run_study
    from rarefind.studies._study import Study

__all__ = ["STUDY_NAMES", "Results", "Study", "get_study", "run_study"]

__getattr__ = lazily(
    __name__,
    {
        "STUDY_NAMES": "rarefind.studies._catalogue",
        "Results": "rarefind.studies._results",
        "Study": "rarefind.studies._study",
        "get_study": "rarefind.studies._catalogue",
        "run_study": "rarefind.studies._run",
    },
)
