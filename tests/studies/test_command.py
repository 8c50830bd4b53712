"""Studies by the command: ``python -m studies``, as ``make study`` starts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def studies(*arguments, cwd):
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "COLUMNS": "120", "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, "-m", "studies", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=cwd,
    )


def test_studies_are_listed(tmp_path):
    listed = json.loads(studies("list", "--json", cwd=tmp_path).stdout)
    assert {"gamma-knn", "onlb", "projections"} <= {each["name"] for each in listed}
    assert "gamma-knn" in studies("list", cwd=tmp_path).stdout


def test_a_study_is_run_and_shown(tmp_path):
    ran = studies("run", "ap-fbeta", "--quick", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    summary = json.loads(ran.stdout)
    assert summary["values"] > 0
    assert summary["claims"]
    report = tmp_path / summary["report"]
    assert '`make study NAME=ap-fbeta ARGS="--quick"`' in report.read_text()
    shown = studies("show", "ap-fbeta", "--quick", cwd=tmp_path)
    assert shown.returncode == 0
    assert "parts are done" in shown.stdout
    values = json.loads(studies("show", "ap-fbeta", "--quick", "--json", cwd=tmp_path).stdout)
    assert len(values) == summary["values"]


def test_mistakes(tmp_path):
    for arguments, sentence in (
        (("run", "gama-knn"), "did you mean 'gamma-knn'?"),
        (("show", "gamma-knn"), "run the study first"),
        (("run", "gamma-knn", "--data", tmp_path), "manifest.json"),
        (("run", "onlb", "--data", tmp_path), "manifest.json"),
        (("run", "onlb", "--runs", "4"), "at most 3 runs"),
        (("show", "gamma-knn", "--json"), "run the study first"),
    ):
        result = studies(*arguments, cwd=tmp_path)
        assert result.returncode == 2
        assert sentence in result.stderr
        assert "Traceback" not in result.stderr
        assert not (tmp_path / "build").exists()
