"""Studies by the command."""

import json


def test_studies_are_listed(rarefind):
    listed = json.loads(rarefind("study", "list", "--json").stdout)
    assert {"gamma-knn", "onlb", "projections"} <= {each["name"] for each in listed}
    shown = rarefind("study", "list")
    assert "gamma-knn" in shown.stdout


def test_a_study_is_run_and_shown(installed, rarefind, tmp_path):
    ran = installed("study", "run", "ap-fbeta", "--quick", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["values"] > 0
    assert told["claims"]
    assert (tmp_path / told["report"]).exists()
    shown = rarefind("study", "show", "ap-fbeta", "--quick", cwd=tmp_path)
    assert shown.returncode == 0
    assert "parts are done" in shown.stdout
    values = json.loads(
        rarefind("study", "show", "ap-fbeta", "--quick", "--json", cwd=tmp_path).stdout
    )
    assert len(values) == told["values"]


def test_mistakes(rarefind, tmp_path):
    for arguments, sentence in (
        (("run", "gama-knn"), "did you mean 'gamma-knn'?"),
        (("show", "gamma-knn"), "run the study first"),
        (("run", "gamma-knn", "--data", tmp_path), "manifest.json"),
        (("run", "onlb", "--data", tmp_path), "manifest.json"),
        (("run", "onlb", "--runs", "4"), "at most 3 runs"),
        (("show", "gamma-knn", "--json"), "run the study first"),
    ):
        result = rarefind("study", *arguments, cwd=tmp_path)
        assert result.returncode == 2
        assert sentence in result.stderr
        assert not (tmp_path / "studies").exists()
