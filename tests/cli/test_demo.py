import json
import subprocess
import sys

import pytest


def rarefind(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "rarefind", *arguments], capture_output=True, text=True, check=False
    )


def test_the_demo_lists_the_checks_with_reasons():
    first, second = rarefind("demo"), rarefind("demo")
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout, "the same numbers every time"
    assert "20 checks find" in first.stdout


def test_machines_get_json_and_a_picture(tmp_path):
    picture = tmp_path / "curve.png"
    result = rarefind(
        "demo", "--data", "yeast4", "--budget", "2%", "--json", "--picture", str(picture)
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["budget"] == len(found["list"]) == 12
    assert found["hits"] == pytest.approx(sum(row["positive"] for row in found["list"]))
    assert [row["rank"] for row in found["list"]] == list(range(1, 13))
    chances = [row["probability"] for row in found["list"]]
    assert chances == sorted(chances, reverse=True)
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--data", "nothing"], "rarefind: There is no KEEL set 'nothing'"),
        (["demo", "--budget", "many"], "rarefind: A budget is a number of checks"),
    ],
)
def test_mistakes_end_with_one_line_and_code_2(arguments, message):
    result = rarefind(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_version_and_help():
    assert rarefind("--version").stdout == "rarefind 0.1.0\n"
    assert "demo" in rarefind("--help").stdout


def test_the_command_starts_without_the_heavy_libraries():
    code = "import sys, rarefind.cli; print('sklearn' in sys.modules or 'pandas' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"
