"""The published experiments as studies that run, with the published figures beside ours."""

from studies.catalogue import STUDY_NAMES, get_study
from studies.results import Results
from studies.run import run_study
from studies.study import Study

__all__ = ["STUDY_NAMES", "Results", "Study", "get_study", "run_study"]
