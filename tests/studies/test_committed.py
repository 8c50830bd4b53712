"""The committed reports: made from the committed results, and computed, not typed."""

import re
from pathlib import Path

import pytest

from studies import STUDY_NAMES, Results, get_study
from studies import published as published_figures
from studies.report import markdown, summary_of

COMMITTED = Path(__file__).parents[2] / "docs" / "studies"
CLAIM = re.compile(r"^- \*\*(?:Holds|Does not hold|Undecided):\*\* .*$", re.MULTILINE)


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_report_says_what_its_results_say(name):
    study = get_study(name)
    found = Results(study, COMMITTED).table()
    page = (COMMITTED / f"{name}.md").read_text(encoding="utf-8")
    assert summary_of(found) in page
    lines = CLAIM.findall(page)
    claims = study.report(found, False).claims
    assert len(lines) == len(claims)
    for line, claim in zip(lines, claims, strict=True):
        assert line.startswith(f"- **{claim.verdict}:** {claim.statement}")
    assert f"`make study NAME={name} ARGS=" in page


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_other_published_values_give_another_report(name, monkeypatch):
    study = get_study(name)
    found = Results(study, COMMITTED).table()
    right = _page(study, found)
    figures = published_figures.all_figures()
    monkeypatch.setattr(
        published_figures, "all_figures", lambda: figures.assign(value=figures["value"] + 0.01)
    )
    assert _page(study, found) != right


def _page(study, found):
    return markdown(study.report(found, False), study.name, "make study …", summary_of(found))
