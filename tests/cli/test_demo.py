import json
import re

import pytest

SMALL = ("--customers", "400", "--days", "75")


@pytest.fixture(scope="module")
def small(installed, tmp_path_factory):
    report = tmp_path_factory.mktemp("demo") / "report.html"
    result = installed("demo", *SMALL, "--json", "--report", str(report))
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), report


def test_machines_get_the_list_and_what_the_budget_buys(small):
    found, _ = small
    assert [row["rank"] for row in found["list"]] == list(range(1, 21))
    chances = [row["probability"] for row in found["list"]]
    assert chances == sorted(chances, reverse=True)
    assert len({row["customer"] for row in found["list"]}) == 20
    assert all(row["time"].startswith(found["day"]) for row in found["list"])
    assert all(row["reason"].startswith("Score ") for row in found["list"])
    assert set(found["models"]) == {"γk-NN", "XGBoost"}
    for worth in found["models"].values():
        assert worth["checks"] == 14 * 20
        assert 0 < worth["hits"] <= worth["checks"]
        assert worth["money"] > 0
    share = found["ranked"]["positives"] / found["ranked"]["rows"]
    assert found["models"]["γk-NN"]["average_precision"] > 10 * share


def test_the_report_stands_alone(small):
    _, report = small
    page = report.read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 3
    assert not re.search(r"""(src|href)=["']?https?:""", page), "nothing is fetched"
    assert "What the budget buys" in page
    assert "columns kept out on purpose" in page
    assert "terminal" in page
    assert [p.name for p in report.parent.iterdir()] == ["report.html"]


def test_the_same_numbers_every_time(rarefind, small, tmp_path):
    found, report = small
    again = tmp_path / "again.html"
    result = rarefind("demo", *SMALL, "--report", str(again))
    assert result.returncode == 0, result.stderr
    assert again.read_bytes() == report.read_bytes()
    assert f"{found['models']['γk-NN']['average_precision']:.3f}" in result.stdout
    assert result.stderr == "", "nobody watches, so no progress is shown"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["demo", "--report", "/nowhere/at/all.html", *SMALL],
            "rarefind: There is no folder /nowhere/at",
        ),
        (["demo", "--budget", "many"], "budget"),
        (["demo", "--budget", "0"], "budget"),
        (["demo", "--days", "10"], "days"),
    ],
)
def test_mistakes_end_with_code_2(rarefind, arguments, message):
    result = rarefind(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
