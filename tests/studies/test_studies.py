"""Each study in its quick form: all rows of its tables, and a report of them."""

import numpy as np
import pytest

from studies import STUDY_NAMES, get_study, run_study
from studies.report import write_report
from studies.sets import Sets


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_quick_study_has_all_rows_and_a_report(name, tmp_path):
    study = get_study(name)
    assert study.name == name
    wanted = study.parts(Sets(), 1, True)
    found = run_study(study, tmp_path, quick=True)
    keys = ["dataset", "run", "what"]
    assert {tuple(key) for key in found[keys].to_numpy().tolist()} == set(wanted)
    assert np.isfinite(found["value"]).all()
    assert not found.duplicated([*keys, "method", "measure", "k", "params"]).any()
    report = study.report(found, True)
    assert report.claims, "a study says what holds"
    page = write_report(report, name, tmp_path, "make study …", found)
    text = page.read_text()
    assert text.count("\n|---") >= 1
    assert " nan" not in text
    for picture in [what[0] for kind, what in report.blocks if kind == "picture"]:
        assert (tmp_path / f"{name}-{picture}.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_the_whole_study_runs_each_set_before_any_again(name):
    study = get_study(name)
    parts = study.parts(Sets(), 2, False)
    assert len(set(parts)) == len(parts)
    runs = [part.run for part in parts]
    assert max(runs) <= 1
    assert runs == sorted(runs)
    assert study.about.runs >= 1
    assert study.about.title
    assert study.about.source


def test_an_unknown_study_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'gamma-knn'"):
        get_study("gama-knn")
