"""The studies by name, and what they are about: known before any of them is imported."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from studies.study import Study


class About(NamedTuple):
    """A study in a line."""

    name: str
    title: str
    #: The source, with its tables and figures.
    source: str
    #: Repetitions of the published protocol.
    runs: int


STUDIES = {
    about.name: about
    for about in (
        About(
            "gamma-knn",
            "γk-NN: a scale for the distances to positives",
            "Viola 2022, tables 2.6–2.9 and figures 2.4–2.8; Viola and others 2019, table II",
            5,
        ),
        About(
            "local-gamma",
            "Local γk-NN: a scale for each region",
            "Viola 2022, sections 2.4.4 and 2.5.4, figures 2.11–2.14",
            5,
        ),
        About(
            "mlfp",
            "MLFP: a learned distance to the positives only",
            "Viola 2022, tables 3.1 and 3.3, figure 3.4",
            5,
        ),
        About(
            "me2",
            "ME²: an ellipsoid around each positive",
            "Metzler and others 2018, table 2 and figures 1–3",
            10,
        ),
        About(
            "metaap",
            "MetaAP: a tree of trees for average precision",
            "Viola 2022, figures 4.4, 4.6, 4.7 and 4.8, section 4.5",
            20,
        ),
        About(
            "sgbap",
            "SGBAP: gradient boosting for average precision",
            "Frery 2019, table 3.3 and figure 3.5",
            30,
        ),
        About(
            "nlb",
            "NLB: trees joined in several latent spaces",
            "Frery 2019, tables 4.2 and 4.3, figures 4.1, 4.3 and 4.4",
            30,
        ),
        About(
            "onlb",
            "ONLB: a stream learned by nets that are joined in several latent spaces",
            "Frery 2019, tables 4.5 and 4.6, figures 4.5 to 4.9",
            3,
        ),
        About(
            "sampling",
            "Sampling, or a well-set threshold",
            "Frery 2019, section 2.6: table 2.2 and figures 2.12–2.18",
            30,
        ),
        About(
            "ap-fbeta",
            "Average precision and the best F-measure of simulated scores",
            "Frery 2019, appendix A: table A.1, figures A.1–A.3",
            1,
        ),
        About(
            "projections",
            "Boosting on learned directions, and the few conditions that are left of it",
            "Ajakan, Université Laval, tables 4.2 and 4.3, figures 4.5–4.8",
            5,
        ),
    )
}

#: The studies there are.
STUDY_NAMES = tuple(STUDIES)


def get_study(name: str) -> Study:
    """A study by its name; no other one is imported."""
    if name not in STUDIES:
        close = get_close_matches(name, STUDIES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(STUDIES)}."
        raise ValueError(f"There is no study {name!r}: {hint}")
    module = import_module(f"studies.{name.replace('-', '_')}")
    found: Study = module.STUDY
    return found
