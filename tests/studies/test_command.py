"""Studies by the command: ``python -m studies``, as ``make study`` starts it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from studies.__main__ import main

ROOT = Path(__file__).parents[2]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def studies(tmp_path, monkeypatch, capsys):
    """The command in this process: its imports take longer than what it does here."""

    def run(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["studies", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        return Done(code, *capsys.readouterr())

    return run


def test_the_module_is_the_command(tmp_path):
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "studies", "run", "gama-knn"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "120", "PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "did you mean 'gamma-knn'?" in done.stderr


def test_studies_are_listed(studies):
    listed = json.loads(studies("list", "--json").stdout)
    assert {"gamma-knn", "onlb", "projections"} <= {each["name"] for each in listed}
    assert "gamma-knn" in studies("list").stdout


def test_a_study_is_run_and_shown(studies, tmp_path):
    ran = studies("run", "ap-fbeta", "--quick", "--json")
    assert ran.returncode == 0, ran.stderr
    summary = json.loads(ran.stdout)
    assert summary["values"] > 0
    assert summary["claims"]
    report = tmp_path / summary["report"]
    assert '`make study NAME=ap-fbeta ARGS="--quick"`' in report.read_text()
    shown = studies("show", "ap-fbeta", "--quick")
    assert shown.returncode == 0
    assert "parts are done" in shown.stdout
    values = json.loads(studies("show", "ap-fbeta", "--quick", "--json").stdout)
    assert len(values) == summary["values"]


def test_mistakes(studies, tmp_path):
    for arguments, sentence in (
        (("run", "gama-knn"), "did you mean 'gamma-knn'?"),
        (("show", "gamma-knn"), "run the study first"),
        (("run", "gamma-knn", "--data", tmp_path), "manifest.json"),
        (("run", "onlb", "--data", tmp_path), "manifest.json"),
        (("run", "onlb", "--runs", "4"), "at most 3 runs"),
        (("show", "gamma-knn", "--json"), "run the study first"),
    ):
        result = studies(*arguments)
        assert result.returncode == 2
        assert sentence in result.stderr
        assert "Traceback" not in result.stderr
        assert not (tmp_path / "build").exists()
