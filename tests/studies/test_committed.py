"""The committed reports: made from the committed results, and computed, not typed."""

import re
from pathlib import Path

import pytest

from studies import STUDY_NAMES, Results, get_study
from studies import published as published_figures
from studies.report import _markdown, _rests_on

COMMITTED = Path(__file__).parents[2] / "docs" / "studies"
CLAIM = re.compile(r"^- \*\*(?:Holds|Does not hold|Cannot be told):\*\* .*$", re.MULTILINE)


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_report_says_what_its_results_say(name):
    study = get_study(name)
    found = Results(study, COMMITTED).table()
    page = (COMMITTED / f"{name}.md").read_text(encoding="utf-8")
    assert _rests_on(found) in page
    said = CLAIM.findall(page)
    claims = study.report(found, False).claims
    assert len(said) == len(claims)
    for line, claim in zip(said, claims, strict=True):
        assert line.startswith(f"- **{claim.verdict}:** {claim.statement}")
    assert (COMMITTED / f"{name}.html").exists()


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_other_published_values_give_another_report(name, monkeypatch):
    study = get_study(name)
    found = Results(study, COMMITTED).table()
    right = _page(study, found)
    figures = published_figures._all()
    monkeypatch.setattr(
        published_figures, "_all", lambda: figures.assign(value=figures["value"] + 0.01)
    )
    assert _page(study, found) != right


def _page(study, found):
    return _markdown(study.report(found, False), study.name, "rarefind …", _rests_on(found))
